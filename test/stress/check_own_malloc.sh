#!/bin/bash
# A program whose malloc() is its own and reports each block: what Takt, the C library, zlib and libyaml
# allocate for Takt's work is not the program's memory. What on_trace allocates is.
. "${0%/*}/../support/lib_script.sh"
need "${CC:-cc}"
cd "$scratch" || exit 1
cat >program.c <<'END'
#include <takt/takt.h>
#include <stdio.h>
#include <stdlib.h>
extern void *__libc_malloc(size_t), __libc_free(void *), *__libc_realloc(void *, size_t), *__libc_calloc(size_t, size_t);
void *malloc(size_t n) { void *p = __libc_malloc(n); takt_memory_allocated(p, n); return p; }
void free(void *p) { takt_memory_freed(p); __libc_free(p); }
void *calloc(size_t a, size_t b) { void *p = __libc_calloc(a, b); takt_memory_allocated(p, a * b); return p; }
void *realloc(void *old, size_t n)
{
    takt_memory_freed(old);
    void *p = __libc_realloc(old, n);
    takt_memory_allocated(p, n);
    return p;
}
static void *volatile kept[64];
static unsigned mine;
static void keep(void) { kept[mine++] = malloc(1000); }
static void on_trace(const takt_trace *trace, void *user)
{
    (void)trace;
    (void)user;
    keep();
}
int main(void)
{
    takt_memory before, after;
    takt_error error;
    takt_config *config = NULL;
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    takt_profiler *profiler = NULL;
    takt_memory_query("host", &before);
    if (takt_config_create(&config, &error) != TAKT_OK || takt_config_options(config, &options) != TAKT_OK)
        return 1;
    options.on_trace = on_trace;
    if (takt_profiler_create(&options, &profiler) != TAKT_OK || takt_profiler_start(profiler) != TAKT_OK)
        return 1;
    for (int i = 0; i < 20; i++) {
        TAKT_SCOPE("work");
        keep();
        TAKT_COUNTER("n", i);
        takt_profiler_step(profiler);
    }
    takt_profiler_stop(profiler);
    takt_profiler_destroy(profiler);
    takt_config_destroy(config);
    takt_memory_query("host", &after);
    printf("%ld of %ld bytes\n", (long)(after.current_bytes - before.current_bytes), 1000L * mine);
    return after.current_bytes - before.current_bytes != 1000 * mine;
}
END
compile -O1 program.c -o program || exit 1
echo 'profiling: {wait: 1, warmup: 1, active: 3, repeat: 2}
reports: [summary, scopes, tree, memory, threads, counters, steps]' >takt.yaml

count=0
for mode in trace summary both flight; do
    for background in true false; do
        for stream in true false; do
            rm -rf files
            errors=$(TAKT_CONFIG=takt.yaml TAKT_OPTIONS="profiling.mode=$mode profiling.background=$background output.stream=$stream
                output.directory=files output.traces=perfetto,chrome,folded,tensorboard output.announce=false" \
                ./program 2>&1 >tables) || fail "mode $mode, background $background, stream $stream: $(tail -n 1 tables) $errors"
            count=$((count + 1))
        done
    done
done
finish "the program's memory alone in $count runs"
