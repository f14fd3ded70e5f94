/* Settings with their sources. See config.h. */
#include "common/config.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/print.h"
#include "common/text.h"

static void value_free(struct config_value *value)
{
	free(value->name);
	free(value->text);
	free(value->source);
}

int config_add(struct config *config, const char *name, const char *text, const char *source)
{
	struct config_value *value = &config->value[config->count];

	if (config->count == CONFIG_VALUES_MAX)
		return -ENOMEM;
	*value = (struct config_value){strdup(name), strdup(text), strdup(source)};
	if (value->name && value->text && value->source) {
		config->count++;
		return 0;
	}
	value_free(value);
	return -ENOMEM;
}

void config_remove(struct config *config, const char *name)
{
	size_t kept = 0;

	for (size_t i = 0; i < config->count; i++)
		if (strcmp(config->value[i].name, name) == 0)
			value_free(&config->value[i]);
		else
			config->value[kept++] = config->value[i];
	config->count = kept;
}

const struct config_value *config_find(const struct config *config, const char *name)
{
	for (size_t i = 0; i < config->count; i++)
		if (strcmp(config->value[i].name, name) == 0)
			return &config->value[i];
	return NULL;
}

const char *config_environment(const char *program, const char *name, char variable[128])
{
	snprintf(variable, 128, "%s_%s", program, name);
	for (char *c = variable; *c; c++)
		*c = isalnum((unsigned char)*c) ? (char)toupper((unsigned char)*c) : '_';
	const char *value = getenv(variable);
	return value && *value ? value : NULL;
}

int config_print(const struct config *config)
{
	char text[4096 * 4], source[1024];

	for (size_t i = 0; i < config->count; i++) {
		const struct config_value *value = &config->value[i];

		text_escape(value->text, strlen(value->text), text, sizeof(text));
		text_escape(value->source, strlen(value->source), source, sizeof(source));
		printf("%s\t%s\t%s\n", value->name, text, source);
	}
	return print_finish(stdout);
}

void config_deinit(struct config *config)
{
	while (config->count > 0)
		value_free(&config->value[--config->count]);
}

/* ---- settings that are options ------------------------------------------------------- */

const struct option_spec *config_find_option(const struct option_program *program, const char *name)
{
	for (const struct option_spec *spec = program->specs; spec->name; spec++)
		if (strcmp(spec->name, name) == 0)
			return spec->argument && !spec->no_setting ? spec : NULL;
	return NULL;
}

int config_set_option(struct config *config, const struct option_spec *spec, const char *text, const char *source,
		      char *ret_problem, size_t capacity)
{
	if (config_add(config, spec->name, text, source) == 0)
		return option_set(spec, config->value[config->count - 1].text, ret_problem, capacity);
	snprintf(ret_problem, capacity, "too many values, or out of memory");
	return -ENOMEM;
}

int config_set_initial(struct config *config, const struct option_program *program)
{
	char problem[OPTION_PROBLEM_BYTES];

	for (const struct option_spec *spec = program->specs; spec->name; spec++)
		if (spec->initial && !config_find(config, spec->name) &&
		    config_set_option(config, spec, spec->initial, CONFIG_DEFAULT, problem, sizeof(problem)) < 0)
			return -ENOMEM;
	return 0;
}
