/* Nextflow: hashes of tasks, and its log. See reader.h. */
#include "analysis/engines/reader.h"

#include <string.h>

bool nextflow_is_hash(const char *text)
{
	size_t hex = strspn(text, "0123456789abcdef");

	return hex == 2 && text[2] == '/' && strspn(text + 3, "0123456789abcdef") == 6;
}

/* "ALIGN:BWA (s1)" is the task s1 of the process ALIGN:BWA. */
int nextflow_add(struct reader *reader, const char *hash, char *name)
{
	char key[10], *label = name + strlen(name);
	size_t size = strlen(name);

	snprintf(key, sizeof(key), "%.9s", hash);
	if (size > 0 && name[size - 1] == ')') {
		char *bracket = strstr(name, " (");

		if (bracket) {
			name[size - 1] = '\0';
			*bracket = '\0';
			label = bracket + 2;
		}
	}
	return reader_add(reader, key, name, label);
}

/* "... [ab/cdef01] Submitted process > NAME (tag)", and re-submitted. */
int nextflow_read_log(struct reader *reader)
{
	static const char mark[] = "ubmitted process > ";
	char *name = strstr(reader->line, mark), *bracket = name;

	if (!name)
		return 0;
	while (bracket > reader->line && *bracket != '[')
		bracket--;
	if (*bracket != '[' || !nextflow_is_hash(bracket + 1) || bracket[10] != ']')
		return 0;
	reader->known = true;
	return nextflow_add(reader, bracket + 1, name + strlen(mark));
}
