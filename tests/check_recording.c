/* Recordings: complete, truncated at every byte, of another version, garbage, unreadable. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/wire/recording.h"
#include "tests/suite.h"

#define ACK_COUNT 5

/* Creates a file with the magic and acks of increasing offsets, positioned at its beginning. */
static int recording_make(size_t *ret_size)
{
	static struct wire_message message = {.type = WIRE_ACK};
	struct wire_output output = {0};
	int fd = memfd_create("recording", MFD_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(recording_write_magic(fd), 0);
	for (uint64_t i = 0; i < ACK_COUNT; i++) {
		message.ack.offset = i << (i * 8);
		ck_assert_int_eq(wire_encode(&output, &message), 0);
	}
	ck_assert_int_eq(write(fd, output.data, output.size), (ssize_t)output.size);
	*ret_size = WIRE_RECORDING_MAGIC_SIZE + output.size;
	wire_output_deinit(&output);
	ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

/* Reads every frame and checks that it is the next ack. Returns the last result of recording_next() and
 * the number of frames before it. */
static int recording_read_all(int fd, uint64_t *ret_count, uint64_t *ret_position_bytes)
{
	static struct wire_message message;
	struct recording recording;
	const char *data, *reason = NULL;
	uint64_t count = 0;
	size_t size;
	int r;

	ck_assert_int_eq(recording_init(&recording, fd, &reason), 0);
	while ((r = recording_next(&recording, &data, &size, &reason)) == RECORDING_FRAME) {
		ck_assert_int_eq(wire_decode(data, size, &message, &reason), 0);
		ck_assert_uint_eq(message.ack.offset, count << (count * 8));
		count++;
	}
	if (r == -EBADMSG)
		ck_assert_ptr_nonnull(reason);
	*ret_count = count;
	*ret_position_bytes = recording.position_bytes;
	recording_deinit(&recording);
	return r;
}

TEST(whole)
{
	uint64_t count, position_bytes;
	size_t size;
	int fd = recording_make(&size);

	ck_assert_int_eq(recording_read_all(fd, &count, &position_bytes), RECORDING_END);
	ck_assert_uint_eq(count, ACK_COUNT);
	ck_assert_uint_eq(position_bytes, size);
	close(fd);
}

/* Truncation never causes an error or an incomplete frame. */
TEST(cut)
{
	uint64_t count, position_bytes, frames = ACK_COUNT;
	size_t size;
	int fd = recording_make(&size);

	while (--size >= WIRE_RECORDING_MAGIC_SIZE) {
		ck_assert_int_eq(ftruncate(fd, (off_t)size), 0);
		ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
		int r = recording_read_all(fd, &count, &position_bytes);

		ck_assert_uint_le(count, frames);
		frames = count;
		ck_assert_uint_le(position_bytes, size);
		ck_assert_int_eq(r, position_bytes == size ? RECORDING_END : RECORDING_CUT);
	}
	ck_assert_uint_eq(frames, 0);
	close(fd);
}

/* A pipe delivers what its writer wrote, here byte by byte. */
TEST(pipe_of_bytes)
{
	uint64_t count, position_bytes;
	size_t size;
	int fd = recording_make(&size), ends[2];
	char byte;

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC | O_DIRECT), 0);     /* packet mode: one byte per read */
	ck_assert_int_ge(fcntl(ends[0], F_SETPIPE_SZ, 1 << 20), 0); /* room for 256 packets */
	ck_assert_uint_le(size, 256);
	while (read(fd, &byte, 1) == 1)
		ck_assert_int_eq(write(ends[1], &byte, 1), 1);
	close(ends[1]);
	ck_assert_int_eq(recording_read_all(ends[0], &count, &position_bytes), RECORDING_END);
	ck_assert_uint_eq(count, ACK_COUNT);
	close(ends[0]);
	close(fd);
}

static const struct {
	const char *text;
	const char *reason;
} refused[] = {
	{"", "not a recording"},
	{"SQLite format 3", "not a recording"},
	{"tracer-record", "not a recording"},
	{"tracer-record-3", "truncated in its first line"},
	{"tracer-record-1\nanything", "a different version"},
	{"tracer-record-3 anything", "a different version"},
};

TEST_EACH(magic_refused, refused)
{
	struct recording recording;
	const char *reason = "";
	int fd = memfd_create("recording", MFD_CLOEXEC);
	ssize_t size = (ssize_t)strlen(refused[_i].text);

	ck_assert_int_eq(write(fd, refused[_i].text, (size_t)size), size);
	ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
	ck_assert_int_eq(recording_init(&recording, fd, &reason), -EBADMSG);
	ck_assert_msg(strstr(reason, refused[_i].reason), "%s", reason);
	close(fd);
}

TEST(garbage_behind_frames)
{
	static const char garbage[] = "some text that is no frame";
	uint64_t count, position_bytes;
	size_t size;
	int fd = recording_make(&size);

	ck_assert_int_eq(pwrite(fd, garbage, sizeof(garbage), (off_t)size), sizeof(garbage));
	ck_assert_int_eq(recording_read_all(fd, &count, &position_bytes), -EBADMSG);
	ck_assert_uint_eq(count, ACK_COUNT);
	ck_assert_uint_eq(position_bytes, size);
	close(fd);
}

TEST(unreadable)
{
	struct recording recording;
	const char *reason;
	int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	ck_assert_int_eq(recording_init(&recording, fd, &reason), -EISDIR);
	ck_assert_int_eq(recording_write_magic(fd), -EBADF);
	close(fd);
	fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	ck_assert_int_eq(recording_write_magic(fd), -ENOSPC);
	close(fd);
}

int main(void)
{
	return suite_run("recording", NULL, NULL);
}
