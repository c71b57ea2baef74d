"""Files of numbers from outside: calls of operators with results and gradients computed by PyTorch and NumPy.

A file is {"operator", "cases": [...]}. A case has "args" (tensors {"dtype", "shape", "data"} or {"shape_value"}),
"attributes", "expect" (a tensor), and for differentiable float64 calls "cotangent" and "gradients" (one per argument,
null for none). Data are row-major; a number that JSON lacks is a string: "nan", "inf", "-inf".
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
    array = np.asarray(array)
    return {"dtype": array.dtype.name, "shape": list(array.shape), "data": [number(v) for v in array.reshape(-1)]}


def encoded(argument):
    return {"shape_value": list(argument)} if isinstance(argument, tuple) else tensor(argument)


class File:
    """The cases of one operator; `oracle` maps tensors (and attributes) to the result, in PyTorch or NumPy."""

    def __init__(self, operator, oracle, differentiable=True):
        self.operator, self.oracle, self.differentiable = operator, oracle, differentiable
        self.cases = []

    def add(self, name, *args, gradient=None, **attributes):
        """One call. float32 arguments are computed in float64 and rounded once, so `expect` is the exact answer."""
        inputs, tensors = [], []
        for argument in args:
            if isinstance(argument, tuple):
                inputs.append(argument)
                continue
            array = torch.from_numpy(np.array(argument))
            wide = array.double() if array.dtype == torch.float32 else array
            if array.dtype == torch.float64:
                wide.requires_grad_(self.differentiable)
            inputs.append(wide)
            tensors.append(array)
        result = self.oracle(*inputs, **attributes)
        value = result.detach().numpy()
        wanted = attributes.get("dtype")
        if value.dtype == np.float64 and wanted is None and not any(t.dtype == torch.float64 for t in tensors):
            if any(t.dtype == torch.float32 for t in tensors):
                value = value.astype(np.float32)
        case = {"name": name, "args": [encoded(a) for a in args], "attributes": attributes, "expect": tensor(value)}
        leaves = [i for i in inputs if isinstance(i, torch.Tensor) and i.requires_grad]
        if leaves and result.requires_grad and gradient is not False:
            cotangent = torch.from_numpy(np.random.default_rng(7).uniform(-1, 1, value.shape))
            gradients = iter(torch.autograd.grad(result, leaves, cotangent, allow_unused=True))
            case["cotangent"] = tensor(cotangent.numpy())
            case["gradients"] = []
            for i in inputs:
                partial = next(gradients) if isinstance(i, torch.Tensor) and i.requires_grad else None
                case["gradients"].append(None if partial is None else tensor(partial.numpy()))
        self.cases.append(case)

    def write(self):
        path = os.path.join(FOLDER, self.operator + ".json")
        cases = ",\n".join(json.dumps(case) for case in self.cases)
        with open(path, "w", encoding="utf-8") as out:
            out.write('{"operator": %s, "cases": [\n%s\n]}\n' % (json.dumps(self.operator), cases))
