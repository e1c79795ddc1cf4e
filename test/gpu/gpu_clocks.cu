/* How far the device's clock is off the host's, launch by launch: no kernel begins before the call
 * that launches it, none ends after the wait for it returned. The smallest of both distances bounds
 * how far the clocks can be apart; how they change over a minute is the drift. Without Takt.
 *
 * Modes: "own" leaves CUPTI its own clock; "callback" registers a clock when a context exists,
 * "early" before that: then records may be on either clock. */
#include "cupti.cuh"

#include <ctime>

namespace
{

uint64_t CUPTIAPI registered(void)
{
    return takt_now_ns();
}

struct Launch {
    uint64_t before, after, mono_before, mono_after;
};

struct Distances {
    std::vector<double> begin_ns, end_ns; /* kernel's begin less launch, wait's end less kernel's */
};

Launch launch_one()
{
    Launch launch;
    launch.mono_before = takt_now_ns();
    launch.before = raw::now_ns();
    spin_10us<<<1, 1>>>();
    CHECK(cudaDeviceSynchronize());
    launch.after = raw::now_ns();
    launch.mono_after = takt_now_ns();
    return launch;
}

/* The records of these launches, in their order, since each was waited for. */
std::vector<raw::Record> records_of(const std::vector<Launch> &launches)
{
    raw::collect();
    std::lock_guard<std::mutex> hold(raw::lock);
    std::vector<raw::Record> found;
    found.swap(raw::records);
    std::sort(found.begin(), found.end(), [](const raw::Record &a, const raw::Record &b) {
        return a.correlation < b.correlation;
    });
    if (found.size() != launches.size()) { /* then nobody knows which one is whose */
        std::printf("%zu records of %zu launches\n", found.size(), launches.size());
        found.clear();
    }
    return found;
}

Distances burst(int count)
{
    std::vector<Launch> launches;
    Distances distances;
    for (int i = 0; i < count; i++)
        launches.push_back(launch_one());
    std::vector<raw::Record> found = records_of(launches);
    for (size_t i = 0; i < found.size(); i++) {
        distances.begin_ns.push_back(static_cast<double>(found[i].begin_ns) -
                                     static_cast<double>(launches[i].before));
        distances.end_ns.push_back(static_cast<double>(launches[i].after) -
                                   static_cast<double>(found[i].end_ns));
    }
    return distances;
}

void tell_distances(const char *mode, const Distances &d)
{
    key(quantile(d.begin_ns, 0.0), "ns", "clocks.%s.begin_less_launch.smallest", mode);
    tell(median(d.begin_ns), "ns", "clocks.%s.begin_less_launch.median", mode);
    key(quantile(d.end_ns, 0.0), "ns", "clocks.%s.wait_less_end.smallest", mode);
    tell(median(d.end_ns), "ns", "clocks.%s.wait_less_end.median", mode);
    auto negative = [](double ns) { return ns < 0.0; };
    key(static_cast<double>(std::count_if(d.begin_ns.begin(), d.begin_ns.end(), negative)),
        "launches", "clocks.%s.begins_before_launch", mode);
    key(static_cast<double>(std::count_if(d.end_ns.begin(), d.end_ns.end(), negative)), "launches",
        "clocks.%s.ends_after_wait", mode);
}

/* The slope of a straight line through the points, in value a second. */
double slope(const std::vector<double> &seconds, const std::vector<double> &values)
{
    double n = static_cast<double>(seconds.size()), x = 0, y = 0, xx = 0, xy = 0;
    for (size_t i = 0; i < seconds.size(); i++) {
        x += seconds[i];
        y += values[i];
        xx += seconds[i] * seconds[i];
        xy += seconds[i] * values[i];
    }
    return n * xx - x * x > 0.0 ? (n * xy - x * y) / (n * xx - x * x) : 0.0;
}

void own_clock()
{
    const char *wish = std::getenv("GPU_CLOCK_SECONDS");
    const double seconds = wish ? std::atof(wish) : is_quick() ? 5.0 : 60.0;
    tell_distances("own", burst(is_quick() ? 300 : 2000));
    std::vector<double> at, begins, ends;
    uint64_t begin = takt_now_ns();
    double now = 0.0;
    while (now < seconds) {
        Distances d = burst(100);
        at.push_back(now);
        begins.push_back(quantile(d.begin_ns, 0.0));
        ends.push_back(quantile(d.end_ns, 0.0));
        if (static_cast<int>(now) % 10 == 0)
            std::printf("clocks.own at %.1f s: begin less launch %.0f ns, wait less end %.0f ns\n",
                        now, begins.back(), ends.back());
        pause_ms(std::min(1000.0, seconds * 100.0));
        now = static_cast<double>(takt_now_ns() - begin) / 1e9;
    }
    tell(now, "s", "clocks.own.watched");
    key(slope(at, begins), "ns_a_second", "clocks.own.drift_of_begins");
    tell(slope(at, ends), "ns_a_second", "clocks.own.drift_of_ends");
    key(quantile(begins, 1.0) - quantile(begins, 0.0), "ns", "clocks.own.begins_vary_by");
}

/* On which clock are the records, once another one is registered? */
void other_clock(const char *mode)
{
    std::vector<Launch> launches;
    double on_own = 0, on_registered = 0, zero = 0, neither = 0;
    for (int i = 0; i < 300; i++)
        launches.push_back(launch_one());
    std::vector<raw::Record> found = records_of(launches);
    timespec real;
    clock_gettime(CLOCK_REALTIME, &real);
    const uint64_t shift = static_cast<uint64_t>(real.tv_sec) * 1000000000u +
                           static_cast<uint64_t>(real.tv_nsec) - takt_now_ns();
    const uint64_t slack = 1000000;
    for (size_t i = 0; i < found.size(); i++) {
        const Launch &l = launches[i];
        uint64_t at = found[i].begin_ns;
        bool is_registered = at + slack >= l.mono_before && at <= l.mono_after + slack;
        bool is_real = at + slack >= l.mono_before + shift && at <= l.mono_after + shift + slack;
        (at == 0 ? zero : is_registered ? on_registered : is_real ? on_own : neither)++;
    }
    key(on_registered, "records", "clocks.%s.on_registered_clock", mode);
    key(on_own, "records", "clocks.%s.on_realtime", mode);
    tell(zero, "records", "clocks.%s.without_times", mode);
    tell(neither, "records", "clocks.%s.elsewhere", mode);
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 2)
        return run_modes(argv[0], {"own", "callback", "early"}, 100);
    const std::string mode = argv[1];
    if (mode == "early") {
        int count = 0;
        if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0)
            need_device();
        raw::start();
        CUPTI_CHECK(cuptiActivityRegisterTimestampCallback, registered);
    }
    need_device();
    raw::tell_version();
    if (mode != "early")
        raw::start();
    if (mode == "callback")
        CUPTI_CHECK(cuptiActivityRegisterTimestampCallback, registered);
    raw::enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    for (int i = 0; i < 20; i++)
        launch_one();
    raw::collect();
    {
        std::lock_guard<std::mutex> hold(raw::lock);
        raw::records.clear();
    }
    if (mode == "own")
        own_clock();
    else
        other_clock(argv[1]);
    return finish();
}
