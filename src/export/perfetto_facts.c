/* Head and end of a Perfetto file: facts about the recording, its folded form, and losses. */
#include "export/perfetto.h"

#include <stdio.h>
#include <string.h>

/* ---- Opening and closing --------------------------------------------------------------------- */

/* The first packet contains only Takt's format: seven bytes by which readers recognise the file. */
static void put_format(tkt_perfetto *file)
{
    tkt_message_clear(&file->message);
    size_t mark = tkt_message_begin(&file->message, TKT_PF_PACKET_TAKT);
    tkt_message_uint(&file->message, TKT_PF_TAKT_FORMAT, TKT_PF_FORMAT);
    tkt_message_end(&file->message, mark);
    tkt_perfetto_packet_write(file);
}

/* Writes the place for the reason why the file was not written on. */
static void put_stopped(tkt_perfetto *file)
{
    tkt_message_clear(&file->message);
    size_t mark = tkt_message_begin(&file->message, TKT_PF_PACKET_TAKT);
    tkt_message_uint(&file->message, TKT_PF_TAKT_STOPPED, file->trace->stopped_by);
    tkt_message_end(&file->message, mark);
    tkt_perfetto_packet_write(file);
}

static void put_process(tkt_perfetto *file)
{
    const takt_trace *trace = file->trace;
    tkt_message *packet = tkt_perfetto_packet(file, 0);
    size_t track = tkt_message_begin(packet, TKT_PF_PACKET_TRACK);
    tkt_message_uint(packet, TKT_PF_TRACK_UUID, TKT_PERFETTO_PROCESS_UUID);
    tkt_message_uint(packet, TKT_PF_TRACK_CHILD_ORDER, 3);
    size_t process = tkt_message_begin(packet, TKT_PF_TRACK_PROCESS);
    tkt_message_uint(packet, TKT_PF_PROCESS_PID,
                     trace->facts.process_id ? trace->facts.process_id : 1);
    tkt_message_string_if(packet, TKT_PF_PROCESS_NAME, tkt_trace_text(trace, trace->name));
    char label[48];
    snprintf(label, sizeof label, "Takt %s", takt_version());
    tkt_message_string(packet, TKT_PF_PROCESS_LABELS, label);
    if (tkt_trace_rank_text(label, sizeof label, &trace->facts))
        tkt_message_string(packet, TKT_PF_PROCESS_LABELS, label);
    tkt_message_end(packet, process);
    tkt_message_end(packet, track);
    tkt_perfetto_packet_write(file);
}

void tkt_perfetto_open(tkt_perfetto *file, tkt_writer *writer, const takt_trace *trace)
{
    *file = (tkt_perfetto){.writer = writer,
                           .trace = trace,
                           .base_ns = trace->facts.begin_ns,
                           .last_uuid = TKT_PERFETTO_PROCESS_UUID};
    put_format(file);
    tkt_writer_flush(writer); /* by itself, see perfetto_pack.c */
    if (trace->facts.ending != TAKT_ENDING_WHOLE) {
        put_stopped(file);
        tkt_writer_flush(writer); /* not packed, so that it can be changed in place */
    }
    tkt_perfetto_add_row(file, TKT_PERFETTO_PROCESS_UUID);
    put_process(file);
    tkt_perfetto_facts(file);
    if (trace->run)
        tkt_perfetto_run(file, trace->run);
}

static void free_rows(tkt_perfetto *file)
{
    for (size_t i = 0; i < file->rows.count; i++) {
        TKT_ARRAY_FREE(&file->rows.items[i].sites);
        TKT_ARRAY_FREE(&file->rows.items[i].keys);
        TKT_ARRAY_FREE(&file->rows.items[i].stacks);
    }
    for (size_t i = 0; i < file->tracks.count; i++)
        tkt_perfetto_lanes_fini(&file->tracks.items[i]);
    TKT_ARRAY_FREE(&file->rows);
    TKT_ARRAY_FREE(&file->tracks);
}

/* Writes a mark on the process for each cause of loss, so people see that the timeline has gaps.
 * Takt itself reads the facts. */
