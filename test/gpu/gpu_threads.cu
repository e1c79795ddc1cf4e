/* Many launching threads: how many buffers CUPTI takes, what is dropped, what it does after a
 * buffer was refused, and how much Takt gets. A process for each mode. */
#include "cupti.cuh"

#include <thread>

namespace
{

const int bursts = 4, burst = 500;

/* Launches on a stream of its own; waits after each burst. */
void launch_bursts()
{
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (int i = 0; i < bursts; i++) {
        TAKT_SCOPE("burst");
        for (int j = 0; j < burst; j++)
            nothing<<<1, 1, 0, stream>>>();
        CHECK(cudaStreamSynchronize(stream));
    }
    CHECK(cudaStreamDestroy(stream));
}

double with_threads(int count)
{
    uint64_t begin = takt_now_ns();
    std::vector<std::thread> threads;
    for (int i = 0; i < count; i++)
        threads.emplace_back(launch_bursts);
    for (std::thread &thread : threads)
        thread.join();
    return static_cast<double>(takt_now_ns() - begin) / 1e3 / (bursts * burst);
}

void by_hand()
{
    raw::start();
    raw::keeps_records = false;
    raw::enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    for (int count : {1, 2, 4, 8, 16, 32}) {
        int requested = raw::requested;
        uint64_t records = raw::record_count;
        double us = with_threads(count);
        CHECK(cudaDeviceSynchronize());
        const int out = raw::requested - raw::completed;
        raw::collect();
        uint64_t got = raw::record_count - records;
        const double launched = static_cast<double>(count) * bursts * burst;
        tell(raw::requested - requested, "buffers", "threads.cupti.%d.asked_for", count);
        tell(out, "buffers", "threads.cupti.%d.out_when_idle", count);
        (count == 32 ? key : tell)(100.0 * static_cast<double>(got) / launched, "%",
                                   "threads.cupti.%d.got", count);
        tell(static_cast<double>(raw::dropped()), "records", "threads.cupti.%d.dropped", count);
        tell(us, "us_a_launch_of_each", "threads.cupti.%d.cost", count);
        EXPECT(got <= static_cast<uint64_t>(launched), "more records than launches");
    }
    tell(raw::most_out, "buffers", "threads.cupti.most_out");
}

/* Four buffers for eight threads: who goes without, and does CUPTI ask again? */
void refuse()
{
    if (raw::version < 27) {
        std::puts("this CUPTI does not survive a refused buffer");
        std::exit(77);
    }
    const int count = 8;
    raw::most_buffers = 4;
    raw::buffer_bytes = 64 << 10;
    raw::keeps_records = false;
    raw::start();
    raw::enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    with_threads(count);
    CHECK(cudaDeviceSynchronize());
    raw::collect();
    const double launched = static_cast<double>(count) * bursts * burst;
    key(100.0 * static_cast<double>(raw::record_count) / launched, "%", "threads.refuse.got");
    key(static_cast<double>(raw::refused), "requests", "threads.refuse.refused");
    key(static_cast<double>(raw::dropped()), "records", "threads.refuse.dropped");
    raw::most_buffers = 1 << 30;
    uint64_t before = raw::record_count;
    int requested = raw::requested;
    with_threads(count);
    CHECK(cudaDeviceSynchronize());
    raw::collect();
    key(100.0 * static_cast<double>(raw::record_count - before) / launched, "%",
        "threads.refuse.got_afterwards");
    tell(raw::requested - requested, "buffers", "threads.refuse.asked_for_afterwards");
}

void tell_takt(const char *mode, const takt_trace *trace, double launched)
{
    Totals totals = totals_of(trace, "burst", "kernel nothing");
    key(100.0 * static_cast<double>(totals.count) / launched, "%", "threads.takt.%s.got", mode);
    for (int i = 0; i < TAKT_LOSS_COUNT; i++) {
        const takt_loss loss = static_cast<takt_loss>(i);
        const uint64_t lost = takt_trace_loss(trace, loss);
        if (lost)
            tell(static_cast<double>(lost), "losses", "threads.takt.%s.%s", mode,
                 takt_loss_name(loss));
    }
    EXPECT(static_cast<double>(totals.count) <= launched, "more activities than launches");
}

/* All threads at once, and as many new ones in each step. */
void by_takt()
{
    for (int count : {1, 8, 32}) {
        takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
        takt::Profiler profiler(options);
        profiler.start();
        with_threads(count);
        profiler.stop();
        takt::Trace trace = profiler.trace();
        if (trace)
            tell_takt(std::to_string(count).c_str(), trace.get(),
                      static_cast<double>(count) * bursts * burst);
    }
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    takt::Profiler profiler(options);
    const int steps = is_quick() ? 10 : 40;
    profiler.start();
    for (int step = 0; step < steps; step++)
        with_threads(2);
    profiler.stop();
    takt::Trace trace = profiler.trace();
    if (trace)
        tell_takt("new_ones", trace.get(), 2.0 * steps * bursts * burst);
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 2)
        return run_modes(argv[0], {"cupti", "refuse", "takt"}, 40);
    need_device();
    raw::tell_version();
    nothing<<<1, 1>>>();
    CHECK(cudaDeviceSynchronize());
    if (argv[1][0] == 'c')
        by_hand();
    else if (argv[1][0] == 'r')
        refuse();
    else
        by_takt();
    return finish();
}
