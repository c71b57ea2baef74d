#!/usr/bin/python3
"""Writes operators/*.json: what PyTorch and NumPy say about every operator, compared by the unit tests of stdlib/."""
import importlib
import os
import pkgutil
import sys

import numpy as np
import torch

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import families  # noqa: E402
from oracle import index  # noqa: E402
from oracle.cases import File, rounded_once  # noqa: E402

BOTH = (np.float32, np.float64)


def random(shape, dtype=np.float64, low=-2.0, high=2.0, seed=0):
    return np.random.default_rng([seed, *shape]).uniform(low, high, shape).astype(dtype)


def apart(shape, dtype=np.float64, seed=0):
    """Values at least 0.05 away from 0."""
    x = random(shape, dtype, seed=seed)
    return (x + np.where(x < 0, -0.05, 0.05)).astype(dtype)


def unary(name, function, inputs, special=(), integers=False):
    file = File(name, function)
    for dtype in BOTH:
        for shape in [(5,), (2, 3, 4), (), (1, 1), (0, 3), (17,)]:
            file.add(f"{np.dtype(dtype).name} {shape}", inputs(shape, dtype))
        if special:
            file.add(f"{np.dtype(dtype).name} special", np.array(special, dtype), gradient=False)
    if integers:
        file.add("int8", np.array([-128, -1, 0, 1, 127], np.int8))
        file.add("int64", np.array([-(2**63), -5, 0, 5, 2**63 - 1], np.int64))
        file.add("uint8", np.array([0, 1, 200, 255], np.uint8))
    file.write()


SHAPES = [((4,), (4,)), ((2, 3), (3,)), ((3,), (2, 3)), ((2, 1), (1, 3)), ((2, 1, 4), (3, 1)), ((0, 3), (1,)), ((), (2, 2)), ((5,), ())]


def binary(name, function, right=random, specials=(), integers=(), left=random):
    file = File(name, function)
    for dtype in BOTH:
        for a, b in SHAPES:
            file.add(f"{np.dtype(dtype).name} {a} {b}", left(a, dtype, seed=1), right(b, dtype, seed=2))
        for i, (a, b) in enumerate(specials):
            file.add(f"{np.dtype(dtype).name} special {i}", np.array(a, dtype), np.array(b, dtype), gradient=False)
    for a, b in integers:
        file.add(f"{a.dtype.name}", a, b)
    file.write()


def comparison(name, function):
    file = File(name, function, differentiable=False)
    for dtype in BOTH:
        a = np.array([1.0, 2.0, 3.0, np.nan, np.inf, -0.0, 1.0], dtype)
        b = np.array([2.0, 2.0, 2.0, np.nan, np.inf, 0.0, np.nan], dtype)
        file.add(f"{np.dtype(dtype).name}", a, b)
        file.add(f"{np.dtype(dtype).name} outer", a[:4, None], b[None, :3])
        file.add(f"{np.dtype(dtype).name} inner", b[None, :3], a[:4, None])
        file.add(f"{np.dtype(dtype).name} scalar", a, np.array(2.0, dtype))
        file.add(f"{np.dtype(dtype).name} empty", random((0, 2), dtype), random((2,), dtype))
    file.add("int32", np.array([-1, 0, 5], np.int32), np.array([0, 0, -5], np.int32))
    file.add("uint8", np.array([255, 0, 5], np.uint8), np.array([1, 0, 9], np.uint8))
    file.write()


def positive(shape, dtype=np.float64, seed=0):
    return random(shape, dtype, 0.2, 3.0, seed)


