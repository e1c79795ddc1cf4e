/* Finding libcupti. A copy that is loaded already comes first, since a second copy in a process
 * sees nothing. Then come the folders around the program's loaded CUDA libraries, which belong to
 * the same toolkit; pip, conda and toolkits arrange them differently. A libcupti newer than the
 * driver usually fails: it is put aside, and tried last if there is no other. Loading a library has
 * lasting effects, so Takt reads its version from file name and path. */
#include "cuda/cupti.h"

#include "base/dynlib.h"
#include "base/file.h"
#include "base/text.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define NAME "libcupti.so"

/* Newest first; the bare name is a link that toolkits have for linking. */
static const char file_names[][18] = {NAME ".13", NAME ".12", NAME ".11.8", NAME};

enum {
    SONAMES = 2 /* the first of these names; the system's loader knows libraries by them */
};

/* Folders of libraries in a toolkit, below its root. */
static const char *const in_toolkit[] = {
    "lib64", "lib", "extras/CUPTI/lib64", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib",
    NULL};

/* Folders to search, seen from that of libcudart and similar libraries: the same folder, pip's
 * packages, a toolkit's lib64 and targets. */
static const char *const beside_library[] = {".",
                                             "../../cuda_cupti/lib",
                                             "../../cu13/lib",
                                             "../extras/CUPTI/lib64",
                                             "../../../extras/CUPTI/lib64",
                                             NULL};

static const char *const in_packages[] = {"cu13/lib", "cuda_cupti/lib", NULL};

static const char *const in_folder[] = {".", NULL};

/* ---- Releases -------------------------------------------------------------------------------- */

/* Files are named by CUPTI's own releases: year, number, and the release of CUDA. */
static int release_of_year(unsigned year, unsigned number)
{
    static const uint16_t known[][3] = {
        {2022, 3, 11080}, {2022, 4, 12000}, {2023, 1, 12010}, {2023, 2, 12020},
        {2023, 3, 12030}, {2024, 1, 12040}, {2024, 2, 12050}, {2024, 3, 12060},
        {2025, 1, 12080}, {2025, 2, 12090}, {2025, 3, 13000}, {2025, 4, 13010},
        {2026, 1, 13020}, {2026, 2, 13030}, {2026, 3, 13040}, {2026, 4, 13050},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i][0] == year && known[i][1] == number)
            return known[i][2];
    return 0;
}

/* Returns the release that a file name shows, such as "libcupti.so.2024.1.0" or "libcupti.so.12"; 0
 * if none. */
static int release_of_name(const char *path)
{
    unsigned first = 0, second = 0;
    if (sscanf(tkt_base_name(path), NAME ".%u.%u", &first, &second) < 1)
        return 0;
    return first > 2000 ? release_of_year(first, second) : (int)(first * 1000 + second * 10);
}

/* Returns 12040 for 12.4, 12000 for an unknown 12.x, 0 for unknown. For a path, the file's real
 * name says most, then the toolkit's folder. */
static int release_of(const char *path)
{
    char real[PATH_MAX];
    unsigned major, minor;
    if (!strchr(path, '/') || !tkt_file_resolve(path, real, sizeof real))
        return release_of_name(path);
    int release = release_of_name(real);
    const char *toolkit = strstr(real, "/cuda-");
    if (release % 1000 == 0 && toolkit && sscanf(toolkit, "/cuda-%u.%u/", &major, &minor) == 2)
        return (int)(major * 1000 + minor * 10);
    return release ? release : release_of_name(path);
}

static bool is_newer(const tkt_cupti_search *search, int release)
{
    return search->driver_release && release > search->driver_release;
}

/* ---- Places ---------------------------------------------------------------------------------- */

/* Adds a place to the search. NULL if it is there already, or if there are too many. */
static takt_cuda_place *add_place(tkt_cupti_search *search, const char *path)
{
    for (uint32_t i = 0; i < search->count; i++)
        if (strcmp(search->places[i].path, path) == 0)
            return NULL;
    takt_cuda_place *place = &search->places[search->count];
    if (search->count == TKT_MAX_PLACES ||
        (size_t)snprintf(place->path, sizeof place->path, "%s", path) >= sizeof place->path)
        return NULL;
    search->count++;
    return place;
}

