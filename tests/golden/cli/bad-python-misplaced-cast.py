# test: cli check bad-python-misplaced-cast.py
# exit: 4
from tvm.script import relax as R

# Nothing that only Python has: the file is wrong.
@R.function
def f(x: R.Tensor(ndim=1, dtype="float32")):
    return R.match_cast(x, R.Tensor((2,), "float32"))
# expect stderr
#| bad-python-misplaced-cast.py:8:12: error[TypeError]: found R.match_cast inside an expression; expected y = R.match_cast(x, type) [expression.value]
#|         return R.match_cast(x, R.Tensor((2,), "float32"))
#|                ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
