/* Names of functions out of what compilers give for __PRETTY_FUNCTION__: "physics::World::step" out
 * of "virtual void physics::World::step(int) const".
 *
 * A signature is read from its end: the parameters are there, in front of them the qualified name.
 * So a return type may look like anything. What only looks like brackets is masked before:
 * characters, strings, and what follows the word "operator". All places are found in the masked
 * text, which is as long as the text; the name is copied from the text, without what is in
 * brackets. */
#include "record/site.h"

#include "base/alloc.h"

#include <stdbool.h>
#include <string.h>

/* A part of the masked text. */
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

/* ---- Brackets -------------------------------------------------------------------------------- */

static const char opening[] = "([{<", closing[] = ")]}>";

/* The bracket that belongs to this one; 0 for no bracket. `from` has the brackets of its kind. */
static char partner(char c, const char *from, const char *to)
{
    const char *found = c ? strchr(from, c) : NULL;
    return found ? to[found - from] : 0;
}

/* The place behind the bracket that closes the first one of the part; the part's end if none does.
 */
static const char *behind_same(part in)
{
    char open = *in.begin, close = partner(open, opening, closing);
    size_t depth = 0;
    for (const char *at = in.begin; at < in.end; at++) {
        depth += *at == open;
        if (*at == close && --depth == 0)
            return at + 1;
    }
    return in.end;
}

/* The same, where '<' and '>' in other brackets are comparisons. */
static const char *behind_closing(part in)
{
    size_t depth = 0;
    if (*in.begin != '<')
        return behind_same(in);
    for (const char *at = in.begin; at < in.end; at++) {
        depth += *at == '<';
        if (*at == '>' && --depth == 0)
            return at + 1;
        if (*at != '<' && partner(*at, opening, closing))
            at = behind_same((part){at, in.end}) - 1;
    }
    return in.end;
}

/* The bracket that matches the part's last byte; NULL if there is none. */
static const char *before_same(part in)
{
    char close = in.end[-1], open = partner(close, closing, opening);
    size_t depth = 0;
    for (const char *at = in.end; at-- > in.begin;) {
        depth += *at == close;
        if (*at == open && --depth == 0)
            return at;
    }
    return NULL;
}

/* The same, where '<' and '>' in other brackets are comparisons. */
static const char *opening_of(part in)
{
    size_t depth = 0;
    if (in.end == in.begin || !partner(in.end[-1], closing, opening))
        return NULL;
    if (in.end[-1] != '>')
        return before_same(in);
    for (const char *at = in.end; at && at-- > in.begin;) {
        depth += *at == '>';
        if (*at == '<' && --depth == 0)
            return at;
        if (*at != '>' && partner(*at, closing, opening))
            at = before_same((part){in.begin, at + 1});
    }
    return NULL;
}

/* ---- What only looks like brackets ----------------------------------------------------------- */

#define MASK 'x' /* a letter of a name */

static char *mask(char *from, const char *to)
{
    memset(from, MASK, (size_t)(to - from));
    return from + (to - from);
}

/* Masks the character or string at `at`; returns the place behind it. */
static char *mask_literal(char *at)
{
    char quote = *at, *end = at + 1;
    while (*end && *end != quote)
        end += *end == '\\' && end[1] ? 2 : 1;
    return *end ? mask(at, end + 1) : at + 1;
}

/* The end of a conversion operator's type, in which "(*)(int)" may follow a name. */
static const char *end_of_type(const char *at, const char *end)
{
    while (at < end) {
        const char *behind = behind_closing((part){at, end});
        bool is_pointer = at[1] == '*' || at[1] == '&' || ends_with((part){at, behind}, "::*)");
        if (*at == '(' && !is_pointer)
            return at;
        if (*at == '(' && *behind == '(')
            behind = behind_closing((part){behind, end});
        at = *at == '(' || *at == '<' ? behind : at + 1;
    }
    return end;
}

/* Masks what follows the word "operator" and belongs to the name. */
static char *mask_operator(char *at, const char *end)
{
    if (*at == ' ')
        return mask(at, end_of_type(at, end));
    if (begins_with(at, end, "()") || begins_with(at, end, "[]"))
        return mask(at, at + 2);
    return mask(at, at + strspn(at, "<>=!+-*/%^&|~,"));
}

/* A text to be freed with tkt_free(); NULL without memory. */
static char *masked(const char *text)
{
    static const char word[] = "operator";
    const size_t size = strlen(text), word_size = sizeof word - 1;
    char *copy = tkt_alloc(size + 1);
    if (!copy)
        return NULL;
    memcpy(copy, text, size + 1);
    for (char *at = copy; *at;)
        at = *at == '\'' || *at == '"' ? mask_literal(at) : at + 1;
    for (char *at = copy; (at = strstr(at, word)) != NULL;) {
        bool is_whole = (at == copy || !is_word(at[-1])) && !is_word(at[word_size]);
        at += word_size;
        at = is_whole ? mask_operator(at, copy + size) : at;
    }
    return copy;
}

