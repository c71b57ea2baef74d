"""Numbers for elementwise operators, creation, conversion and elementwise activations."""
import math

import numpy as np
import torch

from oracle.cases import File, Single, rounded_once

BOTH = (np.float32, np.float64)
HALVES = ("float16", "bfloat16")
SHAPES = [(5,), (2, 3, 4), (), (1, 1), (0, 3), (17,)]
PAIRS = [((4,), (4,)), ((2, 3), (3,)), ((3,), (2, 3)), ((2, 1), (1, 3)), ((2, 1, 4), (3, 1)), ((0, 3), (1,)), ((), (2, 2)), ((5,), ())]
I8, I16, I32, I64, U8, U32 = np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint32
INF, NAN = np.inf, np.nan


def label(dtype, *more):
    return " ".join([np.dtype(dtype).name, *map(str, more)])


def between(low, high):
    def draw(shape, dtype=np.float64, seed=0):
        return np.random.default_rng([seed, *shape]).uniform(low, high, shape).astype(dtype)

    return draw


def apart(low, high, gap=0.05):
    """Values in [low, high] that are at least `gap` away from 0."""

    def draw(shape, dtype=np.float64, seed=0):
        x = between(low, high)(shape, np.float64, seed)
        return (x + np.where(x < 0, -gap, gap)).astype(dtype)

    return draw


def from_numpy(function):
    return lambda *args: torch.from_numpy(np.asarray(function(*(a.numpy() if isinstance(a, torch.Tensor) else a for a in args))))


def rounded_to_half(function):
    """The function on float16: computed in float64 and rounded once."""

    def call(*args, **attributes):
        result = function(*(a.double() if a.is_floating_point() else a for a in args), **attributes)
        return result.half() if result.is_floating_point() else result

    return call


def unary(name, function, inputs, special=(), integers=(), differentiable=True, attributes=({},), wide_attributes=()):
    """`wide_attributes`: those that float32 does not hold exactly, for float64 only."""
    file = File(name, function, differentiable)
    for dtype in BOTH:
        for given in (*attributes, *(wide_attributes if dtype == np.float64 else ())):
            for shape in SHAPES:
                file.add(label(dtype, shape, given or ""), inputs(shape, dtype), **given)
            if special:
                file.add(label(dtype, "special", given or ""), np.array(special, dtype), gradient=False, **given)
    for array in integers:
        file.add(label(array.dtype), array)
    file.oracle = rounded_to_half(function)
    for shape in [(5,), (2, 3), ()]:
        file.add(label(np.float16, shape), inputs(shape, np.float16, seed=5), **attributes[0])
    if special:
        with np.errstate(over="ignore"):
            file.add(label(np.float16, "special"), np.array(special).astype(np.float16), **attributes[0])
    file.write()


def binary(name, function, left, right, specials=(), integers=(), differentiable=True):
    file = File(name, function, differentiable)
    for dtype in BOTH if left else ():
        for a, b in PAIRS:
            file.add(label(dtype, a, b), left(a, dtype, seed=1), right(b, dtype, seed=2))
        for i, (a, b) in enumerate(specials):
            file.add(label(dtype, "special", i), np.array(a, dtype), np.array(b, dtype), gradient=False)
    for i, (a, b) in enumerate(integers):
        file.add(label(a.dtype, a.shape, b.shape, i), a, b)
    file.oracle = rounded_to_half(function)
    for a, b in PAIRS[:4] if left else ():
        file.add(label(np.float16, a, b), left(a, np.float16, seed=1), right(b, np.float16, seed=2))
    file.write()


LOWEST = [np.array([-128, -1, 0, 1, 127], I8), np.array([-(2**63), -5, 0, 5, 2**63 - 1], I64), np.array([0, 1, 200, 255], U8)]


