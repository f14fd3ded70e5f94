/* Rule files: what they may contain, what is refused and how, and in which order rules are tried. The
 * shipped rules have a test of their own. */
#include <errno.h>
#include <sys/stat.h>

#include "common/redact/redact.h"
#include "common/rules/glob.h"
#include "common/rules/rules.h"
#include "tests/suite.h"

static struct rules *load(const char *text)
{
	struct tree_error error = {.line = 0};
	struct rules *rules = NULL;
	int r = rules_load_memory("test.yaml", text, strlen(text), &rules, &error);

	ck_assert_msg(r == 0, "%s:%u: %s", error.file, error.line, error.reason);
	return rules;
}

static struct rules_class classify_subject(const char *text, const struct rules_subject *subject)
{
	struct rules *rules = load(text);
	struct rules_class class;

	rules_classify(rules, subject, &class);
	if (class.rule) /* the rule's text does not outlive the rules; only whether one matched is used */
		class.rule = "";
	rules_free(rules);
	return class;
}

#define SUBJECT(...) \
	(const struct rules_subject) \
	{ \
		.path = ((const char *const[]){__VA_ARGS__})[0], \
		.argc = sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *), \
		.argv = (const char *const[]){__VA_ARGS__}, .working_directory = "/w/dir", .cgroup = "/a/job_7/x", \
	}

/* ---- errors ---- */

#define RULE_X "rules:\n  - rule: x\n    "
#define A_RULE RULE_X "match: {executable: a}\n    "
#define SECRET_X "secrets:\n  - secret: x\n    "

