#!/usr/bin/python3
"""Writes the numbers of the models in tests/models by PyTorch, which the tests there compare with the program's.

For each model: params.npz and x.npy, float32; targets.npy; and expect.npz, float64: "loss", the results of the model
under their names, in their order, and "gradient.NAME" of the loss for every parameter that is learned and for a floating
input. Everything is computed in float64 from the float32 numbers, on one thread. The classifier of tests/models/mlp has
its inputs from mlp.py.
"""
import pathlib

import numpy as np
import torch
import torch.nn.functional as F

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "models"


class Draw:
    """Numbers of one model, float32, by the name and shape of each parameter."""

    def __init__(self, seed):
        self.rng, self.params = np.random.default_rng(seed), {}

    def weight(self, name, *shape, fan_in):
        self.params[name] = self.rng.normal(0, 1 / np.sqrt(fan_in), shape).astype(np.float32)

    def near(self, name, center, *shape, spread=0.2):
        self.params[name] = (center + self.rng.uniform(-spread, spread, shape)).astype(np.float32)

    def image(self, *shape):
        return self.rng.normal(0, 1, shape).astype(np.float32)

    def classes(self, count, *shape):
        return self.rng.integers(0, count, shape).astype(np.int64)


def mlp():
    folder = FOLDER / "mlp"
    with np.load(folder / "params.npz") as archive:
        params = {name: archive[name] for name in archive.files}

    def model(x, w0, b0, w1, b1):
        return {"logits": torch.relu(x @ w0 + b0) @ w1 + b1}

    return params, np.load(folder / "x.npy"), np.load(folder / "targets.npy"), model, F.cross_entropy


def batch_norm(x, gamma, beta, running_mean, running_var, momentum):
    """(result, new mean, new variance). The variance that joins the running one is the batch's as TVM has it, divided by
    the count; PyTorch divides by the count less one there, and only there."""
    mean, var = running_mean.clone(), running_var.clone()
    result = F.batch_norm(x, mean, var, gamma, beta, training=True, momentum=momentum, eps=1e-5)
    count = x.numel() / x.shape[1]
    batch_var = (var - (1 - momentum) * running_var) * (count - 1) / count
    return result, mean, (1 - momentum) * running_var + batch_var


def convnet():
    draw = Draw(20261201)
    draw.weight("conv0", 8, 3, 3, 3, fan_in=27)
    for i, channels in enumerate((8, 12)):
        if i == 1:
            draw.weight("conv1", 12, 8, 3, 3, fan_in=72)
        draw.near(f"gamma{i}", 1, channels)
        draw.near(f"beta{i}", 0.1, channels)
        draw.near(f"running_mean{i}", 0, channels)
        draw.near(f"running_var{i}", 1, channels)
    draw.weight("weight", 48, 5, fan_in=48)
    draw.near("bias", 0, 5)

    def model(x, conv0, gamma0, beta0, running_mean0, running_var0, conv1, gamma1, beta1, running_mean1, running_var1,
              weight, bias):
        c0 = F.conv2d(x, conv0, stride=2, padding=1)
        n0, mean0, var0 = batch_norm(c0, gamma0, beta0, running_mean0, running_var0, 0.1)
        p0 = F.max_pool2d(torch.relu(n0), 3, stride=2, padding=1)
        c1 = F.conv2d(p0, conv1, padding=1)
        n1, mean1, var1 = batch_norm(c1, gamma1, beta1, running_mean1, running_var1, 0.3)
        p1 = F.avg_pool2d(torch.relu(n1), 2, stride=2, padding=1, count_include_pad=False)
        logits = p1.flatten(1) @ weight + bias
        return {"logits": logits, "mean0": mean0, "var0": var0, "mean1": mean1, "var1": var1}

    return draw.params, draw.image(4, 3, 12, 12), draw.classes(5, 4), model, F.cross_entropy


