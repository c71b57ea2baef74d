#!/usr/bin/python3
"""Writes losses/*.json: values and gradients of the losses by PyTorch, compared with the library's by the tests of ops/.

A file is {"loss", "cases": [...]}; a case has "spec" (name and options), "predictions", "targets", perhaps "weights",
"expect", and for float64 "gradient" of sum(expect * cotangent) for the predictions ("cotangent" is absent for numbers).
float32 cases are computed in float64 and rounded once.
"""
import json
import os
import sys

import numpy as np
import torch
import torch.nn.functional as F

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from oracle.cases import tensor  # noqa: E402

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "losses")
SHAPES = [(4,), (5, 3), (2, 4, 3), (), (2, 3, 2, 2), (1, 1)]
CLASS_SHAPES = [(4,), (5, 3), (2, 4, 3), (2, 3, 2, 2), (2, 3, 2, 1, 2), (1, 1), (3, 2, 0)]
REDUCTIONS = ("mean", "sum", "none")


def drawn(shape, seed, low=-2.0, high=2.0):
    return np.random.default_rng([seed, *shape]).uniform(low, high, shape)


class File:
    def __init__(self, loss):
        self.loss, self.cases = loss, []

    def add(self, function, options, predictions, targets, weights=None, gradient=True):
        """`function(predictions, targets, weights, reduction)` in PyTorch; each reduction and both widths."""
        for reduction in REDUCTIONS:
            for dtype in (np.float64, np.float32):
                narrow = lambda a: a.astype(dtype) if a.dtype == np.float64 else a  # noqa: E731
                p, t = narrow(np.asarray(predictions)), narrow(np.asarray(targets))
                w = None if weights is None else narrow(np.asarray(weights))
                wide = [None if a is None else torch.from_numpy(a.astype(np.float64) if a.dtype == dtype else a) for a in (p, t, w)]
                wide[0].requires_grad_(True)
                answer = function(*wide, reduction)
                text = ", ".join([f"reduction='{reduction}'"] + [f"{k}={v!r}" for k, v in options.items()])
                case = {"spec": f"{self.loss}({text})", "predictions": tensor(p), "targets": tensor(t)}
                if w is not None:
                    case["weights"] = tensor(w)
                case["expect"] = tensor(answer.detach().numpy().astype(dtype))
                if dtype == np.float64 and gradient:
                    cotangent = torch.ones_like(answer)
                    if reduction == "none":
                        cotangent = torch.from_numpy(drawn(tuple(answer.shape), 9))
                        case["cotangent"] = tensor(cotangent.numpy())
                    (partial,) = torch.autograd.grad(answer, wide[0], cotangent)
                    case["gradient"] = tensor(partial.numpy())
                self.cases.append(case)

    def write(self):
        with open(os.path.join(FOLDER, self.loss + ".json"), "w", encoding="utf-8") as out:
            cases = ",\n".join(json.dumps(case) for case in self.cases)
            out.write('{"loss": %s, "cases": [\n%s\n]}\n' % (json.dumps(self.loss), cases))


def joined(losses, reduction):
    return losses if reduction == "none" else getattr(losses, reduction)()


