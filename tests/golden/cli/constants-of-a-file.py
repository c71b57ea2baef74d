# test: cli call constants-of-a-file.py main --arg x=ones
import numpy as np
from tvm.script import relax as R

N = 4
M = N // 2
N2 = np.zeros(3)

@R.function
def main(x: R.Tensor((N, M), "float32")) -> R.Tensor((N,), "float32"):
    return R.sum(x, axis=1)
# expect
#| out: float32 (4,)
#| [2, 2, 2, 2]
# expect stderr
#| constants-of-a-file.py:2:1: note: 4 statements of this Python file are skipped: only decorated classes and functions are read [python.skipped]
#|     import numpy as np
#|     ^~~~~~~~~~~~~~~~~~