static const struct {
	const char *text;
	unsigned line;
	const char *reason; /* part of the message */
} broken[] = {
	{A_RULE "rol: tool\n", 4, "unknown key \"rol\": did you mean \"role\"?"},
	{RULE_X "match:\n      executeable: a\n", 4,
	 "match: unknown key \"executeable\": did you mean \"executable\"?"},
	{"rule:\n  - rule: x\n", 1, "unknown key \"rule\": did you mean \"rules\"?"},
	{A_RULE "role: tol\n", 4, "role: unknown role \"tol\": did you mean \"tool\"?"},
	{RULE_X "role: tool\n", 2, "rule \"x\" has no match"},
	{"rules:\n  - match: {executable: a}\n", 2, "the rule has no name"},
	{RULE_X "match: {}\n", 3, "match: has no key"},
	{RULE_X "match: a\n", 3, "match: expected a mapping"},
	{"rules:\n  - rule: [x]\n    match: {executable: a}\n", 2, "rule: expected text, found a list"},
	{"rules: text\n", 1, "rules: expected a list"},
	{"- a\n", 1, "must begin with \"rules:\""},
	{"text\n", 1, "must begin with \"rules:\""},
	{"runtimes:\n  - {runtime: x}\n", 2, "a runtime needs"},
	{"runtimes:\n  - {cgroup: '(?<id>x)'}\n", 2, "a runtime needs"},
	{"runtimes:\n  - {runtime: x, cgroup: '(x)'}\n", 2, "has no group (?<id>...)"},
	{"rules:\n  - just text\n", 2, "expected a mapping"},
	{RULE_X "match: {executable: {a: b}}\n", 3, "executable: expected text or a list"},
	{RULE_X "match: {executable: []}\n", 3, "executable: the list is empty"},
	{RULE_X "match:\n      executable:\n", 4, "executable: a value is missing"},
	{RULE_X "match: {executable: /bin/a}\n", 3, "executable: \"/bin/a\" is a path"},
	{RULE_X "match: {executable: 'a[b'}\n", 3, "bad glob \"a[b\""},
	{RULE_X "match:\n      argv: 'a(b'\n", 4,
	 "match: argv: bad regular expression: missing closing parenthesis, at offset 3 of \"a(b\""},
	{A_RULE "continue: maybe\n", 4, "continue: expected true or false"},
	{A_RULE "role: tool\n    continue: true\n", 4, "not allowed in"},
	{A_RULE "role: orchestrator\n", 2, "needs \"rank: parallel\""},
	{A_RULE "rank: workflow\n", 4, "rank belongs to role orchestrator, not tool"},
	{A_RULE "role: tool\n    boundary: child\n", 5, "boundary belongs to role origin"},
	{A_RULE "boundary: childs\n", 4, "did you mean \"child\"?"},
	{A_RULE "nested: true\n", 4, "nested belongs to role origin"},
	{A_RULE "unwrap: {}\n", 4, "unwrap belongs to role interpreter or shell"},
	{A_RULE "role: interpreter\n", 2, "needs \"unwrap\""},
	{A_RULE "options_with_value: x\n", 4, "\"x\" is not an option"},
	{A_RULE "threads: [-t, t]\n", 4, "threads: \"t\" is not an option"},
	{A_RULE "threads: ['=']\n", 4, "threads: \"=\" is not an option"},
	{A_RULE "threads: ['']\n", 4, "threads: "},
	{A_RULE "name: '{prgram}'\n", 4, "name: unknown placeholder {prgram}: did you mean \"program\"?"},
	{A_RULE "name: 'a{program'\n", 4, "name: { without }"},
	{A_RULE "name: 'a}'\n", 4, "name: } without {"},
	{A_RULE "name: '{1}'\n", 4, "name: {1} needs a rule with one regular expression"},
	{RULE_X "match: {argv: '(a)'}\n    name: '{2}'\n", 4, "name: {2}: \"argv\" has 1 groups"},
	{RULE_X "match: {argv: a}\n    name: '{cgroup:1}'\n", 4, "needs a \"cgroup\" in the rule's match"},
	{RULE_X "match: {argv: '(a)', cgroup: '(b)'}\n    name: '{1}'\n", 4, "write {path:1}"},
	{A_RULE "name: '{option:x}'\n", 4, "needs spellings"},
	{A_RULE "name: '{operand0}'\n", 4, "operands begin at 1"},
	{RULE_X "match: {executable: a}\n  - rule: x\n    match: {executable: b}\n", 4,
	 "a rule named \"x\" already exists at test.yaml:2"},
	{"rules:\n  - rule: x\n    rule: y\n", 3, "duplicate key \"rule\", first on line 2"},
	{"rules: &a\n  - rule: x\n", 1, "anchors"},
	{RULE_X "match: *a\n", 3, "aliases"},
	{"rules: !!seq\n  - rule: x\n", 1, "tags"},
	{"rules:\n  - rule: \"a\\0b\"\n", 2, "NUL byte"},
	{"rules: []\n---\nrules: []\n", 2, "one YAML document"},
	{"rules:\n  - rule: 'x\n", 3, "found unexpected end of stream"},
	{"rules:\n\t- rule: x\n", 2, "found character that cannot start any token"},
	{"secrets: text\n", 1, "secrets: expected a list"},
	{"secrets:\n  - programs: x1\n", 2, "the entry has no name"},
	{SECRET_X "program: x1\n", 3, "unknown key \"program\": did you mean \"programs\"?"},
	{SECRET_X "programs: /bin/x1\n", 3, "programs: \"/bin/x1\" is not a file name"},
	{SECRET_X "commands: -p SECRET\n", 2, "secret \"x\" has no programs"},
	{SECRET_X "commands: login\n", 3, "commands: command \"login\" does not end with SECRET or CODE"},
	{SECRET_X "commands: -a -b SECRET\n", 3, "has two options"},
	{SECRET_X "commands: -a login SECRET\n", 3, "has a word between an option and its secret"},
	{SECRET_X "commands: a b c d e f g h SECRET\n", 3, "has too many words"},
	{SECRET_X "commands: a*:SECRET\n", 3, "has two options, or a *"},
	{SECRET_X "needs: b\n", 3, "needs: \"b\" is not an option"},
	{SECRET_X "expressions: 'ab[c]+'\n", 3, "expressions: \"ab[c]+\" does not begin with 3 literal characters"},
	{SECRET_X "expressions: 'abc?'\n", 3, "does not begin with 3 literal characters"},
	{SECRET_X "expressions: 'abc|def'\n", 3, "in every choice (|)"},
	{SECRET_X "expressions: 'abc(d'\n", 3,
	 "expressions: bad regular expression: missing closing parenthesis, at offset 5 of \"abc(d\""},
	{SECRET_X "names: {lasst: a}\n", 3, "names: unknown key \"lasst\": did you mean \"last\"?"},
	{SECRET_X "names: {last: Seal}\n", 3, "names: last: \"Seal\" is not in lower case"},
	{SECRET_X "names: {last: seal}\n    examples: [a]\n", 2, "needs an example with a secret"},
	{SECRET_X "examples: [a, «b»]\n  - secret: x\n    examples: [a, «b»]\n", 4,
	 "a secret named \"x\" already exists at test.yaml:2"},
	{"[[[[[[[[[[[[a]]]]]]]]]]]]\n", 1, "nested too deeply"},
	{"rules:\n  - rule: \xff\n", 2, "invalid leading UTF-8 octet"},
};

