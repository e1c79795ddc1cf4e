/* A kernel that takes long is looked into with Nsight Compute. By default ncu compares its -k with
 * the function's own name, without namespaces, template arguments and parameters (its option
 * --kernel-name-base function), and a regular expression matches anywhere in it, so that it is
 * anchored here. Only names that are identifiers are offered: these mean themselves in a regular
 * expression and between a shell's quotes. */
#include "report/ncu.h"

#include "summary/kernel_name.h"

#include <string.h>

#define KERNELS_SHOWN 3
#define LONGEST_NAME  256u
#define LAUNCHES      5 /* enough to see whether they are alike; each is run some dozen times */

/* What is known of the name: all of it, or what tables print for a kernel that has no label. */
static const char *name_of(const takt_trace *trace, const tkt_named *kernel)
{
    static const char *const prefixes[] = {"kernel ", "builtin kernel "};
    if (kernel->shape != TKT_NO_SHAPE && trace->shapes.items[kernel->shape].name)
        return tkt_trace_text(trace, trace->shapes.items[kernel->shape].name);
    const char *label = tkt_trace_text(trace, kernel->name);
    for (size_t i = 0; i < 2; i++) {
        if (strncmp(label, prefixes[i], strlen(prefixes[i])) == 0)
            return label + strlen(prefixes[i]);
    }
    return "";
}

typedef struct base_name {
    const char *text;
    size_t size; /* 0: not one to offer */
} base_name;

static base_name base_of(const takt_trace *trace, const tkt_named *kernel)
{
    base_name base;
    base.size = tkt_kernel_base_name(name_of(trace, kernel), &base.text);
    if (base.size > LONGEST_NAME)
        base.size = 0;
    return base;
}

static bool is_among(base_name name, const base_name *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (names[i].size == name.size && memcmp(names[i].text, name.text, name.size) == 0)
            return true;
    return false;
}

/* The name of the kernel with the largest total whose name is not in `shown`: rows of one kernel
 * that differ in their launches, or in template arguments, have one command in common. */
static base_name longest(const takt_trace *trace, const tkt_nameds *kernels, const base_name *shown,
                         size_t count)
{
    base_name found = {NULL, 0};
    uint64_t most_ns = 0;
    for (size_t i = 0; i < kernels->count; i++) {
        uint64_t total_ns = kernels->items[i].stats.total_ns;
        base_name name = base_of(trace, &kernels->items[i]);
        if (name.size == 0 || is_among(name, shown, count))
            continue;
        if (found.size == 0 || total_ns > most_ns) {
            found = name;
            most_ns = total_ns;
        }
    }
    return found;
}

void tkt_add_ncu_notes(tkt_document *document, const tkt_nameds *kernels)
{
    base_name shown[KERNELS_SHOWN];
    for (size_t i = 0; i < KERNELS_SHOWN; i++) {
        shown[i] = longest(document->trace, kernels, shown, i);
        if (shown[i].size == 0)
            return;
        if (i == 0)
            tkt_document_add_note(document, "To look into the longest with Nsight Compute:");
        tkt_document_add_note(document, "ncu -k 'regex:^%.*s$' -c %d PROGRAM", (int)shown[i].size,
                              shown[i].text, LAUNCHES);
    }
}
