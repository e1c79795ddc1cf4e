/* Graph: a step is captured into a CUDA graph once and launched many times.
 *
 * The sample times the graph in two ways. Events recorded during capture become nodes of the graph,
 * and measure the time between two points inside each launch. The profiler assigns the work of the
 * graph to the scope that launches it: either node by node, or each launch as one activity, which
 * costs the device less.
 *
 * The step diffuses heat on a ring; the total heat must stay constant.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <takt/takt.hpp>

#include "sample.cuh"

#include <cmath>
#include <vector>

static const int cells = 1 << 16;
static const int sweeps = 8; /* kernels in a step */
static const int steps = 20;
static const int threads = 256;

static __global__ void diffuse(double *to, const double *from)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= cells)
        return;
    double left = from[i > 0 ? i - 1 : cells - 1], right = from[i < cells - 1 ? i + 1 : 0];
    to[i] = from[i] + 0.25 * (left - 2.0 * from[i] + right);
}

/* Captures the step, with events around its second half. */
static cudaGraphExec_t capture(cudaStream_t stream, double *heat[2], takt::Event &middle,
                               takt::Event &end)
{
    cudaGraph_t graph;
    cudaGraphExec_t step;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int sweep = 0; sweep < sweeps; sweep++) {
        if (sweep == sweeps / 2)
            middle.record(stream);
        diffuse<<<sample_blocks(cells, threads), threads, 0, stream>>>(heat[(sweep + 1) % 2],
                                                                       heat[sweep % 2]);
    }
    end.record(stream);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&step, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    return step;
}

/* Launches the steps inside a profiler, which prints the device work of each scope. The graph is
 * made while the profiler records: CUDA reports only such graphs as a whole. */
static void run(const char *title, takt_graph graph, cudaStream_t stream, double *heat[2])
{
    static const char *const reports[] = {"scopes", "activities"};
    takt::Event middle, end;
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    options.reports = reports;
    options.report_count = 2;
    options.graph = graph;
    takt::Profiler profiler(options);
    std::printf("%s:\n", title);
    profiler.start();
    cudaGraphExec_t step = capture(stream, heat, middle, end);
    for (int i = 0; i < steps; i++) {
        TAKT_SCOPE("step");
        CHECK(cudaGraphLaunch(step, stream));
    }
    CHECK(cudaStreamSynchronize(stream));
    profiler.stop(); /* prints the tables */
    std::printf("The second half of the last step took %.6f ms, by events in the graph.\n\n",
                end.elapsed_ms_since(middle));
    CHECK(cudaGraphExecDestroy(step));
}

int main()
{
    double *heat[2];
    cudaStream_t stream;
    std::vector<double> host(cells, 0.0);
    host[cells / 3] = 1000.0;

    sample_need_device();
    const bool computes = sample_computes();
    CHECK(cudaStreamCreate(&stream));
    for (int i = 0; i < 2; i++)
        CHECK(cudaMalloc(&heat[i], cells * sizeof(double)));
    CHECK(cudaMemcpy(heat[0], host.data(), cells * sizeof(double), cudaMemcpyHostToDevice));

    run("Node by node", TAKT_GRAPH_NODE, stream, heat);
    run("Each launch as one", TAKT_GRAPH_LAUNCH, stream, heat);

    CHECK(cudaMemcpy(host.data(), heat[0], cells * sizeof(double), cudaMemcpyDeviceToHost));
    double sum = 0.0, highest = 0.0;
    for (double value : host) {
        sum += value;
        highest = std::fmax(highest, value);
    }
    std::printf("heat %.6f, at most %.6f in one cell\n", sum, highest);
    for (int i = 0; i < 2; i++)
        CHECK(cudaFree(heat[i]));
    CHECK(cudaStreamDestroy(stream));
    return !computes || (std::fabs(sum - 1000.0) < 1e-6 && highest < 100.0) ? 0 : 1;
}
