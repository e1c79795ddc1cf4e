/* Readable names of kernels. CUPTI's records have C++ names. Takt itself does not link a C++
 * library, so it looks up at run time the demangler of the program's library or the system's.
 * Shortening reads the demangled name from left to right and drops what is in brackets. It must
 * handle operators that look like brackets, lambdas, and the return types in names of templates. */
#include "cuda/kernel.h"

#include "base/alloc.h"
#include "base/containers.h"
#include "base/dynlib.h"
#include "base/text.h"
#include "cuda/store.h"

#include <ctype.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longer names stay mangled: demangling can take unbounded memory. */
#define LONGEST_MANGLED 65536

typedef char *(*demangler)(const char *mangled, char *buffer, size_t *size, int *status);

/* Looks in the program, then in a library that is loaded but not visible to it, then loads one. */
static void *look_up_demangler(void)
{
    static const char *const libraries[] = {"libstdc++.so.6", "libc++abi.so.1"};
    void *found = tkt_library_symbol(NULL, "__cxa_demangle");
    for (size_t i = 0; !found && i < 4; i++) {
        void *library =
            i < 2 ? tkt_library_loaded(libraries[i]) : tkt_library_open(libraries[i - 2]);
        found = library ? tkt_library_symbol(library, "__cxa_demangle") : NULL;
    }
    return found;
}

static _Atomic(void *) demangle_symbol;
static atomic_bool is_looked_up;

/* Races are harmless: all threads find the same function. */
void tkt_names_prepare(void)
{
    /* acquire and release: a thread that sees is_looked_up also sees the symbol */
    if (atomic_load_explicit(&is_looked_up, memory_order_acquire))
        return;
    atomic_store_explicit(&demangle_symbol, look_up_demangler(), memory_order_relaxed);
    atomic_store_explicit(&is_looked_up, true, memory_order_release);
}

static demangler find_demangler(void)
{
    tkt_names_prepare();
    void *symbol = atomic_load_explicit(&demangle_symbol, memory_order_relaxed);
    demangler result;
    memcpy(&result, &symbol, sizeof result);
    return result;
}

char *tkt_name_demangle(const char *mangled)
{
    if (strncmp(mangled, "_Z", 2) != 0 || strlen(mangled) > LONGEST_MANGLED)
        return tkt_copy_string(mangled);
    demangler demangle = find_demangler();
    int status = -1;
    char *demangled = demangle ? demangle(mangled, NULL, NULL, &status) : NULL;
    char *copy = tkt_copy_string(status == 0 && demangled ? demangled : mangled);
    free(demangled);
    return copy;
}

/* The text so far; `length` counts on past the end of `out`. */
typedef struct shortened {
    char *out;
    size_t size;
    size_t length;
} shortened;

