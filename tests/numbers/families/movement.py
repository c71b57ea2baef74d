"""What PyTorch and NumPy say about operators that move elements, index, search and sort."""
import numpy as np
import torch

from oracle.cases import File

BOTH = (np.float32, np.float64)


def random(shape, dtype=np.float64, low=-2.0, high=2.0, seed=0):
    return np.random.default_rng([seed, *shape]).uniform(low, high, shape).astype(dtype)


def distinct(shape, dtype=np.float64, seed=0):
    """No two elements are closer than 0.1."""
    count = int(np.prod(shape, dtype=np.int64))
    order = np.random.default_rng([seed, *shape]).permutation(count)
    return (order.reshape(shape) * 0.125 - 1.0).astype(dtype)


def positions(shape, extent, dtype=np.int64, seed=5):
    """Indices of both signs."""
    return np.random.default_rng([seed, extent, *shape]).integers(-extent, extent, shape).astype(dtype)


def name_of(dtype):
    return np.dtype(dtype).name


def from_end(indices, extent):
    return torch.where(indices < 0, indices + extent, indices).long()


def joins():
    file = File("concat", lambda parts, axis: torch.cat(parts, 0 if axis is None else axis))
    for dtype in BOTH:
        for shapes, axis in [([(2, 3), (1, 3)], 0), ([(2, 3), (2, 2), (2, 1)], 1), ([(2, 0, 3), (2, 4, 3)], -2), ([(3,)], 0), ([(2,), (3,)], None),
                             ([(1, 1, 2), (1, 1, 5)], -1)]:
            file.add(f"{name_of(dtype)} {shapes} {axis}", [random(s, dtype, seed=i) for i, s in enumerate(shapes)], axis=axis)
    file.add("int8", [np.array([1, -2], np.int8), np.array([3], np.int8)], axis=0)
    file.add("float16", [np.array([0.1, -2], np.float16), np.array([3], np.float16)], axis=0)
    file.write()

    file = File("stack", lambda parts, axis: torch.stack(parts, 0 if axis is None else axis))
    for dtype in BOTH:
        for shape, count, axis in [((2, 3), 2, 0), ((2, 3), 3, 1), ((2, 3), 2, -1), ((), 3, 0), ((0, 2), 2, 1), ((4,), 1, None), ((1, 3), 2, -2), ((2, 1), 1, 2)]:
            file.add(f"{name_of(dtype)} {shape} {count} {axis}", [random(shape, dtype, seed=i) for i in range(count)], axis=axis)
    file.add("bool", [np.array([True, False]), np.array([False, False])], axis=1)
    file.write()

    def split(x, indices_or_sections, axis):
        n = indices_or_sections
        length = x.shape[axis]
        if isinstance(n, int):
            part = -(-length // n)
            n = [min(k * part, length) for k in range(1, n)]
        parts = torch.tensor_split(x, [min(c, length) for c in n], axis)
        return list(parts) if len(parts) > 1 else parts[0] + 0
    file = File("split", split)
    for dtype in BOTH:
        for shape, n, axis in [((4, 3), 2, 0), ((2, 5), 3, 1), ((7,), [2, 5], 0), ((2, 3, 4), [1, 1, 9], -1), ((3, 2), [0], 0), ((3,), 1, 0), ((0, 2), 2, 0), ((1, 4), 2, -1), ((3, 1), [1], -2), ((2, 1), 2, 1)]:
            file.add(f"{name_of(dtype)} {shape} {n} {axis}", random(shape, dtype), indices_or_sections=n, axis=axis)
    file.write()

    file = File("meshgrid", lambda parts, indexing: [g + 0 for g in torch.meshgrid(*parts, indexing=indexing)])
    for dtype in BOTH:
        for lengths, indexing in [((2, 3), "ij"), ((2, 3), "xy"), ((2, 3, 4), "xy"), ((3,), "ij"), ((0, 2), "ij"), ((1, 5), "xy")]:
            file.add(f"{name_of(dtype)} {lengths} {indexing}", [random((n,), dtype, seed=i) for i, n in enumerate(lengths)], indexing=indexing)
    file.write()


def shapes():
    for name, function in [("flatten", lambda x: x.reshape(-1)), ("nn.batch_flatten", lambda x: x.reshape(x.shape[0], int(np.prod(x.shape[1:]))))]:
        file = File(name, lambda x, function=function: function(x) + 0)
        for dtype in BOTH:
            for shape in [(2, 3), (2, 3, 4), (5,), (0, 3), (1, 1, 1)] + ([()] if name == "flatten" else []):
                file.add(f"{name_of(dtype)} {shape}", random(shape, dtype))
        file.write()

    pairs = {"reshape_like": [((2, 3), (3, 2)), ((2, 3), (6,)), ((4,), (2, 2)), ((1,), ()), ((0, 3), (2, 0))],
             "broadcast_to_like": [((3,), (2, 3)), ((2, 1), (2, 3)), ((2, 1, 4), (3, 2, 5, 4)), ((), (2, 2)), ((1, 3), (0, 3))],
             "collapse_sum_like": [((2, 3), (3,)), ((2, 3), (2, 1)), ((2, 3), ()), ((3, 2, 5, 4), (2, 1, 4)), ((0, 3), (3,))]}
    functions = {"reshape_like": lambda x, t: x.reshape(t.shape) + 0, "broadcast_to_like": lambda x, t: torch.broadcast_to(x, t.shape) + 0,
                 "collapse_sum_like": lambda x, t: x.sum_to_size(t.shape) + 0}
    for name, cases in pairs.items():
        file = File(name, lambda x, t, name=name: functions[name](x, t))
        for dtype in BOTH:
            for a, b in cases:
                # The target is of integers: it has no gradient.
                file.add(f"{name_of(dtype)} {a} {b}", random(a, dtype), np.zeros(b, np.int32))
        file.write()

    def slice_like(x, like, axes):
        for axis in range(x.dim()) if axes is None else axes:
            x = x.narrow(axis, 0, like.shape[axis])
        return x + 0
    file = File("slice_like", slice_like)
    for dtype in BOTH:
        for a, b, axes in [((4, 5), (2, 3), None), ((4, 5), (2, 3), [1]), ((4, 5, 6), (2, 5, 3), [0, -1]), ((3,), (0,), None), ((1, 4), (1, 4), [0])]:
            file.add(f"{name_of(dtype)} {a} {b} {axes}", random(a, dtype), np.zeros(b, np.int32), axes=axes)
    file.write()

    file = File("repeat", lambda x, repeats, axis: torch.repeat_interleave(x, repeats, axis) if x.dim() else x.repeat(repeats))
    for dtype in BOTH:
        for shape, repeats, axis in [((2, 3), 2, None), ((2, 3), 2, 0), ((2, 3), 3, -1), ((), 3, None), ((2, 3), 1, 1), ((0, 3), 2, 1), ((2, 1), 0, 0)]:
            file.add(f"{name_of(dtype)} {shape} {repeats} {axis}", random(shape, dtype), repeats=repeats, axis=axis)
    file.write()

    file = File("tile", lambda x, repeats: torch.tile(x, tuple(repeats) if isinstance(repeats, list) else (repeats,)) + 0)
    for dtype in BOTH:
        for shape, repeats in [((3,), [2]), ((2, 3), [2, 2]), ((3,), [2, 1]), ((2, 1, 3), [2]), ((), [2, 3]), ((0, 2), [2, 2]), ((2, 2), [0, 1]), ((2, 3), 2), ((3, 1), 3)]:
            file.add(f"{name_of(dtype)} {shape} {repeats}", random(shape, dtype), repeats=repeats)
    file.write()

    file = File("flip", lambda x, axis: torch.flip(x, [axis]))
    for dtype in BOTH:
        for shape, axis in [((3,), 0), ((2, 3), 1), ((2, 3, 4), -2), ((0, 2), 0), ((1, 1), -1)]:
            file.add(f"{name_of(dtype)} {shape} {axis}", random(shape, dtype), axis=axis)
    file.add("float16", np.array([0.1, 2, 3], np.float16), axis=0)
    file.write()

    def reverse_sequence(x, lengths, seq_axis, batch_axis):
        at = torch.arange(x.shape[seq_axis]).reshape([-1 if d == seq_axis % x.dim() else 1 for d in range(x.dim())])
        n = lengths.long().reshape([-1 if d == batch_axis % x.dim() else 1 for d in range(x.dim())])
        return torch.gather(x, seq_axis, torch.where(at < n, n - 1 - at, at).expand(x.shape))
    file = File("reverse_sequence", reverse_sequence)
    for dtype in BOTH:
        for shape, lengths, seq, batch in [((2, 4), [3, 4], 1, 0), ((4, 2), [0, 2], 0, 1), ((2, 3, 4), [1, 4], -1, 0), ((3, 2, 2), [3, 2], 0, -1), ((1, 5), [5], 1, 0), ((0, 4), [], 1, 0), ((2, 0, 3), [0, 0], 1, 0), ((2, 3, 0), [1, 3], 1, 0), ((2, 1), [1, 0], 1, 0)]:
            file.add(f"{name_of(dtype)} {shape} {lengths}", random(shape, dtype), np.array(lengths, np.int32), seq_axis=seq, batch_axis=batch)
    file.write()

    def pixel_shuffle(x, upscale_factor):
        if x.numel():
            return torch.pixel_shuffle(x, upscale_factor) + 0
        *batch, c, h, w = x.shape  # PyTorch has the gradient of an empty one in a wrong shape
        r = upscale_factor
        return x.reshape([*batch, c // r**2, h * r, w * r]) + 0
    file = File("nn.pixel_shuffle", pixel_shuffle)
    for dtype in BOTH:
        for shape, r in [((4, 2, 3), 2), ((2, 8, 3, 2), 2), ((9, 1, 2), 3), ((1, 2, 4, 2, 2), 2), ((3, 2, 2), 1), ((0, 4, 2, 1), 2), ((2, 4, 0, 3), 2), ((0, 2, 2), 2)]:
            file.add(f"{name_of(dtype)} {shape} {r}", random(shape, dtype), upscale_factor=r)
    file.write()


def numpy_slice(x, axes, begin, end, strides):
    """The flat positions that NumPy's slicing takes, so that PyTorch, which has no negative steps, can gather them."""
    at = np.arange(x.numel()).reshape(tuple(x.shape))
    key = [slice(None)] * x.dim()
    for axis, b, e, s in zip(axes, begin, end, strides):
        key[axis] = slice(b, e, s)
    return torch.from_numpy(at[tuple(key)].copy())


SLICES = [((6,), [0], [1], [4], [1]), ((6,), [0], [-1], [-7], [-2]), ((4, 5), [0, -1], [1, 0], [4, 5], [2, 3]), ((4, 5), [1], [-3], [100], [1]),
          ((3, 6), [1], [4], [0], [-1]), ((2, 3), [0], [1], [1], [1]), ((2, 3, 4), [2, 0], [3, 1], [-5, 9], [-3, 1]),
          ((0, 3), [1], [0], [3], [2]), ((0, 3), [0], [0], [5], [1]), ((1, 4), [0, -1], [0, -1], [1, -5], [1, -1]), ((4, 1), [-2], [3], [0], [-2]), ((2, 0, 3), [2], [2], [-4], [-1])]


def slices():
    file = File("strided_slice", lambda x, axes, begin, end, strides, assume_inbound: x.reshape(-1)[numpy_slice(x, axes, begin, end, strides)])
    for dtype in BOTH:
        for shape, axes, begin, end, strides in SLICES:
            file.add(f"{name_of(dtype)} {shape} {begin} {end} {strides}", random(shape, dtype), axes=axes, begin=begin, end=end, strides=strides,
                     assume_inbound=False)
        for shape, axes, begin, end, strides in [((6,), [0], [1], [4], [1]), ((4, 5), [0, 1], [1, 0], [4, 5], [2, 3]), ((1, 4), [1], [0], [2], [1])]:
            file.add(f"{name_of(dtype)} {shape} {begin} {end} {strides} inbound", random(shape, dtype), axes=axes, begin=begin, end=end, strides=strides, assume_inbound=True)
    file.write()

    def scatter(x, src, start, end, step, axis):
        at = numpy_slice(x, [axis], [start], [end], [step]).reshape(-1)
        return x.reshape(-1).index_copy(0, at, src.reshape(-1)).reshape(x.shape)
    file = File("slice_scatter", scatter)
    for dtype in BOTH:
        for shape, src, start, end, step, axis in [((5,), (2,), 1, 3, 1, 0), ((5,), (3,), 0, 5, 2, 0), ((3, 5), (3, 2), -3, -1, 1, 1), ((4, 2), (2, 2), 3, 0, -2, 0),
                                                   ((2, 3), (2, 3), 0, 100, 1, -1), ((3,), (0,), 2, 1, 1, 0), ((1, 4), (1, 2), 1, 3, 1, -1), ((3, 1), (1, 1), 1, 2, 1, 0), ((0, 4), (0, 2), 0, 4, 2, 1)]:
            file.add(f"{name_of(dtype)} {shape} {start} {end} {step}", random(shape, dtype), random(src, dtype, seed=2), start=start, end=end, step=step, axis=axis)
    file.write()

    def whole(shape, axes, begin, end, strides):
        full = [[0, n, 1] for n in shape]
        for axis, *bounds in zip(axes, begin, end, strides):
            full[axis] = bounds
        return [np.array(column, np.int64) for column in zip(*full)]

    def dynamic(x, begin, end, strides):
        return x.reshape(-1)[numpy_slice(x, range(x.dim()), begin.tolist(), end.tolist(), strides.tolist())]
    file = File("dynamic_strided_slice", dynamic)
    backward = File("grad.dynamic_strided_slice_backward", None)

    def put(g, x, begin, end, strides):
        at = numpy_slice(x, range(x.dim()), begin.tolist(), end.tolist(), strides.tolist()).reshape(-1)
        return torch.zeros(x.numel(), dtype=g.dtype).index_copy(0, at, g.reshape(-1)).reshape(x.shape)
    backward.oracle, backward.differentiable = put, False
    for dtype in BOTH:
        for shape, *bounds in SLICES:
            columns = whole(shape, *bounds)
            x = random(shape, dtype)
            file.add(f"{name_of(dtype)} {shape} {bounds}", x, *columns)
            out = dynamic(torch.from_numpy(x), *[torch.from_numpy(c) for c in columns]).shape
            backward.add(f"{name_of(dtype)} {shape} {bounds}", random(tuple(out), dtype, seed=3), x, *columns)
    file.write()
    backward.write()


def taking():
    def take(x, indices, axis, mode):
        along = 0 if axis is None else axis % x.dim()
        n = x.shape[along]
        at = indices.long()
        outside = (at < 0) | (at >= n)
        if mode == "fast":
            at = from_end(at, n)
        elif mode == "wrap":
            at = at % n
        else:
            at = at.clamp(0, n - 1)
        result = torch.index_select(x, along, at.reshape(-1)).reshape(*x.shape[:along], *at.shape, *x.shape[along + 1:])
        if mode == "nan":
            shape = [1] * along + list(at.shape) + [1] * (x.dim() - along - 1)
            result = torch.where(outside.reshape(shape), torch.full((), np.nan, dtype=x.dtype), result)
        return result
    file = File("take", take)
    cases = [((5,), (3,), None), ((3, 4), (2, 2), 0), ((3, 4), (2,), 1), ((2, 3, 4), (), -2), ((2, 3), (0,), 1), ((0, 3), (2,), 1), ((2, 3, 4), (2, 1, 2), -1)]
    for dtype in BOTH:
        for shape, count, axis in cases:
            n = shape[0 if axis is None else axis]
            file.add(f"{name_of(dtype)} {shape} {count} {axis}", random(shape, dtype), positions(count, n), axis=axis, mode="fast")
        for mode in ("clip", "wrap", "nan"):
            file.add(f"{name_of(dtype)} {mode}", random((4, 2), dtype), np.array([5, -7, 2, -1, 4], np.int32), axis=0, mode=mode)
            file.add(f"{name_of(dtype)} {mode} 2", random((2, 4, 3), dtype), np.array([[5, 1], [3, -9]]), axis=1, mode=mode)
    file.add("uint8", np.array([3, 200, 7], np.uint8), np.array([2, 1], np.uint8), axis=0, mode="fast")
    file.write()

    def backward(g, x, indices, axis):
        along = 0 if axis is None else axis % x.dim()
        at = from_end(indices.long(), x.shape[along]).reshape(-1)
        flat = g.reshape(*x.shape[:along], at.numel(), *x.shape[along + 1:])
        return torch.zeros(x.shape, dtype=g.dtype).index_add(along, at, flat)
    file = File("grad.take_backward", backward)
    for dtype in BOTH:
        for shape, count, axis in cases:
            along = 0 if axis is None else axis % len(shape)
            g = random((*shape[:along], *count, *shape[along + 1:]), dtype, seed=4)
            file.add(f"{name_of(dtype)} {shape} {count} {axis}", g, random(shape, dtype), positions(count, shape[along]), axis=axis)
    file.write()

    file = File("gather_elements", lambda x, i, axis: torch.gather(x, axis, from_end(i, x.shape[axis])))
    gathers = [((5,), (3,), 0), ((3, 4), (3, 2), 1), ((3, 4), (5, 4), 0), ((2, 3, 4), (2, 2, 4), -2), ((3, 4), (1, 1), -1), ((3, 2), (0, 2), 0)]
    for dtype in BOTH:
        for shape, count, axis in gathers:
            file.add(f"{name_of(dtype)} {shape} {count} {axis}", random(shape, dtype), positions(count, shape[axis]), axis=axis)
    file.write()

    reductions = {"add": "sum", "mul": "prod", "mean": "mean", "max": "amax", "min": "amin"}

    def scatter(x, i, updates, axis, reduction):
        at = from_end(i, x.shape[axis])
        if reduction == "update":
            return torch.scatter(x, axis, at, updates)
        return torch.scatter_reduce(x, axis, at, updates, reductions[reduction], include_self=True)

    def once(shape, extent, axis, seed=1):
        """Different positions along the axis, as PyTorch wants them where the last update stays."""
        generator = np.random.default_rng([seed, *shape])
        order = np.argsort(generator.random([extent if d == axis % len(shape) else n for d, n in enumerate(shape)]), axis)
        return np.take(order, range(shape[axis]), axis)

    file = File("scatter_elements", scatter)
    for dtype in BOTH:
        for shape, count, axis in [((5,), (3,), 0), ((3, 4), (3, 2), 1), ((3, 4), (2, 4), 0), ((2, 3, 4), (2, 2, 4), -2), ((3, 2), (0, 2), 0), ((1, 3), (1, 2), -1), ((3, 1), (2, 1), 0), ((0, 3), (0, 2), 1)]:
            for reduction in ("update", *reductions):
                at = once(count, shape[axis], axis) if reduction == "update" else positions(count, shape[axis])
                file.add(f"{name_of(dtype)} {shape} {count} {axis} {reduction}", distinct(shape, dtype) + dtype(0.3), at, random(count, dtype, seed=6), axis=axis,
                         reduction=reduction)
    file.add("one zero", np.array([2.0, 3.0]), np.array([0, 0, 1]), np.array([0.0, 5.0, 4.0]), axis=0, reduction="mul")
    file.add("two zeros", np.array([2.0, 3.0]), np.array([0, 0, 1]), np.array([0.0, 0.0, 4.0]), axis=0, reduction="mul")
    file.add("ties", np.array([2.0, 3.0]), np.array([0, 0, 1]), np.array([2.0, 2.0, 4.0]), axis=0, reduction="max")
    file.write()


def coordinates():
    def point(x, indices, batch):
        """Indices of PyTorch for coordinates in the last dimension behind `batch` shared ones."""
        shared = []
        for d in range(batch):
            shared.append(torch.arange(x.shape[d]).reshape([-1 if k == d else 1 for k in range(indices.dim() - 1)]))
        return tuple(shared) + tuple(from_end(indices[..., k], x.shape[batch + k]) for k in range(indices.shape[-1]))

    def gather(x, indices, batch_dims):
        if indices.shape[-1] == 0:  # every point is all of x
            return x.expand(*indices.shape[:-1], *x.shape) + 0
        return x[point(x, indices, batch_dims)] + 0
    file = File("gather_nd", gather)
    cases = [((4,), [[1], [-2], [1]], 0), ((3, 4), [[0, 1], [2, -1]], 0), ((3, 4), [[[1]], [[0]]], 0), ((3, 4), [1, 2], 0), ((2, 3, 4), [[[0], [2]], [[1], [1]]], 1),
             ((2, 3), [[2], [0]], 1), ((3, 0), [[1], [0]], 0), ((2, 3), np.zeros((0, 2)), 0), ((2, 3), np.zeros((4, 0)), 0), ((0, 3), np.zeros((0, 1)), 0), ((1, 3), [[0], [-1]], 0)]
    for dtype in BOTH:
        for shape, at, batch in cases:
            file.add(f"{name_of(dtype)} {shape} {at} {batch}", random(shape, dtype), np.array(at, np.int64), batch_dims=batch)
    file.write()

    def scatter(x, indices, updates, reduction):
        rest = x.shape[indices.shape[-1]:]
        strides = [int(np.prod(x.shape[k + 1:indices.shape[-1]])) for k in range(indices.shape[-1])]
        flat = sum(s * i for s, i in zip(strides, point(x, indices, 0))).reshape(-1)
        at = flat.reshape(flat.numel(), *[1] * len(rest)).expand(-1, *rest)
        rows, new = x.reshape(int(np.prod(x.shape[:indices.shape[-1]])), *rest), updates.reshape(flat.numel(), *rest)
        if reduction == "update":
            result = torch.scatter(rows, 0, at, new)
        else:
            result = torch.scatter_reduce(rows, 0, at, new, {"add": "sum", "mul": "prod", "max": "amax", "min": "amin"}[reduction], include_self=True)
        return result.reshape(x.shape)
    file = File("scatter_nd", scatter)
    for dtype in BOTH:
        for shape, at in [((4,), [[1], [-2]]), ((3, 4), [[0, 1], [2, -1]]), ((3, 4), [[[1]], [[0]]]), ((3, 4), [1, 2]), ((2, 3, 4), [[1, 1], [0, 2]]), ((3, 4), np.zeros((0, 1))), ((3, 0), [[1], [-1]]), ((2, 3, 4), np.zeros((0, 2))),
                          ((1, 3), [[0]])]:
            at = np.array(at, np.int64)
            updates = (*at.shape[:-1], *shape[at.shape[-1]:])
            for reduction in ("update", "add", "mul", "max", "min"):
                file.add(f"{name_of(dtype)} {shape} {at.tolist()} {reduction}", distinct(shape, dtype) + dtype(0.3), at, random(updates, dtype, seed=6),
                         reduction=reduction)
        for reduction in ("add", "mul", "max", "min"):
            file.add(f"{name_of(dtype)} repeated {reduction}", distinct((3, 2), dtype) + dtype(0.3), np.array([[1], [1], [-2]]), random((3, 2), dtype, seed=6),
                     reduction=reduction)
    file.write()

    def get(x, indices):
        return x[tuple(from_end(i, n) for i, n in zip(indices, x.shape))] + 0

    def put(x, indices, values, accumulate):
        return x.index_put(tuple(from_end(i, n) for i, n in zip(indices, x.shape)), values, accumulate)
    file, writer = File("index_tensor", get), File("index_put", put)
    for dtype in BOTH:
        for shape, indices, values in [((4,), [[1, -2, 0]], (3,)), ((3, 4), [[0, 2], [1, -1]], (2,)), ((3, 4, 2), [[[0], [2]], [1, 3, 0]], (3, 2)), ((3, 4), [2], ()),
                                       ((3, 4), [2, [0, 1]], (2,)), ((3, 0), [[1, 2]], (2, 0))]:
            arrays = [np.array(i) for i in indices]
            file.add(f"{name_of(dtype)} {shape} {indices}", random(shape, dtype), arrays)
            for accumulate in (False, True):
                writer.add(f"{name_of(dtype)} {shape} {indices} {accumulate}", random(shape, dtype), arrays, random(values, dtype, seed=2), accumulate=accumulate)
        writer.add(f"{name_of(dtype)} repeated", random((3, 2), dtype), [np.array([1, 1, -2])], random((3, 2), dtype, seed=2), accumulate=True)
    file.write()
    writer.write()


def searches():
    for name in ("argmax", "argmin"):
        file = File(name, lambda x, axis, keepdims, name=name: torch.from_numpy(np.asarray(getattr(np, name)(x.numpy(), axis, keepdims=keepdims))), differentiable=False)
        for dtype in BOTH:
            for shape, axis, keepdims in [((2, 3, 4), None, False), ((2, 3, 4), None, True), ((2, 3, 4), 1, False), ((2, 3, 4), -1, True), ((), None, False), ((0, 3), 1, False),
                                          ((1, 5), 0, True)]:
                file.add(f"{name_of(dtype)} {shape} {axis} {keepdims}", random(shape, dtype), axis=axis, keepdims=keepdims)
            file.add(f"{name_of(dtype)} ties", np.array([[1, 3, 3], [2, 2, 2], [-0.0, 0.0, -1]], dtype), axis=1, keepdims=False)
            file.add(f"{name_of(dtype)} special", np.array([[1, np.nan, np.inf, np.nan], [-np.inf, np.inf, np.inf, -np.inf]], dtype), axis=-1, keepdims=False)
        file.add("int8", np.array([[127, -128, 127]], np.int8), axis=1, keepdims=False)
        file.add("bool", np.array([False, True, True]), axis=0, keepdims=True)
        file.write()

    file = File("bucketize", lambda x, b, out_int32, right: torch.bucketize(x, b, out_int32=out_int32, right=right), differentiable=False)
    for dtype in BOTH:
        for right in (False, True):
            file.add(f"{name_of(dtype)} {right}", np.array([-5, 0, 0.5, 1, 2.5, 9, np.inf, -np.inf], dtype), np.array([0, 1, 2], dtype), out_int32=False, right=right)
            file.add(f"{name_of(dtype)} {right} 2-D", random((2, 3), dtype), np.array([-1, -0.5, 0.5, 1], dtype), out_int32=True, right=right)
        file.add(f"{name_of(dtype)} none", random((2,), dtype), np.zeros(0, dtype), out_int32=False, right=False)
        file.add(f"{name_of(dtype)} rank 0", random((), dtype), np.array([0], dtype), out_int32=False, right=False)
    file.add("int32", np.array([1, 5, 3], np.int32), np.array([3, 4], np.int32), out_int32=False, right=True)
    file.write()


def sorts():
    def order(x, axis, descending):
        """The stable order with NaN last."""
        keys = x.detach()
        if not keys.is_floating_point():
            return torch.from_numpy(np.argsort(-keys.numpy().astype(np.int64) if descending else keys.numpy(), axis, kind="stable"))
        nan = torch.isnan(keys)
        keys = torch.where(nan, torch.zeros((), dtype=keys.dtype), -keys if descending else keys)
        first = torch.sort(keys, stable=True, dim=axis)[1]
        return torch.gather(first, axis, torch.sort(torch.gather(nan, axis, first).to(torch.int8), stable=True, dim=axis)[1])

    shapes = [((5,), 0), ((2, 4, 3), 1), ((2, 4, 3), -3), ((3, 1), -1), ((0, 3), 0), ((2, 17), -1)]
    file = File("sort", lambda x, axis, descending: torch.gather(x, axis, order(x, axis, descending)))
    positions_file = File("argsort", lambda x, axis, descending, dtype: order(x, axis, descending).to(getattr(torch, dtype)), differentiable=False)
    for dtype in BOTH:
        for descending in (False, True):
            for shape, axis in shapes:
                file.add(f"{name_of(dtype)} {shape} {axis} {descending}", distinct(shape, dtype), axis=axis, descending=descending)
                positions_file.add(f"{name_of(dtype)} {shape} {axis} {descending}", distinct(shape, dtype), axis=axis, descending=descending, dtype="int32")
            special = np.array([2, np.nan, 1, np.inf, 2, -np.inf, np.nan, 1], dtype)
            file.add(f"{name_of(dtype)} special {descending}", special, axis=0, descending=descending, gradient=False)
            positions_file.add(f"{name_of(dtype)} special {descending}", special, axis=0, descending=descending, dtype="int64")
    for descending in (False, True):
        file.add(f"int8 {descending}", np.array([3, -128, 127, 3], np.int8), axis=0, descending=descending)
        positions_file.add(f"int8 {descending}", np.array([3, -128, 127, 3], np.int8), axis=0, descending=descending, dtype="int32")
    file.write()
    positions_file.write()

    def topk(x, k, axis, ret_type, largest, dtype="int32"):
        at = order(x, axis, largest)
        at = at.narrow(axis, 0, k) if k >= 1 else at
        values, at = torch.gather(x, axis, at), at.to(getattr(torch, dtype))
        return {"both": [values, at], "values": values, "indices": at}[ret_type]
    file = File("topk", topk)
    for dtype in BOTH:
        for ret_type in ("both", "values", "indices"):
            for shape, axis, k, largest in [((5,), 0, 2, True), ((2, 4, 3), 1, 3, False), ((2, 4, 3), -1, 1, True), ((2, 6), -1, 0, True), ((0, 3), 1, 2, False), ((3, 1), -1, 1, True), ((1, 4), 0, 1, False)]:
                file.add(f"{name_of(dtype)} {shape} {axis} {k} {largest} {ret_type}", distinct(shape, dtype), k=k, axis=axis, ret_type=ret_type, largest=largest,
                         **({"dtype": "int64"} if dtype == np.float64 else {}))
        for largest in (False, True):
            file.add(f"{name_of(dtype)} special {largest}", np.array([2, np.nan, 1, np.inf, 2, -np.inf, np.nan, 1], dtype), k=7, axis=0, ret_type="both",
                     largest=largest, gradient=False)
    file.write()


def layouts():
    def places(shape, index_map):
        """Where Python's own lambda puts each element, and the shape that holds all places."""
        result = eval(index_map)(*np.indices(shape))  # our own text
        result = [r for r in result] if isinstance(result, (tuple, list)) else [result]
        return result

    def transform(x, index_map, pad_value, shape=None):
        at = places(x.shape, index_map)
        flat = torch.from_numpy(np.ravel_multi_index(at, shape).reshape(-1))
        return torch.full((int(np.prod(shape)),), float(pad_value or 0), dtype=x.dtype).index_copy(0, flat, x.reshape(-1)).reshape(shape)

    maps = [((4,), "lambda i: (i // 2, i % 2)", (2, 2)), ((5,), "lambda i: (i // 4, i % 4)", (2, 4)), ((2, 3), "lambda i, j: (j, i)", (3, 2)),
            ((2, 6, 3), "lambda n, c, h: (n, c // 4, h, c % 4)", (2, 2, 3, 4)), ((4, 3), "lambda i, j: i * 3 + j", (12,)), ((3,), "lambda i: [2 - i]", (3,)),
            ((1, 4), "lambda n, c: (n, c // 2, c % 2)", (1, 2, 2)), ((3, 1), "lambda i, j: (j, i)", (1, 3)), ((0, 3), "lambda i, j: (j, i)", (3, 0)), ((2, 0), "lambda i, j: (i, j // 4, j % 4)", (2, 0, 4))]
    file, backward = File("layout_transform", None), File("grad.layout_transform_backward", None, differentiable=False)
    for dtype in BOTH:
        for shape, index_map, to in maps:
            for pad in (None, 7.5):
                file.oracle = lambda x, index_map, pad_value, to=to: transform(x, index_map, pad_value, to)
                file.add(f"{name_of(dtype)} {index_map} {pad}", random(shape, dtype), index_map=index_map, pad_value=pad)
            backward.oracle = lambda g, x, index_map, to=to: g.reshape(-1)[torch.from_numpy(np.ravel_multi_index(places(x.shape, index_map), to))]
            backward.add(f"{name_of(dtype)} {index_map}", random(to, dtype, seed=2), random(shape, dtype), index_map=index_map)
    file.write()
    backward.write()


def sizes_from_data():
    def unique(x, sorted, return_index, return_inverse, return_counts, axis=None):
        values, index, inverse, counts = np.unique(x.numpy(), True, True, True, axis)
        if not sorted:
            by_place = np.argsort(index)
            values = np.take(values, by_place, 0 if axis is None else axis)
            index, counts, inverse = index[by_place], counts[by_place], np.argsort(by_place)[inverse]
        results = [values] + [r for r, wanted in [(index, return_index), (inverse.reshape(-1), return_inverse), (counts, return_counts)] if wanted]
        tensors = [torch.from_numpy(np.asarray(r)) for r in results]
        return tensors if len(tensors) > 1 else tensors[0]
    file = File("unique", unique, differentiable=False)
    for dtype in (*BOTH, np.int32):
        for sorted_ in (True, False):
            x = np.array([[3, 1, 3], [2, 1, 3], [3, 1, 3]], dtype)
            for flags in [(False, False, False), (True, True, True), (False, True, False)]:
                for axis in ({}, {"axis": 0}, {"axis": -1}):
                    file.add(f"{name_of(dtype)} {sorted_} {flags} {axis}", x, sorted=sorted_, return_index=flags[0], return_inverse=flags[1], return_counts=flags[2], **axis)
            file.add(f"{name_of(dtype)} {sorted_} empty", np.zeros(0, dtype), sorted=sorted_, return_index=True, return_inverse=False, return_counts=True)
            for shape, axis in [((0, 2), 0), ((2, 0), 1)]:
                file.add(f"{name_of(dtype)} {sorted_} {shape}", np.zeros(shape, dtype), sorted=sorted_, return_index=True, return_inverse=True, return_counts=True, axis=axis)
            for shape in [(1, 3), (3, 1), (1,)]:
                file.add(f"{name_of(dtype)} {sorted_} {shape}", np.array([2, 1, 2][: int(np.prod(shape))], dtype).reshape(shape), sorted=sorted_, return_index=True, return_inverse=True,
                         return_counts=False, axis=-1)
    file.write()

    file = File("nonzero", lambda x: torch.from_numpy(np.stack(np.nonzero(x.numpy()))), differentiable=False)
    for dtype in (*BOTH, np.int64, np.bool_):
        for shape in [(5,), (2, 3), (2, 3, 4), (0, 2), (1, 1)]:
            file.add(f"{name_of(dtype)} {shape}", (random(shape) > 0).astype(dtype))
    file.add("special", np.array([np.nan, 0.0, -0.0, np.inf]))
    file.write()


def write():
    joins()
    shapes()
    slices()
    taking()
    coordinates()
    searches()
    sorts()
    layouts()
    sizes_from_data()
