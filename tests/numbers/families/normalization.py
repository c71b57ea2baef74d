"""Reductions, scans, contractions, normalizations, attention: what PyTorch and NumPy say about them."""
import numpy as np
import torch

from oracle import cases

BOTH = (np.float32, np.float64)
AXES = [(None, False), (None, True), ([0], False), ([-1], False), ([-1], True), ([0, 2], False), ([1, -1], True), ([], False)]


def random(shape, dtype=np.float64, low=-2.0, high=2.0, seed=0):
    return np.random.default_rng([seed, *shape]).uniform(low, high, shape).astype(dtype)


def rounded_to_half(function):
    """The function on float16: computed in float64 and rounded once."""

    def each(value, change):
        if isinstance(value, (list, tuple)):
            return [each(v, change) for v in value]
        return change(value) if isinstance(value, torch.Tensor) and value.is_floating_point() else value

    def call(*args, **attributes):
        return each(function(*(each(a, torch.Tensor.double) for a in args), **attributes), torch.Tensor.half)

    return call


class File(cases.File):
    """Small calls in float32 are asked in float16 too."""

    def add(self, name, *args, **attributes):
        super().add(name, *args, **attributes)
        arrays = [a for arg in args for a in (arg if isinstance(arg, list) else [arg])]
        if not name.startswith("float32") or any(a.size > 64 for a in arrays):
            return

        def half(argument):
            if isinstance(argument, list):
                return [half(a) for a in argument]
            return argument.astype(np.float16) if argument.dtype == np.float32 else argument

        oracle, self.oracle = self.oracle, rounded_to_half(self.oracle)
        super().add(name.replace("float32", "float16", 1), *(half(a) for a in args), **attributes)
        self.oracle = oracle


def over(function):
    """A function of (x, dims, keepdim) with the axes of R: None for all, an empty list for none."""

    def call(x, axis=None, keepdims=False):
        axes = tuple(range(x.dim())) if axis is None else tuple(a % x.dim() for a in axis)
        if not axes:
            return function(x.unsqueeze(-1), (x.dim(),), False)
        return function(x, axes, keepdims)

    return call


def in_turn(function):
    """A reduction of several axes by one of a single axis."""

    def call(x, axes, keepdim):
        for axis in sorted(axes, reverse=True):
            x = function(x, axis, keepdim)
        return x

    return call


