/* A YAML file as a tree. See tree.h. */
#include "common/yaml/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yaml.h>

struct tree_parser {
	yaml_parser_t yaml;
	struct arena *arena;
	const char *file;
	const char *data;
	size_t size;
	struct tree_error *error;
};

int tree_error_set(struct tree_error *ret_error, const char *file, unsigned line, const char *format, ...)
{
	va_list arguments;

	snprintf(ret_error->file, sizeof(ret_error->file), "%s", file);
	ret_error->line = line;
	va_start(arguments, format);
	vsnprintf(ret_error->reason, sizeof(ret_error->reason), format, arguments);
	va_end(arguments);
	return -EINVAL;
}

const char *tree_kind_text(enum tree_kind kind)
{
	static const char *const texts[] = {[TREE_TEXT] = "text", [TREE_LIST] = "a list", [TREE_MAPPING] = "a mapping"};

	return texts[kind];
}

static unsigned event_line(const yaml_event_t *event)
{
	return (unsigned)event->start_mark.line + 1;
}

/* For reader errors, libyaml gives the byte offset but not the line. */
static size_t line_of_byte(const struct tree_parser *parser, size_t offset)
{
	size_t line = 0;

	for (size_t i = 0; i < offset && i < parser->size; i++)
		line += parser->data[i] == '\n';
	return line;
}

static int parser_next(struct tree_parser *parser, yaml_event_t *ret_event)
{
	yaml_parser_t *yaml = &parser->yaml;
	const char *problem;
	size_t line;

	if (yaml_parser_parse(yaml, ret_event))
		return 0;
	if (yaml->error == YAML_MEMORY_ERROR)
		return -ENOMEM;
	problem = yaml->problem ? yaml->problem : "not YAML";
	line = yaml->problem_mark.line;
	if (yaml->error == YAML_READER_ERROR)
		line = line_of_byte(parser, yaml->problem_offset);
	return tree_error_set(parser->error, parser->file, (unsigned)line + 1, "%s%s%s", problem,
			      yaml->context ? " " : "", yaml->context ? yaml->context : "");
}

static int parser_refuse(struct tree_parser *parser, const yaml_event_t *event, const char *reason)
{
	return tree_error_set(parser->error, parser->file, event_line(event), "%s", reason);
}

/* Rejects aliases, anchors and tags anywhere; see tree.h. */
static int parser_check_event(struct tree_parser *parser, const yaml_event_t *event)
{
	const yaml_char_t *anchor = NULL, *tag = NULL;

	switch (event->type) {
	case YAML_ALIAS_EVENT: return parser_refuse(parser, event, "aliases (*name) are not allowed");
	case YAML_SCALAR_EVENT:
		anchor = event->data.scalar.anchor;
		tag = event->data.scalar.tag;
		break;
	case YAML_SEQUENCE_START_EVENT:
		anchor = event->data.sequence_start.anchor;
		tag = event->data.sequence_start.tag;
		break;
	case YAML_MAPPING_START_EVENT:
		anchor = event->data.mapping_start.anchor;
		tag = event->data.mapping_start.tag;
		break;
	default: break;
	}
	if (anchor)
		return parser_refuse(parser, event, "anchors (&name) are not allowed");
	if (tag)
		return parser_refuse(parser, event, "tags (!name) are not allowed");
	return 0;
}

static int parser_read_node(struct tree_parser *parser, const yaml_event_t *event, unsigned depth,
			    struct tree_node **ret_node);

static int parser_read_scalar(struct tree_parser *parser, const yaml_event_t *event, struct tree_node *node)
{
	const char *text = (const char *)event->data.scalar.value;
	size_t size = event->data.scalar.length;

	if (memchr(text, '\0', size))
		return parser_refuse(parser, event, "text must not contain a NUL byte");
	node->text = arena_copy(parser->arena, text, size);
	return node->text ? 0 : -ENOMEM;
}

static int parser_check_key(struct tree_parser *parser, const struct tree_node *mapping, const struct tree_node *key)
{
	unsigned count = 0;

	if (key->kind != TREE_TEXT)
		return tree_error_set(parser->error, parser->file, key->line, "a key must be text, not %s",
				      tree_kind_text(key->kind));
	for (const struct tree_node *other = mapping->first; other != key; other = other->next) {
		if (++count == TREE_KEYS_MAX)
			return tree_error_set(parser->error, parser->file, key->line,
					      "more than %d keys in one mapping", TREE_KEYS_MAX);
		if (strcmp(other->text, key->text) == 0)
			return tree_error_set(parser->error, parser->file, key->line,
					      "duplicate key \"%.100s\", first on line %u", key->text, other->line);
	}
	return 0;
}

/* Reads the value of the key that was just read. */
static int parser_read_value(struct tree_parser *parser, unsigned depth, const struct tree_node *mapping,
			     struct tree_node *key)
{
	yaml_event_t event;
	int r = parser_check_key(parser, mapping, key);

	if (r == 0)
		r = parser_next(parser, &event);
	if (r < 0)
		return r;
	r = parser_read_node(parser, &event, depth + 1, &key->value);
	yaml_event_delete(&event);
	return r;
}

