// The compiled tier against the interpreter: abs(jit - interpreted) <= 8 * max(abs(interpreted - wide), bound
// of the loosest agreement class in the program), where `wide` is the interpreter on the program with all
// floats widened to float64. Programs of exact steps only must agree to the bit. Integers must be equal: the
// generator keeps away from ties that rounding could turn over.
#include <cmath>

#include "ir/printer/printer.h"
#include "jit/jit.h"
#include "tests/generate/checks.h"
#include "tests/generate/values.h"
#include "tests/golden/tolerance.h"

namespace relish::generate {

Evaluator& compiled(int threads) {
  static std::map<int, std::unique_ptr<Evaluator>> engines;
  std::unique_ptr<Evaluator>& engine = engines[threads];
  if (!engine) engine = threads == 1 ? make_jit({.threads = 1}) : on_threads(compiled(1), threads);
  return *engine;
}

namespace {

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

Value widened(const Value& value) {
  if (value.is_tensor() && is_float(value.tensor().dtype())) {
    Tensor result = Tensor::empty(DType::Float64, value.tensor().shape());
    for (std::int64_t i = 0; i < result.size(); ++i) result.set_double(i, value.tensor().get_double(i));
    return result;
  }
  if (value.is_scalar() && is_float(value.scalar().dtype)) return ScalarValue::of_real(value.scalar().real);
  if (value.is_tuple()) {
    std::vector<Value> fields;
    for (const Value& field : value.fields()) fields.push_back(widened(field));
    return Value::tuple(std::move(fields));
  }
  return value;
}

// The result of the program with every float dtype replaced; nothing when that program is not accepted (a
// dtype that the text names otherwise).
std::optional<Value> wide_result(const Program& program) {
  std::string text = print(*program.module);
  for (const char* narrow : {"\"bfloat16\"", "\"float16\"", "\"float32\""})
    text = replaced(text, narrow, "\"float64\"");
  for (const char* narrow : {"T.bfloat16(", "T.float16(", "T.float32("})
    text = replaced(text, narrow, "T.float64(");
  for (const char* narrow : {": T.bfloat16", ": T.float16", ": T.float32"})
    text = replaced(text, narrow, ": T.float64");
  std::vector<std::string> ignored;
  const ModulePtr module = read_back(text, "", ignored);
  if (!module) return std::nullopt;
  std::vector<Value> inputs;
  for (const Value& input : program.inputs) inputs.push_back(widened(input));
  return outcome_of(reference(), module, "main", std::move(inputs)).value;
}

// What an element was computed in: a float64 that was cast from float32 is a number of that, and so is the
// other tier's.
DType precision_of(DType dtype, double a, double b) {
  const auto is_narrow = [](double value) { return static_cast<double>(static_cast<float>(value)) == value; };
  return dtype == DType::Float64 && is_narrow(a) && is_narrow(b) ? DType::Float32 : dtype;
}

// The bound of a class for one element, where nothing is known of its terms.
double class_bound(int agreement, DType dtype, double value) {
  if (agreement <= 3) return 0;
  const testing::Closeness allowed = testing::closeness(6, dtype);
  return allowed.rtol * std::abs(value) + allowed.atol;
}

std::string compare(const Tensor& found, const Tensor& wanted, const Tensor* wide, int agreement) {
  if (found.dtype() != wanted.dtype() || found.shape() != wanted.shape())
    return "the types of the results differ";
  double spread = 0;
  const bool comparable = wide && wide->shape() == wanted.shape() && is_float(wide->dtype());
  for (std::int64_t i = 0; comparable && i < wanted.size(); ++i) {
    const double difference = std::abs(wanted.get_double(i) - wide->get_double(i));
    if (std::isfinite(difference)) spread = std::max(spread, difference);
  }
  if (agreement <= 3) spread = 0;
  for (std::int64_t i = 0; i < wanted.size(); ++i) {
    if (!is_float(wanted.dtype())) {
      if (found.get_int(i) == wanted.get_int(i)) continue;
      return fmt::format("element {}: compiled {}, interpreted {}", i, found.get_int(i), wanted.get_int(i));
    }
    const double a = found.get_double(i), b = wanted.get_double(i);
    if ((std::isnan(a) && std::isnan(b)) || a == b) continue;
    const DType dtype = precision_of(wanted.dtype(), a, b);
    if (std::abs(a - b) <= 8 * std::max(spread, class_bound(agreement, dtype, b))) continue;
    return fmt::format("element {}: compiled {}, interpreted {}, spread {}, class {}", i, a, b, spread,
                       agreement);
  }
  return {};
}

std::string compare(const Value& found, const Value& wanted, const Value* wide, int agreement) {
  if (found.is_tensor() && wanted.is_tensor())
    return compare(found.tensor(), wanted.tensor(), wide && wide->is_tensor() ? &wide->tensor() : nullptr,
                   agreement);
  if (found.is_tuple() && wanted.is_tuple() && found.fields().size() == wanted.fields().size()) {
    for (std::size_t i = 0; i < wanted.fields().size(); ++i) {
      const Value* field = wide && wide->is_tuple() ? &wide->fields()[i] : nullptr;
      std::string problem = compare(found.fields()[i], wanted.fields()[i], field, agreement);
      if (!problem.empty()) return fmt::format("field {}: {}", i, problem);
    }
    return {};
  }
  return same_bits(found, wanted) ? "" : "the values differ";
}

// With memory of its own.
Value copied(const Value& value) {
  if (value.is_tensor()) return value.tensor().copy();
  if (!value.is_tuple()) return value;
  std::vector<Value> fields;
  for (const Value& field : value.fields()) fields.push_back(copied(field));
  return Value::tuple(std::move(fields));
}

// Of a call whose caller gives all arguments up, so that results may take their places.
Outcome outcome_of_giving(const Program& program) {
  std::vector<Value> args;
  GivenParams all;
  for (const Value& input : program.inputs) {
    all.push_back(args.size());
    args.push_back(copied(input));
  }
  try {
    return {call_giving(compiled(1), program.module, "main", std::move(args), all), ""};
  } catch (const Failure& failure) {
    if (failure.error_class() == ErrorClass::Internal) throw;
    return {std::nullopt, text_of(failure)};
  }
}

// Whether the result is of moderate size and no decision in the program turns over when its inputs move a
// little, so that two sound ways of computing it come near each other.
bool is_steady(const Program& program, const Value& result) {
  if (!is_moderate(result)) return false;
  Random random(program.options.seed);
  for (int round = 0; round < 2; ++round) {
    std::vector<Value> inputs;
    for (const Value& input : program.inputs) inputs.push_back(moved(random, input));
    const Outcome other = outcome_of(reference(), program.module, "main", std::move(inputs));
    if (!other.value || !is_near(*other.value, result)) return false;
  }
  return true;
}

}  // namespace

bool is_not_lowered(const Outcome& outcome) {
  return outcome.fault.ends_with(".lowering]") || outcome.fault.ends_with("[legalize.shape]");
}

std::vector<std::string> agreement_findings(const Program& program, Tally& tally, Draw draw) {
  const Outcome wanted = outcome_of(reference(), program.module, "main", program.inputs);
  const Outcome found = outcome_of(compiled(1), program.module, "main", program.inputs);
  if (is_not_lowered(found)) return {};
  ++tally["compiled"];
  const bool exact = program.agreement <= 3;
  // What was computed before may stand in the words.
  const bool told =
      exact ? found.fault == wanted.fault : testing::text_disagreement(found.fault, wanted.fault, 6).empty();
  if (!told) return {fmt::format("compiled: '{}', interpreted: '{}'", found.fault, wanted.fault)};
  if (!wanted.value) return {};
  if (program.options.special_values && !exact) {
    ++tally["special values, not exact"];
    return {};
  }
  if (draw == Draw::Unjudged && !exact && !is_steady(program, *wanted.value)) {
    ++tally["not steady"];
    return {};
  }
  const std::optional<Value> wide = wide_result(program);
  if (wide) ++tally["widened"];
  ++tally["compared"];
  if (exact) ++tally["held to the bit"];
  const std::string problem =
      compare(*found.value, *wanted.value, wide ? &*wide : nullptr, program.agreement);
  return problem.empty() ? std::vector<std::string>{} : std::vector<std::string>{problem};
}

std::vector<std::string> tier_findings(const Program& program, Tally& tally) {
  std::vector<std::string> findings;
  const auto add = [&](std::vector<std::string> more) {
    findings.insert(findings.end(), more.begin(), more.end());
  };
  const Outcome wanted = outcome_of(reference(), program.module, "main", program.inputs);
  const Outcome one = outcome_of(compiled(1), program.module, "main", program.inputs);
  const auto differs = [&](const Outcome& other) {
    return one.fault != other.fault || (one.value && other.value && !same_bits(*one.value, *other.value));
  };
  if (wanted.value) ++tally["ran"];
  if (wanted.value && !program.options.special_values) {
    ++tally["ran on ordinary values"];
    if (is_finite(*wanted.value)) ++tally["finite"];
  }
  for (const int threads : {1, 2, 3})
    if (differs(outcome_of(compiled(threads), program.module, "main", program.inputs)))
      findings.push_back(fmt::format("the bits depend on the number of threads: {}", threads));
  if (program.options.seed % 8 == 3) {
    ++tally["given"];
    if (differs(outcome_of_giving(program))) findings.push_back("the bits depend on who owns the arguments");
  }
  if (program.options.seed % 8 == 6) add(stored_code_findings(program, one, tally));
  add(agreement_findings(program, tally, Draw::Judged));
  add(other_sizes_findings(program, tally));
  if (program.options.seed % 4 == 1) add(bound_sizes_findings(program, tally));
  return findings;
}

}  // namespace relish::generate
