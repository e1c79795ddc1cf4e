/* Events: takt_event tells what cudaEvent tells about the same places of a stream, and events in a
 * graph are valid after each of its launches. */
#include "gpu.cuh"

namespace
{

/* Between two events that are recorded one after the other, unless the thread is interrupted just
 * there. */
const double beside_us = 20.0;
double furthest_us, closest_us = 1e9;

void expect_like_cuda(cudaStream_t stream)
{
    cudaEvent_t cuda_begin, cuda_end;
    takt::Event begin, end, waited(false);
    float cuda_ms = 0.0f;
    double now_ms = -1.0;
    CHECK(cudaEventCreate(&cuda_begin));
    CHECK(cudaEventCreate(&cuda_end));
    EXPECT(begin && end && waited, "%s", takt_status_text(begin.status()));
    EXPECT(end.query() == TAKT_BAD_STATE, "was never recorded");
    EXPECT(begin.record(stream) == TAKT_OK, "cannot be recorded");
    CHECK(cudaEventRecord(cuda_begin, stream));
    spin_2ms<<<1, 1, 0, stream>>>();
    CHECK(cudaEventRecord(cuda_end, stream));
    EXPECT(end.record(stream) == TAKT_OK, "cannot be recorded");
    EXPECT(waited.record(stream) == TAKT_OK, "cannot be recorded");
    /* The kernel may be done already if this thread was interrupted; CUDA's event then says so. */
    EXPECT(end.query() == TAKT_NOT_READY || cudaEventQuery(cuda_end) == cudaSuccess,
           "is done too early");
    EXPECT(takt_event_elapsed_now_ms(begin.get(), end.get(), &now_ms) == TAKT_NOT_READY ||
               cudaEventQuery(cuda_end) == cudaSuccess,
           "has a time too early");
    EXPECT(waited.synchronize() == TAKT_OK, "cannot be waited for");
    EXPECT(waited.query() == TAKT_OK && end.query() == TAKT_OK, "is not done");
    CHECK(cudaEventElapsedTime(&cuda_ms, cuda_begin, cuda_end));
    double ms = end.elapsed_ms_since(begin);
    tell(ms * 1e3, "us", "events.by_takt");
    tell(static_cast<double>(cuda_ms) * 1e3, "us", "events.by_cuda");
    double apart_us = std::abs(ms - static_cast<double>(cuda_ms)) * 1e3;
    furthest_us = std::max(furthest_us, apart_us);
    closest_us = std::min(closest_us, apart_us);
    EXPECT(takt_event_elapsed_now_ms(begin.get(), end.get(), &now_ms) == TAKT_OK && now_ms == ms,
           "%.6f and %.6f ms", now_ms, ms);
    EXPECT(waited.elapsed_ms_since(begin) < 0.0, "has a time without timing");
    CHECK(cudaEventDestroy(cuda_begin));
    CHECK(cudaEventDestroy(cuda_end));
}

void expect_in_graph(cudaStream_t stream)
{
    cudaGraph_t graph;
    cudaGraphExec_t launchable;
    takt::Event begin, end;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    EXPECT(begin.record(stream) == TAKT_OK, "cannot be captured");
    spin_2ms<<<1, 1, 0, stream>>>();
    EXPECT(end.record(stream) == TAKT_OK, "cannot be captured");
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&launchable, graph, 0));
    for (int launch = 0; launch < 3; launch++) {
        CHECK(cudaGraphLaunch(launchable, stream));
        CHECK(cudaStreamSynchronize(stream));
        double ms = end.elapsed_ms_since(begin);
        tell(ms * 1e3, "us", "events.in_graph.launch_%d", launch);
        EXPECT(ms >= 2.0 && ms < 2.5, "launch %d takes %.6f ms", launch, ms);
    }
    CHECK(cudaGraphExecDestroy(launchable));
    CHECK(cudaGraphDestroy(graph));
}

} // namespace

int main()
{
    cudaStream_t stream;
    need_device();
    CHECK(cudaStreamCreate(&stream));
    for (int round = 0; round < 3; round++) { /* the second one finds events in the pool */
        expect_like_cuda(stream);
        expect_like_cuda(nullptr);
    }
    key(furthest_us, "us", "events.furthest_apart");
    EXPECT(closest_us < beside_us, "never closer than %.3f us", closest_us);
    expect_in_graph(stream);
    CHECK(cudaStreamDestroy(stream));
    return finish();
}
