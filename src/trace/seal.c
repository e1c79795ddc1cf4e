/* Makes a trace from logs: sealing, and spans on tracks of their own. */
#include "trace/seal.h"

#include "record/site.h"
#include "record/slot.h"
#include "record/scope.h"
#include "trace/recovery.h"

/* ======== Sealing ======== */

/* Sealing visits each log once. It takes a snapshot of the log, splits the snapshot into runs, one
 * for each thread that used the log, and gives each run a track. Recording threads never wait. */

/* ---- From recorded ids to the trace's -------------------------------------------------------- */

tkt_text tkt_sealing_text_bytes(const tkt_sealing *sealing, uint32_t text)
{
    const tkt_seal_source *source = sealing->window->source;
    if (!source)
        return tkt_text_get(text);
    const tkt_text *found = NULL;
    uint32_t index = TKT_VALUE_INDEX(text);
    if (!(text & TKT_VALUE) && text < source->texts.count)
        found = &source->texts.items[text];
    else if (TKT_VALUE_GENERATION(text) == TKT_VALUE_GENERATION(source->generation) &&
             index < source->values.count)
        found = &source->values.items[index];
    return found && found->bytes ? *found : (tkt_text){"", 0};
}

uint32_t tkt_sealing_text(tkt_sealing *sealing, uint32_t text)
{
    tkt_text bytes = tkt_sealing_text_bytes(sealing, text);
    uint32_t string = tkt_trace_string(sealing->trace, bytes.bytes, bytes.size);
    if (string != TKT_STRTAB_FULL)
        return string;
    sealing->is_out_of_memory = true;
    return 0;
}

static uint32_t string_of(tkt_sealing *sealing, const tkt_text *text)
{
    uint32_t string = tkt_trace_string(sealing->trace, text->bytes, text->size);
    if (string != TKT_STRTAB_FULL)
        return string;
    sealing->is_out_of_memory = true;
    return 0;
}

/* A recovered site, or the site that stands for all sites whose names were lost. */
static const tkt_site *lost_or_found(const tkt_seal_source *source, uint32_t site)
{
    static const tkt_site lost = {{"(name lost)", 11},       {"", 0}, {"", 0}, {"", 0}, {"", 0},
                                  .level = TAKT_LEVEL_NORMAL};
    bool is_there = site < source->sites.count && source->sites.items[site].name.bytes;
    return is_there ? &source->sites.items[site] : &lost;
}

static uint32_t add_site(tkt_sealing *sealing, uint32_t record_site)
{
    const tkt_seal_source *source = sealing->window->source;
    const tkt_site *from = source ? lost_or_found(source, record_site) : tkt_site_get(record_site);
    tkt_trace_site site = {
        .name = string_of(sealing, &from->name),
        .category = string_of(sealing, &from->category),
        .file = string_of(sealing, &from->file),
        .function = string_of(sealing, &from->function),
        .device = string_of(sealing, &from->device),
        .line = from->line,
        .filter = from->filter,
        .kind = from->kind,
        .level = from->level,
    };
    if (site.filter & sealing->window->left_out) {
        site.kind = TAKT_SITE_SCOPE;
        site.filter = site.device = 0;
    }
    uint32_t index = tkt_trace_site_index(sealing->trace, &site);
    if (index != UINT32_MAX)
        return index;
    sealing->is_out_of_memory = true;
    return 0;
}

uint32_t tkt_sealing_site(tkt_sealing *sealing, uint32_t record_site)
{
    const tkt_seal_source *source = sealing->window->source;
    if (source && record_site >= source->sites.count)
        record_site = 0;
    while (sealing->sites.count <= record_site) {
        uint32_t *added = TKT_ARRAY_ADD(&sealing->sites);
        if (!added) {
            sealing->is_out_of_memory = true;
            return 0;
        }
        *added = 0;
    }
    uint32_t *known = &sealing->sites.items[record_site];
    if (*known == 0)
        *known = add_site(sealing, record_site) + 1;
    return *known - 1;
}

/* ---- Runs ------------------------------------------------------------------------------------ */

static bool is_event_in_window(const tkt_sealing *sealing, const takt_record *slot)
{
    const tkt_seal_window *window = sealing->window;
    tkt_slot_span span;
    if (tkt_slot_read_span(slot, &span))
        return tkt_slot_overlaps(&span, window->begin_ticks, window->end_ticks);
    return tkt_slot_is_moment(slot) && tkt_sealing_holds(sealing, slot->start);
}

