"""Minimal filtering: the transforms by exact interpolation, the convolution by PyTorch where kernels are transforms."""
import numpy as np
import torch
import torch.nn.functional as F

from families.convolution import BOTH, both_sides, forward, random
from oracle.cases import File

POINTS = [0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, -3.0]


def matrices(m, r):
    """A (n, m), G (n, r), B^T (n, n) from Vandermonde matrices."""
    n = m + r - 1
    points = np.array(POINTS[: n - 1])

    def vandermonde(width):
        rows = np.zeros((n, width))
        rows[:-1] = points[:, None] ** np.arange(width)
        rows[-1, -1] = 1
        return rows

    distances = np.array([np.prod([p - q for q in points if q != p]) for p in points] + [1.0])
    inverse = np.linalg.inv(vandermonde(n))
    return [torch.from_numpy(x) for x in (vandermonde(m), vandermonde(r) / distances[:, None], inverse.T * distances[:, None])]


def transform(weight, tile_size):
    _, g, _ = matrices(tile_size, weight.shape[-1])
    return torch.einsum("ea,fb,oiab->efoi", g, g, weight)


def convolution(data, weight, tile_size, padding=0, strides=1, dilation=1):
    """strides and dilation: only 1."""
    n, m = weight.shape[0], tile_size
    r = n - m + 1
    a, g, bt = matrices(m, r)
    p = both_sides(padding, 2)
    rows, columns = data.shape[2] + p[0] + p[2] - r + 1, data.shape[3] + p[1] + p[3] - r + 1
    down, across = -(-rows // m), -(-columns // m)
    wide = F.pad(data, [p[1], across * m + r - 1 - data.shape[3] - p[1], p[0], down * m + r - 1 - data.shape[2] - p[0]])
    tiles = wide.unfold(2, n, m).unfold(3, n, m)
    seen = torch.einsum("ea,fb,ncijab->ncijef", bt, bt, tiles)
    products = torch.einsum("efoc,ncijef->noijef", weight, seen)
    y = torch.einsum("ea,fb,noijef->noiajb", a, a, products)
    return y.reshape(data.shape[0], weight.shape[2], down * m, across * m)[:, :, :rows, :columns].contiguous()


def write():
    file = File("nn.conv2d_winograd_weight_transform", transform)
    for dtype in BOTH:
        for shape, tile in [((2, 3, 3, 3), 2), ((3, 1, 3, 3), 4), ((1, 2, 2, 2), 3), ((2, 2, 5, 5), 2), ((1, 1, 3, 3), 6), ((2, 2, 1, 1), 2), ((0, 2, 3, 3), 2), ((2, 0, 3, 3), 4)]:
            file.add(f"{np.dtype(dtype).name} {shape} {tile}", random(shape, dtype), tile_size=tile)
    file.write()
    file = File("nn.conv2d_winograd_without_weight_transform", convolution)
    for dtype in BOTH:
        for shape, kernel, tile, padding in [((1, 2, 6, 6), (3, 2, 3, 3), 2, 0), ((2, 1, 5, 7), (2, 1, 3, 3), 4, 1), ((1, 3, 6, 5), (2, 3, 2, 2), 3, [1, 0, 2, 1]), ((1, 1, 7, 8), (1, 1, 5, 5), 2, 2),
                                             ((2, 2, 4, 4), (1, 2, 3, 3), 2, [0, 1]), ((0, 2, 5, 5), (3, 2, 3, 3), 2, 1), ((2, 2, 4, 4), (0, 2, 3, 3), 2, 0), ((1, 0, 4, 4), (2, 0, 3, 3), 2, 0)]:
            w = torch.from_numpy(random(kernel, np.float64, 2))
            p = both_sides(padding, 2)
            weight = transform(w, tile)
            x = torch.from_numpy(random(shape, dtype)).double()
            theirs = forward(2, x, w, 1, p, 1, 1)
            assert torch.allclose(convolution(x, weight, tile, padding), theirs, rtol=1e-9, atol=1e-10)
            ones = dict(strides=1, dilation=1) if tile == 4 else {}
            file.add(f"{np.dtype(dtype).name} {shape} {kernel} {tile}", random(shape, dtype), weight.numpy().astype(dtype), tile_size=tile, padding=padding, **ones)
    file.write()
