// Tensors in scripts: operators by one-binding functions, literals beside them, indexing, comparison.
#include <catch2/catch.hpp>

#include "tests/unit/shell/script_harness.h"

using relish::testing::Harness;
using relish::testing::run_alone;

TEST_CASE("operators and sugar on tensors") {
  CHECK(run_alone("tensor([1.0, 2.0]) + tensor([1.0, 1.0])") == "float32 (2,)\n[2, 3]\n");
  CHECK(run_alone("2 * tensor([1.5])") == "float32 (1,)\n[3]\n");
  CHECK(run_alone("-tensor([1, -2])") == "int64 (2,)\n[-1,  2]\n");
  CHECK(run_alone("R.sum(tensor([[1.0, 2.0], [3.0, 4.0]]), axis=[1])") == "float32 (2,)\n[3, 7]\n");
  CHECK(run_alone("tensor([[1.0, 2.0]]) @ tensor([[3.0], [4.0]])") == "float32 (1, 1)\n[[11]]\n");
  CHECK(run_alone("relax.nn.relu(tensor([-1.0, 1.0]))") == "float32 (2,)\n[0, 1]\n");
  CHECK(run_alone("sum(tensor([1.0, 2.0]))") == "float32 () 3\n");
  CHECK(run_alone("float(tensor(2.5)) + 1") == "3.5\n");
  CHECK(run_alone("tensor([1.0]).astype('int64').dtype") == "int64\n");
  CHECK(run_alone("tensor([[1, 2]]).shape") == "(1, 2)\n");
  CHECK(run_alone("R.const(1.5)") == "float32 () 1.5\n");
  CHECK(run_alone("R.const([1, 2])") == "int32 (2,)\n[1, 2]\n");
}

TEST_CASE("a number beside a tensor takes its dtype when it is a value of that kind") {
  CHECK(run_alone("tensor([1, 2]) + 1.5").starts_with("TypeError"));
  CHECK(run_alone("tensor([1], 'int8') + 300").starts_with("TypeError"));
  CHECK(run_alone("tensor([1.0]) + 16777217").starts_with("TypeError"));
  CHECK(run_alone("tensor([1.0]) + 0.1") == "float32 (1,)\n[1.1]\n");
  CHECK(run_alone("tensor([1.0]) + 1e300").starts_with("TypeError"));
  CHECK(run_alone("R.add(1, 2)").starts_with("TypeError"));
  CHECK(run_alone("tensor([1.0]) + 'a'").starts_with("TypeError"));
}

TEST_CASE("each operator says which operands a number is like") {
  const std::string c = "c = tensor([True, False])\nx = tensor([1.5, 2.5])\n";
  CHECK(run_alone(c + "R.where(c, x, 0.0)") == "float32 (2,)\n[1.5,   0]\n");
  CHECK(run_alone(c + "R.where(c, 0, x)") == "float32 (2,)\n[  0, 2.5]\n");
  CHECK(run_alone(c + "R.where(True, x, 0.0)") == "float32 (2,)\n[1.5, 2.5]\n");
  CHECK(run_alone(c + "R.where(c, 1, 0)").starts_with("TypeError"));
  CHECK(run_alone(c + "R.where(c, x, True)").starts_with("TypeError"));
  CHECK(run_alone(c + "R.where(c, tensor([1, 2]), 0.5)").starts_with("TypeError"));
  CHECK(run_alone(c + "R.take(x, 1, axis=0)") == "float32 () 2.5\n");
  CHECK(run_alone(c + "R.masked_fill(x, c, tensor(0.0))") == "float32 (2,)\n[  0, 2.5]\n");
  CHECK(run_alone(c + "R.masked_fill(x, c, 0)") == "float32 (2,)\n[  0, 2.5]\n");
  CHECK(run_alone(c + "R.masked_fill(x, c, x)").starts_with("TypeError"));
  CHECK(run_alone(c + "R.concat((x, tensor([3.5])))") == "float32 (3,)\n[1.5, 2.5, 3.5]\n");
}

TEST_CASE("the mean of integers is refused, and says what to write") {
  CHECK(run_alone("R.mean(tensor([1, 2]))").find("cast it with astype") != std::string::npos);
  CHECK(run_alone("R.mean(tensor([True]))").starts_with("TypeError"));
  CHECK(run_alone("R.mean(tensor([1, 2]).astype('float32'))") == "float32 () 1.5\n");
}

