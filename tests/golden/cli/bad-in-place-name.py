# test: cli legalize bad-in-place-name.py -o bad-in-place-name.py
# exit: 2
from tvm.script import relax as R
T = 5

@R.function
def main(x: R.Tensor((2,), "float32")):
    return R.sum(x)
# expect stderr
#| bad-in-place-name.py:4:1: note: 1 statement of this Python file is skipped: only decorated classes and functions are read [python.skipped]
#|     T = 5
#|     ^~~~~
#| relish: error[UsageError]: bad-in-place-name.py cannot be changed in its place: its name 'T' is not TVM's namespace; write to another file [program.in_place]
