"""Goals of the overhead: the largest share of extra CPU, for each load and watcher."""

TRACER = "tracer"
PROBE = "probe alone"

STORM = {PROBE: 0.01, TRACER: 0.015}
GOALS = {"exec-dynamic": STORM, "exec-static": STORM, "pipeline": {TRACER: 0.003},
         "request-64k": {TRACER: 0.01}, "bulk-64k": {TRACER: 0.01}}
