/* The table of keys, and suggestions for misspelled names. */
#include "config/schema.h"

#include "base/text.h"
#include "config/config.h"
#include "export/formats.h"
#include "report/reports.h"
#include "report/request.h"

#include <takt/profiler.h>

#include <regex.h>
#include <string.h>
#include <strings.h>

/* ======== Keys ======== */

/* Defaults are texts and pass through the same parser as people's values, so the documentation
 * cannot show a default that the parser would refuse. */

#define KIB UINT64_C(1024)
#define MIB (KIB * 1024)
#define TIB (MIB * MIB)
#define EXA UINT64_C(1000000000000000000)

static const char *const modes[] = {"trace", "summary", "both", "flight", NULL};
static const char *const repeat_modes[] = {"cycles", "additional", NULL};
static const char *const activities[] = {"cpu", "cuda", NULL};
static const char *const filters[] = {"kernel", "builtin", "memcpy", "memset", "graph", NULL};
static const char *const nsights[] = {"off", "capture_range", NULL};
static const char *const graphs[] = {"node", "launch", NULL};

/* Indices of choices double as values of the public enums and bits. */
_Static_assert(TAKT_MODE_TRACE == 0 && TAKT_MODE_FLIGHT == 3, "the order of modes");
_Static_assert(TAKT_REPEAT_CYCLES == 0 && TAKT_REPEAT_ADDITIONAL == 1, "the order of repeat modes");
_Static_assert(TAKT_NSIGHT_OFF == 0 && TAKT_NSIGHT_CAPTURE_RANGE == 1, "the order of nsights");
_Static_assert(TAKT_TIMING_KERNEL == 1 && TAKT_TIMING_GRAPH == 16, "the order of filters");

/* A run's name becomes part of file names. */
static bool accepts_name(const char *text)
{
    return !strchr(text, '/');
}

static bool accepts_pattern(const char *text)
{
    regex_t pattern;
    if (*text == '\0' || regcomp(&pattern, text, REG_EXTENDED | REG_NOSUB) != 0)
        return false;
    regfree(&pattern);
    return true;
}

static bool accepts_files(const char *text)
{
    return *text != '\0';
}

/* The name of a folder would be one by mistake. */
static bool accepts_file(const char *text)
{
    size_t length = strlen(text);
    return length > 0 && text[length - 1] != '/';
}