TEST_EACH(test_broken, broken)
{
	struct tree_error error = {.line = 12345};
	struct rules *rules = (void *)&error;
	int r = rules_load_memory("test.yaml", broken[_i].text, strlen(broken[_i].text), &rules, &error);

	ck_assert_int_eq(r, -EINVAL);
	ck_assert_ptr_eq(rules, &error); /* untouched */
	ck_assert_str_eq(error.file, "test.yaml");
	ck_assert_msg(strstr(error.reason, broken[_i].reason), "%s\ngave: %s", broken[_i].text, error.reason);
	ck_assert_msg(error.line == broken[_i].line, "%s\ngave line %u: %s", broken[_i].text, error.line, error.reason);
}

TEST(test_empty_files)
{
	static const char *const texts[] = {"", "# nothing\n", "rules:\n", "rules: []\n"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct rules *rules = load(texts[i]);

		ck_assert_uint_eq(rules_count(rules), 0);
		rules_free(rules);
	}
}

TEST(test_too_large)
{
	size_t size = 1024 * 1024 + 1;
	char *text = malloc(size);
	struct tree_error error = {.line = 1};
	struct rules *rules;

	memset(text, '#', size);
	ck_assert_int_eq(rules_load_memory("big.yaml", text, size, &rules, &error), -EINVAL);
	ck_assert_uint_eq(error.line, 0);
	ck_assert_str_eq(error.reason, "larger than 1048576 bytes");
	free(text);
}

TEST(test_too_many_rules)
{
	char *text, *end;
	struct tree_error error = {.line = 0};
	struct rules *rules;

	text = malloc(1024 * 1024);
	end = text + sprintf(text, "rules:\n");
	for (int i = 0; i <= 10000; i++)
		end += sprintf(end, "- {rule: r%d, match: {executable: e%d}}\n", i, i);
	ck_assert_int_eq(rules_load_memory("many.yaml", text, (size_t)(end - text), &rules, &error), -EINVAL);
	ck_assert_str_eq(error.reason, "more than 10000 rules");
	ck_assert_uint_eq(error.line, 10002);
	free(text);
}

/* ---- matching ---- */

TEST(test_nameless)
{
	struct rules_subject subject = {.path = "", .working_directory = "", .cgroup = ""};

	ck_assert_str_eq(classify_subject("rules: []", &subject).name, "unknown");
	subject.path = "/";
	ck_assert_str_eq(classify_subject("rules: []", &subject).name, "/");
}

static const struct {
	const char *match;
	bool holds;
} matches[] = {
	/* matched against: /usr/bin/prog sub --opt=v file.txt, in /w/dir, cgroup /a/job_7/x */
	{"executable: prog", true},
	{"executable: Prog", false},
	{"executable: [a, prog]", true},
	{"executable: 'pro?'", true},
	{"executable: '*og'", true},
	{"executable: '[!a-o]rog'", true},
	{"executable: '[a-o]rog'", false},
	{"path: '^/usr/bin/'", true},
	{"path: '^/bin/'", false},
	{"argument: sub", true},
	{"argument: '--opt=*'", true},
	{"argument: prog", false},
	{"argument: [zzz, file.txt]", true},
	{"argv: '^sub '", true},
	{"argv: '^prog'", false},
	{"argv: ['^no', 'file']", true},
	{"working_directory: '/dir$'", true},
	{"working_directory: '^/dir'", false},
	{"cgroup: '/job_\\d+/'", true},
	{"cgroup: '/job_8/'", false},
	{"executable: prog, argument: nothing", false},
	{"executable: prog, cgroup: job, argv: sub", true},
	{"script: '*'", false},
	{"parent: mother", true},
	{"parent: grandmother", false},
	{"parent: sh", true},
	{"ancestor: grandmother", true},
	{"ancestor: 'grand*'", true},
	{"ancestor: prog", false},
};

TEST_EACH(test_match, matches)
{
	struct rules_subject grandmother = SUBJECT("/bin/grandmother", "x");
	struct rules_subject mother = SUBJECT("/bin/sh", "/opt/mother", "x");
	struct rules_subject subject = SUBJECT("/usr/bin/prog", "sub", "--opt=v", "file.txt");
	char text[512];

	mother.parent = &grandmother;
	subject.parent = &mother;
	snprintf(text, sizeof(text),
		 "rules:\n- {rule: t, match: {%s}, name: found}\n"
		 "- {rule: s, match: {executable: sh}, role: shell, unwrap: {}}\n",
		 matches[_i].match);
	ck_assert_msg((strcmp(classify_subject(text, &subject).name, "found") == 0) == matches[_i].holds, "%s",
		      matches[_i].match);
}

