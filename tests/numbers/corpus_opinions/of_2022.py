"""What the programs of tests/golden/corpus/2022 compute, said in NumPy."""

import numpy as np

from corpus_opinions.registry import of


@of("2022/linear-relu-layer")
def main(x, w, b):
    return np.maximum(x @ w.T + b, 0)


@of("2022/two-layer-classifier")
def main(x, w0, b0, w1, b1):
    return np.maximum(x @ w0.T + b0, 0) @ w1.T + b1


@of("2022/matmul-by-tiles")
def main(a, b):
    return a @ b


@of("2022/matmul-with-packed-rows")
def main(a, b):
    return a @ b


@of("2022/convolution-loops")
def main(x, w):
    y = np.zeros((1, 2, 3, 3), np.int64)
    for i in range(3):
        for j in range(3):
            y[0, :, i, j] = (w * x[:, :, i:i + 3, j:j + 3]).sum((1, 2, 3))
    return y


@of("2022/padded-convolution")
def main(image):
    p = np.pad(image, 1)
    return p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * image


@of("2022/softmax-by-blocks")
def main(x):
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


@of("2022/max-pool")
def main(x):
    return x.reshape(1, 1, 2, 2, 3, 2).max((3, 5))


@of("2022/prefix-sums")
def main(x):
    return np.cumsum(x)


@of("2022/histogram")
def main(labels):
    return np.bincount(labels, minlength=4).astype(np.int32)


@of("2022/any-size-by-match-shape")
def main(x):
    return x - np.float32(0.5)


@of("2022/dimensions-of-a-shape")
def main(x):
    y = np.repeat(x, 2, 0) * 10
    y[1::2] += 1
    return y


@of("2022/two-results")
def main(x):
    return x.min(1), x.max(1), x.max(1) - x.min(1)


@of("2022/threads-of-a-grid")
def main(x, y):
    return (x * np.float32(2.5) + y).reshape(4, 6)


@of("2022/split-loop-with-a-guard")
def squares(a):
    return a * a


@of("2022/sum-in-two-steps")
def main(x):
    return x.sum()


@of("2022/typed-lets")
def horner(x):
    return ((x * x * 0.25 + x) * x * x - 1).astype(np.float32)


@of("2022/transposed-product")
def main(q, k):
    return q @ k.T * np.float32(3**-0.5)


@of("2022/batch-norm-of-inference")
def main(x, m, v, g, b):
    m, v, g, b = (t[:, None] for t in (m, v, g, b))
    return (x - m) / np.sqrt(v + np.float32(1e-5)) * g + b


@of("2022/argmax-with-two-buffers")
def main(logits):
    return logits.argmax(1)


@of("2022/concat-by-loops")
def main(a, b):
    return np.concatenate([a, b], 1)


@of("2022/if-of-a-flag")
def main(flag, x, g):
    y = x - g if flag else x
    return y * y


@of("2022/closure-that-scales")
def main(x, rate):
    return x * rate, x * rate * rate


@of("2022/upsampled-rows")
def interpolate(a):
    return np.interp(np.arange(7) / 2, np.arange(4), a).astype(np.float32)


@of("2022/relational-operators")
def main(x):
    return ((np.abs(x) <= 1) | (np.arange(8) == 7)).astype(np.uint8)


@of("2022/flat-scratch-memory")
def main(x):
    return x[::-1] * 2


@of("2022/lstm-cell")
def main(x, h, c, wx, wh):
    def s(t):
        return 1 / (1 + np.exp(-t))
    i, f, g, o = np.split(x @ wx + h @ wh, 4, axis=1)
    c = s(f) * c + s(i) * np.tanh(g)
    return s(o) * np.tanh(c), c


@of("2022/forward-substitution")
def main(l, b):
    return np.linalg.solve(l, b)


@of("2022/fourier-transform")
def main(x):
    return (np.abs(np.fft.fft(x)) ** 2).astype(np.float32)


@of("2022/moving-average")
def smooth(a):
    return np.convolve(a, np.ones(3, np.float32) / np.float32(3), "valid").astype(np.float32)


@of("2022/nearest-center")
def main(points, centers):
    return ((points[:, None] - centers) ** 2).sum(2).argmin(1).astype(np.int32)


@of("2022/list-of-arguments")
def main(a, b):
    return (a + b) / 2


@of("2022/helper-of-the-module")
def main(x, y):
    return ((x - y) ** 2).mean() / (y * y).mean()


@of("2022/match-shape-of-a-shape")
def main(x, y):
    return y @ x


@of("2022/plain-names-as-dimensions")
def main(x, y):
    return np.outer(x, y).reshape(-1)


@of("2022/exponent-bits")
def exponent(a):
    return np.floor(np.log2(np.abs(a))).astype(np.int32)


@of("2022/heat-equation")
def main(x):
    x = x.copy()
    for _ in range(10):
        x[1:-1] += np.float32(0.25) * (x[:-2] - 2 * x[1:-1] + x[2:])
    return x


@of("2022/dropout-with-a-mask")
def main(x, drawn):
    return np.where(drawn >= 0.25, x / np.float32(0.75), np.float32(0))


@of("2022/three-dimensional-mean")
def main(x):
    return (x - x.mean()).sum((0, 1))


@of("2022/bilinear-resize")
def resize(a):
    wide = np.stack([np.interp(np.arange(5) / 2, np.arange(3), row) for row in a])
    return np.stack([wide[0], wide.mean(0), wide[1]]).astype(np.float32)


@of("2022/cumulative-maximum")
def main(x):
    return np.maximum.accumulate(x)


@of("2022/vector-adds-of-a-course")
def main(a, b):
    return a + b


@of("2022/window-of-local-memory")
def blur(a):
    return np.convolve(a, np.full(3, 10), "valid").astype(np.int32)


@of("2022/log-sum-exp")
def main(x):
    return np.logaddexp(x[:, 0], x[:, 1])


@of("2022/several-modules")
def main(x):
    return x * 9


@of("2022/nested-choice")
def main(step, rate):
    return np.float32(0.1 if step < 10 else 0.01 if step > 100 else 1) * rate


@of("2022/tuple-of-parameters")
def main(x, p):
    return x @ p[0] + p[1]


@of("2022/tokens-to-one-hot")
def main(t, table):
    return table[t]


@of("2022/empty-block-and-evaluate")
def quiet(a):
    return np.abs(a)


@of("2022/sum-over-many-threads")
def rows(a):
    return a.sum(1)


@of("2022/tuple-types-without-prefix")
def main(p, any):
    c = p[0] + p[1]
    return c, (c * c).sum()


@of("2022/printed-names-of-a-builder")
def main(x, w):
    return np.maximum(x @ w, 0)
