# test: cli check python-values-left-out.py
import numpy as np
import torch
import torch.nn.functional as F
from tvm.relax.frontend import nn
from tvm.script import ir as I, relax as R

data = np.random.rand(4)
shape = compute()
x = np.zeros(3)
width = 4

class Base:
    pass

@I.ir_module
class M(Base):
    @R.function
    def a(x: R.Tensor((4,), "float32")):
        return R.add(x, R.const(data, "float32"))

    @R.function
    def b(x: R.Tensor((4,), "float32")):
        return R.const([data[0], 1.0], "float32")

    @R.function
    def c(x: R.Tensor((4,), "float32")):
        return torch.relu(x)

    @R.function
    def d(x: R.Tensor((4,), "float32")):
        return F.relu(x)

    @R.function
    def e(x: R.Tensor((4,), "float32")):
        return nn.relu(x)

    @R.function
    def f(x: R.Tensor((4,), "float32")):
        y: shape = x
        return y

    @R.function
    def g(x: shape):
        return x

    @R.function
    def h(x: R.Tensor((4,), "float32")):
        R.func_attr({"width": shape})
        return x

    @R.function
    def i(x: R.Tensor((4,), "float32")):
        for j in torch.arange(3):
            x = R.exp(x)
        return x

    @R.function
    def main(x: R.Tensor((width,), "float32")):
        return R.add(x, R.const(np.ones(4), "float32"))
# expect stderr
#| python-values-left-out.py:2:1: note: 8 statements of this Python file are skipped: only decorated classes and functions are read [python.skipped]
#|     import numpy as np
#|     ^~~~~~~~~~~~~~~~~~
#| python-values-left-out.py:17:9: warning: found a base class of a module; modules have none; left out [refused.base]
#|     class M(Base):
#|             ^~~~
#| python-values-left-out.py:20:33: warning: found 'data', a name of Python's, whose statements do not run here; write its value; left out [refused.python]
#|             return R.add(x, R.const(data, "float32"))
#|                                     ^~~~
#| python-values-left-out.py:24:25: warning: found 'data', a name of Python's, whose statements do not run here; write its value; left out [refused.python]
#|             return R.const([data[0], 1.0], "float32")
#|                             ^~~~
#| python-values-left-out.py:28:16: warning: found a call of 'torch.relu', which an R.function cannot call; did you mean 'R.nn.relu'?; left out [refused.python]
#|             return torch.relu(x)
#|                    ^~~~~~~~~~
#| python-values-left-out.py:32:16: warning: found a call of 'F.relu', which an R.function cannot call; did you mean 'R.nn.relu'?; left out [refused.python]
#|             return F.relu(x)
#|                    ^~~~~~
#| python-values-left-out.py:36:16: warning: found the operator R.frontend.nn.relu, which is unknown; did you mean 'R.nn.relu'?; left out [refused.python]
#|             return nn.relu(x)
#|                    ^~~~~~~
#| python-values-left-out.py:40:12: warning: found 'shape', a name of Python's, whose statements do not run here; write its value; left out [refused.python]
#|             y: shape = x
#|                ^~~~~
#| python-values-left-out.py:44:14: warning: found 'shape', a name of Python's, whose statements do not run here; write its value; left out [refused.python]
#|         def g(x: shape):
#|                  ^~~~~
#| python-values-left-out.py:49:31: warning: found 'shape', a name of Python's, whose statements do not run here; write its value; left out [refused.python]
#|             R.func_attr({"width": shape})
#|                                   ^~~~~
#| python-values-left-out.py:54:18: warning: found a loop over a call of torch.arange in an R.function; expected range(...); left out [refused.python]
#|             for j in torch.arange(3):
#|                      ^~~~~~~~~~~~~~~
