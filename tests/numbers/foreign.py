#!/usr/bin/env python3
"""Names and calls of PyTorch and NumPy, with their own answers.

Writes tests/numbers/foreign/names.json: all names of torch.nn.functional and of NumPy's main namespace; and
tests/numbers/foreign/calls.json: calls of them and of methods, with what PyTorch and NumPy give. The test
tests/unit/shell/foreign_calls_test.cpp makes each call here, takes what the message writes instead, runs that, and
compares.

    python3 tests/numbers/foreign.py
"""
import json
import math
import os

import numpy as np
import torch
import torch.nn.functional as F

FOLDER = os.path.join(os.path.dirname(__file__), "foreign")
rng = np.random.default_rng(20)


def real(*shape, low=-2.0, high=2.0):
    return np.round(rng.uniform(low, high, shape), 3).astype("float32")


VALUES = {
    "x": real(4, 4), "y": real(4, 4), "a": real(4, 4), "b": real(4, 4), "s": real(3, 4), "r": real(4, 3),
    "v": real(4), "w": real(4), "u": real(2, 3, 4), "p": real(4, 4, low=0.1, high=0.9), "q": real(4, 4, low=0.1, high=0.9),
    "images": real(1, 2, 4, 4), "kernels": real(3, 2, 2, 2), "up": real(2, 3, 2, 2), "lines": real(1, 2, 6),
    "lowered": real(3, 2, 3), "cubes": real(1, 2, 4, 4, 4), "blocks": real(3, 2, 2, 2, 2), "bias": real(3),
    "columns": real(1, 8, 9), "grid": real(1, 3, 3, 2, low=-0.9, high=0.9), "forms": real(3, 4, 4),
    "four": real(1, 4, 2, 2), "big": real(4, 4, low=2.0, high=4.0), "odd": real(5), "two": real(2),
    "rows": np.array([2, 0, 3, 1]), "i": np.array([1, 0, 2, 1]), "indices": np.array([[0, 1, 2, 3], [3, 2, 1, 0]]),
    "mask": np.array([[True, False, True, False]] * 4), "sorted": np.array([-1.0, 0.0, 0.5, 1.5], "float32"),
    "signs": np.array([[1.0, -1.0, 1.0, -1.0]] * 4, "float32"), "holes": np.array([1.0, np.nan, 3.0], "float32"),
    "ends": np.array([1.0, np.inf, -np.inf], "float32"), "positive": real(4, low=0.1, high=0.9),
    "n": np.array([[7, -7, 5], [3, -2, 9]]), "d": np.array([[3, 3, -2], [2, 2, 4]]),
}

