"""The first steps of examples/digits/train.relish against a transcript in NumPy.

The transcript is float64 and shares nothing with the program: initial values and the order of rows come from its own
Philox4x32-10, by the layout that the manual states. Loss curves must agree to 1e-4 (float32 against float64).
RELISH names the program; the drawn digits must be there (`./dev build digits_data`).
"""

import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

EXAMPLE = pathlib.Path(__file__).resolve().parent.parent.parent / "examples" / "digits"
STEPS, BATCH, RATE, SEED = 60, 64, 0.1, 0
WORD = 0xFFFFFFFF


def philox(key, index, stream=0):
    c = [index & WORD, index >> 32, stream, 0]
    k0, k1 = key
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(p1 >> 32) ^ c[1] ^ k0, p1 & WORD, (p0 >> 32) ^ c[3] ^ k1, p0 & WORD]
        k0, k1 = (k0 + 0x9E3779B9) & WORD, (k1 + 0xBB67AE85) & WORD
    return c


def fold_in(key, data):
    return tuple(philox(key, data, int.from_bytes(b"fold", "big"))[:2])


def permuted(key, count, i):
    half = max(((count - 1).bit_length() + 1) // 2, 4)
    mask = (1 << half) - 1
    # The network makes even permutations only: for half of the keys the first two positions change places.
    if i <= 1:
        i ^= philox(key, 0, int.from_bytes(b"perm", "big") + 8)[0] & 1
    while True:
        left, right = i >> half, i & mask
        for round_ in range(8):
            stream = int.from_bytes(b"perm", "big") + round_
            left, right = right, left ^ (philox(key, right, stream)[0] & mask)
        i = left << half | right
        if i < count:
            return i


def glorot(shape, position):
    key = fold_in(fold_in((SEED, 0), int.from_bytes(b"param", "big")), position)
    count = shape[0] * shape[1]
    words = [word for i in range((count + 3) // 4) for word in philox(key, i)][:count]
    uniform = (np.array(words, np.uint64) >> 8).astype(np.float64) * 2.0**-24
    values = (2 * uniform - 1) * np.sqrt(6 / (shape[0] + shape[1]))
    return values.astype(np.float32).reshape(shape).astype(np.float64)


def read_idx(name):
    data = gzip.decompress((EXAMPLE / "data" / name).read_bytes())
    shape = [int.from_bytes(data[4 + 4 * i : 8 + 4 * i], "big") for i in range(data[3])]
    return np.frombuffer(data, np.uint8, offset=4 + 4 * len(shape)).reshape(shape)


def transcript():
    images = read_idx("train-images-idx3-ubyte.gz")
    labels = read_idx("train-labels-idx1-ubyte.gz")
    pixels = (images.reshape(len(images), -1).astype(np.float32) / np.float32(255)).astype(np.float64)
    w0, b0, w1, b1 = glorot((784, 128), 0), np.zeros(128), glorot((128, 10), 2), np.zeros(10)
    epoch_key = fold_in((SEED, 0), 0)
    losses = []
    for step in range(STEPS):
        rows = [permuted(epoch_key, len(pixels), step * BATCH + i) for i in range(BATCH)]
        x, y = pixels[rows], labels[rows]
        before = x @ w0 + b0
        hidden = np.maximum(before, 0)
        logits = hidden @ w1 + b1
        logits -= logits.max(1, keepdims=True)
        log_p = logits - np.log(np.exp(logits).sum(1, keepdims=True))
        losses.append(-log_p[np.arange(BATCH), y].mean())
        slope = np.exp(log_p)
        slope[np.arange(BATCH), y] -= 1
        slope /= BATCH
        hidden_slope = (slope @ w1.T) * (before > 0)
        w1 = w1 - RATE * hidden.T @ slope
        b1 = b1 - RATE * slope.sum(0)
        w0 = w0 - RATE * x.T @ hidden_slope
        b0 = b0 - RATE * hidden_slope.sum(0)
    return np.array(losses)


def program_losses(tier):
    with tempfile.TemporaryDirectory() as folder:
        run = pathlib.Path(folder) / "run"
        options = ["--tier", tier, "--log-every", "1", "--run-dir", str(run), "--set", "epochs=1"]
        subprocess.run([os.environ["RELISH"], "run", str(EXAMPLE / "train.relish"), *options], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines[:STEPS]] == list(range(1, STEPS + 1))
    return np.array([line["loss"] for line in lines[:STEPS]])


def main():
    expected = transcript()
    worst = 0.0
    for tier in ("interp", "jit"):
        error = np.abs(program_losses(tier) - expected) / expected
        worst = max(worst, error.max())
        print(f"digits, {tier}: {STEPS} steps, largest relative difference {error.max():.2g}")
    return 0 if worst <= 1e-4 else 1


if __name__ == "__main__":
    sys.exit(main())
