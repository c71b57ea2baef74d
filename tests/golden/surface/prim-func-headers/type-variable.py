# test: print
# row: 2.1 buffer with symbolic dims
from tvm.script import tirx as T
from typing import TypeVar
n = TypeVar("n")

@T.prim_func
def reverse(A: T.Buffer((n,), "float32"), B: T.Buffer((n,), "float32")):
    for i in range(n):
        B[i] = A[n - 1 - i]
# expect
#| # from tvm.script import tirx as T
#|
#| @T.prim_func(s_tir=True)
#| def reverse(var_A: T.handle, var_B: T.handle):
#|     n = T.int64()
#|     A = T.match_buffer(var_A, (n,))
#|     B = T.match_buffer(var_B, (n,))
#|     for i in range(n):
#|         B[i] = A[n - T.int64(1) - i]
