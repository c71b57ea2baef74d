"""Operators of detection by their definitions, in plain Python loops."""
import math

import numpy as np
import torch

from families.convolution import BOTH, random
from oracle.cases import File


def t(array, dtype=None):
    return torch.from_numpy(np.ascontiguousarray(np.asarray(array, dtype)))


def area(box):
    return abs(box[2] - box[0]) * abs(box[3] - box[1])


def iou(a, b):
    def shared(d):
        return max(0.0, min(max(a[d], a[d + 2]), max(b[d], b[d + 2])) - max(min(a[d], a[d + 2]), min(b[d], b[d + 2])))

    both = shared(0) * shared(1)
    union = area(a) + area(b) - both
    return both / union if union > 0 else 0.0


def valid_counts(data, score_threshold=0.0, id_index=0, score_index=1):
    rows = data.numpy()
    counts, boxes, indices = [], np.full(rows.shape, -1.0), np.full(rows.shape[:2], -1)
    for b, batch in enumerate(rows):
        good = [j for j, row in enumerate(batch) if row[score_index] > score_threshold and (id_index < 0 or row[id_index] >= 0)]
        counts.append(len(good))
        for place, j in enumerate(good):
            boxes[b, place], indices[b, place] = batch[j], j
    return t(counts, np.int32), t(boxes), t(indices, np.int32)


def suppressed(data, valid_count, indices, max_output_size=-1, iou_threshold=0.5, force_suppress=False, top_k=-1, coord_start=2, score_index=1, id_index=0,
               return_indices=True, invalid_to_bottom=False, soft_nms_sigma=0.0, score_threshold=0.0):
    rows = data.numpy()
    if soft_nms_sigma > 0:
        return decayed(rows, valid_count, indices, iou_threshold, force_suppress, coord_start, score_index, id_index, soft_nms_sigma, score_threshold)
    numbers, counts, boxes = np.full(rows.shape[:2], -1), [], np.full(rows.shape, -1.0)
    for b, batch in enumerate(rows):
        order = sorted(range(int(valid_count[b])), key=lambda j: -batch[j][score_index])
        if top_k > 0:
            order = order[:top_k]
        slots = []
        for j in order:
            row = batch[j]
            rivals = [batch[k] for k in slots if k is not None and (force_suppress or id_index < 0 or batch[k][id_index] == row[id_index])]
            full = max_output_size >= 0 and sum(k is not None for k in slots) >= max_output_size
            overlaps = any(iou(row[coord_start:coord_start + 4], r[coord_start:coord_start + 4]) >= iou_threshold for r in rivals)
            slots.append(None if full or overlaps else j)
        kept = [k for k in slots if k is not None]
        counts.append([len(kept)])
        numbers[b, :len(kept)] = [int(indices[b, k]) for k in kept]
        for place, k in enumerate(kept if invalid_to_bottom else slots):
            if k is not None:
                boxes[b, place] = batch[k]
    return (t(numbers, np.int32), t(counts, np.int32).reshape(-1, 1)) if return_indices else t(boxes)


def decayed(rows, valid_count, indices, threshold, force, corner, score, kind, sigma, least):
    """Boxes chosen one after the other by the scores that the boxes chosen before have left of them."""
    numbers, counts, boxes = np.full(rows.shape[:2], -1), [], np.full(rows.shape, -1.0, rows.dtype)
    for b, batch in enumerate(rows.copy()):
        waiting = sorted(range(int(valid_count[b])), key=lambda j: -batch[j][score])
        chosen = []
        while waiting := [j for j in waiting if batch[j][score] > least]:
            best = max(waiting, key=lambda j: batch[j][score])
            waiting.remove(best)
            boxes[b, len(chosen)], numbers[b, len(chosen)] = batch[best], int(indices[b, best])
            chosen.append(best)
            for j in list(waiting):
                if not (force or kind < 0 or batch[best][kind] == batch[j][kind]):
                    continue
                shared = iou(batch[best][corner:corner + 4], batch[j][corner:corner + 4])
                batch[j][score] *= np.exp(-shared**2 / (2 * sigma))
                if shared >= threshold:
                    waiting.remove(j)
        counts.append([len(chosen)])
    return t(boxes), t(numbers, np.int32), t(counts, np.int32).reshape(-1, 1)


