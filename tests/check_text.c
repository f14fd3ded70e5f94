/* Safe text: arbitrary names, as written to a terminal. */
#include <locale.h>

#include "common/text.h"
#include "tests/suite.h"

static const char *escape(const char *text)
{
	static char safe[256];

	text_escape(text, strlen(text), safe, sizeof(safe));
	return safe;
}

/* Each between two letters. */
TEST(what_is_not_seen_is_written_out)
{
	static const struct {
		const char *character, *shown;
	} cases[] = {
		{"\n", "\\n"},
		{"\033", "\\e"},
		{"\x7f", "\\x7f"},
		{"\xc2\x9b", "\\x9b"},              /* C1: the one-byte escape sequence */
		{"\xc2\xad", "\\xad"},              /* soft hyphen */
		{"\xd8\x9c", "\\u{061c}"},          /* Arabic letter mark */
		{"\xe1\xa0\x8e", "\\u{180e}"},      /* Mongolian vowel separator */
		{"\xe2\x80\x8b", "\\u{200b}"},      /* zero-width space */
		{"\xe2\x80\x8d", "\\u{200d}"},      /* zero-width joiner */
		{"\xe2\x80\x8f", "\\u{200f}"},      /* right-to-left mark */
		{"\xe2\x80\xa8", "\\u{2028}"},      /* line separator */
		{"\xe2\x80\xae", "\\u{202e}"},      /* right-to-left override */
		{"\xe2\x81\xa0", "\\u{2060}"},      /* word joiner */
		{"\xe2\x81\xa9", "\\u{2069}"},      /* end of isolation */
		{"\xef\xbb\xbf", "\\u{feff}"},      /* byte order mark */
		{"\xf3\xa0\x80\x81", "\\u{e0001}"}, /* language tag */
		{"\xf3\xa0\x81\x81", "\\u{e0041}"}, /* tag letter */
		{"\xef\xb8\x8f", "\\u{fe0f}"},      /* variation selector: any byte can be hidden in a row of them */
		{"\xf3\xa0\x84\x80", "\\u{e0100}"}, /* the 17th of them */
		{"\xcd\x8f", "\\u{034f}"},          /* combining grapheme joiner */
		{"\xe1\x85\x9f", "\\u{115f}"},      /* Hangul filler */
		{"\xe1\xa0\x8b", "\\u{180b}"},      /* Mongolian variation selector */
		{"\xe3\x85\xa4", "\\u{3164}"},      /* Hangul filler */
		{"\xef\xbe\xa0", "\\u{ffa0}"},      /* halfwidth Hangul filler */
		{"\xff", "\\xff"},
		{"\xc3", "\\xc3"},
	};
	char text[16], shown[32];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(text, sizeof(text), "a%sb", cases[i].character);
		snprintf(shown, sizeof(shown), "a%sb", cases[i].shown);
		ck_assert_str_eq(escape(text), shown);
	}
}

TEST(what_is_seen_stays)
{
	static const char *const texts[] = {
		"plain", "\\n", "Grüße", "日本語", "ﬀ", "🧬", "e\xcc\x81", "  two  ", "\xe2\x80\x93",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		ck_assert_str_eq(escape(texts[i]), texts[i]);
}

TEST(a_short_place_ends_between_characters)
{
	char safe[8];

	for (size_t capacity = 1; capacity <= sizeof(safe); capacity++) {
		size_t length = text_escape("aü\033日", 8, safe, capacity);

		ck_assert_uint_lt(length, capacity);
		ck_assert_uint_eq(strlen(safe), length);
		for (size_t i = 0, size; i < length; i += size) {
			size = text_utf8_size(safe + i, length - i);
			ck_assert_uint_gt(size, 0);
		}
	}
}

int main(void)
{
	setlocale(LC_CTYPE, "C.UTF-8");
	return suite_run("text", NULL, NULL);
}
