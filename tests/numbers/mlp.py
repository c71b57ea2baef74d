"""Numbers for the two-layer classifier of tests/models/mlp, from NumPy alone.

    mlp.py            compares the committed numbers with NumPy, and the program's (RELISH) with them
    mlp.py --write    writes them anew before

The model is relu(x @ w0 + b0) @ w1 + b1 under the mean cross entropy of class indices. Everything is computed in
float64 from float32 inputs and rounded once.
"""

import os
import pathlib
import subprocess
import sys

import numpy as np

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "models" / "mlp"
ROWS, INPUTS, HIDDEN, CLASSES = 8, 16, 12, 4
STEPS, RATE = 20, 0.5


def make_inputs():
    rng = np.random.default_rng(20261121)
    params = {
        "w0": rng.normal(0, 0.4, (INPUTS, HIDDEN)),
        "b0": rng.normal(0, 0.1, (HIDDEN,)),
        "w1": rng.normal(0, 0.4, (HIDDEN, CLASSES)),
        "b1": rng.normal(0, 0.1, (CLASSES,)),
    }
    params = {name: value.astype(np.float32) for name, value in params.items()}
    x = rng.normal(0, 1, (ROWS, INPUTS)).astype(np.float32)
    targets = rng.integers(0, CLASSES, (ROWS,)).astype(np.int64)
    return params, x, targets


def forward(params, x):
    hidden = x @ params["w0"] + params["b0"]
    active = np.maximum(hidden, 0)
    return hidden, active, active @ params["w1"] + params["b1"]


def loss_and_gradients(params, x, targets):
    hidden, active, logits = forward(params, x)
    shifted = logits - logits.max(axis=-1, keepdims=True)
    log_probabilities = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    rows = np.arange(len(targets))
    loss = -log_probabilities[rows, targets].mean()
    ct = np.exp(log_probabilities)
    ct[rows, targets] -= 1
    ct /= len(targets)
    ct_hidden = (ct @ params["w1"].T) * (hidden > 0)
    gradients = {
        "w0": x.T @ ct_hidden,
        "b0": ct_hidden.sum(axis=0),
        "w1": active.T @ ct,
        "b1": ct.sum(axis=0),
    }
    return loss, gradients


def wide(params):
    return {name: value.astype(np.float64) for name, value in params.items()}


def expected(params, x, targets):
    params, x = wide(params), x.astype(np.float64)
    loss, gradients = loss_and_gradients(params, x, targets)
    curve = []
    trained = dict(params)
    for _ in range(STEPS):  # plain gradient descent on the whole batch
        step_loss, step_gradients = loss_and_gradients(trained, x, targets)
        curve.append(step_loss)
        trained = {name: trained[name] - RATE * step_gradients[name] for name in trained}
    single = lambda value: np.asarray(value, dtype=np.float32)
    return {
        "logits.npz": {"out": single(forward(params, x)[2])},
        "loss.npz": {"out": single(loss)},
        "adjoint.npz": {"out.0": single(loss), **{f"out.1.{i}": single(gradients[n]) for i, n in enumerate(params)}},
        "curve.npz": {"losses": single(curve), **{name: single(value) for name, value in trained.items()}},
    }


def load(name):
    with np.load(FOLDER / name) as archive:
        return {key: archive[key] for key in archive.files}


def write():
    FOLDER.mkdir(parents=True, exist_ok=True)
    params, x, targets = make_inputs()
    np.savez(FOLDER / "params.npz", **params)
    np.save(FOLDER / "x.npy", x)
    np.save(FOLDER / "targets.npy", targets)
    for name, values in expected(params, x, targets).items():
        np.savez(FOLDER / name, **values)


def compare():
    params, x, targets = load("params.npz"), np.load(FOLDER / "x.npy"), np.load(FOLDER / "targets.npy")
    for name, values in expected(params, x, targets).items():
        committed = load(name)
        assert committed.keys() == values.keys(), name
        for key, value in values.items():
            np.testing.assert_allclose(committed[key], value, rtol=1e-6, atol=1e-7, err_msg=f"{name}:{key}")
    print("mlp: the committed numbers are NumPy's")

    program = os.environ.get("RELISH")
    if not program:
        return
    call = [program, "call", str(FOLDER / "mlp.relish"), "main", "--params", str(FOLDER / "params.npz"), "--arg",
            f"x=@{FOLDER / 'x.npy'}", "--expect", str(FOLDER / "logits.npz"), "--rtol", "1e-5", "--atol", "1e-6"]
    for tier in ("interp", "jit"):
        subprocess.run(call + ["--tier", tier], check=True, stdout=subprocess.DEVNULL)
        print(f"mlp: {tier} agrees")


if __name__ == "__main__":
    if "--write" in sys.argv[1:]:
        write()
    compare()