def reductions():
    def variance(x, dims, keepdim):
        return ((x - x.mean(dim=dims, keepdim=True)) ** 2).mean(dim=dims, keepdim=keepdim)

    table = [
        ("max", lambda x, d, k: torch.amax(x, d, k)),
        ("min", lambda x, d, k: torch.amin(x, d, k)),
        ("prod", in_turn(torch.prod)),
        ("variance", variance),
        ("std", lambda x, d, k: torch.sqrt(variance(x, d, k))),
    ]
    for name, function in table:
        file = File(name, over(function))
        for dtype in BOTH:
            label = np.dtype(dtype).name
            for axis, keepdims in AXES:
                slope = False if name == "std" and axis == [] else None  # 0 / 0 in the oracle
                file.add(f"{label} {axis} {keepdims}", random((2, 3, 4), dtype), axis=axis, keepdims=keepdims, gradient=slope)
            file.add(f"{label} long lines", random((3, 130), dtype, 0.9, 1.1), axis=[1], keepdims=False)
            file.add(f"{label} one", random((1, 5, 1), dtype), axis=[0, 2], keepdims=True, gradient=False)
            file.add(f"{label} rank 0", random((), dtype), axis=[], keepdims=False, gradient=False)
            file.add(f"{label} empty", random((0, 3), dtype), axis=[1], keepdims=False)
            if name in ("max", "min"):
                file.add(f"{label} ties", np.array([[1, 3, 3, 1], [2, 2, 2, 2], [0, -1, 5, 5]], dtype), axis=[1], keepdims=False)
                file.add(f"{label} nan", np.array([[1, np.nan, 3], [np.inf, 2, -np.inf]], dtype), axis=[1], keepdims=False, gradient=False)
            if name == "prod":
                file.add(f"{label} zeros", np.array([[2, 0, 3, 5], [0, 2, 0, 1], [0, 0, 0, 1], [1, 2, 3, 4]], dtype), axis=[1], keepdims=False)
                file.add(f"{label} zeros of all", np.array([[2, 0, 3], [1, 4, 0.5]], dtype), axis=None, keepdims=True)
        if name in ("max", "min"):
            file.add("int8", np.array([[-128, 127], [-3, 4]], np.int8), axis=[1], keepdims=False)
            file.add("uint8", np.array([[200, 100], [3, 4]], np.uint8), axis=[0], keepdims=True)
        if name == "prod":
            file.oracle = lambda x, axis, keepdims: torch.from_numpy(np.prod(x.numpy(), tuple(axis), dtype=x.numpy().dtype))
            file.add("int8 wraps", np.array([[100, 100], [-3, 4]], np.int8), axis=[1], keepdims=False)
            file.add("int64", np.array([[2**62, 3], [-3, 4]], np.int64), axis=[1], keepdims=False)
        file.write()

    for name, function in [("logsumexp", torch.logsumexp), ("norm", lambda x, d, k: torch.linalg.vector_norm(x, 2, d, k))]:
        file = File(name, over(function))
        for dtype in BOTH:
            label = np.dtype(dtype).name
            for axis, keepdims in AXES:
                file.add(f"{label} {axis} {keepdims}", random((2, 3, 4), dtype), axis=axis, keepdims=keepdims)
            file.add(f"{label} one", random((1, 5, 1), dtype), axis=[0, 2], keepdims=True)
            file.add(f"{label} rank 0", random((), dtype), axis=[], keepdims=False)
            file.add(f"{label} empty", random((0, 3), dtype), axis=[1], keepdims=False)
            file.add(f"{label} of nothing", random((2, 0, 3), dtype), axis=[1], keepdims=False)
            file.add(f"{label} large", np.array([[1000.0, 999.0, -1000.0], [-500.0, -500.0, -501.0]], dtype), axis=[1], keepdims=False)
            file.add(f"{label} ends", np.array([[np.inf, 1.0], [-np.inf, -np.inf], [-np.inf, 2.0], [np.nan, 1.0]], dtype), axis=[1], keepdims=False, gradient=False)
        if name == "norm":
            file.add("float32 squares beyond it", np.array([[3e30, -4e30, 0], [3e-30, 4e-30, 1e-31], [1e38, 1e-38, 0]], np.float32), axis=[1], keepdims=False, gradient=False)
        file.write()

    def median(x, axis, keepdims):
        if axis is None:
            y = torch.median(x)
            return y.reshape([1] * x.dim()) if keepdims else y
        return list(torch.median(x, dim=axis[0], keepdim=keepdims))

    file = File("median", median)
    for dtype in BOTH:
        label = np.dtype(dtype).name
        for axis, keepdims in [(None, False), (None, True), ([0], False), ([-1], True), ([1], False)]:
            file.add(f"{label} {axis} {keepdims}", random((2, 3, 4), dtype), axis=axis, keepdims=keepdims)
        file.add(f"{label} long", random((33, 2), dtype), axis=[0], keepdims=False)
        file.add(f"{label} one", random((3, 1), dtype), axis=[1], keepdims=False)
        file.add(f"{label} empty", random((0, 3), dtype), axis=[1], keepdims=False)
        file.add(f"{label} empty line", random((3, 0, 2), dtype), axis=[-1], keepdims=True)
        file.add(f"{label} nan", np.array([[1, np.nan, 3], [np.inf, 2, -np.inf]], dtype), axis=[1], keepdims=False, gradient=False)
    file.add("int32", np.array([[4, 1, 3, 2], [9, 8, 7, 6]], np.int32), axis=[1], keepdims=False)
    file.write()