/* True if the run has an event in the window. Most threads that ended before the window have
 * none. */
static bool has_events(const tkt_sealing *sealing, const tkt_run *run)
{
    if (run->frame_count > 0 && run->frames[0].start <= sealing->window->end_ticks)
        return true;
    for (size_t i = 0; i < run->segments.count; i++) {
        const tkt_segment *segment = &run->segments.items[i];
        for (const takt_record *slot = segment->first; slot < segment->end; slot++)
            if (is_event_in_window(sealing, slot))
                return true;
    }
    return false;
}

__attribute__((cold)) static void end_run(tkt_sealing *sealing, tkt_run *run)
{
    if (run->thread.serial != 0 && has_events(sealing, run)) {
        uint32_t name = run->thread.name ? tkt_sealing_text(sealing, run->thread.name) : 0;
        uint32_t track =
            tkt_trace_add_track(sealing->trace, TAKT_TRACK_THREAD, name, run->thread.thread_id);
        if (track == TKT_NO_TRACK) {
            sealing->is_out_of_memory = true;
        } else {
            sealing->trace->tracks.items[track].serial = run->thread.serial;
            tkt_seal_run(sealing, run, track);
        }
    }
    run->segments.count = 0;
}

static void add_segment(tkt_sealing *sealing, tkt_run *run, const tkt_segment *part)
{
    tkt_segment *segment = part->first < part->end ? TKT_ARRAY_ADD(&run->segments) : NULL;
    if (segment)
        *segment = *part;
    else if (part->first < part->end)
        sealing->is_out_of_memory = true;
}

static void begin_run(tkt_sealing *sealing, tkt_run *run, tkt_thread_mark thread)
{
    if (run->thread.serial != thread.serial)
        end_run(sealing, run);
    run->thread = thread;
}

/* Notes the id of a call that began after the window. The call's span is in the next slot. */
static void note_late_call(tkt_sealing *sealing, const takt_record *slot)
{
    tkt_slot_span span;
    uint32_t correlation = (uint32_t)slot->start;
    if (!tkt_is_call_until(correlation, sealing->window->last_correlation) ||
        !tkt_slot_read_span(slot + 1, &span) || span.begin <= sealing->window->end_ticks)
        return;
    uint32_t *late = TKT_ARRAY_ADD(&sealing->trace->late_calls);
    if (late)
        *late = correlation;
    else
        sealing->is_out_of_memory = true;
}

static void add_tasks(tkt_sealing *sealing, const tkt_log_part *part)
{
    for (const takt_record *slot = part->slots; slot < part->slots + part->count; slot++)
        if (tkt_slot_is(slot, TKT_SLOT_SPAN_AT))
            tkt_async_add(sealing, slot);
}

/* Splits slots where another thread continues the log. Those before `unsealed` are in an earlier
 * slice. */
static void split_slots(tkt_sealing *sealing, tkt_run *run, const tkt_segment *slots,
                        const takt_record *unsealed)
{
    tkt_segment part = *slots;
    part.first = part.first < unsealed ? unsealed : part.first;
    for (const takt_record *slot = slots->first; slot < slots->end; slot++) {
        if (tkt_slot_is_plain(slot))
            continue;
        if (tkt_slot_kind_of(slot) == TKT_SLOT_NAME)
            run->thread.name = slot->ticks;
        if (slot < unsealed && tkt_slot_kind_of(slot) == TKT_SLOT_THREAD)
            run->thread = (tkt_thread_mark){slot[0].start, slot[0].ticks, slot[1].ticks};
        if (slot < unsealed)
            continue;
        if (tkt_slot_kind_of(slot) == TKT_SLOT_TASK || tkt_slot_kind_of(slot) == TKT_SLOT_SPAN_AT)
            tkt_async_add(sealing, slot);
        if (tkt_slot_kind_of(slot) == TKT_SLOT_CALL)
            note_late_call(sealing, slot);
        if (tkt_slot_kind_of(slot) != TKT_SLOT_THREAD)
            continue;
        part.end = slot;
        add_segment(sealing, run, &part);
        begin_run(sealing, run, (tkt_thread_mark){slot[0].start, slot[0].ticks, slot[1].ticks});
        part.first = slot + 2;
    }
    part.end = slots->end;
    add_segment(sealing, run, &part);
}

