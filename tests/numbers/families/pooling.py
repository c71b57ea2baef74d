"""Pools of every rank and their gradients as operators: windows by slices, checked against PyTorch where it has them."""
import itertools

import numpy as np
import torch
import torch.nn.functional as F

from families.convolution import BOTH, SPATIAL, arranged, both_sides, listed, of_nothing, random, rank_of
from oracle.cases import File

THEIRS = {"max": {1: F.max_pool1d, 2: F.max_pool2d, 3: F.max_pool3d}, "avg": {1: F.avg_pool1d, 2: F.avg_pool2d, 3: F.avg_pool3d}}


def pool(kind, n):
    def call(x, pool_size=1, strides=1, padding=0, dilation=1, ceil_mode=False, count_include_pad=None, layout=None, out_layout=None):
        letters = SPATIAL[n]
        layout = layout or "NC" + letters
        x = arranged(x, layout, "NC" + letters)
        whole = pool_size is None
        k = list(x.shape[2:]) if whole else listed(pool_size, n) * (n if len(listed(pool_size, n)) == 1 else 1)
        s, d, p = listed(strides, n), listed(dilation, n), both_sides(padding, n)
        include = n != 2 if count_include_pad is None else count_include_pad
        counts, sides = [], []
        for i in range(n):
            room = x.shape[2 + i] + p[i] + p[n + i] - d[i] * (k[i] - 1) - 1
            count = (-(-room // s[i]) if ceil_mode else room // s[i]) + 1
            while ceil_mode and (count - 1) * s[i] >= x.shape[2 + i] + p[i]:
                count -= 1
            counts.append(count)
            sides = [p[i], p[n + i] + s[i] + d[i] * k[i]] + sides
        fill = -np.inf if kind == "max" else 0.0
        wide = F.pad(x if x.is_floating_point() else x.double(), sides, value=fill)
        inside = torch.ones_like(x, dtype=torch.float64)
        if include:
            inside = F.pad(inside, [p[i + n * side] for i in reversed(range(n)) for side in (0, 1)], value=1.0)
            sides = [v - (p[n - 1 - j // 2] if j % 2 == 0 else p[2 * n - 1 - j // 2]) for j, v in enumerate(sides)]
        inside = F.pad(inside, sides)

        def cells(values):
            for at in itertools.product(*[range(size) for size in k]):
                index = [slice(None), slice(None)]
                for i in range(n):
                    start = at[i] * d[i]
                    index.append(slice(start, start + (counts[i] - 1) * s[i] + 1, s[i]))
                yield values[tuple(index)]

        stacked = torch.stack(list(cells(wide)))
        if kind == "max":
            y = stacked.max(0).values
        else:
            y = stacked.sum(0) / torch.stack(list(cells(inside))).sum(0).clamp(min=1)
        same = all(p[i] == p[n + i] and 2 * p[i] <= k[i] for i in range(n))
        if same and x.numel() and (kind == "max" or max(d) == 1):
            if kind == "max":
                theirs = THEIRS[kind][n](x.detach().double(), k, s, p[:n], d, ceil_mode)
            else:
                theirs = THEIRS[kind][n](x.detach().double(), k, s, p[:n], ceil_mode, include)
            assert torch.allclose(theirs, y.detach().double(), rtol=1e-12, atol=1e-12), (n, pool_size, strides, padding)
        y = y if x.is_floating_point() else y.trunc().to(x.dtype)
        return arranged(y, "NC" + letters, out_layout or layout).contiguous()

    return call


CASES = {
    1: [((2, 3, 7), dict(pool_size=2)), ((1, 2, 8), dict(pool_size=3, strides=2, padding=1)), ((1, 2, 9), dict(pool_size=3, strides=3, padding=[1, 0], ceil_mode=True)),
        ((1, 1, 9), dict(pool_size=2, dilation=3, padding=1, strides=2)), ((1, 1, 1), {}), ((2, 8, 3), dict(pool_size=2, layout="NWC", out_layout="NCW")),
        ((1, 2, 7), dict(pool_size=3, strides=2, padding=1, ceil_mode=True, count_include_pad=False)),
        ((2, 2, 5), dict(pool_size=None)), ((1, 2, 8), dict(pool_size=[2], strides=[2], padding=[1], dilation=[3])), ((1, 2, 6), dict(pool_size=3, padding=1, count_include_pad=True)),
        ((0, 2, 5), dict(pool_size=2)), ((2, 0, 5), dict(pool_size=3, strides=2, padding=1)), ((2, 2, 1), dict(pool_size=3, padding=1))],
    2: [((2, 3, 5, 6), dict(pool_size=2)), ((1, 2, 7, 6), dict(pool_size=[3, 2], strides=2, padding=1)),
        ((1, 2, 7, 8), dict(pool_size=3, strides=[2, 3], padding=[1, 0, 0, 1], ceil_mode=True, count_include_pad=True)),
        ((1, 1, 7, 6), dict(pool_size=2, dilation=[2, 3], padding=1, strides=[1, 2])), ((1, 1, 1, 1), {}),
        ((2, 5, 4, 3), dict(pool_size=[2, 3], layout="NHWC", out_layout="NCHW")), ((1, 2, 6, 7), dict(pool_size=3, strides=2, padding=1, ceil_mode=True)),
        ((1, 2, 6, 7), dict(pool_size=3, strides=2, padding=1, ceil_mode=True, count_include_pad=True)), ((2, 2, 3, 4), dict(pool_size=None)), ((1, 2, 5, 6), dict(pool_size=[2, 3], dilation=2, padding=1)), ((0, 2, 5, 4), dict(pool_size=2)), ((2, 0, 5, 4), dict(pool_size=[3, 2], strides=2, padding=1)),
        ((0, 4, 4, 3), dict(pool_size=2, layout="NHWC")), ((1, 2, 1, 5), dict(pool_size=[1, 3], padding=[0, 1])),
        ((1, 2, 4, 3, 2), dict(pool_size=[2, 1], layout="NCHW2c")), ((2, 2, 3, 1, 4), dict(pool_size=2, padding=1, layout="NCHW4c", out_layout="NHWC2c"))],
    3: [((1, 2, 3, 4, 5), dict(pool_size=2)), ((1, 1, 5, 4, 3), dict(pool_size=[3, 2, 1], strides=2, padding=[1, 1, 0])),
        ((1, 2, 4, 5, 3), dict(pool_size=2, strides=[2, 3, 2], padding=[1, 0, 1, 0, 1, 0], ceil_mode=True)),
        ((1, 1, 4, 3, 5), dict(pool_size=2, dilation=2, padding=1, count_include_pad=False)), ((1, 1, 1, 1, 1), {}),
        ((1, 3, 4, 2, 2), dict(pool_size=2, layout="NDHWC", out_layout="NCDHW")),
        ((2, 2, 3, 2, 2), dict(pool_size=None)), ((1, 1, 3, 4, 5), dict(pool_size=2, dilation=[1, 3, 2], strides=[1, 1, 2])), ((1, 1, 3, 4, 3), dict(pool_size=[3, 1, 2], padding=[1, 0, 1], count_include_pad=True)),
        ((0, 2, 3, 3, 2), dict(pool_size=2)), ((2, 0, 3, 3, 3), dict(pool_size=3, strides=2, padding=1, ceil_mode=True)), ((2, 1, 3, 1, 2), dict(pool_size=[2, 1, 2]))],
}


def write():
    for n in (1, 2, 3):
        for kind in ("max", "avg"):
            forward = pool(kind, n)
            file = File(f"nn.{kind}_pool{n}d", forward)
            for dtype in BOTH:
                for shape, attributes in CASES[n]:
                    file.add(f"{np.dtype(dtype).name} {shape} {attributes}", random(shape, dtype, 1), **attributes)
            file.add("int32", np.arange(-7, 5, dtype=np.int32).reshape([1, 2] + [1] * (n - 1) + [6]), pool_size=[1] * (n - 1) + [2])
            file.write()

            def backward(g, x, forward=forward, **attributes):
                data = x.detach().clone().requires_grad_(True)
                return torch.autograd.grad(forward(data, **attributes), data, g, create_graph=True)[0]

            # Nothing flows to the data: a choice of cells is constant, and an average is linear.
            file = File(f"grad.{kind}_pool{n}d_backward", lambda g, x, f=backward, **a: f(g, x, **a) + 0 * x)
            for dtype in BOTH:
                for shape, attributes in CASES[n]:
                    shown = forward(torch.zeros(shape), **attributes).shape
                    file.add(f"{np.dtype(dtype).name} {shape} {attributes}", random(tuple(shown), dtype, 3), random(shape, dtype, 1), **attributes)
            file.write()

            letters = SPATIAL[n]
            file = File(f"nn.global_{kind}_pool{n}d", lambda x, layout="NC" + letters, out_layout=None, f=forward: f(x, pool_size=None, layout=layout, out_layout=out_layout,
                                                                                                            count_include_pad=True))
            for dtype in BOTH:
                for shape, attributes in [((2, 3) + (4, 3, 2)[:n], {}), ((1, 1) + (1,) * n, {}), ((1, 2) + (5, 1, 2)[:n], {}), ((3, 1) + (2, 2, 2)[:n], {}), ((0, 2) + (3, 2, 2)[:n], {}), ((2, 0) + (3, 2, 2)[:n], {}),
                                          ((2,) + (3, 2, 2)[:n] + (3,), dict(layout="N" + letters + "C", out_layout="NC" + letters))]:
                    file.add(f"{np.dtype(dtype).name} {shape} {attributes}", random(shape, dtype, 1), **attributes)
            file.write()

    def select(values, x, layout="NCHW", out_layout=None, **attributes):
        n = rank_of(layout)
        forward = pool("max", n)
        if x.numel() == 0:
            shown = pool("max", n)(torch.zeros(x.shape), layout=layout, out_layout=out_layout, **attributes).shape
            return of_nothing(shown, values, x)
        marked = x.detach().clone().requires_grad_(True)
        y = forward(marked, layout=layout, out_layout=out_layout, **attributes)
        chosen = torch.stack([torch.autograd.grad(y.reshape(-1)[i], marked, retain_graph=True)[0].reshape(-1) for i in range(y.numel())])
        return (chosen @ values.reshape(-1)).reshape(y.shape) + 0 * x.sum()

    file = File("grad.max_pool_select", select)
    for dtype in BOTH:
        for n in (1, 2, 3):
            for shape, attributes in CASES[n][:4] + [c for c in CASES[n] if 0 in c[0] or "layout" in c[1] or c[1].get("pool_size", 1) is None]:
                attributes = {"layout": "NC" + SPATIAL[n]} | attributes
                file.add(f"{np.dtype(dtype).name} {shape} {attributes}", random(shape, dtype, 3), random(shape, dtype, 1), **attributes)
    file.write()
