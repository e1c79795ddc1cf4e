/* The traces that a command line names: files, and folders of them. */
#include "cli/cli.h"

#include "base/containers.h"
#include "base/file.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The events of torch.profiler begin before this. */
enum {
    HEAD_BYTES = 1 << 16
};

static bool has_one_of(const struct dirent *entry, const char *const *endings, size_t count)
{
    size_t size = strlen(entry->d_name);
    bool has = false;
    for (size_t i = 0; i < count; i++)
        has |= tkt_has_ending(entry->d_name, size, endings[i]);
    return has && entry->d_name[0] != '.';
}

static int is_trace(const struct dirent *entry)
{
    static const char *const endings[] = {".pftrace", ".pftrace.gz"};
    return has_one_of(entry, endings, 2);
}

/* As torch.profiler's handler and `nsys export` name them. */
static int is_other(const struct dirent *entry)
{
    static const char *const endings[] = {".pt.trace.json", ".pt.trace.json.gz", ".sqlite"};
    return has_one_of(entry, endings, 3);
}

/* As programs name the files of torch.profiler themselves, such as rank0.json. */
static int is_json(const struct dirent *entry)
{
    static const char *const endings[] = {".json", ".json.gz"};
    return has_one_of(entry, endings, 2);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* Adds FOLDER/NAME, or just NAME if `folder` is "". */
static int add_path(cli_files *files, const char *folder, const char *name)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char **paths = realloc(files->paths, (files->count + 1) * sizeof *paths);

    if (paths) {
        files->paths = paths;
        paths[files->count] = malloc(size);
    }
    if (!paths || !paths[files->count])
        return cli_error("%s", takt_status_text(TAKT_NO_MEMORY));
    snprintf(paths[files->count++], size, "%s%s%s", folder,
             *folder && !tkt_has_ending(folder, strlen(folder), "/") ? "/" : "", name);
    return CLI_OK;
}

/* True if the file begins like torch.profiler's, unlike a configuration, which also ends in .json.
 */
static bool has_events(const char *path)
{
    static const char key[] = "\"traceEvents\"";
    tkt_input input;
    if (tkt_input_open(&input, path, NULL) != TAKT_OK)
        return false;
    tkt_input_fill(&input, HEAD_BYTES);
    bool has = memmem(input.window.at, tkt_input_left(&input), key, sizeof key - 1) != NULL;
    tkt_input_close(&input);
    return has;
}

static void free_entries(struct dirent **entries, int count)
{
    for (int i = 0; i < count; i++)
        free(entries[i]);
    free(entries);
}

static void tell_left_out(const char *folder, struct dirent **left_out, int count)
{
    char where[256], name[256];
    fprintf(stderr,
            "takt: %s: only Takt's own traces are read; left out: %s%s. Name other profilers' "
            "files to read them\n",
            cli_clean(where, sizeof where, folder),
            cli_clean(name, sizeof name, left_out[0]->d_name), count > 1 ? " and more" : "");
}

/* The folder of the newest trace, and a crash-safe recording. */
typedef struct newest {
    char folder[4096]; /* "": none yet */
    struct timespec time;
    char recording[4096]; /* "": none */
} newest;

static bool is_newer(const newest *than, const char *folder, struct timespec time)
{
    if (time.tv_sec != than->time.tv_sec)
        return time.tv_sec > than->time.tv_sec;
    if (time.tv_nsec != than->time.tv_nsec)
        return time.tv_nsec > than->time.tv_nsec;
    return strcmp(folder, than->folder) > 0;
}

/* Looks for traces in a folder, and so many levels below it. */
static void find_newest(const char *folder, int levels, newest *found)
{
    char path[sizeof found->folder];
    struct stat about;
    DIR *entries = opendir(folder);
    for (struct dirent *entry; entries && (entry = readdir(entries));) {
        int size = snprintf(path, sizeof path, "%s%s%s", folder,
                            tkt_has_ending(folder, strlen(folder), "/") ? "" : "/", entry->d_name);
        if (entry->d_name[0] == '.' || size >= (int)sizeof path)
            continue;
        if (tkt_has_ending(path, (size_t)size, ".crash"))
            snprintf(found->recording, sizeof found->recording, "%s", path);
        if (is_trace(entry)) {
            if (stat(path, &about) == 0 && is_newer(found, folder, about.st_mtim)) {
                snprintf(found->folder, sizeof found->folder, "%s", folder);
                found->time = about.st_mtim;
            }
        } else if (levels && (entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN)) {
            find_newest(path, levels - 1, found);
        }
    }
    if (entries)
        closedir(entries);
}

/* Looks two levels below: Takt's own folders are runs/NAME/TIME. */
static int tell_no_traces(const char *folder)
{
    static const char text[] = "there are no traces (.pftrace, .pt.trace.json, .sqlite) in this "
                               "folder";
    newest found = {.folder = ""};
    find_newest(folder, 2, &found);
    if (!found.folder[0] && found.recording[0])
        return cli_error("%s: %s. takt recover makes one of %s", folder, text, found.recording);
    if (!found.folder[0])
        return cli_error("%s: %s", folder, text);
    return cli_error("%s: %s. The newest are in %s: name that one", folder, text, found.folder);
}