# PyTorch's calls: those of F, of torch and methods.
TORCH = """
F.relu(x) | F.relu6(big) | F.elu(x) | F.elu(x, 0.5) | F.celu(x, alpha=0.5) | F.selu(x) | F.silu(x) | F.mish(x) | F.gelu(x)
F.gelu(x, approximate="tanh") | F.leaky_relu(x) | F.leaky_relu(x, 0.2) | F.hardtanh(x) | F.hardtanh(x, -0.5, 0.5)
F.hardswish(x) | F.hardsigmoid(x) | F.softplus(x) | F.softplus(x, beta=2) | F.softsign(x) | F.logsigmoid(x) | F.tanh(x)
F.sigmoid(x) | F.tanhshrink(x) | F.hardshrink(x) | F.hardshrink(x, 0.3) | F.softshrink(x) | F.softshrink(x, 0.2)
F.threshold(x, 0.1, 20.0) | F.glu(x) | F.glu(x, dim=0) | F.softmax(x, dim=1) | F.softmax(x, 0) | F.log_softmax(x, dim=1)
F.softmin(x, dim=1) | F.prelu(images, two) | F.rrelu(x) | F.relu_(x) | F.elu_(x) | F.celu_(x) | F.selu_(x) | F.leaky_relu_(x)
F.hardtanh_(x) | F.rrelu_(x) | F.threshold_(x, 0.1, 20.0)
F.linear(x, s) | F.linear(x, s, bias) | F.bilinear(x, y, forms) | F.embedding(rows, x) | F.dropout(x, 0.5, False)
F.layer_norm(x, (4,), v, w) | F.layer_norm(x, [4], v, w, 0.001) | F.group_norm(images, 1, two, two)
F.batch_norm(images, two, positive[:2], two, two) | F.local_response_norm(images, 3) | F.normalize(x) | F.normalize(x, dim=0)
F.conv1d(lines, lowered) | F.conv1d(lines, lowered, bias, stride=2) | F.conv2d(images, kernels) | F.conv2d(images, kernels, bias)
F.conv2d(images, kernels, stride=2, padding=1) | F.conv2d(images, kernels, bias, 1, 1) | F.conv3d(cubes, blocks)
F.conv_transpose1d(lines, up[:, :, 0]) | F.conv_transpose2d(images, up) | F.conv_transpose2d(images, up, stride=2)
F.conv_transpose3d(cubes, up[:, :, None])
F.max_pool1d(lines, 2) | F.max_pool2d(images, 2) | F.max_pool2d(images, 2, 1) | F.max_pool2d(images, kernel_size=2, stride=2, padding=1)
F.max_pool3d(cubes, 2) | F.avg_pool1d(lines, 2) | F.avg_pool2d(images, 2) | F.avg_pool2d(images, 2, 1, 1) | F.avg_pool3d(cubes, 2)
F.adaptive_avg_pool1d(lines, 2) | F.adaptive_avg_pool2d(images, 2) | F.adaptive_avg_pool2d(images, (2, 1)) | F.adaptive_avg_pool3d(cubes, 2)
F.unfold(images, 2) | F.unfold(images, (2, 2), stride=2) | F.fold(columns, (4, 4), 2) | F.pixel_shuffle(four, 2)
F.interpolate(images, scale_factor=2) | F.interpolate(images, size=(8, 8), mode="bilinear") | F.interpolate(images, size=(6, 6))
F.upsample(images, scale_factor=2) | F.upsample_nearest(images, scale_factor=2)
F.grid_sample(images, grid) | F.grid_sample(images, grid, align_corners=True) | F.one_hot(i, 3) | F.cosine_similarity(x, y)
F.cosine_similarity(x, y, dim=0) | F.pairwise_distance(x, y)
F.mse_loss(x, y) | F.mse_loss(x, y, reduction="sum") | F.l1_loss(x, y) | F.l1_loss(x, y, reduction="sum")
F.cross_entropy(x, i) | F.nll_loss(x, i) | F.binary_cross_entropy(p, q) | F.binary_cross_entropy_with_logits(x, q)
F.kl_div(x, q) | F.smooth_l1_loss(x, y) | F.huber_loss(x, y) | F.soft_margin_loss(x, signs) | F.poisson_nll_loss(x, p)
F.margin_ranking_loss(x, y, signs) | F.hinge_embedding_loss(x, signs) | F.multilabel_soft_margin_loss(x, q)
torch.topk(x, 2) | torch.topk(x, 2, dim=0) | torch.topk(x, k=1, largest=False) | torch.max(x, 1) | torch.max(x, dim=0, keepdim=True)
torch.min(x, dim=1) | torch.max(x, y) | torch.max(x) | torch.sort(x, 1) | torch.sort(x, dim=0, descending=True) | torch.argsort(x, dim=1)
torch.std(x, unbiased=False) | torch.std(x, dim=0, unbiased=False) | torch.var(x, dim=1, unbiased=False) | torch.median(odd)
torch.sum(x, dim=1) | torch.sum(x, 1) | torch.mean(x, dim=0, keepdim=True) | torch.prod(x, 1) | torch.cumsum(x, 1) | torch.cumprod(x, dim=0)
torch.logsumexp(x, 1) | torch.norm(x) | torch.norm(x, dim=1) | torch.norm(x, p=1, dim=1) | torch.norm(x, p=2, dim=0)
torch.argmax(x, 1) | torch.argmax(x, dim=0) | torch.argmin(x) | torch.amax(x, 1) | torch.amin(x, dim=0)
torch.cat((x, y)) | torch.cat([x, y], dim=1) | torch.stack([x, y], 1) | torch.chunk(x, 2) | torch.chunk(x, 2, dim=1) | torch.hstack((x, y))
torch.vstack((x, y)) | torch.gather(x, 0, indices) | torch.index_select(x, 1, rows) | torch.select(x, 0, 2) | torch.narrow(x, 0, 1, 2)
torch.take(x, rows) | torch.scatter(x, 0, indices, y[:2]) | torch.scatter_add(x, 0, indices, y[:2]) | torch.take_along_dim(x, indices, 0)
torch.unsqueeze(x, 0) | torch.squeeze(images) | torch.squeeze(images, 0) | torch.transpose(x, 0, 1) | torch.transpose(u, 1, 2)
torch.transpose(u, -1, -2) | torch.swapaxes(x, 0, 1) | torch.t(x) | torch.flatten(images, 1) | torch.flatten(x) | torch.reshape(x, (2, 8))
torch.permute(u, (2, 0, 1)) | torch.flip(x, (0,)) | torch.flip(x, [1]) | torch.roll(x, 1, dims=0) | torch.tile(x, (2, 1))
torch.repeat_interleave(x, 2, dim=0) | torch.broadcast_to(v, (4, 4)) | torch.tril(x) | torch.tril(x, -1) | torch.triu(x, diagonal=1)
torch.where(x > 0.5, x, y) | torch.where(x > 0.5) | torch.nonzero(x > 0.5) | torch.masked_fill(x, mask, 0.0) | torch.masked_select(x, mask)
torch.clamp(x, 0, 1) | torch.clamp(x, min=0) | torch.clamp(x, max=1) | torch.clamp(x, min=-1, max=1) | torch.clip(x, 0, 1) | torch.pow(x, 2)
torch.add(x, y, alpha=2) | torch.sub(x, y, alpha=2) | torch.add(x, y) | torch.mul(x, y) | torch.div(x, big) | torch.div(x, big, rounding_mode="floor")
torch.div(x, big, rounding_mode="trunc") | torch.remainder(x, big) | torch.fmod(x, big) | torch.lerp(x, y, 0.5) | torch.addcmul(x, a, b)
torch.addcdiv(x, a, big) | torch.addmm(x, a, b) | torch.addmv(v, a, w) | torch.addr(x, v, w) | torch.matmul(x, v) | torch.mm(x, y) | torch.mv(x, v)
torch.bmm(forms, forms) | torch.dot(v, w) | torch.outer(v, w) | torch.ger(v, w) | torch.inner(x, y) | torch.vdot(v, w)
torch.einsum("ij,jk->ik", x, y) | torch.trace(x) | torch.diagonal(x) | torch.diag(v) | torch.cdist(x, y) | torch.cdist(x, y, p=1)
torch.cross(s[:, :3], s[:, 1:], dim=1) | torch.exp2(x) | torch.log2(p) | torch.log10(p) | torch.erf(x) | torch.erfc(x) | torch.rsqrt(p)
torch.reciprocal(big) | torch.neg(x) | torch.abs(x) | torch.absolute(x) | torch.logit(p) | torch.xlogy(x, p) | torch.hypot(x, y) | torch.deg2rad(x)
torch.rad2deg(x) | torch.frac(x) | torch.sgn(x) | torch.logaddexp(x, y) | torch.isclose(x, y) | torch.eq(x, y) | torch.ne(x, y) | torch.gt(x, y)
torch.ge(x, y) | torch.lt(x, y) | torch.le(x, y) | torch.equal(x, y) | torch.count_nonzero(mask, dim=0) | torch.any(mask) | torch.all(mask, dim=0)
torch.bincount(i) | torch.bincount(i, minlength=5) | torch.searchsorted(sorted, x) | torch.bucketize(x, sorted) | torch.diff(x)
torch.nan_to_num(holes) | torch.zeros(2, 3) | torch.zeros((2, 3)) | torch.ones(2, 3) | torch.full((2, 3), 0.5) | torch.eye(3) | torch.arange(5)
torch.arange(1, 9, 2) | torch.linspace(0, 1, 5) | torch.zeros_like(x) | torch.full_like(x, 2.0) | torch.tensor([1.0, 2.0]) | torch.meshgrid(v, w)
torch.numel(x) | torch.broadcast_to(v, (2, 4)) | torch.relu(x) | torch.softmax(x, dim=0) | torch.linalg.norm(v) | torch.nn.functional.relu(x)
torch.fix(x) | torch.trunc(x) | torch.square(x) | torch.dropout(x, 0.5, False)
x.clamp(min=0) | x.clamp(0, 1) | x.view(2, 8) | x.view(-1) | x.size(0) | x.unsqueeze(0) | x.transpose(0, 1) | x.permute(1, 0) | x.t() | x.relu()
x.exp() | x.abs() | x.flatten() | x.softmax(1) | x.cumsum(0) | x.repeat(2, 1) | v.expand(3, 4) | x.norm() | x.topk(2) | x.argsort(1) | x.float()
x.double() | x.long() | x.to(torch.float64) | x.to("cpu") | x.detach() | x.clone() | x.contiguous() | x.numel() | x.dim() | x.mm(y) | x.matmul(v) | v.dot(w)
x.add(y) | x.mul(2) | x.pow(2) | p.sqrt_() | x.add_(1) | x.mul_(y) | x.clamp_(min=0) | x.gather(0, indices) | x.masked_fill(mask, 0.0) | x.flip(0)
F.conv2d(images, kernels, padding="same") | F.conv2d(images, kernels, bias, padding="same") | F.conv1d(lines, lowered, padding="same")
F.conv2d(images, kernels, bias, 1, "same") | F.conv2d(images, forms[:, :2, None, :3], padding="same") | F.conv1d(lines, forms[:, :2, :3], bias, padding="same")
F.conv2d(images, kernels, padding="valid") | F.conv2d(images, kernels, bias, stride=1, padding="valid") | F.conv1d(lines, lowered, padding="valid")
F.normalize(x, p=1) | F.normalize(x, p=1.0, dim=0) | F.normalize(x, p=2, dim=-1) | F.normalize(x, 1, 1)
torch.hstack((v, w)) | torch.vstack((v, w)) | torch.vstack([v, w]) | torch.column_stack((v, w)) | torch.dstack((v, w))
torch.split(x, 2) | torch.split(x, 3) | torch.split(x, 3, dim=1) | torch.split(x, [1, 3]) | torch.split(x, [1, 1, 2], 1) | x.split(2) | x.split(1, dim=1)
torch.roll(v, 1) | torch.roll(x, 3) | torch.roll(x, 1, 0) | torch.roll(x, shifts=2, dims=1) | torch.roll(x, -1, dims=0) | torch.roll(u, 1, -1) | x.roll(1, 0)
torch.tensordot(x, y, dims=1) | torch.tensordot(x, y) | torch.tensordot(x, y, dims=2) | torch.tensordot(x, v, dims=1) | torch.tensordot(x, y, dims=([1], [0]))
torch.addmm(x, a, b, beta=0.5) | torch.addmm(x, a, b, alpha=2) | torch.addmm(x, a, b, beta=0.5, alpha=2.0) | torch.addmv(v, a, w, beta=2)
torch.addmv(v, a, w, alpha=0.5) | torch.addmv(v, a, w, beta=2, alpha=3) | torch.addr(x, v, w, beta=0.5) | torch.addr(x, v, w, alpha=2) | torch.addr(x, v, w, beta=0.5, alpha=2)
torch.baddbmm(forms, forms, forms) | torch.baddbmm(forms, forms, forms, beta=0.5) | torch.baddbmm(forms, forms, forms, alpha=2)
torch.baddbmm(forms, forms, forms, beta=0.5, alpha=2) | torch.addcmul(x, a, b, value=0.5) | torch.addcdiv(x, a, big, value=2) | torch.diag(x)
x.tril() | x.chunk(2) | x.index_select(0, rows) | x.square() | x.sigmoid() | x.tanh() | x.squeeze() | x.log_softmax(dim=1) | x.type(torch.float64)
torch.addcmul(x, a + b, b - a) | F.tanhshrink(x - y) | torch.lerp(x - y, y + a, 0.5) | x.logsumexp(1) | x.amax(1) | x.sub(y) | x.div(big) | x.cpu() | x.round() | x.sign() | x.floor() | x.ceil() | x.diagonal() | x.trace()
"""

