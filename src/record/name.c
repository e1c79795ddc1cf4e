/* Run-time names, and names of functions. */
#include "record/site.h"

#include "base/alloc.h"
#include "base/containers.h"

#include <stdbool.h>
#include <string.h>

/* ======== Names ======== */

/* A hash of both ends and the size, which are enough to tell most texts apart. */
static uint64_t hash_of_ends(const char *text, size_t size)
{
    uint64_t first = 0, last = 0;
    if (size >= sizeof first) {
        memcpy(&first, text, sizeof first);
        memcpy(&last, text + size - sizeof last, sizeof last);
    } else {
        memcpy(&first, text, size);
    }
    return tkt_hash_u64((first ^ last << 1) + size);
}

/* The place of a name by content. Programs build names in buffers, so one address may have many. */
static tkt_cached_text *place_of(tkt_thread_log *log, const char *name, takt_site_kind kind)
{
    uint64_t hash = hash_of_ends(name, strlen(name)) + kind;
    return &log->texts[hash & ((1u << TKT_TEXT_BITS) - 1)];
}

/* Remembers the first name of an address only: if that changes, the address is a buffer, and its
 * names are found by content. */
static void remember_address(tkt_thread_log *log, tkt_cached_name entry)
{
    tkt_cached_name *at = tkt_name_places(log, entry.address);
    if (at[0].address == entry.address || at[1].address == entry.address)
        return;
    at[1] = at[0];
    at[0] = entry;
}

uint32_t tkt_name_recent(tkt_thread_log *log, const char *name, takt_site_kind kind)
{
    const tkt_cached_text *known = place_of(log, name, kind);
    if (known->site == 0 || known->kind != kind || strcmp(known->text, name) != 0)
        return 0;
    remember_address(log, (tkt_cached_name){name, known->text, known->site, kind});
    return known->site;
}

uint32_t tkt_name_site(tkt_thread_log *log, const char *name, takt_site_kind kind)
{
    if (!name)
        name = "(null)";
    uint32_t id = tkt_name_at(log, name, kind);
    if (!id)
        id = tkt_name_recent(log, name, kind);
    if (id)
        return id;
    id = tkt_site_named(name, kind);
    if (!id) {
        tkt_log_lose(log, TAKT_LOSS_TOO_MANY_SITES);
        return 0;
    }
    const char *text = tkt_site_get(id)->name.bytes;
    remember_address(log, (tkt_cached_name){name, text, id, kind});
    *place_of(log, name, kind) = (tkt_cached_text){text, id, kind};
    return id;
}

takt_name takt_name_make(const char *text, size_t size)
{
    takt_name name = {0};
    tkt_thread_log *log = text ? tkt_log_enter() : NULL;
    if (!log)
        return name;
    char *copy = tkt_alloc(size + 1);
    if (copy) {
        memcpy(copy, text, size);
        copy[size] = '\0';
        name.id = tkt_site_named(copy, TAKT_SITE_SCOPE);
        tkt_free(copy);
    }
    tkt_log_leave(log);
    return name;
}

/* ---- Values ---------------------------------------------------------------------------------- */

/* The place where a text of `size` bytes is remembered; NULL: it is too long. */
static tkt_cached_value *place_of_value(tkt_thread_log *log, const char *text, size_t size)
{
    if (size >= sizeof log->values->text)
        return NULL;
    return &log->values[hash_of_ends(text, size) & ((1u << TKT_VALUES_BITS) - 1)];
}

uint32_t tkt_text_recent(tkt_thread_log *log, const char *text)
{
    size_t size = strlen(text);
    const tkt_cached_value *at = place_of_value(log, text, size);
    if (!at || memcmp(at->text, text, size + 1) != 0)
        return 0;
    return at->generation == tkt_value_generation() ? at->id : 0;
}

uint32_t tkt_text_of_value(tkt_thread_log *log, const char *text)
{
    if (!text)
        text = "(null)";
    uint32_t id = tkt_text_recent(log, text);
    if (id)
        return id;
    uint32_t generation = tkt_value_generation();
    bool is_own;
    id = tkt_text_intern_value(text, &is_own);
    size_t size = strlen(text);
    tkt_cached_value *at = id && is_own ? place_of_value(log, text, size) : NULL;
    if (at) {
        memcpy(at->text, text, size + 1);
        at->id = id;
        at->generation = generation;
    }
    return id;
}

/* ======== Names of functions ======== */

/* A signature is read from its end. The parameters are there, in front of them the qualified
 * name. The name is then written without the text in brackets. So a return type may look like
 * anything. */

/* A part of the text. */
typedef struct part {
    const char *begin;
    const char *end;
} part;

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || c == '~' || (unsigned char)c > 127;
}

static bool begins_with(const char *at, const char *end, const char *prefix)
{
    size_t size = strlen(prefix);
    return (size_t)(end - at) >= size && memcmp(at, prefix, size) == 0;
}

static bool ends_with(part in, const char *suffix)
{
    size_t size = strlen(suffix);
    return (size_t)(in.end - in.begin) >= size && memcmp(in.end - size, suffix, size) == 0;
}

static bool opens(char c)
{
    return c == '(' || c == '<' || c == '{' || c == '[';
}

/* True for a closing bracket, which the end of an arrow is not. */
static bool closes(const char *begin, const char *at)
{
    if (*at == '>')
        return at == begin || at[-1] != '-';
    return *at == ')' || *at == '}' || *at == ']';
}

/* The bracket that matches the last closing one of the part; NULL if there is none. */
static const char *opening(part in)
{
    int depth = 0;
    for (const char *at = in.end; at-- > in.begin;) {
        if (closes(in.begin, at))
            depth++;
        else if (opens(*at) && --depth == 0)
            return at;
    }
    return NULL;
}

