"""Small integers with a scale and a zero point, after NumPy."""
import numpy as np
import torch

from families.convolution import random
from oracle.cases import File, rounded_once


def along(x, steps, axis):
    if steps.numel() == 1 or x.dim() == 0:
        return steps.reshape(())
    return steps.reshape([-1 if i == axis % x.dim() else 1 for i in range(x.dim())])


def quantize(x, scale, zero_point, axis=-1, out_dtype="int8", narrow=False):
    limits = np.iinfo(out_dtype)
    quotient = (x.float() / along(x, scale, axis).float()).double() if narrow else x / along(x, scale, axis)
    moved = torch.round(quotient) + along(x, zero_point, axis).double()
    return torch.from_numpy(moved.detach().clamp(limits.min, limits.max).numpy().astype(out_dtype))


def dequantize(x, scale, zero_point, axis=-1, out_dtype="float32"):
    steps = x.long() - along(x, zero_point, axis).long()
    if out_dtype == "float64":
        return steps.double() * along(x, scale, axis)
    return (steps.float() * along(x, scale, axis).detach().float()).to(getattr(torch, out_dtype))


def integers(shape, dtype):
    limits = np.iinfo(dtype)
    return np.random.default_rng(list(shape)).integers(limits.min, limits.max + 1, shape).astype(dtype)


def positive(shape, dtype):
    return (np.abs(random(shape, dtype, 9)) + dtype(0.05)).astype(dtype)


def write():
    file = File("quantize", quantize, differentiable=False)
    for dtype in (np.float32, np.float64):
        narrow = dtype == np.float32  # the quotient has the dtype of data
        file.oracle = lambda *args, narrow=narrow, **attributes: quantize(*args, narrow=narrow, **attributes)
        for shape, steps, out, axis in [((5,), (), "int8", -1), ((2, 3), (3,), "uint8", -1), ((2, 3, 4), (3,), "int16", 1), ((2, 3), (1,), "int16", 0), ((0, 3), (3,), "int8", -1),
                                        ((), (), "int8", -1), ((4, 2), (4,), "int8", -2)]:
            zero = np.array(integers(steps, "int8") // 8, np.int8)
            file.add(f"{np.dtype(dtype).name} {shape} {steps} {out}", random(shape, dtype) * dtype(20), positive(steps, dtype), zero, axis=axis, out_dtype=out)
        file.add(f"{np.dtype(dtype).name} special", np.array([0.5, 1.5, -0.5, np.inf, -np.inf, 1e30], dtype), np.array(1, dtype), np.array(0, np.int8))
    file.write()
    file = File("dequantize", dequantize)
    for dtype, out in [(np.float32, "float32"), (np.float64, "float64")]:
        for shape, steps, data, axis in [((5,), (), "int8", -1), ((2, 3), (3,), "uint8", -1), ((2, 3, 4), (3,), "int32", 1), ((2, 3), (1,), "int16", 0), ((0, 3), (3,), "int8", -1),
                                         ((), (), "int8", -1), ((4, 2), (4,), "int16", -2)]:
            zero = np.array(integers(steps, "int8") // 8, np.int8)
            file.add(f"{np.dtype(dtype).name} {shape} {steps} {data}", integers(shape, data), positive(steps, dtype), zero, axis=axis, out_dtype=out)
    # The product of these has fewer bits than float32: one rounding.
    for out in ("float16", "bfloat16"):
        for shape, steps, data, axis in [((5,), (), "int8", -1), ((2, 3), (3,), "uint8", -1), ((2, 3, 4), (3,), "int8", 1)]:
            zero = np.array(integers(steps, "int8") // 8, np.int8)
            scale = rounded_once(positive(steps, np.float64), out)
            wide = torch.from_numpy(np.array(scale, np.float64)) if out == "float16" else scale.double()
            answer = dequantize(torch.from_numpy(integers(shape, data)), wide, torch.from_numpy(zero), axis, "float64")
            file.given(f"{out} {shape} {steps} {data}", [integers(shape, data), scale, zero], rounded_once(answer, out), axis=axis, out_dtype=out)
    file.write()
