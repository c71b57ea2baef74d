"""Padding, adaptive averages and resizing after PyTorch; what PyTorch lacks by its definition, cell by cell."""
import math

import numpy as np
import torch
import torch.nn.functional as F

from families.convolution import BOTH, SPATIAL, arranged, listed, of_nothing, random
from oracle.cases import File


# --- Padding.

def pad(x, pad_width, pad_value=0.0, pad_mode="constant"):
    before, after = pad_width[0::2], pad_width[1::2]
    if pad_mode == "constant":
        sides = [side for i in reversed(range(x.dim())) for side in (before[i], after[i])]
        wide = x if x.is_floating_point() else x.double()
        if x.numel() == 0:  # PyTorch refuses an empty result
            return torch.full([s + b + a for s, b, a in zip(x.shape, before, after)], pad_value, dtype=x.dtype) + 0 * x.sum()
        return F.pad(wide, sides, value=pad_value).to(x.dtype)
    mode = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}[pad_mode]
    for i in range(x.dim()):  # NumPy says which cell each is
        index = np.pad(np.arange(x.shape[i]), (before[i], after[i]), mode=mode)
        x = x.index_select(i, torch.from_numpy(index))
    return x


PADS = [((3,), [1, 2], "constant"), ((2, 3), [0, 1, 2, 0], "constant"), ((4,), [2, 3], "reflect"), ((2, 3), [1, 0, 2, 2], "reflect"),
        ((2, 3), [2, 3, 0, 1], "replicate"), ((1, 2), [3, 0, 0, 2], "replicate"), ((3, 2), [3, 1, 2, 0], "circular"), ((2, 1, 3), [0, 0, 1, 1, 2, 3], "circular"),
        ((0, 2), [1, 1, 0, 0], "constant"), ((1, 3), [0, 0, 1, 0], "constant"), ((0, 3), [0, 0, 1, 2], "reflect"), ((2, 0), [1, 2, 0, 0], "replicate"), ((0, 2), [0, 0, 2, 1], "circular"),
        ((1, 1), [0, 0, 0, 2], "replicate"), ((2, 0), [1, 0, 0, 0], "constant")]


def write_pads():
    file = File("nn.pad", pad)
    for dtype in BOTH:
        for shape, widths, mode in PADS:
            file.add(f"{np.dtype(dtype).name} {shape} {widths} {mode}", random(shape, dtype), pad_width=widths, pad_value=0.0 if mode != "constant" else 1.5, pad_mode=mode)
    file.add("int32", np.array([[1, 2], [3, 4]], np.int32), pad_width=[1, 0, 0, 2], pad_value=-3.0)
    file.write()

    def backward(g, pad_width, pad_mode):
        shape = [s - b - a for s, b, a in zip(g.shape, pad_width[0::2], pad_width[1::2])]
        x = torch.zeros(shape, dtype=torch.float64, requires_grad=True)
        return torch.autograd.grad(pad(x, pad_width, 0.0, pad_mode), x, g, create_graph=True)[0]

    file = File("grad.pad_backward", backward)
    for dtype in BOTH:
        for shape, widths, mode in PADS:
            padded = tuple(s + b + a for s, b, a in zip(shape, widths[0::2], widths[1::2]))
            file.add(f"{np.dtype(dtype).name} {shape} {widths} {mode}", random(padded, dtype), pad_width=widths, pad_mode=mode)
    file.write()


# --- Adaptive averages.

ADAPTIVE = {1: F.adaptive_avg_pool1d, 2: F.adaptive_avg_pool2d, 3: F.adaptive_avg_pool3d}


def adaptive(n):
    def call(x, output_size=None, layout=None, out_layout=None):
        letters = SPATIAL[n]
        layout = layout or "NC" + letters
        x = arranged(x, layout, "NC" + letters)
        size = list(x.shape[2:]) if output_size is None else listed(output_size, n)
        size = size * (n if len(size) == 1 else 1)
        y = ADAPTIVE[n](x, size) if x.numel() else of_nothing([*x.shape[:2], *size], x)
        return arranged(y, "NC" + letters, out_layout or layout).contiguous()

    return call