TEST_CASE("astype of a statement is the operator") {
  CHECK(run_alone("tensor([300.0, -5.0, 2.9]).astype('uint8')") == "uint8 (3,)\n[255,   0,   2]\n");
  CHECK(run_alone("tensor([300, -5]).astype('uint8')") == run_alone("R.astype(tensor([300, -5]), 'uint8')"));
  CHECK(run_alone("tensor([1.0]).astype('float7')").starts_with("TypeError"));
}

TEST_CASE("a shape equals a tuple or list of the same ints") {
  const std::string x = "x = zeros((2, 3))\n";
  CHECK(run_alone(x + "x.shape == (2, 3), x.shape == [2, 3], (2, 3) == x.shape, x.shape in [(2, 3)]") ==
        "(True, True, True, True)\n");
  CHECK(
      run_alone(x + "x.shape == (3, 2), x.shape == (2,), x.shape != (2, 3), x.shape == 2, x.shape == 'a'") ==
      "(False, False, False, False, False)\n");
}

TEST_CASE("no tensor has more dimensions than others can read") {
  CHECK(run_alone("R.reshape(tensor([1.0]), [1] * 32).ndim") == "32\n");
  CHECK(run_alone("R.reshape(tensor([1.0]), [1] * 33)").starts_with("ResourceLimit"));
  CHECK(run_alone("zeros([1] * 33)").starts_with("ResourceLimit"));
  CHECK(run_alone("R.expand_dims(zeros([1] * 32), 0)").starts_with("ResourceLimit"));
}

TEST_CASE("what tensors refuse") {
  CHECK(run_alone("[tensor([1])] == [1]").find("use R.equal or allclose") != std::string::npos);
  CHECK(run_alone("0 < tensor(1) < 2").starts_with("TypeError"));
  CHECK(run_alone("if tensor(1.0):\n    pass").starts_with("TypeError"));
  CHECK(run_alone("+tensor([1])").starts_with("TypeError"));
  CHECK(run_alone("tensor([[1], [1, 2]])").starts_with("TypeError"));
  CHECK(run_alone("tensor([1, True])").starts_with("TypeError"));
  CHECK(run_alone("tensor([300], 'int8')").starts_with("TypeError"));
  CHECK(run_alone("x = tensor([1])\nx[0] = 2.5").starts_with("TypeError"));
  CHECK(run_alone("tensor([1]).sizes").starts_with("TypeError"));
  CHECK(run_alone("R.exq(tensor([1.0]))").find("did you mean 'R.exp'") != std::string::npos);
  CHECK(run_alone("R.matmul(tensor([[1.0]]), tensor([[1.0, 2.0], [3.0, 4.0]]))").starts_with("TypeError"));
}

TEST_CASE("indexing of tensors") {
  const std::string x = "x = tensor([[1, 2, 3], [4, 5, 6]])\n";
  CHECK(run_alone(x + "x[1]") == "int64 (3,)\n[4, 5, 6]\n");
  CHECK(run_alone(x + "x[-1, 0]") == "int64 () 4\n");
  CHECK(run_alone(x + "x[:, 1:]") == "int64 (2, 2)\n[[2, 3],\n [5, 6]]\n");
  CHECK(run_alone(x + "x[::-1, 0]") == "int64 (2,)\n[4, 1]\n");
  CHECK(run_alone(x + "x[tensor([1, 0, 1])].shape") == "(3, 3)\n");
  CHECK(run_alone(x + "x[2]").starts_with("RuntimeError"));
  CHECK(run_alone(x + "x[0, 0, 0]").starts_with("TypeError"));
  CHECK(run_alone(x + "x[5:].shape") == "(0, 3)\n");
}

TEST_CASE("allclose, rand, zeros, ones") {
  CHECK(run_alone("allclose(tensor([1.0]), tensor([1.0000001]))") == "True\n");
  CHECK(run_alone("allclose(tensor([1.0]), tensor([1.1]))") == "False\n");
  CHECK(run_alone("allclose(tensor([1.0]), tensor([1.0, 2.0]))").starts_with("TypeError"));
  CHECK(run_alone("allclose(tensor([1.0]), 1)") == "True\n");
  CHECK(run_alone("allclose(rand((3,), seed=1), rand((3,), seed=1), rtol=0, atol=0)") == "True\n");
  CHECK(run_alone("allclose(rand((3,), seed=1), rand((3,), seed=2))") == "False\n");
  CHECK(run_alone("rand((2,), 'int32')").starts_with("TypeError"));
  CHECK(run_alone("zeros((2,), 'bool')") == "bool (2,)\n[False, False]\n");
  CHECK(run_alone("ones(2, 'int8')") == "int8 (2,)\n[1, 1]\n");
}
