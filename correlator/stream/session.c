/* One probe's stream. See session.h. */
#include "correlator/stream/session.h"

#include <errno.h>

int session_init(struct session *session, struct model *model, struct store *store)
{
	int r;

	session->model = model;
	session->stream = (struct store_stream){0};
	r = store_read_stream(store, &session->stream);
	if (r < 0 && r != -ENODATA)
		return r;
	session->committed_offset = session->stream.ring_offset;
	session->changed = false;
	session_reset(session);
	return 0;
}

/* For this long after a change, scans that change nothing are committed too: readers (`tracer top`,
 * `tracer run`) take the last commit for the current time and state. */
#define FOLLOW_NS (4 * UINT64_C(1000000000))
/* The time of the last commit also shows that the daemons are running. */
#define HEARTBEAT_NS (10 * UINT64_C(1000000000))

/* What the previous peer sent is still committed. */
void session_reset(struct session *session)
{
	session->greeted = false;
}

static int reject(const char **ret_reason, const char *reason)
{
	*ret_reason = reason;
	return -EPROTO;
}

/* What this store is waiting for was acknowledged by another one: this is an older copy. (What follows its last
 * record begins after that record, whose size is not known.) */
static bool misses_records(const struct session *session)
{
	const struct wire_hello *hello = &session->message.hello;

	return hello->ring_epoch == session->stream.ring_epoch &&
	       hello->consumer_offset > session->stream.ring_offset + RECORD_SIZE_MAX;
}

/* Offsets belong to one ring: for another ring, counting starts over. */
static int greet(struct session *session, const char **ret_reason)
{
	const struct wire_hello *hello = &session->message.hello;

	if (session->greeted)
		return reject(ret_reason, "a second hello");
	if (hello->version != WIRE_VERSION)
		return reject(ret_reason, "a different protocol version: upgrade probe and correlator together");
	if (hello->record_version != RECORD_VERSION)
		return reject(ret_reason, "a different record version: upgrade probe and correlator together");
	if (hello->boot_id.size == 0 || hello->boot_id.size >= sizeof(session->stream.boot_id))
		return reject(ret_reason, "a boot id of invalid size");
	if (hello->ring_epoch != session->stream.ring_epoch || misses_records(session)) {
		session->stream.ring_epoch = hello->ring_epoch;
		session->stream.ring_offset = hello->consumer_offset;
		session->committed_offset = hello->consumer_offset;
	}
	session->greeted = true;
	return 0;
}

/* Advances the position. Returns false for an event that was already applied. */
static bool is_new(struct session *session, uint64_t offset)
{
	if (offset < session->stream.ring_offset)
		return false;
	session->stream.ring_offset = offset + 1;
	return true;
}

/* An unreadable record is lost, and reported like every other loss: closing the
 * connection would bring the same record back forever. */
static int take_unreadable(struct session *session, const void *record, size_t size)
{
	struct record_header header = {0};

	record_peek(record, size, &header);
	return apply_unreadable(session->model, &header, header.boot_ns);
}

/* Whatever is missing from an older copy is one loss of unknown size. */
static int take_hello(struct session *session, bool is_older_copy)
{
	const struct record_header missing = {.boot_ns = session->stream.committed_boot_ns};
	int r = apply_message(session->model, &session->message);

	session->changed = true;
	if (r == 0 && is_older_copy)
		r = apply_unreadable(session->model, &missing, session->message.hello.boot_ns);
	return r;
}

static int take_record(struct session *session, const void *record, size_t size)
{
	if (record_read(record, size, &session->record) < 0)
		return take_unreadable(session, record, size);
	return apply_record(session->model, &session->record);
}

static int take_samples(struct session *session, const struct wire_bytes *records, const char **ret_reason)
{
	const void *record;
	size_t at = 0, size;
	int r;

	while ((r = record_find(records, &at, &record, &size)) > 0) {
		r = take_record(session, record, size);
		if (r < 0)
			return r;
	}
	return r < 0 ? reject(ret_reason, "malformed sample records") : 0;
}

/* A scan that found nothing new is not worth a commit. */
static int take_scan(struct session *session, const struct wire_scan *scan)
{
	int r = apply_message(session->model, &session->message);

	if (model_pending(session->model) > 0)
		session->eventful_boot_ns = scan->boot_ns;
	session->changed = session->changed || model_is_dirty(session->model) ||
			   scan->boot_ns < session->eventful_boot_ns + FOLLOW_NS ||
			   scan->boot_ns >= session->stream.committed_boot_ns + HEARTBEAT_NS;
	return r;
}

static int take_event(struct session *session)
{
	const struct wire_event *event = &session->message.event;

	if (!is_new(session, event->offset))
		return 0;
	int r = take_record(session, event->record.data, event->record.size);

	session->eventful_boot_ns = session->model->now_boot_ns;
	session->changed = true;
	return r;
}

static int take(struct session *session, const char **ret_reason)
{
	const struct wire_message *message = &session->message;

	switch (message->type) {
	case WIRE_EVENT: return take_event(session);
	case WIRE_SAMPLE: return take_samples(session, &message->sample.records, ret_reason);
	case WIRE_SCAN: return take_scan(session, &message->scan);
	case WIRE_LOSSES:
		session->changed = true;
		*ret_reason = "a malformed loss table";
		return apply_message(session->model, message);
	default: session->changed = true; return apply_message(session->model, message);
	}
}

int session_feed(struct session *session, const void *data, size_t size, const char **ret_reason)
{
	struct wire_message *message = &session->message;

	if (wire_decode(data, size, message, ret_reason) < 0)
		return -EPROTO;
	if (message->type == WIRE_WELCOME || message->type == WIRE_ACK)
		return reject(ret_reason, "a message that only a correlator sends");
	if (message->type == WIRE_SAMPLER || message->type == WIRE_DEVICE_USE || message->type == WIRE_DEVICE_ERROR)
		return reject(ret_reason, "a message that only a sampler sends");
	if (message->type == WIRE_HELLO) {
		bool is_older_copy = misses_records(session);
		int r = greet(session, ret_reason);

		return r < 0 ? r : take_hello(session, is_older_copy);
	}
	if (!session->greeted)
		return reject(ret_reason, "a message before hello");
	return take(session, ret_reason);
}

int session_answer(const struct session *session, enum wire_type type, struct wire_output *output)
{
	struct wire_message answer = {.type = type};

	if (type == WIRE_WELCOME)
		answer.welcome = (struct wire_welcome){.version = WIRE_VERSION,
						       .ring_epoch = session->stream.ring_epoch,
						       .offset = session->committed_offset};
	else
		answer.ack.offset = session->committed_offset;
	return wire_encode(output, &answer);
}

uint64_t session_pending_bytes(const struct session *session)
{
	return session->stream.ring_offset - session->committed_offset;
}

int session_commit(struct session *session, uint64_t now_unix_ns)
{
	session->stream.committed_unix_ns = now_unix_ns;
	int r = apply_commit(session->model, &session->stream);

	if (r < 0)
		return r;
	session->committed_offset = session->stream.ring_offset;
	session->changed = false;
	return 0;
}

void session_add_host_sample(struct session *session, const struct row_host_sample *sample)
{
	struct model *model = session->model;

	apply_host_sample(model, sample);
	if (session->stream.ring_epoch == 0)
		return;
	model->host_samples_waiting += session->was_host_sampled ? 1 : HOST_SAMPLES_WAITING_MAX;
	session->changed = session->changed || model->host_samples_waiting >= HOST_SAMPLES_WAITING_MAX;
	session->was_host_sampled = true;
}