def lstm():
    draw = Draw(20261202)
    draw.near("h", 0, 3, 6, spread=0.5)
    draw.near("c", 0, 3, 6, spread=0.5)
    draw.weight("w_input", 24, 4, fan_in=4)
    draw.weight("w_hidden", 24, 6, fan_in=6)
    draw.near("b_input", 0, 24)
    draw.near("b_hidden", 0, 24)
    draw.weight("weight", 6, 2, fan_in=6)
    draw.near("bias", 0, 2)

    def model(x, h, c, w_input, w_hidden, b_input, b_hidden, weight, bias):
        for step in range(x.shape[1]):
            h, c = torch.lstm_cell(x[:, step], (h, c), w_input, w_hidden, b_input, b_hidden)
        return {"prediction": h @ weight + bias, "last_h": h, "last_c": c}

    return draw.params, draw.image(3, 5, 4), draw.image(3, 2), model, F.mse_loss


def transformer():
    draw = Draw(20261203)
    draw.weight("embedding", 11, 16, fan_in=1)
    draw.weight("positions", 6, 16, fan_in=1)
    norm = lambda i: (draw.near(f"gamma{i}", 1, 16), draw.near(f"beta{i}", 0, 16))  # noqa: E731
    norm(0)
    draw.weight("w_qkv", 16, 48, fan_in=8)
    draw.near("b_qkv", 0, 48)
    draw.weight("w_joined", 16, 16, fan_in=16)
    draw.near("b_joined", 0, 16)
    norm(1)
    draw.weight("w_up", 16, 32, fan_in=16)
    draw.near("b_up", 0, 32)
    draw.weight("w_down", 32, 16, fan_in=32)
    draw.near("b_down", 0, 16)
    norm(2)
    draw.weight("w_vocabulary", 16, 11, fan_in=16)

    def model(tokens, embedding, positions, gamma0, beta0, w_qkv, b_qkv, w_joined, b_joined, gamma1, beta1, w_up, b_up,
              w_down, b_down, gamma2, beta2, w_vocabulary):
        x = F.embedding(tokens, embedding) + positions
        rows = F.layer_norm(x, (16,), gamma0, beta0).transpose(0, 1)  # (positions, batch, 16)
        joined, _ = F.multi_head_attention_forward(
            rows, rows, rows, 16, 4, w_qkv.T, b_qkv, None, None, False, 0.0, w_joined.T, b_joined, need_weights=False,
            attn_mask=torch.triu(torch.ones(6, 6, dtype=torch.bool), 1))
        x = x + joined.transpose(0, 1)
        wide = F.gelu(F.layer_norm(x, (16,), gamma1, beta1) @ w_up + b_up)
        x = x + wide @ w_down + b_down
        return {"logits": (F.layer_norm(x, (16,), gamma2, beta2) @ w_vocabulary).transpose(1, 2)}

    return draw.params, draw.classes(11, 2, 6), draw.classes(11, 2, 6), model, F.cross_entropy


def separable():
    draw = Draw(20261204)
    draw.weight("stem", 8, 3, 3, 3, fan_in=3)  # wide enough to reach beyond 6
    draw.weight("depthwise", 8, 1, 3, 3, fan_in=9)
    draw.weight("pointwise", 12, 8, 1, 1, fan_in=8)
    draw.near("pointwise_bias", 0, 12)
    draw.weight("multiplied", 24, 1, 3, 3, fan_in=9)
    draw.weight("grouped", 16, 6, 3, 3, fan_in=54)
    draw.weight("weight", 16, 5, fan_in=16)
    draw.near("bias", 0, 5)

    def model(x, stem, depthwise, pointwise, pointwise_bias, multiplied, grouped, weight, bias):
        a0 = F.relu6(F.conv2d(x, stem, padding=1))
        c1 = F.conv2d(F.conv2d(a0, depthwise, stride=2, padding=1, groups=8), pointwise, pointwise_bias)
        d2 = F.conv2d(F.silu(c1), multiplied, padding=2, dilation=2, groups=12)
        c2 = F.conv2d(F.pad(d2, (0, 1, 1, 0)), grouped, groups=4)  # left, right, above, below
        return {"logits": F.silu(c2).mean((2, 3)) @ weight + bias}

    loss = lambda logits, targets: F.cross_entropy(logits, targets, label_smoothing=0.1)  # noqa: E731
    return draw.params, draw.image(3, 3, 10, 10), draw.classes(5, 3), model, loss


