/* What drivers write of an open GPU, each in its own way. The texts follow the kernel's documentation of each driver. */
#include "sampler/fdinfo.h"

#include <string.h>

#include "tests/suite.h"

#define MIB (UINT64_C(1) << 20)
#define HEAD "pos:\t0\nflags:\t02100002\nmnt_id:\t28\nino:\t1084\n"

static const struct {
	const char *text;
	const char *driver, *pci_address;
	uint64_t client_id;
	const char *engine; /* that comes last */
	uint64_t busy_ns, busy_cycles, all_cycles, capacity;
	uint64_t memory_bytes; /* UINT64_MAX: unknown */
} cases[] = {
	{HEAD "drm-driver:\tamdgpu\ndrm-client-id:\t23\ndrm-pdev:\t0000:0b:00.0\npasid:\t32769\n"
	      "drm-memory-vram:\t2048 KiB\ndrm-memory-gtt: \t4096 KiB\ndrm-memory-cpu: \t0 KiB\n"
	      "amd-evicted-vram:\t512 KiB\ndrm-engine-gfx:\t7000 ns\ndrm-engine-compute:\t123456789 ns\n",
	 "amdgpu", "0000:0b:00.0", 23, "compute", 123456789, 0, 0, 1, 2 * MIB},
	{HEAD "drm-driver:\ti915\ndrm-client-id:\t7\ndrm-pdev:\t0000:00:02.0\ndrm-total-system0:\t9 MiB\n"
	      "drm-shared-system0:\t1 MiB\ndrm-active-system0:\t0\ndrm-resident-system0:\t5 MiB\n"
	      "drm-purgeable-system0:\t1 MiB\ndrm-engine-render:\t25 ns\ndrm-engine-capacity-video:\t2\n"
	      "drm-engine-video:\t64 ns\n",
	 "i915", "0000:00:02.0", 7, "video", 64, 0, 0, 2, 5 * MIB},
	{HEAD "drm-driver:\txe\ndrm-client-id:\t68\ndrm-pdev:\t0000:03:00.0\ndrm-total-system:\t0\n"
	      "drm-resident-system:\t8 MiB\ndrm-total-vram0:\t3 MiB\ndrm-resident-vram0:\t1 MiB\n"
	      "drm-cycles-ccs:\t28257900\ndrm-total-cycles-ccs:\t7655183225\n",
	 "xe", "0000:03:00.0", 68, "ccs", 0, 28257900, 7655183225, 1, MIB},
	{HEAD "drm-driver:\tpanfrost\ndrm-client-id:\t14\ndrm-engine-fragment:\t1846584880 ns\n"
	      "drm-cycles-fragment:\t1424359409\ndrm-maxfreq-fragment:\t799999987 Hz\ndrm-total-memory:\t290 MiB\n"
	      "drm-resident-memory:\t36 MiB\n",
	 "panfrost", "", 14, "fragment", 1846584880, 1424359409, 0, 1, 36 * MIB},
	{HEAD "drm-driver:\tnouveau\ndrm-client-id:\t3\ndrm-pdev:\t0000:01:00.0", "nouveau", "0000:01:00.0", 3, NULL, 0,
	 0, 0, 0, UINT64_MAX},
	/* What cannot be is skipped. */
	{HEAD
	 "drm-driver:\tx\ndrm-client-id:\t1\ndrm-engine-:\t5 ns\ndrm-engine-a:\t-5 ns\ndrm-engine-a:\t99999999999999999999\n"
	 "drm-memory-vram:\t9007199254740993 GiB\ndrm-engine-b:\n:\n\n",
	 "x", "", 1, "", 5, 0, 0, 1, UINT64_MAX},
};

TEST_EACH(clients_of_drivers, cases)
{
	struct fdinfo info;

	ck_assert(fdinfo_parse(cases[_i].text, &info));
	ck_assert_str_eq(info.driver, cases[_i].driver);
	ck_assert_str_eq(info.pci_address, cases[_i].pci_address);
	ck_assert_uint_eq(info.client_id, cases[_i].client_id);
	ck_assert_uint_eq(info.has_memory ? info.memory_bytes : UINT64_MAX, cases[_i].memory_bytes);
	ck_assert_uint_eq(info.engine_count > 0, cases[_i].engine != NULL);
	if (!cases[_i].engine)
		return;
	const struct fdinfo_engine *engine = &info.engines[info.engine_count - 1];

	ck_assert_str_eq(engine->name, cases[_i].engine);
	ck_assert_uint_eq(engine->busy_ns, cases[_i].busy_ns);
	ck_assert_uint_eq(engine->busy_cycles, cases[_i].busy_cycles);
	ck_assert_uint_eq(engine->all_cycles, cases[_i].all_cycles);
	ck_assert_uint_eq(engine->capacity, cases[_i].capacity);
}

TEST(what_is_no_client_of_a_device)
{
	struct fdinfo info;

	ck_assert(!fdinfo_parse("", &info));
	ck_assert(!fdinfo_parse(HEAD, &info));
	ck_assert(!fdinfo_parse(HEAD "drm-driver:\tamdgpu\n", &info));
	ck_assert(!fdinfo_parse(HEAD "drm-client-id:\t5\n", &info));
}

TEST(more_engines_than_there_is_room_for)
{
	static char text[8192] = HEAD "drm-driver:\tx\ndrm-client-id:\t1\n";
	struct fdinfo info;

	for (int i = 0; i < 2 * FDINFO_ENGINES_MAX; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "drm-engine-%d%040d:\t%d ns\n", i, 0, i);
	ck_assert(fdinfo_parse(text, &info));
	ck_assert_uint_eq(info.engine_count, FDINFO_ENGINES_MAX);
}

int main(void)
{
	return suite_run("fdinfo", NULL, NULL);
}
