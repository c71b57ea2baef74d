// Gradients of generated programs in float64: the derivative along random directions, of all inputs and of
// each alone, against five-point differences. A direction along which two step lengths or the two sides give
// different quotients meets a kink and is drawn anew; the generator moves inputs off the round numbers where
// kinks are.
#include <cmath>

#include "ir/calls/entry.h"
#include "ir/printer/printer.h"
#include "tests/generate/checks.h"
#include "tests/generate/values.h"
#include "transform/gradient.h"

namespace relish::generate {
namespace {

constexpr int directions = 4;
constexpr double rtol = 1e-5, atol = 1e-7;

// Whether values of the type carry derivatives.
bool is_varied(const Value& value) {
  if (value.is_tensor()) return value.tensor().dtype() == DType::Float64;
  if (!value.is_tuple() || value.fields().empty()) return false;
  for (const Value& field : value.fields()) {
    if (!is_varied(field)) return false;
  }
  return true;
}

// Elements of a value in order, each passed to `visit` to be read or changed.
template <class F>
Value mapped(const Value& value, F&& visit) {
  if (value.is_tuple()) {
    std::vector<Value> fields;
    for (const Value& field : value.fields()) fields.push_back(mapped(field, visit));
    return Value::tuple(std::move(fields));
  }
  Tensor result = value.tensor().copy();
  for (std::int64_t i = 0; i < result.size(); ++i) result.set_double(i, visit(result.get_double(i)));
  return result;
}

// The loss on a line through the program's inputs, in a direction of all that are varied or of one alone.
class Line {
 public:
  explicit Line(const Program& program) : program_(program) {
    for (std::size_t i = 0; i < program.inputs.size(); ++i) {
      if (is_varied(program.inputs[i])) varied_.push_back(i);
    }
  }

  std::size_t count() const { return varied_.size(); }
  // The input that moves alone, by its place among the varied; none: all move.
  void restrict_to(std::optional<std::size_t> one) { one_ = one; }
  const std::string& name(std::size_t k) const {
    return program_.module->function("main")->params[varied_[k]].name();
  }

  // The loss at `t` along the direction that `seed` draws.
  double loss(std::uint64_t seed, double t) const {
    Random draw(seed);
    std::vector<Value> at = program_.inputs;
    for (std::size_t k = 0; k < varied_.size(); ++k) {
      if (one_ && *one_ != k) continue;
      Value& input = at[varied_[k]];
      input = mapped(input, [&](double x) { return x + t * draw.uniform(-1, 1); });
    }
    return reference().call(program_.module, "main", at).tensor().get_double(0);
  }

  double quotient(std::uint64_t seed, double h) const {
    return (8 * (loss(seed, h) - loss(seed, -h)) - (loss(seed, 2 * h) - loss(seed, -2 * h))) / (12 * h);
  }

  // Whether the one-sided quotients agree: at a kink itself the two-sided ones do for every step length.
  bool is_smooth_here(std::uint64_t seed, double slope) const {
    constexpr double h = 1e-6;
    const double here = loss(seed, 0), ahead = (loss(seed, h) - here) / h,
                 behind = (here - loss(seed, -h)) / h;
    return std::abs(ahead - behind) <= 1e-3 * (1 + std::abs(slope));
  }

  // The gradient times the direction.
  double slope(std::uint64_t seed, const Value& gradients) const {
    Random draw(seed);
    double total = 0;
    for (std::size_t k = 0; k < varied_.size(); ++k) {
      if (one_ && *one_ != k) continue;
      mapped(gradients.fields()[k], [&](double g) {
        total += g * draw.uniform(-1, 1);
        return g;
      });
    }
    return total;
  }