# NumPy's, in the same form.
NUMPY = """
np.abs(x) | np.absolute(x) | np.fabs(x) | np.add(x, y) | np.subtract(x, y) | np.multiply(x, y) | np.divide(x, big) | np.true_divide(x, big)
np.floor_divide(x, big) | np.mod(n, d) | np.remainder(n, d) | np.fmod(x, big) | np.power(big, x) | np.float_power(big, x) | np.negative(x)
np.positive(x) | np.sqrt(p) | np.square(x) | np.cbrt(x) | np.reciprocal(big) | np.exp(x) | np.exp2(x) | np.expm1(x) | np.log(p) | np.log2(p)
np.log10(p) | np.log1p(p) | np.logaddexp(x, y) | np.sin(x) | np.cos(x) | np.tan(x) | np.arcsin(p) | np.arccos(p) | np.arctan(x) | np.arctan2(x, y)
np.sinh(x) | np.cosh(x) | np.tanh(x) | np.arcsinh(x) | np.arccosh(big) | np.arctanh(p) | np.hypot(x, y) | np.deg2rad(x) | np.rad2deg(x)
np.degrees(x) | np.radians(x) | np.floor(x) | np.ceil(x) | np.trunc(x) | np.fix(x) | np.rint(x) | np.round(x) | np.around(x) | np.round_(x)
np.round(x, 1) | np.sign(x) | np.signbit(x) | np.maximum(x, y) | np.minimum(x, y) | np.fmax(x, y) | np.fmin(x, y) | np.clip(x, 0, 1)
np.clip(x, None, 1) | np.clip(x, 0, None) | np.clip(x, a_min=0, a_max=1) | np.isnan(holes) | np.isinf(ends) | np.isfinite(ends)
np.isposinf(ends) | np.isneginf(ends) | np.isclose(x, y) | np.allclose(x, y) | np.array_equal(x, y) | np.heaviside(x, 0.5)
np.equal(i, rows) | np.not_equal(i, rows) | np.less(x, y) | np.less_equal(x, y) | np.greater(x, y) | np.greater_equal(x, y)
np.logical_and(mask, mask) | np.logical_or(mask, mask) | np.logical_xor(mask, mask) | np.logical_not(mask) | np.bitwise_and(i, rows) | np.bitwise_or(i, rows)
np.bitwise_xor(i, rows) | np.bitwise_not(i) | np.invert(i) | np.left_shift(i, rows) | np.right_shift(rows, i) | np.where(x > 0.5, x, y)
np.where(x > 0.5) | np.nonzero(x > 0.5) | np.argwhere(x > 0.5) | np.flatnonzero(x > 0.5) | np.nan_to_num(holes)
np.sum(x) | np.sum(x, axis=0) | np.sum(x, 1) | np.mean(x, axis=1) | np.std(x) | np.std(x, axis=0) | np.var(x, axis=1) | np.median(odd)
np.prod(x, axis=0) | np.product(x) | np.max(x) | np.max(x, axis=0) | np.amax(x, axis=1) | np.min(x) | np.amin(x, 0) | np.argmax(x, axis=1) | np.argmin(x)
np.ptp(x, axis=0) | np.average(x) | np.average(x, weights=p) | np.cumsum(x) | np.cumsum(x, axis=1) | np.cumprod(x, axis=0) | np.cumproduct(v)
np.nansum(holes) | np.nanprod(holes) | np.nanmax(holes) | np.nanmin(holes) | np.count_nonzero(mask) | np.any(mask, axis=1) | np.all(mask)
np.sum(x, axis=1, keepdims=True) | np.linalg.norm(x) | np.linalg.norm(x, axis=1) | np.linalg.norm(v, ord=2, axis=0) | np.linalg.norm(x, ord=1, axis=1)
np.sort(x) | np.sort(x, axis=0) | np.argsort(x) | np.msort(x) | np.unique(i) | np.bincount(i) | np.bincount(i, minlength=6)
np.searchsorted(sorted, v) | np.searchsorted(sorted, v, side="right") | np.digitize(v, sorted) | np.digitize(v, sorted, right=True)
np.dot(x, y) | np.matmul(x, y) | np.inner(x, y) | np.inner(v, w) | np.vdot(x, y) | np.outer(v, w) | np.cross(x[:, :3], y[:, :3]) | np.trace(x)
np.einsum("ij,kj->ik", x, s) | np.diagonal(x) | np.diag(v) | np.diff(x) | np.tril(x) | np.tril(x, -1) | np.triu(x, k=1) | np.eye(3) | np.eye(2, 3)
np.identity(3) | np.tri(3) | np.zeros((2, 3)) | np.zeros(3) | np.ones((2, 3)) | np.ones((2, 3), dtype=np.int64) | np.full((2, 3), 0.5)
np.zeros_like(x) | np.ones_like(x) | np.full_like(x, 2.0) | np.arange(5) | np.arange(1, 9, 2) | np.linspace(0, 1, 5) | np.logspace(0, 2, 3)
np.array([1.0, 2.0]) | np.array([[1, 2], [3, 4]], dtype=np.float32) | np.asarray([1.0, 2.0]) | np.asanyarray([1, 2]) | np.copy(x)
np.ascontiguousarray(x) | np.meshgrid(v, bias) | np.meshgrid(v, bias, indexing="ij")
np.concatenate((x, y)) | np.concatenate([x, y], axis=1) | np.stack((x, y), axis=1) | np.hstack((x, y)) | np.vstack((x, y)) | np.row_stack((x, y))
np.column_stack((x, y)) | np.dstack((x, y)) | np.append(x, y, axis=0) | np.split(x, 2) | np.split(x, [1, 3], axis=1) | np.array_split(x, 2)
np.hypot(x - y, y + x) | np.reciprocal(big + 1.0) | np.degrees(x - y) | np.hsplit(x, 2) | np.vsplit(x, 2) | np.dsplit(u, 2) | np.reshape(x, (2, 8)) | np.ravel(x) | np.transpose(x) | np.transpose(u, (2, 0, 1)) | np.swapaxes(x, 0, 1)
np.expand_dims(x, 0) | np.squeeze(images, axis=0) | np.broadcast_to(v, (4, 4)) | np.repeat(x, 2) | np.repeat(x, 2, axis=0) | np.tile(v, 2) | np.tile(x, (2, 1))
np.flip(x, axis=0) | np.flip(x, 1) | np.fliplr(x) | np.flipud(x) | np.roll(x, 1, axis=0) | np.roll(x, 2, axis=1) | np.take(x, rows, axis=0)
np.take_along_axis(x, indices, axis=0) | np.compress([True, False, True, False], v) | np.extract(mask, x) | np.ndim(x) | np.size(x) | np.size(x, 0) | np.shape(x)
np.hstack((v, w)) | np.hstack([v, w]) | np.vstack((v, w)) | np.row_stack((v, w)) | np.column_stack((v, w)) | np.dstack((v, w)) | np.diag(x)
np.take(x, rows) | np.take(v, rows) | np.take(x, indices) | np.take(u, rows, axis=2) | x.take(rows)
np.roll(v, 1) | np.roll(v, -1) | np.roll(x, 3) | np.roll(u, 5) | np.roll(u, 1, axis=-1) | np.roll(x, shift=1, axis=0)
np.tensordot(x, y, axes=1) | np.tensordot(x, y) | np.tensordot(x, y, 1) | np.tensordot(x, y, axes=0) | np.tensordot(v, w, axes=0) | np.tensordot(x, v, axes=1)
np.tensordot(x, y, axes=([1], [0])) | np.float32(3) | np.int64(3) | np.float64(0.5) | np.int32(2)
x.flatten() | x.ravel() | x.transpose() | x.cumsum(axis=0) | x.round() | x.clip(0, 1) | x.dot(y) | x.copy() | x.repeat(2, axis=0) | x.squeeze()
x.swapaxes(0, 1) | x.take(rows, axis=0) | x.var(axis=0) | x.ptp() | x.argsort(axis=0) | x.diagonal() | x.trace() | x.ravel()
"""

