/* Makes Takt load the stand-in for CUPTI that lies beside the stand-in for the driver. Sanitizers
 * load libraries for the program, so that the program's own run path is not looked at. */
#ifndef TEST_STAND_IN_H
#define TEST_STAND_IN_H

#include "simgpu/driver.h"
#include "support/settle.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Before the first window. */
static inline void use_stand_in(const char *options)
{
    Dl_info driver;
    char path[4096];
    be_patient();
    setenv("TAKT_SIM", options, 1);
    if (!dladdr((void *)(uintptr_t)cuInit, &driver) || !strrchr(driver.dli_fname, '/'))
        return;
    int folder = (int)(strrchr(driver.dli_fname, '/') - driver.dli_fname);
    snprintf(path, sizeof path, "%.*s/libcupti.so.13", folder, driver.dli_fname);
    setenv("TAKT_CUPTI_LIBRARY", path, 0);
}

#endif
