"""Grids and sampling at their points, after PyTorch."""
import numpy as np
import torch
import torch.nn.functional as F

from families.convolution import BOTH, SPATIAL, arranged, random
from oracle.cases import File


def affine_grid(data, size, align_corners=True):
    """PyTorch has the coordinates last."""
    if data.shape[0] == 0:  # which PyTorch refuses
        return torch.zeros([0, data.shape[1]] + list(size), dtype=data.dtype) + 0 * data.sum()
    grid = F.affine_grid(data, [data.shape[0], 1] + list(size), align_corners=align_corners)
    return grid.movedim(-1, 1).contiguous()


def grid_sample(data, grid, method="bilinear", layout="NCHW", padding_mode="zeros", align_corners=False):
    order = "NC" + SPATIAL[len(layout) - 2]
    theirs = "bilinear" if method == "trilinear" else method
    y = F.grid_sample(arranged(data, layout, order), grid.movedim(1, -1), mode=theirs, padding_mode=padding_mode, align_corners=align_corners)
    return arranged(y, order, layout).contiguous()


def derivative(data, grid, order, **attributes):
    """Derivatives by the coordinates, by differentiation again and again."""
    layout = attributes.get("layout", "NCHW")
    n = len(layout) - 2
    orders = order if isinstance(order, list) else [order] * n
    points = grid if grid.requires_grad else grid.detach().requires_grad_(True)
    channels = layout.index("C")
    parts = []
    samples = grid_sample(data, points, **attributes)
    for c in range(samples.shape[channels]):
        part = samples.select(channels, c)
        for d, count in enumerate(orders):
            for _ in range(count):
                slope = torch.autograd.grad(part.sum(), points, create_graph=True)[0]
                part = slope[:, n - 1 - d]
        parts.append(part)
    return torch.stack(parts, channels) if parts else samples


MODES = [{}, dict(align_corners=False), dict(padding_mode="border"), dict(padding_mode="reflection"), dict(padding_mode="reflection", align_corners=False),
         dict(method="bicubic"), dict(method="bicubic", padding_mode="border"), dict(method="bicubic", padding_mode="reflection", align_corners=False),
         dict(method="nearest"), dict(method="nearest", padding_mode="border", align_corners=False)]
MODES = [mode if "align_corners" in mode else dict(mode, align_corners=True) for mode in MODES]

# Data and grids with dimensions 0 and 1.
EDGES = [((0, 2, 3, 4), (0, 2, 2, 3)), ((1, 0, 3, 4), (1, 2, 2, 3)), ((1, 2, 3, 4), (1, 2, 0, 3)), ((2, 1, 1, 1), (2, 2, 1, 2)), ((1, 1, 1, 4), (1, 2, 3, 1))]


