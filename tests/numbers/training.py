#!/usr/bin/python3
"""Writes training/convnet.npz: 50 steps of a small convolutional network by PyTorch, in float64, on one thread.

The network has a batch_norm and a dropout. The order of rows and the masks are made here from the layout that
docs/training.md states, with the Philox of digits.py, so that nothing comes from the program. Under "x" and "targets"
stand the data, under "start.NAME" the first values and under "NAME" what they are behind the last step, running
statistics included. The variance that joins the running one is divided by the count of the batch, as TVM has it;
PyTorch divides by the count less one there.
"""
import pathlib
import sys

import numpy as np
import torch
import torch.nn.functional as F

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from digits import fold_in, permuted, philox  # noqa: E402

FOLDER = pathlib.Path(__file__).resolve().parent / "training"
ROWS, BATCH, STEPS, RATE, SEED, DROPPED, MOMENTUM = 24, 8, 50, 0.05, 0, 0.25, 0.1
TRAINED = ("kernel", "gamma", "beta", "weight", "bias")


def make_inputs():
    rng = np.random.default_rng(20261123)
    values = {
        "kernel": rng.normal(0, 1 / 3, (4, 1, 3, 3)),
        "gamma": 1 + rng.uniform(-0.2, 0.2, 4),
        "beta": rng.uniform(-0.2, 0.2, 4),
        "running_mean": np.zeros(4),
        "running_var": np.ones(4),
        "weight": rng.normal(0, 1 / 6, (36, 3)),
        "bias": np.zeros(3),
    }
    return values, rng.normal(0, 1, (ROWS, 1, 6, 6)), rng.integers(0, 3, ROWS)


def mask(step, shape):
    key = fold_in(fold_in((SEED, 0), step), 0)
    count = int(np.prod(shape))
    words = [word for i in range((count + 3) // 4) for word in philox(key, i)][:count]
    kept = np.array([0.0 if word < DROPPED * 2.0**32 else 1 / (1 - DROPPED) for word in words])
    return torch.from_numpy(kept.reshape(shape))


def batch_norm(x, gamma, beta, mean, variance):
    """(result, new mean, new variance)."""
    result = F.batch_norm(x, None, None, gamma, beta, training=True, eps=1e-5)
    batch = x.detach().transpose(0, 1).flatten(1)
    new_mean = (1 - MOMENTUM) * mean + MOMENTUM * batch.mean(1)
    return result, new_mean, (1 - MOMENTUM) * variance + MOMENTUM * batch.var(1, unbiased=False)


def main():
    torch.set_num_threads(1)
    start, x, targets = make_inputs()
    now = {name: torch.from_numpy(value.copy()) for name, value in start.items()}
    params = [now[name].requires_grad_() for name in TRAINED]
    optimizer = torch.optim.SGD(params, lr=RATE, momentum=0.9, weight_decay=0.01)
    batches = ROWS // BATCH
    for step in range(STEPS):
        epoch_key = fold_in((SEED, 0), step // batches)
        rows = [permuted(epoch_key, ROWS, step % batches * BATCH + i) for i in range(BATCH)]
        c = F.conv2d(torch.from_numpy(x[rows]), now["kernel"], padding=1)
        n, now["running_mean"], now["running_var"] = batch_norm(c, now["gamma"], now["beta"], now["running_mean"], now["running_var"])
        features = F.max_pool2d(torch.relu(n), 2).flatten(1)
        loss = F.cross_entropy((features * mask(step, (BATCH, 36))) @ now["weight"] + now["bias"],
                               torch.from_numpy(targets[rows]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    FOLDER.mkdir(exist_ok=True)
    entries = {"x": x, "targets": targets, "loss": np.array(loss.item())}
    entries.update({f"start.{name}": value for name, value in start.items()})
    entries.update({name: value.detach().numpy() for name, value in now.items()})
    np.savez(FOLDER / "convnet.npz", **entries)


if __name__ == "__main__":
    main()
