/* Names of kernels as people write them. Kernels have C++ names in CUPTI's records; what the C++
 * library of the program, or of the system, has to demangle them is found at run time, because Takt
 * itself needs no C++. Shortening reads the demangler's output from left to right and drops what is
 * in brackets; it must cope with operators that look like brackets, with lambdas, and with return
 * types, which templates have in their names. */
#include "cuda/names.h"

#include "base/alloc.h"
#include "base/dynlib.h"

#include <ctype.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Longer names are left as they are: demangling can take memory without measure. */
#define LONGEST_MANGLED 65536

typedef char *(*demangler)(const char *mangled, char *buffer, size_t *size, int *status);

/* In the program, then in a library that is loaded out of its sight, then loads one. */
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

/* Races are harmless: all find the same. */
void tkt_names_prepare(void)
{
    /* acquire and release: who sees that it was looked up sees what was found */
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

/* What is written so far; `length` goes on past the end of `out`. */
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

static bool begins_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

static bool is_any(char c, const char *set)
{
    return c != '\0' && strchr(set, c) != NULL;
}

/* After the bracket that closes the one at `at`. "<" and ">" are not looked at: within other
 * brackets they may be comparisons. */
static const char *after_brackets(const char *at)
{
    size_t depth = 0;
    do {
        depth += is_any(*at, "([{");
        depth -= is_any(*at, ")]}");
        at++;
    } while (depth && *at);
    return at;
}

static bool is_operator(const char *name, const char *at)
{
    return begins_with(at, "operator") && !is_word(at[8]) && (at == name || !is_word(at[-1]));
}

static const char *after_operator(const char *at)
{
    at += strlen("operator");
    if (begins_with(at, "()") || begins_with(at, "[]"))
        return at + 2;
    return at + strspn(at, "<>=!+-*/%^&|~,");
}

/* After the ">" for the "<" at `at`. */
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
        at++;
    }
    return at;
}

static const char *shorten_angles(shortened *text, const char *name, const char *at)
{
    static const char dots[] = "<...>";
    put(text, dots, dots + strlen(dots));
    return after_angles(name, at);
}

/* "operator<", and "operator unsigned int", in which the space belongs to the name. */
static const char *shorten_operator(shortened *text, const char *name, const char *at)
{
    const char *end = after_operator(at);
    put(text, at, end);
    if (begins_with(end, " <"))
        return end + 1;
    while (*end == ' ' || (end[-1] != ')' && is_word(*end)) || is_any(*end, ":*&")) {
        put(text, end, end + 1);
        end++;
        if (*end == '<')
            end = shorten_angles(text, name, end);
    }
    return end;
}

/* "{lambda(int, float)#2}" keeps its number only. */
static const char *shorten_braces(shortened *text, const char *at)
{
    const char *end = after_brackets(at);
    const char *from = at;
    if (begins_with(at, "{lambda(")) {
        put(text, at, at + strlen("{lambda"));
        from = after_brackets(at + strlen("{lambda"));
    }
    put(text, from, end);
    return end;
}

/* Parameters: of a function that something else is local to, of the kernel itself - then that is
 * all -, or a type's. NULL: all. */
static const char *shorten_parentheses(const shortened *text, const char *at)
{
    const char *end = after_brackets(at);
    bool is_type = text->length == 0 ||
                   (text->length == 8 && text->size > 8 && memcmp(text->out, "decltype", 8) == 0);
    return is_type || begins_with(end, "::") ? end : NULL;
}

/* One piece of the name; returns what follows it, NULL at the end of what is wanted. */
static const char *shorten_piece(shortened *text, const char *name, const char *at)
{
    static const char anonymous[] = "(anonymous namespace)";
    bool is_begin = at == name || !is_word(at[-1]);
    if (is_operator(name, at))
        return shorten_operator(text, name, at);
    if (is_begin && begins_with(at, "_INTERNAL_") && strstr(at, "::"))
        return strstr(at, "::") + 2; /* nvcc's name of a file */
    if (*at == ' ') {
        text->length = 0; /* it was the return type */
        return at + 1;
    }
    if (*at == '<')
        return shorten_angles(text, name, at);
    if (*at == '{')
        return shorten_braces(text, at);
    if (*at == '(' && !begins_with(at, anonymous))
        return shorten_parentheses(text, at);
    size_t size = *at == '(' ? strlen(anonymous) : 1;
    put(text, at, at + size);
    return at + size;
}

/* Ends the text; where it was cut, in dots, and not within a character of UTF-8. */
static void finish(shortened *text)
{
    size_t end = text->length;
    if (end >= text->size) {
        end = text->size > 4 ? text->size - 4 : 0;
        while (end && ((unsigned char)text->out[end] & 0xC0u) == 0x80)
            end--;
        size_t dots = text->size > 4 ? 3 : 0;
        memset(text->out + end, '.', dots);
        end += dots;
    }
    text->out[end] = '\0';
}

char *tkt_name_shorten(char *out, size_t size, const char *demangled)
{
    shortened text = {.out = out, .size = size};
    const char *at = demangled;
    while (at && *at)
        at = shorten_piece(&text, demangled, at);
    if (text.length == 0)
        put(&text, demangled, demangled + strlen(demangled));
    finish(&text);
    return out;
}
