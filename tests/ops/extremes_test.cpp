// Every operator at the ends of the integers: each number among its attributes, scalars and shapes, and each
// dimension of its tensors, becomes one that no program means. Whatever is done with it, the call is refused
// by a class that is the user's, or it runs in both tiers alike and gives what its type says; and where the
// size of a result has a simple formula, it is that formula's value in integers of 128 bits.
#include <catch2/catch.hpp>

#include <cstdlib>
#include <functional>

#include "ir/calls/entry.h"
#include "shell/session.h"
#include "support/limits.h"
#include "support/memory.h"
#include "tests/ops/agreement.h"

namespace relish::testing {
namespace {

constexpr std::int64_t extremes[] = {0,
                                     -1,
                                     INT32_MAX,
                                     std::int64_t{1} << 31,
                                     std::int64_t{1} << 32,
                                     (std::int64_t{1} << 32) + 1,
                                     std::int64_t{1} << 62,
                                     (std::int64_t{1} << 62) + 1,
                                     INT64_MAX,
                                     INT64_MIN};
constexpr std::uint64_t memory_for_a_call = std::uint64_t{64} << 20;

// --memory-limit for as long as this lives.
class SmallMemory {
 public:
  SmallMemory() : before_(limits().memory_bytes) {
    limits().memory_bytes = memory_held() + memory_for_a_call;
  }
  ~SmallMemory() { limits().memory_bytes = before_; }

