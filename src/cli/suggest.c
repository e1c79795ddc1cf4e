/* Which known name a mistyped word was meant to be: the one with the fewest letters inserted, left
 * out and replaced (Levenshtein's distance), if they are few. */
#include "cli/cli.h"

#include <string.h>

enum {
    LONGEST = 40 /* no option is longer; a longer word is no slip of one */
};

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* One row of the table is enough: `corner` keeps what it overwrites. */
static size_t distance_of(const char *a, const char *b)
{
    size_t width = strlen(b);
    size_t row[LONGEST + 1];

    for (size_t j = 0; j <= width; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= width; j++) {
            size_t replaced = corner + (a[i - 1] != b[j - 1]);
            corner = row[j];
            row[j] = smaller(replaced, smaller(row[j], row[j - 1]) + 1);
        }
    }
    return row[width];
}

void cli_nearest_try(cli_nearest *nearest, const char *candidate)
{
    size_t length = strlen(nearest->word);
    if (length > LONGEST || strlen(candidate) > LONGEST)
        return;
    size_t distance = distance_of(nearest->word, candidate);
    /* Swapped letters are two edits. And a word cut short, such as "perf", counts as one. */
    size_t limit = length < 3 ? 1 : length / 3 + 1;
    if (length >= 2 && strncmp(nearest->word, candidate, length) == 0)
        distance = 1;
    if (distance > limit || (nearest->best && distance >= nearest->distance))
        return;
    nearest->best = candidate;
    nearest->distance = distance;
}