PARTS = {
    1: [((2, 3, 7), dict(output_size=3)), ((1, 2, 4), dict(output_size=9)), ((1, 1, 5), {}), ((2, 5, 3), dict(output_size=2, layout="NWC", out_layout="NCW")), ((1, 1, 1), dict(output_size=1)), ((0, 2, 5), dict(output_size=3)), ((1, 2, 5), dict(output_size=[2])), ((2, 0, 4), dict(output_size=2)), ((0, 5, 3), dict(output_size=2, layout="NWC"))],
    2: [((2, 3, 7, 5), dict(output_size=[3, 2])), ((1, 2, 4, 3), dict(output_size=5)), ((1, 1, 5, 2), {}),
        ((2, 5, 4, 3), dict(output_size=2, layout="NHWC", out_layout="NCHW")), ((1, 2, 3, 4), dict(output_size=1)), ((0, 2, 5, 4), dict(output_size=3)), ((2, 0, 4, 4), dict(output_size=[2, 3])), ((1, 1, 1, 1), dict(output_size=2))],
    3: [((1, 2, 4, 3, 5), dict(output_size=[3, 2, 2])), ((1, 2, 2, 3, 2), dict(output_size=3)), ((1, 1, 2, 3, 2), {}),
        ((1, 3, 2, 4, 2), dict(output_size=2, layout="NDHWC", out_layout="NCDHW")), ((1, 2, 3, 2, 4), dict(output_size=1)), ((0, 2, 3, 4, 2), dict(output_size=2)), ((2, 0, 4, 2, 3), dict(output_size=[2, 3, 1]))],
}


def write_adaptive():
    transposed = []
    for n in (1, 2, 3):
        file = File(f"nn.adaptive_avg_pool{n}d", adaptive(n))
        for dtype in BOTH:
            for shape, attributes in PARTS[n]:
                file.add(f"{np.dtype(dtype).name} {shape} {attributes}", random(shape, dtype), **attributes)
        file.write()
        for shape, attributes in PARTS[n]:
            shown = adaptive(n)(torch.zeros(shape), **attributes).shape
            transposed.append((tuple(shown), shape, {"layout": "NC" + SPATIAL[n]} | {k: v for k, v in attributes.items() if k != "output_size"}))

    def backward(g, shape, layout, out_layout=None):
        n = len(layout) - 2
        out_layout = out_layout or layout
        size = [g.shape[out_layout.index(letter)] for letter in SPATIAL[n]]
        x = torch.zeros(shape, dtype=torch.float64, requires_grad=True)
        return torch.autograd.grad(adaptive(n)(x, size, layout, out_layout), x, g, create_graph=True)[0]

    file = File("grad.adaptive_avg_pool_backward", backward)
    for dtype in BOTH:
        for y, x, attributes in transposed:
            file.add(f"{np.dtype(dtype).name} {y} {attributes}", random(y, dtype), x, **attributes)
    file.write()


# --- Resizing: a matrix for every dimension, by the definition of ONNX.

def position(p, before, after, mode, start, end):
    if mode == "half_pixel" or (mode == "pytorch_half_pixel" and after > 1):
        return (p + 0.5) * before / after - 0.5
    if mode == "pytorch_half_pixel":
        return 0.0
    if mode == "tf_half_pixel_for_nn":
        return (p + 0.5) * before / after
    if mode == "asymmetric":
        return p * before / after
    if mode == "align_corners":
        return p * (before - 1) / (after - 1) if after > 1 else 0.0
    return start * (before - 1) + p * (end - start) * (before - 1) / (after - 1) if after > 1 else 0.5 * (start + end) * (before - 1)


def keys(t, a):
    t = abs(t)
    if t <= 1:
        return (a + 2) * t**3 - (a + 3) * t**2 + 1
    return a * t**3 - 5 * a * t**2 + 8 * a * t - 4 * a if t < 2 else 0.0


def matrix(before, after, method, mode, rounding, alpha, exclude, start, end):
    """Weights (after, before), and which rows lie outside."""
    weights, outside = np.zeros((after, before)), np.zeros(after, bool)
    nearest = {"round": round, "floor": math.floor, "ceil": math.ceil, "round_prefer_floor": lambda x: math.ceil(x - 0.5),
               "round_prefer_ceil": lambda x: math.floor(x + 0.5)}
    for p in range(after):
        x = position(p, before, after, mode, start, end)
        if mode == "tf_crop_and_resize" and not 0 <= x <= before - 1:
            outside[p] = True
            continue
        if method == "nearest_neighbor":
            taps = [(nearest[rounding](x), 1.0)]
        elif method == "linear":
            taps = [(math.floor(x), 1 - (x - math.floor(x))), (math.floor(x) + 1, x - math.floor(x))]
        else:
            taps = [(math.floor(x) + k, keys(x - math.floor(x) - k, alpha)) for k in (-1, 0, 1, 2)]
            if exclude:
                taps = [(q, w if 0 <= q < before else 0.0) for q, w in taps]
                taps = [(q, w / sum(w for _, w in taps)) for q, w in taps]
        for q, w in taps:
            weights[p, min(max(q, 0), before - 1)] += w
    return torch.from_numpy(weights), outside


