#!/usr/bin/python3
"""Writes optimizers/*.json: 100 steps of each optimizer by PyTorch (lion and the variants of TVM by NumPy).

training.json holds 100 whole steps of a network of two layers: data, start values, and per case the specs of loss and
optimizer, the losses of all steps and the last parameters.

inputs.json holds the start values of two parameters, and gradients and learning rates of all steps. The file of an
optimizer is {"optimizer", "cases": [...]}; a case has "spec", "dtype" and "steps": [{"step", "params"}], the values of
the parameters after some of the steps.
"""
import json
import os
import sys

import numpy as np
import torch

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from oracle.cases import tensor  # noqa: E402

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "optimizers")
STEPS = 100
KEPT = (1, 2, 3, 10, 50, 100)
RNG = np.random.default_rng(20)
START = [RNG.uniform(-1, 1, (3, 2)), RNG.uniform(-1, 1, (4,))]
# A slope that turns slowly, and noise.
GRADIENTS = [
    [np.cos(0.05 * step + 0.5 * i + np.arange(p.size).reshape(p.shape)) + RNG.uniform(-0.75, 0.75, p.shape) for i, p in enumerate(START)]
    for step in range(STEPS)
]
RATES = [0.05 * (1 + 0.5 * np.sin(0.3 * step)) for step in range(STEPS)]


def transcript(step_of, dtype):
    """step_of(params) -> function(gradients, lr) -> params after the step."""
    step = step_of([p.astype(dtype) for p in START])
    kept = []
    for index in range(STEPS):
        params = step([g.astype(dtype) for g in GRADIENTS[index]], RATES[index])
        if index + 1 in KEPT:
            kept.append({"step": index + 1, "params": [tensor(np.array(p)) for p in params]})
    return kept


def of_torch(make, clip_value=None, clip_norm=None):
    def start(values):
        params = [torch.nn.Parameter(torch.from_numpy(v.copy())) for v in values]
        optimizer = make(params)

        def step(gradients, lr):
            for p, g in zip(params, gradients):
                p.grad = torch.from_numpy(g)
            if clip_value is not None:
                torch.nn.utils.clip_grad_value_(params, clip_value)
            if clip_norm is not None:
                torch.nn.utils.clip_grad_norm_(params, clip_norm)
            optimizer.param_groups[0]["lr"] = lr
            optimizer.step()
            return [p.detach().numpy() for p in params]

        return step

    return start


def lion(beta1=0.9, beta2=0.99, weight_decay=0.0):
    def start(values):
        params = [v.copy() for v in values]
        means = [np.zeros_like(v) for v in values]

        def step(gradients, lr):
            for i, g in enumerate(gradients):
                dtype = g.dtype.type
                direction = np.sign(dtype(beta1) * means[i] + dtype(1 - beta1) * g)
                params[i] = params[i] * dtype(1 - lr * weight_decay) - dtype(lr) * direction
                means[i] = dtype(beta2) * means[i] + dtype(1 - beta2) * g
            return params

        return step

    return start


def momentum_of_tvm(momentum, dampening, nesterov=False, weight_decay=0.0):
    def start(values):
        params = [v.copy() for v in values]
        velocities = [np.zeros_like(v) for v in values]

        def step(gradients, lr):
            for i, g in enumerate(gradients):
                dtype = g.dtype.type
                g = g + dtype(weight_decay) * params[i]
                velocities[i] = dtype(momentum) * velocities[i] + dtype(1 - dampening) * g
                ahead = g + dtype(momentum) * velocities[i] if nesterov else velocities[i]
                params[i] = params[i] - dtype(lr) * ahead
            return params

        return step

    return start


def spec(name, options):
    return f"{name}({', '.join(f'{k}={v!r}' for k, v in options.items())})"


def write(name, cases):
    """`cases`: (options of ours, maker)."""
    lines = []
    for options, start in cases:
        for dtype in (np.float64, np.float32):
            case = {"spec": spec(name, {"lr": 0.05, **options}), "dtype": np.dtype(dtype).name, "steps": transcript(start, dtype)}
            lines.append(json.dumps(case))
    with open(os.path.join(FOLDER, name + ".json"), "w", encoding="utf-8") as out:
        out.write('{"optimizer": %s, "cases": [\n%s\n]}\n' % (json.dumps(name), ",\n".join(lines)))


def same(kind, options, torch_options=None, **clip):
    """A case whose options are PyTorch's."""
    used = options if torch_options is None else torch_options
    return {**options, **clip}, of_torch(lambda params: kind(params, lr=0.05, **used), **clip)


