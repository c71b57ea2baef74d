"""Unsigned integers of every width, which PyTorch lacks, after NumPy: cases behind those of other families."""
import numpy as np

from oracle.cases import File

WIDTHS = (np.uint8, np.uint16, np.uint32, np.uint64)


def ends(dtype):
    """Values around both ends and the sign bit of the signed type as wide."""
    top = int(np.iinfo(dtype).max)
    return np.array([0, 1, 7, top // 2, top // 2 + 1, top - 5, top], dtype)


def truncated(a, b):
    return a // b


def shifted(function):
    def call(a, b):
        bits = 8 * a.dtype.itemsize
        wide = np.array([function(int(x), int(n), bits) for x, n in zip(*(v.reshape(-1) for v in np.broadcast_arrays(a, b)))], object)
        return wide.astype(a.dtype).reshape(np.broadcast_shapes(a.shape, b.shape))

    return call


def add(operator, cases):
    file = File.extended(operator)
    for name, function, args, attributes in cases:
        with np.errstate(all="ignore"):
            file.given(name, args, function(*args), **attributes)
    file.write()


def write():
    binary = [("add", np.add), ("subtract", np.subtract), ("multiply", np.multiply), ("maximum", np.maximum), ("minimum", np.minimum), ("equal", np.equal),
              ("not_equal", np.not_equal), ("less", np.less), ("less_equal", np.less_equal), ("greater", np.greater), ("greater_equal", np.greater_equal),
              ("bitwise_and", np.bitwise_and), ("bitwise_or", np.bitwise_or), ("bitwise_xor", np.bitwise_xor)]
    for operator, function in binary:
        add(operator, [(f"{dtype.__name__} ends", function, (ends(dtype)[:, None], ends(dtype)), {}) for dtype in WIDTHS])
    for operator, function in [("divide", truncated), ("floor_divide", np.floor_divide), ("mod", np.fmod), ("floor_mod", np.mod)]:
        add(operator, [(f"{dtype.__name__} ends", function, (ends(dtype)[:, None], ends(dtype)[1:]), {}) for dtype in WIDTHS])

    def counts(dtype):
        return np.array([0, 1, 7, 8 * np.dtype(dtype).itemsize - 1, 8 * np.dtype(dtype).itemsize, 200], dtype)

    left, right = shifted(lambda x, n, bits: (x << min(n, bits)) % 2**bits), shifted(lambda x, n, bits: x >> min(n, bits))
    for operator, function in [("left_shift", left), ("right_shift", right)]:
        add(operator, [(f"{dtype.__name__} ends", function, (ends(dtype)[:, None], counts(dtype)), {}) for dtype in WIDTHS])

    for operator, function in [("bitwise_not", np.bitwise_not), ("negative", np.negative), ("abs", np.abs), ("sign", np.sign), ("square", np.square)]:
        add(operator, [(f"{dtype.__name__} ends", function, (ends(dtype),), {}) for dtype in WIDTHS])
    for operator, function in [("sum", np.sum), ("prod", np.prod)]:
        add(operator, [(f"{dtype.__name__} ends", lambda x, f=function, d=dtype: f(x, 1, dtype=d), (ends(dtype)[1:].reshape(3, 2),), dict(axis=[1], keepdims=False)) for dtype in WIDTHS])
    for operator, function in [("max", np.max), ("min", np.min)]:
        add(operator, [(f"{dtype.__name__} ends", lambda x, f=function: f(x, 0), (ends(dtype)[1:].reshape(3, 2),), dict(axis=[0], keepdims=False)) for dtype in WIDTHS])
    for operator, function in [("argmax", np.argmax), ("argmin", np.argmin)]:
        add(operator, [(f"{dtype.__name__} ends", lambda x, f=function: np.asarray(f(x, 0), np.int64), (ends(dtype)[[3, 6, 4, 0]],), dict(axis=0, keepdims=False)) for dtype in WIDTHS])
    mixed = [3, 6, 0, 4, 1, 5]
    add("sort", [(f"{dtype.__name__} ends {descending}", lambda x, s=-1 if descending else 1: np.sort(x)[::s], (ends(dtype)[mixed],), dict(axis=0, descending=descending))
                 for dtype in WIDTHS for descending in (False, True)])
    add("argsort", [(f"{dtype.__name__} ends {descending}", lambda x, s=-1 if descending else 1: np.argsort(x)[::s].astype(np.int32), (ends(dtype)[mixed],),
                     dict(axis=0, descending=descending, dtype="int32")) for dtype in WIDTHS for descending in (False, True)])
    add("cumsum", [(f"{dtype.__name__} wraps", lambda x, d=dtype: np.cumsum(x, dtype=d), (ends(dtype),), dict(axis=0, dtype=None, exclusive=False)) for dtype in WIDTHS])
    add("matmul", [(f"{dtype.__name__} wraps", np.matmul, (ends(dtype)[1:].reshape(2, 3), ends(dtype)[1:].reshape(3, 2)), dict(out_dtype=None)) for dtype in WIDTHS])
    casts = [(dtype, to) for dtype in WIDTHS for to in ("float64", "float32", "int64", "int8", "uint16", "uint64", "bool")]
    add("astype", [(f"{dtype.__name__} ends to {to}", lambda x, to=to: x.astype(to), (ends(dtype),), dict(dtype=to)) for dtype, to in casts] + [
        (f"float64 to {dtype.__name__}", lambda x, d=dtype: x.astype(d), (np.array([0.0, 1.75, 200.5, float(np.iinfo(dtype).max // 2 + 1)]),), dict(dtype=dtype.__name__))
        for dtype in WIDTHS])