static void put(shortened *text, const char *from, const char *to)
{
    for (; from < to; from++) {
        if (text->length < text->size)
            text->out[text->length] = *from;
        text->length++;
    }
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

static bool is_any(char c, const char *set)
{
    return c != '\0' && strchr(set, c) != NULL;
}

/* Returns the position after a byte, or after the whole character or string that begins with it. */
static const char *after_literal(const char *at)
{
    const char *end = at + 1;
    if (!is_any(*at, "'\""))
        return end;
    while (*end && *end != *at)
        end += *end == '\\' && end[1] ? 2 : 1;
    return *end ? end + 1 : at + 1;
}

/* Returns the position after the bracket that closes the one at `at`. Ignores "<" and ">": inside
 * other brackets they may be comparisons. */
static const char *after_brackets(const char *at)
{
    size_t depth = 0;
    do {
        depth += is_any(*at, "([{");
        depth -= is_any(*at, ")]}");
        at = after_literal(at);
    } while (depth && *at);
    return at;
}

static bool is_operator(const char *name, const char *at)
{
    return tkt_begins_with(at, "operator") && !is_word(at[8]) && (at == name || !is_word(at[-1]));
}

static const char *after_operator(const char *at)
{
    at += strlen("operator");
    if (tkt_begins_with(at, "()") || tkt_begins_with(at, "[]") || tkt_begins_with(at, "\"\""))
        return at + 2;
    return at + strspn(at, "<>=!+-*/%^&|~,");
}

/* Returns the position after the ">" for the "<" at `at`. */
static const char *after_angles(const char *name, const char *at)
{
    size_t depth = 0;
    while (*at) {
        if (is_operator(name, at)) {
            at = after_operator(at);
            continue;
        }
        if (is_any(*at, "([{")) {
            at = after_brackets(at);
            continue;
        }
        depth += *at == '<';
        if (*at == '>' && at[-1] != '-' && --depth == 0)
            return at + 1;
        at = after_literal(at);
    }
    return at;
}

static const char *shorten_angles(shortened *text, const char *name, const char *at)
{
    static const char dots[] = "<...>";
    put(text, dots, dots + strlen(dots));
    return after_angles(name, at);
}

/* Returns the position after "(*)(int)" or "(&) [3]", in the type of a conversion operator; `at` if
 * it is at something else. */
static const char *after_declarator(const char *at)
{
    const char *end = after_brackets(at);
    if (*at != '(' || (!is_any(at[1], "*&") && !tkt_begins_with(end - 4, "::*)")))
        return at;
    if (*end == '(')
        return after_brackets(end);
    return tkt_begins_with(end, " [") ? after_brackets(end + 1) : end;
}

/* Copies "operator<", or "operator unsigned int", in which the space belongs to the name. */
static const char *shorten_operator(shortened *text, const char *name, const char *at)
{
    const char *end = after_operator(at);
    put(text, at, end);
    if (tkt_begins_with(end, " <"))
        return end + 1;
    while (*end == ' ' || (end[-1] != ')' && is_word(*end)) || is_any(*end, ":*&")) {
        put(text, end, end + 1);
        end++;
        if (*end == '<')
            end = shorten_angles(text, name, end);
        if (*end == '(') {
            const char *after = after_declarator(end);
            put(text, end, after);
            end = after;
        }
    }
    return end;
}

/* Of "{lambda(int, float)#2}" keeps only the number. */
static const char *shorten_braces(shortened *text, const char *at)
{
    const char *end = after_brackets(at);
    const char *from = at;
    if (tkt_begins_with(at, "{lambda(")) {
        put(text, at, at + strlen("{lambda"));
        from = after_brackets(at + strlen("{lambda"));
    }
    put(text, from, end);
    return end;
}

/* Handles parentheses: of an enclosing function, whose local name follows; of a type; or the
 * kernel's own parameters, which end the name. Returns the position after them, NULL at the end. */
static const char *shorten_parentheses(const shortened *text, const char *at)
{
    const char *end = after_brackets(at);
    bool is_type = text->length == 0 ||
                   (text->length == 8 && text->size > 8 && memcmp(text->out, "decltype", 8) == 0);
    return is_type || tkt_begins_with(end, "::") ? end : NULL;
}

/* Copies or drops one piece of the name. Returns the position after it, NULL at the end. */
static const char *shorten_piece(shortened *text, const char *name, const char *at)
{
    static const char anonymous[] = "(anonymous namespace)";
    bool is_begin = at == name || !is_word(at[-1]);
    if (is_operator(name, at))
        return shorten_operator(text, name, at);
    if (is_begin && tkt_begins_with(at, "_INTERNAL_") && strstr(at, "::"))
        return strstr(at, "::") + 2; /* nvcc's name of a file */
    if (*at == ' ') {
        text->length = 0; /* the text so far was the return type */
        return at + 1;
    }
    if (*at == '<')
        return shorten_angles(text, name, at);
    if (*at == '{')
        return shorten_braces(text, at);
    if (*at == '(' && !tkt_begins_with(at, anonymous))
        return shorten_parentheses(text, at);
    size_t size = *at == '(' ? strlen(anonymous) : 1;
    put(text, at, at + size);
    return at + size;
}

char *tkt_name_shorten(char *out, size_t size, const char *demangled)
{
    shortened text = {.out = out, .size = size};
    const char *at = demangled;
    while (at && *at)
        at = shorten_piece(&text, demangled, at);
    if (text.length == 0)
        put(&text, demangled, demangled + strlen(demangled));
    tkt_text_end(out, size, text.length);
    return out;
}

/* ---- The function's own name ---------------------------------------------------------------- */

static bool is_part(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c > 127;
}

size_t tkt_name_base(const char *demangled, const char **base)
{
    static const char anonymous[] = "(anonymous namespace)";
    size_t size = 0;
    for (const char *at = demangled; *at;) {
        if (is_part(*at)) {
            *base = at;
            while (is_part(*at))
                at++;
            size = (size_t)(at - *base);
        } else if (*at == '<') {
            at = after_angles(demangled, at);
        } else if (strncmp(at, anonymous, strlen(anonymous)) == 0) {
            at += strlen(anonymous);
        } else if (*at == '(') {
            break;
        } else if (*at == ':' || *at == ' ' || *at == '*' || *at == '&') {
            at++; /* part of a namespace or return type: the name follows */
        } else {
            return 0;
        }
    }
    return size && !isdigit((unsigned char)**base) ? size : 0;
}