def functions():
    real = between(-2, 2)
    unary("sqrt", torch.sqrt, between(0.2, 3), [0.0, 1.0, -1.0, INF, NAN, 4.0])
    unary("rsqrt", torch.rsqrt, between(0.2, 3), [0.0, 1.0, -1.0, INF, NAN, 4.0])
    unary("square", lambda x: x * x, real, [0.0, INF, -INF, NAN], [np.array([-128, -12, 11], I8), np.array([2**33, -5], I64), np.array([16, 15], U8)])
    unary("sin", torch.sin, between(-3, 3), [0.0, INF, NAN, 1e4, -700.5])
    unary("cos", torch.cos, between(-3, 3), [0.0, INF, NAN, 1e4, -700.5])
    unary("tan", torch.tan, between(-1.3, 1.3), [0.0, INF, NAN, 700.5])
    unary("asin", torch.asin, between(-0.9, 0.9), [0.0, 1.0, -1.0, 1.5, NAN])
    unary("acos", torch.acos, between(-0.9, 0.9), [0.0, 1.0, -1.0, 1.5, NAN])
    unary("atan", torch.atan, between(-3, 3), [0.0, INF, -INF, 1e10, NAN])
    unary("sinh", torch.sinh, real, [0.0, INF, -INF, NAN, 30.0])
    unary("cosh", torch.cosh, real, [0.0, INF, -INF, NAN, 30.0])
    unary("tanh", torch.tanh, real, [0.0, INF, -INF, NAN, 30.0])
    unary("sigmoid", torch.sigmoid, between(-6, 6), [0.0, INF, -INF, NAN, 40.0, -40.0])
    unary("asinh", torch.asinh, real, [0.0, INF, -INF, NAN, 1e10])
    unary("acosh", torch.acosh, between(1.1, 4), [1.0, INF, 0.5, NAN, 1e10])
    unary("atanh", torch.atanh, between(-0.9, 0.9), [0.0, 1.0, -1.0, 1.5, NAN])
    unary("erf", torch.erf, real, [0.0, INF, -INF, NAN, 6.5])
    unary("log1p", torch.log1p, between(-0.8, 3), [0.0, -0.0, -1.0, -2.0, INF, NAN, 1e-6])
    unary("expm1", torch.expm1, real, [0.0, -0.0, INF, -INF, NAN, 1e-6, -40.0])
    unary("abs", torch.abs, apart(-2, 2), [0.0, -0.0, INF, -INF, NAN], LOWEST)


def roundings():
    halves = [0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.49999997, 1e10, -1e10, INF, -INF, NAN, -0.0, 8388609.0]
    for name, function in [("floor", np.floor), ("ceil", np.ceil), ("round", np.round), ("trunc", np.trunc)]:
        def rounded(x, function=function):
            return torch.from_numpy(np.asarray(function(x.numpy()))) if x.is_floating_point() else x

        unary(name, rounded, between(-9, 9), halves, LOWEST, differentiable=False)
    unary("sign", from_numpy(np.sign), apart(-2, 2), [0.0, -0.0, INF, -INF, NAN], LOWEST, differentiable=False)
    for name, function in [("isfinite", np.isfinite), ("isinf", np.isinf), ("isnan", np.isnan)]:
        unary(name, from_numpy(function), between(-9, 9), [0.0, INF, -INF, NAN, 1e30], LOWEST, differentiable=False)


