// Ifs, loops, nested functions, recursion and closures of surface programs.
#include <fmt/format.h>

#include <algorithm>

#include "tests/generate/surface_graph.h"

namespace relish::generate {

void GraphWriter::if_statement(const Place& place) {
  w.cover("if");
  // What comes out: names from before, which a way may leave as they are, or new ones that every way binds.
  struct Result {
    std::string name;
    Shown type;
    bool old;
  };
  std::vector<Result> results;
  for (std::int64_t count = w.random.between(1, 2); count > 0; --count) {
    const auto old = w.random.chance(0.2) ? scope.some(Shown::Tuple) : scope.some(Shown::Tensor);
    if (!old) continue;
    const bool taken = std::any_of(results.begin(), results.end(),
                                   [&](const Result& result) { return result.name == old->name; });
    const bool again = !taken && !scope.pinned.contains(old->name) && w.random.chance(0.4);
    if (old->type.kind == Shown::Tuple) w.cover("tuple through branches");
    results.push_back({again ? old->name : scope.fresh(), old->type, again});
  }
  if (results.empty()) return operator_statement(place);
  const bool all_old =
      std::all_of(results.begin(), results.end(), [](const Result& each) { return each.old; });
  const Place inside{.dataflow = false, .branch = true, .nested = place.nested, .depth = place.depth + 1};
  const auto way = [&](bool may_keep) {
    const GraphScope::Saved saved(scope);
    for (const Result& result : results) scope.pinned.insert(result.name);
    statements(w.random.between(0, 2), inside);
    bool any = false;
    for (const Result& result : results) {
      if (may_keep && result.old && any && w.random.chance(0.5)) continue;
      any = true;
      const std::string value = operands.expression(result.type, inside);
      w.line(fmt::format("{} = {}", result.name, value));
      scope.know(result.name, result.type);
    }
  };
  w.open("if " + operands.condition(place) + ":");
  way(true);
  w.close();
  for (std::int64_t count = w.random.chance(0.25) ? w.random.between(1, 2) : 0; count > 0; --count) {
    if (scope.symbols.empty()) break;
    w.cover("elif");
    w.open(fmt::format("elif {} > {}:", w.random.pick(scope.symbols).text, w.random.between(1, 4)));
    way(true);
    w.close();
  }
  if (all_old && w.random.chance(0.4)) {
    w.cover("if without else");
  } else {
    w.open("else:");
    way(true);
    w.close();
  }
  for (const Result& result : results) scope.know(result.name, result.type);
}

void GraphWriter::for_statement(const Place& place) {
  w.cover("for");
  std::vector<Known> carried;
  for (std::int64_t count = w.random.between(1, 2); count > 0; --count) {
    const auto old = scope.some(Shown::Tensor);
    if (!old) break;
    const bool twice = std::any_of(carried.begin(), carried.end(),
                                   [&](const Known& each) { return each.name == old->name; });
    if (twice) continue;
    if (scope.pinned.contains(old->name)) {
      const std::string name = scope.fresh();
      w.line(name + " = " + old->name);
      scope.know(name, old->type);
      carried.push_back(scope.known.back());
    } else {
      carried.push_back(*old);
    }
  }
  if (carried.empty()) return operator_statement(place);
  const std::string index = scope.fresh();
  std::string range;
  std::vector<std::string> counts;
  for (const Known& each : scope.known) {
    if (each.type.kind == Shown::Scalar && each.type.dtype == "int64") counts.push_back(each.name);
  }
  for (const Dim& symbol : scope.symbols) counts.push_back(symbol.text);
  const std::string end = !counts.empty() && w.random.chance(0.5) ? w.random.pick(counts)
                                                                  : std::to_string(w.random.between(0, 4));
  switch (w.random.below(3)) {
    case 0:
      range = fmt::format("range({}, {})", w.random.between(0, 2), end);
      break;
    case 1:
      range = fmt::format("range(0, {}, {})", end, w.random.between(1, 2));
      break;
    default:
      range = w.spelled_so() ? fmt::format("range({})", end) : fmt::format("range(0, {})", end);
  }
  const Place inside{.dataflow = false, .branch = true, .nested = place.nested, .depth = place.depth + 1};
  w.open(fmt::format("for {} in {}:", index, range));
  {
    const GraphScope::Saved saved(scope);
    for (const Known& each : carried) scope.pinned.insert(each.name);
    if (w.random.chance(0.3)) {
      w.cover("condition on the index");
      const Known& first = carried.front();
      const std::string sign = w.random.chance(0.5) ? ">" : "==";
      w.open(fmt::format("if {} {} {}:", index, sign, w.random.below(3)));
      const GraphScope::Saved way(scope);
      w.line(fmt::format("{} = {}", first.name, operands.expression(first.type, inside)));
      w.close();
    }
    statements(w.random.between(0, 2), inside);
    for (const Known& each : carried)
      w.line(fmt::format("{} = {}", each.name, operands.expression(each.type, inside)));
  }
  w.close();
  for (const Known& each : carried) scope.know(each.name, each.type);
}

void GraphWriter::while_statement(const Place& place) {
  w.cover("while");
  const Shown count{.kind = Shown::Tensor, .dtype = "int64"};
  const std::string counter = scope.fresh();
  w.line(counter + " = R.const(0, \"int64\")");
  scope.know(counter, count);
  std::optional<Known> carried;
  for (const Known& each : scope.known) {
    if (each.type.kind == Shown::Tensor && !scope.pinned.contains(each.name) && each.name != counter)
      carried = each;
  }
  const std::int64_t times = w.random.between(0, 3);
  const Place inside{.dataflow = false, .branch = true, .nested = place.nested, .depth = place.depth + 1};
  std::string flag;
  if (w.random.chance(0.4)) {
    w.cover("while with a flag");
    flag = scope.fresh();
    w.line(fmt::format("{} = R.less({}, R.const({}, \"int64\"))", flag, counter, times));
  }
  w.open(flag.empty()
             ? fmt::format("while {}:",
                           w.spelled_so() ? fmt::format("{} < R.const({}, \"int64\")", counter, times)
                                          : fmt::format("R.less({}, R.const({}, \"int64\"))", counter, times))
             : fmt::format("while {}:", flag));
  {
    const GraphScope::Saved saved(scope);
    scope.pinned.insert(counter);
    if (carried) scope.pinned.insert(carried->name);
    statements(w.random.between(0, 2), inside);
    if (carried) w.line(fmt::format("{} = {}", carried->name, operands.expression(carried->type, inside)));
    w.line(fmt::format("{} = R.add({}, R.const(1, \"int64\"))", counter, counter));
    if (!flag.empty()) w.line(fmt::format("{} = R.less({}, R.const({}, \"int64\"))", flag, counter, times));
  }
  w.close();
  scope.know(counter, count);
  if (carried) scope.know(carried->name, carried->type);
}

// def inner(a): ..., which sees what is around it; called behind.
void GraphWriter::nested_statement(const Place& place) {
  if (place.nested || place.branch) return operator_statement(place);
  w.cover("nested function");
  const std::string name = scope.fresh();
  const Shown in = scope.tensor_shown(), out = scope.tensor_shown();
  const std::string param = scope.fresh();
  w.line("@R.function");
  w.raw(fmt::format("def {}({}: {}) -> {}:", name, param, type_text(w, in, false), type_text(w, out, false)));
  ++w.indent;
  {
    const GraphScope::Saved saved(scope);
    const bool outer_pure = pure;
    pure = true;
    for (const Known& each : scope.known) scope.pinned.insert(each.name);
    scope.know(param, in);
    scope.pinned.insert(param);
    statements(w.random.between(0, 3), {.dataflow = false, .branch = false, .nested = true, .depth = 1});
    const std::string result = scope.fresh();
    w.line(fmt::format("{} = {}", result, operands.expression(out, {.nested = true})));
    w.line("return " + result);
    pure = outer_pure;
  }
  --w.indent;
  Shown type{.kind = Shown::Function, .fields = {in, out}};
  scope.know(name, type);
  scope.pinned.insert(name);
  for (std::int64_t count = w.random.between(1, 2); count > 0; --count) {
    const std::string arg = operands.provide(in, place);
    operands.bind_called(fmt::format("{}({})", name, arg), out, place);
  }
}

// A nested function that calls itself with a smaller number.
void GraphWriter::recursion_statement(const Place& place) {
  if (place.nested || place.branch) return operator_statement(place);
  w.cover("recursion");
  const std::string name = scope.fresh(), x = scope.fresh(), k = scope.fresh(), r = scope.fresh();
  const Shown type = scope.tensor_shown(), count{.kind = Shown::Tensor, .dtype = "int64"};
  const std::string x_type = type_text(w, type, false);
  w.line("@R.function");
  w.raw(fmt::format("def {}({}: {}, {}: {}) -> {}:", name, x, x_type, k, type_text(w, count, false), x_type));
  ++w.indent;
  {
    const GraphScope::Saved saved(scope);
    for (const Known& each : scope.known) scope.pinned.insert(each.name);
    scope.know(x, type);
    scope.pinned.insert(x);
    w.open(fmt::format("if R.less({}, R.const(1, \"int64\")):", k));
    w.line(r + " = " + x);
    w.close();
    w.open("else:");
    const std::string value = operands.expression(type, {.branch = true, .nested = true, .depth = 2});
    if (w.random.chance(0.5)) {
      w.line(fmt::format("{} = {}({}, R.subtract({}, R.const(1, \"int64\")))", r, name, value, k));
    } else {
      const std::string less = scope.fresh();
      w.line(fmt::format("{} = R.subtract({}, R.const(1, \"int64\"))", less, k));
      w.line(fmt::format("{} = {}({}, {})", r, name, value, less));
    }
    w.close();
    w.line("return " + r);
  }
  --w.indent;
  const std::string arg = operands.provide(type, place);
  operands.bind_called(fmt::format("{}({}, R.const({}, \"int64\"))", name, arg, w.random.between(0, 4)), type,
                       place);
}

// Functions as values: under another name, chosen by an if, given to a function.
void GraphWriter::closure_statement(const Place& place) {
  const auto function = scope.some(Shown::Function);
  if (!function || place.branch || place.nested) return operator_statement(place);
  const Shown type = function->type;
  const Shown in = type.fields[0], out = type.fields[1];
  if (!loose()) {
    const std::string arg = operands.provide(in, place);
    operands.bind_called(fmt::format("{}({})", function->name, arg), out, place);
    return;
  }
  w.cover("closure as a value");
  const std::string chosen = scope.fresh();
  std::vector<std::string> same;
  for (const Known& each : scope.known) {
    if (each.type == type) same.push_back(each.name);
  }
  switch (w.random.below(3)) {
    case 0:
      w.line(chosen + " = " + function->name);
      break;
    case 1:
      w.open("if " + operands.condition(place) + ":");
      w.line(chosen + " = " + w.random.pick(same));
      w.close();
      w.open("else:");
      w.line(chosen + " = " + w.random.pick(same));
      w.close();
      break;
    default: {
      w.cover("R.Callable parameter");
      const std::string applied = scope.fresh(), f = scope.fresh(), y = scope.fresh();
      w.line("@R.function");
      w.raw(fmt::format("def {}({}: {}) -> {}:", applied, f, type_text(w, type, false),
                        type_text(w, out, false)));
      ++w.indent;
      const std::string arg = [&] {
        const GraphScope::Saved saved(scope);
        for (const Known& each : scope.known) scope.pinned.insert(each.name);
        return operands.provide(in, {.branch = true, .nested = true, .depth = 2});
      }();
      w.line(fmt::format("{} = {}({})", y, f, arg));
      w.line("return " + y);
      --w.indent;
      operands.bind_called(fmt::format("{}({})", applied, function->name), out, place);
      return;
    }
  }
  scope.know(chosen, type);
  scope.pinned.insert(chosen);
  const std::string arg = operands.provide(in, place);
  operands.bind_called(fmt::format("{}({})", chosen, arg), out, place);
}

}  // namespace relish::generate