#define FIRST_MATCH \
	"rules:\n- {rule: a, match: {executable: x, argument: no}, name: a}\n" \
	"- {rule: b, match: {argv: yes}, name: b}\n- {rule: c, match: {executable: 'x*'}, name: c}\n" \
	"- {rule: d, match: {executable: x}, name: d}\n- {rule: e, match: {executable: '*'}}\n"
#define CONTINUES \
	"rules:\n- {rule: key, continue: true, match: {cgroup: 'job_(\\d+)'}, run_key: 'k:{1}',\n" \
	"   run_name: 'job {1}', name: never}\n" \
	"- {rule: key2, continue: true, match: {cgroup: 'job'}, run_key: later}\n" \
	"- {rule: a, match: {executable: a}, role: helper, run_name: own}\n"
#define RUN_KEY "rules:\n- {rule: t, match: {executable: x}, run_key: 'k:{arg1}:{arg2}', task_name: 't {arg1} {arg2}'}"
#define UNWRAPS "rules:\n- {rule: t, match: {executable: run}, role: interpreter, unwrap: {}}"
#define SCRIPT \
	"rules:\n- {rule: mine, match: {script: 'pipe*.py'}, role: orchestrator, rank: workflow}\n" \
	"- {rule: p, match: {executable: python3}, role: interpreter, unwrap: {}}\n"
#define THREADS \
	"rules:\n- {rule: p, match: {executable: python}, role: interpreter, unwrap: {}}\n" \
	"- {rule: a, match: {executable: a.py}, threads: -t}\n" \
	"- {rule: c, match: {executable: [python, b]}, continue: true, threads: -j}\n"

/* Rules, a command line, the rule that decides and what else is known. */
static const struct {
	const char *rules, *command, *class;
} classes[] = {
	{"rules: []", "/usr/bin/x a", "-: x, tool"},
	{FIRST_MATCH, "x yes", "b: b, tool"},
	{FIRST_MATCH, "x no", "a: a, tool"},
	{FIRST_MATCH, "x", "c: c, tool"},
	{FIRST_MATCH, "xy", "c: c, tool"},
	{FIRST_MATCH, "z", "e: z, tool"},
	{CONTINUES, "a", "a: a, helper, run_key=k:7, run_name=own"},
	{CONTINUES, "b", "-: b, tool, run_key=k:7, run_name=job 7"},
	/* a partial key would join unrelated runs */
	{RUN_KEY, "x a b", "t: x, tool, run_key=k:a:b, task_name=t a b"},
	{RUN_KEY, "x a", "t: x, tool, task_name=t a"},
	{UNWRAPS, "run run run run run x", "t: x, tool"},
	{UNWRAPS, "run run run run run run x", "t: run, tool"}, /* stops at the limit of nested wrappers */
	{SCRIPT, "python3 /x/pipeline.py", "mine: pipeline.py, orchestrator, ranked"},
	{SCRIPT, "/x/pipeline.py", "-: pipeline.py, tool"},
	/* what an interpreter runs is asked by its own options; a rule that continues adds what is unknown */
	{THREADS, "python -t 3 a.py -j 5", "p: 3, tool, threads=5"},
	{THREADS, "python a.py -t 4 -j 5", "a: a.py, tool, threads=4"},
	{THREADS, "b -j 5", "-: b, tool, threads=5"},
};

TEST_EACH(test_class, classes)
{
	char copy[128], *text = NULL;
	const char *words[16];
	struct rules_subject subject = {.argv = words, .working_directory = "/w/dir", .cgroup = "/a/job_7/x"};
	struct rules *rules = load(classes[_i].rules);
	struct rules_class class;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	snprintf(copy, sizeof(copy), "%s", classes[_i].command);
	for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
		words[subject.argc++] = word;
	subject.path = words[0];
	rules_classify(rules, &subject, &class);
	fprintf(file, "%s: %s, %s%s", class.rule ? class.rule : "-", class.name, rules_role_text(class.role),
		class.rank == RULES_RANK_NONE ? "" : ", ranked");
	const char *const known[][2] = {{"engine", class.engine},
					{"run_key", class.run_key},
					{"run_name", class.run_name},
					{"task_name", class.task_name}};
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		fprintf(file, *known[i][1] ? ", %s=%s" : "", known[i][0], known[i][1]);
	fprintf(file, class.requested_thread_count ? ", threads=%u" : "", class.requested_thread_count);
	fclose(file);
	ck_assert_str_eq(text, classes[_i].class);
	free(text);
	rules_free(rules);
}

