"""What python_loop.py runs: for each workload a step, how to wait for it, and the profiler that its
framework has."""
import glob
import gzip
import json
import os
import tempfile


def torch_model():
    import torch

    torch.manual_seed(1)
    layer = torch.nn.TransformerEncoderLayer(256, 4, 512, dropout=0.0, batch_first=True)
    return torch.nn.TransformerEncoder(layer, 2).cuda(), torch.randn(16, 128, 256, device="cuda")


def torch_training():
    """Forward, backward and optimizer of a small transformer."""
    import torch

    model, data = torch_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)

    def step():
        optimizer.zero_grad(set_to_none=True)
        (model(data) - data).square().mean().backward()
        optimizer.step()

    return step, torch.cuda.synchronize


def torch_graph():
    """The model as a CUDA graph, beside a product on another stream, and a copy to the host."""
    import torch

    model, data = torch_model()
    model.eval()
    side, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
    with torch.no_grad():
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            model(data)
        torch.cuda.current_stream().wait_stream(side)
        with torch.cuda.graph(graph):
            result = model(data)

    def step():
        graph.replay()
        with torch.cuda.stream(side):
            data @ data.transpose(1, 2)
        torch.cuda.current_stream().wait_stream(side)
        result.sum().item()

    return step, torch.cuda.synchronize


def torch_profile(run):
    """Runs under torch.profiler; (name, milliseconds) of each kernel."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA]) as profiler:
        run()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.json")
        profiler.export_chrome_trace(path)
        with open(path, encoding="utf-8", errors="replace") as file:
            events = json.load(file)["traceEvents"]
    return [(e["name"], e["dur"] / 1e3) for e in events if e.get("cat") == "kernel"]


def jax_programs():
    """Training, bodies that attract each other in a loop, and a loop that the device ends."""
    import jax
    import jax.numpy as jnp

    def train(weights, x):
        def loss(weights):
            y = x
            for a, b in weights:
                y = jax.nn.gelu(y @ a) @ b
            return jnp.mean((y - x) ** 2)

        return jax.tree.map(lambda w, d: w - 0.01 * d, weights, jax.grad(loss)(weights))

    def attract(_, bodies):
        p, v = bodies
        apart = p[:, None, :] - p[None, :, :]
        pull = jnp.sum(apart / (1e-2 + jnp.sum(apart * apart, -1, keepdims=True)) ** 1.5, 1)
        v = v - 1e-4 * pull
        return p + 1e-3 * v, v

    def until(y):
        return jax.lax.while_loop(lambda s: s[0] < 5, lambda s: (s[0] + 1, jnp.sin(s[1])), (0, y))[1]

    key = jax.random.PRNGKey(0)
    wide = jax.random.normal(key, (512, 1024)) * 0.02
    x = jax.random.normal(key, (256, 512))
    state = [[(wide, wide.T)] * 4, (jax.random.normal(key, (512, 3)), jnp.zeros((512, 3))), x]
    train, until = jax.jit(train), jax.jit(until)
    fall = jax.jit(lambda bodies: jax.lax.fori_loop(0, 10, attract, bodies))

    def step():
        state[:] = train(state[0], x), fall(state[1]), until(state[2])

    return step, lambda: jax.block_until_ready(state)


def jax_profile(run):
    """Runs under JAX's profiler."""
    import jax

    with tempfile.TemporaryDirectory() as folder:
        with jax.profiler.trace(folder):
            run()
        path = glob.glob(folder + "/**/*.trace.json.gz", recursive=True)[0]
        with gzip.open(path) as file:
            events = json.load(file)["traceEvents"]
    names = {(e["pid"], e.get("tid")): e["args"]["name"] for e in events
             if e.get("name") in ("process_name", "thread_name")}
    return [(e["name"], e["dur"] / 1e3) for e in events
            if e.get("ph") == "X" and "GPU" in names.get((e["pid"], None), "")
            and "Stream" in names.get((e["pid"], e["tid"]), "")]


def cupy_arrays():
    """A kernel from text, a product, a Fourier transform, a sum, and a copy to the host."""
    import cupy

    x = cupy.random.random((1024, 1024), dtype=cupy.float32)
    twist = cupy.RawKernel(r"""extern "C" __global__ void twist(float *x, int n)
    {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n)
            x[i] = x[i] * 1.0001f + 0.5f;
    }""", "twist")

    def step():
        twist((4096,), (256,), (x, 1024 * 1024))
        float(cupy.abs(cupy.fft.fft((x @ x)[:16])).sum())

    return step, cupy.cuda.Device().synchronize


def warp_bodies():
    """Bodies that attract each other, as launches and as a CUDA graph, and a copy to the host."""
    import warp as wp

    wp.config.quiet = True
    wp.init()

    @wp.kernel
    def attract(p: wp.array(dtype=wp.vec3), v: wp.array(dtype=wp.vec3)):
        i = wp.tid()
        pull = wp.vec3(0.0, 0.0, 0.0)
        for j in range(p.shape[0]):
            apart = p[j] - p[i]
            pull += apart / (0.01 + wp.dot(apart, apart))
        v[i] = v[i] + 0.0001 * pull

    @wp.kernel
    def move(p: wp.array(dtype=wp.vec3), v: wp.array(dtype=wp.vec3)):
        i = wp.tid()
        p[i] = p[i] + 0.001 * v[i]

    count = 512
    p = wp.array([[i % 8, i // 8 % 8, i // 64] for i in range(count)], dtype=wp.vec3)
    v = wp.zeros(count, dtype=wp.vec3)

    def fall():
        wp.launch(attract, dim=count, inputs=[p, v])
        wp.launch(move, dim=count, inputs=[p, v])

    fall()
    graph = None
    if wp.get_device().is_cuda:
        with wp.ScopedCapture() as capture:
            for _ in range(5):
                fall()
        graph = capture.graph

    def step():
        fall()
        if graph:
            wp.capture_launch(graph)
        p.numpy()

    return step, wp.synchronize


# name: (module, step, profiler). CuPy and Warp have no profiler: Takt is compared with itself.
WORKLOADS = {
    "torch": ("torch", torch_training, torch_profile),
    "torch-graph": ("torch", torch_graph, torch_profile),
    "jax": ("jax", jax_programs, jax_profile),
    "cupy": ("cupy", cupy_arrays, None),
    "warp": ("warp", warp_bodies, None),
}


def version(module):
    """The framework's release; None where it has no GPU."""
    if module == "torch":
        import torch
        return torch.cuda.is_available() and f"PyTorch {torch.__version__}, CUDA {torch.version.cuda}"
    if module == "jax":
        import jax
        return jax.default_backend() == "gpu" and f"JAX {jax.__version__}"
    if module == "warp":
        import warp
        return warp.is_cuda_available() and f"Warp {warp.__version__}"
    import cupy
    return cupy.cuda.runtime.getDeviceCount() > 0 and f"CuPy {cupy.__version__}"
