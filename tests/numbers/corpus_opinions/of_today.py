"""What the programs of tests/golden/corpus/today compute, said in NumPy."""

import numpy as np

from corpus_opinions.registry import of


@of("today/mlp-as-printed")
def main(x, w1, b1, w2):
    y = np.maximum(x @ w1 + b1, 0) @ w2
    return y - np.log(np.exp(y).sum(1, keepdims=True))


@of("today/fused-epilogue")
def main(x, w, b):
    return np.maximum(x @ w * np.float32(0.5) + b, 0)


@of("today/scalar-in-the-arguments")
def main(cache, row, place):
    cache = cache.copy()
    cache[place] = row
    return cache


@of("today/causal-attention")
def main(q, k, v, mask):
    s = np.where(mask, q @ k.T / np.sqrt(np.float32(2)), -np.inf)
    e = np.exp(s)
    return (e / e.sum(1, keepdims=True) @ v).astype(np.float32)


@of("today/heads-by-reshape")
def main(x):
    return x - x.mean(1, keepdims=True)


@of("today/recursion-over-a-count")
def power(x, n):
    return np.linalg.matrix_power(x, int(n))


@of("today/top-two-by-selection")
def main(x):
    places = np.argsort(-x, axis=1)[:, :2]
    return np.take_along_axis(x, places, 1), places.astype(np.int32)


@of("today/insertion-sort")
def main(a):
    return np.sort(a)


@of("today/sample-from-probabilities")
def main(logits, u):
    p = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    return np.minimum((np.cumsum(p, 1) <= u[:, None]).sum(1), 3)


@of("today/depthwise-convolution")
def main(x, w):
    windows = x.reshape(1, 2, 3, 2, 3, 2).transpose(0, 1, 2, 4, 3, 5)
    return np.maximum((windows * w[:, 0][None, :, None, None]).sum((4, 5)), 0)


@of("today/blocked-layout")
def main(x):
    return x.reshape(1, 2, 2, 2, 2).transpose(0, 1, 3, 4, 2), x * 3


@of("today/gelu-of-the-loop-kind")
def main(x):
    from math import erf
    return np.vectorize(lambda v: v * 0.5 * (1 + erf(v / 2**0.5)))(x.astype(np.float64)).astype(np.float32)


@of("today/rotary-embedding")
def main(x, offset):
    angle = (np.arange(4) + offset)[:, None] / 100.0 ** (np.array([0, 2, 0, 2]) / 4)
    turned = np.concatenate([-x[:, 2:], x[:, :2]], 1)
    return (np.cos(angle) * x + np.sin(angle) * turned).astype(np.float32)