static const struct {
	const char *words[5];
	unsigned threads, additional; /* if that is what its options mean; 0: unknown */
} requests[] = {
	{{"x", "-t", "8"}, 8, 9},
	{{"x", "-t8", "file"}, 8, 9},
	{{"x", "-t=8"}, 8, 9},
	{{"x", "--threads", "8"}, 8, 9},
	{{"x", "--threads=8", "file"}, 8, 9},
	{{"x", "threads=8"}, 8, 9},
	{{"x", "-t", "8", "--threads=2"}, 2, 3}, /* the last one counts */
	{{"x", "-t", "8", "-t", "all"}, 0, 0},
	{{"x", "-t", "65535"}, 65535, 65536},
	{{"x", "-t", "65536"}, 65536, 0},
	{{"x", "-t", "65537"}, 0, 0},
	{{"x", "-t", "18446744073709551617"}, 0, 0},
	{{"x", "-t", "0"}, 0, 1},
	{{"x", "-t", "-1"}, 0, 0},
	{{"x", "-t", "8x"}, 0, 0},
	{{"x", "-t"}, 0, 0},
	{{"x", "-t", ""}, 0, 0},
	{{"x", "-tmpdir", "8"}, 0, 0}, /* another option */
	{{"x", "--threads-per-file", "8"}, 0, 0},
	{{"x", "--threads8"}, 0, 0},
	{{"x", "-t", "2", "--", "-t8"}, 2, 3}, /* the last is an operand */
	{{"x", "--", "threads=8"}, 8, 9},
	{{"x", "8"}, 0, 0},
	{{"-t8"}, 0, 0},
};

TEST_EACH(test_requested_threads, requests)
{
	static const char text[] = "rules:\n"
				   "- {rule: a, match: {path: threads}, threads: [-t, --threads, 'threads=']}\n"
				   "- {rule: b, match: {path: additional}, additional_threads: [-t, --threads, "
				   "'threads=']}\n";
	struct rules_subject subject = {.argv = requests[_i].words, .working_directory = "", .cgroup = ""};

	while (subject.argc < 5 && subject.argv[subject.argc])
		subject.argc++;
	subject.path = "threads";
	ck_assert_uint_eq(classify_subject(text, &subject).requested_thread_count, requests[_i].threads);
	subject.path = "additional";
	ck_assert_uint_eq(classify_subject(text, &subject).requested_thread_count, requests[_i].additional);
	subject.path = "neither";
	ck_assert_uint_eq(classify_subject(text, &subject).requested_thread_count, 0);
}

/* A mismatch is cached for that text, that key and that rule. */
TEST(test_unmatched_is_remembered)
{
	char text[12000] = "rules:\n", texts[12][300];
	struct rules_subject subject = SUBJECT("x");
	struct rules_class class;
	struct rules *rules;

	for (int i = 0; i < 70; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 "- {rule: r%d, match: {cgroup: '^c%d$', working_directory: '^[cw]%d$'}, name: 'name%d'}\n", i,
			 i, i, i);
	/* The last two texts are longer than the cached length, and differ only at the end. */
	for (int i = 0; i < 12; i++)
		snprintf(texts[i], sizeof(texts[i]), i < 10 ? "c%d" : "%0290d", i * 7 + 6 * (i == 9));
	snprintf(text + strlen(text), sizeof(text) - strlen(text),
		 "- {rule: long, match: {cgroup: '%s'}, name: long}\n", texts[11]);
	rules = load(text);
	for (int i = 0; i < 12 * 12 * 3; i++) {
		int cgroup = i % 12, directory = i / 12 % 12;
		char expected[32] = "x";

		subject.cgroup = texts[cgroup];
		subject.working_directory = texts[directory];
		if (cgroup == 11)
			strcpy(expected, "long");
		else if (cgroup == directory && cgroup < 10)
			snprintf(expected, sizeof(expected), "name%s", texts[cgroup] + 1);
		rules_classify(rules, &subject, &class);
		ck_assert_msg(strcmp(class.name, expected) == 0, "%s in %s: %s", subject.cgroup,
			      subject.working_directory, class.name);
	}
	rules_free(rules);
}

/* A pattern that backtracks endlessly is abandoned quickly. */
TEST(test_runaway_regex)
{
	char argument[5000];
	struct rules_subject subject = SUBJECT("x", argument);

	memset(argument, 'a', sizeof(argument) - 1);
	argument[sizeof(argument) - 2] = '!';
	argument[sizeof(argument) - 1] = '\0';
	ck_assert_str_eq(
		classify_subject("rules:\n- {rule: a, match: {argv: '^(a|aa)+$'}, name: found}", &subject).name, "x");
}