MATH = "math.sqrt(2) | math.exp(1.5) | math.log(2.0) | math.sin(0.5) | math.tanh(0.5) | math.floor(2.5)"
# Names that are values.
CONSTANTS = "np.pi | np.e | math.pi | np.inf | np.newaxis | np.float32 | np.int64 | torch.float64 | torch.long | np.euler_gamma"

# Names with an answer whose numbers cannot be compared: what they draw, files, and what is told in words.
WITHOUT_NUMBERS = {
    "np": """allclose argpartition can_cast cast copyto double empty empty_like fill genfromtxt gradient half
        histogram load loadtxt partition polyval put put_along_axis random save savetxt select shape
        moveaxis resize issctype isnat mat piecewise place float_ float16 bool_ int8 int16 uint8 uint16 uint32 uint64
        byte short intc intp longlong ubyte ushort uintc uintp ulonglong single uint int_ rollaxis e
        inf Inf Infinity infty PINF NINF nan NaN NAN True_ False_ newaxis pi euler_gamma disp device pad iinfo finfo dtype""",
    "F": """affine_grid channel_shuffle instance_norm pad grad""",
}


def plain(value):
    """What a call gave, as numbers with a shape, or a list of such."""
    if isinstance(value, (torch.Tensor, np.ndarray, np.generic, int, float, bool)):
        array = value.detach().numpy() if isinstance(value, torch.Tensor) else np.asarray(value)
        kind = "bool" if array.dtype == bool else "int" if array.dtype.kind in "iu" else "float"
        numbers = [float(each) if kind == "float" else int(each) for each in array.reshape(-1)]
        return {"kind": kind, "shape": list(array.shape),
                "values": ["nan" if number != number else "inf" if number == math.inf else
                           "-inf" if number == -math.inf else float(f"{number:.8g}") if kind == "float" else number
                           for number in numbers]}
    return [plain(each) for each in value]


