# test: print
# row: 1.1 symbolic var decl
from __future__ import annotations
from typing import TypeVar
from tvm.script import relax as R

n = TypeVar("n")
M = TypeVar("M")

@R.function
def main(x: R.Tensor((n, M), "float32"), y: R.Tensor(("M * 2", n), "float32")) -> R.Tensor((n, M), "float32"):
    return R.add(x, x)

@R.function
def generic[a, b](x: R.Tensor((a, b), "float32")) -> R.Tensor((b, a), "float32"):
    return R.permute_dims(x)
# expect
#| # from tvm.script import tirx as T
#| # from tvm.script import relax as R
#|
#| @R.function
#| def main(x: R.Tensor(("n", "M"), dtype="float32"), y: R.Tensor(("M * 2", "n"), dtype="float32")) -> R.Tensor(("n", "M"), dtype="float32"):
#|     n = T.int64()
#|     M = T.int64()
#|     gv: R.Tensor((n, M), dtype="float32") = R.add(x, x)
#|     return gv
#|
#| @R.function
#| def generic(x: R.Tensor(("a", "b"), dtype="float32")) -> R.Tensor(("b", "a"), dtype="float32"):
#|     b = T.int64()
#|     a = T.int64()
#|     gv: R.Tensor((b, a), dtype="float32") = R.permute_dims(x, axes=None)
#|     return gv