/* Adds the .json files that are traces. */
static int add_json(cli_files *files, const char *folder)
{
    struct dirent **found;
    size_t before = files->count;
    int count = scandir(folder, &found, is_json, by_name), status = CLI_OK;

    if (count < 0)
        return cli_error("%s: %s", folder, strerror(errno));
    for (int i = 0; i < count && status == CLI_OK; i++) {
        status = add_path(files, folder, found[i]->d_name);
        if (status == CLI_OK && !has_events(files->paths[files->count - 1]))
            free(files->paths[--files->count]);
    }
    free_entries(found, count);
    if (status == CLI_OK && files->count == before)
        status = tell_no_traces(folder);
    return status;
}

typedef struct place {
    dev_t device;
    ino_t number;
} place;

typedef struct places {
    TKT_ARRAY(place);
    tkt_map index;
} places;

/* True for another link to a file that is known. What cannot be looked at is not one. */
static bool is_known(places *known, const char *path)
{
    struct stat about;
    if (stat(path, &about) != 0)
        return false;
    place wanted;
    memset(&wanted, 0, sizeof wanted); /* all its bytes are compared */
    wanted.device = about.st_dev;
    wanted.number = about.st_ino;
    uint64_t *index = tkt_map_find(&known->index, tkt_hash_u64(wanted.number), known->items,
                                   sizeof wanted, NULL, &wanted);
    place *added = index && !*index ? TKT_ARRAY_ADD(known) : NULL;
    if (!added)
        return index && *index;
    *added = wanted;
    *index = known->count;
    return false;
}

/* Adds these, each file once, however many links lead to it. */
static int add_all(cli_files *files, const char *folder, struct dirent **entries, int count)
{
    places known = {0};
    int status = CLI_OK, left_out = 0;
    for (int i = 0; i < count && status == CLI_OK; i++) {
        status = add_path(files, folder, entries[i]->d_name);
        if (status != CLI_OK || !is_known(&known, files->paths[files->count - 1]))
            continue;
        free(files->paths[--files->count]);
        left_out++;
    }
    char where[256];
    if (left_out)
        fprintf(stderr, "takt: %s: each file is read once: %d more links to them were left out\n",
                cli_clean(where, sizeof where, folder), left_out);
    TKT_ARRAY_FREE(&known);
    tkt_map_fini(&known.index);
    return status;
}

/* Adds Takt's traces or, if there are none, those of other profilers. */
static int add_entries(cli_files *files, const char *folder, struct dirent **own, int own_count)
{
    struct dirent **others;
    int other_count = scandir(folder, &others, is_other, by_name);
    int count = own_count ? own_count : other_count;
    int status = CLI_OK;

    if (other_count < 0)
        return cli_error("%s: %s", folder, strerror(errno));
    if (count == 0)
        status = add_json(files, folder);
    if (own_count && other_count)
        tell_left_out(folder, others, other_count);
    if (status == CLI_OK)
        status = add_all(files, folder, own_count ? own : others, count);
    free_entries(others, other_count);
    return status;
}

static int add_folder(cli_files *files, const char *folder)
{
    struct dirent **traces;
    int count = scandir(folder, &traces, is_trace, by_name);
    if (count < 0)
        return cli_error("%s: %s", folder, strerror(errno));
    int status = add_entries(files, folder, traces, count);
    free_entries(traces, count);
    return status;
}

int cli_files_add(cli_files *files, const char *path)
{
    return tkt_folder_exists(path) ? add_folder(files, path) : add_path(files, "", path);
}

int cli_files_add_one(cli_files *files, const char *path)
{
    size_t before = files->count;
    int status = cli_files_add(files, path);
    if (status != CLI_OK || files->count == before + 1)
        return status;
    return cli_error("%s: this folder has %zu traces: name one of them, such as %s", path,
                     files->count - before, files->paths[before]);
}

bool cli_is_same_process(const takt_facts *a, const takt_facts *b)
{
    const int64_t second_ns = 1000000000;
    int64_t apart_ns;
    if (a->process_key && b->process_key)
        return a->process_key == b->process_key;
    return a->process_id == b->process_id && a->process_id != 0 &&
           !__builtin_sub_overflow(a->realtime_offset_ns, b->realtime_offset_ns, &apart_ns) &&
           apart_ns < second_ns && apart_ns > -second_ns;
}

bool cli_is_of_rank(const char *name, uint32_t rank)
{
    char part[32];
    snprintf(part, sizeof part, ".rank%" PRIu32 ".", rank);
    return strstr(name, part) != NULL;
}

int cli_files_keep_rank(cli_files *files, uint32_t rank, const char *side)
{
    size_t kept = 0;
    for (size_t i = 0; i < files->count; i++) {
        const char *slash = strrchr(files->paths[i], '/');
        if (cli_is_of_rank(slash ? slash + 1 : files->paths[i], rank))
            files->paths[kept++] = files->paths[i];
        else
            free(files->paths[i]);
    }
    files->count = kept;
    return kept ? CLI_OK
                : cli_error("%s: no trace is named as one of rank %" PRIu32 ", NAME.rank%" PRIu32
                            ".CYCLE.pftrace",
                            side, rank, rank);
}

void cli_files_free(cli_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        free(files->paths[i]);
    free(files->paths);
    *files = (cli_files){0};
}