def entries(text, library):
    result = []
    for call in " | ".join(line.strip(" |") for line in text.strip().splitlines()).split(" | "):
        values = {name: torch.tensor(value) if library == "torch" else value.copy() for name, value in VALUES.items()}
        with np.errstate(all="ignore"):
            answer = eval(call.strip(), {"np": np, "torch": torch, "F": F, "math": math}, values)
        if answer is None or isinstance(answer, (type, torch.dtype)):
            answer = str(answer)
        result.append({"call": call.strip(), "library": library,
                       "result": answer if isinstance(answer, str) else plain(answer)})
    return result


def functions(module):
    """Functions alone: no types, modules, numbers and notes."""
    kinds = ("function", "builtin_function_or_method", "ufunc")
    return [name for name in dir(module) if not name.startswith("_") and type(getattr(module, name)).__name__ in kinds]


def write(name, value):
    os.makedirs(FOLDER, exist_ok=True)
    with open(os.path.join(FOLDER, name), "w", encoding="utf-8") as file:
        if isinstance(value, list):
            file.write("[\n" + ",\n".join(json.dumps(each) for each in value) + "\n]\n")
        else:
            file.write(json.dumps(value, indent=1) + "\n")


torch.manual_seed(0)
import warnings
warnings.simplefilter("ignore")
write("names.json", {
    "F": sorted(name for name in dir(F) if not name.startswith("_")),
    "np": sorted(name for name in dir(np) if not name.startswith("_")),
    "functions": {"F": functions(F), "np": functions(np)},
    "without_numbers": {library: sorted(text.split()) for library, text in WITHOUT_NUMBERS.items()},
})
write("values.json", [{"name": name, "dtype": str(value.dtype), **plain(value)} for name, value in VALUES.items()])
write("calls.json", entries(TORCH, "torch") + entries(NUMPY, "numpy") + entries(MATH, "math") +
      entries(CONSTANTS, "constants"))