/* Reads the items of a list or mapping, up to its end. */
static int parser_read_items(struct tree_parser *parser, unsigned depth, struct tree_node *node)
{
	yaml_event_type_t last = node->kind == TREE_LIST ? YAML_SEQUENCE_END_EVENT : YAML_MAPPING_END_EVENT;

	for (struct tree_node **tail = &node->first;; tail = &(*tail)->next) {
		yaml_event_t event;
		bool end;
		int r = parser_next(parser, &event);

		if (r < 0)
			return r;
		end = event.type == last;
		if (!end)
			r = parser_read_node(parser, &event, depth + 1, tail);
		yaml_event_delete(&event);
		if (r == 0 && !end && node->kind == TREE_MAPPING)
			r = parser_read_value(parser, depth, node, *tail);
		if (r < 0 || end)
			return r;
	}
}

static int parser_read_node(struct tree_parser *parser, const yaml_event_t *event, unsigned depth,
			    struct tree_node **ret_node)
{
	struct tree_node *node;
	int r = parser_check_event(parser, event);

	if (r < 0)
		return r;
	if (depth > TREE_DEPTH_MAX)
		return parser_refuse(parser, event, "nested too deeply");
	node = arena_alloc(parser->arena, sizeof(*node));
	if (!node)
		return -ENOMEM;
	node->line = event_line(event);
	switch (event->type) {
	case YAML_SCALAR_EVENT:
		node->kind = TREE_TEXT;
		r = parser_read_scalar(parser, event, node);
		break;
	case YAML_SEQUENCE_START_EVENT:
		node->kind = TREE_LIST;
		r = parser_read_items(parser, depth, node);
		break;
	case YAML_MAPPING_START_EVENT:
		node->kind = TREE_MAPPING;
		r = parser_read_items(parser, depth, node);
		break;
	default: return parser_refuse(parser, event, "unexpected end");
	}
	if (r < 0)
		return r;
	*ret_node = node;
	return 0;
}

static int parser_read_stream(struct tree_parser *parser, struct tree_node **ret_root)
{
	struct tree_node *root = NULL;
	unsigned document_count = 0;

	for (;;) {
		yaml_event_t event;
		bool end;
		int r = parser_next(parser, &event);

		if (r < 0)
			return r;
		end = event.type == YAML_STREAM_END_EVENT;
		if (event.type == YAML_DOCUMENT_START_EVENT && ++document_count > 1)
			r = parser_refuse(parser, &event, "more than one YAML document in the file");
		else if (!end && event.type != YAML_STREAM_START_EVENT && event.type != YAML_DOCUMENT_START_EVENT &&
			 event.type != YAML_DOCUMENT_END_EVENT)
			r = parser_read_node(parser, &event, 0, &root);
		yaml_event_delete(&event);
		if (r < 0)
			return r;
		if (end)
			break;
	}
	*ret_root = root;
	return 0;
}

int tree_parse(struct arena *arena, const char *file, const void *data, size_t size, struct tree_node **ret_root,
	       struct tree_error *ret_error)
{
	struct tree_parser parser = {.arena = arena, .file = file, .data = data, .size = size, .error = ret_error};
	int r;

	if (size > TREE_FILE_BYTES_MAX)
		return tree_error_set(ret_error, file, 0, "larger than %d bytes", TREE_FILE_BYTES_MAX);
	if (!yaml_parser_initialize(&parser.yaml))
		return -ENOMEM;
	yaml_parser_set_encoding(&parser.yaml, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&parser.yaml, size ? data : (const void *)"", size);
	r = parser_read_stream(&parser, ret_root);
	yaml_parser_delete(&parser.yaml);
	return r;
}

/* ---- files ---- */

static int read_bytes(int fd, char *buffer, size_t capacity, size_t *ret_size)
{
	size_t size = 0;
	ssize_t n;

	while (size < capacity && (n = read(fd, buffer + size, capacity - size)) != 0) {
		if (n < 0 && errno != EINTR)
			return -errno;
		size += n > 0 ? (size_t)n : 0;
	}
	*ret_size = size;
	return 0;
}

static int read_open(int fd, char **ret_data, size_t *ret_size)
{
	const size_t capacity = TREE_FILE_BYTES_MAX + 1;
	struct stat stat;
	char *buffer;
	int r;

	if (fstat(fd, &stat) < 0)
		return -errno;
	if (!S_ISREG(stat.st_mode) && !S_ISCHR(stat.st_mode)) /* /dev/null is an empty file */
		return -EINVAL;
	buffer = malloc(capacity);
	if (!buffer)
		return -ENOMEM;
	r = read_bytes(fd, buffer, capacity, ret_size);
	if (r < 0)
		free(buffer);
	else
		*ret_data = buffer;
	return r;
}

int tree_read_file(const char *path, char **ret_data, size_t *ret_size, struct tree_error *ret_error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* do not block on a FIFO */
	int r = fd < 0 ? -errno : read_open(fd, ret_data, ret_size);

	if (fd >= 0)
		close(fd);
	if (r == -EINVAL)
		tree_error_set(ret_error, path, 0, "not a regular file");
	else if (r < 0)
		tree_error_set(ret_error, path, 0, "cannot be read: %s", strerror(-r));
	return r;
}