def bits():
    same = lambda function: lambda a, b: torch.from_numpy(np.asarray(function(a.numpy() != 0, b.numpy() != 0)).astype(a.numpy().dtype))  # noqa: E731
    truths = (np.array([True, True, False, False]), np.array([True, False, True, False]))
    numbers = (np.array([0, 2, -1], I32), np.array([[3, 0, 4], [0, 0, 1]], I32))
    some = lambda shape, dtype, seed=0: (between(-2, 2)(shape, np.float64, seed).round(0)).astype(dtype)  # noqa: E731
    for name, function in [("logical_and", np.logical_and), ("logical_or", np.logical_or), ("logical_xor", np.logical_xor)]:
        binary(name, same(function), some, some, [([0.0, -0.0, NAN], [NAN, 1.0, 0.0])], [truths, numbers], differentiable=False)
    unary("logical_not", lambda x: torch.from_numpy(np.asarray(np.logical_not(x.numpy())).astype(x.numpy().dtype)), some, [0.0, -0.0, NAN, INF],
          LOWEST + [np.array([True, False])], differentiable=False)

    words = [(np.array([12, -1, 127, -128], I8), np.array([10, 85, -128, 1], I8)), (np.array([[1], [255]], U8), np.array([3, 170], U8)),
             (np.array([2**63 - 1, -5], I64), np.array([[12345], [0], [-1]], I64)), (np.array(6, U8), np.array([3], U8)),
             (np.array([5, -6], I16), np.array([3, 9], I16)), (np.zeros((0, 2), I32), np.array([1, 2], I32)),
             (np.array([[7, -(2**31)]], I32), np.array([[-1], [2**31 - 1], [12]], I32)), (np.array([3, 2**15 - 1], I16), np.array([[-3, 1], [0, -(2**15)]], I16)),
             (np.array([[1, 2**63 - 1], [-1, 0]], I64), np.array(-7, I64)), (np.array([[[170, 15]]], U8), np.array([[1], [254]], U8))]
    for name, function in [("bitwise_and", np.bitwise_and), ("bitwise_or", np.bitwise_or), ("bitwise_xor", np.bitwise_xor)]:
        binary(name, from_numpy(function), None, None, integers=words + [truths], differentiable=False)
    file = File("bitwise_not", from_numpy(np.bitwise_not), differentiable=False)
    for array in LOWEST + [np.array([True, False]), np.array([[7]], I32), np.zeros((0, 2), I16), np.array([5, -2**31], I32), np.array([-2**15, 77], I16), np.array(9, U8)]:
        file.add(label(array.dtype), array)
    file.write()

    def shifted(sign):
        def shift(a, b):
            bound = 8 * a.numpy().dtype.itemsize
            low, high = np.iinfo(a.numpy().dtype).min, np.iinfo(a.numpy().dtype).max
            wide = np.vectorize(lambda x, n: (x << min(n, bound)) if sign > 0 else (x >> min(n, bound)), otypes=[object])(
                a.numpy().astype(object), b.numpy().astype(object))
            wrapped = (wide - low) % (high - low + 1) + low
            return torch.from_numpy(np.asarray(wrapped.astype(a.numpy().dtype)))

        return shift

    counts = [(np.array([1, -3, 127, -128], I8), np.array([3, 1, 9, 7], I8)), (np.array([[1], [255]], U8), np.array([0, 7, 8], U8)),
              (np.array([2**63 - 1, -5], I64), np.array([[1], [63], [64], [200]], I64)), (np.array(-6, I16), np.array([[1], [15], [16]], I16)),
              (np.array([-(2**31), 77], I32), np.array([31, 4], I32)),
              (np.zeros((0, 2), I32), np.array([1, 2], I32)), (np.zeros((2, 0), U8), np.zeros((1, 1), U8))]
    binary("left_shift", shifted(1), None, None, integers=counts, differentiable=False)
    binary("right_shift", shifted(-1), None, None, integers=counts, differentiable=False)


