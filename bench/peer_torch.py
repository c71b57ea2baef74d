"""The rows of bench/compare.py in PyTorch and NumPy, the best way of writing each that we know. A worker: reads the name
of a row a line, answers with one JSON object a line: {"median_ms", "min_ms", "p90_ms", "runs"} or {"error"}."""

import json
import math
import statistics
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)


def times(call, seconds):
    """Milliseconds a call, in groups that take a tenth of a millisecond at least."""
    for _ in range(3):
        call()
    begin = time.perf_counter()
    call()
    once = time.perf_counter() - begin
    group = max(1, int(1e-4 / max(once, 1e-9)))
    taken = []
    start = time.perf_counter()
    while len(taken) < 5 or (time.perf_counter() - start < seconds and len(taken) < 10000):
        begin = time.perf_counter()
        for _ in range(group):
            call()
        taken.append((time.perf_counter() - begin) / group * 1e3)
    taken.sort()
    return {
        "median_ms": statistics.median(taken),
        "min_ms": taken[0],
        "p90_ms": taken[min(len(taken) - 1, len(taken) * 9 // 10)],
        "runs": len(taken),
    }


def product(m, k, n):
    x, w, out = torch.rand(m, k), torch.rand(k, n), torch.empty(m, n)
    return lambda: torch.mm(x, w, out=out)


def classifier():
    return nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10))


def lenet():
    return nn.Sequential(
        nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(3136, 128), nn.ReLU(), nn.Linear(128, 10))


class Residual(nn.Module):
    def __init__(self, inside, outside, stride):
        super().__init__()
        self.first = nn.Sequential(
            nn.Conv2d(inside, outside, 3, stride, 1, bias=False), nn.BatchNorm2d(outside), nn.ReLU(),
            nn.Conv2d(outside, outside, 3, 1, 1, bias=False), nn.BatchNorm2d(outside))
        same = stride == 1 and inside == outside
        self.second = nn.Identity() if same else nn.Sequential(
            nn.Conv2d(inside, outside, 1, stride, bias=False), nn.BatchNorm2d(outside))

    def forward(self, x):
        return F.relu(self.first(x) + self.second(x))


def resnet():
    parts = [nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU()]
    inside = 64
    for outside, stride in ((64, 1), (64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1)):
        parts.append(Residual(inside, outside, stride))
        inside = outside
    return nn.Sequential(*parts, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10))


class Layer(nn.Module):
    def __init__(self, width=256, heads=4, wide=1024):
        super().__init__()
        self.heads = heads
        self.norm0, self.norm1 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.joined = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, wide), nn.Linear(wide, width)

    def forward(self, x):
        batch, length, width = x.shape
        size = width // self.heads
        q, k, v = self.qkv(self.norm0(x)).view(batch, length, 3, self.heads, size).permute(2, 0, 3, 1, 4)
        weights = torch.softmax(torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(size), -1)
        x = x + self.joined(torch.matmul(weights, v).transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.norm1(x))))


def encoder():
    return nn.Sequential(Layer(), Layer())


def inference(model, shape):
    """The fastest of plain calls, a frozen script, and one that PyTorch optimizes for inference."""
    model = model.eval()
    x = torch.randn(*shape)
    forms = [model]
    with torch.no_grad():
        for optimize in (torch.jit.freeze, torch.jit.optimize_for_inference):
            try:
                traced = torch.jit.trace(model, x)
                forms.append(optimize(traced.eval()))
            except Exception:  # not every version can, of every model
                pass

        def call_of(form):
            def call():
                with torch.no_grad():
                    form(x)
            return call

        return min((call_of(form) for form in forms), key=lambda call: times(call, 0.1)["median_ms"])


def step(model, shape, loss, target, optimizer):
    model = model.train()
    x = torch.randn(*shape)
    update = optimizer(model.parameters())

    def call():
        update.zero_grad(set_to_none=False)
        loss(model(x), target).backward()
        update.step()

    return call


def hand_step_of():
    """The whole step as one script with gradients written by hand."""

    @torch.jit.script
    def run(x, hot, w0, b0, w1, b1, rate: float):
        product0 = torch.addmm(b0, x, w0)
        hidden = torch.relu(product0)
        g = (torch.softmax(torch.addmm(b1, hidden, w1), 1) - hot) / x.size(0)
        gh = torch.mm(g, w1.t()) * (hidden > 0)
        w1.sub_(torch.mm(hidden.t(), g), alpha=rate)
        b1.sub_(g.sum(0), alpha=rate)
        w0.sub_(torch.mm(x.t(), gh), alpha=rate)
        b0.sub_(gh.sum(0), alpha=rate)

    w0, b0, w1, b1 = torch.randn(784, 128) / 28, torch.zeros(128), torch.randn(128, 10) / 11, torch.zeros(10)
    return lambda x, hot: run(x, hot, w0, b0, w1, b1, 1e-6)