def elementwise():
    inf, nan = np.inf, np.nan
    unary("exp", torch.exp, random, [0.0, -0.0, inf, -inf, nan, 710.0, -746.0])
    unary("log", torch.log, positive, [1.0, 0.0, -1.0, inf, nan])
    unary("negative", torch.neg, random, [0.0, -0.0, inf, nan], integers=True)
    unary("nn.relu", torch.relu, apart, [1.0, inf, -inf, nan], integers=True)
    i8, i64, u8 = np.int8, np.int64, np.uint8
    small = (np.array([127, -128, 5, -7], i8), np.array([1, -1, -3, 2], i8))
    large = (np.array([2**63 - 1, -(2**63), 12], i64), np.array([1, -1, -5], i64))
    bytes_ = (np.array([250, 3, 0], u8), np.array([10, 5, 7], u8))
    specials = [([0.0, -0.0, inf, inf, nan], [-0.0, -0.0, 1.0, -inf, 1.0])]
    binary("add", torch.add, specials=specials, integers=[small, large, bytes_])
    binary("subtract", torch.sub, specials=specials, integers=[small, large, bytes_])
    binary("multiply", torch.mul, specials=specials, integers=[small, large, bytes_])

    def divide(a, b):
        return torch.div(a, b) if a.is_floating_point() else torch.div(a, b, rounding_mode="trunc")

    safe = (np.array([127, -127, 5, -7], i8), np.array([1, -1, -3, 2], i8))
    binary("divide", divide, right=apart, specials=[([1.0, -1.0, 0.0, inf], [0.0, 0.0, 0.0, inf])],
           integers=[safe, bytes_, (np.array([-7, 7, -7, 7], i64), np.array([2, 2, -2, -2], i64))])

    def maximum_inputs(shape, dtype, seed=0):  # operands differ by at least 0.1: far from ties
        return random(shape, dtype, seed=seed).round(1) + dtype(0.05 if seed == 2 else 0)

    binary("maximum", torch.maximum, left=maximum_inputs, right=maximum_inputs,
           specials=[([nan, 1.0, inf, -inf], [1.0, nan, 2.0, -5.0])], integers=[small, large, bytes_])
    for name, function in [("equal", torch.eq), ("not_equal", torch.ne), ("less", torch.lt), ("less_equal", torch.le),
                           ("greater", torch.gt), ("greater_equal", torch.ge)]:
        comparison(name, function)

    file = File("where", torch.where)
    for dtype in BOTH:
        for c, a, b in [((4,), (4,), (4,)), ((2, 1), (3,), (2, 3)), ((), (2, 2), (2,)), ((2, 3), (), ()), ((1, 2), (0, 2), (1, 2)),
                        ((2,), (2, 1, 2), (2, 3, 1))]:
            file.add(f"{np.dtype(dtype).name} {c} {a} {b}", random(c, seed=3) > 0, random(a, dtype, seed=1), random(b, dtype, seed=2))
    file.write()


AXES = [(None, False), (None, True), ([0], False), ([-1], False), ([-1], True), ([0, 2], False), ([1, -1], True), ([], False)]


def reductions():
    def over(function):
        def call(x, axis=None, keepdims=False):
            if axis == []:
                return x * 1
            axes = tuple(range(x.dim())) if axis is None else tuple(axis)
            return function(x, dim=axes, keepdim=keepdims) if axes else x * 1
        return call

    def integer_sum(x, **attributes):
        return torch.from_numpy(np.asarray(over(torch.sum)(x, **attributes).numpy().astype(x.numpy().dtype)))

    for name, function in [("sum", torch.sum), ("mean", torch.mean)]:
        file = File(name, over(function))
        for dtype in BOTH:
            for axis, keepdims in AXES:
                file.add(f"{np.dtype(dtype).name} {axis} {keepdims}", random((2, 3, 4), dtype), axis=axis, keepdims=keepdims)
            file.add(f"{np.dtype(dtype).name} one", random((1, 5, 1), dtype), axis=[0, 2], keepdims=False)
            file.add(f"{np.dtype(dtype).name} rank 0", random((), dtype), axis=None, keepdims=False)
            file.add(f"{np.dtype(dtype).name} empty", random((0, 3), dtype), axis=[1], keepdims=False)
            if name == "sum":
                file.add(f"{np.dtype(dtype).name} of nothing", random((2, 0, 3), dtype), axis=[1], keepdims=False)
        if name == "sum":
            file.oracle = integer_sum
            file.add("int8", np.array([[100, 100], [-3, 4]], np.int8), axis=[1], keepdims=False)
            file.add("int64", np.array([[2**62, 2**62], [-3, 4]], np.int64), axis=[1], keepdims=False)
        file.write()

    file = File("collapse_sum_to", lambda x, shape: x.sum_to_size(shape))
    for dtype in BOTH:
        for a, b in [((2, 3), (3,)), ((2, 3), (2, 1)), ((2, 3), ()), ((3, 2, 5, 4), (2, 1, 4)), ((2, 1), (2, 1)), ((4, 3), (1, 1)), ((0, 3), (3,))]:
            file.add(f"{np.dtype(dtype).name} {a} {b}", random(a, dtype), b)
    file.write()

    file = File("nn.log_softmax", lambda x, axis: torch.log_softmax(x, axis))
    for dtype in BOTH:
        for shape, axis in [((2, 3), -1), ((2, 3), 0), ((2, 3, 4), 1), ((4,), 0), ((3, 1), 1), ((0, 3), -1), ((2, 3, 4), -3)]:
            file.add(f"{np.dtype(dtype).name} {shape} {axis}", random(shape, dtype, -4, 4), axis=axis)
        file.add(f"{np.dtype(dtype).name} large", np.array([[1000.0, 999.0, -1000.0]], dtype), axis=-1)
    file.write()


