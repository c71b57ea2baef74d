# test: cli check skipped-statements-of-python.py
import torch
x = torch.zeros(3)

@I.ir_module
class M:
    @R.function
    def f(x: R.Tensor((3,), "float32")):
        return x
# expect stderr
#| skipped-statements-of-python.py:2:1: note: 2 statements of this Python file are skipped: only decorated classes and functions are read [python.skipped]
#|     import torch
#|     ^~~~~~~~~~~~