def element_losses():
    l1, mse, huber, hinge = File("l1"), File("mse"), File("huber"), File("hinge")
    for shape in SHAPES:
        p, t = drawn(shape, 1), drawn(shape, 2)
        l1.add(lambda p, t, w, r: F.l1_loss(p, t, reduction=r), {}, p, t)
        mse.add(lambda p, t, w, r: F.mse_loss(p, t, reduction=r), {}, p, t)
        for delta in (1, 0.25, 10):
            huber.add(lambda p, t, w, r: F.huber_loss(p, t, reduction=r, delta=delta), {} if delta == 1 else {"delta": delta}, p, t)
        sign = np.where(t < 0, -1.0, 1.0)
        hinge.add(lambda p, t, w, r: joined(torch.clamp(1 - t * p, min=0), r), {}, p, sign)
    same = np.array([1.0, -2.0, 3.0])
    l1.add(lambda p, t, w, r: F.l1_loss(p, t, reduction=r), {}, same, np.array([1.0, -1.0, 3.0]))
    l1.add(lambda p, t, w, r: F.l1_loss(p, t, reduction=r), {"compat": "tvm"}, same, np.array([2.0, -1.0, 3.5]))
    mse.add(lambda p, t, w, r: F.mse_loss(p, t, reduction=r), {"compat": "tvm"}, same, np.array([2.0, -1.0, 3.5]))
    # At the kink, and at an infinite error.
    huber.add(lambda p, t, w, r: F.huber_loss(p, t, reduction=r), {}, same, np.array([2.0, -3.0, 3.0]))
    huber.add(lambda p, t, w, r: F.huber_loss(p, t, reduction=r), {}, np.array([np.inf, 1.0]), np.array([0.0, 1.0]), gradient=False)
    for file in (l1, mse, huber, hinge):
        file.write()


def binary_losses():
    probabilities, logits = File("binary_cross_entropy"), File("binary_cross_entropy_with_logits")
    of_probabilities = lambda p, t, w, r: F.binary_cross_entropy(p, t, reduction=r)  # noqa: E731
    of_logits = lambda p, t, w, r: F.binary_cross_entropy_with_logits(p, t, reduction=r)  # noqa: E731
    for shape in SHAPES:
        t = drawn(shape, 4, 0.0, 1.0)
        probabilities.add(of_probabilities, {}, drawn(shape, 3, 0.02, 0.98), t)
        logits.add(of_logits, {}, drawn(shape, 3, -6, 6), t)
    probabilities.add(of_probabilities, {}, np.array([0.25, 0.5, 0.75]), np.array([0.0, 1.0, 1.0]))
    # The bounded logarithms; the slope there is another, so it is not compared.
    probabilities.add(of_probabilities, {}, np.array([0.0, 1.0, 0.0, 1.0, 1e-30]), np.array([0.0, 1.0, 1.0, 0.0, 0.5]), gradient=False)
    # log1p in float64: PyTorch's own formula loses the small terms.
    exact = lambda p, t, w, r: joined((1 - t) * p + torch.clamp(-p, min=0) + torch.log1p(torch.exp(-p.abs())), r)  # noqa: E731
    wide = np.array([-800.0, -30.0, 0.0, 30.0, 800.0, 700.0])
    logits.add(exact, {}, wide, np.array([0.0, 0.0, 0.5, 1.0, 1.0, 0.0]), gradient=False)
    logits.add(of_logits, {}, wide, np.array([1.0, 1.0, 0.5, 0.0, 0.0, 0.25]))
    probabilities.write()
    logits.write()