def shapes():
    file = File("permute_dims", lambda x, axes: x.permute(*(axes if axes is not None else range(x.dim())[::-1])) + 0)
    for dtype in BOTH:
        for shape, axes in [((2, 3), None), ((2, 3), [0, 1]), ((2, 3, 4), [2, 0, 1]), ((2, 3, 4), [-1, 0, -2]), ((0, 3, 1), [1, 2, 0]), ((3,), None)]:
            file.add(f"{np.dtype(dtype).name} {shape} {axes}", random(shape, dtype), axes=axes)
    file.add("int32", np.arange(6, dtype=np.int32).reshape(2, 3), axes=None)
    file.write()

    file = File("broadcast_to", lambda x, shape: torch.broadcast_to(x, shape) + 0)
    for dtype in BOTH:
        for a, b in [((3,), (2, 3)), ((2, 1), (2, 3)), ((2, 1, 4), (3, 2, 5, 4)), ((), (2, 2)), ((1, 3), (0, 3)), ((2,), (2,)), ((0, 1), (2, 0, 3)), ((0,), (0,))]:
            file.add(f"{np.dtype(dtype).name} {a} {b}", random(a, dtype), b)
    file.write()

    def reshape(x, shape):
        return x.reshape([x.shape[i] if d == 0 and x.numel() else d for i, d in enumerate(shape)]) + 0

    file = File("reshape", reshape)
    for dtype in BOTH:
        for a, b in [((2, 3), (3, 2)), ((2, 3), (-1,)), ((2, 3, 4), (0, -1)), ((2, 0), (0,)), ((1,), ()), ((), (1, 1)), ((4, 6), (2, 2, 3, 2))]:
            file.add(f"{np.dtype(dtype).name} {a} {b}", random(a, dtype), b)
    file.write()

    file = File("expand_dims", lambda x, axis: torch.from_numpy(np.expand_dims(x.numpy(), tuple(axis))), differentiable=False)
    for dtype in BOTH:
        for shape, axis in [((3,), [0]), ((2,), [1]), ((2,), [0, -1]), ((2, 3), [-2]), ((), [0, 1]), ((0,), [1]), ((1, 3), [-1]), ((1,), [0])]:
            file.add(f"{np.dtype(dtype).name} {shape} {axis}", random(shape, dtype), axis=axis)
    file.write()

    file = File("squeeze", lambda x, axis: torch.from_numpy(np.squeeze(x.numpy(), None if axis is None else tuple(axis))), differentiable=False)
    for dtype in BOTH:
        for shape, axis in [((1, 2, 1), None), ((1, 2, 1), [0]), ((1, 2, 1), [-1]), ((1, 3, 1, 2), [0, 2]), ((1, 0, 1), None), ((1, 1), None)]:
            file.add(f"{np.dtype(dtype).name} {shape} {axis}", random(shape, dtype), axis=axis)
    file.write()

    def astype(x, dtype):
        with np.errstate(over="ignore", invalid="ignore"):
            return torch.from_numpy(x.numpy().astype(dtype))

    file = File("astype", astype, differentiable=False, halves=False)
    file.add("float64 to float32", random((2, 3)) * 1e3, dtype="float32")
    file.add("float64 to int64", np.array([1.75, -1.75, 2.0**40, -0.0]), dtype="int64")
    file.add("float64 to bool", np.array([[0.0, 2.0], [-0.0, np.inf]]), dtype="bool")
    file.add("float64 to float64, rank 0", np.array(2.5), dtype="float64")
    file.add("float32 to uint8", np.array([0.9, 255.0, 17.5], np.float32), dtype="uint8")
    file.add("float32 to float16", np.array([[0.1], [70000.0], [-3e-8]], np.float32), dtype="float16")
    file.add("float64 to float16", np.array([0.1, 1e5, 2049.0, 6e-8, -1.0]), dtype="float16")
    file.add("float32 to float64", random((4,), np.float32), dtype="float64")
    file.add("float32 to int32", np.array([1.75, -1.75, 0.0, 1e6], np.float32), dtype="int32")
    file.add("int64 to float32", np.array([2**24 + 1, -5, 2**62 + 1], np.int64), dtype="float32")
    file.add("int32 to int8", np.array([300, -129, 5], np.int32), dtype="int8")
    file.add("uint8 to float32", np.array([0, 127, 255], np.uint8), dtype="float32")
    file.add("float32 to bool", np.array([0.0, -0.0, 0.5, np.nan], np.float32), dtype="bool")
    file.add("bool to float64", np.array([True, False]), dtype="float64")
    file.add("float16 to float64", np.array([0.1, -2.5, 65504], np.float16), dtype="float64")
    file.add("float16 to int32", np.array([0.1, -2.5, 65504], np.float16), dtype="int32")
    for dtype, to in [(np.float64, "float32"), (np.float32, "float64"), (np.float32, "int8"), (np.float64, "bool")]:
        for shape in [(0, 3), (1, 4), (2, 0, 1)]:
            file.add(f"{np.dtype(dtype).name} {shape} to {to}", random(shape, dtype), dtype=to)
    values = [0.1, -2.5, 1.00390625 + 2**-40, 1.01171875, 3.4e38, -1e-40, 65504, 0]
    for dtype in ("float64", "float32", "float16"):
        given = rounded_once(values, dtype)
        file.given(f"{dtype} to bfloat16", [given], rounded_once(given, "bfloat16"), dtype="bfloat16")
    brain = rounded_once(values, "bfloat16")
    for dtype in ("float64", "float32", "float16"):
        file.given(f"bfloat16 to {dtype}", [brain], rounded_once(brain.double(), dtype), dtype=dtype)
    file.given("bfloat16 to int32", [rounded_once([1.75, -2.5, 100000], "bfloat16")], np.array([1, -2, 99840], np.int32), dtype="int32")
    file.given("bool to bfloat16", [np.array([True, False])], rounded_once([1, 0], "bfloat16"), dtype="bfloat16")
    file.write()

    for name, value in [("zeros", 0), ("ones", 1)]:
        file = File(name, lambda shape, dtype, value=value: torch.from_numpy(np.full(shape, value, dtype)), differentiable=False)
        for shape, dtype in [((2, 3), "float32"), ((), "float64"), ((0, 3), "int64"), ((4,), "bool"), ((1, 2), "uint8")]:
            file.add(f"{shape} {dtype}", shape, dtype=dtype)
        for dtype in ("float32", "float64"):
            for shape in [(0,), (1,), (3, 1, 2), (2, 0, 3), (17,), (0, 0)]:
                file.add(f"{shape} {dtype}", shape, dtype=dtype)
        for dtype in ("float16", "bfloat16"):
            for shape in [(2, 3), (), (0, 2)]:
                file.given(f"{shape} {dtype}", [shape], rounded_once(np.full(shape, value), dtype), dtype=dtype)
        file.write()
        file = File(name + "_like", lambda x, dtype, value=value: torch.from_numpy(
            np.full(x.shape, value, dtype or x.numpy().dtype)), differentiable=False)
        for dtype in BOTH:
            for shape in [(2, 3), (), (17,), (1, 1), (0, 4)]:
                file.add(f"{np.dtype(dtype).name} {shape}", random(shape, dtype), dtype=None)
        file.add("int64", np.array([3, 4], np.int64), dtype=None)
        file.add("to int8", random((2, 2), np.float32), dtype="int8")
        file.add("empty", random((0, 2), np.float32), dtype="float64")
        file.write()


