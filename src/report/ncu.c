/* A kernel that takes long is looked into with Nsight Compute. By default ncu compares its -k with
 * the function's own name, without namespaces, template arguments and parameters (its option
 * --kernel-name-base function), and a regular expression matches anywhere in it, so that it is
 * anchored here. Only names that are identifiers are offered: these mean themselves in a regular
 * expression and between a shell's quotes. */
#include "report/ncu.h"

#include "summary/kernel_name.h"

#include <string.h>

#define KERNELS_SHOWN 3
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

static bool is_longer(const tkt_named *a, const tkt_named *b)
{
    return !b || a->stats.total_ns > b->stats.total_ns;
}

/* The kernel with the largest total but for those that are in `taken`. */
static const tkt_named *longest(const tkt_nameds *kernels, const tkt_named **taken, size_t count)
{
    const tkt_named *found = NULL;
    for (size_t i = 0; i < kernels->count; i++) {
        bool is_taken = false;
        for (size_t t = 0; t < count; t++)
            is_taken = is_taken || taken[t] == &kernels->items[i];
        if (!is_taken && is_longer(&kernels->items[i], found))
            found = &kernels->items[i];
    }
    return found;
}

void tkt_add_ncu_notes(tkt_document *document, const tkt_nameds *kernels)
{
    const tkt_named *taken[KERNELS_SHOWN];
    bool is_begun = false;
    for (size_t i = 0; i < KERNELS_SHOWN && i < kernels->count; i++) {
        taken[i] = longest(kernels, taken, i);
        const char *base;
        size_t size = tkt_kernel_base_name(name_of(document->trace, taken[i]), &base);
        if (size == 0 || size > 256)
            continue;
        if (!is_begun)
            tkt_document_add_note(document, "To look into the longest with Nsight Compute:");
        is_begun = true;
        tkt_document_add_note(document, "ncu -k 'regex:^%.*s$' -c %d PROGRAM", (int)size, base,
                              LAUNCHES);
    }
}
