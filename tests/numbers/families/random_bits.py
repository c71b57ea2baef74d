"""Numbers for the random operators, by Philox4x32-10 written here from its definition (Salmon, Moraes, Dror and Shaw,
"Parallel random numbers: as easy as 1, 2, 3", 2011) and from the streams that docs/language.md describes; normals by
the quantile function of Python's standard library, which is Wichura's AS 241 too."""
import statistics

import numpy as np

from oracle.cases import File, rounded_once

KEYS = [(0, 0), (1, 2), (2**32 - 1, 2**32 - 1), (2724734818, 698298832), (7, 9)]
SHAPES = [(6,), (2, 3), (), (0, 3), (1, 17)]
WORD = 2**32 - 1


def block(key, counter):
    """Four words of 32 bits."""
    key, counter = list(key), list(counter)
    for _ in range(10):
        left, right = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
        counter = [(right >> 32) ^ counter[1] ^ key[0], right & WORD, (left >> 32) ^ counter[3] ^ key[1], left & WORD]
        key = [(key[0] + 0x9E3779B9) & WORD, (key[1] + 0xBB67AE85) & WORD]
    return counter


# Vectors published with the generator.
assert block((0, 0), (0, 0, 0, 0)) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
assert block((WORD, WORD), (WORD, WORD, WORD, WORD)) == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]
assert block((0xA4093822, 0x299F31D0), (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344)) == [
    0xD16CFE09,
    0x94FDCCEB,
    0x5001E420,
    0x24126EA1,
]