def contractions():
    file = File("matmul", lambda a, b, out_dtype: torch.matmul(a, b) if out_dtype is None else torch.matmul(a, b).to(getattr(torch, out_dtype)))
    for dtype in BOTH:
        for a, b in [((2, 3), (3, 4)), ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3, 4), (4, 5)), ((2, 1, 3, 4), (5, 4, 2)), ((3, 0), (0, 2)),
                     ((2, 3, 4), (4,)), ((4,), (2, 4, 3)), ((1, 1), (1, 1)), ((17, 9), (9, 5)), ((0, 2), (2, 3))]:
            file.add(f"{np.dtype(dtype).name} {a} {b}", random(a, dtype, seed=1), random(b, dtype, seed=2), out_dtype=None)
    file.add("int32", np.array([[1, 2], [3, 4]], np.int32), np.array([[5, 6], [7, 8]], np.int32), out_dtype=None)
    for dtype, out in [(np.float32, "float64"), (np.float64, "float32"), (np.float64, "float64")]:
        file.add(f"{np.dtype(dtype).name} to {out}", random((2, 3), dtype, seed=1), random((3, 4), dtype, seed=2), out_dtype=out, gradient=None if out == dtype.__name__ else False)
    file.add("int8 wraps", np.array([[100, 100]], np.int8), np.array([[2], [3]], np.int8), out_dtype=None)
    file.write()


