/* Names of the files that TensorBoard's plugins look for.
 *
 *     DIRECTORY/HOST_PID.TIME.pt.trace.json.gz           Chrome JSON for torch's torch-tb-profiler
 *     DIRECTORY/plugins/profile/NAME.CYCLE/HOST.xplane.pb        XSpace for XProf
 *
 * torch's plugin accepts names that match ^(.*?)(\.\d+)?\.pt\.trace\.json(?:\.gz)?$. The first
 * group is the worker, the second one the span. A continued file gets the next number, which makes
 * it another span of the same worker. TIME is the begin of the recording as CLOCK_REALTIME in ns.
 * If the file exists, "-2" is added to HOST_PID.
 *
 * XProf takes a folder for one run, and its files for the hosts of that run. So each recording of
 * a process that is alone gets a folder of its own: NAME.CYCLE, or NAME.CYCLE-2 and so on. The
 * processes of a parallel job share a folder without talking to each other: each takes the first
 * one that has no file of its rank yet, and calls its file HOST.rank3.xplane.pb. */
#include "export/tensorboard.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"

#include <stdio.h>
#include <string.h>

#define SUFFIX       ".xplane.pb"
#define MOST_FOLDERS 10000u

/* Host names consist of letters, digits, '-' and '.', but a container's name may be anything. */
static void plain_host_name(char out[TKT_HOST_BYTES])
{
    snprintf(out, TKT_HOST_BYTES, "%.*s", TKT_HOST_BYTES - TKT_RANK_BYTES - 1, tkt_host_name());
    for (char *at = out; *at; at++) {
        bool is_plain = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
                        (*at >= '0' && *at <= '9') || *at == '-' || (*at == '.' && at > out);
        if (!is_plain)
            *at = '_';
    }
    if (!*out)
        snprintf(out, TKT_HOST_BYTES, "localhost");
}

void tkt_tensorboard_host(const takt_trace *trace, char out[TKT_HOST_BYTES])
{
    char rank[TKT_RANK_BYTES];
    plain_host_name(out);
    tkt_rank_text(rank, trace->facts.rank, trace->facts.world_size);
    strcat(out, rank);
}

static uint64_t real_begin_ns(const takt_trace *trace)
{
    int64_t real = 0;
    bool is_absurd =
        __builtin_add_overflow(trace->facts.begin_ns, trace->facts.realtime_offset_ns, &real);
    return is_absurd || real <= 0 ? 1 : (uint64_t)real;
}

/* Takes ownership of the path; NULL means that memory ran out. */
static takt_status set_name(tkt_output *output, char *path, const char *suffix)
{
    output->name.path = path;
    output->name.stem = output->name.base = path ? strlen(path) - strlen(suffix) : 0;
    return path ? TAKT_OK : TAKT_NO_MEMORY;
}

takt_status tkt_torch_name(const takt_trace *trace, const char *directory, tkt_output *output,
                           takt_error *error)
{
    static const char suffix[] = ".pt.trace.json.gz";
    char host[TKT_HOST_BYTES];
    plain_host_name(host);
    output->name.first_number = real_begin_ns(trace);
    takt_status status = tkt_folder_create(directory, error);
    if (status != TAKT_OK)
        return status;
    return set_name(output,
                    tkt_output_join(directory, "%s_%u%s", host, trace->facts.process_id, suffix),
                    suffix);
}

/* Creates the folder of a parallel job's run. The caller frees the path. */
static takt_status shared_folder(const char *base, const char *rank, char **path, takt_error *error)
{
    char ending[TKT_RANK_BYTES + sizeof SUFFIX], number[16] = "";
    snprintf(ending, sizeof ending, "%s" SUFFIX, rank);
    for (unsigned i = 2; i <= MOST_FOLDERS; i++) {
        *path = tkt_output_join("", "%s%s", base, number);
        takt_status status = *path ? tkt_folder_create(*path, error) : TAKT_NO_MEMORY;
        if (status != TAKT_OK || !tkt_folder_has(*path, ending))
            return status;
        tkt_free(*path);
        *path = NULL;
        snprintf(number, sizeof number, "-%u", i);
    }
    return tkt_error_set(error, TAKT_IO_ERROR, "%s: there are too many folders of that name", base);
}

/* Creates the folder of a process that is alone. */
static takt_status own_folder(const char *base, char **path, takt_error *error)
{
    size_t size = strlen(base) + 16;
    *path = tkt_alloc(size);
    return *path ? tkt_folder_create_new(base, NULL, *path, size, error) : TAKT_NO_MEMORY;
}

takt_status tkt_xplane_file_name(const takt_trace *trace, const char *directory, tkt_output *output,
                                 takt_error *error)
{
    char run[TKT_RUN_BYTES], rank[TKT_RANK_BYTES], host[TKT_HOST_BYTES];
    char *folder = NULL;
    tkt_output_run(tkt_trace_text(trace, trace->name), run);
    tkt_rank_text(rank, trace->facts.rank, trace->facts.world_size);
    tkt_tensorboard_host(trace, host);
    char *base = tkt_output_join(directory, "plugins/profile/%s.%u", run, trace->facts.cycle);
    takt_status status = TAKT_NO_MEMORY;
    if (base)
        status =
            *rank ? shared_folder(base, rank, &folder, error) : own_folder(base, &folder, error);
    if (status == TAKT_OK)
        status = set_name(output, tkt_output_join(folder, "%s" SUFFIX, host), SUFFIX);
    tkt_free(folder);
    tkt_free(base);
    return status;
}

void tkt_xplane_remove_folders(const char *directory, const char *path)
{
    static const char *const above[] = {"plugins/profile", "plugins"};
    char *folder = path ? tkt_output_join("", "%s", path) : NULL;
    if (folder) {
        *strrchr(folder, '/') = 0;
        tkt_folder_remove(folder);
        tkt_free(folder);
    }
    for (size_t i = 0; i < sizeof above / sizeof *above; i++) {
        folder = tkt_output_join(directory, "%s", above[i]);
        if (folder)
            tkt_folder_remove(folder);
        tkt_free(folder);
    }
}
