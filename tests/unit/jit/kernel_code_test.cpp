// Kernels as code that people read.
#include "jit/kernel_code.h"

#include "tests/unit/jit/helpers.h"
#include "tests/unit/jit/texts.h"

using namespace relish;
using namespace relish::test;

namespace {

ModulePtr looped() {
  return module_from(
      "@I.ir_module\n"
      "class M:\n"
      "    @R.function\n"
      "    def main(w: R.Tensor((64, 64), \"float32\"), x: R.Tensor((64, 64), \"float32\")):\n"
      "        y = R.exp(x)\n"
      "        for i in range(4):\n"
      "            w = R.subtract(w, R.multiply(R.const(0.5, \"float32\"), y))\n"
      "        return w\n");
}

}  // namespace

TEST_CASE("the kernels of a function as LLVM's code, before and after it is optimized", "[jit][code]") {
  const auto generated = kernel_code_of(looped(), "main", CodeForm::Generated);
  const auto optimized = kernel_code_of(looped(), "main", CodeForm::Optimized);
  REQUIRE(generated.size() == 2);
  REQUIRE(optimized.size() == 2);
  CHECK(generated[0].name == "exp");
  CHECK(generated[1].name == "fused_multiply_subtract_in_place");
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(generated[i].text.find("define") != std::string::npos);
    CHECK(optimized[i].text.find("define") != std::string::npos);
    CHECK(generated[i].text != optimized[i].text);
    CHECK(Sources::instance().find(generated[i].span.file) != nullptr);
  }
  // Loops became vectors.
  CHECK(optimized[1].text.find(" x float>") != std::string::npos);
}

TEST_CASE("one kernel of a function as instructions, and a prim_func itself", "[jit][code]") {
  const auto one = kernel_code_of(looped(), "main", CodeForm::Machine, "exp");
  REQUIRE(one.size() == 2);
  CHECK(one[0].text.find("ret") != std::string::npos);
  CHECK(one[0].text.find("define") == std::string::npos);
  CHECK(one[1].text.empty());
  const ModulePtr module = module_from(
      "@T.prim_func\n"
      "def f(A: T.Buffer((64,), \"float32\"), B: T.Buffer((64,), \"float32\")):\n"
      "    for i in range(64):\n"
      "        B[i] = A[i] + T.float32(1.0)\n");
  const auto itself = kernel_code_of(module, "f", CodeForm::Generated);
  REQUIRE(itself.size() == 1);
  CHECK(itself[0].name == "f");
  CHECK_THROWS_AS(kernel_code_of(module, "g", CodeForm::Generated), Failure);
}

TEST_CASE("loops that a text vectorizes become vectors, whatever they compute", "[jit][code]") {
  const auto inserted = [](const std::string& from, const std::string& to, const std::string& value) {
    const ModulePtr module =
        module_from("@T.prim_func\ndef f(A: T.Buffer((256,), \"" + from + "\"), B: T.Buffer((256,), \"" + to +
                    "\")):\n    for i in range(16):\n        for lane in T.vectorized(16):\n"
                    "            B[i * 16 + lane] = " +
                    value + "\n");
    const std::string text = kernel_code_of(module, "f", CodeForm::Optimized).at(0).text;
    INFO(text);
    CHECK(text.find(" x " + std::string(to == "float32" ? "float>" : "i32>")) != std::string::npos);
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find("insertelement", at)) != std::string::npos; ++at) ++count;
    return count;
  };
  // One for each number that all lanes have, none for each lane.
  constexpr std::size_t lanes = 16;
  CHECK(inserted("float32", "float32", "T.exp(A[i * 16 + lane])") < lanes);
  CHECK(inserted("int32", "int32", "A[i * 16 + lane] // 3 + A[i * 16 + lane] % 7") < lanes);
  CHECK(inserted("uint8", "float32", "T.Cast(\"float32\", A[i * 16 + lane])") < lanes);
}