def all_classes(boxes, scores, most, threshold, least, output_format="onnx"):
    b, c, n = scores.shape
    rows = [[[] for _ in range(c)] for _ in range(b)]
    for i in range(b):
        for k in range(c):
            for j in sorted(range(n), key=lambda j: -float(scores[i, k, j])):
                if len(rows[i][k]) < int(most) and scores[i, k, j] > least and all(iou(boxes[i, j].tolist(), boxes[i, o].tolist()) <= float(threshold) for o in rows[i][k]):
                    rows[i][k].append(j)
    if output_format == "onnx":
        flat = [[i, k, j] for i in range(b) for k in range(c) for j in rows[i][k]]
        return t(flat + [[-1] * 3] * (b * c * n - len(flat)), np.int64).reshape(-1, 3), t([len(flat)], np.int64)
    each = [[[k, j] for k in range(c) for j in rows[i][k]] for i in range(b)]
    values = [[float(scores[i, k, j]) for k, j in each[i]] + [0.0] * (c * n - len(each[i])) for i in range(b)]
    return t([e + [[-1] * 2] * (c * n - len(e)) for e in each], np.int64).reshape(b, c * n, 2), t(values, np.float64).reshape(b, c * n), t([len(e) for e in each], np.int64)


def shares_of_sample(rows, columns, y, x):
    """The cells around a point and how much of each."""
    if y < -1 or x < -1 or y > rows or x > columns:
        return []
    y, x = min(max(y, 0.0), rows - 1.0), min(max(x, 0.0), columns - 1.0)
    corners = [(i, j) for i in (math.floor(y), math.floor(y) + 1) for j in (math.floor(x), math.floor(x) + 1)]
    return [(i, j, (1 - abs(y - i)) * (1 - abs(x - j))) for i, j in corners if i < rows and j < columns]


def pair(size):
    return size if isinstance(size, list) else (size, size)


def total(shares, image):
    return sum((weight * image[i, j] for i, j, weight in shares), start=0 * (image * image).sum())


def align_shares(image, roi, i, j, size, spatial_scale, sample_ratio=-1, aligned=False, mode="avg"):
    """The cells of `image` that bin (i, j) of a region takes."""
    left, top, right, bottom = [v * spatial_scale for v in roi[1:]]
    h, w = (bottom - top, right - left) if aligned else (max(bottom - top, 1.0), max(right - left, 1.0))
    bh, bw = h / size[0], w / size[1]
    ny, nx = (sample_ratio, sample_ratio) if sample_ratio > 0 else (math.ceil(bh), math.ceil(bw))
    samples = [shares_of_sample(*image.shape, top + bh * (i + (a + 0.5) / ny), left + bw * (j + (b + 0.5) / nx)) for a in range(ny) for b in range(nx)]
    if mode == "max":
        return max(samples, key=lambda shares: total(shares, image.detach()).item())  # the first of the largest
    return [(y, x, weight / len(samples)) for shares in samples for y, x, weight in shares]