def arithmetic():
    inf, nan = INF, NAN
    signed = (np.array([7, -7, 7, -7, 0, -128], I8), np.array([2, 2, -2, -2, 5, 3], I8))
    wide = (np.array([2**63 - 1, -(2**63), 12], I64), np.array([[10], [-3]], I64))
    plain = (np.array([200, 7, 0], U8), np.array([3, 9, 255], U8))
    ends = [([5.5, -5.5, 0.0, inf, nan, 1.0, 3.0], [inf, inf, 2.0, 2.0, 1.0, nan, 0.0])]

    def quotient(a, b):
        with np.errstate(all="ignore"):
            return np.floor(a / b) if a.dtype.kind == "f" else np.floor_divide(a, b)

    def quiet(function):
        def call(a, b):
            with np.errstate(all="ignore"):
                return function(a, b)

        return call

    positive = between(4.7, 4.95)
    divisor = between(1.06, 1.1)
    integers = [signed, wide, plain]
    binary("floor_divide", from_numpy(quotient), positive, divisor, ends, integers, differentiable=False)

    def remainder(numpy_function, torch_function):
        return lambda a, b: torch_function(a, b) if a.is_floating_point() else from_numpy(quiet(numpy_function))(a, b)

    binary("mod", remainder(np.fmod, torch.fmod), positive, divisor, ends + [([-7.5, 7.5, -7.5], [2.0, -2.0, -2.0])], integers)
    # The sign of a zero divisor's neighbourhood is not at stake: NumPy and PyTorch agree on the remainder itself.
    binary("floor_mod", remainder(np.mod, torch.remainder), positive, divisor,
           [([5.5, 0.0, inf, nan, 1.0, 3.0], [inf, 2.0, 2.0, 1.0, nan, 0.0]), ([-7.5, 7.5, -7.5], [2.0, -2.0, -2.0])], integers)

    binary("power", torch.pow, between(0.3, 3), between(-2, 2),
           [([0.0, 0.0, -2.0, -2.0, inf, nan, 2.0, 1.0], [0.0, 2.0, 3.0, 0.5, -1.0, 0.0, inf, nan])])
    binary("atan2", torch.atan2, apart(-2, 2), apart(-2, 2),
           [([0.0, -0.0, 0.0, -0.0, 1.0, inf, nan], [1.0, 1.0, -1.0, -1.0, 0.0, inf, 1.0])])
    binary("log_add_exp", torch.logaddexp, between(-3, 3), between(-3, 3),
           [([1000.0, -1000.0, inf, -inf, inf, nan, 0.0], [999.0, -1001.0, inf, -inf, -inf, 0.0, -inf])])
    small = (np.array([127, -128, 5, -7], I8), np.array([1, -1, -3, 2], I8))
    steps = lambda shape, dtype, seed=0: (between(-2, 2)(shape, np.float64, seed).round(1) + (0.05 if seed == 2 else 0)).astype(dtype)  # noqa: E731
    binary("minimum", torch.minimum, steps, steps, [([nan, 1.0, inf, -inf], [1.0, nan, 2.0, -5.0])], [small, plain, wide])

    file = File("ewise_fma", lambda a, b, c: a * b + c)
    for dtype in BOTH:
        for shape in SHAPES:
            draw = between(-2, 2) if dtype == np.float64 else lambda s, d, k: between(-8, 8)(s, np.float64, k).round(0).astype(d)
            file.add(label(dtype, shape), *(draw(shape, dtype, k) for k in range(3)))
    file.add("int8", np.array([100, 3], I8), np.array([2, 4], I8), np.array([0, 5], I8))
    file.write()

    file = File("clip", lambda x, low, high: torch.clamp(x, low, high))
    for dtype in BOTH:
        for shape in SHAPES:
            file.add(label(dtype, shape), between(-2, 2)(shape, dtype), -1, 1)
            file.add(label(dtype, shape, "floats"), between(-2, 2)(shape, dtype), -0.5, 1.25)
        file.add(label(dtype, "special"), np.array([-INF, INF, NAN, 0.5], dtype), -1, 1, gradient=False)
    file.add("int8", np.array([-128, 0, 127], I8), -5, 5)
    file.add("int64", np.array([-(2**63), 3, 2**63 - 1], I64), 2, 2**40)
    file.write()

    file = File("masked_fill", lambda x, mask, value: torch.where(mask, torch.tensor(value, dtype=x.dtype), x))
    for dtype in BOTH:
        for a, m in [((4,), (4,)), ((2, 3), (3,)), ((2, 3), (2, 1)), ((3, 1), (2,)), ((), ()), ((0, 2), (2,)), ((), (2, 2))]:
            file.add(label(dtype, a, m), between(-2, 2)(a, dtype), between(-1, 1)(m, np.float64, 3) > 0, -1.5)
    file.add("int32", np.array([[1, 2], [3, 4]], I32), np.array([True, False]), 7)
    file.add("bool", np.array([True, False]), np.array([False, True]), True)
    file.write()


