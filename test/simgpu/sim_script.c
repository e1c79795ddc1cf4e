/* Options: what a script says the simulated machine does. They come from the environment, as
 * TAKT_SIM="name=value; name=value" and as lines of the file TAKT_SIM_SCRIPT, and from
 * sim_script(). Later ones count more. A name that nobody knows ends the program, since a test that
 * misspells one would otherwise test nothing. */
#include "sim_core.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct sim_entry {
    char *name;
    char *value;
    int device;                     /* of "name@1"; -1: all */
    uint32_t used[SIM_MAX_DEVICES]; /* of lists, and calls of faults in [0] */
} sim_entry;

/* A script stays when the next one comes: other threads may still look at it. */
typedef struct sim_entries {
    struct sim_entries *before;
    sim_entry *items;
    size_t count;
} sim_entries;

static _Atomic(sim_entries *) current;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const char *const groups[] = {
    "devices",  "device", "kernel", "memcpy", "memset", "latency",
    "clock",    "fault",  "graph",  "local",  "shared", "registers",
    "overhead", "driver", "launch", "error",  "errors", "condition",
};

static void die(const char *what, const char *text)
{
    fprintf(stderr, "simgpu: %s: '%s'\n", what, text);
    abort();
}

static bool is_known(const char *name)
{
    if (strncmp(name, "cupti.", 6) == 0)
        return true;
    size_t size = strcspn(name, ".@= ");
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        if (strlen(groups[i]) == size && memcmp(groups[i], name, size) == 0)
            return true;
    }
    return false;
}

static char *trimmed(const char *text, size_t size)
{
    while (size && isspace((unsigned char)*text))
        text++, size--;
    while (size && isspace((unsigned char)text[size - 1]))
        size--;
    char *copy = sim_new(size + 1);
    memcpy(copy, text, size);
    return copy;
}

static void add_option(sim_entries *to, const char *text, size_t size)
{
    char *option = trimmed(text, size);
    char *equals = strchr(option, '=');
    if (!*option || *option == '#') {
        free(option);
        return;
    }
    if (!equals || !is_known(option))
        die("no such option", option);
    to->items = sim_grow(to->items, to->count, sizeof *to->items);
    sim_entry *entry = &to->items[to->count++];
    memset(entry, 0, sizeof *entry);
    entry->name = trimmed(option, (size_t)(equals - option));
    entry->value = trimmed(equals + 1, strlen(equals + 1));
    entry->device = -1;
    char *at = strrchr(entry->name, '@');
    if (at) {
        entry->device = atoi(at + 1);
        *at = 0;
    }
    free(option);
}

static void add_text(sim_entries *to, const char *text, const char *separators)
{
    while (*text) {
        size_t size = strcspn(text, separators);
        add_option(to, text, size);
        text += size + (text[size] != 0);
    }
}

static void add_file(sim_entries *to, const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file)
        die("cannot read the script", path);
    char line[4096];
    while (fgets(line, sizeof line, file))
        add_text(to, line, "\n");
    fclose(file);
}

static void use(const char *text)
{
    const char *path = getenv("TAKT_SIM_SCRIPT");
    const char *environment = getenv("TAKT_SIM");
    sim_entries *next = sim_new(sizeof *next);
    next->before = atomic_load(&current);
    if (path && *path)
        add_file(next, path);
    if (environment)
        add_text(next, environment, ";\n");
    if (text)
        add_text(next, text, ";\n");
    atomic_store(&current, next);
}

static void use_environment(void)
{
    use(NULL);
}

static void ready(void)
{
    pthread_once(&once, use_environment);
}

void sim_script(const char *text)
{
    ready();
    use(text);
    sim_mend();
}

const void *sim_current_script(void)
{
    ready();
    return atomic_load(&current);
}

static const sim_entry *find(const char *name, int device)
{
    ready();
    const sim_entry *found = NULL;
    const sim_entries *script = atomic_load(&current);
    for (size_t i = script->count; i-- > 0;) {
        const sim_entry *entry = &script->items[i];
        if (strcmp(entry->name, name) != 0)
            continue;
        if (entry->device == device)
            return entry;
        if (entry->device < 0 && !found)
            found = entry;
    }
    return found;
}

const char *sim_option(const char *name)
{
    const sim_entry *entry = find(name, -1);
    return entry ? entry->value : NULL;
}