def pool_shares(image, roi, i, j, size, spatial_scale):
    left, top, right, bottom = [math.floor(v * spatial_scale + 0.5) for v in roi[1:]]
    h, w = max(bottom - top + 1, 1), max(right - left + 1, 1)
    rows = [q for q in range(top + i * h // size[0], top - (-(i + 1) * h // size[0])) if 0 <= q < image.shape[0]]
    columns = [q for q in range(left + j * w // size[1], left - (-(j + 1) * w // size[1])) if 0 <= q < image.shape[1]]
    cells = [(y, x, 1.0) for y in rows for x in columns]
    return [max(cells, key=lambda cell: image[cell[0], cell[1]].item())] if cells else []


def regions(shares):
    """Three oracles for a choice of cells: the pool, the choice made of data applied to values, and its transpose."""

    def select(values, data, rois, pooled_size, layout="NCHW", **attributes):
        v, x = (values, data) if layout == "NCHW" else (values.permute(0, 3, 1, 2), data.permute(0, 3, 1, 2))
        size = pair(pooled_size)
        bins = [
            total(shares(x[int(roi[0]), c], roi, i, j, size, **attributes), v[int(roi[0]), c])
            for roi in rois.tolist() for c in range(x.shape[1]) for i in range(size[0]) for j in range(size[1])
        ]
        shape = (rois.shape[0], x.shape[1], *size)
        y = torch.stack(bins).reshape(shape) if bins else torch.zeros(shape, dtype=torch.float64) + 0 * values.sum()
        return y if layout == "NCHW" else y.permute(0, 2, 3, 1)

    # 0 * tensor.sum() keeps a tensor on the gradient's path where its slope is 0.
    def still(result, *tensors):
        return result + sum(0 * tensor.sum() for tensor in tensors)

    def pool(data, rois, **attributes):
        return select(data, data, rois, **attributes)

    def chosen(values, data, rois, **attributes):
        return still(select(values, data, rois, **attributes), data)

    def backward(output_grad, data, rois, **attributes):
        values = torch.zeros_like(data, requires_grad=True)
        y = select(values, data, rois, **attributes)
        gradient = torch.autograd.grad(y, values, output_grad, create_graph=True)[0]
        return still(gradient, output_grad, data)

    return pool, chosen, backward


def decoded(classes, places, anchor, clip=False, threshold=0.0, variances=(1.0, 1.0, 1.0, 1.0), keep_background=True):
    n = classes.shape[2]
    offsets = places.reshape(classes.shape[0], n, 4) * torch.tensor(variances, dtype=torch.float64)
    centre, size = (anchor[..., :2] + anchor[..., 2:]) / 2, anchor[..., 2:] - anchor[..., :2]
    middle, half = offsets[..., :2] * size + centre, torch.exp(offsets[..., 2:]) * size / 2
    boxes = torch.cat([(middle - half).flip(-1), (middle + half).flip(-1)], -1)
    scores = torch.softmax(classes, 1)
    scores = torch.where(scores < threshold, torch.zeros_like(scores), scores)
    if not keep_background:
        scores = torch.cat([torch.zeros_like(scores[:, :1]), scores[:, 1:]], 1)
    return boxes.clamp(0, 1) if clip else boxes, scores


def anchors(data, sizes=(1.0,), ratios=(1.0,), steps=(-1.0, -1.0), offsets=(0.5, 0.5), clip=False):
    rows, columns = data.shape[2:]
    sizes, ratios = ([v] if isinstance(v, float) else v for v in (sizes, ratios))
    down, across = (s if s > 0 else 1 / n for s, n in zip(steps, (max(rows, 1), max(columns, 1))))
    shapes = [(s, s) for s in sizes] + [(sizes[0] * r**0.5, sizes[0] / r**0.5) for r in ratios[1:]]
    boxes = []
    for i in range(rows):
        for j in range(columns):
            y, x = (i + offsets[0]) * down, (j + offsets[1]) * across
            boxes += [[x - w * rows / columns / 2, y - h / 2, x + w * rows / columns / 2, y + h / 2] for w, h in shapes]
    result = t(boxes, np.float64).reshape(1, len(boxes), 4)
    return result.clamp(0, 1) if clip else result


def detections(shape, dtype, seed, classes=2):
    """Rows (class, score, left, top, right, bottom) with scores far from each other."""
    rng = np.random.default_rng([seed, *shape])
    rows = np.empty(shape + (6,))
    rows[..., 0] = rng.integers(-1 if seed == 0 else 0, classes, shape)
    rows[..., 1] = (rng.permuted(np.broadcast_to(np.arange(shape[-1]), shape), axis=-1) + 1) / (shape[-1] + 1)
    rows[..., 2:4] = rng.uniform(0, 4, shape + (2,))
    rows[..., 4:] = rows[..., 2:4] + rng.uniform(1, 4, shape + (2,))
    return rows.astype(dtype)


def write():
    prior = File("vision.multibox_prior", anchors, differentiable=False)
    counts = File("vision.get_valid_counts", valid_counts, differentiable=False)
    nms = File("vision.non_max_suppression", suppressed, differentiable=False)
    classes = File("vision.all_class_non_max_suppression", all_classes, differentiable=False)
    aligns = [File(name, oracle) for name, oracle in zip(("vision.roi_align", "grad.roi_align_select", "grad.roi_align_backward"), regions(align_shares))]
    pools = [File(name, oracle) for name, oracle in zip(("vision.roi_pool", "grad.roi_pool_select", "grad.roi_pool_backward"), regions(pool_shares))]

    def add_regions(files, name, x, rois, dtype, **attributes):
        """The pool, the choice of other values, and the transpose, by the same regions."""
        (ph, pw), nhwc = pair(attributes["pooled_size"]), attributes.get("layout") == "NHWC"
        bins = (len(rois), ph, pw, x.shape[3]) if nhwc else (len(rois), x.shape[1], ph, pw)
        files[0].add(name, x, rois, **attributes)
        files[1].add(name, random(x.shape, dtype, 5), x, rois, **attributes)
        files[2].add(name, random(bins, dtype, 6), x, rois, **attributes)

    decode = File("vision.multibox_transform_loc", decoded, differentiable=False)
    for dtype in BOTH:
        name = np.dtype(dtype).name
        for shape, attributes in [((2, 6), {}), ((1, 5), dict(score_threshold=0.45)), ((2, 4), dict(id_index=-1, score_threshold=0.3)), ((3, 1), {}), ((1, 8), dict(score_index=2, score_threshold=1.0)), ((0, 4), {}), ((2, 0), {})]:
            counts.add(f"{name} {shape} {attributes}", detections(shape, dtype, 0), **attributes)
        for attributes in [{}, dict(iou_threshold=0.2), dict(force_suppress=True, iou_threshold=0.1), dict(top_k=4), dict(max_output_size=2), dict(id_index=-1, iou_threshold=0.15),
                           dict(return_indices=False, iou_threshold=0.1, force_suppress=True), dict(return_indices=False, invalid_to_bottom=True, iou_threshold=0.1, force_suppress=True),
                           dict(force_suppress=True, iou_threshold=0.5, soft_nms_sigma=0.5, score_threshold=0.15)]:
            nms.add(f"{name} {attributes}", detections((2, 9), dtype, 1), np.array([9, 6], np.int32), np.arange(18, dtype=np.int32).reshape(2, 9), **attributes)
        rows = detections((2, 9), dtype, 1)[..., [0, 2, 3, 4, 5, 1]].copy()
        for attributes in [dict(iou_threshold=0.2), dict(return_indices=False, iou_threshold=0.1, force_suppress=True)]:
            nms.add(f"{name} score last {attributes}", rows, np.array([9, 6], np.int32), np.arange(18, dtype=np.int32).reshape(2, 9), coord_start=1, score_index=5, **attributes)
        for shape in [(0, 4), (2, 0), (1, 1), (3, 1)]:
            for attributes in [{}, dict(return_indices=False)]:
                nms.add(f"{name} {shape} {attributes}", detections(shape, dtype, 1), np.full(shape[0], shape[1], np.int32), np.zeros(shape, np.int32) + np.arange(shape[1], dtype=np.int32),
                        **attributes)
        for form, limits in [("onnx", (3, 0.3, 0.2)), ("tensorflow", (3, 0.3, 0.2)), ("onnx", (10, 0.05, 0.0)), ("tensorflow", (1, 0.9, 0.5)), ("onnx", (2, 0.5, 0.9))]:
            scores = np.stack([detections((2, 6), dtype, seed)[..., 1] for seed in (1, 2, 3)], 1)
            classes.add(f"{name} {form} {limits}", np.ascontiguousarray(detections((2, 6), dtype, 4)[..., 2:]), scores, np.array(limits[0], np.int64), np.array(limits[1], dtype),
                        np.array(limits[2], dtype), output_format=form)
        for form in ("onnx", "tensorflow"):
            for b, c, n in [(0, 2, 3), (2, 0, 3), (2, 1, 0), (1, 1, 1), (1, 2, 4)]:
                classes.add(f"{name} {form} {(b, c, n)}", np.ascontiguousarray(detections((b, n), dtype, 4)[..., 2:]), detections((b, c, n), dtype, 1)[..., 1].copy(), np.array(2, np.int64), np.array(0.3, dtype),
                            np.array(0.1, dtype), output_format=form)
        rois = np.array([[0, 0.5, 1.0, 6.25, 5.0], [1, 2.0, 0.25, 3.0, 7.5], [0, -1.5, -2.0, 9.5, 4.5], [1, 3.0, 3.0, 3.25, 3.5]], dtype)
        for attributes in [{}, dict(sample_ratio=2), dict(aligned=True, sample_ratio=2), dict(mode="max"), dict(mode="max", sample_ratio=3, aligned=True)]:
            add_regions(aligns, f"{name} {attributes}", random((2, 2, 5, 6), dtype), rois, dtype, pooled_size=[2, 3], spatial_scale=0.75, **attributes)
        for mode in ("avg", "max"):
            add_regions(aligns, f"{name} NHWC {mode}", random((2, 5, 6, 2), dtype), rois, dtype, pooled_size=2, spatial_scale=1.0, layout="NHWC", mode=mode)
        add_regions(pools, f"{name} NHWC", random((2, 5, 6, 2), dtype), rois, dtype, pooled_size=2, spatial_scale=1.0, layout="NHWC")
        for x, some in [((2, 2, 4, 5), rois[:0]), ((2, 0, 4, 5), rois), ((1, 1, 1, 1), rois[::2]), ((1, 2, 1, 5), rois[:1]), ((0, 2, 4, 5), rois[:0])]:
            for mode in ("avg", "max"):
                add_regions(aligns, f"{name} {x} {some.shape} {mode}", random(x, dtype), some, dtype, pooled_size=[1, 2], spatial_scale=0.5, mode=mode)
            add_regions(pools, f"{name} {x} {some.shape}", random(x, dtype), some, dtype, pooled_size=[1, 2], spatial_scale=0.5)
        for size, scale in [(1, 1.0), ([2, 3], 0.5), (3, 0.75), ([1, 4], 1.25), (2, 0.25)]:
            add_regions(pools, f"{name} {size} {scale}", random((2, 2, 5, 6), dtype), rois, dtype, pooled_size=size, spatial_scale=scale)
        for b, c, n, attributes in [(2, 3, 4, {}), (1, 2, 5, dict(variances=[0.1, 0.1, 0.2, 0.2])), (2, 4, 3, dict(clip=True)), (1, 3, 2, dict(threshold=0.3, keep_background=False)), (3, 1, 1, {}), (0, 2, 3, {}), (2, 3, 0, dict(clip=True)), (1, 1, 2, dict(keep_background=False))]:
            decode.add(f"{name} {(b, c, n)} {attributes}", random((b, c, n), dtype), random((b, 4 * n), dtype), np.sort(random((1, n, 4), dtype, 3), -1), **attributes)
        for shape, attributes in [((1, 2, 3, 4), {}), ((2, 1, 2, 5), dict(sizes=[0.3, 0.6], ratios=[1.0, 2.0, 0.5])), ((1, 1, 1, 1), dict(sizes=[0.5], clip=True)),
                                  ((1, 3, 4, 2), dict(steps=[0.2, 0.3], offsets=[0.1, 0.9], sizes=[0.25])), ((1, 1, 3, 3), dict(sizes=[0.9, 0.2], ratios=[1.0, 3.0], clip=True)), ((1, 1, 2, 3), dict(sizes=0.5, ratios=2.0, steps=[0.25, 0.5])), ((0, 2, 2, 3), {}), ((1, 0, 2, 2), {}), ((1, 2, 0, 3), dict(steps=[0.5, 0.5])), ((1, 2, 3, 0), {})]:
            prior.add(f"{name} {shape} {attributes}", random(shape, dtype), **attributes)
    for file in (prior, counts, nms, classes, *aligns, *pools, decode):
        file.write()