static void put_losses(tkt_perfetto *file)
{
    const takt_trace *trace = file->trace;
    for (int i = 0; i < TAKT_LOSS_COUNT; i++) {
        if (trace->losses[i] == 0)
            continue;
        char text[128];
        snprintf(text, sizeof text, "lost %llu: %s", (unsigned long long)trace->losses[i],
                 takt_loss_text((takt_loss)i));
        tkt_message *packet = tkt_perfetto_packet(file, 0);
        tkt_message_uint(packet, TKT_PF_PACKET_TIMESTAMP, trace->facts.end_ns);
        tkt_message_uint(packet, TKT_PF_PACKET_CLOCK, TKT_PF_MONOTONIC);
        size_t mark = tkt_message_begin(packet, TKT_PF_PACKET_TRACK_EVENT);
        tkt_message_uint(packet, TKT_PF_EVENT_TYPE, TKT_PF_INSTANT);
        tkt_message_string(packet, TKT_PF_EVENT_NAME, text);
        tkt_message_end(packet, mark);
        tkt_perfetto_packet_write(file);
    }
}

takt_status tkt_perfetto_close(tkt_perfetto *file)
{
    put_losses(file);
    tkt_message_clear(&file->message);
    size_t mark = tkt_message_begin(&file->message, TKT_PF_PACKET_TAKT);
    tkt_message_uint(&file->message, TKT_PF_TAKT_END, true);
    tkt_message_end(&file->message, mark);
    tkt_perfetto_packet_write(file);

    free_rows(file);
    tkt_perfetto_devices_fini(file);
    TKT_ARRAY_FREE(&file->message);
    TKT_ARRAY_FREE(&file->annotations);
    TKT_ARRAY_FREE(&file->sites);
    tkt_map_fini(&file->keys);
    tkt_map_fini(&file->phase_names);
    tkt_map_fini(&file->counters);
    tkt_map_fini(&file->thread_ids);
    return file->status;
}

/* ---- Facts ----------------------------------------------------------------------------------- */

static void put_histogram(tkt_message *into, const tkt_histogram *histogram)
{
    size_t mark = tkt_message_begin(into, TKT_PF_STATS_HISTOGRAM);
    uint32_t last = 0;
    for (uint32_t i = 0; i < TKT_HISTOGRAM_BUCKETS; i++) {
        if (histogram->buckets[i] == 0)
            continue;
        tkt_message_varint(into, i - last);
        tkt_message_varint(into, histogram->buckets[i]);
        last = i;
    }
    tkt_message_end(into, mark);
}

void tkt_perfetto_put_stats(tkt_message *into, uint32_t field, const tkt_stats *stats,
                            const tkt_histogram *histogram)
{
    if (stats->count == 0 && stats->self_ns == 0)
        return;
    size_t mark = tkt_message_begin(into, field);
    tkt_message_uint_if(into, TKT_PF_STATS_COUNT, stats->count);
    tkt_message_uint_if(into, TKT_PF_STATS_TOTAL_NS, stats->total_ns);
    tkt_message_uint_if(into, TKT_PF_STATS_SELF_NS, stats->self_ns);
    tkt_message_uint_if(into, TKT_PF_STATS_MIN_NS, tkt_stats_whole(stats) ? stats->min_ns : 0);
    tkt_message_uint_if(into, TKT_PF_STATS_MAX_NS, stats->max_ns);
    tkt_message_double_if(into, TKT_PF_STATS_SUM_SQUARES, stats->sum_squares);
    if (histogram)
        put_histogram(into, histogram);
    tkt_message_uint_if(into, TKT_PF_STATS_PIECES, stats->pieces);
    tkt_message_uint_if(into, TKT_PF_STATS_PIECES_NS, stats->pieces_ns);
    tkt_message_end(into, mark);
}

static void put_losses_facts(tkt_message *into, const uint64_t *losses)
{
    for (int i = 0; i < TAKT_LOSS_COUNT; i++) {
        if (losses[i] == 0)
            continue;
        size_t mark = tkt_message_begin(into, TKT_PF_FACTS_LOSSES);
        tkt_message_string(into, TKT_PF_LOSS_NAME, takt_loss_name((takt_loss)i));
        tkt_message_uint(into, TKT_PF_LOSS_COUNT, losses[i]);
        tkt_message_end(into, mark);
    }
}