TEST(test_glob_is_bounded)
{
	char text[4000], pattern[200] = "";

	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	for (int i = 0; i < 60; i++)
		strcat(pattern, "*a");
	strcat(pattern, "b");
	ck_assert(!glob_match(pattern, text));
	ck_assert(glob_match("*", ""));
	ck_assert(glob_match("a\\*b", "a*b"));
	ck_assert(!glob_match("a\\*b", "axb"));
	ck_assert(glob_match("[]a]", "]"));
	ck_assert(glob_match("[!a]", "s"));
	ck_assert(!glob_match("[!a]", "a"));
	ck_assert(!glob_match("?", ""));
}

/* ---- templates ---- */

static const struct {
	const char *template;
	const char *text;
} templates[] = {
	/* filled from: /bin/prog -v --in=a/b.txt -n 5 -o out sub /data/file.x last; -o takes a value */
	{"plain", "plain"},
	{"{program}", "prog"},
	{"{program} {operand1}!", "prog sub!"}, /* 5 is a value */
	{"{subcommand}", "sub"},
	{"{operand9}", "prog"}, /* an empty name becomes the program */
	{"{operand1} {operand2} {operand9}", "sub file.x"},
	{"{operand9} {operand1}", "sub"},
	{"{arg0} {arg1} {arg99}", "/bin/prog -v"},
	{"{option:--in}", "a/b.txt"},
	{"{option:-n}", "5"},
	{"{option:--number,-n}", "5"},
	{"{option:--zzz|directory}", "dir"},
	{"{option:--zzz|option:--yyy,-o|directory}", "out"},
	{"{directory}", "dir"},
	{"{script}x", "x"},
	{"{argv:1}-{cgroup:1}", "sub-7"},
	{"{argv:0}", "sub /data"},
};

TEST_EACH(test_template, templates)
{
	struct rules_subject subject =
		SUBJECT("/bin/prog", "-v", "--in=a/b.txt", "-n", "5", "-o", "out", "sub", "/data/file.x", "last");
	char text[512];

	snprintf(text, sizeof(text),
		 "rules:\n- {rule: t, match: {executable: prog, argv: '(s.b) /data', cgroup: 'job_(.)'},\n"
		 "  options_with_value: -o, name: \"%s\"}\n",
		 templates[_i].template);
	ck_assert_str_eq(classify_subject(text, &subject).name, templates[_i].text);
}

TEST(test_name_cut)
{
	char argument[1000];
	struct rules_subject subject = SUBJECT("x", argument);
	static const char text[] = "rules:\n- {rule: t, match: {executable: x}, name: 'x{arg1}'}";

	for (size_t i = 0; i + 1 < sizeof(argument); i += 2)
		memcpy(argument + i, "\xc3\xa9", 2); /* a cut at 255 bytes would split a character */
	argument[sizeof(argument) - 2] = '\0';
	ck_assert_uint_eq(strlen(classify_subject(text, &subject).name), 255);
	argument[0] = '\0';
	memmove(argument, "yy", 2);
	argument[1] = 'y';
	for (size_t i = 1; i + 2 < sizeof(argument); i += 2)
		memcpy(argument + i, "\xc3\xa9", 2);
	argument[sizeof(argument) - 1] = '\0';
	ck_assert_uint_eq(strlen(classify_subject(text, &subject).name), 254);
}

/* ---- files and directories ---- */

static char folder[128];

static void file_write(const char *name, const char *text)
{
	suite_file(folder, name, text);
}

static void folder_make(void)
{
	char path[160];

	suite_directory(folder, sizeof(folder));
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/%c", folder, 'a' + i);
		ck_assert_int_eq(mkdir(path, 0755), 0);
	}
}

static const char *const *folder_list(void)
{
	static char paths[3][160];
	static const char *list[4];

	for (int i = 0; i < 3; i++) {
		snprintf(paths[i], sizeof(paths[i]), "%s/%c", folder, 'a' + i);
		list[i] = paths[i];
	}
	return list; /* the third does not exist */
}

static struct rules_class folder_classify(const struct rules_subject *subject)
{
	struct tree_error error = {.line = 0};
	struct rules_class class;
	struct rules *rules;

	ck_assert_int_eq(rules_load(folder_list(), &rules, &error), 0);
	rules_classify(rules, subject, &class);
	class.rule = NULL;
	rules_free(rules);
	return class;
}