/* A log's slots, and where the window lies in them. */
typedef struct log_slots {
    const tkt_log_view *view;
    size_t part;                     /* the first that is not in an earlier slice, */
    const takt_record *unsealed;     /* and the slot in it; NULL: all */
    const takt_record *window_begin; /* NULL: all is behind it */
    tkt_side before;                 /* it; TKT_INSIDE if it is NULL */
    const takt_record *window_end;   /* NULL: all is before it */
} log_slots;

static bool has_place(const tkt_log_part *part, const takt_record *place)
{
    return place && place >= part->slots && place <= part->slots + part->count;
}

/* Splits a part also where the window begins and ends. */
static void split_part(tkt_sealing *sealing, tkt_run *run, const log_slots *slots,
                       const tkt_log_part *part, tkt_side *side)
{
    tkt_segment rest = {part->slots, part->slots + part->count, *side};
    const takt_record *ends[] = {slots->window_begin, slots->window_end};
    if (part->is_earlier) {
        add_tasks(sealing, part);
        return;
    }
    begin_run(sealing, run, part->thread);
    bool is_first = part == &slots->view->parts.items[slots->part];
    const takt_record *unsealed = is_first && slots->unsealed ? slots->unsealed : part->slots;
    for (int i = 0; i < 2; i++) {
        if (!has_place(part, ends[i]))
            continue;
        split_slots(sealing, run, &(tkt_segment){rest.first, ends[i], rest.side}, unsealed);
        rest.first = ends[i];
        rest.side = i == 0 ? TKT_INSIDE : TKT_OUTSIDE;
    }
    split_slots(sealing, run, &rest, unsealed);
    *side = rest.side;
}

static void seal_slots(tkt_sealing *sealing, const log_slots *slots)
{
    const tkt_log_view *view = slots->view;
    tkt_side side = slots->before;
    tkt_run run = {0};
    for (size_t i = slots->part; i < view->parts.count; i++)
        split_part(sealing, &run, slots, &view->parts.items[i], &side);
    run.frames = view->frames;
    run.frame_count = view->frame_count;
    run.gap_ticks = view->gap_ticks;
    end_run(sealing, &run);
    TKT_ARRAY_FREE(&run.segments);
}

/* The place in the view and its part, or NULL and 0 if there is none, or if the log no longer has
 * it. */
static const takt_record *find_place(const tkt_log_view *view, const tkt_fold_place *place,
                                     size_t *part)
{
    *part = 0;
    for (size_t i = 0; i < view->parts.count; i++) {
        const tkt_log_part *at = &view->parts.items[i];
        if (!has_place(at, place->cursor) || at->begun_ticks > place->ticks)
            continue;
        *part = i;
        return place->cursor;
    }
    /* The chunk with the place was dropped. What was begun before it is sealed. */
    while (place->cursor && *part < view->parts.count &&
           view->parts.items[*part].begun_ticks <= place->ticks)
        ++*part;
    return NULL;
}

static const takt_record *find_number(const tkt_log_part *part, uint64_t number)
{
    for (const takt_record *slot = part->slots; slot < part->slots + part->count; slot++)
        if (tkt_slot_is(slot, TKT_SLOT_BOUNDARY) && slot->start >= number)
            return slot;
    return NULL;
}

/* The boundary's place: what is behind it and has no time was written later. No such event is
 * between it and the slot with its number. Chunks that were begun later are behind it, too, since
 * that slot may have been dropped. */
static const takt_record *find_boundary(const tkt_log_view *view, const tkt_boundary *boundary,
                                        size_t *part)
{
    const tkt_log_part *parts = view->parts.items;
    size_t end = view->parts.count;
    while (end > 0 && parts[end - 1].begun_ticks > boundary->ticks && !parts[end - 1].is_earlier)
        end--;
    size_t first = end; /* in most cases one part has it: the last that was begun before */
    while (first > 0 && !parts[first - 1].is_earlier &&
           (first == end || parts[first].begun_ticks == boundary->ticks))
        first--;
    for (*part = first; *part < end; ++*part) {
        const takt_record *found = find_number(&parts[*part], boundary->number);
        if (found)
            return found;
    }
    if (first == end) /* there is a last part, which is not earlier */
        return parts[end].slots;
    *part = end - 1;
    return parts[end - 1].slots + parts[end - 1].count;
}

