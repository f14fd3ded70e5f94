/* tracer-sampler-nvidia: reports what NVIDIA's GPUs do for each process to tracer-correlator.
 *
 * A process of its own, so that no vendor's library is in the probe or the correlator. It needs the devices, /proc and
 * the correlator's socket; no privilege, no network, and no file to write.
 */
#include "common/log.h"
#include "sampler/nvidia.h"
#include "sampler/rounds.h"

static const struct option_program program = {
	.name = "tracer-sampler-nvidia",
	.purpose = "Reports what NVIDIA GPUs do for each process to tracer-correlator.",
	.exit_text = "Exit status: 0 stopped, 1 failure, 2 usage error, 3 no driver or no device.",
	.specs = (const struct option_spec[]){ROUNDS_OPTION_SPECS("0.5s", 5000000000), OPTION_SPECS_OF_DAEMON},
};

int main(int argc, char **argv)
{
	static const struct rounds rounds = {
		.program = &program,
		.kind = "nvidia", /* its devices are nvidia0, nvidia1, … */
		.period_ns = 500000000,
		.open = nvidia_open,
		.describe = nvidia_describe,
		.sample = nvidia_sample,
		.wait_error = nvidia_wait_error,
		.close = nvidia_close,
	};

	return rounds_main(&rounds, argc, argv);
}