/* ---- Finding the name ------------------------------------------------------------------------ */

/* Cuts off everything after the parameters: " const", " &", " [with T = int]". */
static part without_tail(part in)
{
    static const char *const words[] = {" ", "const", "volatile", "noexcept", "&"};
    const char *open = ends_with(in, "]") ? opening_of(in) : NULL;
    if (open && open > in.begin && open[-1] == ' ')
        in.end = open;
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
        const char *open = opening_of(*in);
        if (ends_with(*in, ">"))
            return true; /* "step(int)::<lambda(double)>" */
        if (!open || open == in->begin || *open == '{')
            return false;
        bool is_array = *open == '['; /* returns a reference to one: "int (&name(int))[3]" */
        in->end = open;
        if (!ends_with(*in, ")"))
            return !is_array;
        /* Returns a pointer to a function: "void (*name(int))(float)". */
        open = opening_of(*in);
        if (!open)
            return false;
        in->begin = open + 1;
        in->end--;
    }
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
    const char *open = ends_with(in, ">") ? opening_of(in) : NULL;
    if (open && begins_with(open, in.end, "<lambda"))
        return (part){open, in.end};
    if (open)
        in.end = open;
    return (part){word_before(in), in.end};
}

/* The begin of the qualified name whose last component begins at in.end. */
static const char *qualified_begin(part in)
{
    while (ends_with(in, "::")) {
        in.end -= 2;
        const char *was = in.end;
        in = without_tail(in);
        while (in.end > in.begin && partner(in.end[-1], closing, opening)) {
            in.end = opening_of(in); /* of "Box<int>", "step(int)", "(anonymous namespace)" */
            if (!in.end)
                return was;
            in.end -= *in.end == '<' && ends_with(in, " "); /* "operator< <int>" */
        }
        in.end = word_before(in);
    }
    return in.end;
}

/* ---- Writing it ------------------------------------------------------------------------------ */

typedef struct output {
    char *out;
    size_t size;
    size_t used;
    const char *text; /* the one that is masked, */
    const char *mask; /* and the masked one */
} output;

static void put(output *to, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++, to->used++)
        if (to->used < to->size)
            to->out[to->used] = text[i];
}

/* Leaves out text in brackets, but writes "lambda" for a lambda, and leaves out an anonymous
 * namespace with its colons. Returns the place after it. */
static const char *put_brackets(output *to, part in)
{
    const char *behind = behind_closing(in);
    bool is_space = begins_with(in.begin, in.end, "(anonymous namespace") ||
                    begins_with(in.begin, in.end, "{anonymous");
    bool is_lambda = begins_with(in.begin, in.end, "(anonymous class") ||
                     begins_with(in.begin, in.end, "(lambda") ||
                     begins_with(in.begin, in.end, "<lambda");
    if (is_lambda)
        put(to, "lambda", 6);
    return is_space && begins_with(behind, in.end, "::") ? behind + 2 : behind;
}

/* Writes a component's name, but not the operator() of a lambda. */
static const char *put_word(output *to, part in)
{
    static const char lambda[] = "lambda::";
    const size_t size = sizeof lambda - 1;
    const char *end = in.begin, *text = to->text + (in.begin - to->mask);
    while (end < in.end && is_word(*end))
        end++;
    if (end - in.begin == 10 && memcmp(text, "operator()", 10) == 0 && to->used >= size &&
        to->used <= to->size && memcmp(to->out + to->used - size, lambda, size) == 0)
        to->used -= 2;
    else
        put(to, text, (size_t)(end - in.begin));
    return end;
}

static void put_name(output *to, part in)
{
    while (in.begin < in.end) {
        if (partner(*in.begin, opening, closing)) {
            in.begin = put_brackets(to, in);
        } else if (is_word(*in.begin)) {
            in.begin = put_word(to, in);
        } else if (*in.begin == ':') {
            put(to, in.begin++, 1);
        } else { /* " const::" after a function around a lambda */
            while (in.begin < in.end && *in.begin != ':')
                in.begin++;
        }
    }
}

static size_t write_name(output *to)
{
    const char *condition = strstr(to->mask, " requires ");
    part in = {to->mask, condition ? condition : to->mask + strlen(to->mask)};
    if (!find_end(&in))
        return 0;
    part name = last_component(in);
    if (name.begin == name.end)
        return 0;
    name.begin = qualified_begin((part){in.begin, name.begin});
    put_name(to, name);
    if (to->used > to->size)
        return 0;
    to->out[to->used] = '\0';
    return to->used;
}

/* Once a place; cold: the file is compiled for speed, but this for size. */
__attribute__((cold)) size_t tkt_signature_name(char *out, size_t size, const char *text)
{
    bool is_signature = size > 0 && strpbrk(text, ")>"); /* unlike a name in C */
    char *mask_of_text = is_signature ? masked(text) : NULL;
    if (!mask_of_text)
        return 0;
    output to = {out, size - 1, 0, text, mask_of_text};
    size_t used = write_name(&to);
    tkt_free(mask_of_text);
    return used;
}
