"""Files of numbers from outside: calls of operators with results and gradients computed by PyTorch and NumPy.

A file is {"operator", "cases": [...]}. A case has "args" (tensors {"dtype", "shape", "data"}, {"shape_value"},
{"tuple": [tensors]} or {"scalar"}), "attributes", "expect" (a tensor, or a list of them), and for differentiable
float64 calls "cotangent" (as "expect") and "gradients" (one per argument and field of a tuple, null for none). Data are row-major; a number that JSON lacks is a string: "nan", "inf", "-inf".
"""
import json
import os

import numpy as np
import torch

from oracle import halves
from oracle.halves import Half

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
    if isinstance(array, Half):
        return tensor(array.values) | {"dtype": array.dtype}
    array = np.asarray(array)
    return {"dtype": array.dtype.name, "shape": list(array.shape), "data": [number(v) for v in array.reshape(-1)]}


def encoded(argument):
    if isinstance(argument, tuple):
        return {"shape_value": list(argument)}
    if isinstance(argument, list):
        return {"tuple": [tensor(field) for field in argument]}
    if type(argument) in (bool, int, float):  # not the scalars of NumPy
        return {"scalar": argument}
    return tensor(argument)


class File:
    """The cases of one operator; `oracle` maps tensors (and attributes) to the result, in PyTorch or NumPy."""

    def __init__(self, operator, oracle, differentiable=True):
        self.operator, self.oracle, self.differentiable = operator, oracle, differentiable
        self.cases = []
        self.calls = []  # those that may be asked in half precision: name, arguments, attributes, oracle

    def add(self, name, *args, gradient=None, **attributes):
        """One call. Arguments of float32 and of half precision are computed in float64 and rounded once, so `expect` is
        the exact answer.

        An argument is an array or a Half; a tuple (a shape); a list of arrays (a tuple of tensors, which the oracle gets as a
        list); or a Python number (a scalar). The oracle gives a tensor, or a list or tuple of them (None where it has
        nothing to say), and then `expect` and `cotangent` are lists."""
        leaves, arrays, narrowest = [], [], []
        if halves.suits(args, attributes):
            self.calls.append((name, args, attributes, self.oracle))

        def opened(argument):
            if type(argument) in (tuple, bool, int, float):
                return argument
            if isinstance(argument, list):
                return [opened(field) for field in argument]
            if isinstance(argument, Half):
                narrowest.append(argument.dtype)
                leaves.append(torch.from_numpy(argument.values.copy()))
                return leaves[-1]
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
            and not any(a.dtype == torch.float64 for a in arrays)
            and any(a.dtype == torch.float32 for a in arrays)
        )

        def value_of(result):
            value = result.detach().numpy()
            if narrowest and value.dtype == np.float64:
                return Half(value, narrowest[0])
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

    def add_halves(self):
        """Some calls of float32 in float16 and bfloat16, where there are none of the dtype."""
        for dtype in halves.DTYPES:
            if any('"dtype": "%s"' % dtype in json.dumps(case["args"]) for case in self.cases):
                continue
            step = max(1, len(self.calls) // halves.CASES)
            for name, args, attributes, self.oracle in self.calls[::step][: halves.CASES]:
                args = [halves.halved(argument, dtype) for argument in args]
                self.add(name.replace("float32", dtype), *args, gradient=False, **attributes)

    def write(self):
        if self.operator in halves.OPERATORS:
            self.add_halves()
        path = os.path.join(FOLDER, self.operator + ".json")
        cases = ",\n".join(json.dumps(case) for case in self.cases)
        with open(path, "w", encoding="utf-8") as out:
            out.write('{"operator": %s, "cases": [\n%s\n]}\n' % (json.dumps(self.operator), cases))
