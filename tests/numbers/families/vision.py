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
               return_indices=True, invalid_to_bottom=False):
    rows = data.numpy()
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


def between(image, y, x):
    h, w = image.shape
    if y < -1 or x < -1 or y > h or x > w:
        return 0.0
    y, x = min(max(y, 0.0), h - 1.0), min(max(x, 0.0), w - 1.0)
    total = 0.0
    for i in (math.floor(y), math.floor(y) + 1):
        for j in (math.floor(x), math.floor(x) + 1):
            if i < h and j < w:
                total += (1 - abs(y - i)) * (1 - abs(x - j)) * image[i, j]
    return total


def roi_align(data, rois, pooled_size, spatial_scale, sample_ratio=-1, aligned=False, layout="NCHW", mode="avg"):
    x = data.numpy() if layout == "NCHW" else data.numpy().transpose(0, 3, 1, 2)
    ph, pw = pooled_size if isinstance(pooled_size, list) else (pooled_size, pooled_size)
    y = np.zeros((rois.shape[0], x.shape[1], ph, pw))
    for r, roi in enumerate(rois.numpy()):
        left, top, right, bottom = roi[1:] * spatial_scale
        least = 0.0 if aligned else 1.0
        h, w = (bottom - top, right - left) if aligned else (max(bottom - top, least), max(right - left, least))
        bh, bw = h / ph, w / pw
        ny, nx = (sample_ratio, sample_ratio) if sample_ratio > 0 else (math.ceil(bh), math.ceil(bw))
        for c in range(x.shape[1]):
            for i in range(ph):
                for j in range(pw):
                    values = [between(x[int(roi[0]), c], top + bh * (i + (a + 0.5) / ny), left + bw * (j + (b + 0.5) / nx)) for a in range(ny) for b in range(nx)]
                    y[r, c, i, j] = np.mean(values) if mode == "avg" else np.max(values)
    return t(y if layout == "NCHW" else y.transpose(0, 2, 3, 1))


def roi_pool(data, rois, pooled_size, spatial_scale):
    x = data.numpy()
    ph, pw = pooled_size if isinstance(pooled_size, list) else (pooled_size, pooled_size)
    y = np.zeros((rois.shape[0], x.shape[1], ph, pw))
    for r, roi in enumerate(rois.numpy()):
        left, top, right, bottom = [math.floor(v * spatial_scale + 0.5) for v in roi[1:]]
        h, w = max(bottom - top + 1, 1), max(right - left + 1, 1)
        for i in range(ph):
            for j in range(pw):
                rows = [q for q in range(top + i * h // ph, top - (-(i + 1) * h // ph)) if 0 <= q < x.shape[2]]
                columns = [q for q in range(left + j * w // pw, left - (-(j + 1) * w // pw)) if 0 <= q < x.shape[3]]
                if rows and columns:
                    y[r, :, i, j] = x[int(roi[0])][:, rows][:, :, columns].max((1, 2))
    return t(y)


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
    align, pool = File("vision.roi_align", roi_align, differentiable=False), File("vision.roi_pool", roi_pool, differentiable=False)
    decode = File("vision.multibox_transform_loc", decoded, differentiable=False)
    for dtype in BOTH:
        name = np.dtype(dtype).name
        for shape, attributes in [((2, 6), {}), ((1, 5), dict(score_threshold=0.45)), ((2, 4), dict(id_index=-1, score_threshold=0.3)), ((3, 1), {}), ((1, 8), dict(score_index=2, score_threshold=1.0)), ((0, 4), {}), ((2, 0), {})]:
            counts.add(f"{name} {shape} {attributes}", detections(shape, dtype, 0), **attributes)
        for attributes in [{}, dict(iou_threshold=0.2), dict(force_suppress=True, iou_threshold=0.1), dict(top_k=4), dict(max_output_size=2), dict(id_index=-1, iou_threshold=0.15),
                           dict(return_indices=False, iou_threshold=0.1, force_suppress=True), dict(return_indices=False, invalid_to_bottom=True, iou_threshold=0.1, force_suppress=True)]:
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
            align.add(f"{name} {attributes}", random((2, 2, 7, 8), dtype), rois, pooled_size=[2, 3], spatial_scale=0.75, **attributes)
        align.add(f"{name} NHWC", random((2, 7, 8, 2), dtype), rois, pooled_size=2, spatial_scale=1.0, layout="NHWC")
        for x, regions in [((2, 2, 4, 5), rois[:0]), ((2, 0, 4, 5), rois), ((1, 1, 1, 1), rois[::2]), ((1, 2, 1, 5), rois[:1]), ((0, 2, 4, 5), rois[:0])]:
            for mode in ("avg", "max"):
                align.add(f"{name} {x} {regions.shape} {mode}", random(x, dtype), regions, pooled_size=[1, 2], spatial_scale=0.5, mode=mode)
            pool.add(f"{name} {x} {regions.shape}", random(x, dtype), regions, pooled_size=[1, 2], spatial_scale=0.5)
        for size, scale in [(1, 1.0), ([2, 3], 0.5), (3, 0.75), ([1, 4], 1.25), (2, 0.25)]:
            pool.add(f"{name} {size} {scale}", random((2, 2, 7, 8), dtype), rois, pooled_size=size, spatial_scale=scale)
        for b, c, n, attributes in [(2, 3, 4, {}), (1, 2, 5, dict(variances=[0.1, 0.1, 0.2, 0.2])), (2, 4, 3, dict(clip=True)), (1, 3, 2, dict(threshold=0.3, keep_background=False)), (3, 1, 1, {}), (0, 2, 3, {}), (2, 3, 0, dict(clip=True)), (1, 1, 2, dict(keep_background=False))]:
            decode.add(f"{name} {(b, c, n)} {attributes}", random((b, c, n), dtype), random((b, 4 * n), dtype), np.sort(random((1, n, 4), dtype, 3), -1), **attributes)
        for shape, attributes in [((1, 2, 3, 4), {}), ((2, 1, 2, 5), dict(sizes=[0.3, 0.6], ratios=[1.0, 2.0, 0.5])), ((1, 1, 1, 1), dict(sizes=[0.5], clip=True)),
                                  ((1, 3, 4, 2), dict(steps=[0.2, 0.3], offsets=[0.1, 0.9], sizes=[0.25])), ((1, 1, 3, 3), dict(sizes=[0.9, 0.2], ratios=[1.0, 3.0], clip=True)), ((1, 1, 2, 3), dict(sizes=0.5, ratios=2.0, steps=[0.25, 0.5])), ((0, 2, 2, 3), {}), ((1, 0, 2, 2), {}), ((1, 2, 0, 3), dict(steps=[0.5, 0.5])), ((1, 2, 3, 0), {})]:
            prior.add(f"{name} {shape} {attributes}", random(shape, dtype), **attributes)
    for file in (prior, counts, nms, classes, align, pool, decode):
        file.write()
