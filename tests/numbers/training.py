#!/usr/bin/python3
"""Writes training/: 50 steps of small networks by PyTorch, in float64, on one thread.

convnet.npz: a convolutional network. mlp.npz: a perceptron under Adam with weight decay. groups.npz: one whose biases
have a learning rate and a decay of their own. transformer.npz: a block of causal attention under a cosine with warmup, the norm of its gradients bounded.

The convolutional network has a batch_norm and a dropout. The order of rows and the masks are made here from the layout that
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


def rows_of(step, rows, batch):
    batches = rows // batch
    epoch_key = fold_in((SEED, 0), step // batches)
    return [permuted(epoch_key, rows, step % batches * batch + i) for i in range(batch)]


def write(name, start, now, loss, **data):
    entries = dict(data, loss=np.array(loss.item()))
    entries.update({f"start.{key}": value for key, value in start.items()})
    entries.update({key: value.detach().numpy() for key, value in now.items()})
    np.savez(FOLDER / name, **entries)


def train_groups():
    rng = np.random.default_rng(14)
    start = {"w0": rng.normal(0, 0.5, (5, 8)), "b0": rng.normal(0, 0.1, 8),
             "w1": rng.normal(0, 0.5, (8, 2)), "b1": np.zeros(2)}
    x, y = rng.normal(0, 1, (24, 5)), rng.normal(0, 1, (24, 2))
    now = {name: torch.from_numpy(value.copy()).requires_grad_() for name, value in start.items()}
    optimizer = torch.optim.AdamW([{"params": [now["w0"], now["w1"]]},
                                   {"params": [now["b0"], now["b1"]], "lr": 0.03, "weight_decay": 0.0}],
                                  lr=0.01, weight_decay=0.05)
    for step in range(STEPS):
        rows = rows_of(step, 24, 8)
        hidden = torch.tanh(torch.from_numpy(x[rows]) @ now["w0"] + now["b0"])
        loss = F.mse_loss(hidden @ now["w1"] + now["b1"], torch.from_numpy(y[rows]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    write("groups.npz", start, now, loss, x=x, y=y)


def train_mlp():
    rng = np.random.default_rng(16)
    start = {"w0": rng.normal(0, 0.4, (6, 12)), "b0": rng.normal(0, 0.1, 12), "w1": rng.normal(0, 0.4, (12, 12)),
             "b1": rng.normal(0, 0.1, 12), "w2": rng.normal(0, 0.4, (12, 4)), "b2": np.zeros(4)}
    x, targets = rng.normal(0, 1, (36, 6)), rng.integers(0, 4, 36)
    now = {name: torch.from_numpy(value.copy()).requires_grad_() for name, value in start.items()}
    optimizer = torch.optim.Adam(now.values(), lr=0.01, betas=(0.8, 0.99), weight_decay=0.02)
    for step in range(STEPS):
        rows = rows_of(step, 36, 9)
        h0 = torch.relu(torch.from_numpy(x[rows]) @ now["w0"] + now["b0"])
        h1 = torch.sigmoid(h0 @ now["w1"] + now["b1"])
        loss = F.cross_entropy(h1 @ now["w2"] + now["b2"], torch.from_numpy(targets[rows]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    write("mlp.npz", start, now, loss, x=x, targets=targets)


def train_transformer():
    rng = np.random.default_rng(15)
    start = {"embedding": rng.normal(0, 0.5, (7, 6)), "gamma": 1 + rng.uniform(-0.1, 0.1, 6),
             "beta": rng.uniform(-0.1, 0.1, 6), "w_q": rng.normal(0, 0.4, (6, 6)), "w_k": rng.normal(0, 0.4, (6, 6)),
             "w_v": rng.normal(0, 0.4, (6, 6)), "w_out": rng.normal(0, 0.4, (6, 7))}
    tokens = rng.integers(0, 7, (20, 5))
    inputs, targets = tokens[:, :4].copy(), tokens[:, 1:].copy()
    now = {name: torch.from_numpy(value.copy()).requires_grad_() for name, value in start.items()}
    optimizer = torch.optim.Adam(now.values(), lr=0.02)
    hidden_places = torch.triu(torch.ones(4, 4, dtype=torch.bool), 1)
    warmup, peak = 5, 0.02
    for step in range(STEPS):
        if step < warmup:
            rate = peak * (step + 1) / warmup
        else:
            rate = peak * 0.5 * (1 + np.cos(np.pi * (step - warmup) / (STEPS - warmup)))
        optimizer.param_groups[0]["lr"] = rate
        rows = rows_of(step, 20, 10)
        h = F.embedding(torch.from_numpy(inputs[rows]), now["embedding"])
        n = F.layer_norm(h, (6,), now["gamma"], now["beta"], 1e-5)
        scores = (n @ now["w_q"]) @ (n @ now["w_k"]).transpose(1, 2) / np.sqrt(6)
        shares = torch.softmax(scores.masked_fill(hidden_places, -1e9), -1)
        logits = (h + shares @ (n @ now["w_v"])) @ now["w_out"]
        loss = F.cross_entropy(logits.transpose(1, 2), torch.from_numpy(targets[rows]))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(now.values(), 0.3)
        optimizer.step()
    write("transformer.npz", start, now, loss, tokens=inputs, targets=targets)


def train_convnet():
    start, x, targets = make_inputs()
    now = {name: torch.from_numpy(value.copy()) for name, value in start.items()}
    params = [now[name].requires_grad_() for name in TRAINED]
    optimizer = torch.optim.SGD(params, lr=RATE, momentum=0.9, weight_decay=0.01)
    for step in range(STEPS):
        rows = rows_of(step, ROWS, BATCH)
        c = F.conv2d(torch.from_numpy(x[rows]), now["kernel"], padding=1)
        n, now["running_mean"], now["running_var"] = batch_norm(c, now["gamma"], now["beta"], now["running_mean"], now["running_var"])
        features = F.max_pool2d(torch.relu(n), 2).flatten(1)
        loss = F.cross_entropy((features * mask(step, (BATCH, 36))) @ now["weight"] + now["bias"],
                               torch.from_numpy(targets[rows]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    write("convnet.npz", start, now, loss, x=x, targets=targets)


def main():
    torch.set_num_threads(1)
    FOLDER.mkdir(exist_ok=True)
    train_convnet()
    train_mlp()
    train_groups()
    train_transformer()


if __name__ == "__main__":
    main()
