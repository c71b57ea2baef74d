# test: cli check bad-python-file-with-a-fault-of-its-own.py
# exit: 4
import torch
from tvm.script import ir as I, relax as R

x = torch.zeros(3)
n = torch.zeros(3)
width = 4

@I.ir_module
class M:
    @R.function
    def hidden(x: R.Tensor((4,), "float32"), n: R.Tensor((4,), "float32")):
        return R.matmul(x, n, wrong=1)

    @R.function
    def strings(a: R.Tensor(("n", 4), "float32")):
        return R.reshape(a, ("n - n", width))

    @R.function
    def constant(a: R.Tensor((4,), "float32")):
        return R.reshape(a, (width, 3))
# expect stderr
#| bad-python-file-with-a-fault-of-its-own.py:3:1: note: 4 statements of this Python file are skipped: only decorated classes and functions are read [python.skipped]
#|     import torch
#|     ^~~~~~~~~~~~
#| bad-python-file-with-a-fault-of-its-own.py:14:31: error[TypeError]: matmul: unknown argument 'wrong'; expected x1, x2, out_dtype [matmul.keyword]
#|             return R.matmul(x, n, wrong=1)
#|                                   ^~~~~
#| bad-python-file-with-a-fault-of-its-own.py:18:29: error[TypeError]: reshape: shape is ["n - n", 4]; expected a shape [reshape.shape]
#|             return R.reshape(a, ("n - n", width))
#|                                 ^~~~~~~~~~~~~~~~
#| bad-python-file-with-a-fault-of-its-own.py:22:16: error[TypeError]: reshape: x of shape (4,) does not reshape to (4, 3): the number of elements differs [reshape.shape]
#|             return R.reshape(a, (width, 3))
#|                    ^~~~~~~~~~~~~~~~~~~~~~~~