static const tkt_fold *fold_of(const tkt_seal_window *window, uint32_t log)
{
    for (size_t i = 0; window->with_fold && i < window->fold_count; i++)
        if (window->folds[i].log == log)
            return &window->folds[i];
    return NULL;
}

static void find_window(const tkt_seal_window *window, uint32_t log, log_slots *slots)
{
    const tkt_fold *fold = fold_of(window, log);
    size_t begin_part = 0, end_part = 0;
    if (fold) {
        slots->window_begin = find_place(slots->view, &fold->from, &begin_part);
        slots->window_end = find_place(slots->view, &fold->until, &end_part);
    } else {
        if (window->begin.number)
            slots->window_begin = find_boundary(slots->view, &window->begin, &begin_part);
        if (window->end.number)
            slots->window_end = find_boundary(slots->view, &window->end, &end_part);
    }
    if (begin_part < slots->part) /* an earlier slice has it */
        slots->window_begin = NULL;
    if (slots->window_begin)
        slots->before = fold ? TKT_OUTSIDE : TKT_BEFORE;
}

static bool note_place(tkt_seal_places *places, uint32_t number, const takt_record *cursor)
{
    while (places->logs.count <= number) {
        tkt_fold_place *added = TKT_ARRAY_ADD(&places->logs);
        if (!added)
            return false;
        *added = (tkt_fold_place){0};
    }
    places->logs.items[number] = (tkt_fold_place){cursor, tkt_ticks()};
    return true;
}

static takt_status seal_log(tkt_sealing *sealing, tkt_thread_log *log)
{
    tkt_log_view view;
    const tkt_seal_window *window = sealing->window;
    uint64_t from = window->begin_ticks;
    if (window->begin.number) /* work counts from there on */
        from = window->begin.ticks;
    if (window->places && window->places->ticks > from)
        from = window->places->ticks;
    takt_status status = tkt_log_view_open(log, from, &view);
    if (status != TAKT_OK)
        return status;
    /* Looked at behind what was read: what is later than the end is in no slice before the last. */
    uint64_t end = window->end_now ? __atomic_load_n(window->end_now, __ATOMIC_ACQUIRE) : 0;
    if (end)
        sealing->own.end_ticks = end;
    const tkt_log_part *last = &view.parts.items[view.parts.count - 1];
    if (window->places)
        tkt_log_note_read(log, window->begin_ticks, tkt_ticks(), last->slots + last->count);
    log_slots slots = {.view = &view};
    if (window->places && log->number < window->places->logs.count)
        slots.unsealed = find_place(&view, &window->places->logs.items[log->number], &slots.part);
    find_window(window, log->number, &slots);
    seal_slots(sealing, &slots);
    if (window->places && !note_place(&sealing->places, log->number, last->slots + last->count))
        sealing->is_out_of_memory = true;
    tkt_log_view_close(log, &view);
    return sealing->is_out_of_memory ? TAKT_NO_MEMORY : TAKT_OK;
}

static takt_status seal_all(tkt_sealing *sealing)
{
    const tkt_seal_source *source = sealing->window->source;
    takt_status status = TAKT_OK;
    for (size_t i = 0; source && i < source->views.count; i++)
        seal_slots(sealing, &(log_slots){.view = &source->views.items[i]});
    for (tkt_thread_log *log = source ? NULL : tkt_log_first(); log && status == TAKT_OK;
         log = tkt_log_next(log))
        status = seal_log(sealing, log);
    if (status == TAKT_OK)
        tkt_async_add_open(sealing);
    return status;
}

/* What did not become a slice has not been read. */
static void take_back(const tkt_seal_window *window)
{
    const tkt_seal_places *places = window->places;
    for (tkt_thread_log *log = tkt_log_first(); log; log = tkt_log_next(log)) {
        tkt_fold_place place = {0};
        if (log->number < places->logs.count)
            place = places->logs.items[log->number];
        tkt_log_note_read(log, window->begin_ticks, place.ticks, place.cursor);
    }
}

