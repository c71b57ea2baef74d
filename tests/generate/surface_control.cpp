// Ifs, loops, nested functions, recursion and closures of surface programs.
#include <fmt/format.h>

#include <algorithm>

#include "tests/generate/surface_graph.h"

namespace relish::generate {

void GraphWriter::if_statement(const Place& place) {
  w_.cover("if");
  // What comes out: names from before, which a way may leave as they are, or new ones that every way binds.
  struct Result {
    std::string name;
    Shown type;
    bool old;
  };
  std::vector<Result> results;
  for (std::int64_t count = w_.random.between(1, 2); count > 0; --count) {
    const auto old = w_.random.chance(0.2) ? scope_.some(Shown::Tuple) : scope_.some(Shown::Tensor);
    if (!old) continue;
    const bool taken = std::any_of(results.begin(), results.end(),
                                   [&](const Result& result) { return result.name == old->name; });
    const bool again = !taken && !scope_.pinned.contains(old->name) && w_.random.chance(0.4);
    if (old->type.kind == Shown::Tuple) w_.cover("tuple through branches");
    results.push_back({again ? old->name : scope_.fresh(), old->type, again});
  }
  if (results.empty()) return operator_statement(place);
  const bool all_old =
      std::all_of(results.begin(), results.end(), [](const Result& each) { return each.old; });
  const Place inside{.dataflow = false, .branch = true, .nested = place.nested, .depth = place.depth + 1};
  const auto way = [&](bool may_keep) {
    const GraphScope::Saved saved(scope_);
    for (const Result& result : results) scope_.pinned.insert(result.name);
    statements(w_.random.between(0, 2), inside);
    bool any = false;
    for (const Result& result : results) {
      if (may_keep && result.old && any && w_.random.chance(0.5)) continue;
      any = true;
      const std::string value = operands_.expression(result.type, inside);
      w_.line(fmt::format("{} = {}", result.name, value));
      scope_.know(result.name, result.type);
    }
  };
  w_.open("if " + operands_.condition(place) + ":");
  way(true);
  w_.close();
  for (std::int64_t count = w_.random.chance(0.25) ? w_.random.between(1, 2) : 0; count > 0; --count) {
    if (scope_.symbols.empty()) break;
    w_.cover("elif");
    w_.open(fmt::format("elif {} > {}:", w_.random.pick(scope_.symbols).text, w_.random.between(1, 4)));
    way(true);
    w_.close();
  }
  if (all_old && w_.random.chance(0.4)) {
    w_.cover("if without else");
  } else {
    w_.open("else:");
    way(true);
    w_.close();
  }
  for (const Result& result : results) scope_.know(result.name, result.type);
}

void GraphWriter::for_statement(const Place& place) {
  w_.cover("for");
  std::vector<Known> carried;
  for (std::int64_t count = w_.random.between(1, 2); count > 0; --count) {
    const auto old = scope_.some(Shown::Tensor);
    if (!old) break;
    const bool twice = std::any_of(carried.begin(), carried.end(),
                                   [&](const Known& each) { return each.name == old->name; });
    if (twice) continue;
    if (scope_.pinned.contains(old->name)) {
      const std::string name = scope_.fresh();
      w_.line(name + " = " + old->name);
      scope_.know(name, old->type);
      carried.push_back(scope_.known.back());
    } else {
      carried.push_back(*old);
    }
  }
  if (carried.empty()) return operator_statement(place);
  const std::string index = scope_.fresh();
  std::string range;
  std::vector<std::string> counts;
  for (const Known& each : scope_.known) {
    if (each.type.kind == Shown::Scalar && each.type.dtype == "int64") counts.push_back(each.name);
  }
  for (const Dim& symbol : scope_.symbols) counts.push_back(symbol.text);
  const std::string end = !counts.empty() && w_.random.chance(0.5) ? w_.random.pick(counts)
                                                                   : std::to_string(w_.random.between(0, 4));
  switch (w_.random.below(3)) {
    case 0:
      range = fmt::format("range({}, {})", w_.random.between(0, 2), end);
      break;
    case 1:
      range = fmt::format("range(0, {}, {})", end, w_.random.between(1, 2));
      break;
    default:
      range = w_.spelled_so() ? fmt::format("range({})", end) : fmt::format("range(0, {})", end);
  }
  const Place inside{.dataflow = false, .branch = true, .nested = place.nested, .depth = place.depth + 1};
  w_.open(fmt::format("for {} in {}:", index, range));
  {
    const GraphScope::Saved saved(scope_);
    for (const Known& each : carried) scope_.pinned.insert(each.name);
    if (w_.random.chance(0.3)) {
      w_.cover("condition on the index");
      const Known& first = carried.front();
      const std::string sign = w_.random.chance(0.5) ? ">" : "==";
      w_.open(fmt::format("if {} {} {}:", index, sign, w_.random.below(3)));
      const GraphScope::Saved way(scope_);
      w_.line(fmt::format("{} = {}", first.name, operands_.expression(first.type, inside)));
      w_.close();
    }
    statements(w_.random.between(0, 2), inside);
    for (const Known& each : carried)
      w_.line(fmt::format("{} = {}", each.name, operands_.expression(each.type, inside)));
  }
  w_.close();
  for (const Known& each : carried) scope_.know(each.name, each.type);
}

void GraphWriter::while_statement(const Place& place) {
  w_.cover("while");
  const Shown count{.kind = Shown::Tensor, .dtype = "int64"};
  const std::string counter = scope_.fresh();
  w_.line(counter + " = R.const(0, \"int64\")");
  scope_.know(counter, count);
  std::optional<Known> carried;
  for (const Known& each : scope_.known) {
    if (each.type.kind == Shown::Tensor && !scope_.pinned.contains(each.name) && each.name != counter)
      carried = each;
  }
  const std::int64_t times = w_.random.between(0, 3);
  const Place inside{.dataflow = false, .branch = true, .nested = place.nested, .depth = place.depth + 1};
  std::string flag;
  if (w_.random.chance(0.4)) {
    w_.cover("while with a flag");
    flag = scope_.fresh();
    w_.line(fmt::format("{} = R.less({}, R.const({}, \"int64\"))", flag, counter, times));
  }
  w_.open(flag.empty() ? fmt::format("while {}:",
                                     w_.spelled_so()
                                         ? fmt::format("{} < R.const({}, \"int64\")", counter, times)
                                         : fmt::format("R.less({}, R.const({}, \"int64\"))", counter, times))
                       : fmt::format("while {}:", flag));
  {
    const GraphScope::Saved saved(scope_);
    scope_.pinned.insert(counter);
    if (carried) scope_.pinned.insert(carried->name);
    statements(w_.random.between(0, 2), inside);
    if (carried) w_.line(fmt::format("{} = {}", carried->name, operands_.expression(carried->type, inside)));
    w_.line(fmt::format("{} = R.add({}, R.const(1, \"int64\"))", counter, counter));
    if (!flag.empty()) w_.line(fmt::format("{} = R.less({}, R.const({}, \"int64\"))", flag, counter, times));
  }
  w_.close();
  scope_.know(counter, count);
  if (carried) scope_.know(carried->name, carried->type);
}

// def inner(a): ..., which sees what is around it; called behind.
void GraphWriter::nested_statement(const Place& place) {
  if (place.nested || place.branch) return operator_statement(place);
  w_.cover("nested function");
  const std::string name = scope_.fresh();
  const Shown in = scope_.tensor_shown(), out = scope_.tensor_shown();
  const std::string param = scope_.fresh();
  w_.line("@R.function");
  w_.raw(
      fmt::format("def {}({}: {}) -> {}:", name, param, type_text(w_, in, false), type_text(w_, out, false)));
  ++w_.indent;
  {
    const GraphScope::Saved saved(scope_);
    const bool outer_pure = pure_;
    pure_ = true;
    for (const Known& each : scope_.known) scope_.pinned.insert(each.name);
    scope_.know(param, in);
    scope_.pinned.insert(param);
    statements(w_.random.between(0, 3), {.dataflow = false, .branch = false, .nested = true, .depth = 1});
    const std::string result = scope_.fresh();
    w_.line(fmt::format("{} = {}", result, operands_.expression(out, {.nested = true})));
    w_.line("return " + result);
    pure_ = outer_pure;
  }
  --w_.indent;
  Shown type{.kind = Shown::Function, .fields = {in, out}};
  scope_.know(name, type);
  scope_.pinned.insert(name);
  for (std::int64_t count = w_.random.between(1, 2); count > 0; --count) {
    const std::string arg = operands_.provide(in, place);
    operands_.bind_called(fmt::format("{}({})", name, arg), out, place);
  }
}

// A nested function that calls itself with a smaller number.
void GraphWriter::recursion_statement(const Place& place) {
  if (place.nested || place.branch) return operator_statement(place);
  w_.cover("recursion");
  const std::string name = scope_.fresh(), x = scope_.fresh(), k = scope_.fresh(), r = scope_.fresh();
  const Shown type = scope_.tensor_shown(), count{.kind = Shown::Tensor, .dtype = "int64"};
  const std::string x_type = type_text(w_, type, false);
  w_.line("@R.function");
  w_.raw(
      fmt::format("def {}({}: {}, {}: {}) -> {}:", name, x, x_type, k, type_text(w_, count, false), x_type));
  ++w_.indent;
  {
    const GraphScope::Saved saved(scope_);
    for (const Known& each : scope_.known) scope_.pinned.insert(each.name);
    scope_.know(x, type);
    scope_.pinned.insert(x);
    w_.open(fmt::format("if R.less({}, R.const(1, \"int64\")):", k));
    w_.line(r + " = " + x);
    w_.close();
    w_.open("else:");
    const std::string value = operands_.expression(type, {.branch = true, .nested = true, .depth = 2});
    if (w_.random.chance(0.5)) {
      w_.line(fmt::format("{} = {}({}, R.subtract({}, R.const(1, \"int64\")))", r, name, value, k));
    } else {
      const std::string less = scope_.fresh();
      w_.line(fmt::format("{} = R.subtract({}, R.const(1, \"int64\"))", less, k));
      w_.line(fmt::format("{} = {}({}, {})", r, name, value, less));
    }
    w_.close();
    w_.line("return " + r);
  }
  --w_.indent;
  const std::string arg = operands_.provide(type, place);
  operands_.bind_called(fmt::format("{}({}, R.const({}, \"int64\"))", name, arg, w_.random.between(0, 4)),
                        type, place);
}

// Functions as values: under another name, chosen by an if, given to a function.
void GraphWriter::closure_statement(const Place& place) {
  const auto function = scope_.some(Shown::Function);
  if (!function || place.branch || place.nested) return operator_statement(place);
  const Shown type = function->type;
  const Shown in = type.fields[0], out = type.fields[1];
  if (!loose()) {
    const std::string arg = operands_.provide(in, place);
    operands_.bind_called(fmt::format("{}({})", function->name, arg), out, place);
    return;
  }
  w_.cover("closure as a value");
  const std::string chosen = scope_.fresh();
  std::vector<std::string> same;
  for (const Known& each : scope_.known) {
    if (each.type == type) same.push_back(each.name);
  }
  switch (w_.random.below(3)) {
    case 0:
      w_.line(chosen + " = " + function->name);
      break;
    case 1:
      w_.open("if " + operands_.condition(place) + ":");
      w_.line(chosen + " = " + w_.random.pick(same));
      w_.close();
      w_.open("else:");
      w_.line(chosen + " = " + w_.random.pick(same));
      w_.close();
      break;
    default: {
      w_.cover("R.Callable parameter");
      const std::string applied = scope_.fresh(), f = scope_.fresh(), y = scope_.fresh();
      w_.line("@R.function");
      w_.raw(fmt::format("def {}({}: {}) -> {}:", applied, f, type_text(w_, type, false),
                         type_text(w_, out, false)));
      ++w_.indent;
      const std::string arg = [&] {
        const GraphScope::Saved saved(scope_);
        for (const Known& each : scope_.known) scope_.pinned.insert(each.name);
        return operands_.provide(in, {.branch = true, .nested = true, .depth = 2});
      }();
      w_.line(fmt::format("{} = {}({})", y, f, arg));
      w_.line("return " + y);
      --w_.indent;
      operands_.bind_called(fmt::format("{}({})", applied, function->name), out, place);
      return;
    }
  }
  scope_.know(chosen, type);
  scope_.pinned.insert(chosen);
  const std::string arg = operands_.provide(in, place);
  operands_.bind_called(fmt::format("{}({})", chosen, arg), out, place);
}

}  // namespace relish::generate