def losses():
    def nll(predictions, targets, weights=None, reduction="mean", ignore_index=-100):
        """As PyTorch's nll_loss, to which it is compared, but with a gradient for the weights."""
        p, t = (predictions[None], targets[None]) if predictions.dim() == 1 else (predictions, targets)
        keep = t != ignore_index
        classes = torch.where(keep, t, torch.zeros_like(t))
        w = torch.ones(p.shape[1], dtype=p.dtype) if weights is None else weights
        w = w[classes] * keep
        element = -p.gather(1, classes.unsqueeze(1)).squeeze(1) * w
        loss = {"none": element, "sum": element.sum(), "mean": element.sum() / w.sum()}[reduction]
        theirs = torch.nn.functional.nll_loss(p.detach(), t, None if weights is None else weights.detach(), reduction=reduction, ignore_index=ignore_index)
        assert torch.allclose(loss, theirs, rtol=1e-12, atol=0, equal_nan=True), (loss, theirs)
        return loss.reshape(targets.shape if reduction == "none" else ())

    cases = [((4,), np.array(2)), ((3, 4), np.array([3, 0, 1])), ((2, 3, 2), np.array([[0, 1], [2, 1]])),
             ((2, 3, 2, 1), np.array([[[0], [1]], [[2], [1]]])), ((3, 4), np.array([3, -100, 1])), ((1, 1), np.array([0])),
             ((0, 4), np.zeros(0)), ((2, 3, 0), np.zeros((2, 0))), ((2, 1), np.array([0, 0]))]
    def ignored(targets):  # one target of several is ignored
        return 1 if targets.size > 1 and targets.max() > 0 and targets.min() >= 0 else -100

    file = File("nn.nll_loss", nll)
    for dtype in BOTH:
        for shape, targets in cases:
            classes = shape[0] if len(shape) == 1 else shape[1]
            for reduction in ("mean", "sum", "none"):
                file.add(f"{np.dtype(dtype).name} {shape} {reduction}", random(shape, dtype, -3, -0.1), targets.astype(np.int64),
                         reduction=reduction, ignore_index=-100)
                if reduction == "mean" and (targets.size == 1 or classes == 1):
                    continue  # the weight cancels: its gradient is rounding noise around 0
                file.add(f"{np.dtype(dtype).name} {shape} {reduction} weighted", random(shape, dtype, -3, -0.1), targets.astype(np.int64),
                         positive((classes,), dtype), reduction=reduction, ignore_index=ignored(targets),
                         gradient=False if reduction == "mean" and targets.size == 0 else None)  # the mean of nothing is 0 / 0
    file.write()

    def backward(output_grad, predictions, targets, weights=None, reduction="mean", ignore_index=-100):
        p = predictions.detach().clone().requires_grad_(True)
        return torch.autograd.grad(nll(p, targets, weights, reduction, ignore_index), p, output_grad.detach())[0]

    file = File("grad.nll_loss_backward", backward, differentiable=False)
    for dtype in BOTH:
        for shape, targets in cases:
            classes = shape[0] if len(shape) == 1 else shape[1]
            for reduction in ("mean", "sum", "none"):
                grad = random(targets.shape if reduction == "none" else (), dtype, seed=4)
                file.add(f"{np.dtype(dtype).name} {shape} {reduction}", grad, random(shape, dtype, -3, -0.1), targets.astype(np.int64),
                         reduction=reduction, ignore_index=-100)
                file.add(f"{np.dtype(dtype).name} {shape} {reduction} weighted", grad, random(shape, dtype, -3, -0.1), targets.astype(np.int64),
                         positive((classes,), dtype), reduction=reduction, ignore_index=ignored(targets))
    file.write()


if __name__ == "__main__":
    elementwise()
    reductions()
    shapes()
    contractions()
    losses()
    for family in pkgutil.iter_modules(families.__path__):
        importlib.import_module("families." + family.name).write()
    index.write()
