# test: cli check python-functions-left-out.py
from tvm.script import ir as I, relax as R, tir as T
from mylib import thing as other_thing

@T.macro(hygienic=False)
def body(A, B, i):
    B[i] = A[i] + T.float32(1)

def helper(x):
    return x

doubled = lambda x: x * 2
class Config:
    width = 4
config = Config()
size, other = config.width, 2
if True:
    wide = config.width

@I.ir_module
class M:
    @T.prim_func
    def p(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            body(A, B, i)

    @T.macro
    def inner(A, B, i):
        B[i] = A[i]

    @T.prim_func
    def p1(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            inner(A, B, i)

    @T.prim_func
    def p2(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(config.width):
            B[i] = doubled(A[i])

    @R.function
    def f(x: R.Tensor((4,), "float32")):
        return helper(x)

    @R.function
    def g(x: R.Tensor((4,), "float32")):
        return M.f(x)

    @R.function
    def d(x: R.Tensor((size,), "float32")):
        return x

    @R.function
    def e(x: R.Tensor((4,), "float32")):
        return other_thing(x)

    @R.function
    def k(x: R.Tensor((wide,), "float32")):
        return x

    @R.function
    def h(x: R.Tensor((4,), "float32")):
        return x
# expect stderr
#| python-functions-left-out.py:3:1: note: 8 statements of this Python file are skipped: only decorated classes and functions are read [python.skipped]
#|     from mylib import thing as other_thing
#|     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#| python-functions-left-out.py:25:13: warning: found 'body', which Python expands by @T.macro; write its statements here; left out [refused.python]
#|                 body(A, B, i)
#|                 ^~~~
#| python-functions-left-out.py:27:6: warning: '@T.macro' is not supported: it is expanded by Python; write its statements where they are used; left out [refused.python]
#|         @T.macro
#|          ^~~~~~~
#| python-functions-left-out.py:34:13: warning: found 'inner', which Python expands by @T.macro; write its statements here; left out [refused.python]
#|                 inner(A, B, i)
#|                 ^~~~~
#| python-functions-left-out.py:38:24: warning: found 'config', a name of Python's, whose statements do not run here; write its value; left out [refused.python]
#|             for i in range(config.width):
#|                            ^~~~~~~~~~~~
#| python-functions-left-out.py:43:16: warning: found 'helper', a function of Python, which does not run here; write what it makes; left out [refused.python]
#|             return helper(x)
#|                    ^~~~~~
#| python-functions-left-out.py:46:9: warning: 'g' calls 'f', which is left out; left out [unsupported.callee]
#|         def g(x: R.Tensor((4,), "float32")):
#|             ^
#| python-functions-left-out.py:50:24: warning: found 'size', a name of Python's, whose statements do not run here; write its value; left out [refused.python]
#|         def d(x: R.Tensor((size,), "float32")):
#|                            ^~~~
#| python-functions-left-out.py:55:16: warning: found 'other_thing', a name of Python's, whose statements do not run here; write its value; left out [refused.python]
#|             return other_thing(x)
#|                    ^~~~~~~~~~~
#| python-functions-left-out.py:58:24: warning: found 'wide', a name of Python's, whose statements do not run here; write its value; left out [refused.python]
#|         def k(x: R.Tensor((wide,), "float32")):
#|                            ^~~~
