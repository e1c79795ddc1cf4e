/* For programs that call a libcupti without being linked with it: its functions by name, NULL where
 * the library does not have one. */
#ifndef SIMGPU_CUPTI_CLIENT_H
#define SIMGPU_CUPTI_CLIENT_H

#include "simgpu/cupti_abi.h"

#include <dlfcn.h>
#include <string.h>

typedef struct cupti_client {
#define SIM_CLIENT_FIELD(name, parameters) int32_t(*name) parameters;
    SIM_CUPTI_FUNCTIONS(SIM_CLIENT_FIELD)
    SIM_CUPTI_FUNCTIONS_13_0(SIM_CLIENT_FIELD)
    SIM_CUPTI_FUNCTIONS_13_3(SIM_CLIENT_FIELD)
#undef SIM_CLIENT_FIELD
    void *library;
} cupti_client;

/* Opens the library; false, and dlerror() tells, without it. It is never closed. */
static inline int cupti_client_open(cupti_client *client, const char *path)
{
    client->library = dlopen(path, RTLD_NOW);
    if (!client->library)
        return 0;
    void *symbol;
#define SIM_CLIENT_FIND(name, parameters) \
    symbol = dlsym(client->library, #name); \
    memcpy(&client->name, &symbol, sizeof symbol);
    SIM_CUPTI_FUNCTIONS(SIM_CLIENT_FIND)
    SIM_CUPTI_FUNCTIONS_13_0(SIM_CLIENT_FIND)
    SIM_CUPTI_FUNCTIONS_13_3(SIM_CLIENT_FIND)
#undef SIM_CLIENT_FIND
    return 1;
}

#endif