void tkt_perfetto_put_fields(tkt_perfetto *file, tkt_message *into, const tkt_pf_field *fields,
                             const void *from)
{
    for (uint32_t i = 0; fields[i].size; i++) {
        uint64_t value = 0;
        memcpy(&value, (const char *)from + fields[i].offset, fields[i].size);
        double real;
        switch ((tkt_pf_field_kind)fields[i].kind) {
        case TKT_PF_NUMBER:
        case TKT_PF_FLAG:
            tkt_message_uint_if(into, i + 1, value);
            break;
        case TKT_PF_TEXT:
            tkt_message_string_if(into, i + 1, tkt_trace_text(file->trace, (uint32_t)value));
            break;
        case TKT_PF_DOUBLE:
            memcpy(&real, &value, sizeof real);
            tkt_message_double_if(into, i + 1, real);
            break;
        case TKT_PF_OTHER:
            break;
        }
    }
}

static void put_struct(tkt_perfetto *file, uint32_t field, const tkt_pf_field *fields,
                       const void *from)
{
    size_t mark = tkt_message_begin(&file->message, field);
    tkt_perfetto_put_fields(file, &file->message, fields, from);
    tkt_message_end(&file->message, mark);
}

static void put_all_steps(tkt_message *into, const tkt_all_steps *steps)
{
    size_t mark = tkt_message_begin(into, TKT_PF_FACTS_ALL_STEPS);
    tkt_perfetto_put_stats(into, TKT_PF_ALL_STEPS_STATS, &steps->stats, &steps->histogram);
    tkt_message_double_if(into, TKT_PF_ALL_STEPS_SIMULATED_SECONDS, steps->simulated_seconds);
    tkt_message_end(into, mark);
}

static void put_parts(tkt_perfetto *file, tkt_message *into)
{
    const takt_trace *trace = file->trace;
    put_losses_facts(into, trace->losses);
    put_struct(file, TKT_PF_FACTS_MEMORY, tkt_pf_memory_fields, &trace->memory);
    put_all_steps(into, &trace->all_steps);
    for (size_t i = 0; i < trace->device_memory.count; i++)
        put_struct(file, TKT_PF_FACTS_DEVICE_MEMORY, tkt_pf_device_memory_fields,
                   &trace->device_memory.items[i]);
}

static void put_clock(tkt_message *packet, uint32_t clock, uint64_t time_ns)
{
    size_t mark = tkt_message_begin(packet, TKT_PF_SNAPSHOT_CLOCKS);
    tkt_message_uint(packet, TKT_PF_CLOCK_ID, clock);
    tkt_message_uint(packet, TKT_PF_CLOCK_TIMESTAMP, time_ns);
    tkt_message_end(packet, mark);
}

/* Lets the viewer show the time of day. */
static void put_realtime(tkt_perfetto *file)
{
    const takt_facts *facts = &file->trace->facts;
    if (facts->realtime_offset_ns == 0)
        return;
    tkt_message *packet = tkt_perfetto_packet(file, 0);
    size_t mark = tkt_message_begin(packet, TKT_PF_PACKET_CLOCK_SNAPSHOT);
    put_clock(packet, TKT_PF_MONOTONIC, facts->end_ns);
    put_clock(packet, TKT_PF_REALTIME, facts->end_ns + (uint64_t)facts->realtime_offset_ns);
    tkt_message_uint(packet, TKT_PF_SNAPSHOT_PRIMARY, TKT_PF_MONOTONIC);
    tkt_message_end(packet, mark);
    tkt_perfetto_packet_write(file);
}

void tkt_perfetto_facts(tkt_perfetto *file)
{
    tkt_message *packet = tkt_perfetto_takt(file, TKT_PF_TAKT_FACTS);
    tkt_perfetto_put_fields(file, packet, tkt_pf_facts_fields, file->trace);
    put_parts(file, packet);
    tkt_perfetto_takt_write(file);
    put_realtime(file);
}

/* ---- The whole run --------------------------------------------------------------------------- */

static void put_numbers(tkt_message *into, uint32_t field, const uint64_t *numbers, size_t count)
{
    size_t mark = tkt_message_begin(into, field);
    for (size_t i = 0; i < count; i++)
        tkt_message_varint(into, numbers[i]);
    tkt_message_end(into, mark);
}

