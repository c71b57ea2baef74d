# test: cli run run-of-declarations.py
# about: a file that declares and does nothing says what is there and which command runs it
import numpy as np


@R.function
def f(x: R.Tensor((2,), "float32")):
    return R.exp(x)


@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        return R.exp(x)
# expect stderr
#| run-of-declarations.py:3:1: note: 1 statement of this Python file is skipped: only decorated classes and functions are read [python.skipped]
#|     import numpy as np
#|     ^~~~~~~~~~~~~~~~~~
#| note: run-of-declarations.py declares module M (main), functions (f) and has no statements to run; relish call run-of-declarations.py M.main calls a function, relish check run-of-declarations.py checks all
