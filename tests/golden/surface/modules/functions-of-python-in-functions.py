# test: print
# row: 1.1 module
# A built-in function of Python runs while TVM reads; what uses one is left out, the other functions are there.
import tvm
from tvm.script import relax as R

n = 4

@R.function
def told(x: R.Tensor((2,), "float32")):
    print(n)  # warning@5: found 'print', a function of Python, which does not run here; did you mean 'R.print'?; left out [refused.python]
    return R.exp(x)

@R.function
def sorted_axes(x: R.Tensor((2, 3), "float32")):
    return R.permute_dims(x, sorted([1, 0]))  # warning@30: found 'sorted', a function of Python, which does not run here; write R.sort(x); left out [refused.python]

@R.function
def main(x: R.Tensor((2,), "float32")):
    return R.exp(x)
# expect
#| # from tvm.script import relax as R
#|
#| @R.function
#| def main(x: R.Tensor((2,), dtype="float32")) -> R.Tensor((2,), dtype="float32"):
#|     gv: R.Tensor((2,), dtype="float32") = R.exp(x)
#|     return gv
