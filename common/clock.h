/* The boot and realtime clocks, and the CPU time of the calling thread, in nanoseconds. */
#pragma once

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_read_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static inline uint64_t clock_boot_ns(void)
{
	return clock_read_ns(CLOCK_BOOTTIME);
}

static inline uint64_t clock_unix_ns(void)
{
	return clock_read_ns(CLOCK_REALTIME);
}

static inline uint64_t clock_cpu_ns(void)
{
	return clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
}