TEST(test_directories)
{
	file_write("a/2.yaml", "rules:\n- {rule: a2, match: {executable: [x, y]}, name: a2}");
	file_write("a/10.yaml", "rules:\n- {rule: a10, match: {executable: [x, y, z, bwa]}, name: a10}");
	file_write("a/notes.txt", "not: rules");
	file_write("a/.hidden.yaml", "not: rules");
	file_write("b/1.yaml", "rules:\n- {rule: b1, match: {executable: y}, name: b1}");
	ck_assert_str_eq(folder_classify(&SUBJECT("x")).name, "a10");   /* byte order: 10 before 2 */
	ck_assert_str_eq(folder_classify(&SUBJECT("y")).name, "b1");    /* later directory first */
	ck_assert_str_eq(folder_classify(&SUBJECT("bwa")).name, "a10"); /* before the shipped rules */
	ck_assert_str_eq(folder_classify(&SUBJECT("samtools", "sort")).name, "samtools sort");
}

TEST(test_replacing)
{
	struct tree_error error;
	struct rules *rules;

	file_write("a/1.yaml", "rules:\n- {rule: make, match: {executable: never}, name: n}");
	ck_assert_int_eq(folder_classify(&SUBJECT("make")).role, RULES_ROLE_TOOL);
	file_write("a/2.yaml", "rules:\n- {rule: make, match: {executable: other}}");
	ck_assert_int_eq(rules_load(folder_list(), &rules, &error), -EINVAL);
	ck_assert_ptr_nonnull(strstr(error.file, "/a/2.yaml"));
	ck_assert_ptr_nonnull(strstr(error.reason, "a rule named \"make\" already exists at "));
}

TEST(test_odd_files)
{
	struct tree_error error;
	size_t count;
	char path[160];

	snprintf(path, sizeof(path), "%s/a", folder);
	ck_assert_int_eq(rules_check_file(path, &count, &error), -EINVAL);
	ck_assert_str_eq(error.reason, "not a regular file");
	snprintf(path, sizeof(path), "%s/fifo.yaml", folder);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_eq(rules_check_file(path, &count, &error), -EINVAL);
	ck_assert_int_eq(rules_check_file("/dev/null", &count, &error), 0);
	snprintf(path, sizeof(path), "%s/missing.yaml", folder);
	ck_assert_int_eq(rules_check_file(path, &count, &error), -ENOENT);
	ck_assert_str_eq(error.reason, "cannot be read: No such file or directory");
}

#define EXAMPLES "rules:\n- rule: falcon\n  match: {executable: falcon}\n  name: falcon {subcommand}\n  examples:"
#define EXAMPLE EXAMPLES "\n  - "

/* A site's file. What it adds to what is redacted is tried with its own and the shipped patterns, and examples with its
 * own rules first, then the shipped ones. */
static const struct {
	const char *text;
	unsigned line; /* 0: valid */
	const char *reason;
} site_files[] = {
	{"secrets:\n- secret: falcon\n  programs: falcon\n  commands: [login SECRET, '-v *:SECRET']\n"
	 "  names: {last: seal}\n  expressions: 'flc_[a-z]{3,}'\n  examples:\n"
	 "  - falcon -H h login «k33p»\n  - env SEAL=«abcd» x «flc_abc» --password=«p»\n  - falcon -v ada:«k33p» x\n"
	 "  - falcon logout x flc_a\n",
	 0, NULL},
	{"secrets:\n- secret: falcon\n  programs: falcon\n  commands: login SECRET\n  examples: [falcon login «k»,\n"
	 "    falcon x, falcon logout «k»]\n",
	 6, "example \"falcon logout «k»\" of secret \"falcon\" becomes \"falcon logout k\""},
	{"secrets:\n- secret: falcon\n  names: {last: tag}\n  examples:\n  - x --tag=«abc»\n  - x --tag abc\n", 6,
	 "example \"x --tag abc\" of secret \"falcon\" becomes \"x --tag [redacted]\""},
	/* replaces a shipped entry */
	{"secrets:\n- secret: redis\n  programs: redis-cli\n  commands: -z SECRET\n  examples:\n"
	 "  - redis-cli -z «abc»\n  - redis-cli -a abc\n",
	 0, NULL},
	{EXAMPLE "{command: falcon align x.fq, name: falcon align, role: tool}\n", 0, NULL},
	{EXAMPLE "{command: \"falcon 'al ign'\", name: falcon}\n", 0, NULL},
	{EXAMPLE "{command: python3 /opt/falcon align, name: falcon align}\n", 0, NULL},
	{EXAMPLE "{command: samtools sort x.bam, name: samtools sort}\n", 0, NULL},
	{EXAMPLE "{command: falcon align, parent: make -j4, working_directory: /x, cgroup: /y, name: falcon align}\n",
	 0, NULL},
	{EXAMPLE "{command: falcon align, name: falcon index}\n", 6,
	 "example \"falcon align\" of rule \"falcon\": name is \"falcon align\", not \"falcon index\" (rule "
	 "\"falcon\" decides)"},
	{EXAMPLE "{command: hawk align, role: helper}\n", 6,
	 "example \"hawk align\" of rule \"falcon\": role is \"tool\", not \"helper\" (rule \"none\" decides)"},
	{EXAMPLE "{command: falcon align, housekeeping: true}\n", 6,
	 "example \"falcon align\" of rule \"falcon\": housekeeping is \"false\", not \"true\" (rule \"falcon\" decides)"},
	{EXAMPLE "{name: falcon}\n", 6, "examples: an example needs \"command: ...\""},
	{EXAMPLE "{command: falcon}\n", 6, "examples: the example has no expected result: add \"name: ...\""},
	{EXAMPLE "{command: falcon, nam: x}\n", 6, "examples: unknown key \"nam\": did you mean \"name\"?"},
	{EXAMPLES " falcon\n", 5, "examples: expected a list of examples"},
};