takt_status tkt_seal(const tkt_seal_window *window, takt_trace **out)
{
    uint64_t now = tkt_ticks();
    tkt_sealing sealing = {.window = &sealing.own, .own = *window, .places.ticks = now};
    takt_status status = tkt_trace_create(&sealing.trace);
    if (status != TAKT_OK)
        return status;
    sealing.known_stacks.trace = sealing.trace;
    if (window->with_spans)
        status = seal_all(&sealing);
    if (status == TAKT_OK && window->with_fold)
        status = tkt_seal_folds(&sealing);
    if (sealing.is_out_of_memory)
        status = TAKT_NO_MEMORY;
    tkt_map_fini(&sealing.async_tracks);
    tkt_map_fini(&sealing.stacks);
    tkt_stacks_fini(&sealing.known_stacks);
    TKT_ARRAY_FREE(&sealing.sites);
    if (status == TAKT_OK && window->places) {
        tkt_seal_places before = *window->places;
        *window->places = sealing.places;
        sealing.places = before;
    } else if (window->places) {
        take_back(window);
    }
    TKT_ARRAY_FREE(&sealing.places.logs);
    if (status == TAKT_OK)
        *out = sealing.trace;
    else
        takt_trace_release(sealing.trace);
    return status;
}

/* ======== Spans on tracks of their own ======== */

/* The track of this name, added for its first span. */
static uint32_t track_of(tkt_sealing *sealing, uint32_t text)
{
    uint64_t *track = tkt_map_put(&sealing->async_tracks, text);
    if (!track)
        return TKT_NO_TRACK;
    if (*track == 0) {
        uint32_t index = tkt_trace_add_track(sealing->trace, TAKT_TRACK_ASYNC,
                                             tkt_sealing_text(sealing, text), 0);
        if (index == TKT_NO_TRACK)
            return TKT_NO_TRACK;
        *track = (uint64_t)index + 1;
    }
    return (uint32_t)(*track - 1);
}

/* Cuts the span to the window and adds it to its track. end_ns is 0 for an open span. */
static void place(tkt_sealing *sealing, uint32_t track_text, uint32_t record_site,
                  uint64_t begin_ns, uint64_t end_ns)
{
    uint64_t from = tkt_sealing_ns(sealing, sealing->window->begin_ticks);
    uint64_t until = tkt_sealing_ns(sealing, sealing->window->end_ticks);
    uint32_t flags = 0;
    if (end_ns == 0 || end_ns > until) {
        end_ns = until;
        flags |= TAKT_SPAN_UNFINISHED;
    }
    bool is_before = end_ns <= from && begin_ns < from;     /* as tkt_slot_overlaps() has it */
    if (begin_ns > until || is_before || end_ns < begin_ns) /* or from a bad file */
        return;
    if (begin_ns < from) {
        begin_ns = from;
        flags |= TAKT_SPAN_BEGUN_BEFORE;
    }
    uint32_t track = track_of(sealing, track_text);
    uint32_t site = tkt_sealing_site(sealing, record_site);
    tkt_span *span =
        track == TKT_NO_TRACK ? NULL : TKT_ARRAY_ADD(&sealing->trace->tracks.items[track].spans);
    if (span)
        *span = (tkt_span){begin_ns, end_ns, site << 8 | flags, TKT_NO_SPAN};
    else
        sealing->is_out_of_memory = true;
}

void tkt_async_add(tkt_sealing *sealing, const takt_record *slot)
{
    if (tkt_slot_kind_of(slot) == TKT_SLOT_SPAN_AT)
        place(sealing, slot[1].ticks, slot[0].ticks, slot[0].start, slot[1].start);
    else
        place(sealing, slot[1].ticks, slot[0].ticks, tkt_sealing_ns(sealing, slot[0].start),
              tkt_sealing_ns(sealing, slot[1].start));
}

static void add_open(void *user, const tkt_task *task)
{
    tkt_sealing *sealing = user;
    place(sealing, task->track, task->site, tkt_sealing_ns(sealing, task->begin_ticks), 0);
}

void tkt_async_add_open(tkt_sealing *sealing)
{
    const tkt_seal_source *source = sealing->window->source;
    for (size_t i = 0; source && i < source->tasks.count; i++)
        add_open(sealing, &source->tasks.items[i]);
    if (!source)
        tkt_task_visit(add_open, sealing);
}
