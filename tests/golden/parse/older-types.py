# test: parse
@tvm.script.ir_module
class Old:
    @R.function
    def main(x: Tensor((1, 784), "float32"), y: Object, z: Tensor(_, "float32")):
        with relax.dataflow():
            gv = relax.op.nn.relu(x)
            relax.output(gv)
        return gv
# expect
#| module Old
#|   function main(x: R.Tensor((1, 784), dtype="float32"), y: R.Any, z: R.Tensor(dtype="float32")) -> R.Tensor((1, 784), dtype="float32"): 1 bindings in 1 blocks
