/* Electric power of a host, modelled from its processors and memory: the store has no measured figure (RAPL).
 *
 *   power = processors x idle + processors at work x busy + memory beyond what the idle figure includes
 *
 * The figures of processors are those of whole servers in SPECpower_ssj2008, divided by their threads, as averages by
 * microarchitecture: Cloud Carbon Footprint, cloud-carbon-coefficients at dda7621 (Apache-2.0), output/coefficients-*.
 *
 * A microwatt for an hour is 10^-9 kWh: power is handled like a price an hour, in nanos of a kWh.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* 0.392 W a GB (Cloud Carbon Footprint), here of a GiB. */
#define POWER_MEMORY_MICROWATTS 420907
/* The servers measured had 1.0 to 1.9 GB a thread: so much memory is in the figures of processors. */
#define POWER_INCLUDED_MEMORY_BYTES (INT64_C(1) << 30)

/* Of one hardware thread. */
struct power {
	int64_t idle_microwatts;
	int64_t busy_microwatts; /* in addition, at full load */
	bool is_average;         /* the processor is not in the table */
};

/* `cpu_model` as in /proc/cpuinfo, or NULL. */
struct power power_of(const char *cpu_model);