TEST_EACH(test_site_file, site_files)
{
	struct tree_error error = {0};
	size_t count = 0;
	char path[160];
	int r;

	file_write("a/falcon.yaml", site_files[_i].text);
	snprintf(path, sizeof(path), "%s/a/falcon.yaml", folder);
	r = rules_check_file(path, &count, &error);
	if (!site_files[_i].reason) {
		ck_assert_msg(r == 0, "line %u: %s", error.line, error.reason);
		ck_assert_uint_eq(count, 1);
		return;
	}
	ck_assert_int_eq(r, -EINVAL);
	ck_assert_str_eq(error.reason, site_files[_i].reason);
	ck_assert_uint_eq(error.line, site_files[_i].line);
}

static void redacts(const struct rules *rules, const char *argv, size_t size, const char *expected,
		    size_t expected_size)
{
	char *out;
	size_t out_size;
	uint32_t count;

	ck_assert_int_eq(
		redact_arguments(rules_secrets(rules), REDACT_SECRETS, argv, size, false, &out, &out_size, &count), 0);
	ck_assert_uint_eq(out_size, expected_size);
	ck_assert_mem_eq(out, expected, out_size);
	free(out);
}

#define REDACTS(rules, argv, expected) redacts(rules, argv, sizeof(argv), expected, sizeof(expected))

static void ignore_refused(const struct tree_error *error, void *data)
{
	ck_assert_uint_eq(error->line, 6);
}

/* A file with an error is refused as a whole, and nothing else is lost. */
TEST(test_secrets_of_refused_file)
{
	struct rules *rules;

	file_write("a/1.yaml", "secrets:\n- secret: one\n  names: {last: seal}\n  expressions: 'flc_[a-z]{3,}'\n"
			       "  examples: [--seal=«abc», x]\n- secret: two\n");
	file_write("a/2.yaml", "secrets:\n- secret: one\n  names: {last: stamp}\n  examples: [--stamp=«abc», x]\n");
	ck_assert_int_eq(rules_load_valid(folder_list(), ignore_refused, NULL, &rules), 0);
	REDACTS(rules, "x\0--seal=abc\0--stamp=abc\0--password=abc\0flc_abcd",
		"x\0--seal=abc\0--stamp=[redacted]\0--password=[redacted]\0flc_abcd");
	rules_free(rules);
}

TEST(test_describe_and_version)
{
	struct rules *a = load("rules:\n- {rule: r1, match: {executable: [x, y], argv: '^a'}, role: helper}");
	struct rules *b = load("rules:\n- {rule: r1, match: {executable: [x, y], argv: '^b'}, role: helper}");
	struct rules *again = load("rules:\n- {rule: r1, match: {executable: [x, y], argv: '^a'}, role: helper}");
	struct rules_description description;

	ck_assert(rules_describe(a, 0, &description));
	ck_assert_str_eq(description.name, "r1");
	ck_assert_str_eq(description.file, "test.yaml");
	ck_assert_uint_eq(description.line, 2);
	ck_assert_int_eq(description.role, RULES_ROLE_HELPER);
	ck_assert_str_eq(description.summary, "executable x|y; argv ~ ^a");
	ck_assert(!rules_describe(a, 1, &description));
	ck_assert(rules_version(a) == rules_version(again));
	ck_assert(rules_version(a) != rules_version(b));
	rules_free(a);
	rules_free(b);
	rules_free(again);
}

int main(void)
{
	return suite_run("rules", folder_make, NULL);
}
