#!/usr/bin/python3
"""Writes models/starts/start_values.json: mean and deviation of start values by PyTorch's layers and initialisers.

A weight is given by the layer of PyTorch that connects the same values; its deviation is measured over many draws.
"default" is what a job starts from that says nothing of its start values: xavier_uniform_ for weights, normal_ for the
rows of an embedding, and what PyTorch's norms and activations have themselves.
"""
import json
import os

import torch
from torch import nn

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "models", "starts", "start_values.json")
RULES = {
    "default": nn.init.xavier_uniform_,
    "xavier_normal(gain=2)": lambda w: nn.init.xavier_normal_(w, gain=2),
    "he_normal": lambda w: nn.init.kaiming_normal_(w, nonlinearity="relu"),
    "he_uniform(mode=fan_out)": lambda w: nn.init.kaiming_uniform_(w, mode="fan_out", nonlinearity="relu"),
}
DRAWN = 2_000_000


def measured(rule, weight):
    draws = []
    for _ in range(-(-DRAWN // weight.numel())):
        draws.append(rule(weight).detach().double().flatten().clone())
    values = torch.cat(draws)
    return {"mean": 0.0, "deviation": float(f"{values.std().item():.5g}")}


def weight(layer):
    return {name: measured(rule, layer.weight) for name, rule in RULES.items()}


def table(layer):
    found = weight(layer)
    found["default"] = measured(nn.init.normal_, layer.weight)
    return found


def same(tensor):
    """What does not depend on the rule for weights."""
    values = tensor.detach().double()
    assert values.min() == values.max()
    return {name: {"mean": values.flatten()[0].item(), "deviation": 0.0} for name in RULES}


def zeros(*shape):
    return same(nn.init.zeros_(torch.empty(*shape)))


def main():
    torch.manual_seed(0)
    batch, layer, group = nn.BatchNorm2d(32), nn.LayerNorm(160), nn.GroupNorm(4, 96)
    numbers = {
        "convolution": {
            "conv0": weight(nn.Conv2d(3, 20, 3)),
            "gamma0": same(batch.weight),
            "beta0": same(batch.bias),
            "mean0": same(batch.running_mean),
            "var0": same(batch.running_var),
            "conv1": weight(nn.Conv2d(20, 24, 3)),
            "bias1": zeros(24),
            "depthwise": weight(nn.Conv2d(24, 24, 3, groups=24)),
            "gamma1": same(batch.weight),
            "beta1": same(batch.bias),
            "mean1": same(batch.running_mean),
            "var1": same(batch.running_var),
            "slope": same(nn.PReLU(24).weight),
            "weight": weight(nn.Linear(24, 2)),
            "bias": zeros(2),
        },
        "perceptron": {
            "w0": weight(nn.Linear(40, 160)),
            "b0": zeros(160),
            "gamma0": same(layer.weight),
            "beta0": same(layer.bias),
            "w1": weight(nn.Linear(160, 96)),
            "gamma1": same(group.weight),
            "beta1": same(group.bias),
            "w2": weight(nn.Linear(96, 24)),
            "gamma2": same(layer.weight),  # of nn.RMSNorm, which came later, likewise
            "w3": weight(nn.Linear(24, 64)),
            "b3": zeros(64),
            "w4": weight(nn.Linear(64, 1)),
        },
        "recurrent": {
            "table": table(nn.Embedding(50, 32)),
            "w_input": weight(nn.Linear(32, 144)),
            "w_hidden": weight(nn.Linear(48, 144)),
            "b": zeros(144),
            "factor": zeros(48),  # beside 1
            "center": same(batch.running_mean),
            "spread": same(batch.running_var),
            "weight": weight(nn.Linear(48, 50)),
        },
    }
    with open(PATH, "w", encoding="utf-8") as file:
        json.dump(numbers, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