static void set_finding(takt_cuda_place *place, const char *finding)
{
    snprintf(place->finding, sizeof place->finding, "%s", finding);
}

/* The loader's message usually begins with the path. */
static void set_load_error(takt_cuda_place *place)
{
    const char *error = tkt_library_error();
    size_t length = strlen(place->path);
    if (strncmp(error, place->path, length) == 0 && strncmp(error + length, ": ", 2) == 0)
        error += length + 2;
    if (strcmp(error, "cannot open shared object file: No such file or directory") == 0)
        set_finding(place, "not there");
    else
        snprintf(place->finding, sizeof place->finding, "cannot be loaded: %.100s", error);
}

static void set_newer(const tkt_cupti_search *search, takt_cuda_place *place, int release,
                      const char *before)
{
    char minor[16] = "";
    int driver = search->driver_release;
    if (release % 1000)
        snprintf(minor, sizeof minor, ".%d", release % 1000 / 10);
    snprintf(place->finding, sizeof place->finding, "%snewer than the driver (%d%s > %d.%d)",
             before, release / 1000, minor, driver / 1000, driver % 1000 / 10);
}

static void try_to_load(tkt_cupti_search *search, takt_cuda_place *place)
{
    search->library = tkt_library_open(place->path);
    if (search->library)
        set_finding(place, "taken");
    else
        set_load_error(place);
}

static void put_aside(tkt_cupti_search *search, takt_cuda_place *place, int release)
{
    bool is_file = strchr(place->path, '/');
    set_newer(search, place, release, is_file ? "" : "not tried: ");
    search->newer[place - search->places] = release;
}

static void consider(tkt_cupti_search *search, const char *path)
{
    takt_cuda_place *place = add_place(search, path);
    int release = release_of(path);
    if (place && is_newer(search, release))
        put_aside(search, place, release);
    else if (place)
        try_to_load(search, place);
}

/* Tries the places that were put aside, oldest first: within a major release some work. */
static void try_newer(tkt_cupti_search *search)
{
    while (!search->library) {
        uint32_t oldest = TKT_MAX_PLACES;
        for (uint32_t i = 0; i < search->count; i++)
            if (search->newer[i] &&
                (oldest == TKT_MAX_PLACES || search->newer[i] < search->newer[oldest]))
                oldest = i;
        if (oldest == TKT_MAX_PLACES)
            return;
        int release = search->newer[oldest];
        search->newer[oldest] = 0;
        try_to_load(search, &search->places[oldest]);
        if (search->library)
            set_newer(search, &search->places[oldest], release, "taken, though ");
    }
}

/* ---- Where to look --------------------------------------------------------------------------- */

/* True if the folder has one of the files, even one that cannot be used. */
static bool look_in_folder(tkt_cupti_search *search, const char *folder)
{
    char path[PATH_MAX + 1 + sizeof file_names], real[PATH_MAX];
    bool is_there = false;
    for (size_t i = 0; i < sizeof file_names / sizeof *file_names && !search->library; i++) {
        bool is_bare = i + 1 == sizeof file_names / sizeof *file_names;
        snprintf(path, sizeof path, "%s/%s", folder, file_names[i]);
        if ((is_bare && is_there) || !tkt_file_resolve(path, real, sizeof real))
            continue;
        is_there = true;
        consider(search, path);
    }
    return is_there;
}

static void look_below(tkt_cupti_search *search, const char *root, const char *const *folders)
{
    char path[PATH_MAX + 32], folder[PATH_MAX];
    bool is_there = false;
    for (; *folders && !search->library; folders++) {
        snprintf(path, sizeof path, "%s/%s", root, *folders);
        if (tkt_file_resolve(path, folder, sizeof folder))
            is_there |= look_in_folder(search, folder);
    }
    takt_cuda_place *place = is_there ? NULL : add_place(search, root);
    if (place)
        set_finding(place,
                    tkt_file_resolve(root, folder, sizeof folder) ? "no libcupti" : "not there");
}

typedef struct pattern_search {
    tkt_cupti_search *search;
    const char *const *folders;
} pattern_search;

