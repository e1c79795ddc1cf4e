/* Names the frames of call stacks. A recorded frame is a module and an offset. libdw reads the
 * module's debug information, which has the source line, the function, and the functions inlined
 * into it. Without debug information, the file's symbols still name functions, including static
 * ones.
 *
 * A module that was written after the recording is a different version, so it is not used. */
#include "cli/cli.h"

#ifdef TKT_HAVE_DW

#include "trace/resolve.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct module {
    char *path;
    Dwfl_Module *dwfl; /* NULL: missing, or a different version */
    Dwarf_Addr bias;   /* add it to an address in the file to get libdw's address */
} module;

typedef struct symbols {
    Dwfl *dwfl;
    module *modules;
    size_t module_count;
    int64_t recorded_s; /* end of the recording, in seconds since 1970 */
    size_t missing;
    size_t changed;
    char first_missing[256];
    char first_changed[256];
} symbols;

/* ---- Modules --------------------------------------------------------------------------------- */

static void remember(char *first, size_t size, size_t *count, const char *path)
{
    if ((*count)++ == 0)
        cli_clean(first, size, path);
}

static Dwfl_Module *open_module(symbols *s, const char *path, Dwarf_Addr *bias)
{
    struct stat facts;
    if (path[0] != '/') /* a module of the kernel, or none */
        return NULL;
    if (stat(path, &facts) != 0) {
        remember(s->first_missing, sizeof s->first_missing, &s->missing, path);
        return NULL;
    }
    if (facts.st_mtime > s->recorded_s) {
        remember(s->first_changed, sizeof s->first_changed, &s->changed, path);
        return NULL;
    }
    dwfl_report_begin_add(s->dwfl);
    Dwfl_Module *dwfl = dwfl_report_offline(s->dwfl, path, path, -1);
    dwfl_report_end(s->dwfl, NULL, NULL);
    return dwfl && dwfl_module_getelf(dwfl, bias) ? dwfl : NULL;
}

