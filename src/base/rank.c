/* Which of several processes this one is, as MPI's launchers, Slurm and torchrun tell the processes
 * that they start. Asked of the environment: Takt is not linked with any of them, and a program may
 * be profiled before it calls MPI_Init(). */
#include "base/file.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct launcher {
    const char *rank;
    const char *size;
} launcher;

/* The first that is complete counts. Launchers that others start stand first: mpirun may run in a
 * job of Slurm's, and torchrun under either. */
static const launcher launchers[] = {
    {"RANK", "WORLD_SIZE"},                           /* torchrun */
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, /* Open MPI */
    {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},   /* MVAPICH2 */
    {"PMI_RANK", "PMI_SIZE"},                         /* MPICH, Intel MPI, Cray MPICH */
    {"PMIX_RANK", "PMIX_SIZE"},                       /* prun, which has no variable for the size */
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},
    {"SLURM_PROCID", "SLURM_NTASKS"},
};

#define LAUNCHER_COUNT (sizeof launchers / sizeof *launchers)

static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint32_t the_rank, the_size;

/* A decimal number and nothing else; false otherwise. */
static bool read_number(const char *name, uint32_t *out)
{
    const char *text = tkt_environment(name);
    char *end;
    if (!text || *text < '0' || *text > '9')
        return false;
    unsigned long long number = strtoull(text, &end, 10);
    *out = (uint32_t)number;
    return *end == '\0' && number < UINT32_MAX;
}

static bool read_launcher(const launcher *from, bool needs_size)
{
    uint32_t rank, size = 0;
    if (!read_number(from->rank, &rank))
        return false;
    bool has_size = read_number(from->size, &size) && rank < size;
    if (needs_size && !has_size)
        return false;
    the_rank = rank;
    the_size = has_size ? size : 0;
    return true;
}

static void ask(void)
{
    bool is_found = false;
    for (size_t i = 0; i < LAUNCHER_COUNT && !is_found; i++)
        is_found = read_launcher(&launchers[i], true);
    for (size_t i = 0; i < LAUNCHER_COUNT && !is_found; i++)
        is_found = read_launcher(&launchers[i], false);
}

void tkt_rank(uint32_t *rank, uint32_t *size)
{
    pthread_once(&once, ask);
    *rank = the_rank;
    *size = the_size;
}

void tkt_rank_text(char text[TKT_RANK_BYTES], uint32_t rank, uint32_t size)
{
    text[0] = '\0';
    if (size > 1 || rank > 0)
        snprintf(text, TKT_RANK_BYTES, ".rank%u", rank);
}
