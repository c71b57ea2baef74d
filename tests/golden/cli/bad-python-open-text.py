# test: cli check bad-python-open-text.py
# about: a text that is never closed takes the declarations behind it in, also where its statement is skipped
# exit: 3
from tvm.script import ir as I, relax as R
note = """begun

@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        return x + x
# expect stderr
#| bad-python-open-text.py:5:1: note: 1 statement of this Python file is skipped: only decorated classes and functions are read [python.skipped]
#|     note = """begun
#|     ^~~~~~~~~~~~~~~
#| bad-python-open-text.py:5:8: error[SyntaxError]: found a string that is never closed; expected """ [syntax.string]
#|     note = """begun
#|            ^~~
