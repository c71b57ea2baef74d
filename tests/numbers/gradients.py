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

    @T.prim_func
    def lstm_steps(X: T.Buffer((5, 2), "float64"), W: T.Buffer((8, 4), "float64"), B: T.Buffer((8,), "float64"), H: T.Buffer((5, 2), "float64")):
        h = T.alloc_buffer((2,), "float64")
        c = T.alloc_buffer((2,), "float64")
        g = T.alloc_buffer((8,), "float64")
        for j in range(2):
            h[j] = 0.0
            c[j] = 0.0
        for t in range(5):
            for k in range(8):
                g[k] = B[k]
                for j in range(2):
                    g[k] = g[k] + W[k, j] * X[t, j] + W[k, j + 2] * h[j]
            for j in range(2):
                c[j] = T.sigmoid(g[j + 2]) * c[j] + T.sigmoid(g[j]) * T.tanh(g[j + 4])
                h[j] = T.sigmoid(g[j + 6]) * T.tanh(c[j])
                H[t, j] = h[j]

    @T.prim_func
    def attend(Q: T.Buffer((4, 3), "float64"), K: T.Buffer((5, 3), "float64"), V: T.Buffer((5, 2), "float64"), Y: T.Buffer((4, 2), "float64")):
        S = T.alloc_buffer((4, 5), "float64")
        most = T.alloc_buffer((4,), "float64")
        E = T.alloc_buffer((4, 5), "float64")
        total = T.alloc_buffer((4,), "float64")
        for i, j, k in T.grid(4, 5, 3):
            with T.sblock("S"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    S[vi, vj] = 0.0
                S[vi, vj] = S[vi, vj] + Q[vi, vk] * K[vj, vk] * 0.577
        for i, j in T.grid(4, 5):
            with T.sblock("most"):
                vi, vj = T.axis.remap("SR", [i, j])
                with T.init():
                    most[vi] = T.min_value("float64")
                most[vi] = T.max(most[vi], S[vi, vj])
        for i, j in T.grid(4, 5):
            E[i, j] = T.exp(S[i, j] - most[i])
        for i, j in T.grid(4, 5):
            with T.sblock("total"):
                vi, vj = T.axis.remap("SR", [i, j])
                with T.init():
                    total[vi] = 0.0
                total[vi] = total[vi] + E[vi, vj]
        for i, d, j in T.grid(4, 2, 5):
            with T.sblock("Y"):
                vi, vd, vj = T.axis.remap("SSR", [i, d, j])
                with T.init():
                    Y[vi, vd] = 0.0
                Y[vi, vd] = Y[vi, vd] + E[vi, vj] / total[vi] * V[vj, vd]

    @T.prim_func
    def convolve(X: T.Buffer((2, 7, 7), "float64"), W: T.Buffer((3, 2, 3, 3), "float64"), Y: T.Buffer((3, 3, 3), "float64")):
        for o, h, w, c, kh, kw in T.grid(3, 3, 3, 2, 3, 3):
            with T.sblock("Y"):
                vo, vh, vw, vc, vkh, vkw = T.axis.remap("SSSRRR", [o, h, w, c, kh, kw])
                with T.init():
                    Y[vo, vh, vw] = 0.0
                Y[vo, vh, vw] = Y[vo, vh, vw] + T.if_then_else(1 <= vh * 2 + vkh * 2 and vh * 2 + vkh * 2 < 8 and 1 <= vw * 2 + vkw * 2 and vw * 2 + vkw * 2 < 8, X[vc, vh * 2 + vkh * 2 - 1, vw * 2 + vkw * 2 - 1], 0.0) * W[vo, vc, vkh, vkw]

    @T.prim_func
    def normalize(X: T.Buffer((3, 6), "float64"), G: T.Buffer((6,), "float64"), B: T.Buffer((6,), "float64"), Y: T.Buffer((3, 6), "float64")):
        for i in range(3):
            mean: T.float64 = 0.0
            square: T.float64 = 0.0
            for j in range(6):
                mean = mean + X[i, j] / 6.0
            for j in range(6):
                square = square + (X[i, j] - mean) * (X[i, j] - mean) / 6.0
            for j in range(6):
                Y[i, j] = (X[i, j] - mean) * T.rsqrt(square + 1e-5) * G[j] + B[j]

    @T.prim_func
    def averages(X: T.Buffer((6,), "float64"), Y: T.Buffer((6,), "float64"), Z: T.Buffer((6,), "float64")):
        m: T.float64 = 0.0
        for i in range(6):
            m = m * 0.75 + X[i] * 0.25
            Y[i] = m
        Z[0] = X[0] * X[0]
        for i in range(5):
            Z[i + 1] = Z[i] + X[i + 1] * X[i + 1]

    @R.function
    def lstm(x: R.Tensor((5, 2), "float64"), w: R.Tensor((8, 4), "float64"), b: R.Tensor((8,), "float64")):
        cls = M
        h = R.call_tir(cls.lstm_steps, (x, w, b), out_ty=R.Tensor((5, 2), "float64"))
        return R.sum(R.multiply(h, R.sin(h)))

    @R.function
    def attention(x: R.Tensor((4, 3), "float64"), w: R.Tensor((5, 3), "float64"), v: R.Tensor((5, 2), "float64")):
        cls = M
        y = R.call_tir(cls.attend, (x, w, v), out_ty=R.Tensor((4, 2), "float64"))
        return R.sum(R.multiply(y, R.sin(y)))

    @R.function
    def conv(x: R.Tensor((2, 7, 7), "float64"), w: R.Tensor((3, 2, 3, 3), "float64")):
        cls = M
        y = R.call_tir(cls.convolve, (x, w), out_ty=R.Tensor((3, 3, 3), "float64"))
        return R.sum(R.multiply(y, R.sin(y)))

    @R.function
    def layer_norm(x: R.Tensor((3, 6), "float64"), w: R.Tensor((6,), "float64"), b: R.Tensor((6,), "float64")):
        cls = M
        y = R.call_tir(cls.normalize, (x, w, b), out_ty=R.Tensor((3, 6), "float64"))
        return R.sum(R.multiply(y, R.sin(y)))

    @R.function
    def scans(x: R.Tensor((6,), "float64")):
        cls = M
        t = R.call_tir(cls.averages, (x,), out_ty=[R.Tensor((6,), "float64"), R.Tensor((6,), "float64")])
        return R.sum(R.multiply(R.sin(t[0]), t[1]))

    @R.function
    def fraction(x: R.Tensor((), "float64"), n: R.Prim("int64")):
        y = R.const(1.0, "float64")
        for i in range(n):
            y = R.add(R.const(1.0, "float64"), R.divide(x, y))
        return y

    @R.function(private=True)
    def branches(x: R.Tensor((), "float64"), n: R.Prim("int64")) -> R.Tensor((), "float64"):
        cls = M
        y = R.sin(x)
        if n > 1:
            a = cls.branches(R.multiply(x, R.const(0.9, "float64")), n - 1)
            b = cls.branches(R.add(x, a), n - 2)
            y = R.add(R.multiply(a, b), R.cos(x))
        return y

    @R.function
    def tree(x: R.Tensor((), "float64"), n: R.Prim("int64")):
        cls = M
        return cls.branches(R.multiply(x, x), n)

    @R.function
    def flagged(x: R.Tensor((3,), "float64")):
        y = x
        going = R.const(True, "bool")
        n = R.const(0, "int64")
        while going:
            y = R.multiply(R.sin(y), R.const(1.1, "float64"))
            n = R.add(n, R.const(1, "int64"))
            going = R.logical_and(R.less(n, R.const(10, "int64")), R.greater(R.sum(y), R.const(0.4, "float64")))
        return R.sum(R.multiply(y, x))

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


def lstm(x, w, b):
    h, c, total = torch.zeros(2, dtype=torch.float64), torch.zeros(2, dtype=torch.float64), 0
    for t in range(5):
        i, f, g, o = (w @ torch.cat([x[t], h]) + b).chunk(4)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        total = total + (h * torch.sin(h)).sum()
    return total


def attention(q, k, v):
    y = torch.softmax(q @ k.T * 0.577, -1) @ v
    return (y * torch.sin(y)).sum()


def conv(x, w):
    y = torch.nn.functional.conv2d(x[None], w, stride=2, padding=1, dilation=2)
    return (y * torch.sin(y)).sum()


def layer_norm(x, w, b):
    y = torch.nn.functional.layer_norm(x, (6,), w, b)
    return (y * torch.sin(y)).sum()


def scans(x):
    m, averages = 0, []
    for i in range(6):
        m = m * 0.75 + x[i] * 0.25
        averages.append(m)
    return (torch.sin(torch.stack(averages)) * torch.cumsum(x * x, 0)).sum()


def fraction(x, n):
    y = torch.tensor(1.0, dtype=torch.float64)
    for _ in range(n):
        y = 1 + x / y
    return y


def branches(x, n):
    if n <= 1:
        return torch.sin(x)
    a = branches(x * 0.9, n - 1)
    return a * branches(x + a, n - 2) + torch.cos(x)


def tree(x, n):
    return branches(x * x, n)


def flagged(x):
    y, n, going = x, 0, True
    while going:
        y, n = torch.sin(y) * 1.1, n + 1
        going = n < 10 and y.sum().item() > 0.4
    return (y * x).sum()


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
        "lstm": (lstm, [draw(5, 2), draw(8, 4), draw(8)], []),
        "attention": (attention, [draw(4, 3), draw(5, 3), draw(5, 2)], []),
        "conv": (conv, [draw(2, 7, 7), draw(3, 2, 3, 3)], []),
        "layer_norm": (layer_norm, [draw(3, 6), draw(6), draw(6)], []),
        "scans": (scans, [draw(6)], []),
        "fraction": (fraction, [torch.tensor(0.7, dtype=torch.float64)], [12]),
        "tree": (tree, [torch.tensor(0.9, dtype=torch.float64)], [6]),
        "flagged": (flagged, [torch.tensor([0.3, 0.5, 0.9], dtype=torch.float64)], []),
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