def hand_step():
    run = hand_step_of()
    x = torch.rand(64, 784)
    hot = F.one_hot(torch.zeros(64, dtype=torch.long), 10).float()
    return lambda: run(x, hot)


def mlp_epoch(optimizer=None):
    """An epoch of 59,968 rows in a new order, 64 a step."""
    x, targets = torch.rand(59968, 784), torch.arange(59968) % 10
    if optimizer:
        model = classifier().train()
        update = optimizer(model.parameters())

        def run(rows):
            update.zero_grad(set_to_none=False)
            F.cross_entropy(model(x[rows]), targets[rows]).backward()
            update.step()
    else:
        by_hand, hot = hand_step_of(), F.one_hot(targets, 10).float()

        def run(rows):
            by_hand(x[rows], hot[rows])

    def call():
        order = torch.randperm(59968)
        for begin in range(0, 59968, 64):
            run(order[begin:begin + 64])

    return call


def logistic():
    x, y = np.random.rand(64, 32, 2).astype(np.float32), np.zeros((64, 32), np.float32)

    def call():
        w, b = np.zeros(2, np.float32), np.float32(0)
        for i in range(10000):
            rows = x[i % 64]
            error = 1 / (1 + np.exp(-(rows @ w + b))) - y[i % 64]
            w = w - error @ rows * np.float32(0.003125)
            b = b - error.mean() * np.float32(0.1)

    return call


def chain():
    x, a, b = torch.rand(4194304), torch.empty(4194304), torch.empty(4194304)

    def call():
        torch.mul(x, 1.5, out=a)
        a.add_(0.5).tanh_()
        torch.sigmoid(x, out=b)
        a.mul_(b).add_(x)

    return call


def unary(make):
    x = torch.rand(4096, 1024)
    return make(x)


def transposed(x):
    out = torch.empty(1024, 4096)
    return lambda: out.copy_(x.t())


def sgd(parameters):
    return torch.optim.SGD(parameters, lr=1e-6)


def momentum(parameters):
    return torch.optim.SGD(parameters, lr=1e-6, momentum=0.9)


def adam(parameters):
    return torch.optim.Adam(parameters, lr=1e-6)


def quickest(calls):
    return min(calls, key=lambda call: times(call, 0.1)["median_ms"])


CLASSES = {n: torch.zeros(n, dtype=torch.long) for n in (32, 64)}
ROWS = {
    "mlp_1": lambda: inference(classifier(), (1, 784)),
    "mlp_64": lambda: inference(classifier(), (64, 784)),
    "mlp_sgd": lambda: quickest(
        [hand_step(), step(classifier(), (64, 784), F.cross_entropy, CLASSES[64], sgd)]),
    "mlp_adam": lambda: step(classifier(), (64, 784), F.cross_entropy, CLASSES[64], adam),
    "mlp_epoch_sgd": lambda: quickest([mlp_epoch(), mlp_epoch(sgd)]),
    "mlp_epoch_adam": lambda: mlp_epoch(adam),
    "lenet": lambda: inference(lenet(), (64, 1, 28, 28)),
    "lenet_sgd": lambda: step(lenet(), (64, 1, 28, 28), F.cross_entropy, CLASSES[64], sgd),
    "resnet18": lambda: inference(resnet(), (32, 3, 32, 32)),
    "resnet18_momentum": lambda: step(resnet(), (32, 3, 32, 32), F.cross_entropy, CLASSES[32], momentum),
    "encoder": lambda: inference(encoder(), (8, 128, 256)),
    "encoder_adam": lambda: step(encoder(), (8, 128, 256), F.mse_loss, torch.zeros(8, 128, 256), adam),
    "chain": chain,
    "softmax": lambda: unary(lambda x: lambda: torch.softmax(x, -1)),
    "layer_norm": lambda: unary(
        lambda x: lambda g=torch.ones(1024), b=torch.zeros(1024): F.layer_norm(x, (1024,), g, b)),
    "sum_columns": lambda: unary(lambda x: lambda: x.sum(0)),
    "sum_rows": lambda: unary(lambda x: lambda: x.sum(1)),
    "transpose": lambda: unary(transposed),
    "logistic": logistic,
}


def made(name):
    if name.startswith("product_"):
        return product(*map(int, name.split("_")[1:]))
    if name.startswith("naive_"):
        return product(*[int(name.split("_")[1])] * 3)
    return ROWS[name]()


def main():
    threads = int(sys.argv[1])
    torch.set_num_threads(threads)
    torch.set_flush_denormal(False)
    known = {}
    for line in sys.stdin:
        name, seconds = line.split()
        try:
            if name not in known:
                known.clear()  # the memory of one row at a time
                known[name] = made(name)
            answer = times(known[name], float(seconds))
        except Exception as error:  # told to the other side, which goes on with the next row
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