 private:
  const Program& program_;
  std::vector<std::size_t> varied_;
  std::optional<std::size_t> one_;
};

bool is_zero(const Value& value) {
  bool zero = true;
  mapped(value, [&](double x) {
    zero = zero && x == 0;
    return x;
  });
  return zero;
}

// Where the compiled tier's result is another: rounding aside, which the program's steps make larger.
std::string difference(const Value& found, const Value& wanted) {
  if (wanted.is_tuple()) {
    if (!found.is_tuple() || found.fields().size() != wanted.fields().size()) return "the types differ";
    for (std::size_t i = 0; i < wanted.fields().size(); ++i) {
      const std::string inner = difference(found.fields()[i], wanted.fields()[i]);
      if (!inner.empty()) return fmt::format("field {}: {}", i, inner);
    }
    return {};
  }
  if (!wanted.is_tensor()) return {};
  const Tensor &a = found.tensor(), &b = wanted.tensor();
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) {
    return fmt::format("compiled {}, interpreted {}", print(type_of(found)), print(type_of(wanted)));
  }
  double largest = 1;
  for (std::int64_t i = 0; i < b.size(); ++i) largest = std::max(largest, std::abs(b.get_double(i)));
  for (std::int64_t i = 0; i < b.size(); ++i) {
    if (!(std::abs(a.get_double(i) - b.get_double(i)) <= 1e-9 * largest))
      return fmt::format("element {}: compiled {}, interpreted {}", i, a.get_double(i), b.get_double(i));
  }
  return {};
}

}  // namespace

std::vector<std::string> gradient_findings(const Program& program, Tally& tally) {
  const FunctionPtr main = program.module->function("main");
  GradientOptions options;
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    if (is_varied(program.inputs[i])) options.wrt.push_back(main->params[i].name());
  }
  if (options.wrt.empty()) {
    ++tally["without inputs to differentiate"];
    return {};
  }
  Module adjoint;
  try {
    adjoint = gradient(*program.module, "main", options);
  } catch (const Failure& failure) {
    if (failure.error_class() == ErrorClass::Internal) throw;
    ++tally["refused"];
    return {"the gradient is refused: " + text_of(failure)};
  }
  std::vector<std::string> findings;
  Program printed = program;
  printed.module = std::make_shared<const Module>(std::move(adjoint));
  Tally ignored;
  for (const std::string& finding : round_trip_findings(printed, ignored))
    findings.push_back("adjoint: " + finding);

  for (std::string& finding : adjoint_findings(program, printed.module, tally))
    findings.push_back(std::move(finding));
  return findings;
}

std::vector<std::string> adjoint_findings(const Program& program, const ModulePtr& adjoint, Tally& tally) {
  const Outcome found = outcome_of(reference(), adjoint, "main_adjoint", program.inputs);
  if (!found.value) return {"the adjoint faults: " + found.fault};
  const Value& gradients = found.value->fields().at(1);
  if (!is_finite(gradients)) return {"the gradient is not finite"};
  std::vector<std::string> findings;
  const Outcome fast = outcome_of(compiled(1), adjoint, "main_adjoint", program.inputs);
  if (fast.value) {
    ++tally["adjoint compiled"];
    const std::string problem = difference(*fast.value, *found.value);
    if (!problem.empty()) findings.push_back("the compiled adjoint differs: " + problem);
  } else if (!is_not_lowered(fast)) {
    findings.push_back("the compiled adjoint faults: " + fast.fault);
  }
  Random random(program.options.seed ^ 0x5bd1e995);
  Line line(program);
  bool any = false;
  // One direction that is kept, if there is one in five.
  const auto check = [&](const std::string& what, bool zero) {
    for (int draw = 0; draw < 5; ++draw) {
      const std::uint64_t seed = random.next();
      ++tally["directions drawn"];
      const double near = line.quotient(seed, 2.5e-4), far = line.quotient(seed, 1e-3);
      const double slope = line.slope(seed, gradients);
      const double allowed = rtol * std::abs(near) + atol;
      if (!(std::abs(near - far) <= allowed)) continue;  // a kink, or a function too steep for the stencil
      if (!line.is_smooth_here(seed, near)) continue;
      // A loss so large that its rounding hides the slope.
      if (1e-16 * std::abs(line.loss(seed, 0)) / 2.5e-4 > allowed + rtol * std::abs(slope)) continue;
      ++tally["directions kept"];
      any = true;
      if (std::abs(slope - near) <= 2 * allowed) return;
      findings.push_back(
          zero ? fmt::format("a silent zero: the gradient of {}; differences give {}", what, near)
               : fmt::format("slope {} along a direction of {}, differences give {}", slope, what, near));
      return;
    }
  };
  for (int direction = 0; direction < directions; ++direction) check("all inputs", false);
  for (std::size_t k = 0; k < line.count(); ++k) {
    line.restrict_to(k);
    const bool zero = is_zero(gradients.fields()[k]);
    check(fmt::format("'{}'", line.name(k)), zero);
  }
  ++tally["checked"];
  if (any) ++tally["compared"];
  return findings;
}

}  // namespace relish::generate
