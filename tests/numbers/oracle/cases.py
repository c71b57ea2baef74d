"""Files of numbers from outside: calls of operators with results and gradients computed by PyTorch and NumPy.

A file is {"operator", "cases": [...]}. A case has "args" (tensors {"dtype", "shape", "data"}, {"shape_value"},
{"tuple": [tensors]} or {"scalar"}, with "dtype" where that is no bool, int64 or float64), "attributes", "expect" (a
tensor, a shape value, or a list of tensors), for differentiable float64 calls "cotangent" (as "expect") and "gradients"
(one per argument and field of a tuple, null for none), and "oracle_rtol" where the oracle rounds. Data are row-major; a
number that JSON lacks is a string: "nan", "inf", "-inf".
"""
import json
import os

import numpy as np
import torch

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "operators")


def number(value):
    if isinstance(value, (bool, np.bool_)):
        return int(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if np.isnan(value):
        return "nan"
    if np.isinf(value):
        return "inf" if value > 0 else "-inf"
    return float(str(value)) if value.dtype == np.float32 else float(value)


def tensor(array):
    if isinstance(array, torch.Tensor) and array.dtype == torch.bfloat16:  # which NumPy lacks
        return tensor(array.float().numpy()) | {"dtype": "bfloat16"}
    array = np.asarray(array)
    return {"dtype": array.dtype.name, "shape": list(array.shape), "data": [number(v) for v in array.reshape(-1)]}


def rounded_once(values, dtype):
    """float64 values in a float dtype; bfloat16 by way of float32 rounded to odd, so that nothing rounds twice."""
    values = np.array(values, np.float64)
    if dtype != "bfloat16":
        with np.errstate(over="ignore"):
            return values.astype(dtype)
    with np.errstate(over="ignore"):
        wide = np.atleast_1d(values)
        narrow = wide.astype(np.float32)
        beyond = np.abs(narrow.astype(np.float64)) > np.abs(wide)
        toward_zero = np.where(beyond, np.nextafter(narrow, np.float32(0)), narrow).astype(np.float32)
    inexact = toward_zero.astype(np.float64) != wide
    odd = (toward_zero.view(np.uint32) | (inexact & np.isfinite(wide)).astype(np.uint32)).view(np.float32)
    return torch.from_numpy(odd.reshape(values.shape)).to(torch.bfloat16)


def encoded(argument):
    if isinstance(argument, tuple):
        return {"shape_value": list(argument)}
    if isinstance(argument, torch.Tensor):
        return tensor(argument)
    if isinstance(argument, list):
        return {"tuple": [tensor(field) for field in argument]}
    if type(argument) in (bool, int, float):  # not the scalars of NumPy
        return {"scalar": argument}
    if isinstance(argument, Single):
        return {"scalar": float(argument), "dtype": "float32"}
    return tensor(argument)


def floats_of(args):
    """The float32 arrays among the arguments when there are such and no wider ones; else one that is too long."""
    arrays = [np.asarray(a) for argument in args for a in (argument if isinstance(argument, list) else [argument]) if type(a) not in SCALARS]
    floats = [a for a in arrays if a.dtype.kind == "f"]
    return floats if floats and all(a.dtype == np.float32 for a in floats) else [np.zeros(65)]


class Single(float):
    """A scalar of float32."""


SCALARS = (tuple, bool, int, float, Single)


class File:
    """The cases of one operator; `oracle` maps tensors (and attributes) to the result, in PyTorch or NumPy."""

    def __init__(self, operator, oracle, differentiable=True, halves=True):
        self.operator, self.oracle, self.differentiable = operator, oracle, differentiable
        self.halves = halves  # whether small calls in float32 are asked in float16 and bfloat16 too
        self.cases, self.small = [], []

    def add(self, name, *args, gradient=None, **attributes):
        """One call. float32 arguments are computed in float64 and rounded once, so `expect` is the exact answer.

        An argument is an array; a tuple (a shape); a list of arrays (a tuple of tensors, which the oracle gets as a
        list); or a Python number (a scalar). The oracle gives a tensor, or a list or tuple of them (None where it has
        nothing to say), and then `expect` and `cotangent` are lists."""
        fixed = any(str(attributes.get(key)).startswith("float") for key in ("dtype", "out_dtype"))
        if gradient is not False and not fixed and all(2 <= a.size <= 64 for a in floats_of(args)):
            self.small.append((name, self.oracle, args, attributes))
        leaves, arrays = [], []

        def opened(argument):
            if type(argument) in SCALARS:
                return argument
            if isinstance(argument, list):
                return [opened(field) for field in argument]
            array = torch.from_numpy(np.array(argument))
            wide = array.double() if array.dtype == torch.float32 else array
            if array.dtype == torch.float64:
                wide.requires_grad_(self.differentiable)
            arrays.append(array)
            leaves.append(wide)
            return wide

        inputs = [opened(argument) for argument in args]
        answer = self.oracle(*inputs, **attributes)
        several = isinstance(answer, (list, tuple))
        results = list(answer) if several else [answer]
        narrow = (
            attributes.get("dtype") is None
            and attributes.get("out_dtype") is None
            and not any(a.dtype == torch.float64 for a in arrays)
            and any(a.dtype == torch.float32 for a in arrays)
        )

        def value_of(result):
            value = result.detach().numpy()
            return value.astype(np.float32) if narrow and value.dtype == np.float64 else value

        expect = [None if r is None else tensor(value_of(r)) for r in results]
        case = {
            "name": name,
            "args": [encoded(a) for a in args],
            "attributes": attributes,
            "expect": expect if several else expect[0],
        }
        leaves = [leaf for leaf in leaves if leaf.requires_grad]
        flowing = [r for r in results if r is not None and r.requires_grad]
        if leaves and flowing and gradient is not False:
            # One for each floating result: zeros for those that do not depend on the arguments.
            cotangents = [
                None
                if r is None or not r.is_floating_point()
                else torch.from_numpy(np.random.default_rng(7 + k).uniform(-1, 1, tuple(r.shape)))
                if r.requires_grad
                else torch.zeros(tuple(r.shape), dtype=torch.float64)
                for k, r in enumerate(results)
            ]
            weights = [c for r, c in zip(results, cotangents) if r is not None and r.requires_grad]
            gradients = iter(torch.autograd.grad(flowing, leaves, weights, allow_unused=True))
            written = [None if c is None else tensor(c.numpy()) for c in cotangents]
            case["cotangent"] = written if several else written[0]
            case["gradients"] = []
            for i in inputs:
                for leaf in i if isinstance(i, list) else [i]:
                    flows = isinstance(leaf, torch.Tensor) and leaf.requires_grad
                    partial = next(gradients) if flows else None
                    case["gradients"].append(None if partial is None else tensor(partial.numpy()))
        self.cases.append(case)

    @classmethod
    def extended(cls, operator):
        """The cases that the operator's file has already, to which others are added."""
        file = cls(operator, None, halves=False)
        with open(os.path.join(FOLDER, operator + ".json"), encoding="utf-8") as written:
            file.cases = json.load(written)["cases"]
        return file

    def given(self, name, args, expect, cotangents=None, gradients=None, oracle_rtol=None, **attributes):
        """One call with results that the caller computed: an array, a shape (a tuple), or a list of arrays.

        `oracle_rtol` is how far they may be from the exact answer, where the operator's class leaves no room."""
        several = isinstance(expect, list)
        case = {
            "name": name,
            "args": [encoded(a) for a in args],
            "attributes": attributes,
            "expect": [tensor(e) for e in expect] if several else encoded(expect),
        }
        if oracle_rtol is not None:
            case["oracle_rtol"] = oracle_rtol
        if gradients is not None:
            case["cotangent"] = [tensor(c) for c in cotangents] if several else tensor(cotangents)
            case["gradients"] = [None if g is None else tensor(g) for g in gradients]
        self.cases.append(case)

    def add_half(self, name, oracle, args, attributes, dtype):
        """A call of `small` with its float32 tensors rounded to that dtype, computed in float64 and rounded once."""

        def each(value, change):
            if isinstance(value, list):
                return [each(field, change) for field in value]
            return change(value)

        def rounded(argument):
            if isinstance(argument, (np.ndarray, np.generic)):
                value = torch.from_numpy(np.array(argument))
                return value.to(dtype) if value.is_floating_point() else value
            return argument

        def written(value):
            return value if value is None or value.dtype == torch.bfloat16 else value.numpy()

        given = [each(argument, rounded) for argument in args]
        wide = [each(a, lambda v: v.double() if isinstance(v, torch.Tensor) and v.is_floating_point() else v) for a in given]
        answer = oracle(*wide, **attributes)
        several = isinstance(answer, (list, tuple))
        results = [None if r is None else written(r.detach().to(dtype) if r.is_floating_point() else r) for r in (answer if several else [answer])]
        expect = [None if r is None else tensor(r) for r in results]
        self.cases.append({
            "name": name,
            "args": [encoded(each(a, lambda v: written(v) if isinstance(v, torch.Tensor) else v)) for a in given],
            "attributes": attributes,
            "expect": expect if several else expect[0],
        })

    def add_halves(self):
        """Two calls in each dtype that no call has yet."""
        for dtype in (torch.float16, torch.bfloat16):
            label = str(dtype).removeprefix("torch.")
            if any(argument.get("dtype") == label for case in self.cases for argument in case["args"]):
                continue
            for name, oracle, args, attributes in self.small[:2]:
                self.add_half(name.replace("float32", label), oracle, args, attributes, dtype)

    def write(self):
        if self.halves:
            self.add_halves()
        path = os.path.join(FOLDER, self.operator + ".json")
        cases = ",\n".join(json.dumps(case) for case in self.cases)
        with open(path, "w", encoding="utf-8") as out:
            out.write('{"operator": %s, "cases": [\n%s\n]}\n' % (json.dumps(self.operator), cases))
