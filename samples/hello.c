/* Hello: one scope, a profiler around it, and a table of where the time went.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <takt/takt.h>

#include <stdio.h>

int main(void)
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    takt_profiler *profiler = NULL;
    double pi = 0.0;

    options.reports = (const char *const[]){"scopes"};
    options.report_count = 1;
    takt_profiler_create(&options, &profiler);
    takt_profiler_start(profiler);
    for (int round = 0; round < 1000; round++) {
        TAKT_SCOPE("a thousand terms");
        for (int k = round * 1000; k < (round + 1) * 1000; k++)
            pi += (k % 2 ? -4.0 : 4.0) / (2.0 * k + 1.0); /* the Leibniz series */
    }
    takt_profiler_stop(profiler); /* prints the table */
    takt_profiler_destroy(profiler);
    printf("pi is about %.5f\n", pi);
    return pi > 3.14158 && pi < 3.14160 ? 0 : 1;
}