def write():
    file = File("image.affine_grid", affine_grid)
    for dtype in BOTH:
        for shape, size, align in [((2, 2, 3), (3, 4), True), ((1, 2, 3), (2, 5), False), ((1, 3, 4), (2, 3, 2), True), ((2, 3, 4), (2, 2, 3), False), ((3, 2, 3), (2, 2), True), ((0, 2, 3), (2, 3), True), ((0, 3, 4), (2, 1, 2), False),
                                   ((2, 2, 3), (1, 1), True), ((1, 2, 3), (1, 3), False)]:
            file.add(f"{np.dtype(dtype).name} {shape} {size} {align}", random(shape, dtype), size, align_corners=align)
    file.write()

    def backward(g, align_corners=True):
        n = g.dim() - 2
        maps = torch.zeros([g.shape[0], n, n + 1], dtype=torch.float64, requires_grad=True)
        return torch.autograd.grad(affine_grid(maps, g.shape[2:], align_corners), maps, g, create_graph=True)[0]

    file = File("grad.affine_grid_backward", backward)
    for dtype in BOTH:
        for shape, align in [((2, 2, 3, 4), True), ((1, 2, 2, 5), False), ((1, 3, 2, 3, 2), True), ((2, 3, 2, 2, 3), False), ((3, 2, 2, 2), True), ((0, 2, 2, 3), True), ((0, 3, 2, 1, 2), False), ((2, 2, 1, 1), True)]:
            file.add(f"{np.dtype(dtype).name} {shape} {align}", random(shape, dtype), align_corners=align)
    file.write()

    file = File("image.grid_sample", grid_sample)
    for dtype in BOTH:
        name = np.dtype(dtype).name
        for attributes in MODES:
            file.add(f"{name} {attributes}", random((2, 2, 4, 5), dtype), random((2, 2, 3, 4), dtype, 5) * dtype(0.8), **attributes)
        for attributes in [MODES[0], MODES[3], dict(align_corners=False, method="trilinear"), dict(padding_mode="border", method="nearest", align_corners=True)]:
            file.add(f"{name} volume {attributes}", random((1, 2, 3, 4, 5), dtype), random((1, 3, 2, 3, 2), dtype, 6) * dtype(0.8), layout="NCDHW", **attributes)
        file.add(f"{name} NHWC", random((1, 4, 5, 2), dtype), random((1, 2, 3, 2), dtype, 7), layout="NHWC", align_corners=True)
        for attributes in MODES[:6] + MODES[8:9]:
            for x, points in EDGES:
                file.add(f"{name} {x} {points} {attributes}", random(x, dtype), random(points, dtype, 5) * dtype(0.8), **attributes)
    file.write()

    # PyTorch differentiates the bilinear and bicubic samplings of images only once by itself: the first order is its own.
    file = File("grad.grid_sample_derivative", derivative, differentiable=False)
    for dtype in BOTH:
        for order in ([0, 1], [1, 0]):
            for attributes in MODES[:8]:
                file.add(f"{np.dtype(dtype).name} {order} {attributes}", random((2, 2, 4, 5), dtype), random((2, 2, 3, 4), dtype, 5) * dtype(0.8), order=order, **attributes)
            if order == [0, 1]:
                for attributes in MODES:
                    file.add(f"{np.dtype(dtype).name} none {attributes}", random((1, 2, 4, 5), dtype), random((1, 2, 3, 2), dtype, 5) * dtype(0.8), order=0, **attributes)
            file.add(f"{np.dtype(dtype).name} {order} NHWC", random((1, 4, 5, 2), dtype), random((1, 2, 3, 4), dtype, 5) * dtype(0.8), order=order, layout="NHWC", align_corners=True)
            file.add(f"{np.dtype(dtype).name} {order} volume", random((1, 2, 3, 4, 5), dtype), random((1, 3, 2, 3, 2), dtype, 6) * dtype(0.8), order=order + [0], layout="NCDHW", align_corners=True)
            for x, points in EDGES:
                for attributes in (MODES[0], MODES[5]):
                    file.add(f"{np.dtype(dtype).name} {order} {x} {points} {attributes}", random(x, dtype), random(points, dtype, 5) * dtype(0.8), order=order, **attributes)
    file.write()

    def transposed(g, grid, shape, order=0, **attributes):
        if order != 0 and any(order):  # linear in the data: what each element gives
            size = int(np.prod(shape))
            units = torch.eye(size, dtype=torch.float64).reshape([size] + list(shape))
            return torch.stack([(derivative(unit, grid.detach().clone(), order, **attributes) * g).sum() for unit in units]).detach().reshape(shape)
        x = torch.zeros(shape, dtype=torch.float64, requires_grad=True)
        y = grid_sample(x, grid.detach(), **attributes)
        return torch.autograd.grad(y, x, g)[0]

    file = File("grad.grid_sample_data", transposed, differentiable=False)
    for dtype in BOTH:
        for attributes in MODES:
            file.add(f"{np.dtype(dtype).name} {attributes}", random((2, 2, 3, 4), dtype, 8), random((2, 2, 3, 4), dtype, 5) * dtype(0.8), (2, 2, 4, 5), **attributes)
        for attributes in (MODES[0], MODES[5], MODES[8]):
            for x, points in EDGES:
                file.add(f"{np.dtype(dtype).name} {x} {points} {attributes}", random(x[:2] + points[2:], dtype, 8), random(points, dtype, 5) * dtype(0.8), x, **attributes)
        for attributes in (MODES[0], MODES[3], MODES[5]):
            for order in ([0, 1], [1, 0]):
                file.add(f"{np.dtype(dtype).name} {order} {attributes}", random((1, 2, 2, 3), dtype, 8), random((1, 2, 2, 3), dtype, 5) * dtype(0.8), (1, 2, 3, 4), order=order,
                         **attributes)
        file.add(f"{np.dtype(dtype).name} NHWC", random((1, 2, 3, 2), dtype, 8), random((1, 2, 2, 3), dtype, 5) * dtype(0.8), (1, 3, 4, 2), layout="NHWC", align_corners=True)
        for order in (0, [0, 1, 0]):
            file.add(f"{np.dtype(dtype).name} volume {order}", random((1, 2, 2, 1, 3), dtype, 8), random((1, 3, 2, 1, 3), dtype, 6) * dtype(0.8), (1, 2, 2, 3, 2), layout="NCDHW",
                     order=order, align_corners=True)
    file.write()
