// A condition is true, false or open, as in the logic of Kleene; what is open may hold. An equation that
// fixes the loop variable by data holds in one iteration at most, whichever that is.
#include "loops/reached_iterations.h"

#include <algorithm>

#include "support/failure.h"

namespace relish {
namespace {

// In the place of sizes: a condition that holds in several iterations for one of them is one that does.
constexpr std::int64_t examples[] = {7, 1000};
// Beyond these nothing is shown.
constexpr std::int64_t most_iterations_tried = 4096;
constexpr std::size_t most_conditions_tried = 1 << 16;

enum class Truth : std::uint8_t { No, Open, Yes };

Truth negated(Truth truth) {
  return truth == Truth::Open ? Truth::Open : truth == Truth::Yes ? Truth::No : Truth::Yes;
}

// Variables by identity.
using Values = std::vector<std::pair<std::uint64_t, std::int64_t>>;

std::optional<std::int64_t> find_in(const Values& values, const ScalarVar& var) {
  for (const auto& [id, value] : values)
    if (id == var.id()) return value;
  return std::nullopt;
}

bool has_any(const Values& values, const Scalar& scalar) {
  std::vector<ScalarVar> vars;
  collect_vars(scalar, vars);
  return std::any_of(vars.begin(), vars.end(), [&](const ScalarVar& var) { return find_in(values, var); });
}

// The values of a loop variable: begin, begin + step, …
struct Range {
  std::int64_t begin = 0, count = 0, step = 1;
  std::int64_t at(std::int64_t i) const { return begin + i * step; }
  bool contains(std::int64_t value) const {
    return value >= begin && (value - begin) % step == 0 && (value - begin) / step < count;
  }
};

}  // namespace

// The loop where each size is one number.
struct ReachedIterations::Example {
  const ReachedIterations& reached;
  std::int64_t size;
  std::size_t left = most_conditions_tried;

  std::optional<std::int64_t> value_of(const Scalar& scalar, const Values& values) const {
    try {
      return evaluate_int(scalar, [&](const ScalarVar& var) -> std::optional<std::int64_t> {
        if (const auto known = find_in(values, var)) return known;
        return reached.varies_(var) ? std::nullopt : std::optional(size);
      });
    } catch (const Failure&) {
      return std::nullopt;  // a division by zero, in a condition that is not come to
    }
  }

  std::optional<Range> range_of(const For& loop, const Values& values) const {
    const auto begin = value_of(loop.begin, values), extent = value_of(loop.extent, values);
    const auto step = loop.step.defined() ? value_of(loop.step, values) : std::optional<std::int64_t>(1);
    if (!begin || !extent || !step || *step <= 0) return std::nullopt;
    return Range{*begin, *extent / *step + (*extent % *step > 0 ? 1 : 0), *step};
  }
  std::optional<Range> iterations() const {
    auto range = range_of(reached.loop_, {});
    if (range) range->count = std::min(range->count, most_iterations_tried);
    return range;
  }

  bool fixes_the_iteration(const Compare& n) const {
    const auto is_index = [&](const Scalar& a, const Scalar& b) {
      const Cast* cast = a.as<Cast>();
      const auto var = (cast ? cast->a : a).as_var();
      return var && *var == reached.loop_.var && reached.is_same_(b);
    };
    return n.op == CompareOp::Eq && (is_index(n.a, n.b) || is_index(n.b, n.a));
  }

  Truth truth(const Scalar& condition, const Values& values) const {
    if (const auto* n = condition.as<Logical>()) {
      const Truth a = truth(n->a, values), b = truth(n->b, values);
      return n->op == LogicalOp::And ? std::min(a, b) : std::max(a, b);
    }
    if (const auto* n = condition.as<Not>()) return negated(truth(n->a, values));
    std::vector<ScalarVar> vars;
    collect_vars(condition, vars);
    if (!vars.empty() && !has_any(values, condition) && reached.is_same_(condition)) return Truth::Open;
    if (const auto value = value_of(condition, values)) return *value != 0 ? Truth::Yes : Truth::No;
    const auto* compared = condition.as<Compare>();
    if (!compared || !fixes_the_iteration(*compared)) return Truth::Open;
    const auto range = iterations();
    return range && find_in(values, reached.loop_.var) == range->begin ? Truth::Open : Truth::No;
  }