/* NULL: no memory. */
static const module *find_module(symbols *s, const char *path)
{
    for (size_t i = 0; i < s->module_count; i++)
        if (strcmp(s->modules[i].path, path) == 0)
            return &s->modules[i];
    module *grown = realloc(s->modules, (s->module_count + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    s->modules = grown;
    module *added = &grown[s->module_count];
    *added = (module){.path = strdup(path)};
    if (!added->path)
        return NULL;
    added->dwfl = open_module(s, path, &added->bias);
    s->module_count++;
    return added;
}

/* ---- Frames ---------------------------------------------------------------------------------- */

/* Returns the linkage name, which distinguishes overloaded functions, or else the plain name. */
static const char *name_of(Dwarf_Die *function)
{
    Dwarf_Attribute attribute;
    Dwarf_Attribute *name = dwarf_attr_integrate(function, DW_AT_linkage_name, &attribute);
    if (!name)
        name = dwarf_attr_integrate(function, DW_AT_MIPS_linkage_name, &attribute);
    const char *text = name ? dwarf_formstring(name) : NULL;
    return text ? text : dwarf_diename(function);
}

static uint32_t number_of(Dwarf_Die *die, unsigned attribute_name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value = 0;
    if (dwarf_attr(die, attribute_name, &attribute))
        dwarf_formudata(&attribute, &value);
    return (uint32_t)value;
}

/* Sets the place from which an inlined function was called. */
static void put_call_site(Dwarf_Die *unit, Dwarf_Die *inlined, takt_frame_info *outer)
{
    Dwarf_Files *files;
    size_t count;
    uint32_t file = number_of(inlined, DW_AT_call_file);
    if (dwarf_getsrcfiles(unit, &files, &count) == 0 && file < count)
        outer->file = dwarf_filesrc(files, file, NULL, NULL);
    outer->line = number_of(inlined, DW_AT_call_line);
}

/* libdw finds a unit by a table that gcc writes; clang writes none by default. */
static Dwarf_Die *find_unit(const module *in, Dwarf_Addr address, Dwarf_Addr *bias)
{
    Dwarf_Die *unit = dwfl_module_addrdie(in->dwfl, address, bias);
    if (unit)
        return unit;
    while ((unit = dwfl_module_nextcu(in->dwfl, unit, bias)))
        if (dwarf_haspc(unit, address - *bias) > 0)
            return unit;
    return NULL;
}

static void put_line(Dwarf_Die *unit, Dwarf_Addr address, takt_frame_info *out)
{
    int number = 0;
    Dwarf_Line *line = dwarf_getsrc_die(unit, address);
    if (line && dwarf_lineno(line, &number) == 0)
        out->file = dwarf_linesrc(line, NULL, NULL);
    out->line = (uint32_t)number;
}

/* Stores the functions around `address`, innermost first. out[0] already has the innermost line. */
static size_t put_functions(Dwarf_Die *unit, Dwarf_Addr address, takt_frame_info *out,
                            size_t capacity)
{
    Dwarf_Die *scopes, *around;
    size_t count = 0;
    if (dwarf_getscopes(unit, address, &scopes) <= 0)
        return 0;
    Dwarf_Die innermost = scopes[0];
    free(scopes);
    int scope_count = dwarf_getscopes_die(&innermost, &around);
    for (int i = 0; i < scope_count && count < capacity; i++) {
        int tag = dwarf_tag(&around[i]);
        if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
            continue;
        out[count].function = name_of(&around[i]);
        out[count].is_inline = tag == DW_TAG_inlined_subroutine && count + 1 < capacity;
        if (!out[count++].is_inline)
            break;
        put_call_site(unit, &around[i], &out[count]);
    }
    if (scope_count > 0)
        free(around);
    return count;
}

/* Drops functions of Takt's headers, which are inlined where a scope begins. Users want the
 * function around them. */
static size_t drop_own(takt_frame_info *out, size_t count)
{
    size_t own = 0;
    while (own + 1 < count && out[own].function && strncmp(out[own].function, "takt_", 5) == 0)
        own++;
    memmove(out, out + own, (count - own) * sizeof *out);
    return count - own;
}

static size_t resolve(void *user, const takt_frame_info *frame, takt_frame_info *out,
                      size_t capacity)
{
    symbols *s = user;
    if (*frame->file || capacity == 0) /* this frame was resolved before */
        return 0;
    const module *in = find_module(s, frame->module);
    if (!in || !in->dwfl)
        return 0;
    Dwarf_Addr address = frame->offset + in->bias, bias = 0;
    Dwarf_Die *unit = find_unit(in, address, &bias);
    if (unit)
        put_line(unit, address - bias, &out[0]);
    size_t count = unit ? put_functions(unit, address - bias, out, capacity) : 0;
    if (count > 0)
        return drop_own(out, count);
    out[0].function = dwfl_module_addrname(in->dwfl, address);
    out[0].is_inline = false;
    return out[0].function ? 1 : 0;
}

/* ---- A trace --------------------------------------------------------------------------------- */

static void print_problems(const symbols *s)
{
    if (s->missing)
        fprintf(stderr, "takt: %s%s: file not found, so its functions have no names\n",
                s->first_missing, s->missing > 1 ? " and others" : "");
    if (s->changed)
        fprintf(stderr, "takt: %s%s: newer than the recording, so its names are not used\n",
                s->first_changed, s->changed > 1 ? " and others" : "");
}

void cli_name_frames(takt_trace *trace)
{
    static char *no_path;
    static const Dwfl_Callbacks callbacks = {.find_debuginfo = dwfl_standard_find_debuginfo,
                                             .section_address = dwfl_offline_section_address,
                                             .debuginfo_path = &no_path};
    if (takt_trace_count(trace, TAKT_TRACE_STACKS) == 0)
        return;
    const takt_facts *facts = takt_trace_facts(trace);
    symbols s = {.dwfl = dwfl_begin(&callbacks)};
    s.recorded_s = (int64_t)(facts->end_ns + (uint64_t)facts->realtime_offset_ns) / 1000000000 + 1;
    cli_progress *progress = cli_progress_begin("naming", "functions of call stacks");
    if (s.dwfl)
        tkt_trace_resolve(trace, resolve, &s);
    cli_progress_end(progress);
    print_problems(&s);
    for (size_t i = 0; i < s.module_count; i++)
        free(s.modules[i].path);
    free(s.modules);
    dwfl_end(s.dwfl);
}

#endif
