# test: print
# about: imports of TVM are read; others are skipped, with one note
import numpy as np  # note@1: 3 statements of this Python file are skipped: only decorated classes and functions are read [python.skipped]
from tvm.script import relax as Q
import torch

data = np.zeros(3)

@Q.function
def f(x: Q.Tensor((2,), "float32")) -> Q.Tensor((2,), "float32"):
    y = Q.exp(x)
    return y
# expect
#| # from tvm.script import relax as R
#|
#| @R.function
#| def f(x: R.Tensor((2,), dtype="float32")) -> R.Tensor((2,), dtype="float32"):
#|     y: R.Tensor((2,), dtype="float32") = R.exp(x)
#|     return y