def creation():
    file = File("full", lambda shape, value, dtype: (value.to(getattr(torch, dtype)) if dtype else value).expand(shape) + 0)
    for dtype in BOTH:
        for shape in [(2, 3), (), (0, 3), (1,), (2, 1, 3), (0,), (1, 0, 2)]:
            file.add(label(dtype, shape), shape, np.array(1.25, dtype), dtype=None)
    file.add("to int32", (2,), np.array(-2.75, np.float32), dtype="int32")
    file.add("float16", (2, 1), np.array(0.1, np.float16), dtype=None)
    file.add("int64", (2, 2), np.array(2**62 + 1, I64), dtype=None)
    for dtype in HALVES:
        file.given(f"to {dtype}", [(2, 1), np.array(0.1)], rounded_once(np.full((2, 1), 0.1), dtype), dtype=dtype)
        file.given(f"{dtype} itself", [(3,), rounded_once(0.3, dtype)], rounded_once([0.3] * 3, dtype))
    file.write()

    def full_like(x, value, dtype):
        return (value.to(getattr(torch, dtype)) if dtype else value).expand(x.shape) + 0

    file = File("full_like", full_like)
    for shape in [(2, 3), (), (0, 3), (1,), (2, 1, 3)]:
        for dtype in BOTH:
            file.add(label(dtype, shape), between(-2, 2)(shape, dtype), np.array(1.25, dtype), dtype=None, gradient=False)
        # Only the value has a gradient: x is of integers.
        file.add(label(I32, shape), np.ones(shape, I32), np.array(1.25), dtype="float64")
    file.add("to int32", between(-2, 2)((2,), np.float32), np.array(-2.75, np.float32), dtype="int32")
    for dtype in HALVES:
        file.given(f"to {dtype}", [np.zeros((2, 2)), np.array(-0.7)], rounded_once(np.full((2, 2), -0.7), dtype), dtype=dtype)
        file.given(f"like {dtype}", [rounded_once([1, 2], dtype), rounded_once(0.3, dtype)], rounded_once([0.3, 0.3], dtype))
    file.write()

    def arange(*given, dtype):
        start, end, step = {1: (0, *given, 1), 2: (*given, 1), 3: given}[len(given)]
        count = max(0, math.ceil((end - start) / step))
        wide = np.array([start + i * step for i in range(count)], np.float64 if any(isinstance(g, float) for g in given) else I64)
        return torch.from_numpy(wide.astype(dtype or (wide.dtype if wide.dtype == I64 else np.float32)))

    file = File("arange", arange, differentiable=False)
    for given, dtype in [((5,), None), ((0,), None), ((2, 9), None), ((2, 9, 3), "int32"), ((9, 2, -3), None), ((3, 3), None), ((5, 1), None),
                         ((2.5,), None), ((0.0, 1.0, 0.125), "float64"), ((1.0, -1.0, -0.3), "float64"), ((0.1, 2.0, 0.37), "float32"),
                         ((0, 1, 0.1), "float32"), ((1, 6), "float64"), ((4,), "uint8"), ((0.5, 3.0), "int64"),
                         *[(given, dtype) for dtype in ("float32", "float64") for given in [(0,), (1,), (2.0, 2.0), (3, 4), (-2, 5, 2), (5.0, 0.0, -0.5), (7, 0, -7), (0.0, 0.25, 0.25)]]]:
        file.add(f"{given} {dtype}", *given, dtype=dtype)
    for dtype in HALVES:
        for start, end, step in [(0, 1, 0.125), (250, 262, 1), (2045, 2055, 3), (1.0, -1.0, -0.25), (2, 2, 1)]:
            wide = [start + i * step for i in range(max(0, math.ceil((end - start) / step)))]
            file.given(f"{start} {end} {step} {dtype}", [start, end, step], rounded_once(wide, dtype), dtype=dtype)
    file.write()

    file = File("eye", lambda n, m=None, k=0, dtype=None: torch.from_numpy(np.eye(n, m, k, dtype)), differentiable=False)
    for given, dtype in [((3,), "float32"), ((2, 4), "float64"), ((2, 4, 1), "float32"), ((4, 2, -2), "float64"), ((3, 3, 7), "int8"), ((0, 3), "float32"),
                         ((1, 1), "bool"), ((0,), "float64"),
                         *[(given, dtype) for dtype in ("float32", "float64") for given in [(1,), (1, 4, 2), (4, 1, -1), (3, 0), (5, 3, -4), (3, 5, 9), (2, 2, 1)]], ((2, 3, 1), "int64"), ((0, 2), "int8")]:
        file.add(f"{given} {dtype}", *given, dtype=dtype)
    for dtype in HALVES:
        for n, m, k in [(2, 3, 0), (3, 2, -1), (0, 2, 0), (1, 1, 1)]:
            file.given(f"{n} {m} {k} {dtype}", [n, m, k], rounded_once(np.eye(n, m, k), dtype), dtype=dtype)
    file.write()

    file = File("eye_like", lambda x, k, dtype: torch.from_numpy(np.eye(*x.shape, k=k, dtype=dtype or x.numpy().dtype)), differentiable=False)
    for shape, k, dtype in [((3, 3), 0, None), ((2, 4), 1, None), ((4, 2), -1, "float32"), ((0, 3), 0, None), ((1, 1), 2, "int32")]:
        for given in BOTH:
            file.oracle = lambda x, k, dtype, given=given: torch.from_numpy(np.eye(*x.shape, k=k, dtype=dtype or given))
            file.add(label(given, shape, k, dtype), between(-1, 1)(shape, given), k, dtype=dtype)
    file.write()

    for name, function in [("tril", torch.tril), ("triu", torch.triu)]:
        file = File(name, function)
        for dtype in BOTH:
            for shape, k in [((3, 3), 0), ((2, 4), 1), ((4, 2), -1), ((2, 3, 4), 0), ((2, 3, 4), -2), ((0, 3), 0), ((2, 0, 3), 0), ((1, 1), 1), ((2, 2), 9)]:
                file.add(label(dtype, shape, k), between(-2, 2)(shape, dtype), k)
        file.add("int8", np.arange(6, dtype=I8).reshape(2, 3), 0)
        file.write()

    def one_hot(indices, on, off, depth, axis):
        positions = np.expand_dims(indices.numpy(), axis if axis >= 0 else indices.dim() + 1 + axis)
        range_shape = [1] * (indices.dim() + 1)
        range_shape[axis] = depth
        wanted = np.where(positions == np.arange(depth).reshape(range_shape), on, off)
        return torch.from_numpy(wanted.astype(np.float32) if isinstance(on, Single) else np.asarray(wanted))

    file = File("one_hot", one_hot, differentiable=False)
    for indices, on, off, depth, axis in [([0, 2, 1], 1, 0, 3, -1), ([[0, 2], [1, 5]], 1.0, 0.0, 3, 0), ([[0, 2], [1, -1]], 2.5, -1.5, 4, 1), (1, 1, 0, 3, -1),
                                          ([3, 0], True, False, 4, 0), ([], 1.0, 0.5, 2, -1), ([[1], [0]], 5, 6, 1, -2), ([0, 1], 1, 0, 0, 0)]:
        file.add(f"{indices} {on} {off} {depth} {axis}", np.array(indices, I64), on, off, depth=depth, axis=axis)
    file.add("int32", np.array([1, 0], I32), 1.0, 0.0, depth=2, axis=-1)
    for number in (float, Single):
        for shape, depth, axis in [((3,), 4, 0), ((2, 1), 3, 1), ((0, 2), 3, -1), ((), 5, 0), ((2, 3), 1, -2)]:
            indices = np.random.default_rng(list(shape)).integers(0, depth + 1, shape)
            file.add(f"{number.__name__} {shape} {depth} {axis}", np.asarray(indices, I64), number(1.5), number(-0.25), depth=depth, axis=axis)
    file.write()

    def hamming(size, periodic, alpha, beta, dtype):
        return torch.hamming_window(size, periodic, alpha, beta, dtype=torch.float64).to(getattr(torch, dtype))

    file = File("hamming_window", hamming, differentiable=False)
    for dtype in ("float32", "float64"):
        for given in [(8, True, 0.54, 0.46), (7, False, 0.54, 0.46), (1, True, 0.54, 0.46), (1, False, 0.5, 0.5), (5, False, 0.5, 0.25), (0, True, 0.54, 0.46)]:
            file.add(f"{given} {dtype}", *given, dtype=dtype)
    for dtype in HALVES:
        for given in [(8, True, 0.54, 0.46), (5, False, 0.5, 0.25), (0, True, 0.54, 0.46)]:
            file.given(f"{given} {dtype}", [*given], rounded_once(hamming(*given, "float64"), dtype), dtype=dtype)
    file.write()