/* The place after the bracket that closes the part's first one; the part's end if none does. */
static const char *behind_closing(part in)
{
    int depth = 0;
    for (const char *at = in.begin; at < in.end; at++) {
        if (opens(*at))
            depth++;
        else if (closes(in.begin, at) && --depth == 0)
            return at + 1;
    }
    return in.end;
}

/* Cuts off everything after the parameters: " const", " &", " [with T = int]". */
static part without_tail(part in)
{
    static const char *const words[] = {" ", "const", "volatile", "noexcept", "&"};
    if (ends_with(in, "]")) {
        const char *open = opening(in);
        if (open && open > in.begin && open[-1] == ' ')
            in.end = open;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (ends_with(in, words[i])) {
            in.end -= strlen(words[i]);
            i = (size_t)-1; /* begins again */
        }
    }
    return in;
}

/* Cuts the part after the name, and in front of it a return type that encloses the name. False: not
 * a signature. */
static bool find_end(part *in)
{
    for (;;) {
        *in = without_tail(*in);
        if (!ends_with(*in, ")"))
            return ends_with(*in, ">"); /* "step(int)::<lambda(double)>" */
        const char *open = opening(*in);
        if (!open || open == in->begin)
            return false;
        in->end = open;
        if (!ends_with(*in, ")") || ends_with(*in, "operator()"))
            return true;
        /* Returns a pointer to a function: "void (*name(int))(float)". */
        open = opening(*in);
        if (!open)
            return false;
        in->begin = open + 1;
        in->end--;
    }
}

/* The begin of the name's last component if that is an operator; otherwise NULL. */
static const char *operator_in(part in)
{
    static const char word[] = "operator";
    const size_t size = sizeof word - 1;
    for (const char *at = in.end; at-- > in.begin;) {
        if (!begins_with(at, in.end, word))
            continue;
        const char *behind = at + size;
        bool is_whole =
            (at == in.begin || !is_word(at[-1])) && (behind == in.end || !is_word(*behind));
        bool has_call = begins_with(behind, in.end, "()");
        return is_whole && (has_call || !memchr(behind, '(', (size_t)(in.end - behind))) ? at
                                                                                         : NULL;
    }
    return NULL;
}

static const char *word_before(part in)
{
    const char *at = in.end;
    while (at > in.begin && is_word(at[-1]))
        at--;
    return at;
}

/* The last component, without template arguments. */
static part last_component(part in)
{
    const char *operator= operator_in(in);
    if (operator)
        return (part){operator, in.end };
    if (ends_with(in, ">")) {
        const char *open = opening(in);
        if (open && begins_with(open, in.end, "<lambda"))
            return (part){open, in.end};
        if (open)
            in.end = open;
    }
    return (part){word_before(in), in.end};
}

/* The begin of the qualified name whose last component begins at in.end. */
static const char *qualified_begin(part in)
{
    while (ends_with(in, "::")) {
        in.end -= 2;
        const char *was = in.end;
        in = without_tail(in);
        for (const char *open; in.end > in.begin && closes(in.begin, in.end - 1);
             in.end = open) { /* "Box<int>", "step(int)", "(anonymous namespace)" */
            open = opening(in);
            if (!open)
                return was;
        }
        in.end = word_before(in);
    }
    return in.end;
}

typedef struct output {
    char *text;
    size_t size;
    size_t used;
} output;

static void put(output *out, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++, out->used++)
        if (out->used < out->size)
            out->text[out->used] = text[i];
}

/* Leaves out text in brackets, but writes "lambda" for a lambda, and leaves out an anonymous
 * namespace with its colons. Returns the place after it. */
static const char *put_brackets(output *out, part in)
{
    const char *behind = behind_closing(in);
    bool is_space = begins_with(in.begin, in.end, "(anonymous namespace") ||
                    begins_with(in.begin, in.end, "{anonymous");
    bool is_lambda = begins_with(in.begin, in.end, "(anonymous class") ||
                     begins_with(in.begin, in.end, "(lambda") ||
                     begins_with(in.begin, in.end, "<lambda");
    if (is_lambda)
        put(out, "lambda", 6);
    return is_space && begins_with(behind, in.end, "::") ? behind + 2 : behind;
}

static void put_scopes(output *out, part in)
{
    while (in.begin < in.end) {
        if (opens(*in.begin)) {
            in.begin = put_brackets(out, in);
        } else if (is_word(*in.begin) || *in.begin == ':') {
            put(out, in.begin++, 1);
        } else { /* " const::" after a function around a lambda */
            while (in.begin < in.end && *in.begin != ':')
                in.begin++;
        }
    }
}

static void put_name(output *out, part name)
{
    static const char lambda[] = "lambda::";
    const size_t size = sizeof lambda - 1;
    if (begins_with(name.begin, name.end, "<lambda"))
        put(out, lambda, 6);
    else if (out->used >= size && out->used <= out->size &&
             memcmp(out->text + out->used - size, lambda, size) == 0)
        out->used -= 2; /* the lambda's operator() */
    else
        put(out, name.begin, (size_t)(name.end - name.begin));
}

/* Once a place; cold: the file is compiled for speed, but this for size. */
__attribute__((cold)) size_t tkt_signature_name(char *out, size_t size, const char *text)
{
    part in = {text, text + strlen(text)};
    if (!find_end(&in))
        return 0;
    part name = last_component(in);
    if (name.begin == name.end || size == 0)
        return 0;
    output to = {out, size - 1, 0};
    put_scopes(&to, (part){qualified_begin((part){in.begin, name.begin}), name.begin});
    put_name(&to, name);
    if (to.used > to.size)
        return 0;
    out[to.used] = '\0';
    return to.used;
}
