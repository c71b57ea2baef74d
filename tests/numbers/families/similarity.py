"""Numbers of PyTorch for products and distances of vectors, for windows as columns, and for counts."""
import numpy as np
import torch

from oracle.cases import File

BOTH = (np.float32, np.float64)


def random(shape, dtype, seed=0, low=-2.0, high=2.0):
    return np.random.default_rng([31, seed, *shape]).uniform(low, high, shape).astype(dtype)


def cross():
    file = File("cross", lambda a, b, axis: torch.linalg.cross(*torch.broadcast_tensors(a, b), dim=axis))
    for dtype in BOTH:
        label = np.dtype(dtype).name
        for a, b, axis in [((3,), (3,), -1), ((4, 3), (4, 3), 1), ((3, 2), (3, 2), 0), ((2, 3, 4), (3, 1), -2), ((1, 3), (5, 3), -1), ((0, 3), (3,), 1)]:
            file.add(f"{label} {a} {b} {axis}", random(a, dtype, 1), random(b, dtype, 2), axis=axis)
    file.add("int64", np.array([[1, 2, 3]], np.int64), np.array([[4, -5, 6]], np.int64), axis=1)
    file.write()


def cosine_similarity():
    def cosine(a, b, axis, eps):
        a, b = torch.broadcast_tensors(a, b)
        one = torch.ones_like(a)
        length = lambda x: torch.linalg.vector_norm(x, 2, axis).clamp(min=eps)  # noqa: E731
        answer = (a * b).sum(axis) / (length(a) * length(b)) + 0 * one.sum()
        if eps < 1:
            assert torch.allclose(answer, torch.nn.functional.cosine_similarity(a, b, dim=axis, eps=eps), atol=1e-6)
        return answer

    file = File("cosine_similarity", cosine)
    for dtype in BOTH:
        label = np.dtype(dtype).name
        for a, b, axis, eps in [((2, 3), (2, 3), 1, 1e-8), ((2, 3, 4), (2, 3, 4), -1, 1e-8), ((3, 5), (3, 5), 0, 1e-3), ((2, 1, 3), (4, 3), 2, 1e-8),
                                ((4,), (4,), 0, 50.0), ((0, 3), (1, 3), 1, 1e-8), ((33, 2), (33, 2), 0, 1e-8)]:
            file.add(f"{label} {a} {b} {axis} {eps}", random(a, dtype, 1), random(b, dtype, 2), axis=axis, eps=eps)
    file.write()


def cdist():
    file = File("cdist", lambda a, b, p: torch.cdist(a, b, p=p, compute_mode="donot_use_mm_for_euclid_dist"))
    for dtype in BOTH:
        label = np.dtype(dtype).name
        for p in (1.0, 2.0):
            for a, b in [((2, 3), (4, 3)), ((2, 3, 4), (5, 4)), ((1, 2, 3), (2, 2, 3)), ((1, 1), (1, 1)), ((3, 17), (2, 17)), ((0, 3), (2, 3))]:
                file.add(f"{label} {a} {b} {p}", random(a, dtype, 1), random(b, dtype, 2), p=p)
    file.write()


def pairs(value):
    return [value, value] if isinstance(value, int) else list(value)


def sides(padding):
    """Before and after, for height and for width."""
    padding = [padding] if isinstance(padding, int) else list(padding)
    padding = padding * 4 if len(padding) == 1 else padding * 2 if len(padding) == 2 else padding
    return padding


def windows():
    def unfold(x, kernel_size, dilation, padding, strides):
        top, left, bottom, right = sides(padding)
        x = torch.nn.functional.pad(x, (left, right, top, bottom))
        return torch.nn.functional.unfold(x, pairs(kernel_size), pairs(dilation), 0, pairs(strides))

    def fold(x, size, kernel_size, dilation, padding, strides):
        top, left, bottom, right = sides(padding)
        padded = (size[0] + top + bottom, size[1] + left + right)
        y = torch.nn.functional.fold(x, padded, pairs(kernel_size), pairs(dilation), 0, pairs(strides))
        return y[:, :, top:top + size[0], left:left + size[1]]

    cases = [((2, 3, 5, 4), {"kernel_size": 2, "dilation": 1, "padding": 0, "strides": 1}),
             ((1, 2, 5, 4), {"kernel_size": [3, 2], "dilation": 1, "padding": [1, 0], "strides": [2, 1]}),
             ((1, 2, 7, 6), {"kernel_size": 3, "dilation": 2, "padding": 1, "strides": 2}),
             ((2, 1, 4, 5), {"kernel_size": [1, 3], "dilation": [1, 2], "padding": [0, 2, 1, 1], "strides": [3, 2]}),
             ((1, 1, 3, 3), {"kernel_size": 3, "dilation": 1, "padding": 0, "strides": 1})]
    def of_nothing(function):
        """PyTorch refuses no images at all."""
        def call(x, *args, **attributes):
            if x.shape[0]:
                return function(x, *args, **attributes)
            one = torch.zeros((1, *x.shape[1:]), dtype=x.dtype)
            return function(one, *args, **attributes)[:0] + 0 * x.sum()

        return call

    cases.append(((0, 2, 3, 3), {"kernel_size": 2, "dilation": 1, "padding": 0, "strides": 1}))
    columns, images = File("nn.unfold", of_nothing(unfold)), File("nn.fold", of_nothing(fold))
    for dtype in BOTH:
        label = np.dtype(dtype).name
        for n, (shape, attributes) in enumerate(cases):
            x = random(shape, dtype, n)
            columns.add(f"{label} {n}", x, **attributes)
            folded = of_nothing(unfold)(torch.from_numpy(x), **attributes).shape
            images.add(f"{label} {n}", random(tuple(folded), dtype, n), shape[2:], **attributes)
    columns.write()
    images.write()


def bincount():
    def count(x, weights=None, length=None):
        inside = (x >= 0) & (x < length)
        ones = torch.ones(x.shape, dtype=torch.int64) if weights is None else weights
        return torch.zeros(length, dtype=ones.dtype).index_add(0, x[inside].long(), ones[inside])

    assert count(torch.tensor([0, 2, 2]), length=3).tolist() == torch.bincount(torch.tensor([0, 2, 2])).tolist()
    file = File("bincount", count)
    for dtype in (np.int32, np.int64, np.uint8):
        file.add(f"{np.dtype(dtype).name}", np.array([0, 3, 1, 3, 3, 9], dtype), length=5)
    file.add("negative", np.array([-1, 0, -7, 2], np.int64), length=3)
    file.add("of nothing", np.zeros((0,), np.int64), length=2)
    for dtype in BOTH:
        x = np.array([0, 3, 1, 3, 3, -2, 9], np.int64)
        for length in (5, 2):
            file.add(f"{np.dtype(dtype).name} weights {length}", x, random((7,), dtype), length=length)
        file.add(f"{np.dtype(dtype).name} one", np.array([0], np.int64), random((1,), dtype), length=1)
        file.add(f"{np.dtype(dtype).name} of nothing", np.zeros((0,), np.int64), random((0,), dtype), length=3)
    file.add("int32 weights", np.array([1, 1, 0], np.int64), np.array([5, 6, 7], np.int32), length=2)
    for dtype in BOTH:
        file.add(f"{np.dtype(dtype).name} many", np.arange(40) % 7, random((40,), dtype), length=7)
    file.write()


def write():
    cross()
    cosine_similarity()
    cdist()
    windows()
    bincount()
