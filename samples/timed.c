/* A timed call: y += a x, how long a call takes, how near it comes to the machine's peak, and what
 * it needs of the device's memory. Computes on the first CUDA device if there is a driver, which
 * compiles the kernel from PTX during the first call, and otherwise on the host.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <takt/takt.h>

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT  (1 << 20)
#define BLOCK  256
#define REPEAT 20
#define WARMUP 2

/* ---- The driver, without its headers and without linking to it --------------------------------
 */

#define DRIVER(X)                                                                                  \
    X(cuInit, (unsigned flags))                                                                    \
    X(cuDeviceGet, (int *device, int ordinal))                                                     \
    X(cuDevicePrimaryCtxRetain, (void **context, int device))                                      \
    X(cuCtxSetCurrent, (void *context))                                                            \
    X(cuModuleLoadData, (void **module, const void *image))                                        \
    X(cuModuleGetFunction, (void **function, void *module, const char *name))                      \
    X(cuMemAlloc_v2, (uint64_t * memory, size_t bytes))                                            \
    X(cuMemFree_v2, (uint64_t memory))                                                             \
    X(cuMemcpyHtoD_v2, (uint64_t to, const void *from, size_t bytes))                              \
    X(cuMemcpyDtoH_v2, (void *to, uint64_t from, size_t bytes))                                    \
    X(cuLaunchKernel, (void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,          \
                       unsigned block_x, unsigned block_y, unsigned block_z,                       \
                       unsigned shared_bytes, void *stream, void **arguments, void **extra))

#define DECLARE(name, parameters) static int(*name) parameters;
DRIVER(DECLARE)

static const char ptx[] = ".version 6.4\n.target sm_75\n.address_size 64\n"
                          ".visible .entry saxpy(.param .u64 Y, .param .u64 X, .param .f32 A)\n"
                          "{\n"
                          "    .reg .b32 %block, %size, %thread, %i;\n"
                          "    .reg .b64 %x, %y, %offset;\n"
                          "    .reg .f32 %a, %from, %to;\n"
                          "    mov.u32 %block, %ctaid.x;\n"
                          "    mov.u32 %size, %ntid.x;\n"
                          "    mov.u32 %thread, %tid.x;\n"
                          "    mad.lo.u32 %i, %block, %size, %thread;\n"
                          "    mul.wide.u32 %offset, %i, 4;\n"
                          "    ld.param.u64 %x, [X];\n"
                          "    ld.param.u64 %y, [Y];\n"
                          "    ld.param.f32 %a, [A];\n"
                          "    add.u64 %x, %x, %offset;\n"
                          "    add.u64 %y, %y, %offset;\n"
                          "    ld.global.f32 %from, [%x];\n"
                          "    ld.global.f32 %to, [%y];\n"
                          "    fma.rn.f32 %to, %a, %from, %to;\n"
                          "    st.global.f32 [%y], %to;\n"
                          "    ret;\n"
                          "}\n";

static void check(int result, const char *what)
{
    if (result == 0)
        return;
    fprintf(stderr, "%s failed: %d\n", what, result);
    exit(1);
}

/* False without a driver or a device. */
static bool find_device(void)
{
    int device;
    void *context, *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library)
        return false;
#define FIND(name, parameters)                                                                     \
    if (!(*(void **)&name = dlsym(library, #name)))                                                \
        return false;
    DRIVER(FIND)
    if (cuInit(0) != 0 || cuDeviceGet(&device, 0) != 0)
        return false;
    check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    return true;
}

/* ---- The call -------------------------------------------------------------------------------- */

static float x[COUNT], y[COUNT];
static uint64_t device_y;
static const float a = 0.5f;

static void saxpy_on_host(void)
{
    for (int i = 0; i < COUNT; i++)
        y[i] += a * x[i];
}

/* Copies x into memory that it allocates and frees; the first call compiles the kernel. */
static void saxpy_on_device(void)
{
    static void *kernel;
    uint64_t device_x;
    float factor = a;
    if (!kernel) {
        void *module;
        check(cuModuleLoadData(&module, ptx), "cuModuleLoadData");
        check(cuModuleGetFunction(&kernel, module, "saxpy"), "cuModuleGetFunction");
    }
    check(cuMemAlloc_v2(&device_x, sizeof x), "cuMemAlloc");
    check(cuMemcpyHtoD_v2(device_x, x, sizeof x), "cuMemcpyHtoD");
    void *arguments[] = {&device_y, &device_x, &factor};
    check(cuLaunchKernel(kernel, COUNT / BLOCK, 1, 1, BLOCK, 1, 1, 0, NULL, arguments, NULL),
          "cuLaunchKernel");
    check(cuMemFree_v2(device_x), "cuMemFree");
}

int main(void)
{
    takt_timed result;
    bool has_device = find_device();
    for (int i = 0; i < COUNT; i++)
        x[i] = (float)(i % 8);
    if (has_device) {
        check(cuMemAlloc_v2(&device_y, sizeof y), "cuMemAlloc");
        check(cuMemcpyHtoD_v2(device_y, y, sizeof y), "cuMemcpyHtoD");
    }
    TAKT_TIMED(&result, .repeat = REPEAT, .warmup = WARMUP, .precision = "fp32",
               .reports = has_device ? "kernels, ops" : "ops") {
        TAKT_SCOPE("saxpy");
        TAKT_WORK(2.0 * COUNT, 3.0 * sizeof x);
        if (has_device)
            saxpy_on_device();
        else
            saxpy_on_host();
    }
    takt_timed_print(&result);
    if (has_device)
        check(cuMemcpyDtoH_v2(y, device_y, sizeof y), "cuMemcpyDtoH");
    if (has_device && y[1] == 0) {
        printf("The device computes nothing (is it simulated?): results are not checked.\n");
        return 0;
    }
    return y[COUNT - 1] == 7 * a * (REPEAT + WARMUP) ? 0 : 1;
}
