#!/usr/bin/python3
"""Writes golden texts with constants in TVM's metadata, in the layout of 2022 to 2025 and in that of tvm-ffi: the
tensors come from NumPy, the JSON and the head of a tensor are made here from their description."""
import base64
import json
import os
import struct

import numpy as np

from corpus import difference, expectation, text_of

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden")
CODES = {"i": 0, "u": 1, "f": 2, "b": 1}


def blob(array):
    array = np.ascontiguousarray(array)
    bits = 1 if array.dtype == np.bool_ else array.dtype.itemsize * 8
    head = struct.pack("<QQiiiBBH", 0xDD5E40F096B4A13F, 0, 1, 0, array.ndim, CODES[array.dtype.kind], bits, 1)
    shape = struct.pack(f"<{array.ndim}q", *array.shape)
    return base64.b64encode(head + shape + struct.pack("<q", array.nbytes) + array.tobytes()).decode()


def old_graph(arrays):
    nodes = [
        {"type_key": ""},
        {"type_key": "Map", "keys": ["relax.expr.Constant"], "data": [2]},
        {"type_key": "Array", "data": [3 + i for i in range(len(arrays))]},
    ]
    nodes += [{"type_key": "relax.expr.Constant", "attrs": {"data": str(i), "span": "0"}} for i in range(len(arrays))]
    return {"root": 1, "nodes": nodes, "b64ndarrays": [blob(a) for a in arrays], "attrs": {"tvm_version": "0.13.0"}}


def new_graph(arrays):
    nodes = [{"type": "ffi.String", "data": "relax.expr.Constant"}, {"type": "None"}]
    places = []
    for array in arrays:
        nodes.append({"type": "ffi.Tensor", "data": blob(array)})
        nodes.append({"type": "relax.expr.Constant", "data": {"span": 1, "data": len(nodes) - 1}})
        places.append(len(nodes) - 1)
    nodes.append({"type": "ffi.Array", "data": places})
    nodes.append({"type": "ffi.Map", "data": [0, len(nodes) - 1]})
    return {"root_index": len(nodes) - 1, "nodes": nodes, "metadata": {"tvm_version": "0.22.0"}}


ARRAYS = [
    np.array([[0.5, -1.0, 3.25], [1e-3, 7.0, -0.0]], np.float32),
    np.array([3, -(2**40), 5], np.int64),
    np.array([True, False, True], np.bool_),
    np.zeros((0, 2), np.float16),
]
BODY = '''
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32")) -> R.Tuple(R.Tensor((2, 3), dtype="float32"), R.Tensor((3,), dtype="int64"), R.Tensor((3,), dtype="bool"), R.Tensor((0, 2), dtype="float16")):
        with R.dataflow():
            gv: R.Tensor((2, 3), dtype="float32") = R.add(x, metadata["relax.expr.Constant"][0])
            R.output(gv)
        return (gv, metadata["relax.expr.Constant"][1], metadata["relax.expr.Constant"][2], metadata["relax.expr.Constant"][3])
'''


def write(path, text, printed):
    """`text` with the expectation of what it prints, which stays as it is where it says the same."""
    path = os.path.join(FOLDER, path)
    block = expectation(printed)
    if os.path.exists(path):
        with open(path, encoding="utf-8") as old:
            found = old.read().partition("# expect\n")[2]
        if not difference("".join(line[3:] + "\n" for line in found.splitlines()), printed):
            block = "# expect\n" + found
    with open(path, "w", encoding="utf-8") as out:
        out.write(text + block)


def metadata(graph):
    return 'metadata = tvm.ir.load_json("""' + json.dumps(graph, indent=2) + '""")\n'


if __name__ == "__main__":
    for name, graph in [("old", old_graph(ARRAYS)), ("ffi", new_graph(ARRAYS))]:
        write(f"surface/expressions/printed-tensor-constant-{name}.relish",
              "# test: run\n# row: 1.2 printed tensor constant\n# What show_meta=True writes.\n" + metadata(graph)
              + BODY + "print(Module.main(zeros((2, 3))))\n", text_of((ARRAYS[0] + 0, *ARRAYS[1:])) + "\n")
