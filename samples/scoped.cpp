/* Scoped: Takt in C++, with timers that end with their block, lambdas, and options by name.
 *
 * The work is a matrix product, once in textbook order and once in a cache-friendly order. Both
 * must give the same result.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <takt/takt.hpp>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace
{

const int size = 192;

using Matrix = std::vector<double>;
using Options = takt::ScopedTimer::Options;

Matrix filled(double seed)
{
    Matrix matrix(size * size);
    for (int i = 0; i < size * size; i++)
        matrix[i] = std::sin(seed + i);
    return matrix;
}

/* Walks down columns of b: every element is in another cache line. */
Matrix multiply_plain(const Matrix &a, const Matrix &b)
{
    TAKT_ACTIVITY("cpu", TAKT_TIMING_KERNEL, "plain");
    Matrix c(size * size);
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++)
            for (int k = 0; k < size; k++)
                c[i * size + j] += a[i * size + k] * b[k * size + j];
    return c;
}

/* Walks along the rows of all three matrices. */
Matrix multiply_by_rows(const Matrix &a, const Matrix &b)
{
    TAKT_ACTIVITY("cpu", TAKT_TIMING_KERNEL, "by rows");
    Matrix c(size * size);
    for (int i = 0; i < size; i++)
        for (int k = 0; k < size; k++)
            for (int j = 0; j < size; j++)
                c[i * size + j] += a[i * size + k] * b[k * size + j];
    return c;
}

double largest_difference(const Matrix &a, const Matrix &b)
{
    double largest = 0.0;
    for (int i = 0; i < size * size; i++)
        largest = std::fmax(largest, std::fabs(a[i] - b[i]));
    return largest;
}

} // namespace

int main()
{
    const Matrix a = filled(1.0), b = filled(2.0);
    Matrix plain, by_rows;

    /* Each timer prints its line at the end of its block; nested timers are indented. */
    {
        TAKT_TIMER("both orders");
        {
            TAKT_TIMER("plain order", Options().nvtx().color("yellow"));
            plain = multiply_plain(a, b);
        }
        {
            TAKT_TIMER("by rows", Options().nvtx().color("#00a0ff"));
            by_rows = multiply_by_rows(a, b);
        }
    }

    /* With a filter, the timer lists activities; here a lambda replaces the tables. */
    {
        double total_ms = 0.0;
        TAKT_TIMER("sum of kernels", Options().filter(TAKT_TIMING_KERNEL),
                   [&total_ms](const takt_timing *results, const char *indent) {
                       for (size_t i = 0; i < takt_timing_count(results); i++)
                           total_ms += takt_timing_at(results, i)->elapsed_ms;
                       std::printf("%s%zu kernels, %f ms\n", indent, takt_timing_count(results),
                                   total_ms);
                   });
        multiply_plain(a, b);
        multiply_by_rows(a, b);
    }

    /* Statistics of a block: 20 measured rounds after 2 rounds of warm-up. */
    takt_timed result = takt::timed(20, 2, [&] {
        takt_work(2.0 * size * size * size, 0.0);
        by_rows = multiply_by_rows(a, b);
    });
    takt_timed_print(&result);

    /* The trace outlives its profiler. */
    takt::Trace trace;
    {
        takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
        takt::Profiler profiler(
            options, [&trace](const takt_trace *sealed) { trace = takt::Trace(sealed); });
        profiler.start();
        for (std::string order : {"plain", "by rows"}) {
            takt::Scope scope(("in order: " + order).c_str()); /* name made at run time */
            by_rows = order == "plain" ? multiply_plain(a, b) : multiply_by_rows(a, b);
        }
        profiler.stop();
    }
    takt_sink sink = takt_sink_fd(1);
    std::fflush(stdout);
    if (trace)
        takt_report(trace.get(), "scopes", nullptr, &sink);

    std::printf("largest difference %.3g\n", largest_difference(plain, by_rows));
    return largest_difference(plain, by_rows) < 1e-9 ? 0 : 1;
}
