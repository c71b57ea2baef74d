# test: parse
"""A lecture file: everything but the decorated declarations is skipped."""
import numpy as np
import tvm
from tvm.script import relax as R

def plot(values):
    return [v ** 2 for v in values if v]

@R.function
def main(x: R.Tensor((2,), "float32")):
    y = R.nn.relu(x)
    return y

weights = np.random.rand(2, 3)
try:
    print(plot([1, 2]))
except ValueError as error:
    raise
# expect
#| function main(x: R.Tensor((2,), dtype="float32")) -> R.Tensor((2,), dtype="float32"): 1 bindings in 1 blocks