 private:
  std::uint64_t before_;
};

// The attribute with its k-th integer replaced; `seen` counts those that were passed.
Attribute with_integer(const Attribute& attribute, std::size_t k, std::int64_t value, std::size_t& seen) {
  if (attribute.as<std::int64_t>()) return seen++ == k ? Attribute(value) : attribute;
  const auto* list = attribute.as<AttributeList>();
  if (!list) return attribute;
  AttributeList items;
  for (const Attribute& item : *list) items.push_back(with_integer(item, k, value, seen));
  return items;
}

// The calls that differ from this one in one integer among attributes, scalars and shapes, which is
// `extreme`.
std::vector<OperatorCase> with_number(const OperatorCase& original, std::int64_t extreme) {
  std::vector<OperatorCase> result;
  const auto add = [&](std::size_t i, decltype(CaseArgument::value) value) {
    result.push_back(original);
    result.back().arguments[i].value = std::move(value);
    result.back().label += fmt::format(" with {} in argument {}", extreme, i);
  };
  for (std::size_t i = 0; i < original.arguments.size(); ++i) {
    const CaseArgument& argument = original.arguments[i];
    if (const auto* shape = std::get_if<Shape>(&argument.value)) {
      for (std::size_t d = 0; d < shape->size(); ++d) {
        Shape changed = *shape;
        changed[d] = extreme;
        add(i, changed);
      }
    } else if (const auto* scalar = std::get_if<ScalarValue>(&argument.value)) {
      if (scalar->dtype == DType::Int64) add(i, ScalarValue::of_int(extreme));
    } else if (const auto* attribute = std::get_if<Attribute>(&argument.value)) {
      std::size_t count = 0;
      with_integer(*attribute, SIZE_MAX, 0, count);
      for (std::size_t k = 0; k < count; ++k) {
        std::size_t seen = 0;
        add(i, with_integer(*attribute, k, extreme, seen));
      }
    }
  }
  return result;
}

// What happened: the class of a refusal and its rule, or nothing when `work` was done. A refusal by a class
// that tells of a defect is a finding.
std::string refusal_of(const std::function<void()>& work) {
  try {
    work();
    return "";
  } catch (const Failure& failure) {
    const Diagnostic& first = failure.diagnostics().front();
    INFO(first.message);
    CHECK(first.error_class != ErrorClass::Internal);
    return fmt::format("{} [{}]", name_of(first.error_class), first.id);
  } catch (const std::bad_alloc&) {  // the program reports it as the limit that it is
    return fmt::format("{} [memory]", name_of(ErrorClass::ResourceLimit));
  }
}

template <class Visit>
void for_each_sample(Visit&& visit) {
  for (const Op* op : operators_under_test()) {
    int number = 0;
    for (const Sample& sample : op->samples) {
      const std::string label = fmt::format("{} #{}: {}", op->name, ++number, sample.args);
      visit(case_of_sample(*op, sample.args, label), number);
    }
  }
}

// Compiling what is accepted takes most of the time: of every operator the first samples.
constexpr int compiled_samples = 2;

void run_extreme(const OperatorCase& extreme, bool compiled) {
  INFO(extreme.label);
  BuiltCall call;
  if (!refusal_of([&] { call = build_call(extreme); }).empty()) return;
  Value value;
  const std::string refused = refusal_of([&] {
    const SmallMemory small;
    value = interpreter().call(call.module, "main", call.values);
  });
  if (refused.empty()) CHECK(fits(type_of(value), call.type) != Fit::Never);
  if (!compiled) return;
  Value other;
  const std::string refused_compiled = refusal_of([&] {
    const SmallMemory small;
    other = jit(1).call(call.module, "main", call.values);
  });
  CHECK(refused_compiled == refused);
  if (refused.empty() && refused_compiled.empty()) CHECK(disagreement_by_class(extreme, other, value) == "");
}

}  // namespace

TEST_CASE("no number crashes an operator or gives it a wrong shape", "[ops][extremes]") {
  int calls = 0;
  for_each_sample([&](const OperatorCase& sample, int number) {
    for (const std::int64_t extreme : extremes) {
      for (const OperatorCase& call : with_number(sample, extreme)) {
        run_extreme(call, number <= compiled_samples);
        ++calls;
      }
    }
  });
  CHECK((calls > 1000 || std::getenv("RELISH_OPS")));
}

TEST_CASE("no dimension crashes the type rule of an operator", "[ops][extremes]") {
  for_each_sample([&](const OperatorCase& sample, int) {
    const std::vector<const Tensor*> tensors = sample.tensors();
    for (std::size_t t = 0; t < tensors.size(); ++t) {
      for (std::size_t d = 0; d < tensors[t]->shape().size(); ++d) {
        for (const std::int64_t extreme : extremes) {
          if (extreme < 0) continue;  // types have none
          INFO(sample.label << " with " << extreme << " as dimension " << d << " of tensor " << t);
          refusal_of([&] { infer_with_dimension(sample, t, d, extreme); });
        }
      }
    }
  });
}

// --- Sizes by formula, in integers that do not overflow.

namespace {

using Wide = __int128;

// The last dimension of the result of a call, or nothing when it is refused.
std::optional<std::int64_t> inferred_size(std::string_view op_name, const std::string& arguments) {
  const Op* op = find_op(op_name);
  REQUIRE(op);
  const OperatorCase operator_case = case_of_sample(*op, arguments, std::string(op_name) + " " + arguments);
  std::optional<std::int64_t> size;
  refusal_of([&] {
    const BuiltCall call = build_call(operator_case);
    const TensorType* type = call.type.tensor();
    REQUIRE((type && type->shape && !type->shape->empty()));
    size = type->shape->back().as_int();
  });
  return size;
}

// A call that is accepted has the size; one whose size fits no int64 is refused.
void check_size(std::string_view op, const std::string& arguments, Wide wanted) {
  INFO(op << " " << arguments);
  const std::optional<std::int64_t> found = inferred_size(op, arguments);
  if (found) CHECK(Wide{*found} == wanted);
  if (wanted > INT64_MAX) CHECK_FALSE(found);
}

}  // namespace

TEST_CASE("sizes near the ends of the integers are those of arithmetic without ends", "[ops][extremes]") {
  start_language();
  for (const std::int64_t n : extremes) {
    const Wide wide = n;
    const std::string x = "rand((1, 1, 3, 4), \"float32\")";
    if (n >= 0) {
      check_size("repeat", fmt::format("{}, {}, axis=3", x, n), 4 * wide);
      check_size("tile", fmt::format("{}, [{}]", x, n), 4 * wide);
      check_size("nn.pad", fmt::format("{}, [0, 0, 0, 0, 0, 0, {}, {}]", x, n, n), 4 + 2 * wide);
      check_size("nn.max_pool2d", fmt::format("{}, pool_size=[1, 2], padding=[0, {}]", x, n),
                 4 + 2 * wide - 1);
      check_size("nn.conv2d", fmt::format("{}, rand((1, 1, 1, 1), \"float32\"), padding=[0, {}]", x, n),
                 4 + 2 * wide);
    }
    if (n > 0) {
      check_size("nn.conv2d",
                 fmt::format("{}, rand((1, 1, 1, 2), \"float32\"), dilation=[1, {}], padding=[0, 2]", x, n),
                 std::max(Wide{0}, 4 + 4 - (wide + 1) + 1));
      check_size("arange", fmt::format("0, {}, {}", n, n), 1);
      check_size("arange", fmt::format("-9223372036854775808, {}", n), wide + (Wide{1} << 63));
    }
    if (n != 0) {
      const Wide count = n > 0 ? (Wide{INT64_MAX} - 1) / n + 1 : 0;
      check_size("arange", fmt::format("0, 9223372036854775807, {}", n), count);
    }
  }
}

}  // namespace relish::testing
