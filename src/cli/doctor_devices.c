/* CUDA: the driver, its devices, and whether CUPTI tells what they do. */
#include "cli/doctor.h"

#include <takt/system.h>

#include <string.h>
#include <unistd.h>

/* The kernel's part of the driver is there without libcuda in containers that were started without
 * the GPU, and libcuda without it on machines where software was installed for others. */
static void look_at_driver(doctor_findings *findings, const takt_cuda_info *cuda)
{
    char module[256] = "";
    bool has_module =
        doctor_read_line("/proc/driver/nvidia/version", "NVRM version", module, sizeof module);

    if (has_module)
        doctor_tell(findings, DOCTOR_OK, "driver", NULL, "%s", module);
    if (!cuda->driver_path[0] && has_module)
        doctor_tell(findings, DOCTOR_PROBLEM, "driver",
                    "start the container with the GPU, or install the driver's libraries",
                    "the kernel has NVIDIA's driver, but libcuda.so.1 is not found");
    else if (!cuda->driver_path[0])
        doctor_tell(findings, DOCTOR_NOTE, "driver",
                    "scopes, steps and memory are recorded all the same; for a GPU install its "
                    "driver",
                    "no NVIDIA driver (libcuda.so.1)");
    else
        doctor_tell(findings, DOCTOR_OK, "driver", NULL, "%s, for CUDA up to %u.%u",
                    cuda->driver_path, cuda->driver_version / 1000,
                    cuda->driver_version % 1000 / 10);
}

static void look_at_devices(doctor_findings *findings, const takt_cuda_info *cuda)
{
    char memory[32];
    takt_cuda_device_info device;

    if (cuda->driver_path[0] && cuda->device_count == 0)
        doctor_tell(findings, DOCTOR_PROBLEM, "devices",
                    "is there a GPU, does nvidia-smi find it, does CUDA_VISIBLE_DEVICES hide it?",
                    "%s", cuda->problem);
    for (uint32_t i = 0; i < cuda->device_count; i++)
        if (takt_cuda_device(i, &device) == TAKT_OK)
            doctor_tell(findings, DOCTOR_OK, "devices", NULL,
                        "cuda:%u %s, compute capability %u.%u, %u multiprocessors, %s", i,
                        device.name, device.compute_major, device.compute_minor,
                        device.multiprocessors,
                        cli_bytes_text(memory, sizeof memory, device.memory_bytes));
}

static void look_at_cupti(doctor_findings *findings, const takt_cuda_info *cuda)
{
    if (cuda->device_count == 0)
        return;
    if (cuda->has_cupti)
        doctor_tell(findings, DOCTOR_OK, "cupti", NULL,
                    "%s, %s: kernels, copies, sets and graphs are recorded", cuda->cupti_name,
                    cuda->cupti_path);
    else
        doctor_tell(findings, DOCTOR_PROBLEM, "cupti",
                    "until then CUDA events time what the program marks with TAKT_LAUNCH", "%s%s%s",
                    cuda->cupti_path, cuda->cupti_path[0] ? ": " : "", cuda->problem);
}

/* Programs may find another one first: beside the libraries that they have loaded. */
static void look_at_search(doctor_findings *findings)
{
    takt_cuda_place place;
    for (uint32_t i = 0; takt_cuda_searched(i, &place) == TAKT_OK; i++)
        doctor_tell(findings, DOCTOR_OK, "searched", NULL, "%.340s: %s", place.path, place.finding);
}

/* Often taken for the reason why nothing is recorded, which it is not. */
static void look_at_permissions(doctor_findings *findings)
{
    char value[64];
    if (doctor_read_line("/proc/driver/nvidia/params", "RmProfilingAdminOnly:", value,
                         sizeof value))
        doctor_tell(findings, DOCTOR_OK, "permissions", NULL,
                    "RmProfilingAdminOnly is %s: it keeps users from hardware counters, which Takt "
                    "does not read; recording activities needs no permission",
                    value);
}

void doctor_look_at_devices(doctor_findings *findings)
{
    takt_cuda_info cuda = takt_cuda();
    look_at_driver(findings, &cuda);
    look_at_devices(findings, &cuda);
    look_at_cupti(findings, &cuda);
    look_at_search(findings);
    look_at_permissions(findings);
}
