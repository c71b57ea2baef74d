// What the plan of a call says it holds is what it holds: it runs with little more, and not with little less.
#include "support/limits.h"
#include "support/memory.h"
#include "support/memory_reserve.h"
#include "tests/unit/jit/helpers.h"
#include "tests/unit/jit/texts.h"

using namespace relish;
using namespace relish::test;

namespace {

class MemoryLimit {
 public:
  explicit MemoryLimit(std::uint64_t bytes) : before_(limits().memory_bytes) {
    limits().memory_bytes = bytes;
  }
  MemoryLimit(const MemoryLimit&) = delete;
  ~MemoryLimit() { limits().memory_bytes = before_; }

 private:
  const std::uint64_t before_;
};

bool runs_with(const ModulePtr& module, const std::vector<Value>& args, std::uint64_t bytes) {
  const auto engine = make_jit({.threads = 1});
  engine->prepare(module, "main", args);
  const MemoryLimit limit(bytes);
  try {
    engine->call(module, "main", args);
    return true;
  } catch (const Failure& failure) {
    CHECK(failure.error_class() == ErrorClass::ResourceLimit);
    return false;
  }
}

// The plan of main, which is held against real calls.
Footprint checked(const std::string& text, const std::vector<Value>& args) {
  const ModulePtr module = module_from(text);
  const Footprint found = footprint_of(module, "main", args, 1);
  CHECK(found.complete);
  give_reserves_back();
  std::uint64_t others = memory_held();
  for (const Value& arg : args)
    others -= arg.is_tensor() ? static_cast<std::uint64_t>(arg.tensor().byte_size()) : 0;
  const auto peak = static_cast<double>(found.peak);
  INFO("peak " << found.peak << ", of others " << others);
  CHECK(runs_with(module, args, others + static_cast<std::uint64_t>(1.05 * peak)));
  CHECK_FALSE(runs_with(module, args, others + static_cast<std::uint64_t>(0.95 * peak)));
  return found;
}

// A step of training that owns its parameter and its state: both are updated in their places.
const char* const step_text =
    "    @R.function\n"
    "    def gradient(x: R.Tensor((512, 512), \"float32\"), w: R.Tensor((512, 512), \"float32\")):\n"
    "        y = R.matmul(x, w)\n"
    "        return R.sum(R.multiply(y, y)), R.matmul(R.permute_dims(x), y)\n"
    "    @R.function\n"
    "    def main(p: R.Tuple(R.Tensor((512, 512), \"float32\"), R.Tensor((512, 512), \"float32\")), "
    "x: R.Tensor((512, 512), \"float32\")):\n"
    "        r = M.gradient(x, p[0])\n"
    "        v = R.add(R.multiply(R.const(0.9, \"float32\"), p[1]), r[1])\n"
    "        w = R.subtract(p[0], R.multiply(R.const(0.1, \"float32\"), v))\n"
    "        return r[0], (w, v)\n";

const std::string whole = "@I.ir_module\nclass M:\n";
Tensor megabyte() { return numbers(DType::Float32, {512, 512}); }
constexpr std::int64_t mib = 1 << 20;

}  // namespace

TEST_CASE("a chain of products: temporaries share the arena", "[jit]") {
  const Footprint found = checked(whole +
                                      "    @R.function\n"
                                      "    def main(x: R.Tensor((\"n\", 512), \"float32\")):\n"
                                      "        a = R.matmul(x, R.permute_dims(x))\n"
                                      "        b = R.matmul(a, x)\n"
                                      "        c = R.matmul(b, R.permute_dims(x))\n"
                                      "        d = R.matmul(c, x)\n"
                                      "        return R.matmul(d, x)\n",
                                  {megabyte()});
  CHECK(found.arguments == mib);
  CHECK(found.results == mib);
  CHECK(found.arena >= 2 * mib);
  CHECK(found.arena <= 3 * mib);
  CHECK(found.buffers > 0);
  REQUIRE(found.parts.size() >= 6);
  CHECK(found.parts.front().bytes == mib);
  std::int64_t results = 0, line_of_result = 0;
  for (const Footprint::Part& part : found.parts) {
    if (part.kind != Footprint::Kind::Result) continue;
    ++results;
    line_of_result = Sources::instance().find(part.span.file)->position(part.span.begin).line;
    CHECK(part.shape == Shape{512, 512});
  }
  CHECK(results == 1);
  CHECK(line_of_result == 9);
}

TEST_CASE("loops, branches and callees: what a round leaves is given back in the next", "[jit]") {
  const Footprint found =
      checked(whole +
                  "    @R.function\n"
                  "    def step(x: R.Tensor((512, 512), \"float32\")) -> R.Tensor((512, 512), \"float32\"):\n"
                  "        return R.matmul(R.matmul(x, x), x)\n"
                  "    @R.function\n"
                  "    def main(x: R.Tensor((512, 512), \"float32\"), c: R.Tensor((), \"bool\")):\n"
                  "        y = x\n"
                  "        for i in range(6):\n"
                  "            y = M.step(y)\n"
                  "        if c:\n"
                  "            z = R.matmul(y, x)\n"
                  "        else:\n"
                  "            z = R.add(y, x)\n"
                  "        return z, R.sum(z)\n",
              {megabyte(), Tensor::scalar_int(DType::Bool, 1)});
  CHECK(found.peak < 8 * mib);
}

