/* Before the first byte of a probe or a recording is read, the correlator gives away what
 * it does not need to turn that into rows.
 *
 * What stays possible: reading files, writing in the directory of the store, removing the
 * socket. No program can be run, no process looked at or signalled, no network reached,
 * nothing loaded into the kernel.
 */
#ifndef TRACER_CORRELATOR_CONFINE_H
#define TRACER_CORRELATOR_CONFINE_H

/* No capability can come back: before the user is changed. */
void confine_bounds(void);

/* No capability in effect: after it. One that still runs as root keeps the right to write
 * into a store that belongs to another user. 0 or a negative errno. */
int confine_capabilities(void);

/* The rest. `socket`: NULL where there is none. 0 or a negative errno. */
int confine_enter(const char *store, const char *socket);

#endif