def class_losses():
    cross, nll = File("cross_entropy"), File("nll")
    for shape in CLASS_SHAPES:
        classes = shape[0] if len(shape) == 1 else shape[1]
        rest = () if len(shape) == 1 else (shape[0], *shape[2:])
        if 0 in shape and classes == 0:
            continue
        p = drawn(shape, 5)
        targets = np.random.default_rng([6, *shape]).integers(0, classes, rest)
        weights = drawn((classes,), 7, 0.25, 2.0)
        logp = torch.log_softmax(torch.from_numpy(p), 0 if len(shape) == 1 else 1).numpy()
        cross.add(lambda p, t, w, r: F.cross_entropy(p, t, reduction=r), {}, p, targets)
        cross.add(lambda p, t, w, r: F.cross_entropy(p, t, w, reduction=r), {"weights": True}, p, targets, weights)
        smooth = {"label_smoothing": 0.1}
        cross.add(lambda p, t, w, r: F.cross_entropy(p, t, reduction=r, label_smoothing=0.1), smooth, p, targets)
        cross.add(
            lambda p, t, w, r: F.cross_entropy(p, t, w, reduction=r, label_smoothing=0.3),
            {"label_smoothing": 0.3, "weights": True}, p, targets, weights,
        )
        nll.add(lambda p, t, w, r: F.nll_loss(p, t, reduction=r), {}, logp, targets)
        nll.add(lambda p, t, w, r: F.nll_loss(p, t, w, reduction=r), {"weights": True}, logp, targets, weights)
        if not targets.size or not rest:
            continue
        # One ignored position by the default number, and all of class 0 by its index.
        ignored = targets.copy()
        ignored.reshape(-1)[0] = -100
        for smoothing in (0.0, 0.2):
            options = {"label_smoothing": smoothing} if smoothing else {}
            cross.add(lambda p, t, w, r: F.cross_entropy(p, t, reduction=r, label_smoothing=smoothing), options, p, ignored)
            cross.add(
                lambda p, t, w, r: F.cross_entropy(p, t, w, reduction=r, label_smoothing=smoothing, ignore_index=0),
                {**options, "weights": True, "ignore_index": 0}, p, targets, weights,
            )
        nll.add(lambda p, t, w, r: F.nll_loss(p, t, w, reduction=r, ignore_index=0), {"ignore_index": 0, "weights": True}, logp, targets, weights)
    p = drawn((3, 4), 8)
    # The classes are the last dimension, and nll_loss takes them from dimension 1: the same up to rank 2.
    cross.add(lambda p, t, w, r: F.cross_entropy(p, t, reduction=r), {"compat": "tvm"}, p, np.array([0, 3, 2]))
    square = drawn((2, 3, 3), 8)
    cross.add(
        lambda p, t, w, r: F.nll_loss(torch.log_softmax(p, -1), t, reduction=r),
        {"compat": "tvm"}, square, np.array([[0, 1, 2], [2, 2, 0]]),
    )
    cross.write()
    nll.write()


def distribution_losses():
    categorical, divergence = File("categorical_cross_entropy"), File("kl_div")
    for shape in CLASS_SHAPES:
        axis = 0 if len(shape) == 1 else 1
        classes = shape[axis]
        p = drawn(shape, 5)
        t = torch.softmax(torch.from_numpy(drawn(shape, 6)), axis).numpy()
        weights = drawn((classes,), 7, 0.25, 2.0)
        for smoothing in (0.0, 0.1):
            options = {"label_smoothing": smoothing} if smoothing else {}
            if 0 in shape:
                continue
            categorical.add(
                lambda p, t, w, r: F.cross_entropy(p, t, reduction=r, label_smoothing=smoothing), options, p, t
            )
            categorical.add(
                lambda p, t, w, r: F.cross_entropy(p, t, w, reduction=r, label_smoothing=smoothing),
                {**options, "weights": True}, p, t, weights,
            )
        logp = torch.log_softmax(torch.from_numpy(p), axis).numpy()
        kl = lambda p, t, w, r: F.kl_div(p, t, reduction="batchmean" if r == "mean" else r)  # noqa: E731
        log_kl = lambda p, t, w, r: F.kl_div(p, t, reduction="batchmean" if r == "mean" else r, log_target=True)  # noqa: E731
        divergence.add(kl, {}, logp, t)
        divergence.add(log_kl, {"log_target": True}, logp, np.log(t))
    divergence.add(kl, {}, np.array([[-1.0, -0.5], [-2.0, -0.125]]), np.array([[0.0, 1.0], [0.5, 0.5]]))
    one_hot = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    p = drawn((2, 3), 8)
    categorical.add(lambda p, t, w, r: F.cross_entropy(p, t, reduction=r), {}, p, one_hot)
    all_elements = lambda p, t, w, r: joined(-torch.log_softmax(p, -1) * t * (1 if w is None else w), r)  # noqa: E731
    categorical.add(all_elements, {"compat": "tvm"}, p, one_hot)
    categorical.add(all_elements, {"compat": "tvm", "weights": True}, p, one_hot, np.array([0.5, 1.0, 2.0]))
    categorical.write()
    divergence.write()


if __name__ == "__main__":
    os.makedirs(FOLDER, exist_ok=True)
    element_losses()
    binary_losses()
    class_losses()
    distribution_losses()