def resize(n):
    def call(x, size, layout=None, method="linear", coordinate_transformation_mode="half_pixel", rounding_method="round", cubic_alpha=-0.75, cubic_exclude=0,
             roi=None, extrapolation_value=0.0, out_dtype=None):
        letters = SPATIAL[n]
        layout = layout or "NC" + letters
        x = arranged(x, layout, "NC" + letters)
        roi = roi or [0.0] * (2 * n)
        y, outside = x.double(), torch.zeros([1, 1] + list(size), dtype=torch.bool)
        for i in range(n):
            weights, out = matrix(x.shape[2 + i], size[i], method, coordinate_transformation_mode, rounding_method, cubic_alpha, cubic_exclude, roi[i], roi[n + i])
            y = torch.tensordot(y, weights, dims=([2 + i], [1])).movedim(-1, 2 + i)
            outside = outside | torch.from_numpy(out).reshape([1, 1] + [-1 if j == i else 1 for j in range(n)])
        y = torch.where(outside, torch.tensor(extrapolation_value, dtype=torch.float64), y)
        theirs = {("linear", "half_pixel"): dict(align_corners=False), ("linear", "align_corners"): dict(align_corners=True), ("cubic", "half_pixel"): dict(align_corners=False),
                  ("cubic", "align_corners"): dict(align_corners=True)}.get((method, coordinate_transformation_mode))
        if theirs and x.numel() and cubic_alpha == -0.75 and not cubic_exclude and (method == "linear" or n == 2):
            name = {"linear": {2: "bilinear", 3: "trilinear"}[n], "cubic": "bicubic"}[method]
            assert torch.allclose(F.interpolate(x.detach().double(), list(size), mode=name, **theirs), y.detach(), rtol=1e-10, atol=1e-12)
        y = y.to(getattr(torch, out_dtype) if out_dtype else y.dtype if x.is_floating_point() else x.dtype)
        return arranged(y, "NC" + letters, layout).contiguous()

    return call


NEAREST = dict(method="nearest_neighbor")
MODES = [dict(NEAREST, coordinate_transformation_mode="asymmetric", rounding_method="floor"), dict(NEAREST, rounding_method="round"), dict(NEAREST, rounding_method="round_prefer_ceil"),
         dict(NEAREST, rounding_method="round_prefer_floor"), dict(NEAREST, coordinate_transformation_mode="tf_half_pixel_for_nn", rounding_method="ceil"), {},
         dict(coordinate_transformation_mode="align_corners"), dict(coordinate_transformation_mode="pytorch_half_pixel"), dict(method="cubic"),
         dict(method="cubic", coordinate_transformation_mode="align_corners"), dict(method="cubic", cubic_alpha=-0.5, cubic_exclude=1, coordinate_transformation_mode="asymmetric")]


def crop(n):
    return dict(coordinate_transformation_mode="tf_crop_and_resize", roi=[-0.25, 0.0, 0.5][:n] + [0.75, 1.25, 1.0][:n])


