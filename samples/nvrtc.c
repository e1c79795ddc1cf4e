/* NVRTC: compiles a kernel while the program runs, and shows where the compiler's time went. Needs
 * no GPU: without one the program stops when it has PTX.
 *
 * NVRTC is opened with dlopen(), so this builds without a CUDA toolkit and says what is missing.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <takt/takt.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

/* What nvrtc.h and cuda.h declare. */
typedef struct nvrtc_program *program;
static int (*version_of)(int *major, int *minor);
static int (*create)(program *out, const char *source, const char *name, int headers,
                     const char *const *texts, const char *const *names);
static int (*compile_program)(program of, int count, const char *const *options);
static int (*log_bytes)(program of, size_t *bytes);
static int (*get_log)(program of, char *log);
static int (*ptx_bytes)(program of, size_t *bytes);
static int (*destroy)(program *of);

static const char source[] =
    "template<int N> __device__ float horner(float x) { return horner<N - 1>(x) * x + N; }\n"
    "template<> __device__ float horner<0>(float x) { return x; }\n"
    "extern \"C\" __global__ void advance(float *x, int n)\n"
    "{\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < n)\n"
    "        x[i] = horner<40>(x[i]);\n"
    "}\n";

static int find(void *library, const char *name, void *out)
{
    *(void **)out = dlsym(library, name);
    if (!*(void **)out)
        fprintf(stderr, "this NVRTC has no %s\n", name);
    return *(void **)out != NULL;
}

static int load_nvrtc(void)
{
    static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so",
                                        "/usr/local/cuda/lib64/libnvrtc.so"};
    void *library = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++)
        library = dlopen(names[i], RTLD_NOW);
    if (!library)
        fprintf(stderr, "no libnvrtc: install CUDA's runtime compiler (package cuda-nvrtc), or add "
                        "its folder to LD_LIBRARY_PATH\n");
    return library && find(library, "nvrtcVersion", &version_of) &&
           find(library, "nvrtcCreateProgram", &create) &&
           find(library, "nvrtcCompileProgram", &compile_program) &&
           find(library, "nvrtcGetProgramLogSize", &log_bytes) &&
           find(library, "nvrtcGetProgramLog", &get_log) &&
           find(library, "nvrtcGetPTXSize", &ptx_bytes) &&
           find(library, "nvrtcDestroyProgram", &destroy);
}

/* NVRTC writes time traces since 12.8, and refuses the option before. */
static int has_time_trace(void)
{
    int major = 0, minor = 0;
    version_of(&major, &minor);
    if (major * 100 + minor < 1208)
        printf("NVRTC %d.%d shows no phases; 12.8 does\n", major, minor);
    return major * 100 + minor >= 1208;
}

static void print_log(program of)
{
    size_t bytes = 0;
    log_bytes(of, &bytes);
    char *text = calloc(bytes + 1, 1);
    if (text && get_log(of, text) == 0)
        fprintf(stderr, "%s\n", text);
    free(text);
}

/* Compiles to PTX; returns its size, 0 after a failure. */
static size_t compile(const char *unit)
{
    size_t bytes = 0;
    program of = NULL;
    if (create(&of, source, unit, 0, NULL, NULL) != 0)
        return 0;
    takt_compile *timed = takt_compile_begin(unit);
    const char *trace = has_time_trace() ? takt_compile_option(timed) : NULL;
    const char *options[] = {"--gpu-architecture=compute_80", trace};
    int result = compile_program(of, trace ? 2 : 1, options);
    takt_compile_end(timed);
    if (result != 0)
        print_log(of);
    else
        ptx_bytes(of, &bytes);
    destroy(&of);
    return bytes;
}

int main(void)
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    takt_profiler *profiler = NULL;
    options.reports = (const char *const[]){"compile"};
    options.report_count = 1;
    options.traces = (const char *const[]){"perfetto"};
    options.trace_count = 1;
    options.directory = "runs/nvrtc";
    if (!load_nvrtc())
        return 2;
    takt_profiler_create(&options, &profiler);
    takt_profiler_start(profiler);
    size_t bytes;
    {
        TAKT_SCOPE("compile at run time");
        bytes = compile("advance.cu");
    }
    takt_profiler_stop(profiler); /* prints the table, writes runs/nvrtc/nvrtc.0.pftrace */
    takt_profiler_destroy(profiler);
    takt_cuda_info cuda = takt_cuda();
    printf("%zu bytes of PTX; %s\n", bytes,
           cuda.device_count ? "load them with cuModuleLoadData()" : "no GPU to load them on");
    return bytes > 0 ? 0 : 1;
}
