/* Warp's tables. The format is that of warp.timing_print(), including six decimals and the lengths
 * of the dashed lines. Only names longer than the line are cut. */
#include "report/text.h"

#include "summary/activities.h"

#define RULE       "----------------+---------+------------------------\n"
#define NAME_BEGIN 28 /* columns in front of the name */

static void put_heading(tkt_writer *writer, const char *indent, const char *heading,
                        const char *titles[3])
{
    tkt_writer_format(writer, "%s%s\n%s" RULE, indent, heading, indent);
    tkt_writer_format(writer, "%s%-16s| %-8s| %s\n", indent, titles[0], titles[1], titles[2]);
    tkt_writer_format(writer, "%s" RULE, indent);
}

/* Milliseconds with six decimals show every nanosecond. */
static void put_time(tkt_writer *writer, const char *indent, uint64_t ns)
{
    tkt_writer_format(writer, "%s%5llu.%06llu ms | ", indent, (unsigned long long)(ns / 1000000),
                      (unsigned long long)(ns % 1000000));
}

static void put_name(tkt_writer *writer, const char *name, size_t width)
{
    tkt_put_cut(writer, name, width);
    tkt_writer_text(writer, "\n");
}

static void put_device_row(tkt_writer *writer, const char *indent, uint64_t ns, const char *device,
                           const char *name, size_t width)
{
    put_time(writer, indent, ns);
    size_t columns = tkt_put_cut(writer, device, 40);
    tkt_put_repeated(writer, ' ', columns < 7 ? 7 - columns : 0);
    tkt_writer_text(writer, " | ");
    size_t before = NAME_BEGIN + (columns > 7 ? columns - 7 : 0);
    put_name(writer, name, width > before + 8 ? width - before : 8);
}

static void put_count_row(tkt_writer *writer, const char *indent, uint64_t ns, uint64_t count,
                          const char *name, size_t width)
{
    put_time(writer, indent, ns);
    tkt_writer_format(writer, "%7llu | ", (unsigned long long)count);
    put_name(writer, name, width > NAME_BEGIN + 8 ? width - NAME_BEGIN : 8);
}

void tkt_render_warp(const tkt_table *table, const tkt_layout *layout, tkt_writer *writer)
{
    const char *titles[3];
    for (size_t i = 0; i < 3; i++)
        titles[i] = table->columns[i].title;
    put_heading(writer, "", table->heading, titles);
    size_t width = layout->full_names ? SIZE_MAX : layout->width;
    for (size_t i = 0; i < table->shown; i++) {
        const tkt_cell *row = tkt_table_row(table, i);
        if (table->columns[1].type == TKT_CELL_TEXT)
            put_device_row(writer, "", row[0].u, row[1].text, row[2].text, width);
        else
            put_count_row(writer, "", row[0].u, row[1].u, row[2].text, width);
    }
}

/* elapsed_ms is the duration that programs see: CUDA events have no begin and end. */
static uint64_t elapsed_ns(const takt_activity *activity)
{
    return activity->elapsed_ms > 0 ? (uint64_t)(activity->elapsed_ms * 1e6 + 0.5) : 0;
}

static void put_timeline(tkt_writer *writer, const char *indent, const char *heading,
                         const takt_activity *activities, size_t count)
{
    put_heading(writer, indent, heading, (const char *[]){"Time", "Device", "Activity"});
    for (size_t i = 0; i < count; i++)
        put_device_row(writer, indent, elapsed_ns(&activities[i]), activities[i].device,
                       activities[i].name, SIZE_MAX);
}

static void put_totals(tkt_writer *writer, const char *indent, const char *heading,
                       const char *last_title, const tkt_activity_totals *totals)
{
    tkt_writer_text(writer, "\n");
    put_heading(writer, indent, heading, (const char *[]){"Total time", "Count", last_title});
    for (uint32_t i = 0; i < totals->count; i++) {
        const tkt_activity_total *total = &totals->items[i];
        if (total->count > 0)
            put_count_row(writer, indent, total->total_ns, total->count,
                          tkt_strtab_text(&totals->names, i), SIZE_MAX);
    }
}

static bool all_cuda(const takt_activity *activities, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!tkt_device_is_cuda(activities[i].device))
            return false;
    }
    return true;
}

static takt_status add_up(const takt_activity *activities, size_t count,
                          tkt_activity_totals *by_name, tkt_activity_totals *by_device)
{
    takt_status status = tkt_activity_totals_init(by_name);
    if (status == TAKT_OK)
        status = tkt_activity_totals_init(by_device);
    for (size_t i = 0; i < count && status == TAKT_OK; i++) {
        uint64_t ns = elapsed_ns(&activities[i]);
        status = tkt_activity_totals_add(by_name, activities[i].name, 1, ns);
        if (status == TAKT_OK)
            status = tkt_activity_totals_add(by_device, activities[i].device, 1, ns);
    }
    return status;
}

static takt_status put_tables(tkt_writer *writer, const char *indent,
                              const takt_activity *activities, size_t count)
{
    tkt_activity_totals by_name = {0};
    tkt_activity_totals by_device = {0};
    takt_status status = add_up(activities, count, &by_name, &by_device);
    if (status == TAKT_OK) {
        bool cuda = all_cuda(activities, count);
        put_timeline(writer, indent, cuda ? "CUDA timeline:" : "Timeline:", activities, count);
        put_totals(writer, indent,
                   cuda ? "CUDA activity summary:" : "Activity summary:", "Activity", &by_name);
        put_totals(writer, indent, cuda ? "CUDA device summary:" : "Device summary:", "Device",
                   &by_device);
    }
    tkt_activity_totals_fini(&by_name);
    tkt_activity_totals_fini(&by_device);
    return status;
}

takt_status tkt_warp_print(const takt_activity *activities, size_t count, const char *indent,
                           const takt_sink *sink)
{
    tkt_writer writer;
    takt_status status = tkt_writer_init(&writer, *sink, 16 * 1024);
    if (status != TAKT_OK)
        return status;
    indent = indent ? indent : "";
    if (count > 0)
        status = put_tables(&writer, indent, activities, count);
    else
        tkt_writer_format(&writer, "%sNo activity\n", indent);
    takt_status written = tkt_writer_fini(&writer);
    return status != TAKT_OK ? status : written;
}