void tkt_perfetto_run(tkt_perfetto *file, const tkt_run_steps *run)
{
    size_t count = tkt_run_part_count(run);
    tkt_message *packet = tkt_perfetto_takt(file, TKT_PF_TAKT_RUN);
    tkt_message_uint_if(packet, TKT_PF_RUN_STEP_COUNT, run->step_count);
    tkt_message_uint_if(packet, TKT_PF_RUN_SHIFT, run->shift);
    put_numbers(packet, TKT_PF_RUN_TOTAL_NS, run->total_ns, count);
    if (run->shift > 0) {
        put_numbers(packet, TKT_PF_RUN_MIN_NS, run->min_ns, count);
        put_numbers(packet, TKT_PF_RUN_MAX_NS, run->max_ns, count);
    }
    for (size_t i = 0; i < run->slowest_count; i++)
        put_struct(file, TKT_PF_RUN_SLOWEST, tkt_pf_run_step_fields, &run->slowest[i]);
    for (size_t i = 0; i < run->window_count; i++)
        put_struct(file, TKT_PF_RUN_WINDOWS, tkt_pf_run_window_fields, &run->windows[i]);
    tkt_perfetto_takt_write(file);
}

/* ---- The folded form ------------------------------------------------------------------------- */

static void put_node(tkt_message *into, const tkt_node *node, uint32_t site)
{
    size_t mark = tkt_message_begin(into, TKT_PF_TAKT_NODES);
    tkt_message_uint_if(into, TKT_PF_NODE_SITE, site);
    tkt_message_uint_if(into, TKT_PF_NODE_PARENT, node->parent);
    tkt_perfetto_put_stats(into, TKT_PF_NODE_STATS, &node->stats, node->histogram);
    tkt_message_double_if(into, TKT_PF_NODE_FLOPS, node->flops);
    tkt_message_double_if(into, TKT_PF_NODE_BYTES, node->bytes);
    tkt_message_uint_if(into, TKT_PF_NODE_ERRORS, node->errors);
    tkt_message_end(into, mark);
}

static void put_task(tkt_perfetto *file, const tkt_folded_task *task)
{
    tkt_message *packet = tkt_perfetto_takt(file, TKT_PF_TAKT_TASKS);
    tkt_message_string_if(packet, TKT_PF_TASK_NAME, tkt_trace_text(file->trace, task->name));
    tkt_message_string_if(packet, TKT_PF_TASK_TRACK, tkt_trace_text(file->trace, task->track));
    tkt_perfetto_put_stats(packet, TKT_PF_TASK_STATS, &task->stats, task->histogram);
    tkt_perfetto_takt_write(file);
}

/* Writes the thread's parts from number `part` on. */
static void put_thread(tkt_perfetto *file, const tkt_fold *fold, const tkt_folded_thread *thread,
                       size_t part)
{
    tkt_message *packet = tkt_perfetto_takt(file, TKT_PF_TAKT_THREADS);
    tkt_message_string_if(packet, TKT_PF_FOLDED_THREAD_NAME,
                          tkt_trace_text(file->trace, thread->name));
    tkt_message_uint(packet, TKT_PF_FOLDED_THREAD_ID, thread->thread_id);
    if (thread->end > part)
        put_numbers(packet, TKT_PF_FOLDED_THREAD_PARTS, &fold->parts.items[part].node,
                    3 * (thread->end - part));
    tkt_perfetto_takt_write(file);
}

void tkt_perfetto_fold(tkt_perfetto *file, const tkt_fold *fold)
{
    for (size_t i = 1; i < fold->count; i++) {
        const tkt_node *node = &fold->items[i];
        uint32_t site = node->site == TKT_SITE_OTHER ? 0 : tkt_perfetto_site_iid(file, node->site);
        tkt_message *packet = tkt_perfetto_packet(file, 0);
        size_t takt = tkt_message_begin(packet, TKT_PF_PACKET_TAKT);
        put_node(packet, node, site);
        tkt_message_end(packet, takt);
        tkt_perfetto_packet_write(file);
    }
    for (size_t i = 0; i < fold->tasks.count; i++)
        put_task(file, &fold->tasks.items[i]);
    for (size_t i = 0; i < fold->threads.count; i++)
        put_thread(file, fold, &fold->threads.items[i], i > 0 ? fold->threads.items[i - 1].end : 0);
    tkt_message *packet = tkt_perfetto_packet(file, 0);
    size_t takt = tkt_message_begin(packet, TKT_PF_PACKET_TAKT);
    for (size_t i = 0; i < fold->counters.count; i++)
        put_struct(file, TKT_PF_TAKT_COUNTERS, tkt_pf_counter_fields, &fold->counters.items[i]);
    tkt_message_uint_if(packet, TKT_PF_TAKT_HAS_LISTS, fold->has_lists);
    tkt_message_uint(packet, TKT_PF_TAKT_FOLD_END, fold->other_count);
    tkt_message_end(packet, takt);
    tkt_perfetto_packet_write(file);
}
