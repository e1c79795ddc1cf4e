/* What CUPTI gives back, and when: plain and forced flushes while the device is busy, what becomes
 * of records that a forced flush gave up, what CUPTI still holds when all is done, and whether
 * small buffers come back by themselves. Without Takt; a process for each mode. */
#include "cupti.cuh"

#include <map>

namespace
{

/* Kernels of a millisecond, two each millisecond, so that the device never idles. */
void busy(const char *mode, bool forced)
{
    const int launches = is_quick() ? 60 : 300;
    std::vector<cudaEvent_t> done(static_cast<size_t>(launches));
    double share_sum = 0.0, flush_us = 0.0;
    int flushes = 0;
    for (cudaEvent_t &event : done)
        CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    raw::start();
    raw::enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    for (int i = 0; i < launches; i++) {
        spin_1ms<<<1, 1>>>();
        CHECK(cudaEventRecord(done[static_cast<size_t>(i)]));
        pause_ms(0.5);
        if (i % 10 != 9)
            continue;
        size_t finished = 0;
        for (int j = 0; j <= i; j++)
            finished += cudaEventQuery(done[static_cast<size_t>(j)]) == cudaSuccess;
        uint64_t begin = takt_now_ns();
        flushes++;
        raw::flush(forced);
        flush_us += static_cast<double>(takt_now_ns() - begin) / 1e3;
        size_t got = raw::finished_kernels();
        share_sum += finished ? static_cast<double>(got) / static_cast<double>(finished) : 1.0;
        if (i + 1 == launches)
            key(finished ? 100.0 * static_cast<double>(got) / static_cast<double>(finished) : 100.0,
                "%_of_finished_at_last_busy_flush", "flush.%s.got", mode);
    }
    tell(100.0 * share_sum / flushes, "%_of_finished", "flush.%s.got_mean", mode);
    tell(flush_us / flushes, "us", "flush.%s.cost", mode);
    CHECK(cudaDeviceSynchronize());
    pause_ms(20);
    tell(raw::requested, "buffers", "flush.%s.asked_for_of_%d_flushes", mode, flushes);
    tell(static_cast<double>(raw::requested - raw::completed), "buffers", "flush.%s.held_when_idle",
         mode);
    raw::flush(false);
    tell(static_cast<double>(raw::finished_kernels()), "kernels", "flush.%s.after_plain_when_idle",
         mode);
    key(static_cast<double>(raw::requested - raw::completed), "buffers",
        "flush.%s.held_after_plain_when_idle", mode);
    raw::collect();

    std::map<uint32_t, int> ends, starts_only;
    for (const raw::Record &record : raw::arrived())
        (record.end_ns ? ends : starts_only)[record.correlation]++;
    int later = 0, twice = 0;
    for (const auto &given_up : starts_only)
        later += ends.count(given_up.first) != 0;
    for (const auto &end : ends)
        twice += end.second > 1;
    tell(launches, "kernels", "flush.%s.launched", mode);
    (forced ? key : tell)(static_cast<double>(ends.size()), "kernels", "flush.%s.in_the_end", mode);
    (forced ? key : tell)(static_cast<double>(starts_only.size()), "records", "flush.%s.given_up",
                          mode);
    (forced ? key : tell)(later, "records", "flush.%s.given_up_that_came_later", mode);
    tell(twice, "records", "flush.%s.finished_twice", mode);
    tell(static_cast<double>(raw::dropped()), "records", "flush.%s.dropped", mode);
    EXPECT(ends.size() <= static_cast<size_t>(launches), "more kernels than launches");
}

/* Whether buffers of a few records come back without any flush. */
void small(const char *mode, size_t records, bool by_bytes)
{
    const int launches = 512;
    raw::buffer_records = by_bytes ? 0 : records;
    raw::buffer_bytes = by_bytes ? records * sizeof(CUpti_ActivityKernel10) : 1 << 20;
    raw::start();
    raw::enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    for (int i = 0; i < launches; i++)
        nothing<<<1, 1>>>();
    CHECK(cudaDeviceSynchronize());
    int while_busy = raw::completed;
    pause_ms(200);
    const std::string name = std::string("flush.") + mode;
    tell(while_busy, "buffers", "%s.back_at_wait", name.c_str());
    key(raw::completed, "buffers", "%s.back_without_flush", name.c_str());
    tell(raw::requested, "buffers", "%s.asked_for", name.c_str());
    raw::flush(false);
    tell(raw::completed, "buffers", "%s.back_after_plain", name.c_str());
    raw::collect();
    tell(raw::completed, "buffers", "%s.back_after_forced", name.c_str());
    tell(static_cast<double>(raw::fullest), "records", "%s.fullest", name.c_str());
    tell(static_cast<double>(raw::record_count), "records", "%s.records", name.c_str());
    tell(static_cast<double>(raw::dropped()), "records", "%s.dropped", name.c_str());
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 2 && is_quick())
        return run_modes(argv[0], {"plain", "forced", "records-1", "records-16", "bytes-16"}, 20);
    if (argc < 2)
        return run_modes(argv[0],
                         {"plain", "forced", "records-1", "records-16", "records-128", "bytes-1",
                          "bytes-16", "bytes-128"},
                         20);
    const std::string mode = argv[1];
    need_device();
    raw::tell_version();
    if (mode == "plain" || mode == "forced")
        busy(argv[1], mode == "forced");
    else
        small(argv[1], std::strtoul(mode.c_str() + mode.find('-') + 1, nullptr, 10),
              mode[0] == 'b');
    return finish();
}
