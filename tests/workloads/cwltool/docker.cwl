# A step scattered over three containers, of the docker workload.
cwlVersion: v1.2
class: Workflow
requirements:
  ScatterFeatureRequirement: {}
inputs:
  cpus: int[]
outputs: {}
steps:
  count:
    run:
      class: CommandLineTool
      requirements:
        DockerRequirement: {dockerPull: tracer-workload}
      baseCommand: count
      inputs:
        cpu: {type: int, inputBinding: {prefix: --cpu}}
      outputs: {}
    scatter: cpu
    in: {cpu: cpus}
    out: []