def training():
    """Steps in float64 with the gradients of autograd."""
    rng = np.random.default_rng(21)
    x, targets = rng.uniform(-1, 1, (12, 4)), rng.integers(0, 3, 12)
    start = [rng.uniform(-1, 1, shape) for shape in [(4, 5), (5,), (5, 3), (3,)]]
    f, o = torch.nn.functional, torch.optim
    smoothed = ("cross_entropy(label_smoothing=0.1)", lambda z, t: f.cross_entropy(z, t, label_smoothing=0.1))
    plain = ("cross_entropy", f.cross_entropy)
    cases = []
    for (loss_spec, loss), optimizer_spec, make in [
        (plain, "sgd(lr=0.1)", lambda p: o.SGD(p, lr=0.1)),
        (plain, "momentum(lr=0.05, momentum=0.9, nesterov=True)", lambda p: o.SGD(p, lr=0.05, momentum=0.9, nesterov=True)),
        (smoothed, "adam(lr=0.01)", lambda p: o.Adam(p, lr=0.01)),
        (smoothed, "adamw(lr=0.02, weight_decay=0.1)", lambda p: o.AdamW(p, lr=0.02, weight_decay=0.1)),
        (plain, "rmsprop(lr=0.002)", lambda p: o.RMSprop(p, lr=0.002)),
        (smoothed, "adagrad(lr=0.05)", lambda p: o.Adagrad(p, lr=0.05)),
    ]:
        params = [torch.nn.Parameter(torch.from_numpy(p.copy())) for p in start]
        optimizer, losses = make(params), []
        for _ in range(STEPS):
            optimizer.zero_grad()
            hidden = torch.sigmoid(torch.from_numpy(x) @ params[0] + params[1])
            value = loss(hidden @ params[2] + params[3], torch.from_numpy(targets))
            value.backward()
            losses.append(float(value))
            optimizer.step()
        cases.append({
            "loss": loss_spec, "optimizer": optimizer_spec, "losses": losses,
            "params": [tensor(p.detach().numpy()) for p in params],
        })
    document = {"x": tensor(x), "targets": tensor(targets), "start": [tensor(p) for p in start], "cases": cases}
    with open(os.path.join(FOLDER, "training.json"), "w", encoding="utf-8") as out:
        out.write(json.dumps(document) + "\n")


def main():
    os.makedirs(FOLDER, exist_ok=True)
    inputs = {
        "params": [tensor(p) for p in START],
        "gradients": [[tensor(g) for g in step] for step in GRADIENTS],
        "rates": RATES,
    }
    with open(os.path.join(FOLDER, "inputs.json"), "w", encoding="utf-8") as out:
        out.write(json.dumps(inputs) + "\n")
    training()
    o = torch.optim
    write("sgd", [
        same(o.SGD, {}),
        same(o.SGD, {"weight_decay": 0.1}),
        same(o.SGD, {}, clip_value=0.5),
        same(o.SGD, {}, clip_norm=1.0),
        same(o.SGD, {"weight_decay": 0.1}, clip_value=0.9, clip_norm=1.5),
    ])
    write("momentum", [
        same(o.SGD, {"momentum": 0.9}),
        same(o.SGD, {"momentum": 0.5, "dampening": 0.25}),
        same(o.SGD, {"momentum": 0.9, "nesterov": True}),
        same(o.SGD, {"momentum": 0.9, "nesterov": True, "weight_decay": 0.01}),
        same(o.SGD, {"momentum": 0.9, "dampening": 0.5, "weight_decay": 0.05}, clip_norm=2.0),
        ({"momentum": 0.9, "dampening": 0.5, "compat": "tvm"}, momentum_of_tvm(0.9, 0.5)),
        ({"momentum": 0.9, "compat": "tvm", "weight_decay": 0.1}, momentum_of_tvm(0.9, 0.0, weight_decay=0.1)),
        ({"momentum": 0.9, "dampening": 0.5, "nesterov": True, "compat": "tvm"}, momentum_of_tvm(0.9, 0.5, True)),
    ])
    write("adam", [
        same(o.Adam, {}),
        same(o.Adam, {"betas": (0.8, 0.95)}),
        same(o.Adam, {"eps": 0.001}),
        same(o.Adam, {"weight_decay": 0.1}),
        same(o.Adam, {"weight_decay": 0.01, "betas": (0.0, 0.9)}, clip_norm=1.0),
    ])
    write("adamw", [
        same(o.AdamW, {}),
        same(o.AdamW, {"betas": (0.8, 0.95), "weight_decay": 0.2}),
        same(o.AdamW, {"eps": 0.001, "weight_decay": 0}),
        same(o.AdamW, {}, clip_value=0.5),
    ])
    write("rmsprop", [
        same(o.RMSprop, {}),
        same(o.RMSprop, {"alpha": 0.9}),
        same(o.RMSprop, {"eps": 0.01}),
        same(o.RMSprop, {"momentum": 0.9}),
        same(o.RMSprop, {"centered": True, "eps": 0.001}),
        same(o.RMSprop, {"centered": True, "momentum": 0.5, "weight_decay": 0.1, "eps": 0.001}),
        same(o.RMSprop, {"weight_decay": 0.1}, clip_norm=1.0),
    ])
    write("adagrad", [
        same(o.Adagrad, {}),
        same(o.Adagrad, {"lr_decay": 0.05}),
        same(o.Adagrad, {"initial_accumulator_value": 0.5}),
        same(o.Adagrad, {"weight_decay": 0.1, "eps": 0.001}),
        same(o.Adagrad, {"lr_decay": 0.01, "initial_accumulator_value": 1}, clip_value=0.5),
    ])
    write("lion", [
        ({}, lion()),
        ({"betas": (0.95, 0.98)}, lion(0.95, 0.98)),
        ({"weight_decay": 0.1}, lion(weight_decay=0.1)),
    ])


if __name__ == "__main__":
    main()
