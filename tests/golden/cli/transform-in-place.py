# test: cli passes transform-in-place.py -f free -p "gradient, legalize" -o transform-in-place.py
# shows: transform-in-place.py
from tvm.script import relax as R   # for the model
import numpy as np

# Over it.
@R.function
def free(x: R.Tensor((3,), "float32"), w: R.Tensor((3,), "float32")):
    return R.sum(R.multiply(x, w))

print(np.zeros(3))
# expect
#| --- transform-in-place.py
#|
#|
#| from tvm.script import relax as R   # for the model
#| from tvm.script import tirx as T
#| import numpy as np
#|
#| # Over it.
#| @R.function
#| def free(x: R.Tensor((3,), dtype="float32"), w: R.Tensor((3,), dtype="float32")) -> R.Tensor((), dtype="float32"):
#|     gv = R.call_tir(multiply, (x, w), out_ty=R.Tensor((3,), dtype="float32"))
#|     gv1 = R.call_tir(sum, (gv,), out_ty=R.Tensor((), dtype="float32"))
#|     return gv1
#|
#|
#| @R.function
#| def free_adjoint(x: R.Tensor((3,), dtype="float32"), w: R.Tensor((3,), dtype="float32")) -> R.Tuple(R.Tensor((), dtype="float32"), R.Tuple(R.Tensor((3,), dtype="float32"), R.Tensor((3,), dtype="float32"))):
#|     with R.dataflow():
#|         gv = R.call_tir(multiply, (x, w), out_ty=R.Tensor((3,), dtype="float32"))
#|         gv1 = R.call_tir(sum, (gv,), out_ty=R.Tensor((), dtype="float32"))
#|         gv1_adjoint = R.call_tir(ones, R.tuple(), out_ty=R.Tensor((), dtype="float32"))
#|         gv_adjoint = R.call_tir(broadcast_to, (gv1_adjoint,), out_ty=R.Tensor((3,), dtype="float32"))
#|         x_adjoint = R.call_tir(multiply, (gv_adjoint, w), out_ty=R.Tensor((3,), dtype="float32"))
#|         w_adjoint = R.call_tir(multiply, (gv_adjoint, x), out_ty=R.Tensor((3,), dtype="float32"))
#|         x_adjoint_out: R.Tensor((3,), dtype="float32") = x_adjoint
#|         w_adjoint_out: R.Tensor((3,), dtype="float32") = w_adjoint
#|         R.output(gv1, x_adjoint_out, w_adjoint_out)
#|     return (gv1, (x_adjoint_out, w_adjoint_out))
#|
#|
#| @T.prim_func(private=True, s_tir=True)
#| def multiply(x1: T.Buffer((T.int64(3),), "float32"), x2: T.Buffer((T.int64(3),), "float32"), result: T.Buffer((T.int64(3),), "float32")):
#|     T.func_attr({"tirx.noalias": True})
#|     # with T.sblock("root"):
#|     for i0 in range(T.int64(3)):
#|         with T.sblock("elementwise"):
#|             v_i0 = T.axis.spatial(T.int64(3), i0)
#|             T.reads(x1[v_i0], x2[v_i0])
#|             T.writes(result[v_i0])
#|             result[v_i0] = x1[v_i0] * x2[v_i0]
#|
#|
#| @T.prim_func(private=True, s_tir=True)
#| def sum(x: T.Buffer((T.int64(3),), "float32"), result: T.Buffer((), "float32")):
#|     T.func_attr({"tirx.noalias": True})
#|     # with T.sblock("root"):
#|     for k0 in range(T.int64(3)):
#|         with T.sblock("sum"):
#|             v_k0 = T.axis.reduce(T.int64(3), k0)
#|             T.reads(x[v_k0])
#|             T.writes(result[()])
#|             with T.init():
#|                 result[()] = T.float32(0.0)
#|             result[()] = result[()] + x[v_k0]
#|
#|
#| @T.prim_func(private=True, s_tir=True)
#| def ones(result: T.Buffer((), "float32")):
#|     T.func_attr({"tirx.noalias": True})
#|     # with T.sblock("root"):
#|     with T.sblock("fill"):
#|         T.reads()
#|         T.writes(result[()])
#|         result[()] = T.float32(1.0)
#|
#|
#| @T.prim_func(private=True, s_tir=True)
#| def broadcast_to(x: T.Buffer((), "float32"), result: T.Buffer((T.int64(3),), "float32")):
#|     T.func_attr({"tirx.noalias": True})
#|     # with T.sblock("root"):
#|     for i0 in range(T.int64(3)):
#|         with T.sblock("broadcast"):
#|             v_i0 = T.axis.spatial(T.int64(3), i0)
#|             T.reads(x[()])
#|             T.writes(result[v_i0])
#|             result[v_i0] = x[()]
#|
#| print(np.zeros(3))
# expect stderr
#| transform-in-place.py:4:1: note: 2 statements of this Python file are skipped: only decorated classes and functions are read [python.skipped]
#|     import numpy as np
#|     ^~~~~~~~~~~~~~~~~~