def unet():
    draw = Draw(20261205)
    draw.weight("down0", 4, 1, 3, 3, fan_in=9)
    draw.near("down0_bias", 0, 4)
    draw.weight("down1", 8, 4, 3, 3, fan_in=36)
    draw.near("down1_bias", 0, 8)
    draw.weight("bottom", 8, 8, 3, 3, fan_in=72)
    draw.near("gamma", 1, 8)
    draw.near("beta", 0, 8)
    draw.weight("up1", 8, 6, 2, 2, fan_in=8)
    draw.near("up1_bias", 0, 6)
    draw.weight("joined1", 6, 14, 3, 3, fan_in=126)
    draw.weight("up0", 6, 4, 3, 3, fan_in=24)
    draw.near("up0_bias", 0, 4)
    draw.weight("joined0", 4, 8, 3, 3, fan_in=72)
    draw.weight("last", 1, 4, 1, 1, fan_in=4)
    draw.near("last_bias", 0, 1)

    def model(x, down0, down0_bias, down1, down1_bias, bottom, gamma, beta, up1, up1_bias, joined1, up0, up0_bias, joined0,
              last, last_bias):
        skip0 = F.leaky_relu(F.conv2d(x, down0, down0_bias, padding=1), 0.1)
        skip1 = F.leaky_relu(F.conv2d(F.max_pool2d(skip0, 2), down1, down1_bias, padding=1), 0.1)
        deep = torch.relu(F.group_norm(F.conv2d(F.max_pool2d(skip1, 2), bottom, padding=1), 2, gamma, beta))
        u1 = F.conv_transpose2d(deep, up1, up1_bias, stride=2)
        m1 = torch.relu(F.conv2d(torch.cat((skip1, u1), 1), joined1, padding=1))
        u0 = F.conv_transpose2d(m1, up0, up0_bias, stride=2, padding=1, output_padding=1)
        m0 = torch.relu(F.conv2d(torch.cat((skip0, u0), 1), joined0, padding=1))
        return {"logits": F.conv2d(m0, last, last_bias)}

    targets = draw.rng.integers(0, 2, (2, 1, 16, 16)).astype(np.float32)
    return draw.params, draw.image(2, 1, 16, 16), targets, model, F.binary_cross_entropy_with_logits


def wide(array):
    tensor = torch.from_numpy(array)
    return tensor.double() if tensor.is_floating_point() else tensor


def write(name, params, x, targets, model, loss):
    folder = FOLDER / name
    inputs = {"x": wide(x), **{key: wide(value) for key, value in params.items()}}
    learned = [key for key, value in inputs.items() if value.is_floating_point() and not key.startswith("running_")]
    for key in learned:
        inputs[key].requires_grad_(True)
    results = model(*inputs.values())
    total = loss(next(iter(results.values())), wide(targets))
    gradients = torch.autograd.grad(total, [inputs[key] for key in learned])
    expect = {"loss": total, **results, **{f"gradient.{key}": value for key, value in zip(learned, gradients)}}
    expect = {key: np.array(value.detach().numpy(), order="C") for key, value in expect.items()}
    for key, value in expect.items():
        assert np.isfinite(value).all() and value.any(), f"{name}: {key}"
    np.savez(folder / "params.npz", **params)
    np.save(folder / "x.npy", x)
    np.save(folder / "targets.npy", targets)
    np.savez(folder / "expect.npz", **expect)
    print(f"{name}: loss {expect['loss']:.6f}, {len(learned)} gradients")


if __name__ == "__main__":
    torch.set_num_threads(1)
    for make in (mlp, convnet, lstm, transformer, separable, unet):
        write(make.__name__, *make())