/* A number with a unit, up to a comma or the end. */
static int64_t number(const char *text, const char **end)
{
    static const struct {
        const char *name;
        double factor;
    } units[] = {{"ns", 1},  {"us", 1e3},          {"ms", 1e6},
                 {"s", 1e9}, {"KiB", 1024},        {"MiB", 1024.0 * 1024},
                 {"", 1},    {"GiB", 1073741824.0}};
    char *rest;
    double value = strtod(text, &rest);
    if (rest == text)
        die("not a number", text);
    while (*rest == ' ')
        rest++;
    size_t size = strcspn(rest, ", ");
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strlen(units[i].name) == size && memcmp(rest, units[i].name, size) == 0) {
            *end = rest + size + strspn(rest + size, ", ");
            return (int64_t)(value * units[i].factor + (value < 0 ? -0.5 : 0.5));
        }
    }
    die("not a unit", rest);
    return 0;
}

int64_t sim_option_on(const char *name, int device, int64_t otherwise)
{
    const sim_entry *entry = find(name, device);
    const char *end;
    return entry ? number(entry->value, &end) : otherwise;
}

int64_t sim_option_number(const char *name, int64_t otherwise)
{
    return sim_option_on(name, -1, otherwise);
}

/* A pattern without * is anywhere in the name. */
static bool fits(const char *pattern, const char *name)
{
    if (strpbrk(pattern, "*?["))
        return fnmatch(pattern, name, 0) == 0;
    return strstr(name, pattern) != NULL;
}

/* The entry "group.PATTERN", or "group" itself. */
static sim_entry *find_fitting(const char *group, const char *name, int device)
{
    ready();
    size_t size = strlen(group);
    sim_entry *found = NULL;
    const sim_entries *script = atomic_load(&current);
    for (size_t i = script->count; i-- > 0;) {
        sim_entry *entry = &script->items[i];
        if (strncmp(entry->name, group, size) != 0 ||
            (entry->device >= 0 && entry->device != device))
            continue;
        const char *rest = entry->name + size;
        int rank = !*rest ? 1 : *rest == '.' && fits(rest + 1, name) ? 3 : 0;
        if (!rank)
            continue;
        if (!found ||
            rank + (entry->device >= 0) > (found->name[size] ? 3 : 1) + (found->device >= 0))
            found = entry;
    }
    return found;
}

uint64_t sim_option_duration(const char *group, const char *name, int device, uint64_t otherwise)
{
    sim_entry *entry = find_fitting(group, name, device);
    if (!entry)
        return otherwise;
    uint32_t turn = entry->used[device]++;
    uint32_t count = 1;
    for (const char *c = entry->value; *c; c++)
        count += *c == ',';
    const char *next = entry->value;
    int64_t value = number(next, &next);
    for (turn %= count; turn > 0; turn--)
        value = number(next, &next);
    return (uint64_t)value;
}

int64_t sim_option_of_kernel(const char *group, const char *kernel, int64_t otherwise)
{
    const sim_entry *entry = find_fitting(group, kernel, -1);
    const char *end;
    return entry ? number(entry->value, &end) : otherwise;
}

/* "NAME=2", "NAME@3=2", "NAME@3+=2"; the first "=" has already been taken by "fault". */
static int fault_of(sim_entry *entry, const char *function)
{
    const char *value = entry->value;
    size_t size = strcspn(value, "@=");
    if (strlen(function) != size || memcmp(value, function, size) != 0)
        return 0;
    uint32_t call = __atomic_add_fetch(&entry->used[0], 1, __ATOMIC_RELAXED);
    char *rest = (char *)value + size;
    unsigned long at = 1;
    bool from = true;
    if (*rest == '@') {
        at = strtoul(rest + 1, &rest, 10);
        from = *rest == '+';
        rest += from;
    }
    if (*rest != '=')
        die("a fault is FUNCTION[@CALL[+]]=STATUS", value);
    return call == at || (from && call > at) ? atoi(rest + 1) : 0;
}

int sim_fault(const char *function)
{
    ready();
    int status = 0;
    const sim_entries *script = atomic_load(&current);
    for (size_t i = 0; i < script->count; i++) {
        if (strcmp(script->items[i].name, "fault") == 0) {
            int fault = fault_of(&script->items[i], function);
            status = fault ? fault : status;
        }
    }
    return status;
}
