/* Which known name a mistyped word was meant to be. The distance is Damerau's, restricted to
 * neighbours (optimal string alignment): swapped letters are the commonest slip of the hand, and
 * count once. */
#include "cli/cli.h"

#include <string.h>

enum {
    LONGEST = 40 /* no option is longer; a longer word is no slip of one */
};

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Three rows of the table are enough: this one, the one before, and the one before that. */
static size_t distance_of(const char *a, const char *b)
{
    size_t width = strlen(b);
    size_t rows[3][LONGEST + 1];

    for (size_t j = 0; j <= width; j++)
        rows[0][j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i + 2) % 3];
        const size_t *second = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= width; j++) {
            row[j] = above[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = smaller(row[j], smaller(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = smaller(row[j], second[j - 2] + 1);
        }
    }
    return rows[strlen(a) % 3][width];
}

void cli_nearest_try(cli_nearest *nearest, const char *candidate)
{
    size_t length = strlen(nearest->word);
    if (length > LONGEST || strlen(candidate) > LONGEST)
        return;
    size_t distance = distance_of(nearest->word, candidate);
    /* One slip in three letters; and a word cut short, such as "perf", counts as one. */
    size_t limit = length < 3 ? 1 : length / 3 + 1;
    if (length >= 2 && strncmp(nearest->word, candidate, length) == 0)
        distance = 1;
    if (distance > limit || (nearest->best && distance >= nearest->distance))
        return;
    nearest->best = candidate;
    nearest->distance = distance;
}
