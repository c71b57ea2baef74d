"""Numbers for the operators between tensors and shapes, by NumPy's ndarray.shape and ndarray.size."""
import numpy as np

from oracle.cases import File

SHAPES = [(5,), (2, 3, 4), (), (1, 1), (0, 3), (2, 0, 1)]


def arrays():
    for dtype in (np.float32, np.float64):
        for shape in SHAPES:
            yield f"{np.dtype(dtype).name} {shape}", np.zeros(shape, dtype)
    yield "int8", np.zeros((3, 2), np.int8)
    yield "bool", np.zeros((4,), np.bool_)


def write():
    size, shape_of = File("size", None), File("shape_of", None)
    for name, x in arrays():
        size.given(name, [x], np.array(x.size, np.int64))
        shape_of.given(name, [x], x.shape)
    size.write()
    shape_of.write()
    item = File("item", None)
    for dtype in (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint32):
        for value in (np.iinfo(dtype).min, 7, np.iinfo(dtype).max):
            x = np.array(value, dtype)
            item.given(f"{np.dtype(dtype).name} {value}", [x], int(x.item()))
    item.write()
    to_shape, to_tensor = File("tensor_to_shape", None), File("shape_to_tensor", None)
    for shape in SHAPES:
        as_tensor = np.array(shape, np.int64)
        to_shape.given(f"{shape}", [as_tensor], shape)
        to_tensor.given(f"{shape}", [shape], as_tensor)
    to_shape.write()
    to_tensor.write()