TEST_CASE("a step of training that owns its parameters holds them once, as planned", "[jit]") {
  const ModulePtr module = module_from(whole + step_text);
  const auto arguments = [] {
    return std::vector<Value>{Value::tuple({megabyte(), megabyte()}), megabyte()};
  };
  const Footprint apart = footprint_of(module, "main", arguments(), 1);
  const Footprint found = footprint_of(module, "main", arguments(), 1, {0});
  CHECK(found.complete);
  CHECK(found.donated == 2 * mib);
  CHECK(found.results == 64);
  CHECK(apart.donated == 0);
  CHECK(apart.results == 2 * mib + 64);
  CHECK(found.peak <= apart.peak - mib);
  CHECK(std::count_if(found.parts.begin(), found.parts.end(), [](const Footprint::Part& part) {
          return part.kind == Footprint::Kind::Donated;
        }) == 2);
  const auto engine = make_jit({.threads = 1});
  prepare_giving(*engine, module, "main", arguments(), {0});
  const auto runs = [&](double share) {
    std::vector<Value> given = arguments();
    give_reserves_back();
    const MemoryLimit limit(memory_held() - 3 * mib +
                            static_cast<std::uint64_t>(share * static_cast<double>(found.peak)));
    try {
      call_giving(*engine, module, "main", std::move(given), {0});
      return true;
    } catch (const Failure&) {
      return false;
    }
  };
  CHECK(runs(1.05));
  CHECK_FALSE(runs(0.95));
}

TEST_CASE("constants, shared results and sizes of scalars", "[jit]") {
  const Footprint found =
      checked(whole +
                  "    @R.function\n"
                  "    def main(x: R.Tensor((512, 512), \"float32\"), s: R.Shape([\"n\"])):\n"
                  "        n = T.int64()\n"
                  "        w = R.const([[1.0, 2.0, 3.0, 4.0]], \"float32\")\n"
                  "        a = R.ones(R.shape([n, 512]), \"float32\")\n"
                  "        b = R.matmul(a, x)\n"
                  "        return (b, b, x, R.sum(w))\n",
              {megabyte(), Value(ShapeValue{{1024}})});
  CHECK(found.arguments == mib);
  CHECK(found.constants >= 16);
  CHECK(found.results >= 2 * mib);
  CHECK(found.results < 4 * mib + mib / 2);
}

TEST_CASE("what only the run shows is said to be open", "[jit]") {
  const ModulePtr module = module_from(whole +
                                       "    @R.function\n"
                                       "    def main(x: R.Tensor((512, 512), \"float32\")):\n"
                                       "        return R.unique(x)\n");
  CHECK_FALSE(footprint_of(module, "main", {megabyte()}, 1).complete);
  CHECK_THROWS_AS(footprint_of(module, "other", {megabyte()}, 1), Failure);
  CHECK_THROWS_AS(footprint_of(module, "main", {numbers(DType::Float32, {2})}, 1), Failure);
}

TEST_CASE("a prim_func: its results and its buffers, those of parallel loops on each thread", "[jit]") {
  const ModulePtr module = module_from(
      "@T.prim_func\n"
      "def f(A: T.Buffer((64, 4096), \"float32\"), C: T.Buffer((64, 4096), \"float32\")):\n"
      "    for i in T.parallel(64):\n"
      "        with T.sblock(\"row\"):\n"
      "            held = T.alloc_buffer((4096,), \"float32\")\n"
      "            for j in range(4096):\n"
      "                held[j] = A[i, 4095 - j] + A[i, j]\n"
      "            for j in range(4096):\n"
      "                C[i, j] = held[4095 - j]\n");
  const Footprint one = footprint_of(module, "f", {numbers(DType::Float32, {64, 4096})}, 1);
  CHECK(one.arguments == mib);
  CHECK(one.results == mib);
  CHECK(one.buffers == 4096 * 4);
  CHECK(footprint_of(module, "f", {numbers(DType::Float32, {64, 4096})}, 3).buffers == 3 * 4096 * 4);
}

TEST_CASE("a function that is called again takes no memory for what is temporary", "[jit]") {
  const ModulePtr module = module_from(whole +
                                       "    @R.function\n"
                                       "    def main(x: R.Tensor((2100, 4096), \"float32\")):\n"
                                       "        y = R.cumsum(x, axis=1)\n"
                                       "        z = R.cumsum(y, axis=1)\n"
                                       "        return R.sum(R.cumsum(z, axis=1))\n");
  const auto engine = make_jit({.threads = 1});
  const Value x = Value(Tensor::zeros(DType::Float32, {2100, 4096}));
  CHECK(footprint_of(module, "main", {x}, 1).arena > 64 * mib);
  for (int i = 0; i < 2; ++i) engine->call(module, "main", {x});
  const std::uint64_t blocks = code_counts().blocks, held = memory_held();
  for (int i = 0; i < 3; ++i) engine->call(module, "main", {x});
  CHECK(code_counts().blocks == blocks);
  CHECK(memory_held() == held);
  // Until something else needs the room.
  const MemoryLimit limit(held + mib);
  const Tensor other = Tensor::empty(DType::UInt8, {40 * mib});
  CHECK(memory_held() < held);
  CHECK(other.defined());
}
