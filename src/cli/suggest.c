/* Which known name a mistyped word was meant to be: the one with the fewest letters inserted, left
 * out and replaced (Levenshtein's distance), if they are few. */
#include "base/text.h"
#include "cli/cli.h"

#include <string.h>

void cli_nearest_try(cli_nearest *nearest, const char *candidate)
{
    size_t length = strlen(nearest->word);
    /* Swapped letters are two edits. And a word cut short, such as "perf", counts as one. */
    size_t limit = length < 3 ? 1 : length / 3 + 1;
    size_t distance = tkt_edit_distance(nearest->word, candidate, limit);
    if (length >= 2 && strncmp(nearest->word, candidate, length) == 0)
        distance = 1;
    if (distance > limit || (nearest->best && distance >= nearest->distance))
        return;
    nearest->best = candidate;
    nearest->distance = distance;
}
