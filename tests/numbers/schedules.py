#!/usr/bin/python3
"""Writes schedules.json: learning rates of 40 steps by PyTorch's schedulers, compared by the tests of ops/."""
import json
import os
import warnings

import torch
from torch.optim import lr_scheduler as s

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "schedules.json")
STEPS = 40
BASE = 0.3


def rates(make, skipped=0):
    """The rate of each step; the scheduler begins after `skipped` steps, in which the rate is its first one."""
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=BASE)
    scheduler = make(optimizer)
    found = []
    for step in range(STEPS):
        found.append(optimizer.param_groups[0]["lr"])
        if step >= skipped:
            scheduler.step()
    return found


def warmed(values, warmup):
    return [value * min(1.0, (step + 1) / warmup) for step, value in enumerate(values)]


def main():
    warnings.simplefilter("ignore")  # no optimizer step is taken
    cosine = lambda length, least=0.0: lambda o: s.CosineAnnealingLR(o, length, least)  # noqa: E731
    cases = {
        "constant": rates(lambda o: s.LambdaLR(o, lambda step: 1.0)),
        "constant(warmup=8)": warmed([BASE] * STEPS, 8),
        "step(step_size=7)": rates(lambda o: s.StepLR(o, 7)),
        "step(step_size=10, gamma=0.5)": rates(lambda o: s.StepLR(o, 10, 0.5)),
        "exponential(gamma=0.9)": rates(lambda o: s.ExponentialLR(o, 0.9)),
        "linear": rates(lambda o: s.LinearLR(o, 1.0, 0.0, STEPS)),
        "linear(start_factor=0.25, end_factor=1, total_iters=10)": rates(lambda o: s.LinearLR(o, 0.25, 1.0, 10)),
        "polynomial": rates(lambda o: s.PolynomialLR(o, STEPS)),
        "polynomial(power=2, total_iters=25)": rates(lambda o: s.PolynomialLR(o, 25, 2.0)),
        "cosine": rates(cosine(STEPS)),
        "cosine(T_max=15, eta_min=0.01)": rates(cosine(15, 0.01)),
        "cosine(warmup=10)": warmed(rates(cosine(STEPS - 10), 10), 10),
        "exponential(gamma=0.8, warmup=5)": warmed(rates(lambda o: s.ExponentialLR(o, 0.8), 5), 5),
    }
    with open(PATH, "w", encoding="utf-8") as out:
        lines = ",\n".join(f'{json.dumps(spec)}: {json.dumps(found)}' for spec, found in cases.items())
        out.write('{"lr": %r, "steps": %d, "cases": {\n%s\n}}\n' % (BASE, STEPS, lines))


if __name__ == "__main__":
    main()
