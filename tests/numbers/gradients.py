#!/usr/bin/python3
"""Gradients of loops and loop nests by PyTorch.

Writes tests/golden/run/gradients-by-pytorch.relish: programs with loops of data-dependent length and prim_funcs that
overwrite what they need, with the values, gradients and Hessian-vector products that PyTorch computes in float64.
Everything runs on one thread.

    /usr/bin/python3 tests/numbers/gradients.py --write
"""
import pathlib

import numpy as np
import torch

FILE = pathlib.Path(__file__).resolve().parent.parent / "golden" / "run" / "gradients-by-pytorch.relish"

PROGRAM = '''# test: run
# Made by tests/numbers/gradients.py; the numbers are PyTorch's: values, gradients and Hessian-vector products.
@I.ir_module
class M:
    @T.prim_func
    def cholesky(X: T.Buffer((4, 4), "float64"), Y: T.Buffer((4, 4), "float64")):
        for i, j in T.grid(4, 4):
            Y[i, j] = 0.0
        for j in range(4):
            s: T.float64 = X[j, j]
            for k in range(j):
                s = s - Y[j, k] * Y[j, k]
            Y[j, j] = T.sqrt(s)
            for i in range(3 - j):
                t: T.float64 = X[j + 1 + i, j]
                for k in range(j):
                    t = t - Y[j + 1 + i, k] * Y[j, k]
                Y[j + 1 + i, j] = t / Y[j, j]

    @T.prim_func
    def solve(L: T.Buffer((4, 4), "float64"), B: T.Buffer((4,), "float64"), Y: T.Buffer((4,), "float64")):
        for i in range(4):
            Y[i] = B[i]
            for k in range(i):
                Y[i] = Y[i] - L[i, k] * Y[k]
            Y[i] = Y[i] / L[i, i]

    @R.function
    def rnn(x: R.Tensor((6, 3), "float64"), w: R.Tensor((3, 3), "float64"), n: R.Prim("int64")):
        h = R.zeros(R.shape([3]), dtype="float64")
        for i in range(n):
            h = R.tanh(R.add(R.matmul(w, h), R.take(x, R.prim_value(i), axis=0)))
        return R.sum(R.multiply(h, h))

    @R.function
    def power(x: R.Tensor((4, 4), "float64"), w: R.Tensor((4,), "float64")):
        a = R.matmul(x, R.permute_dims(x))
        v = w
        change = R.const(1.0, "float64")
        while R.greater(change, R.const(1e-14, "float64")):
            u = R.matmul(a, v)
            next = R.divide(u, R.sqrt(R.sum(R.multiply(u, u))))
            change = R.sum(R.abs(R.subtract(next, v)))
            v = next
        return R.sum(R.multiply(v, R.matmul(a, v)))

    @R.function
    def gaussian(x: R.Tensor((4, 4), "float64"), w: R.Tensor((4,), "float64")):
        cls = M
        l = R.call_tir(cls.cholesky, (R.matmul(x, R.permute_dims(x)),), out_ty=R.Tensor((4, 4), "float64"))
        y = R.call_tir(cls.solve, (l, w), out_ty=R.Tensor((4,), "float64"))
        return R.sum(R.multiply(R.sin(y), y))

'''

CHECK = '''
def agree(name, found, wanted):
    same = True
    for i in range(len(wanted)):
        same = same and allclose(found[i], wanted[i], rtol=1e-9, atol=1e-11)
    print(name, same)

for name in args:
    f = getattr(M, name)
    given = args[name] + more[name]
    back = getattr(gradient(f), name + "_adjoint")(*given)
    print(name, allclose(back[0], values[name], rtol=1e-10))
    agree("  gradient", back[1], gradients[name])
    agree("  second", getattr(hvp(f), name + "_hvp")(*(given + dots[name]))[1], products[name])
'''


def rnn(x, w, n):
    h = torch.zeros(3, dtype=torch.float64)
    for i in range(n):
        h = torch.tanh(w @ h + x[i])
    return (h * h).sum()


def power(x, w):
    a, v, change = x @ x.T, w, 1.0
    while change > 1e-14:
        u = a @ v
        following = u / (u * u).sum().sqrt()
        change = (following - v).abs().sum().item()
        v = following
    return (v * (a @ v)).sum()


def gaussian(x, w):
    y = torch.linalg.solve_triangular(torch.linalg.cholesky(x @ x.T), w[:, None], upper=False)[:, 0]
    return (torch.sin(y) * y).sum()


def text(tensor):
    return f'tensor({tensor.detach().numpy().tolist()!r}, "float64")'


def table(name, rows):
    lines = "".join(f'    "{key}": {value},\n' for key, value in rows.items())
    return f"{name} = {{\n{lines}}}\n"


def tensors(values):
    return "[" + ", ".join(text(value) for value in values) + "]"


def main():
    torch.set_num_threads(1)
    rng = np.random.default_rng(15)
    draw = lambda *shape: torch.tensor(np.round(rng.normal(0, 0.7, shape), 3), dtype=torch.float64)  # noqa: E731
    cases = {
        "rnn": (rnn, [draw(6, 3), draw(3, 3)], [5]),
        "power": (power, [draw(4, 4) + 2 * torch.eye(4, dtype=torch.float64), draw(4)], []),
        "gaussian": (gaussian, [draw(4, 4) + 2 * torch.eye(4, dtype=torch.float64), draw(4)], []),
    }
    args, more, dots, values, gradients, products = {}, {}, {}, {}, {}, {}
    for name, (function, inputs, rest) in cases.items():
        inputs = [value.clone().requires_grad_() for value in inputs]
        directions = [draw(*value.shape) for value in inputs]
        value = function(*inputs, *rest)
        first = torch.autograd.grad(value, inputs, create_graph=True)
        slope = sum((part * direction).sum() for part, direction in zip(first, directions))
        second = torch.autograd.grad(slope, inputs)
        args[name], more[name], dots[name] = tensors(inputs), repr(rest), tensors(directions)
        values[name], gradients[name], products[name] = text(value), tensors(first), tensors(second)
    whole = PROGRAM
    for name, rows in (("args", args), ("more", more), ("dots", dots), ("values", values), ("gradients", gradients),
                       ("products", products)):
        whole += table(name, rows)
    whole += CHECK + "# expect\n"
    for name in cases:
        whole += f"#| {name} True\n#|   gradient True\n#|   second True\n"
    FILE.write_text(whole, encoding="utf-8")


if __name__ == "__main__":
    main()
