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
