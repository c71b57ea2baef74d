"""Convolutions of every rank, their transposes and their gradients as operators, after PyTorch."""
import re

import numpy as np
import torch
import torch.nn.functional as F

from oracle.cases import File

BOTH = (np.float32, np.float64)
SPATIAL = {1: "W", 2: "HW", 3: "DHW"}
CONV = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
TRANSPOSE = {1: F.conv_transpose1d, 2: F.conv_transpose2d, 3: F.conv_transpose3d}


def random(shape, dtype=np.float64, seed=0):
    return np.random.default_rng([seed, *shape]).uniform(-2, 2, shape).astype(dtype)


def listed(value, n):
    return list(value) if isinstance(value, (list, tuple)) else [value] * n


def both_sides(padding, n):
    padding = listed(padding, n)
    if len(padding) == 1:
        padding = padding * n
    return padding * 2 if len(padding) == n else padding


def parts_of(layout):
    """The dimensions of a layout: "NCHW4c" is N, C, H, W and c, which holds blocks of 4 of C."""
    return [(letter, int(count or 1)) for count, letter in re.findall(r"([0-9]*)([A-Za-z])", layout)]


def rank_of(layout):
    """The spatial dimensions of a layout."""
    return sum(letter.isupper() for letter in layout) - 2


def arranged(x, layout, order):
    """A tensor of `layout` in the order `order`; each may hold blocks of letters."""
    parts = parts_of(layout)
    # Without blocks: each letter's blocks stand before the places in them.
    outer, sizes = [letter for letter, _ in parts if letter.isupper()], dict(zip([letter for letter, _ in parts], x.shape))
    names = [letter for letter, _ in parts]
    inner = [[letter] + [small for small in names if small == letter.lower()] for letter in outer]
    x = x.permute([names.index(part) for group in inner for part in group])
    x = x.reshape([int(np.prod([sizes[part] for part in group])) for group in inner])
    # And with those of the other.
    blocks = {letter.upper(): count for letter, count in parts_of(order) if letter.islower()}
    split, shape = [], []
    for letter, size in zip(outer, x.shape):
        split += [letter] + ([letter.lower()] if letter in blocks else [])
        shape += [size // blocks[letter], blocks[letter]] if letter in blocks else [size]
    return x.reshape(shape).permute([split.index(letter) for letter, _ in parts_of(order)])


def of_nothing(shape, *parts):
    """Zeros of that shape, sums of no term, which PyTorch refuses to make; the parts have zero gradients."""
    return torch.zeros(shape, dtype=parts[0].dtype) + sum(0 * part.sum() for part in parts)


def forward(n, x, w, strides, padding, dilation, groups):
    """PyTorch's convolution of (N, C, ...) and (O, I, ...), with padding of its own on every side."""
    p = both_sides(padding, n)
    if 0 in x.shape[:2] or w.shape[0] == 0:
        reach = [x.shape[2 + i] + p[i] + p[n + i] - d * (w.shape[2 + i] - 1) - 1 for i, d in enumerate(listed(dilation, n))]
        return of_nothing([x.shape[0], w.shape[0]] + [room // s + 1 for room, s in zip(reach, listed(strides, n))], x, w)
    sides = [side for i in reversed(range(n)) for side in (p[i], p[n + i])]
    return CONV[n](F.pad(x, sides), w, None, listed(strides, n), 0, listed(dilation, n), groups)


def convolution(n):
    def call(x, w, strides=1, padding=0, dilation=1, groups=1, data_layout=None, kernel_layout=None, out_layout=None, out_dtype=None):
        letters = SPATIAL[n]
        data_layout, kernel_layout = data_layout or "NC" + letters, kernel_layout or "OI" + letters
        x, w = arranged(x, data_layout, "NC" + letters), arranged(w, kernel_layout, "OI" + letters)
        y = forward(n, x, w, strides, padding, dilation, groups)
        y = y if out_dtype is None else y.to(getattr(torch, out_dtype))
        return arranged(y, "NC" + letters, out_layout or data_layout).contiguous()

    return call


def transposed(n):
    def call(x, w, strides=1, padding=0, output_padding=0, dilation=1, groups=1, data_layout=None, kernel_layout=None, out_layout=None,
             out_dtype=None):
        letters = SPATIAL[n]
        data_layout, kernel_layout = data_layout or "NC" + letters, kernel_layout or "IO" + letters
        x, w = arranged(x, data_layout, "NC" + letters), arranged(w, kernel_layout, "IO" + letters)
        p, extra = both_sides(padding, n), listed(output_padding, n)
        if not x.is_floating_point():  # which PyTorch does not have
            return call(x.double(), w.double(), strides, padding, output_padding, dilation, groups, data_layout, kernel_layout, out_layout).to(x.dtype)
        if 0 in x.shape[:2] or w.shape[1] == 0:
            steps, spread = listed(strides, n), listed(dilation, n)
            y = of_nothing([x.shape[0], w.shape[1] * groups] + [(x.shape[2 + i] - 1) * steps[i] + spread[i] * (w.shape[2 + i] - 1) + 1 for i in range(n)], x, w)
        else:
            y = TRANSPOSE[n](x, w, None, listed(strides, n), 0, 0, groups, listed(dilation, n))
        y = y if out_dtype is None else y.to(getattr(torch, out_dtype))
        # The output_padding is behind, before the padding is cut.
        y = F.pad(y, [side for i in reversed(range(n)) for side in (0, extra[i])])
        for i in range(n):
            y = y.narrow(2 + i, p[i], y.shape[2 + i] - p[i] - p[n + i])
        return arranged(y, "NC" + letters, out_layout or data_layout).contiguous()

    return call


FORWARD = {
    1: [((2, 3, 7), (4, 3, 3), {}), ((1, 4, 9), (6, 2, 3), dict(strides=2, padding=1, groups=2)), ((2, 2, 8), (3, 2, 3), dict(padding=[1, 2], dilation=2)),
        ((1, 1, 1), (1, 1, 1), {}), ((2, 6, 3), (3, 3, 5), dict(data_layout="NWC", kernel_layout="WIO", padding=2, strides=3)),
        ((1, 2, 7), (2, 2, 3), dict(strides=3, out_layout="NWC")), ((0, 3, 7), (4, 3, 3), dict(padding=1)), ((1, 2, 9), (2, 2, 2), dict(strides=[2], dilation=[3], padding=[1])), ((2, 3, 5), (0, 3, 2), {}), ((2, 0, 5), (4, 0, 3), {}),
        ((1, 2, 0), (3, 2, 2), dict(padding=1)), ((2, 5, 3), (2, 3, 4), dict(data_layout="NWC", kernel_layout="WIO", out_layout="NCW"))],
    2: [((2, 3, 6, 5), (4, 3, 3, 2), {}), ((1, 4, 7, 6), (6, 2, 3, 3), dict(strides=2, padding=1, groups=2)),
        ((1, 2, 8, 7), (3, 2, 3, 2), dict(padding=[1, 2], dilation=[2, 3])), ((1, 1, 1, 1), (1, 1, 1, 1), {}),
        ((2, 5, 6, 4), (3, 3, 4, 2), dict(data_layout="NHWC", kernel_layout="HWIO", padding=[0, 1, 2, 1], strides=[1, 2])),
        ((2, 5, 6, 4), (4, 3, 3, 1), dict(data_layout="NHWC", kernel_layout="OHWI", groups=4, padding=1)),
        ((1, 3, 8, 8), (2, 3, 2, 2), dict(strides=3, out_layout="NHWC")), ((0, 3, 5, 4), (4, 3, 3, 2), dict(padding=1)), ((1, 2, 6, 7), (2, 2, 2, 3), dict(dilation=2, padding=1)), ((2, 3, 4, 3), (0, 3, 2, 2), {}),
        ((1, 0, 4, 4), (2, 0, 3, 3), dict(strides=2)), ((2, 1, 0, 4), (2, 1, 3, 1), dict(padding=[2, 0])), ((2, 3, 1, 5), (1, 3, 1, 3), {}),
        ((1, 2, 4, 3, 2), (2, 2, 2, 3, 2, 2), dict(data_layout="NCHW2c", kernel_layout="OIHW2i2o", padding=1)),
        ((1, 2, 4, 3, 2), (3, 4, 2, 2, 2), dict(data_layout="NCHW2c", kernel_layout="OIHW2o", out_layout="NHWC")),
        ((1, 5, 4, 1, 4), (2, 3, 2, 1, 2, 3), dict(data_layout="NHWC4c", kernel_layout="OHWI2i3o", out_layout="NHWC3c", groups=2, strides=[2, 1]))],
    3: [((1, 2, 4, 5, 3), (3, 2, 2, 3, 2), {}), ((1, 4, 5, 4, 5), (2, 2, 3, 2, 2), dict(strides=[2, 1, 3], padding=1, groups=2)),
        ((1, 2, 4, 5, 3), (2, 2, 2, 2, 2), dict(padding=[1, 0, 2, 0, 1, 1], dilation=[2, 1, 2])), ((1, 1, 1, 1, 1), (1, 1, 1, 1, 1), {}),
        ((2, 3, 4, 3, 2), (2, 2, 2, 2, 3), dict(data_layout="NDHWC", kernel_layout="DHWIO", strides=2, padding=1)),
        ((1, 2, 3, 3, 3), (2, 2, 2, 2, 2), dict(out_layout="NDHWC")), ((1, 1, 3, 4, 3), (2, 1, 2, 2, 2), dict(dilation=2)), ((1, 3, 2, 3, 2), (2, 2, 2, 2, 3), dict(data_layout="NDHWC", kernel_layout="DHWIO", out_layout="NCDHW")),
        ((0, 2, 3, 3, 2), (3, 2, 2, 2, 2), {}), ((1, 2, 3, 2, 2), (0, 2, 2, 2, 2), {}), ((1, 0, 2, 2, 2), (3, 0, 2, 1, 1), {})],
}
BACKWARD = {
    1: [((2, 3, 4), (3, 2, 3), {}), ((1, 4, 5), (4, 3, 3), dict(strides=2, padding=1, output_padding=1, groups=2)),
        ((2, 2, 5), (2, 3, 3), dict(padding=[1, 2], dilation=2)), ((1, 1, 1), (1, 1, 1), {}),
        ((2, 4, 3), (3, 5, 3), dict(data_layout="NWC", kernel_layout="WOI", strides=3, padding=1, output_padding=2, out_layout="NCW")), ((0, 3, 4), (3, 2, 3), {}), ((1, 2, 4), (2, 3, 2), dict(strides=[3], output_padding=[2], dilation=[2], padding=[1])), ((2, 3, 4), (3, 0, 3), {}), ((2, 0, 4), (0, 2, 3), {}), ((1, 3, 1), (3, 1, 2), {})],
    2: [((2, 3, 3, 4), (3, 2, 3, 2), {}), ((1, 4, 3, 4), (4, 3, 3, 3), dict(strides=2, padding=1, output_padding=1, groups=2)),
        ((1, 2, 4, 3), (2, 3, 3, 2), dict(padding=[1, 2, 0, 1], dilation=[2, 3])), ((1, 1, 1, 1), (1, 1, 1, 1), {}),
        ((2, 3, 4, 4), (3, 2, 1, 4), dict(data_layout="NHWC", kernel_layout="HWOI", groups=4, strides=[2, 3], output_padding=[1, 0])),
        ((1, 3, 3, 3), (3, 2, 2, 2), dict(strides=3, out_layout="NHWC")), ((0, 3, 3, 4), (3, 2, 3, 2), {}), ((1, 2, 3, 2), (2, 2, 2, 3), dict(dilation=2, strides=2, output_padding=1)), ((1, 3, 2, 2), (3, 0, 2, 2), {}), ((1, 0, 3, 2), (0, 2, 2, 2), dict(strides=2)),
        ((2, 3, 1, 2), (3, 1, 1, 2), {})],
    3: [((1, 2, 2, 3, 2), (2, 3, 2, 3, 2), {}), ((1, 4, 2, 3, 2), (4, 1, 3, 2, 2), dict(strides=[2, 1, 3], padding=1, output_padding=[1, 0, 2], groups=2)),
        ((1, 2, 3, 3, 2), (2, 2, 2, 2, 2), dict(padding=[1, 0, 1, 0, 1, 1], dilation=[2, 1, 2])), ((1, 1, 1, 1, 1), (1, 1, 1, 1, 1), {}),
        ((1, 2, 3, 2, 2), (2, 2, 2, 3, 2), dict(data_layout="NDHWC", kernel_layout="DHWOI", strides=2, padding=1)),
        ((1, 2, 2, 2, 2), (2, 2, 2, 1, 2), dict(out_layout="NDHWC")), ((1, 1, 2, 1, 2), (1, 2, 2, 2, 2), dict(dilation=2, strides=2, output_padding=1)), ((0, 2, 2, 3, 2), (2, 3, 2, 2, 2), {}), ((1, 2, 2, 2, 2), (2, 0, 2, 2, 2), {}), ((1, 0, 2, 2, 2), (0, 2, 2, 1, 1), {})],
}


def write():
    for n in (1, 2, 3):
        for name, oracle, cases in [(f"nn.conv{n}d", convolution(n), FORWARD[n]), (f"nn.conv{n}d_transpose", transposed(n), BACKWARD[n])]:
            file = File(name, oracle)
            for dtype in BOTH:
                for x, w, attributes in cases:
                    file.add(f"{np.dtype(dtype).name} {x} {w} {attributes}", random(x, dtype, 1), random(w, dtype, 2), **attributes)
            ones = [1] * (n - 1)
            kernel = np.arange(-3, 5, dtype=np.int32).reshape(2, 2, *ones, 2)
            for dtype, out in [(np.float32, "float64"), (np.float64, "float32"), (np.float64, "float64")]:
                file.add(f"{np.dtype(dtype).name} to {out}", random((1, 2) + (3,) * n, dtype, 1), random((2, 2) + (2,) * n, dtype, 2), out_dtype=out, gradient=None if out == dtype.__name__ else False)
            file.add("int32", np.arange(-6, 6, dtype=np.int32).reshape(1, 2, *ones, 6), kernel)
            file.write()

    # The gradients as operators: PyTorch's partials of its own convolution, which it differentiates again.
    def partial(which):
        def call(g, other, shape, data_layout="NCHW", kernel_layout="OIHW", out_layout=None, **attributes):
            n = rank_of(data_layout)
            free = torch.zeros(shape, dtype=torch.float64, requires_grad=True)
            x, w = (free, other) if which == "data" else (other, free)
            letters = SPATIAL[n]
            y = convolution(n)(x, w, data_layout=data_layout, kernel_layout=kernel_layout, out_layout=out_layout, **attributes)
            assert letters and y.shape == g.shape
            return torch.autograd.grad(y, free, g, create_graph=True)[0]

        return call

    cases = []
    for n in (1, 2, 3):
        letters = SPATIAL[n]
        for x, w, attributes in FORWARD[n][:3] + FORWARD[n][4:]:
            attributes = {"data_layout": "NC" + letters, "kernel_layout": "OI" + letters} | attributes
            y = convolution(n)(torch.zeros(x), torch.zeros(w), **attributes).shape
            cases.append((tuple(y), x, w, attributes))
    for which in ("data", "weight"):
        file = File(f"grad.conv_{which}", partial(which))
        for dtype in BOTH:
            for y, x, w, attributes in cases:
                other, shape = (w, x) if which == "data" else (x, w)
                file.add(f"{np.dtype(dtype).name} {y} {other} {attributes}", random(y, dtype, 3), random(other, dtype, 4), shape, **attributes)
        file.write()
