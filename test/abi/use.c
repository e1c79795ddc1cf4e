/* What a program does with Takt's structs, in C and in C++. Each struct lies at the end of a page,
 * and behind it there is none: whoever writes or reads past it dies. Prints what the library has
 * filled in.
 *
 *     use TRACE... >VALUES 2>STRUCTS
 *
 * check_growth.py compiles it with headers of today, and with headers in which structs have grown
 * by `takt_growth`, -DGROWN. STRUCTS are those that were filled or read, a line each. */
#ifdef __cplusplus
#include <takt/takt.hpp>
#else
#include <takt/takt.h>
#endif

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *now = "nothing"; /* the struct that was used last */

static void die(int number)
{
    (void)number;
    if (write(2, now, strlen(now)) < 0 || write(2, ": used beyond its end\n", 22) < 0)
        _exit(2);
    _exit(1);
}

static void must(bool is_so, const char *what)
{
    if (is_so)
        return;
    fprintf(stderr, "%s: %s\n", now, what);
    exit(1);
}

/* `size` bytes that end where memory ends. */
static void *room(const char *name, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t used = (size + page - 1) / page * page;
    char *memory =
        (char *)mmap(NULL, used + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    must(memory != MAP_FAILED && mprotect(memory + used, page, PROT_NONE) == 0, "no memory");
    memset(memory, 0xA5, used);
    now = name;
    return memory + used - size;
}

#define ROOM(type) ((type *)room(#type, sizeof(type)))

/* Options from their initialiser, which in C++ is a function that returns them. */
#ifdef __cplusplus
#define START(type, init) (new (room(#type, sizeof(type))) type(init))
#else
#define START(type, init) ((type *)memcpy(room(#type, sizeof(type)), &init, sizeof(type)))
#endif

/* What an older library does not know of is zeroed. */
static void seen(const char *name, const uint64_t *growth, size_t count)
{
    now = name;
    for (size_t i = 0; i < count; i++)
        must(growth[i] == 0, "is not zero where the library knows of nothing");
    fprintf(stderr, "%s\n", name);
}

#ifdef GROWN
#define SEEN(type, it) seen(#type, (it)->takt_growth, 8)
#else
#define SEEN(type, it) seen(#type, NULL, 0 * sizeof *(it))
#endif

static const char *text(const char *from)
{
    return from ? from : "(none)";
}

static takt_status print(void *user, const void *data, size_t size)
{
    (void)user;
    return fwrite(data, 1, size, stdout) == size ? TAKT_OK : TAKT_IO_ERROR;
}

static const takt_sink sink = {print, NULL};

/* ---- A trace --------------------------------------------------------------------------------- */

static void use_facts(const takt_trace *trace)
{
    const takt_facts *f = takt_trace_facts(trace);
    printf("facts %s %s %lu %lu %ld %u %u %lu %lu %d %d %lu %lu %g %g %g %lu %lu\n", f->name,
           f->backend, f->begin_ns, f->end_ns, f->realtime_offset_ns, f->process_id, f->cycle,
           f->first_step, f->step_count, f->is_partial, f->has_spans, f->span_count,
           f->activity_count, f->clock_resolution_ns, f->clock_uncertainty_ns, f->cost_ns,
           f->begun_before, f->unfinished);
    printf("%g %g %d %g %d %lu %lu %lu %u %u\n", f->device_uncertainty_ns, f->device_resolution_ns,
           f->device_uncertainty_is_least, f->device_shift_ns, f->ending, f->known_until_ns,
           f->missing_spans, f->missing_activities, f->rank, f->world_size);
    fprintf(stderr, "takt_facts\n");
    for (int i = 0; i < TAKT_LOSS_COUNT && takt_loss_name((takt_loss)i); i++)
        printf("loss %s %s %lu\n", takt_loss_name((takt_loss)i), takt_loss_text((takt_loss)i),
               takt_trace_loss(trace, (takt_loss)i));
    int known = 0;
    while (takt_loss_name((takt_loss)known))
        known++;
    fprintf(stderr, "%d losses\n", known);
}

static void use_args(const takt_trace *trace, size_t track, size_t span)
{
    takt_arg_info *it = ROOM(takt_arg_info);
    for (size_t i = 0; takt_trace_arg(trace, track, span, i, it) == TAKT_OK; i++) {
        SEEN(takt_arg_info, it);
        printf("arg %s %d %ld %lu %g %s\n", it->key, it->kind, it->i, it->u, it->d, it->text);
    }
}

static void use_spans(const takt_trace *trace, size_t track)
{
    takt_span_info *it = ROOM(takt_span_info);
    for (size_t i = 0; takt_trace_span(trace, track, i, it) == TAKT_OK && i < 100; i++) {
        SEEN(takt_span_info, it);
        printf("span %s %s %s %u %u %lu %lu %zu %s %u\n", it->name, it->category, it->file,
               it->line, it->flags, it->begin_ns, it->end_ns, it->parent, it->device, it->filter);
        use_args(trace, track, i);
    }
}

static void use_tracks(const takt_trace *trace)
{
    takt_track_info *it = ROOM(takt_track_info);
    for (size_t i = 0; takt_trace_track(trace, i, it) == TAKT_OK; i++) {
        SEEN(takt_track_info, it);
        printf("track %d %s %u %zu\n", it->kind, it->name, it->thread_id, it->span_count);
        use_spans(trace, i);
    }
}

static void print_activity(const takt_activity *it)
{
    printf("activity %s %s %u %u %g %lu %lu %s %u %u %u %s %s %lu %lu %lu %u %u %u\n", it->device,
           it->name, it->filter, it->thread, it->elapsed_ms, it->begin_ns, it->end_ns,
           text(it->scope), it->stream, it->context, it->correlation, it->full_name, it->launch,
           it->launch_begin_ns, it->launch_end_ns, it->bytes, it->copy_kind, it->source_memory,
           it->target_memory);
    for (int i = 0; i < 3; i++)
        printf("%u %u %u, ", it->grid[i], it->block[i], it->cluster[i]);
    printf("%u %u %u %u %g %u %lu %zu %zu %zu %u %u\n", it->registers, it->static_shared_bytes,
           it->dynamic_shared_bytes, it->local_bytes, it->occupancy, it->graph, it->graph_node,
           it->track, it->scope_span, it->launch_span, it->occupancy_limit, it->graph_node_count);
}

static void use_activities(const takt_trace *trace)
{
    takt_activity *it = ROOM(takt_activity);
    for (size_t i = 0; takt_trace_activity(trace, i, it) == TAKT_OK; i++) {
        SEEN(takt_activity, it);
        print_activity(it);
    }
}

static void use_devices(const takt_trace *trace)
{
    takt_device_info *it = ROOM(takt_device_info);
    for (size_t i = 0; takt_trace_device(trace, i, it) == TAKT_OK; i++) {
        SEEN(takt_device_info, it);
        takt_peak peak = takt_trace_peak(trace, it->device);
        printf("device %s %s %u %u %u %lu %g %g\n", it->device, it->name, it->compute_major,
               it->compute_minor, it->multiprocessors, it->memory_bytes, peak.flops,
               peak.bandwidth);
    }
}

static void use_steps(const takt_trace *trace)
{
    takt_step_info *it = ROOM(takt_step_info);
    for (size_t i = 0; takt_trace_step(trace, i, it) == TAKT_OK; i++) {
        SEEN(takt_step_info, it);
        printf("step %lu %lu %lu\n", it->number, it->begin_ns, it->end_ns);
    }
    takt_all_steps *all = ROOM(takt_all_steps);
    takt_trace_all_steps(trace, all);
    SEEN(takt_all_steps, all);
    printf("steps %lu %lu %lu %lu %lu %lu %g\n", all->count, all->total_ns, all->min_ns,
           all->median_ns, all->p99_ns, all->max_ns, all->simulated_seconds);
}

static void use_calls(const takt_trace *trace)
{
    takt_call_info *it = ROOM(takt_call_info);
    for (size_t i = 0; takt_trace_call(trace, i, it) == TAKT_OK; i++) {
        SEEN(takt_call_info, it);
        printf("call %zu %zu %u %d\n", it->track, it->span, it->correlation, it->result);
    }
}

static void use_nodes(const takt_trace *trace)
{
    takt_node_info *node = ROOM(takt_node_info);
    for (size_t i = 0; takt_trace_node(trace, i, node) == TAKT_OK; i++) {
        SEEN(takt_node_info, node);
        printf("node %s %zu %u %lu %lu %g\n", node->name, node->parent, node->depth,
               node->durations.count, node->self_ns, node->flops);
    }
    takt_sum_info *sum = ROOM(takt_sum_info);
    if (takt_trace_sum(trace, 0, sum) == TAKT_OK)
        SEEN(takt_sum_info, sum);
}

static void use_events(const takt_trace *trace)
{
    takt_counter_info *counter = ROOM(takt_counter_info);
    for (size_t i = 0; takt_trace_counter(trace, i, counter) == TAKT_OK; i++) {
        SEEN(takt_counter_info, counter);
        printf("counter %s %lu %g\n", counter->name, counter->time_ns, counter->value);
    }
    takt_mark_info *mark = ROOM(takt_mark_info);
    for (size_t i = 0; takt_trace_mark(trace, i, mark) == TAKT_OK; i++) {
        SEEN(takt_mark_info, mark);
        printf("mark %s %lu %zu\n", mark->name, mark->time_ns, mark->track);
    }
    takt_wait_info *wait = ROOM(takt_wait_info);
    for (size_t i = 0; takt_trace_wait(trace, i, wait) == TAKT_OK; i++) {
        SEEN(takt_wait_info, wait);
        printf("wait %lu %lu %d %u %u %u\n", wait->begin_ns, wait->end_ns, wait->kind,
               wait->correlation, wait->context, wait->stream);
    }
}

static void use_memory(const takt_trace *trace)
{
    takt_memory_info *it = ROOM(takt_memory_info);
    for (size_t i = 0; takt_trace_memory(trace, i, it) == TAKT_OK; i++) {
        SEEN(takt_memory_info, it);
        printf("memory %lu %lu %ld %s %s %u %u %d %zu %zu\n", it->time_ns, it->address, it->bytes,
               it->device, text(it->scope), it->kind, it->thread, it->is_pool, it->track, it->span);
    }
    takt_memory_totals *all = ROOM(takt_memory_totals);
    for (size_t i = 0; takt_trace_memory_totals(trace, i, all) == TAKT_OK; i++) {
        SEEN(takt_memory_totals, all);
        const takt_memory_period *period[] = {&all->recording, &all->since_start};
        for (int k = 0; k < 2; k++)
            printf("period %lu %lu %lu %lu %lu %lu\n", period[k]->begin_bytes,
                   period[k]->peak_bytes, period[k]->peak_ns, period[k]->allocations,
                   period[k]->frees, period[k]->unmatched_frees);
        printf("totals %s %lu %lu %lu %lu %lu\n", all->device, all->current_bytes, all->free_bytes,
               all->capacity_bytes, all->pool_bytes, all->pool_used_bytes);
    }
}

static void use_stacks(const takt_trace *trace)
{
    takt_frame_info *it = ROOM(takt_frame_info);
    for (size_t stack = 0; stack < takt_trace_count(trace, TAKT_TRACE_STACKS); stack++)
        for (size_t i = 0; takt_trace_frame(trace, stack, i, it) == TAKT_OK; i++) {
            SEEN(takt_frame_info, it);
            printf("frame %s %s %lu %s %u %d\n", it->function, it->module, it->offset, it->file,
                   it->line, it->is_inline);
        }
}

static void use_reports(const takt_trace *trace)
{
    takt_report_options *how = START(takt_report_options, TAKT_REPORT_OPTIONS_INIT);
    SEEN(takt_report_options, how);
    how->format = TAKT_FORMAT_CSV;
    how->sort = "-self_cpu_ns";
    how->rows = 9;
    how->by_arguments = how->with_flops = how->all = true;
    must(takt_report(trace, "scopes", how, &sink) == TAKT_OK, "no report");
    how->format = TAKT_FORMAT_TEXT;
    how->sort = NULL;
    how->width = 100;
    how->width_key = "a width of ";
    must(takt_report(trace, "scopes", how, &sink) == TAKT_OK, "no table");
    how->struct_size = 0;
    must(takt_report(trace, "scopes", how, &sink) == TAKT_BAD_ARGUMENT, "takes no size");
}

static void use_exports(const takt_trace *trace)
{
    takt_export_options *how = START(takt_export_options, TAKT_EXPORT_OPTIONS_INIT);
    takt_error *error = ROOM(takt_error);
    SEEN(takt_export_options, how);
    how->gzip = true;
    now = "takt_export_options";
    must(takt_export_file(trace, "folded", "use.folded", how, error) == TAKT_OK, "no file");
    FILE *file = fopen("use.folded", "rb");
    must(file && fgetc(file) == 0x1f && fgetc(file) == 0x8b, "not packed");
    fclose(file);
    must(takt_export_file(trace, "none", "use.none", how, error) != TAKT_OK, "a file of none");
    printf("error %d %u %u %s\n", error->status, error->line, error->column, error->message);
}

static void use_trace(const char *path)
{
    takt_trace *trace = NULL;
    must(takt_trace_open(path, &trace, NULL) == TAKT_OK, path);
    use_facts(trace);
    use_tracks(trace);
    use_activities(trace);
    use_devices(trace);
    use_steps(trace);
    use_calls(trace);
    use_events(trace);
    use_nodes(trace);
    use_memory(trace);
    use_stacks(trace);
    use_reports(trace);
    use_exports(trace);
    takt_trace_release(trace);
}

/* ---- A recording ----------------------------------------------------------------------------- */

static void work(void)
{
    TAKT_ACTIVITY("cpu", TAKT_TIMING_KERNEL, "density");
    TAKT_SCOPE_IN("physics", TAKT_LEVEL_FINE, "fine");
    TAKT_ARG("cells", 7);
}

static void use_timing(void)
{
    takt_timing_options *how = START(takt_timing_options, TAKT_TIMING_OPTIONS_INIT);
    takt_timing *timing = NULL;
    SEEN(takt_timing_options, how);
    how->filter = TAKT_TIMING_KERNEL;
    must(takt_timing_begin(how, &timing) == TAKT_OK, "does not begin");
    for (int i = 0; i < 3; i++)
        work();
    {
        TAKT_ACTIVITY("cpu", TAKT_TIMING_MEMSET, "clear");
    }
    must(takt_timing_end(timing) == TAKT_OK, "does not end");
    for (size_t i = 0; i < takt_timing_count(timing); i++) {
        const takt_activity *it = takt_timing_at(timing, i);
        printf("timed %s %s %u %zu %u\n", it->device, it->name, it->filter, it->launch_span,
               it->graph_node_count);
    }
    takt_timing_free(timing);
}

static void look(const takt_trace *trace, void *user)
{
    takt_span_info span;
    const takt_facts *facts = takt_trace_facts(trace);
    printf("%s: cycle %u of %s, rank %u of %u, %lu steps, %lu spans\n", (const char *)user,
           facts->cycle, facts->name, facts->rank, facts->world_size, facts->step_count,
           facts->span_count);
    for (size_t i = 0; takt_trace_span(trace, 0, i, &span) == TAKT_OK; i++)
        printf("%s, %zu arguments\n", span.name, takt_trace_arg_count(trace, 0, i));
}

/* With options in all parts of the struct, the last field included. */
static void use_profiler(void)
{
    static const takt_category_switch off = {"physics", false};
    takt_profiler_options *how = START(takt_profiler_options, TAKT_PROFILER_OPTIONS_INIT);
    takt_profiler *profiler = NULL;
    SEEN(takt_profiler_options, how);
    how->schedule.wait = 1;
    how->schedule.active = 2;
    how->schedule.repeat = 2;
    how->name = "grown";
    how->on_trace = look;
    how->user = (void *)"profiler";
    how->level = TAKT_LEVEL_FINE;
    how->background = TAKT_OFF;
    how->record_shapes = TAKT_OFF;
    how->categories = &off;
    how->category_count = 1;
    how->max_memory_bytes = 1 << 20;
    how->rank = 3;
    how->world_size = 8;
    how->crash_safe = true;
    must(takt_profiler_create(how, &profiler) == TAKT_OK, "is not taken");
    takt_profiler_start(profiler);
    for (int i = 0; i < 6; i++) {
        work();
        takt_profiler_step(profiler);
    }
    must(takt_profiler_stop(profiler) == TAKT_OK, "does not stop");
    takt_profiler_destroy(profiler);
    takt_options_init(how, sizeof *how);
    must(how->struct_size == sizeof *how && !how->crash_safe, "is not cleared");
}

static void use_config(void)
{
    static const char yaml[] = "profiling: {wait: 1, active: 2, repeat: 1, level: 3, rank: 1, "
                               "world_size: 2, peak_flops: 5T}\nreports: [scopes]\n"
                               "output: {directory: ., crash_safe: true, traces: []}\n";
    takt_config *config = NULL;
    takt_error *error = ROOM(takt_error);
    takt_profiler_options *it = ROOM(takt_profiler_options);
    if (takt_config_parse(yaml, sizeof yaml - 1, "yaml", &config, error) != TAKT_OK)
        must(false, error->message);
    must(takt_config_options(config, it) == TAKT_OK, "is not filled");
    SEEN(takt_profiler_options, it);
    must(it->struct_size == sizeof *it, "has another size");
    printf("config %u %u %u %u %s %g %u %u %d %s\n", it->schedule.wait, it->schedule.active,
           it->schedule.repeat, it->level, it->reports[0], it->peak_flops, it->rank, it->world_size,
           it->crash_safe, it->directory);
    it->on_trace = look;
    it->user = (void *)"config";
    takt_profiler *profiler = NULL;
    must(takt_profiler_create(it, &profiler) == TAKT_OK, "is not taken");
    takt_profiler_destroy(profiler);
    takt_config_destroy(config);
}

static void use_timers(void)
{
    double ms = -1;
    takt_timer_options *how = ROOM(takt_timer_options);
    takt_timer *timer = ROOM(takt_timer);
    takt_options_init(how, sizeof *how);
    SEEN(takt_timer_options, how);
    how->silent = true;
    how->elapsed_ms = &ms;
    must(takt_timer_begin(timer, "timer", how), "does not run");
    must(takt_timer_end(timer) == ms, "tells another time");

    uint64_t rounds = 0;
    takt_timed_options *many = ROOM(takt_timed_options);
    takt_timed *result = ROOM(takt_timed);
    takt_options_init(many, sizeof *many);
    SEEN(takt_timed_options, many);
    many->repeat = 3;
    many->warmup = 2;
    takt_timed_loop loop = takt_timed_begin(result, sizeof *result, many);
    while (takt_timed_next(&loop))
        rounds++;
    takt_timed_end(&loop);
    SEEN(takt_timed, result);
    printf("timed %lu rounds, %lu count, %d %d %g\n", rounds, result->count, result->min_ns >= 0,
           result->is_device_work, result->bytes_per_second);
}

/* ---- This machine ---------------------------------------------------------------------------- */

static void use_system(void)
{
    takt_system_info *system = ROOM(takt_system_info);
    takt_system_v1(system, sizeof *system);
    SEEN(takt_system_info, system);
    printf("system %s %d, %s\n", system->clock, system->clock_resolution_ns > 0,
           takt_system().clock);
    takt_memory *memory = ROOM(takt_memory);
    takt_memory_allocated(memory, 300);
    takt_memory_freed(memory);
    takt_memory_allocated(memory, 100);
    must(takt_memory_query("host", memory) == TAKT_OK, "is not filled");
    SEEN(takt_memory, memory);
    printf("memory %lu %lu %d %lu %lu %lu %lu %lu\n", memory->current_bytes, memory->peak_bytes,
           memory->peak_time_ns > 0, memory->allocations, memory->frees, memory->unmatched_frees,
           memory->free_bytes, memory->capacity_bytes);
}

static void use_cuda(void)
{
    takt_cuda_info *cuda = ROOM(takt_cuda_info);
    takt_cuda_v1(cuda, sizeof *cuda);
    SEEN(takt_cuda_info, cuda);
    printf("cuda %u %d %u %u %s %d %s %s %s\n", cuda->driver_version, cuda->driver_status,
           cuda->device_count, cuda->cupti_version, cuda->cupti_name, cuda->has_cupti,
           cuda->driver_path, cuda->cupti_path, cuda->problem);
    must(takt_cuda().device_count == cuda->device_count, "by value, it is another one");
    takt_cuda_place *place = ROOM(takt_cuda_place);
    for (uint32_t i = 0; takt_cuda_searched(i, place) == TAKT_OK; i++) {
        SEEN(takt_cuda_place, place);
        printf("place %s %s\n", place->path, place->finding);
    }
    takt_cuda_device_info *device = ROOM(takt_cuda_device_info);
    for (uint32_t i = 0; takt_cuda_device(i, device) == TAKT_OK; i++) {
        SEEN(takt_cuda_device_info, device);
        printf("device %s %u %u %u %lu\n", device->name, device->compute_major,
               device->compute_minor, device->multiprocessors, device->memory_bytes);
    }
}

static void use_device_timers(void)
{
    static const char *const names[] = {"one", "two"};
    takt_device_timers_options *how =
        START(takt_device_timers_options, TAKT_DEVICE_TIMERS_OPTIONS_INIT);
    takt_device_timers *timers = NULL;
    SEEN(takt_device_timers_options, how);
    how->on_host = how->always = true;
    how->blocks = 3;
    how->ns_per_cycle = 2;
    must(takt_device_timers_create(names, 2, how, &timers) == TAKT_OK, "no timers");
    must(takt_device_timers_view(timers).segments == 3, "not the blocks that were asked for");
    takt_device_timers_destroy(timers);
    how->struct_size = 0;
    must(takt_device_timers_create(names, 2, how, &timers) == TAKT_BAD_ARGUMENT, "takes no size");
}

int main(int argc, char **argv)
{
    signal(SIGSEGV, die);
    signal(SIGBUS, die);
    for (int i = 1; i < argc; i++)
        use_trace(argv[i]);
    use_timing();
    use_profiler();
    use_config();
    use_timers();
    use_system();
    use_cuda();
    use_device_timers();
    return 0;
}
