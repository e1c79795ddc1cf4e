/* Percentiles of the rows' weights. Heapsort sorts them in place and is no worse on bad input. */
#include "report/shade.h"

#include "base/alloc.h"

#include <math.h>

#define RED_BOLD "\033[1;31m"
#define YELLOW   "\033[33m"

static double weight_of(const tkt_table *table, uint32_t row)
{
    return (double)table->cells[row * table->column_count + table->weight].u;
}

/* Interpolates between the two values around a rank, as numpy does. `sorted` is ascending. */
static double percentile(const double *sorted, size_t count, double share)
{
    double rank = share * (double)(count - 1);
    size_t below = (size_t)rank;
    size_t above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (rank - (double)below) * (sorted[above] - sorted[below]);
}

static void sift_down(double *heap, size_t root, size_t count)
{
    for (size_t child; (child = 2 * root + 1) < count; root = child) {
        child += child + 1 < count && heap[child + 1] > heap[child];
        if (heap[root] >= heap[child])
            return;
        double value = heap[root];
        heap[root] = heap[child];
        heap[child] = value;
    }
}

static void sort_doubles(double *values, size_t count)
{
    for (size_t i = count / 2; i-- > 0;)
        sift_down(values, i, count);
    for (size_t end = count; end-- > 1;) {
        double value = values[0];
        values[0] = values[end];
        values[end] = value;
        sift_down(values, 0, end);
    }
}

tkt_shades tkt_shades_of(const tkt_table *table, const tkt_layout *layout)
{
    tkt_shades none = {INFINITY, INFINITY};
    if (!layout->color || table->weight == TKT_NO_COLUMN || table->row_count == 0)
        return none;
    double *weights = tkt_alloc(table->row_count * sizeof *weights);
    if (!weights)
        return none;
    for (size_t i = 0; i < table->row_count; i++)
        weights[i] = weight_of(table, (uint32_t)i);
    sort_doubles(weights, table->row_count);
    tkt_shades found = {percentile(weights, table->row_count, 0.9),
                        percentile(weights, table->row_count, 0.75)};
    tkt_free(weights);
    return found;
}

const char *tkt_shade_of(const tkt_shades *shades, const tkt_table *table, size_t shown)
{
    if (isinf(shades->red))
        return NULL;
    double weight = weight_of(table, table->order[shown]);
    if (weight > shades->red)
        return RED_BOLD;
    return weight > shades->yellow ? YELLOW : NULL;
}
