# test: cli call classifier-2022-jit.py main --tier jit --params p.npz --arg x=@x.npy --expect e.npz --rtol 1e-5 --atol 1e-6
# given: p.npz from tests/models/mlp/params.npz
# given: x.npy from tests/models/mlp/x.npy
# given: e.npz from tests/models/mlp/logits.npz
# tolerance: 8
import tvm
from tvm import relax
from tvm.script import relax as R
from tvm.script import tir as T

@tvm.script.ir_module
class Classifier:
    @T.prim_func
    def linear0(X: T.Buffer[(8, 16), "float32"], W: T.Buffer[(16, 12), "float32"], B: T.Buffer[(12,), "float32"], Z: T.Buffer[(8, 12), "float32"]):
        T.func_attr({"global_symbol": "linear0", "tir.noalias": True})
        Y = T.alloc_buffer((8, 12), "float32")
        for i, j, k in T.grid(8, 12, 16):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + X[vi, vk] * W[vk, vj]
        for i, j in T.grid(8, 12):
            with T.block("Z"):
                vi, vj = T.axis.remap("SS", [i, j])
                Z[vi, vj] = Y[vi, vj] + B[vj]

    @T.prim_func
    def relu(X: T.Buffer[(8, 12), "float32"], Y: T.Buffer[(8, 12), "float32"]):
        T.func_attr({"global_symbol": "relu", "tir.noalias": True})
        for i, j in T.grid(8, 12):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = T.max(X[vi, vj], T.float32(0))

    @T.prim_func
    def linear1(X: T.Buffer[(8, 12), "float32"], W: T.Buffer[(12, 4), "float32"], B: T.Buffer[(4,), "float32"], Z: T.Buffer[(8, 4), "float32"]):
        T.func_attr({"global_symbol": "linear1", "tir.noalias": True})
        Y = T.alloc_buffer((8, 4), "float32")
        for i, j, k in T.grid(8, 4, 12):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + X[vi, vk] * W[vk, vj]
        for i, j in T.grid(8, 4):
            with T.block("Z"):
                vi, vj = T.axis.remap("SS", [i, j])
                Z[vi, vj] = Y[vi, vj] + B[vj]

    @R.function
    def main(x: Tensor((8, 16), "float32"), w0: Tensor((16, 12), "float32"), b0: Tensor((12,), "float32"),
             w1: Tensor((12, 4), "float32"), b1: Tensor((4,), "float32")):
        with R.dataflow():
            lv0 = R.call_tir(linear0, (x, w0, b0), (8, 12), dtype="float32")
            lv1 = R.call_tir(relu, (lv0,), (8, 12), dtype="float32")
            out = R.call_tir(linear1, (lv1, w1, b1), (8, 4), dtype="float32")
            R.output(out)
        return out
# expect