def scans():
    def running(function, start):
        def call(data, axis, dtype, exclusive):
            if dtype is not None:
                data = data.to(getattr(torch, dtype))
            if axis is None:
                data, axis = data.reshape(-1), 0
            y = function(data, axis, dtype=data.dtype)
            if exclusive:
                first = torch.full_like(y.narrow(axis, 0, min(1, y.shape[axis])), start)
                y = torch.cat([first, y.narrow(axis, 0, max(y.shape[axis] - 1, 0))], axis)
            return y

        return call

    for name, function, start in [("cumsum", torch.cumsum, 0), ("cumprod", torch.cumprod, 1)]:
        file = File(name, running(function, start))
        for dtype in BOTH:
            label = np.dtype(dtype).name
            for axis in (None, 0, 1, -1):
                for exclusive in (False, True):
                    file.add(f"{label} {axis} {exclusive}", random((2, 3, 4), dtype, 0.25, 2.0), axis=axis, dtype=None, exclusive=exclusive)
            file.add(f"{label} signs", random((40,), dtype, -1.25, 1.25), axis=0, dtype=None, exclusive=False)
            file.add(f"{label} zeros", np.array([[2, 0, 3, 0, 5], [1, 2, 3, 4, 0]], dtype), axis=1, dtype=None, exclusive=False)
            file.add(f"{label} zeros exclusive", np.array([[2, 0, 3, 0, 5], [1, 2, 3, 4, 0]], dtype), axis=1, dtype=None, exclusive=True)
            file.add(f"{label} one", random((1, 5), dtype), axis=0, dtype=None, exclusive=False)
            file.add(f"{label} empty", random((2, 0, 3), dtype), axis=1, dtype=None, exclusive=False)
        file.add("int8 wraps", np.array([100, 100, 3], np.int8), axis=0, dtype=None, exclusive=False)
        file.add("bool to int32", np.array([True, True, False, True]), axis=0, dtype="int32", exclusive=False)
        file.add("int32 to float64", np.array([[1, 2], [3, 4]], np.int32), axis=None, dtype="float64", exclusive=True)
        file.write()

    def linear_scan(a, b, axis, transposed):
        unused = none_of(a, b)
        a, b = a.unbind(axis), b.unbind(axis)
        order = range(len(b) - 1, -1, -1) if transposed else range(len(b))
        y, last = [None] * len(b), None
        for i in order:
            y[i] = b[i] if last is None else b[i] + a[i + 1 if transposed else i] * y[last]
            last = i
        return torch.stack(y, axis) + unused

    file = File("grad.linear_scan", linear_scan)
    for dtype in BOTH:
        for shape, axis in [((5,), 0), ((2, 3, 4), 1), ((2, 3, 4), -1), ((1, 4), 0), ((4, 0), 0), ((17, 2), 0)]:
            for transposed in (False, True):
                file.add(f"{np.dtype(dtype).name} {shape} {axis} {transposed}", random(shape, dtype, -1, 1, 1), random(shape, dtype, seed=2),
                         axis=axis, transposed=transposed)
    file.write()

    def shift(x, axis, offset):
        n = x.shape[axis]
        k = min(abs(offset), n)
        zeros = torch.zeros_like(x.narrow(axis, 0, k))
        parts = [zeros, x.narrow(axis, 0, n - k)] if offset >= 0 else [x.narrow(axis, k, n - k), zeros]
        return torch.cat(parts, axis)

    file = File("grad.shift", shift)
    for dtype in BOTH:
        for shape, axis, offset in [((5,), 0, 1), ((5,), 0, -2), ((2, 3, 4), 1, 1), ((2, 3, 4), -1, -1), ((2, 3), 0, 5), ((2, 3), 1, 0), ((0, 3), 1, 1), ((3, 0), 1, -1), ((0,), 0, 1), ((3, 1), 1, 1), ((1, 4), 1, -3)]:
            file.add(f"{np.dtype(dtype).name} {shape} {axis} {offset}", random(shape, dtype), axis=axis, offset=offset)
    file.add("int64", np.array([[1, 2, 3]], np.int64), axis=1, offset=-1)
    file.write()