static void look_at_match(void *user, const char *root)
{
    const pattern_search *pattern = user;
    if (!pattern->search->library)
        look_below(pattern->search, root, pattern->folders);
}

static void look_at_all(tkt_cupti_search *search, const char *roots, const char *const *folders)
{
    pattern_search pattern = {search, folders};
    if (!search->library)
        tkt_file_match(roots, look_at_match, &pattern);
}

/* `rest` is appended to the variable's value. */
static void look_at_variable(tkt_cupti_search *search, const char *variable, const char *rest,
                             const char *const *folders)
{
    char roots[PATH_MAX];
    const char *value = tkt_environment(variable);
    if (value && (size_t)snprintf(roots, sizeof roots, "%s%s", value, rest) < sizeof roots)
        look_at_all(search, roots, folders);
}

/* Frameworks load libcupti by its full path. A loaded one is used even if its minor release is
 * newer than the driver's: that usually works, and a second copy would not see the first one's
 * records. */
static void look_at_loaded(tkt_cupti_search *search)
{
    char path[PATH_MAX];
    for (uint32_t i = 0; !search->library; i++) {
        if (!tkt_objects_path(NAME, i, path, sizeof path))
            return;
        int major = release_of(path) / 1000;
        takt_cuda_place *place = add_place(search, path);
        if (place && is_newer(search, major * 1000))
            put_aside(search, place, major * 1000);
        else if (place)
            try_to_load(search, place);
        if (search->library)
            set_finding(place, "taken: it is loaded already");
    }
}

/* Searches around a library: from the folder of its path and, if that is a link, from that of the
 * real file. */
static void look_beside(tkt_cupti_search *search, char *path)
{
    char real[PATH_MAX], folder[PATH_MAX];
    bool is_real = tkt_file_resolve(path, real, sizeof real);
    char *ways[] = {path, is_real ? real : NULL};
    for (size_t i = 0; i < 2 && ways[i] && !search->library; i++) {
        char *slash = strrchr(ways[i], '/');
        if (!slash)
            continue;
        *slash = '\0';
        if (tkt_file_resolve(ways[i], folder, sizeof folder))
            look_below(search, folder, beside_library);
    }
}

static void look_beside_loaded(tkt_cupti_search *search)
{
    static const char names[][12] = {"libcudart", "libnvrtc", "libcublas"};
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (uint32_t n = 0; !search->library; n++) {
            if (!tkt_objects_path(names[i], n, path, sizeof path))
                break;
            look_beside(search, path);
        }
}

static void ask_system(tkt_cupti_search *search)
{
    for (size_t i = 0; i < SONAMES && !search->library; i++)
        consider(search, file_names[i]);
}

static void look_at_usual(tkt_cupti_search *search)
{
    static const char *const toolkits[] = {"/usr/local/cuda", "/usr/local/cuda-13*",
                                           "/usr/local/cuda-12*", "/opt/cuda", NULL};
    static const char *const folders[] = {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
                                          "/usr/lib64", NULL};
    for (size_t i = 0; toolkits[i]; i++)
        look_at_all(search, toolkits[i], in_toolkit);
    for (size_t i = 0; folders[i]; i++)
        look_at_all(search, folders[i], in_folder);
}

void tkt_cupti_find(tkt_cupti_search *search, int driver_release)
{
    memset(search, 0, sizeof *search);
    search->driver_release = driver_release;
    const char *wish = tkt_environment("TAKT_CUPTI_LIBRARY");
    if (wish) {
        takt_cuda_place *place = add_place(search, wish);
        if (place)
            try_to_load(search, place);
        return;
    }
    look_at_loaded(search);
    look_beside_loaded(search);
    ask_system(search);
    look_at_variable(search, "CUDA_HOME", "", in_toolkit);
    look_at_variable(search, "CUDA_PATH", "", in_toolkit);
    look_at_variable(search, "CONDA_PREFIX", "", in_toolkit);
    look_at_variable(search, "VIRTUAL_ENV", "/lib/python3*/site-packages/nvidia", in_packages);
    look_at_usual(search);
    try_newer(search);
}