def conversion():
    def wrap(x, dtype):
        with np.errstate(over="ignore", invalid="ignore"):
            return torch.from_numpy(np.asarray(x.numpy().astype(dtype)))

    file = File("wrap_param", wrap, differentiable=False)
    file.add("float64 to float32", between(-1e3, 1e3)((2, 3)), dtype="float32")
    file.add("float64 to float16", np.array([0.1, 1e5, 2049.0, 6e-8, -1.0]), dtype="float16")
    file.add("float32 to float64", between(-2, 2)((4,), np.float32), dtype="float64")
    file.add("int32 to float32", np.array([2**24 + 1, -5], I32), dtype="float32")
    file.add("empty", between(-2, 2)((0, 2)), dtype="float32")
    file.add("rank 0", np.array(1.5), dtype="float64")
    for dtype, to in [(np.float64, "float32"), (np.float32, "float64"), (np.float32, "float32")]:
        for shape in [(0, 2), (1, 3), (2, 1)]:
            file.add(label(dtype, shape, to), between(-2, 2)(shape, dtype), dtype=to)
    for dtype in HALVES:
        values = between(-2, 2)((2, 3))
        file.given(f"float64 values to {dtype}", [values], rounded_once(values, dtype), dtype=dtype)
        file.given(f"{dtype} to float32", [rounded_once(values, dtype)], np.array(rounded_once(values, dtype)).astype(np.float32) if dtype == "float16" else rounded_once(values, dtype).float().numpy(), dtype="float32")
    file.write()
    unary("copy", lambda x: x * 1, between(-2, 2), integers=LOWEST)
    for name in ("grad.start_checkpoint", "grad.end_checkpoint", "grad.barrier"):
        unary(name, lambda x: x * 1, between(-2, 2), integers=LOWEST)
    unary("grad.no_grad", lambda x: x.detach() * 1, between(-2, 2), integers=LOWEST)