  // Whether the statement may be reached with these values, for some of the loops inside from there on.
  bool reaches(const Surroundings& at, const Values& values, std::size_t loop = 0) {
    if (left == 0) return false;
    if (loop == at.loops.size()) {
      --left;
      return std::all_of(at.guards.begin(), at.guards.end(), [&](const Guard& guard) {
        const Truth here = truth(guard.condition, values);
        return (guard.holds ? here : negated(here)) != Truth::No;
      });
    }
    const auto turns =
        find_in(values, at.loops[loop]->var) ? std::nullopt : range_of(*at.loops[loop], values);
    if (!turns) return reaches(at, values, loop + 1);
    for (std::int64_t i = 0; i < turns->count && left > 0; ++i) {
      Values inside = values;
      inside.emplace_back(at.loops[loop]->var.id(), turns->at(i));
      if (reaches(at, inside, loop + 1)) return true;
    }
    return false;
  }
  bool reaches_at(const Surroundings& at, std::int64_t value) {
    return reaches(at, {{reached.loop_.var.id(), value}});
  }
};

template <class Shows>
bool ReachedIterations::in_an_example(const Shows& shows) const {
  return std::any_of(std::begin(examples), std::end(examples), [&](std::int64_t size) {
    Example example{*this, size};
    const auto range = example.iterations();
    return range && shows(example, *range);
  });
}

bool ReachedIterations::several(const Surroundings& at) const {
  return in_an_example([&](Example& example, const Range& range) {
    int found = 0;
    for (std::int64_t i = 0; i < range.count && found < 2; ++i) found += example.reaches_at(at, range.at(i));
    return found == 2;
  });
}

bool ReachedIterations::apart(const Surroundings& here, const Surroundings& there,
                              std::int64_t distance) const {
  return in_an_example([&](Example& example, const Range& range) {
    for (std::int64_t i = 0; i < range.count; ++i) {
      const std::int64_t value = range.at(i);
      if (range.contains(value + distance) && example.reaches_at(here, value) &&
          example.reaches_at(there, value + distance))
        return true;
    }
    return false;
  });
}

bool ReachedIterations::apart(const Surroundings& at, std::int64_t distance, const ScalarVar& inner,
                              std::int64_t turns) const {
  const auto loop =
      std::find_if(at.loops.begin(), at.loops.end(), [&](const For* each) { return each->var == inner; });
  if (loop == at.loops.end()) return apart(at, at, distance);
  const std::uint64_t outer = loop_.var.id();
  return in_an_example([&](Example& example, const Range& range) {
    for (std::int64_t i = 0; i < range.count; ++i) {
      const std::int64_t value = range.at(i);
      const auto counted = example.range_of(**loop, {{outer, value}});
      if (!counted || !range.contains(value + distance)) continue;
      for (std::int64_t k = 0; k < std::min(counted->count, most_iterations_tried); ++k) {
        const std::int64_t turn = counted->at(k);
        if (counted->contains(turn + turns) && example.reaches(at, {{outer, value}, {inner.id(), turn}}) &&
            example.reaches(at, {{outer, value + distance}, {inner.id(), turn + turns}}))
          return true;
      }
    }
    return false;
  });
}

bool ReachedIterations::beside(const Surroundings& here, std::int64_t value,
                               const Surroundings& there) const {
  return in_an_example([&](Example& example, const Range& range) {
    if (!range.contains(value) || !example.reaches_at(here, value)) return false;
    for (std::int64_t i = 0; i < range.count; ++i)
      if (range.at(i) != value && example.reaches_at(there, range.at(i))) return true;
    return false;
  });
}

}  // namespace relish
