/* Entity ids as hashes. See identity.h. */
#include "common/identity.h"

#include <errno.h>
#include <string.h>

#define FNV_OFFSET 0xcbf29ce484222325ULL
#define FNV_PRIME 0x100000001b3ULL

static void mix(struct identity *identity, const unsigned char *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		identity->state = (identity->state ^ data[i]) * FNV_PRIME;
}

void identity_begin(struct identity *identity, const char *kind)
{
	identity->state = FNV_OFFSET;
	identity_add_bytes(identity, kind, strlen(kind));
}

void identity_add_bytes(struct identity *identity, const void *data, size_t size)
{
	identity_add_u64(identity, size);
	mix(identity, data, size);
}

void identity_add_u64(struct identity *identity, uint64_t value)
{
	unsigned char bytes[8];

	for (int i = 0; i < 8; i++)
		bytes[i] = (unsigned char)(value >> (8 * i));
	mix(identity, bytes, sizeof(bytes));
}

int64_t identity_end(struct identity *identity)
{
	uint64_t hash = identity->state;

	hash ^= hash >> 33;
	hash *= 0xff51afd7ed558ccdULL;
	hash ^= hash >> 33;
	hash *= 0xc4ceb9fe1a85ec53ULL;
	hash ^= hash >> 33;
	hash &= INT64_MAX;
	return hash ? (int64_t)hash : 1;
}

int64_t identity_add(int64_t base, int64_t offset)
{
	int64_t id = (int64_t)(((uint64_t)base + (uint64_t)offset) & INT64_MAX);

	return id ? id : 1;
}

void identity_format(int64_t id, char text[IDENTITY_TEXT_SIZE])
{
	for (int i = 0; i < IDENTITY_TEXT_SIZE - 1; i++)
		text[i] = "0123456789abcdef"[(uint64_t)id >> (60 - 4 * i) & 15];
	text[IDENTITY_TEXT_SIZE - 1] = '\0';
}

int identity_parse_prefix(const char *text, int64_t *ret_first, int64_t *ret_last)
{
	uint64_t value = 0;
	int digits = 0;

	for (; text[digits]; digits++) {
		char c = text[digits];
		unsigned digit;

		if (c >= '0' && c <= '9')
			digit = (unsigned)(c - '0');
		else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
			digit = (unsigned)((c | 0x20) - 'a') + 10;
		else
			return -EINVAL;
		if (digits == 16)
			return -EINVAL;
		value = value << 4 | digit;
	}
	if (digits == 0)
		return -EINVAL;
	uint64_t spread = digits == 16 ? 0 : UINT64_MAX >> (4 * digits);
	uint64_t first = digits == 16 ? value : value << (64 - 4 * digits);

	if (first > INT64_MAX)
		return -EINVAL;
	*ret_first = (int64_t)first;
	*ret_last = (int64_t)(first | spread);
	return 0;
}

bool identity_is_column(const char *name)
{
	static const char *const numbers[] = {"user_id", "sender_user_id", "exec_id", "cgroup_id"};
	size_t size = strlen(name);

	if (strcmp(name, "rules_version") == 0 || strcmp(name, "id") == 0)
		return true;
	if (size <= 3 || strcmp(name + size - 3, "_id") != 0)
		return false;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (strcmp(name, numbers[i]) == 0)
			return false;
	return true;
}
