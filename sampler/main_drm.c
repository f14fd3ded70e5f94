/* tracer-sampler-drm: reports what GPUs whose drivers are part of Linux do for each process to tracer-correlator.
 *
 * It reads /proc/PID/fdinfo of all users, for which the kernel wants CAP_SYS_PTRACE, and nothing else of these processes.
 */
#include "common/log.h"
#include "sampler/drm.h"
#include "sampler/rounds.h"

static const struct option_program program = {
	.name = "tracer-sampler-drm",
	.purpose = "Reports what GPUs of AMD, Intel and others do for each process to tracer-correlator.",
	.exit_text = "Exit status: 0 stopped, 1 failure, 2 usage error, 3 no device.",
	/* clang-format off */
	.specs = (const struct option_spec[]){
		ROUNDS_OPTION_SPECS("1s", 10000000000),
		{"root", 0, "DIRECTORY", "directory", "where the host's proc and sys are (default /)", .text = &drm_root},
		OPTION_SPECS_OF_DAEMON},
	/* clang-format on */
};

int main(int argc, char **argv)
{
	static const struct rounds rounds = {
		.program = &program,
		.kind = "dri/renderD", /* the names that the model gives these devices */
		.period_ns = 1000000000,
		.open = drm_open,
		.describe = drm_describe,
		.sample = drm_sample,
		.close = drm_close,
	};

	return rounds_main(&rounds, argc, argv);
}