const char *tkt_config_unknown_placeholder(const char *text)
{
    static const char *const placeholders[] = {"{name}", "{time}", "{pid}", "{host}", "{rank}"};
    for (const char *open = strchr(text, '{'); open; open = strchr(open + 1, '{')) {
        size_t length =
            1 + strspn(open + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_");
        bool is_known = length == 1 || open[length] != '}';
        for (size_t i = 0; i < sizeof placeholders / sizeof *placeholders; i++)
            is_known = is_known || strncmp(open, placeholders[i], strlen(placeholders[i])) == 0;
        if (!is_known)
            return open;
    }
    return NULL;
}

static bool accepts_directory(const char *text)
{
    return *text != '\0' && !tkt_config_unknown_placeholder(text);
}

/* clang-format off */
#define SWITCH(default_) .type = TKT_CONFIG_TYPE_SWITCH, .initial = default_
#define COUNT(default_, from, to)                                                                  \
    .type = TKT_CONFIG_TYPE_COUNT, .initial = default_, .min = from, .max = to
#define STEPS(default_) COUNT(default_, 0, UINT32_MAX)
#define BYTES(default_, from, to)                                                                  \
    .type = TKT_CONFIG_TYPE_BYTES, .initial = default_, .min = from, .max = to
#define RATE() .type = TKT_CONFIG_TYPE_RATE, .initial = "0", .max = EXA
#define TEXT(default_, to, accepts_, expects_)                                                     \
    .type = TKT_CONFIG_TYPE_TEXT, .initial = default_, .max = to, .accepts = accepts_,             \
    .expects = expects_
#define CHOICE(default_, words_)                                                                   \
    .type = TKT_CONFIG_TYPE_CHOICE, .initial = default_, .words = words_
#define CHOICES(default_, words_)                                                                  \
    .type = TKT_CONFIG_TYPE_CHOICES, .initial = default_, .words = words_, .min = 1,               \
    .max = TKT_CONFIG_ITEMS_MAX
#define LIST(default_, accepts_, expects_)                                                         \
    .type = TKT_CONFIG_TYPE_LIST, .initial = default_, .accepts = accepts_, .expects = expects_,   \
    .max = TKT_CONFIG_ITEMS_MAX

#define SWITCHES() .type = TKT_CONFIG_TYPE_SWITCHES, .initial = "", .max = TKT_CONFIG_ITEMS_MAX

/* The option's field; its type selects the conversion. */
#define INTO(field_)                                                                               \
    .place = offsetof(takt_profiler_options, field_),                                              \
    .field = _Generic(((takt_profiler_options *)0)->field_,                                        \
                 bool: TKT_CONFIG_INTO_BOOL,                                                       \
                 uint32_t: TKT_CONFIG_INTO_U32,                                                    \
                 uint64_t: TKT_CONFIG_INTO_U64,                                                    \
                 double: TKT_CONFIG_INTO_DOUBLE,                                                   \
                 const char *: TKT_CONFIG_INTO_TEXT)
#define CHOSEN(field_)                                                                             \
    .place = offsetof(takt_profiler_options, field_), .field = TKT_CONFIG_INTO_CHOICE
#define CODE .field = TKT_CONFIG_BY_CODE

#define ROW(id, name_, takes, goes, meaning_)                                                      \
    [TKT_CONFIG_##id] = {.name = name_, takes, goes, .meaning = meaning_},

const tkt_config_key tkt_config_keys[TKT_CONFIG_ID_COUNT] = {TKT_CONFIG_KEYS(ROW)};
/* clang-format on */

const char *const tkt_config_sections[] = {"profiling", "reports", "output", NULL};

const tkt_config_key *tkt_config_find(const char *name)
{
    if (strcmp(name, "profiling") == 0)
        return &tkt_config_keys[TKT_CONFIG_ENABLED];
    for (size_t i = 0; i < TKT_CONFIG_ID_COUNT; i++) {
        if (strcmp(name, tkt_config_keys[i].name) == 0)
            return &tkt_config_keys[i];
    }
    return NULL;
}

static const char *leaf_of(const char *name)
{
    const char *dot = strchr(name, '.');
    return dot ? dot + 1 : name;
}

const char *tkt_config_leaf(const tkt_config_key *key)
{
    return leaf_of(key->name);
}

bool tkt_config_is_in(const tkt_config_key *key, const char *section)
{
    size_t length = strlen(section);
    return strncmp(key->name, section, length) == 0 &&
           (key->name[length] == '.' || key->name[length] == '\0');
}

/* True if both names have the same text before the dot. */
static bool is_same_section(const char *a, const char *b)
{
    size_t size = strcspn(a, ".");
    return size == strcspn(b, ".") && strncmp(a, b, size) == 0;
}

const tkt_config_key *tkt_config_suggest(const char *name)
{
    const char *leaves[TKT_CONFIG_ID_COUNT + 1] = {0};
    const tkt_config_key *found = NULL;
    for (size_t i = 0; i < TKT_CONFIG_ID_COUNT; i++)
        leaves[i] = tkt_config_leaf(&tkt_config_keys[i]);
    const char *near = tkt_nearest_word(leaf_of(name), leaves);
    for (size_t i = 0; near && i < TKT_CONFIG_ID_COUNT; i++) {
        const tkt_config_key *key = &tkt_config_keys[i];
        if (strcmp(near, leaves[i]) == 0 && (!found || is_same_section(name, key->name)))
            found = key; /* `reports` and output.reports have the same leaf */
    }
    return found;
}

const char *tkt_config_near_section(const char *name)
{
    if (strlen(name) > 16)
        return NULL;
    for (size_t i = 0; tkt_config_sections[i]; i++) {
        if (tkt_edit_distance(name, tkt_config_sections[i], 2) <= 2)
            return tkt_config_sections[i];
    }
    return NULL;
}

bool tkt_config_is_like_profiling(const char *name)
{
    return strncasecmp(name, "profil", 6) == 0;
}

/* ======== Names of reports and formats ======== */

/* The names that `reports` and output.traces accept. They are listed in src/report and
 * src/export; src/report also reads a report's options. */

#define REPORT_NAME(name, when, description) #name,
#define TRACE_NAME(word, name, description)  name,
#define TRACE_NAMES(word, name, description) name, name ".gz",

static const char *const reports[] = {TKT_REPORTS(REPORT_NAME)};
static const char *const traces[] = {
    TKT_GZIP_FORMATS(TRACE_NAMES) TKT_PLAIN_FORMATS(TRACE_NAME) "tensorboard"};

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

const char *tkt_config_report_name(size_t index)
{
    return index < COUNT_OF(reports) ? reports[index] : NULL;
}

const char *tkt_config_trace_name(size_t index)
{
    return index < COUNT_OF(traces) ? traces[index] : NULL;
}

static bool is_one_of(const char *name, const char *(*name_at)(size_t index))
{
    for (size_t i = 0; name_at(i); i++) {
        if (strcmp(name_at(i), name) == 0)
            return true;
    }
    return false;
}

bool tkt_config_is_report(const char *text)
{
    char why[TKT_REQUEST_WHY];
    tkt_report_request request;
    return tkt_report_request_read(&request, text, why);
}

bool tkt_config_is_trace(const char *name)
{
    return is_one_of(name, tkt_config_trace_name);
}