@of("today/scalars-of-the-graph")
def main(x, size):
    return -(-len(x) // size), size


@of("today/branches-on-sizes")
def main(x):
    return x.mean() if len(x) > 3 else x.sum()


@of("today/closure-over-a-dimension")
def main(x):
    return (x - x.mean(0)) ** 2


@of("today/running-variance")
def welford(x):
    return x.mean(), x.var()


@of("today/bit-counting")
def bits(a):
    return np.array([bin(v).count("1") for v in a.tolist()], np.int32)


@of("today/game-of-life")
def step(a):
    n = sum(np.roll(a, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)) - a
    return ((n == 3) | ((a == 1) & (n == 2))).astype(np.uint8)


@of("today/quantized-product")
def main(a, b):
    c = a.astype(np.int32) @ b.astype(np.int32)
    return np.clip((c + 64) >> 7, -128, 127).astype(np.int8)


@of("today/loss-per-row")
def main(x, t, w):
    lp = x - np.log(np.exp(x).sum(1, keepdims=True))
    return -(lp[np.arange(len(t)), t] * w).sum() / w.sum()


@of("today/three-functions-deep")
def main(a, b):
    return (a - a.mean()) / a.var(), (b - b.mean()) / b.var()


@of("today/buffers-with-named-sizes")
def main(x):
    return x[::2] * x[1::2]


@of("today/early-exit")
def first(a, limit):
    hits = np.flatnonzero(a > limit)
    return int(hits[0]) if len(hits) else -1


@of("today/sieve-of-primes")
def main():
    return np.array([n > 1 and all(n % d for d in range(2, n)) for n in range(30)]).astype(np.int32)


@of("today/local-vector")
def rank_update(a, b):
    return np.outer(b, a * 2)


@of("today/vector-stores")
def axpy(x, y):
    return x * np.float32(3) + y


@of("today/views-of-a-buffer")
def views(a):
    return a.reshape(-1) * 10, a.T


@of("today/tiles-by-sub-regions")
def transpose(a):
    return a.T


@of("today/launched-threads")
def fill(a, s):
    return np.where(np.arange(8) <= np.arange(4)[:, None], a, np.float32(s))


@of("today/checked-arguments")
def normalize(p):
    return p / p.sum()


@of("today/ternary-and-let")
def leaky(a, slope):
    return np.where(a > 0, a, a * np.float32(slope))


@of("today/scratch-at-statement-level")
def median3(a):
    return np.array([np.median(a[i:i + 3]) for i in range(4)]).astype(np.int32)


@of("today/scalar-functions-of-loops")
def gcd(a, b):
    return int(np.gcd(a, b))


@of("today/hash-of-bytes")
def fnv(a):
    h = 2166136261
    for byte in a.tolist():
        h = (h ^ byte) * 16777619 % 2**32
    return np.uint32(h)


@of("today/random-walk-of-a-generator")
def draw(seed):
    out = []
    for _ in range(5):
        seed = (seed * 1103515245 + 12345) % 2147483648
        out.append(seed / 2147483648)
    return np.array(out)


@of("today/strassen-of-two-by-two")
def main(a, b):
    m = np.block([[a[0], a[1]], [a[2], a[3]]]) @ np.block([[b[0], b[1]], [b[2], b[3]]])
    return m[:2, :2], m[:2, 2:], m[2:, :2], m[2:, 2:]


@of("today/curried-layers")
def main(x, w0, w1):
    return np.maximum(np.maximum(x @ w0, 0) @ w1, 0)


@of("today/even-and-odd")
def even(n):
    return n % 2 == 0


@of("today/even-and-odd")
def odd(n):
    return n % 2 == 1


@of("today/shape-of-a-parameter")
def main(x, s):
    return np.full(s, x.sum() ** 2, np.float32)


@of("today/unknown-rank")
def double(x):
    return x + x


@of("today/unknown-rank")
def main(x):
    return (x + x).T


@of("today/accumulated-gradients")
def main(total, g, weight):
    return total + g * np.float32(weight)


@of("today/two-blocks-of-a-transformer")
def main(x, up, down):
    for _ in range(2):
        u = x / ((x * x).mean(1, keepdims=True) + 1) @ up
        x = x + u / (1 + np.exp(-u)) @ down
    return x


@of("today/top-of-a-window")
def main(x):
    return np.maximum(np.maximum(x[:, :-2], x[:, 1:-1]), x[:, 2:])


@of("today/sparse-rows")
def main(start, column, value, x):
    m = np.zeros((3, 4), np.float32)
    for i in range(3):
        m[i, column[start[i]:start[i + 1]]] = value[start[i]:start[i + 1]]
    return m @ x


@of("today/floats-of-many-widths")
def main(x):
    a = x.astype(np.float32)
    b = a.astype(np.float16)
    c = b.astype(np.int8)
    return a, b, c, c.astype(bool)


@of("today/global-infos")
def main(x, y):
    return x + y


@of("today/type-variable-as-size")
def main(x):
    return x + x[::-1]


@of("today/size-parameters-of-a-function")
def main(x, w):
    return x @ w


@of("today/nested-calls-in-a-return")
def main(x, y):
    return ((x - y) ** 2).sum(1), np.abs(x).mean()


@of("today/scalar-operands")
def main(x, s):
    return x * np.float32(s) + np.float32(0.5)


@of("today/branch-on-a-scalar")
def main(x, train):
    y = x * 2 if train else x
    return -y if len(x) == 1 else y


@of("today/sizes-with-names")
def main(x):
    return np.pad(x, 1, constant_values=-1) + np.int32(1)


@of("today/joined-tuples")
def main(a, b):
    return (a[1][0] * a[1][1],) + b


@of("today/match-of-a-tuple")
def main(t):
    return t[0] + t[1]


@of("today/any-that-is-a-tensor")
def main(v):
    return v + v


@of("today/functions-with-effects")
def main(x):
    return x - np.exp(x)


@of("today/serial-with-a-step")
def comb(a):
    b = np.zeros(10, np.int32)
    b[1::3] = a[1::3]
    b[0:9:4] += 100
    return b


@of("today/rare-functions")
def rare(x, n):
    y = [np.hypot(x, 2), np.log1p(np.abs(x)), np.fmod(x, 0.75), np.copysign(3.0, x), np.rint(x), np.trunc(x),
         np.arctan2(x, -1), np.exp2(x)]
    bits = np.array([bin(v & 0xFFFFFFFF).count("1") for v in n.tolist()])
    return np.stack(y, 1), np.stack([bits, np.fmod(n, 5), (n % 5) ^ ~n], 1).astype(np.int32)


@of("today/prefix-sum-of-blocks")
def main(x):
    return np.cumsum(x)


@of("today/lowered-by-hand")
def main(x):
    return x + 2


@of("today/planned-memory")
def main(x):
    return x * 5


@of("today/print-and-assert")
def main(x):
    return x / x.sum()


@of("today/reshape-to-another-tensor")
def main(x, target):
    return x.reshape(target.shape) + target


@of("today/shape-as-data")
def main(x):
    return np.ones((x.shape[0] + 1, x.shape[1]), np.float32)


@of("today/memory-of-unknown-size")
def main(x):
    return x**4


@of("today/storage-of-the-machine")
def main(x, y):
    return x + y + x