def contractions():
    file = File("outer", lambda a, b: torch.outer(a, b))
    for dtype in BOTH:
        for n, m in [(3, 4), (1, 5), (5, 1), (0, 3), (17, 9), (4, 4)]:
            file.add(f"{np.dtype(dtype).name} {n} {m}", random((n,), dtype, seed=1), random((m,), dtype, seed=2))
    file.add("int8 wraps", np.array([100, 2], np.int8), np.array([2, 3], np.int8))
    file.write()

    def linear(data, weight, bias=None, out_dtype=None):
        y = torch.matmul(data, weight.T if weight.dim() > 1 else weight)
        y = y if bias is None else y + bias
        return y if out_dtype is None else y.to(getattr(torch, out_dtype))

    for name in ("linear", "nn.dense"):
        file = File(name, linear if name == "linear" else lambda d, w, units, out_dtype: linear(d, w, None, out_dtype))
        extra = {} if name == "linear" else {"units": None}
        for dtype in BOTH:
            for shape in [(2, 3), (3,), (2, 4, 3), (1, 3), (0, 3), (17, 3), (2, 0)]:
                w = random((5, shape[-1]), dtype, seed=1)
                file.add(f"{np.dtype(dtype).name} {shape}", random(shape, dtype), w, **extra, out_dtype=None)
                if name == "linear":
                    file.add(f"{np.dtype(dtype).name} {shape} bias", random(shape, dtype), w, random((5,), dtype, seed=2), out_dtype=None)
        for dtype, out in [(np.float32, "float64"), (np.float64, "float32"), (np.float64, "float64")]:
            units = {} if name == "linear" else {"units": 2}
            file.add(f"to {out} of {np.dtype(dtype).name}", random((3, 4), dtype), random((2, 4), dtype, seed=1), **units, out_dtype=out, gradient=None if out == dtype.__name__ else False)
        if name == "linear":
            file.add("float64 vector", random((4, 3)), random((3,), seed=1), out_dtype=None)
            file.add("float64 scalar bias", random((4, 3)), random((2, 3), seed=1), random((1,), seed=2), out_dtype=None)
        file.write()

    file = File("einsum", lambda operands, subscripts: torch.einsum(subscripts, *operands))
    cases = [("ij,jk->ik", (2, 3), (3, 4)), ("ij,jk", (2, 3), (3, 4)), ("bij,bjk->bik", (2, 3, 4), (2, 4, 5)), ("ij->ji", (2, 3)), ("ij->", (2, 3)),
             ("ij->i", (2, 3)), ("ii->i", (3, 3)), ("ii", (3, 3)), ("i,j->ij", (2,), (3,)), ("i,i->", (4,), (4,)), ("ij,kj,kl->il", (2, 3), (4, 3), (4, 2)),
             ("...ij,...jk->...ik", (2, 1, 2, 3), (4, 3, 2)), ("...i->...", (2, 3)), ("i...,i...->...", (2, 3), (2, 3)), ("iij->j", (2, 2, 3)),
             ("ij,j->i", (0, 3), (3,)), ("ij,k->i", (2, 3), (4,)), ("b i j , b j k -> b k i", (1, 3, 4), (1, 4, 1)), ("bhqd,bhkd->bhqk", (2, 2, 3, 4), (2, 2, 5, 4))]
    for dtype in BOTH:
        for subscripts, *shapes in cases:
            file.add(f"{np.dtype(dtype).name} {subscripts} {shapes}", [random(s, dtype, seed=i) for i, s in enumerate(shapes)],
                     subscripts=subscripts.replace(" ", ""))
    file.write()


