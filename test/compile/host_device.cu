/* A function for host and device, as simulators have them, with every macro in it (CASE 1), or with a
 * function that cannot work in a kernel (CASE 2 to 6). */
#include <takt/compat/tracy.h>
#include <takt/takt.hpp>

template <typename T> __host__ __device__ inline T pressure(T x)
{
#if CASE == 1
    TAKT_FUNCTION();
    TAKT_SCOPE("scope");
    TAKT_SCOPE_IN("io", 3, "in");
    TAKT_SCOPE_COLOR(0xff, "color");
    TAKT_ACTIVITY("cpu", TAKT_TIMING_KERNEL, "activity");
    TAKT_PHASE("phase");
    TAKT_MARK("mark");
    TAKT_COUNTER("counter", x);
    TAKT_COUNTER("lambda", [&] { return x; }());
    TAKT_ARG("number", x);
    TAKT_ARG("bool", true);
    TAKT_ARG("text", "text");
    TAKT_WORK(x, 1);
    TAKT_BEGIN("pair");
    TAKT_END("pair");
    TAKT_FRAME("frame");
    TAKT_OPEN(scope, "open");
    TAKT_CLOSE(scope);
    TAKT_STREAM_SCOPE(nullptr, "stream");
    TAKT_LAUNCH(nullptr, TAKT_TIMING_KERNEL, "launch")
    {
    }
    TAKT_TIMER("timer");
    TAKT_TIMER("report", takt::ScopedTimer::Options().synchronize(),
               [&](const takt_timing *, const char *) {});
    TAKT_TIMER_BEGIN(timer, "timer");
    TAKT_TIMER_END(timer);
    ZoneScoped;
    ZoneNamedN(zone, "zone", true);
    ZoneTransientN(made, "made", true);
    ZoneValue(3);
    ZoneText("text", 4);
    FrameMark;
    FrameMarkStart("frame");
    FrameMarkEnd("frame");
    TracyPlot("plot", x);
    TracyAlloc(&x, 4);
    TracyFree(&x);
    TracyMessageL("message");
    TracyMessage("message", 7);
    TracyFiberEnter("fiber");
    TracyFiberLeave;
#elif CASE == 2
    takt_begin("name");
#elif CASE == 3
    takt::Scope scope("name");
#elif CASE == 4
    takt::Event event;
#elif CASE == 5
    takt::ScopedTimer timer("name");
#elif CASE == 6
    takt_memory_allocated(&x, 4);
#endif
    return x * x + 1;
}

__global__ void kernel(float *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] = pressure(p[i]);
}

float on_host(float x)
{
    return pressure(x);
}