def word(key, i):
    return block(key, [i // 4 & WORD, i // 4 >> 32, 0, 0])[i % 4]


def long_word(key, i):
    return word(key, 2 * i) << 32 | word(key, 2 * i + 1)


def filled(shape, dtype, element):
    count = int(np.prod(shape, dtype=np.int64))
    return np.array([element(i) for i in range(count)], dtype).reshape(shape)


def key_array(key):
    return np.array(key, np.uint32)


def bits():
    file = File("random.bits", None)
    widths = {"uint8": 8, "uint16": 16, "uint32": 32}
    for n, (name, width) in enumerate(widths.items()):
        for shape in SHAPES:
            key = KEYS[(n + len(shape)) % len(KEYS)]
            result = filled(shape, name, lambda i: word(key, i) >> (32 - width))
            file.given(f"{name} {shape}", [key_array(key), shape], result, dtype=name)
    for key, shape in zip(KEYS, SHAPES):
        file.given(f"uint64 {shape}", [key_array(key), shape], filled(shape, np.uint64, lambda i: long_word(key, i)), dtype="uint64")
    file.given("default dtype", [key_array((1, 2)), (5,)], filled((5,), np.uint32, lambda i: word((1, 2), i)))
    file.write()


def fold_in():
    file = File("random.fold_in", None)
    for n, data in enumerate([0, 1, -1, 2**33 + 5, -(2**63), 2**63 - 1, 1000]):
        key = KEYS[n % len(KEYS)]
        wide = data & (2**64 - 1)
        result = np.array(block(key, [wide & WORD, wide >> 32, 0x666F6C64, 0])[:2], np.uint32)
        file.given(f"scalar {data}", [key_array(key), data], result)
        file.given(f"tensor {data}", [key_array(key), np.array(data, np.int64)], result)
    minus = np.array(block((1, 2), [WORD, WORD, 0x666F6C64, 0])[:2], np.uint32)
    for dtype in (np.int8, np.int16, np.int32):
        file.given(f"-1 of {np.dtype(dtype).name}", [key_array((1, 2)), np.array(-1, dtype)], minus)
    file.write()


def split():
    file = File("random.split", None)
    for key, n in zip(KEYS, (1, 2, 3, 8, 17)):
        result = [block(key, [i, 0, 0x73706C69, 0])[:2] for i in range(n)]
        file.given(f"{n} keys", [key_array(key)], np.array(result, np.uint32), n=n)
    file.given("default n", [key_array((3, 4))], np.array([block((3, 4), [i, 0, 0x73706C69, 0])[:2] for i in range(2)], np.uint32))
    file.write()


def uniform():
    file = File("random.uniform", None)
    elements = {
        "float16": lambda key, i: (word(key, i) >> 21) * 2.0**-11,
        "float32": lambda key, i: (word(key, i) >> 8) * 2.0**-24,
        "float64": lambda key, i: (long_word(key, i) >> 11) * 2.0**-53,
    }
    for n, (name, element) in enumerate(elements.items()):
        for m, shape in enumerate(SHAPES):
            key = KEYS[(n + m) % len(KEYS)]
            file.given(f"{name} {shape}", [key_array(key), shape], filled(shape, name, lambda i: element(key, i)), dtype=name)
    for key, shape in zip(KEYS, SHAPES):
        wide = filled(shape, np.float64, lambda i: (word(key, i) >> 24) * 2.0**-8)
        file.given(f"bfloat16 {shape}", [key_array(key), shape], rounded_once(wide, "bfloat16"), dtype="bfloat16")
    file.given("default dtype", [key_array((1, 2)), (3,)], filled((3,), np.float32, lambda i: elements["float32"]((1, 2), i)))
    file.write()


def normal_of(key, i):
    return statistics.NormalDist().inv_cdf(((long_word(key, i) >> 12) + 0.5) * 2.0**-52)


def normal():
    """In float64 the last bits of the quantile are the library's own; the narrower dtypes round them away."""
    file = File("random.normal", None)
    for n, name in enumerate(("float16", "float32", "float64")):
        for m, shape in enumerate(SHAPES):
            key = KEYS[(n + m) % len(KEYS)]
            result = filled(shape, name, lambda i: normal_of(key, i))
            file.given(f"{name} {shape}", [key_array(key), shape], result, dtype=name, oracle_rtol=1e-15 if name == "float64" else None)
    for key, shape in zip(KEYS, SHAPES):
        wide = filled(shape, np.float64, lambda i: normal_of(key, i))
        file.given(f"bfloat16 {shape}", [key_array(key), shape], rounded_once(wide, "bfloat16"), dtype="bfloat16")
    file.given("default dtype", [key_array((1, 2)), (3,)], filled((3,), np.float32, lambda i: normal_of((1, 2), i)))
    file.write()


def bernoulli():
    file = File("random.bernoulli", None)
    for key, shape in zip(KEYS, SHAPES):
        for p in (0.0, 0.1, 0.5, 0.9, 1.0):
            file.given(f"{shape} p {p}", [key_array(key), shape], filled(shape, np.bool_, lambda i: word(key, i) < p * 2**32), p=p)
    file.given("default p", [key_array((1, 2)), (8,)], filled((8,), np.bool_, lambda i: word((1, 2), i) < 2**31))
    file.write()


def order(key, n, row):
    half = max(((n - 1).bit_length() + 1) // 2, 4)
    mask, stream = (1 << half) - 1, 0x7065726D
    found = []
    for i in range(n):
        if n > 1 and i <= 1:
            i ^= block(key, [0, 0, stream + 8, row])[0] & 1
        while True:
            left, right = i >> half, i & mask
            for turn in range(8):
                left, right = right, left ^ (block(key, [right, 0, stream + turn, row])[0] & mask)
            i = left << half | right
            if i < n:
                break
        found.append(i)
    assert sorted(found) == list(range(n))
    return found


def permutation():
    file = File("random.permutation", None)
    for key, shape in zip(KEYS, [(7,), (3, 5), (1,), (300,), (2, 2, 10)]):
        rows = int(np.prod(shape[:-1], dtype=np.int64))
        result = np.array([order(key, shape[-1], row) for row in range(rows)], np.int64).reshape(shape)
        file.given(f"{shape}", [key_array(key), shape], result)
    for shape in [(0,), (0, 4), (3, 0), (2,)]:
        rows = int(np.prod(shape[:-1], dtype=np.int64))
        result = np.array([order((1, 2), shape[-1], row) for row in range(rows) if shape[-1]], np.int64).reshape(shape)
        file.given(f"{shape}", [key_array((1, 2)), shape], result)
    file.write()


def randint():
    file = File("random.randint", None)
    for n, (low, high, dtype) in enumerate([(0, 10, "int64"), (-3, 4, "int8"), (5, 6, "int32"), (-(2**31), 2**31, "int64"), (0, 256, "uint8")]):
        key, shape = KEYS[n], SHAPES[n]
        result = filled(shape, dtype, lambda i: low + (long_word(key, i) * (high - low) >> 64))
        file.given(f"{low} {high} {dtype}", [key_array(key), shape], result, low=low, high=high, dtype=dtype)
    file.given("default dtype", [key_array((1, 2)), (17,)], filled((17,), np.int64, lambda i: long_word((1, 2), i) * 3 >> 64), low=0, high=3)
    file.write()


def choice():
    file = File("random.choice", None)
    for key, shape, n in zip(KEYS, SHAPES, (10, 6, 1, 3, 300)):
        file.given(f"{shape} of {n}", [key_array(key), shape], filled(shape, np.int64, lambda i: long_word(key, i) * n >> 64), n=n)
        chosen = order(key, n, 0)
        if np.prod(shape, dtype=np.int64) <= n:
            file.given(f"{shape} of {n} once", [key_array(key), shape], filled(shape, np.int64, lambda i: chosen[i]), n=n, replace=False)
    file.write()


def categorical():
    """The logarithms are the library's, so no two scores may be so near that their last bits decide."""
    file = File("random.categorical", None)
    draw = np.random.default_rng(3)
    for dtype in (np.float32, np.float64):
        for key, (shape, rows) in zip([*KEYS, (3, 4)], [((6,), (3,)), ((2, 3), (2, 3, 4)), ((), (5,)), ((0,), (2,)), ((4, 17), (17, 3)), ((2, 1), (2, 1, 1))]):
            logits = draw.normal(size=rows).astype(dtype)
            classes = rows[-1]
            each = np.broadcast_to(logits, (*shape, classes)).reshape(-1, classes).astype(np.float64)

            def chosen(i):
                u = [((long_word(key, i * classes + k) >> 12) + 0.5) * 2.0**-52 for k in range(classes)]
                scores = each[i] - np.log(-np.log(u))
                best = np.sort(scores)
                assert classes == 1 or best[-1] - best[-2] > 1e-9
                return int(np.argmax(scores))

            file.given(f"{np.dtype(dtype).name} {shape}", [key_array(key), shape, logits], filled(shape, np.int64, chosen))
    file.write()


def dropout():
    file = File("random.dropout", None)
    for dtype in (np.float32, np.float64):
        for (key, shape), rate in zip(zip(KEYS, SHAPES), (0.5, 0.25, 0.75, 0.0, 0.1)):
            x = np.random.default_rng([11, *shape]).uniform(-2, 2, shape).astype(dtype)
            mask = filled(shape, dtype, lambda i: 0.0 if word(key, i) < rate * 2**32 else 1 / (1 - rate))
            more = {}
            if dtype == np.float64:
                cotangents = [np.random.default_rng([12 + k, *shape]).uniform(-1, 1, shape) for k in range(2)]
                more = {"cotangents": cotangents, "gradients": [None, cotangents[0] * mask]}
            file.given(f"{np.dtype(dtype).name} {shape} rate {rate}", [key_array(key), x], [x * mask, mask], rate=rate, **more)
    for dtype in ("float16", "bfloat16"):
        for (key, shape), rate in zip(zip(KEYS, SHAPES), (0.5, 0.25, 0.75, 0.0, 0.1)):
            x = rounded_once(np.random.default_rng([11, *shape]).uniform(-2, 2, shape), dtype)
            # 1 / (1 - rate) is computed in float32, as all that halves are made of.
            factor = float(np.float32(1) / np.float32(1 - rate))
            mask = rounded_once(filled(shape, np.float64, lambda i: 0.0 if word(key, i) < rate * 2**32 else factor), dtype)
            wide = np.asarray(x.float() if dtype == "bfloat16" else x, np.float64) * np.asarray(mask.float() if dtype == "bfloat16" else mask, np.float64)
            file.given(f"{dtype} {shape} rate {rate}", [key_array(key), x], [rounded_once(wide, dtype), mask], rate=rate)
    file.write()


def write():
    for family in (bits, fold_in, split, uniform, normal, bernoulli, permutation, randint, choice, categorical, dropout):
        family()
