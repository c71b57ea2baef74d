"""What the programs of tests/golden/corpus/2023 compute, said in NumPy."""

import numpy as np

from corpus_opinions.registry import of


@of("2023/fused-matmul-bias-relu")
def main(x, w, b):
    return np.maximum(x @ w + b, 0)


@of("2023/dynamic-batch")
def main(x, w, b):
    return 1 / (1 + np.exp(-(x @ w.T + b)))


@of("2023/scalar-for-a-loop-nest")
def main(x, s):
    return np.where(np.arange(x.shape[1]) < s[0], x, np.float32(0))


@of("2023/match-cast-of-unknown-tensors")
def main(a, b):
    return a @ b


@of("2023/nested-tuples")
def main(x, state):
    (h0, h1), steps = state
    new = ((h0 + x, h1 + h0 + x), steps + 1)
    return new[0][1], new


@of("2023/function-calls-function")
def main(x, w0, w1):
    for w in (w0, w1):
        x = x + np.maximum(x @ w, 0)
    return x


@of("2023/factorial-by-recursion")
def fact(n):
    return np.prod(np.arange(1, n + 1, dtype=np.int64))


@of("2023/in-place-update")
def main(p, v, g):
    v = v * np.float32(0.9) + g
    return p - v * np.float32(0.1), v


@of("2023/several-outputs-and-a-shape")
def main(a, d):
    return a // d, a % d


@of("2023/split-by-loops")
def main(x, w):
    q, k, v = np.split(x @ w, 3, axis=1)
    e = np.exp(q @ k.T)
    return e / e.sum(1, keepdims=True) @ v


@of("2023/layer-norm-by-blocks")
def main(x, g, b):
    return (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + np.float32(1e-5)) * g + b


@of("2023/reshape-of-symbols")
def main(x):
    return x.reshape(x.shape[0], -1) * 10


@of("2023/shape-as-a-result")
def main(x):
    n, h, w = x.shape
    return np.ones((n, h // 2, (w + 1) // 2), np.float32)


@of("2023/logits-and-loss")
def predict(x, w):
    return x @ w


@of("2023/logits-and-loss")
def predict_loss(x, w, t):
    y = x @ w
    lp = y - np.log(np.exp(y).sum(1, keepdims=True))
    return -lp[np.arange(3), t].mean(), y


@of("2023/untyped-object-passes-through")
def main(x, cache):
    return -x, cache


@of("2023/strided-prim-func-indices")
def main(x, like):
    return x[::2] * 100 + x[1::2] + like


@of("2023/half-precision-epilogue")
def main(x, w):
    return (x @ w).astype(np.float16)


@of("2023/gather-rows")
def main(words, table):
    return table[words], table[words].mean(1)


@of("2023/alias-and-shadowing")
def main(x):
    return (x + np.array([1, 2, 3], np.float32)) ** 2 - x


@of("2023/values-beyond-a-block")
def main(x, y):
    b = (x + y) ** 2
    return b.sum(0) - b


@of("2023/function-as-an-argument")
def main(x):
    return x**4


@of("2023/counter-made-by-a-function")
def main(x):
    return x + np.int32(16)


@of("2023/sum-of-a-list-inside")
def main(x, small):
    total = np.float32(0)
    while True:
        total += x
        if x < small:
            return np.float32(total)
        x = x * np.float32(0.5)


@of("2023/free-prim-func-and-function")
def main(pixels):
    return pixels.astype(np.float32) / 255


@of("2023/virtual-devices-and-attributes")
def main(x, y):
    return np.maximum(x, y) - x


@of("2023/scalar-parameters")
def main(p, steps):
    return p / np.float32(1 + steps / 2) / np.float32(2)


@of("2023/primitive-function-inlined")
def main(x):
    return np.exp(x + 1)


@of("2023/module-name-as-prefix")
def main(x):
    return x * 9


@of("2023/pair-of-unknown-lengths")
def main(x, y):
    return np.concatenate([x, y])


@of("2023/operators-as-signs")
def main(x, a):
    y = x * x - a * x
    return -y / (a + 1) < y


@of("2023/empty-tuples")
def main(x, extra):
    return x + x


@of("2023/constants-from-a-loop-nest")
def main(x):
    i, j = np.arange(3)[:, None], np.arange(4)
    return (x + np.where(j % 2 == 0, np.sin(i / (j + 1)), np.cos(i / np.maximum(j, 1)))).astype(np.float32)


@of("2023/branch-with-a-match")
def main(flag, x, y):
    return x + x if flag else y * y


@of("2023/gradient-written-by-hand")
def main(x, w, b):
    a = np.maximum(x @ w + b, 0)
    return (a * a).sum(), (x.T @ (2 * a), 2 * a.sum(0))


@of("2023/broadcast-and-squeeze")
def main(a, b):
    return a[:, None] - b[:, 0]


@of("2023/while-as-recursion")
def main(a):
    return np.sqrt(a)


@of("2023/composite-pattern")
def main(x, w, b):
    return x @ w.T + b


@of("2023/parameters-packed-before")
def main_transform_params(params):
    return params[0].T, params[1]


@of("2023/parameters-packed-before")
def main(x, wt, b):
    return x @ wt.T + b


@of("2023/inner-function-with-a-dataflow")
def main(x):
    return x**6


@of("2023/ceiling-of-a-size")
def main(x):
    return np.pad(x, (0, -len(x) % 4)).reshape(-1, 4)


@of("2023/annotation-that-tells-less")
def main(x):
    return -(x + x)


@of("2023/segment-sums")
def main(rows, segment):
    out = np.zeros((3, 2), np.float32)
    np.add.at(out, segment, rows)
    return out


@of("2023/group-normalization")
def main(x, scale):
    g = x.reshape(-1, 2, 4)
    y = (g - g.mean(2, keepdims=True)) / np.sqrt(g.var(2, keepdims=True) + np.float32(1e-5))
    return y.reshape(x.shape) * scale


@of("2023/two-dimensional-prefix")
def main(x):
    return x.cumsum(0).cumsum(1)


@of("2023/transposed-convolution")
def main(x, w):
    y = np.zeros(7, np.float32)
    for i in range(3):
        y[2 * i:2 * i + 3] += x[i] * w
    return y


@of("2023/beam-of-scores")
def main(beam, words):
    lp = words - np.log(np.exp(words).sum(1, keepdims=True))
    return (lp + beam[:, None]).reshape(-1)


@of("2023/integer-attention-mask")
def main(lengths, places):
    return (1 - (places < lengths).astype(np.float16)) * np.float16(-1000)


@of("2023/loop-over-the-diagonal")
def main(a, b):
    from itertools import combinations
    def parts(t, k):
        return set(combinations(t.tolist(), k))
    best = max(k for k in range(6) if k == 0 or parts(a, k) & parts(b, k))
    return np.full((7, 6), best, np.int32)


@of("2023/not-checked-by-the-parser")
def main(x):
    return x


@of("2023/condition-from-a-shape")
def main(x, limit):
    return x.sum(0) if len(x) < limit else x.mean(0)


@of("2023/zero-rows")
def main(x):
    return x.sum(0), x - x.sum(0)


@of("2023/whole-shape-in-a-type")
def main(x):
    return x.reshape(x.shape[::-1]) + 1


@of("2023/string-and-dtype-values")
def main(x):
    return -x[:, None], (2, 1), 7


@of("2023/winograd-of-one-tile")
def main(d, g):
    return np.array([d[:3] @ g, d[1:] @ g], np.float32)


@of("2023/told-by-a-function")
def main(x):
    return x / x.sum()
