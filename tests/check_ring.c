/* The ring reader on memory laid out as by the kernel: order, wrap, busy and discarded records, and
 * what an acknowledgement frees. */

#include <linux/bpf.h>

#include "probe/forward/ring.h"
#include "tests/suite.h"

#define RING_BYTES 4096

/* The data area twice in a row; put_bytes() keeps both copies equal. */
struct fake {
	uint64_t consumer;
	uint64_t producer;
	_Alignas(8) char data[2 * RING_BYTES];
};

static struct fake fake;
static struct ring ring;

static void setup(void)
{
	memset(&fake, 0, sizeof(fake));
	ring = (struct ring){
		.consumer = &fake.consumer,
		.producer = &fake.producer,
		.data = fake.data,
		.mask = RING_BYTES - 1,
	};
}

static void put_bytes(uint64_t position, const void *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		size_t at = (position + i) % RING_BYTES;

		fake.data[at] = fake.data[at + RING_BYTES] = ((const char *)bytes)[i];
	}
}

/* Writes a record as bpf_ringbuf_output does. Returns its offset. */
static uint64_t put(const char *text, uint32_t flags)
{
	uint64_t position = fake.producer;
	uint32_t size = (uint32_t)strlen(text), header[2] = {size | flags, 0};

	put_bytes(position, header, sizeof(header));
	put_bytes(position + sizeof(header), text, size);
	fake.producer += (sizeof(header) + size + 7) / 8 * 8;
	return position + sizeof(header);
}

static void expect(const char *text, uint64_t offset)
{
	const void *record;
	uint64_t found_offset;
	size_t size;

	ck_assert_int_eq(ring_next(&ring, &record, &size, &found_offset), 1);
	ck_assert_uint_eq(size, strlen(text));
	ck_assert_int_eq(memcmp(record, text, size), 0);
	ck_assert_uint_eq(found_offset, offset);
}

static void expect_none(void)
{
	const void *record;
	uint64_t offset;
	size_t size;

	ck_assert_int_eq(ring_next(&ring, &record, &size, &offset), 0);
}

TEST(size_by_processors)
{
	ck_assert_uint_eq(ring_size_of_host(2), 16 << 20);
	ck_assert_uint_eq(ring_size_of_host(64), 16 << 20);
	ck_assert_uint_eq(ring_size_of_host(96), 32 << 20);
	ck_assert_uint_eq(ring_size_of_host(256), 64 << 20);
	ck_assert_uint_eq(ring_size_of_host(1024), 64 << 20);
	ck_assert_uint_eq(ring_size_of_host(-1), 16 << 20); /* unknown */
}

TEST(reading_keeps_records)
{
	uint64_t first = put("one", 0), second = put("a longer second", 0);

	expect("one", first);
	expect("a longer second", second);
	expect_none();
	ck_assert_uint_eq(fake.consumer, 0);
	ck_assert_uint_eq(ring.position, fake.producer);

	ring_seek(&ring, 0);
	expect("one", first);
}

TEST(busy_record_stops_the_reader)
{
	uint64_t first = put("one", 0), second = put("two", BPF_RINGBUF_BUSY_BIT);

	put("three", 0);
	expect("one", first);
	expect_none();
	put_bytes(second - 8, &(uint32_t){3}, 4); /* submitted */
	expect("two", second);
}

TEST(discarded_record_is_passed_over)
{
	put("dropped", BPF_RINGBUF_DISCARD_BIT);
	uint64_t second = put("two", 0);

	expect("two", second);
	put("dropped too", BPF_RINGBUF_DISCARD_BIT);
	expect_none();
	ring_free_before(&ring, UINT64_MAX);
	ck_assert_uint_eq(fake.consumer, fake.producer);
}

TEST(offsets_and_positions_differ)
{
	uint64_t first = put("one", 0), second = put("two", 0);

	ck_assert_uint_gt(first, 0);
	expect("one", first);
	ck_assert_uint_gt(ring.position, first);
	ck_assert_uint_lt(ring.position, second);
}

TEST(acknowledgement_frees_what_was_read)
{
	uint64_t first = put("one", 0), second = put("two", 0), third = put("three", 0);

	expect("one", first);
	expect("two", second);
	ring_free_before(&ring, second);
	ck_assert_uint_eq(fake.consumer, second - 8);
	ring_free_before(&ring, first); /* an older offset again: never moves back */
	ck_assert_uint_eq(fake.consumer, second - 8);
	ring_free_before(&ring, UINT64_MAX); /* beyond what was read */
	ck_assert_uint_eq(fake.consumer, third - 8);
	expect("three", third);
}

TEST(acknowledgement_inside_a_record_keeps_boundaries)
{
	uint64_t first = put("a record of some length", 0), second = put("two", 0);

	expect("a record of some length", first);
	expect("two", second);
	ring_free_before(&ring, first + 5);
	ck_assert_uint_eq(fake.consumer, second - 8);
	ring_seek(&ring, 0);
	expect("two", second);
}

TEST(seek_passes_over_what_is_committed)
{
	put("one", 0);
	uint64_t second = put("two", 0), third = put("three", 0);

	ring_seek(&ring, second + 1); /* the second is already acknowledged */
	ck_assert_uint_eq(fake.consumer, third - 8);
	expect("three", third);
	ring_seek(&ring, 0); /* below the consumer: starts at what there is */
	expect("three", third);
	ring_seek(&ring, UINT64_MAX);
	ck_assert_uint_eq(fake.consumer, fake.producer);
	expect_none();
}

TEST(records_wrap_around)
{
	char text[200];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	for (int i = 0; i < 100; i++) {
		text[0] = (char)('a' + i % 26);
		uint64_t offset = put(text, 0);
		expect(text, offset);
		ring_free_before(&ring, offset + 1);
		ck_assert_uint_eq(fake.consumer, fake.producer);
	}
	ck_assert_uint_gt(fake.producer, 4 * RING_BYTES);
}

int main(void)
{
	return suite_run("ring", setup, NULL);
}