def activations():
    f = torch.nn.functional
    special = [0.0, INF, NAN, 30.0, -30.0]
    unary("nn.gelu", f.gelu, between(-3, 3), special)
    unary("nn.gelu_tanh", lambda x: f.gelu(x, approximate="tanh"), between(-3, 3), special)
    unary("nn.silu", f.silu, between(-3, 3), special)
    unary("nn.selu", f.selu, apart(-3, 3), special + [-INF])
    unary("nn.relu6", lambda x: torch.clamp(x, 0, 6), lambda s, d=np.float64, seed=0: (apart(-4, 4)(s, d, seed) * d(2)).astype(d), special + [-INF],
          [np.array([-128, 5, 127], I8), np.array([0, 200], U8)])
    unary("nn.leakyrelu", lambda x, alpha: f.leaky_relu(x, alpha), apart(-2, 2), special + [-INF], attributes=({"alpha": 0.0078125}, {"alpha": 0.5}, {"alpha": -1.25}),
          wide_attributes=({"alpha": 0.01},))
    unary("nn.softplus", lambda x, beta, threshold: f.softplus(x, beta, threshold), between(-4, 4), special + [-INF],
          attributes=({"beta": 1.0, "threshold": 20.0}, {"beta": 2.5, "threshold": 3.0}, {"beta": 0.5, "threshold": 20.0}))

    alphas = {"attributes": ({"alpha": 1.0}, {"alpha": 0.5}, {"alpha": 2.0})}
    unary("nn.elu", lambda x, alpha: f.elu(x, alpha), apart(-3, 3), special + [-INF], **alphas)
    unary("nn.celu", lambda x, alpha: f.celu(x, alpha), apart(-3, 3), special + [-INF], **alphas)
    unary("nn.hardtanh", lambda x, min_val, max_val: f.hardtanh(x, min_val, max_val), between(-4, 4), special + [-INF],
          attributes=({"min_val": -1.0, "max_val": 1.0}, {"min_val": -2.0, "max_val": 0.5}))
    # PyTorch's own kernels take 1 / 6 in float32, also of float64.
    unary("nn.hardsigmoid", lambda x: torch.clamp(x + 3, 0, 6) / 6, between(-6, 6), special + [-INF])
    unary("nn.hardswish", lambda x: x * torch.clamp(x + 3, 0, 6) / 6, between(-6, 6), special)
    unary("nn.softsign", f.softsign, apart(-3, 3), special + [-INF])
    unary("nn.mish", f.mish, between(-4, 4), special)
    unary("nn.log_sigmoid", f.logsigmoid, between(-4, 4), special + [-INF])

    def prelu(x, alpha, axis):
        placed = alpha.reshape([-1 if i == axis % x.dim() else 1 for i in range(x.dim())]) if alpha.dim() == 1 and x.dim() else alpha
        return torch.where(x > 0, x, placed * x)

    file = File("nn.prelu", prelu)
    for dtype in BOTH:
        for shape, slopes, axis in [((2, 3), (3,), 1), ((2, 3), (1,), 1), ((2, 3), (2,), 0), ((2, 3, 4), (3,), 1), ((2, 3, 4), (4,), -1), ((5,), (5,), 0),
                                    ((2, 3), (2, 3), 1), ((2, 3, 4), (3, 1), 1), ((0, 3), (3,), 1), ((1, 1), (1,), -2), ((4,), (), 1)]:
            file.add(label(dtype, shape, slopes, axis), apart(-2, 2)(shape, dtype), between(-1, 1)(slopes, dtype, 2), axis=axis)
    file.write()


def write():
    functions()
    roundings()
    bits()
    arithmetic()
    creation()
    conversion()
    activations()
