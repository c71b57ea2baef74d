# test: parse
# What is passed over in a file of Python is said once.
import torch
x = torch.zeros(3)

@I.ir_module
class M:
    @R.function
    def f(x: R.Tensor((3,), "float32")):
        return x

    @T.prim_func
    def g(A: T.Buffer((4,), "float32")):
        for i in range(4):
            T.attr(i, "pragma_auto_unroll_max_step", 4)  # note@13: T.attr says nothing about what is computed; it is left out [prim_func.ignored]
            A[i] = T.float32(0)
# expect
#| module M
#|   function f(x: R.Tensor((3,), dtype="float32")) -> R.Tensor((3,), dtype="float32"): 0 bindings in 0 blocks
#|   prim_func g(A: (T.int32(4)) float32)
