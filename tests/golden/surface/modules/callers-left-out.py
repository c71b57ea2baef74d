# test: print
# row: 1.1 module
# What calls a function that is left out is left out too, and so is a class that has nothing left.
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

@I.ir_module
class Nothing:
    @R.function
    def made_by_python(x: R.Tensor((2,), "float32")):
        return R.emit_te(topi.add, x, x)  # warning@16: R.emit_te needs Python, which Relish does not run; expected a prim_func and R.call_tir; left out [unsupported.operator]

@I.ir_module
class M:
    @T.prim_func(private=True)
    def of_threads(A: T.Buffer((2,), "float32"), B: T.Buffer((2,), "float32")):
        while T.tvm_thread_invariant(A[0] > T.float32(0)):  # warning@15: T.tvm_thread_invariant needs a GPU, which is not supported; left out [unsupported.device]
            B[0] = A[0]

    @R.function
    def calls(x: R.Tensor((2,), "float32")):  # warning@9: 'calls' calls 'of_threads', which is left out; left out [unsupported.callee]
        cls = M
        y = R.call_tir(cls.of_threads, (x,), out_ty=R.Tensor((2,), "float32"))
        return y

    @R.function
    def calls_the_caller(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):  # warning@9: 'calls_the_caller' calls 'calls', which is left out; left out [unsupported.callee]
        cls = M
        y: R.Tensor((2,), "float32") = cls.calls(x)
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
