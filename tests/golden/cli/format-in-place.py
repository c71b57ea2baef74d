# test: cli fmt format-in-place.py -o format-in-place.py
# shows: format-in-place.py
import torch
from tvm.script import ir as I, relax as R

rate = 0.1   # kept as it is

# The model.
@I.ir_module
class M:  # head
  """What M is."""

  @R.function
  def main(x: R.Tensor((2,3),'float32')):
    """Sums."""
    # in it
    y = R.exp( x )   # exp
    return R.sum(y)

  # between

  @R.function(pure=False)
  def other(x: R.Tensor((2,3),'float32')): return x

def train(model):
    try:
        return [lambda: i for i in model]
    except ValueError:
        raise
# expect
#| --- format-in-place.py
#|
#|
#| import torch
#| from tvm.script import ir as I, relax as R
#|
#| rate = 0.1   # kept as it is
#|
#| # The model.
#| @I.ir_module
#| class M:  # head
#|   """What M is."""
#|
#|   @R.function
#|   def main(x: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((), dtype="float32"):
#|       # Sums.
#|       # in it
#|       y: R.Tensor((2, 3), dtype="float32") = R.exp(x)  # exp
#|       gv: R.Tensor((), dtype="float32") = R.sum(y, axis=None, keepdims=False)
#|       return gv
#|
#|   # between
#|
#|   @R.function(pure=False)
#|   def other(x: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
#|       return x
#|
#| def train(model):
#|     try:
#|         return [lambda: i for i in model]
#|     except ValueError:
#|         raise
# expect stderr
#| format-in-place.py:3:1: note: 3 statements of this Python file are skipped: only decorated classes and functions are read [python.skipped]
#|     import torch
#|     ^~~~~~~~~~~~