def softmax():
    file = File("nn.softmax", lambda x, axis: torch.softmax(x, axis))
    for dtype in BOTH:
        for shape, axis in [((2, 3), -1), ((2, 3), 0), ((2, 3, 4), 1), ((4,), 0), ((3, 1), 1), ((0, 3), -1), ((2, 3, 4), -3), ((3, 65), 1)]:
            file.add(f"{np.dtype(dtype).name} {shape} {axis}", random(shape, dtype, -4, 4), axis=axis)
        file.add(f"{np.dtype(dtype).name} large", np.array([[1000.0, 999.0, -1000.0]], dtype), axis=-1)
    file.write()


def none_of(*unused):
    """0 that depends on the arguments, so that their gradients are zeros."""
    return sum((u * 0).sum() for u in unused)


def norms():
    def standard(x, axes, epsilon, centred=True):
        d = x - x.mean(dim=axes, keepdim=True) if centred else x
        return d / torch.sqrt((d * d).mean(dim=axes, keepdim=True) + epsilon)

    def shaped(p, x, axes):
        return p.reshape([x.shape[i] if i in axes else 1 for i in range(x.dim())])

    def weigh(y, gamma, beta, axes, center, scale):
        y = y * shaped(gamma, y, axes) if scale else y
        y = y + shaped(beta, y, axes) if center else y
        return y + none_of(gamma, beta)

    def layer_norm(x, gamma, beta, axes, epsilon, center, scale):
        axes = sorted(a % x.dim() for a in axes)
        y = weigh(standard(x, axes, epsilon), gamma, beta, axes, center, scale)
        if axes == list(range(x.dim() - len(axes), x.dim())) and center and scale and x.numel():
            theirs = torch.nn.functional.layer_norm(x, [x.shape[a] for a in axes], gamma, beta, epsilon)
            assert torch.allclose(y, theirs, rtol=1e-12, atol=1e-12)
        return y

    FLAGS = [(True, True), (True, False), (False, True), (False, False)]
    shapes = [((2, 5), [-1]), ((2, 3, 4), [1, 2]), ((2, 3, 4), [0, -1]), ((3, 1), [1]), ((0, 3), [1]), ((4, 65), [1])]
    file = File("nn.layer_norm", layer_norm)
    for dtype in BOTH:
        for shape, axes in shapes:
            for center, scale in FLAGS if shape == (2, 3, 4) else FLAGS[:1]:
                p = tuple(shape[a] for a in sorted(a % len(shape) for a in axes))
                file.add(f"{np.dtype(dtype).name} {shape} {axes} {center} {scale}", random(shape, dtype), random(p, dtype, seed=1), random(p, dtype, seed=2),
                         axes=axes, epsilon=0.001 if shape == (2, 5) else 1e-5, center=center, scale=scale)
    file.write()

    file = File("nn.rms_norm", lambda x, w, axes, epsilon: standard(x, [a % x.dim() for a in axes], epsilon, False) * shaped(w, x, [a % x.dim() for a in axes]))
    for dtype in BOTH:
        for shape, axes in shapes:
            p = tuple(shape[a] for a in sorted(a % len(shape) for a in axes))
            file.add(f"{np.dtype(dtype).name} {shape} {axes}", random(shape, dtype), random(p, dtype, seed=1), axes=axes, epsilon=0.25 if shape == (2, 5) else 1e-5)
    file.write()

    def group_norm(x, gamma, beta, num_groups, channel_axis, axes, epsilon, center, scale):
        c = channel_axis % x.dim()
        others = [a % x.dim() for a in axes]
        view = x.reshape(*x.shape[:c], num_groups, x.shape[c] // num_groups, *x.shape[c + 1:])
        y = standard(view, [a if a < c else a + 1 for a in others] + [c + 1], epsilon).reshape(x.shape)
        y = weigh(y, gamma, beta, [c], center, scale)
        if c == 1 and center and scale and x.numel() and others == list(range(2, x.dim())):
            assert torch.allclose(y, torch.nn.functional.group_norm(x, num_groups, gamma, beta, epsilon), rtol=1e-10, atol=1e-10)
        return y

    file = File("nn.group_norm", group_norm)
    for dtype in BOTH:
        for shape, groups, channel, axes in [((2, 4, 3), 2, 1, [2]), ((2, 6, 3), 3, 1, [2]), ((2, 3, 2, 4), 2, -1, [1, 2]), ((1, 4, 2, 3), 1, 1, [-1, -2]),
                                             ((4, 5), 2, 0, [1]), ((0, 4, 3), 2, 1, [2])]:
            for center, scale in FLAGS if shape == (2, 4, 3) else FLAGS[:1]:
                p = (shape[channel],)
                file.add(f"{np.dtype(dtype).name} {shape} {groups} {axes} {center} {scale}", random(shape, dtype), random(p, dtype, seed=1),
                         random(p, dtype, seed=2), num_groups=groups, channel_axis=channel, axes=axes, epsilon=0.25 if shape == (2, 6, 3) else 1e-5, center=center, scale=scale)
    file.write()

    def instance_norm(x, gamma, beta, channel_axis, axes, epsilon, center, scale):
        return weigh(standard(x, [a % x.dim() for a in axes], epsilon), gamma, beta, [channel_axis % x.dim()], center, scale)

    file = File("nn.instance_norm", instance_norm)
    for dtype in BOTH:
        for shape, channel, axes in [((2, 4, 3), 1, [2]), ((2, 3, 2, 4), -1, [1, 2]), ((1, 4, 2, 3), 1, [-1, -2]), ((4, 5), 0, [1]), ((0, 4, 3), 1, [2])]:
            for center, scale in FLAGS if shape == (2, 4, 3) else FLAGS[:1]:
                p = (shape[channel],)
                file.add(f"{np.dtype(dtype).name} {shape} {axes} {center} {scale}", random(shape, dtype), random(p, dtype, seed=1), random(p, dtype, seed=2),
                         channel_axis=channel, axes=axes, epsilon=0.25 if shape == (4, 5) else 1e-5, center=center, scale=scale)
    file.write()

    def batch_norm(x, gamma, beta, mean, var, axis, epsilon, center, scale, momentum, training):
        c = axis % x.dim()
        others = [i for i in range(x.dim()) if i != c]
        m = x.mean(dim=others) if training else mean
        v = ((x - shaped(m, x, [c])) ** 2).mean(dim=others) if training else var
        y = (x - shaped(m, x, [c])) / torch.sqrt(shaped(v, x, [c]) + epsilon)
        y = weigh(y, gamma, beta, [c], center, scale)
        if not training:
            return [y, mean * 1, var * 1]
        return [y, (1 - momentum) * mean + momentum * m, (1 - momentum) * var + momentum * v]

    file = File("nn.batch_norm", batch_norm)
    for dtype in BOTH:
        for training in (True, False):
            for shape, axis in [((4, 3), 1), ((2, 3, 2, 4), 1), ((2, 2, 3), -1), ((5, 1), 1), ((3, 65), 0)] + ([((2, 0, 3), 1)] if training else [((0, 3), 1), ((2, 0, 3), 1), ((2, 3, 0), -2)]):
                for center, scale in FLAGS if shape == (4, 3) else FLAGS[:1]:
                    p = (shape[axis],)
                    file.add(f"{np.dtype(dtype).name} {shape} {axis} {training} {center} {scale}", random(shape, dtype), random(p, dtype, seed=1),
                             random(p, dtype, seed=2), random(p, dtype, seed=3), random(p, dtype, 0.5, 2, seed=4), axis=axis,
                             epsilon=1e-5 if axis else 1e-3, center=center, scale=scale, momentum=0.1 if axis else 0.25, training=training)
    file.write()

    def l2_normalize(x, eps, axis):
        axes = tuple(range(x.dim())) if axis is None else tuple(axis)
        return x / torch.sqrt(torch.maximum((x * x).sum(dim=axes, keepdim=True), torch.tensor(eps, dtype=x.dtype)))

    file = File("nn.l2_normalize", l2_normalize)
    for dtype in BOTH:
        for shape, axis in [((2, 3), [1]), ((2, 3), [0]), ((2, 3, 4), [0, -1]), ((4,), None), ((0, 3), [1]), ((3, 1), [1])]:
            rounding = False if shape == (3, 1) else None  # the exact gradient is 0
            file.add(f"{np.dtype(dtype).name} {shape} {axis}", random(shape, dtype), gradient=rounding, eps=1e-5, axis=axis)
        file.add(f"{np.dtype(dtype).name} small", random((2, 3), dtype, -0.1, 0.1), eps=0.5, axis=[1])
    file.write()

    def lrn(x, size, axis, bias, alpha, beta):
        axis %= x.dim()
        half, n = size // 2, x.shape[axis]
        squares = (x * x).unbind(axis)
        sums = [sum(squares[max(0, i - half): min(n, i + half + 1)]) for i in range(n)]
        y = x / (bias + alpha * torch.stack(sums, axis) / size) ** beta
        if axis == 1 and x.dim() >= 3:
            assert torch.allclose(y, torch.nn.functional.local_response_norm(x, size, alpha, beta, bias), rtol=1e-10, atol=1e-12)
        return y

    file = File("nn.lrn", lrn)
    for dtype in BOTH:
        for shape, size, axis in [((2, 6, 3), 5, 1), ((2, 6, 2, 2), 3, 1), ((2, 3, 4), 3, -1), ((2, 4, 1), 9, 1), ((3, 5), 1, 0), ((0, 4, 3), 3, 1), ((2, 3, 0), 3, 1), ((1, 1, 4), 3, 1)]:
            file.add(f"{np.dtype(dtype).name} {shape} {size} {axis}", random(shape, dtype), size=size, axis=axis, bias=1.5, alpha=0.5, beta=0.5 if axis == -1 else 0.75)
        file.add(f"{np.dtype(dtype).name} defaults", random((1, 7, 2), dtype, -30, 30), size=5, axis=1, bias=2.0, alpha=1e-05, beta=0.75)
    file.write()

    file = File("nn.bias_add", lambda x, b, axis: x + shaped(b, x, [axis % x.dim()]))
    for dtype in BOTH:
        for shape, axis in [((2, 3), 1), ((2, 3, 4), 1), ((2, 3, 4), -1), ((4,), 0), ((0, 3), 1), ((3, 1, 2), 1)]:
            file.add(f"{np.dtype(dtype).name} {shape} {axis}", random(shape, dtype), random((shape[axis],), dtype, seed=1), axis=axis)
    file.add("int8 wraps", np.array([[100, 3]], np.int8), np.array([100, 4], np.int8), axis=1)
    file.write()


def losses():
    def cross_entropy(p, t):
        y = -(p * t).sum()
        return y / p.shape[0] if p.dim() > 1 else y

    file = File("nn.cross_entropy_with_logits", cross_entropy)
    for dtype in BOTH:
        for shape in [(4,), (3, 4), (2, 3, 2), (1, 5), (17, 9), (2, 0), (0, 3)]:
            file.add(f"{np.dtype(dtype).name} {shape}", random(shape, dtype), random(shape, dtype, seed=1))
    file.write()

    file = File("nn.dropout", lambda x, rate: [x * 1, torch.ones_like(x).detach()])
    for dtype in BOTH:
        for shape in [(5,), (2, 3), (), (1, 1), (0, 3)]:
            file.add(f"{np.dtype(dtype).name} {shape}", random(shape, dtype), rate=0.5 if shape == (2, 3) else 0.25)
    file.write()


def attention():
    def allowed(queries, keys, causal_mask, window_size):
        offset = keys - queries if causal_mask == "BottomRight" else 0
        ahead = torch.arange(keys)[None, :] - torch.arange(queries)[:, None] - offset
        if causal_mask is None:
            return torch.ones(queries, keys, dtype=torch.bool)
        return (ahead <= 0) & (ahead > -(window_size or 10**6))

    def attend(q, k, v, bias, mask, scale):
        s = torch.einsum("bihd,bjhd->bhij", q, k) * (q.shape[3] ** -0.5 if scale is None else scale)
        if bias is not None:
            s = s + bias
        seen = mask.any(-1, keepdim=True)
        w = torch.softmax(s.masked_fill(~mask & seen, float("-inf")), -1) * seen
        return torch.einsum("bhij,bjhd->bihd", w, v)

    def plain(q, k, v, bias=None, scale=None, causal_mask=None, window_size=None):
        return attend(q, k, v, bias, allowed(q.shape[1], k.shape[1], causal_mask, window_size), scale)

    MODES = [dict(scale=None, causal_mask=None, window_size=None), dict(scale=0.25, causal_mask=None, window_size=None),
             dict(scale=None, causal_mask="TopLeft", window_size=None), dict(scale=None, causal_mask="BottomRight", window_size=None),
             dict(scale=0.5, causal_mask="BottomRight", window_size=2), dict(scale=None, causal_mask="TopLeft", window_size=1)]
    SHAPES = [(2, 3, 4, 2, 3, 5), (1, 4, 4, 1, 2, 2), (1, 5, 3, 2, 4, 4), (1, 1, 6, 1, 3, 1), (0, 3, 4, 2, 3, 2), (2, 0, 3, 1, 2, 2), (1, 2, 3, 0, 4, 4), (1, 3, 2, 2, 2, 0), (1, 2, 0, 1, 3, 2)]
    file = File("nn.attention", plain)
    with_bias = File("nn.attention_bias", plain)
    for dtype in BOTH:
        for b, sq, sk, h, d, dv in SHAPES:
            q, k, v = random((b, sq, h, d), dtype, seed=1), random((b, sk, h, d), dtype, seed=2), random((b, sk, h, dv), dtype, seed=3)
            for mode in MODES:
                label = f"{np.dtype(dtype).name} {b} {sq} {sk} {h} {d} {dv} {list(mode.values())}"
                file.add(label, q, k, v, **mode)
                if mode is MODES[0] or mode is MODES[3] or (b, sq) == (1, 5):
                    for shape in [(b, h, sq, sk), (1, 1, sq, sk), (b, h, 1, sk)] if mode is MODES[0] or mode is MODES[3] else [(b, h, sq, sk)]:
                        with_bias.add(f"{label} bias {shape}", q, k, v, random(shape, dtype, seed=4), **mode)
        file.add(f"{np.dtype(dtype).name} bias", q, k, v, random((b, h, sq, sk), dtype, seed=4), **MODES[0])
    file.write()
    with_bias.write()

    def var_len(q, k, v, start_q, start_k, max_q, max_k, scale=None, causal_mask=None, window_size=None):
        parts = []
        for i in range(len(start_q) - 1):
            a, b, c, d = (int(x) for x in (start_q[i], start_q[i + 1], start_k[i], start_k[i + 1]))
            parts.append(plain(q[:, a:b], k[:, c:d], v[:, c:d], None, scale, causal_mask, window_size))
        return torch.cat(parts, 1)

    file = File("nn.attention_var_len", var_len)
    for dtype in BOTH:
        for starts_q, starts_k in [([0, 2, 5], [0, 3, 5]), ([0, 4], [0, 6]), ([0, 1, 2, 5], [0, 1, 4, 8]), ([0, 0, 3], [0, 0, 2]), ([0, 0], [0, 0])]:
            q, k, v = (random((1, n, 2, d), dtype, seed=i) for i, (n, d) in enumerate([(starts_q[-1], 3), (starts_k[-1], 3), (starts_k[-1], 4)]))
            q_max, k_max = (np.array(max(b - a for a, b in zip(s, s[1:])), np.int32) for s in (starts_q, starts_k))
            for mode in MODES[:5]:
                file.add(f"{np.dtype(dtype).name} {starts_q} {starts_k} {list(mode.values())}", q, k, v, np.array(starts_q, np.int32),
                         np.array(starts_k, np.int32), q_max, k_max, **mode)
    file.write()


def write():
    reductions()
    scans()
    contractions()
    softmax()
    norms()
    losses()
    attention()
