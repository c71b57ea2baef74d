# test: check
# Texts behind TVM 0.26: loop nests and blocks of Ts, sizes that I.dynamic makes, above a function, in it, or in its header.
from __future__ import annotations
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import s_tir as Ts
from tvm.script import tirx as T

m = T.dynamic("m", "int64")

@I.ir_module
class Module:
    @Ts.prim_func(private=True)
    def double(A: T.Buffer((m, T.int64(3)), "float32"), B: T.Buffer((m, T.int64(3)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for i, j in T.grid(m, T.int64(3)):
            with Ts.sblock("double"):
                v, v_1 = Ts.axis.remap("SS", [i, j])
                Ts.reads(A[v, v_1])
                Ts.writes(B[v, v_1])
                B[v, v_1] = A[v, v_1] * T.float32(2.0)

    @R.function
    def main(x: R.Tensor((m, 3), dtype="float32")) -> R.Tensor((m, 3), dtype="float32"):
        cls = Module
        y = R.call_tir(cls.double, (x,), out_ty=R.Tensor((m, 3), dtype="float32"))
        return y

    @R.function
    def header[n](x: R.Tensor((n, 3), dtype="float32")) -> R.Tensor((n * 3,), dtype="float32"):
        return R.reshape(x, (n * 3,))

    @R.function
    def inside(x: R.Tensor(("k", 3), dtype="float32")):
        k = I.dynamic("k", dtype="int64")
        return R.zeros((k,), "float32")