def write_resize():
    for n in (2, 3):
        sizes = {2: [((1, 2, 3, 4), (5, 3)), ((2, 1, 5, 4), (1, 8))], 3: [((1, 2, 2, 3, 3), (3, 2, 4))]}[n]
        file, reverse = File(f"image.resize{n}d", resize(n)), None

        def backward(g, shape, **attributes):
            layout = attributes.get("layout", "NC" + SPATIAL[n])
            x = torch.zeros(shape, dtype=torch.float64, requires_grad=True)
            size = [g.shape[layout.index(letter)] for letter in SPATIAL[n]]
            return torch.autograd.grad(resize(n)(x, size, **attributes), x, g, create_graph=True)[0]

        reverse = File(f"grad.resize{n}d_backward", backward)
        for dtype in BOTH:
            name = np.dtype(dtype).name
            for attributes in MODES + [crop(n)]:
                for x, size in sizes:
                    file.add(f"{name} {x} {size} {attributes}", random(x, dtype), size, **attributes)
                    reverse.add(f"{name} {x} {size} {attributes}", random(x[:2] + size, dtype), x, **attributes)
            file.add(f"{name} no region", random(sizes[0][0], dtype), sizes[0][1], roi=None)
            reverse.add(f"{name} no region", random(sizes[0][0][:2] + sizes[0][1], dtype), sizes[0][0], roi=None)
            for attributes in (MODES[0], MODES[5], MODES[8]):
                for x in [(0, 2) + (3, 2, 2)[:n], (2, 0) + (2, 3, 2)[:n], (1, 1) + (1,) * n]:
                    size = (2, 3, 2)[:n]
                    file.add(f"{name} {x} {size} {attributes}", random(x, dtype), size, **attributes)
                    reverse.add(f"{name} {x} {size} {attributes}", random(x[:2] + size, dtype), x, **attributes)
            layout = "N" + SPATIAL[n] + "C"
            x, size = (2,) + (3,) * n + (2,), (4,) * n
            file.add(f"{name} {x} {size} {layout}", random(x, dtype), size, layout=layout)
            reverse.add(f"{name} {x} {size} {layout}", random((2,) + size + (2,), dtype), x, layout=layout)
            file.add(f"{name} extrapolation", random(sizes[0][0], dtype), sizes[0][1], extrapolation_value=7.5, **crop(n))
            reverse.add(f"{name} extrapolation", random(sizes[0][0][:2] + sizes[0][1], dtype), sizes[0][0], extrapolation_value=7.5, **crop(n))
            for out in ("float32", "float64"):
                file.add(f"{name} to {out}", random(sizes[0][0], dtype), sizes[0][1], out_dtype=out, gradient=None if out == name else False)
        file.add("uint8", np.arange(2 ** n, dtype=np.uint8).reshape([1, 1] + [2] * n), (3,) * n, method="nearest_neighbor", rounding_method="round")
        file.write()
        reverse.write()

    def upsampling(n):
        def call(x, layout=None, method="nearest_neighbor", align_corners=False, **scales):
            layout = layout or "NC" + SPATIAL[n]
            size = [round(x.shape[layout.index(letter)] * scales.get("scale_" + letter.lower(), 1.0)) for letter in SPATIAL[n]]
            name = {"bilinear": "linear", "trilinear": "linear", "bicubic": "cubic"}.get(method, method)
            y = resize(n)(x, size, layout, name, "align_corners" if align_corners else "asymmetric", "floor")
            if method == "nearest_neighbor" and not align_corners and layout.startswith("NC") and x.numel():
                assert torch.equal(F.interpolate(x.detach().double(), size, mode="nearest"), y.detach().double())
            return y

        return call

    for n, name, methods in [(2, "nn.upsampling", ["nearest_neighbor", "bilinear", "bicubic"]), (3, "nn.upsampling3d", ["nearest_neighbor", "trilinear"])]:
        file = File(name, upsampling(n))
        scales = {2: dict(scale_h=2.0, scale_w=3.0), 3: dict(scale_d=2.0, scale_h=3.0, scale_w=2.0)}[n]
        for dtype in BOTH:
            shape = (1, 2) + (2, 3, 2)[:n]
            for method in methods:
                for corners in (False, True):
                    if method == "nearest_neighbor" and corners:
                        continue
                    file.add(f"{np.dtype(dtype).name} {method} {corners}", random(shape, dtype), method=method, align_corners=corners, **scales)
            file.add(f"{np.dtype(dtype).name} shares", random(shape, dtype), scale_h=1.5, scale_w=2.0)
            layout = "N" + SPATIAL[n] + "C"
            file.add(f"{np.dtype(dtype).name} {layout}", random((2,) + (2, 3, 2)[:n] + (1,), dtype), layout=layout, **scales)
            file.add(f"{np.dtype(dtype).name} same", random(shape, dtype))
            for method in methods:
                for lead in [(0, 2), (2, 0)]:
                    file.add(f"{np.dtype(dtype).name} {lead} {method}", random(lead + (2, 3, 2)[:n], dtype), method=method, **scales)
        file.write()


def write():
    write_pads()
    write_adaptive()
    write_resize()
