# test: cli check python-functions-left-out.py
from tvm.script import ir as I, relax as R, tir as T

@T.macro(hygienic=False)
def body(A, B, i):
    B[i] = A[i] + T.float32(1)

def helper(x):
    return x

@I.ir_module
class M:
    @T.prim_func
    def p(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            body(A, B, i)

    @R.function
    def f(x: R.Tensor((4,), "float32")):
        return helper(x)

    @R.function
    def g(x: R.Tensor((4,), "float32")):
        return M.f(x)

    @R.function
    def h(x: R.Tensor((4,), "float32")):
        return x
# expect stderr
#| python-functions-left-out.py:5:1: note: 2 statements of this Python file are skipped: only decorated classes and functions are read [python.skipped]
#|     def body(A, B, i):
#|     ^~~~~~~~~~~~~~~~~~
#| python-functions-left-out.py:16:13: warning: found 'body', which Python expands by @T.macro; write its statements here; left out [refused.python]
#|                 body(A, B, i)
#|                 ^~~~
#| python-functions-left-out.py:20:16: warning: found 'helper', a function of Python, which does not run here; write what it makes; left out [refused.python]
#|             return helper(x)
#|                    ^~~~~~
#| python-functions-left-out.py:23:9: warning: 'g' calls 'f', which is left out; left out [unsupported.callee]
#|         def g(x: R.Tensor((4,), "float32")):
#|             ^
