# test: print
# row: 1.1 module
# What needs Python or a distributed runtime is left out; the other functions of the file are there.
import numpy as np
from tvm.relax import BasePyModule
from tvm.script import ir as I
from tvm.script import relax as R

@I.ir_module
class M(BasePyModule):  # warning@9: found the base class BasePyModule, which needs Python; modules have no base class; left out [refused.python]
    @I.pyfunc  # warning@6: '@I.pyfunc' is not supported: it is a Python function; write it as an R.function or T.prim_func; left out [refused.python]
    def host(self, x):
        return np.exp(x)

    @R.function
    def through_host(x: R.Tensor((2,), "float32")):
        return R.call_py_func("host", (x,), out_ty=R.Tensor((2,), "float32"))  # warning@16: R.call_py_func needs Python, which Relish does not run; left out [unsupported.operator]

    @R.function
    def made_by_python(x: R.Tensor((2,), "float32")):
        return R.emit_te(topi.add, x, x)  # warning@16: R.emit_te needs Python, which Relish does not run; expected a prim_func and R.call_tir; left out [unsupported.operator]

    @R.function
    def distributed(x: R.DTensor((2,), "float32", "mesh[0]", "S[0]")):  # warning@24: R.DTensor: distributed tensors are not supported; left out [type.unsupported]
        return x

    @R.function
    def needs_it(x: R.Tensor((2,), "float32")):  # warning@9: 'needs_it' calls 'made_by_python', which is left out; left out [unsupported.callee]
        y = M.made_by_python(x)
        return y

    @R.function
    def main(x: R.Tensor((2,), "float32")):
        return R.add(x, x)
# expect
#| # from tvm.script import ir as I
#| # from tvm.script import relax as R
#|
#| @I.ir_module
#| class M:
#|     @R.function
#|     def main(x: R.Tensor((2,), dtype="float32")) -> R.Tensor((2,), dtype="float32"):
#|         gv: R.Tensor((2,), dtype="float32") = R.add(x, x)
#|         return gv
