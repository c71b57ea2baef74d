// The frame of Relax functions in surface programs, their types and names.
#include "tests/generate/surface_graph.h"

#include <fmt/format.h>

#include <algorithm>

namespace relish::generate {
std::string listed(const std::vector<std::string>& items, bool single) {
  std::string text;
  for (std::size_t i = 0; i < items.size(); ++i) text += (i > 0 ? ", " : "") + items[i];
  if (single && items.size() == 1) text += ',';
  return text;
}

std::string TextWriter::new_name(std::set<std::string>& taken) {
  constexpr const char* pool[] = {"x",  "y",     "w",   "b",    "data", "lhs", "lv",  "lv1",
                                  "gv", "gv1",   "out", "acc",  "_x",   "T_",  "rhs", "k",
                                  "q",  "state", "e1",  "self", "v_1",  "n_"};
  std::string base = random.pick(pool), name = base;
  for (int suffix = 1; !taken.insert(name).second; ++suffix) name = fmt::format("{}_{}", base, suffix);
  return name;
}

void GraphWriter::statement(Place place) {
  struct Form {
    double weight;
    void (GraphWriter::*write)(const Place&);
    bool control;  // not in dataflow blocks
  };
  static constexpr Form forms[] = {
      {5, &GraphWriter::operator_statement, false},   {1, &GraphWriter::tuple_statement, false},
      {0.6, &GraphWriter::scalar_statement, false},   {0.6, &GraphWriter::shape_statement, false},
      {0.6, &GraphWriter::cast_statement, false},     {1.2, &GraphWriter::call_statement, false},
      {1.5, &GraphWriter::call_tir_statement, false}, {1.6, &GraphWriter::if_statement, true},
      {1.2, &GraphWriter::for_statement, true},       {0.8, &GraphWriter::while_statement, true},
      {0.8, &GraphWriter::nested_statement, true},    {0.4, &GraphWriter::recursion_statement, true},
      {0.5, &GraphWriter::closure_statement, true},   {1, &GraphWriter::direct_call_statement, true},
      {0.8, &GraphWriter::packed_statement, true},
  };
  double total = 0;
  for (const Form& form : forms) total += form.weight;
  double at = w.random.uniform(0, total);
  for (const Form& form : forms) {
    at -= form.weight;
    if (at > 0) continue;
    const bool fits = !form.control || (!place.dataflow && place.depth < 3);
    (this->*(fits ? form.write : &GraphWriter::operator_statement))(place);
    return;
  }
}

void GraphWriter::statements(std::int64_t count, Place place) {
  for (; count > 0; --count) {
    if (!place.branch && !place.dataflow && place.depth == 0 && w.random.chance(0.15))
      dataflow_statement();
    else
      statement(place);
  }
}

void GraphWriter::dataflow_statement() {
  w.cover("dataflow block");
  w.open("with R.dataflow():");
  std::vector<std::string> before;
  for (const Known& each : scope.known) before.push_back(each.name);
  statements(w.random.between(1, 4), {.dataflow = true, .branch = false, .nested = false, .depth = 1});
  std::vector<Known> inside;
  for (const Known& each : scope.known) {
    if (std::find(before.begin(), before.end(), each.name) == before.end()) inside.push_back(each);
  }
  std::vector<std::string> outputs;
  for (const Known& each : inside) {
    if (w.random.chance(0.4))
      outputs.push_back(each.name);
    else
      std::erase_if(scope.known, [&](const Known& other) { return other.name == each.name; });
  }
  w.line("R.output(" + listed(outputs) + ")");
  w.close();
}

// One function, with the lines that depend on its body before it.
void GraphWriter::write(const std::string& name, bool is_main) {
  scope.taken = {"R",     "T", "I", "cls",   "relish", "float", "range", "print",
                 "relax", "n", "m", "batch", "n_1",    "c0",    "c1",    "c2"};
  scope.taken.insert(module.functions.begin(), module.functions.end());
  if (!module.name.empty()) scope.taken.insert(module.name);
  alias_ = w.spelled_so(0.7);
  GraphCallee callee;
  callee.name = name;
  const std::vector<std::string> params = parameters(callee);
  pure = !w.random.chance(0.25);
  callee.pure = pure;
  const bool is_private = !is_main && w.random.chance(0.3);
  for (const std::string& each : params) {
    if (w.random.chance(0.7)) scope.pinned.insert(each);
  }
  for (const Known& each : scope.known) {
    // A scalar parameter may stand for a dimension: it keeps its name.
    if (each.type.kind == Shown::Scalar) scope.pinned.insert(each.name);
  }

  // The body first: the header tells its result.
  std::string head = std::move(w.result.text);
  w.result.text.clear();
  ++w.indent;
  statements(w.random.between(2, is_main ? 9 : 5), {});
  return_statement(callee);
  const std::string body = std::move(w.result.text);
  w.result.text = std::move(head);
  --w.indent;

  // Dims that the body makes known are nobody's outside: such a result has no annotation.
  const bool outside = body.find("c0 = ") == std::string::npos;
  header(callee, params, is_private, outside);
  w.result.text += body;
  --w.indent;
  w.raw("");
  for (const Dim& symbol : callee.symbols) {
    if (is_main) w.result.dims.emplace_back(symbol.text, symbol.value);
  }
  if (outside && callee.symbols.size() == scope.symbols.size()) module.graphs.push_back(std::move(callee));
}

// Symbols and parameters of every kind, at least one of them a tensor. Their names.
std::vector<std::string> GraphWriter::parameters(GraphCallee& callee) {
  constexpr const char* symbols[] = {"n", "m", "batch", "n_1"};
  std::vector<std::string> params;
  const auto param = [&](const Shown& type) {
    const std::string own = scope.fresh();
    callee.params.push_back(type);
    params.push_back(own);
    scope.know(own, type);
  };
  for (std::int64_t count = w.random.chance(0.6) ? w.random.between(1, 2) : 0; count > 0; --count)
    scope.symbols.push_back({symbols[scope.symbols.size() + static_cast<std::size_t>(w.random.below(2))],
                             w.random.between(1, 5)});
  if (scope.symbols.size() == 2 && scope.symbols[0] == scope.symbols[1]) scope.symbols.pop_back();
  callee.symbols = scope.symbols;
  if (!scope.symbols.empty()) {
    w.cover("symbolic dims");
    Shown first{.dtype = "float32", .dims = scope.symbols};
    if (w.random.chance(0.2)) {
      w.cover("shape parameter");
      param({.kind = Shown::Shape, .dims = scope.symbols});
    } else {
      param(first);
    }
  }
  for (std::int64_t count = w.random.between(1, 3); count > 0; --count) {
    const double choice = w.random.uniform();
    if (choice < 0.6) {
      param(scope.tensor_shown());
    } else if (choice < 0.8) {
      w.cover("scalar parameter");
      constexpr const char* kinds[] = {"int64", "bool", "float32"};
      param({.kind = Shown::Scalar, .dtype = w.random.pick(kinds)});
    } else {
      w.cover("tuple parameter");
      param({.kind = Shown::Tuple, .fields = {scope.tensor_shown(), scope.tensor_shown()}});
    }
  }
  if (scope.those(Shown::Tensor).empty()) param(scope.tensor_shown());
  return params;
}

// One to three of the values that came last.
void GraphWriter::return_statement(GraphCallee& callee) {
  std::vector<std::string> results;
  std::vector<Known> last;
  for (std::int64_t count = w.random.chance(0.4) ? 1 : w.random.between(2, 3); count > 0; --count) {
    // What came last is computed from the most; functions do not leave compiled programs.
    std::vector<Known> choices;
    for (const Known& each : scope.known) {
      if (each.type.kind == Shown::Tensor || (each.type.kind == Shown::Tuple)) choices.push_back(each);
    }
    if (choices.empty()) {
      const Shown type{.kind = Shown::Tensor, .dtype = "float32"};
      const std::string value = operands.expression(type, {});
      operands.bind(scope.fresh(), value, type, {});
      choices.push_back(scope.known.back());
    }
    const auto size = static_cast<std::int64_t>(choices.size());
    last.push_back(
        choices[static_cast<std::size_t>(w.random.between(std::max<std::int64_t>(0, size - 4), size - 1))]);
    results.push_back(last.back().name);
  }
  if (last.size() == 1) {
    callee.result = last[0].type;
  } else {
    callee.result.kind = Shown::Tuple;
    for (const Known& each : last) callee.result.fields.push_back(each.type);
  }
  w.line("return " + (results.size() == 1 ? results[0]
                      : w.spelled_so(0.7) ? "(" + listed(results) + ")"
                                          : listed(results)));
}

// The decorator, the signature, and the declarations that stand before the body, which is left open.
void GraphWriter::header(const GraphCallee& callee, const std::vector<std::string>& params, bool is_private,
                         bool annotated) {
  std::vector<std::string> options;
  if (!pure) {
    options.emplace_back("pure=False");
    w.cover("impure function");
  }
  if (is_private) options.emplace_back("private=True");
  w.line(options.empty() ? "@R.function" : "@R.function(" + listed(options) + ")");
  std::vector<std::string> typed;
  for (std::size_t i = 0; i < params.size(); ++i)
    typed.push_back(params[i] + ": " + type_text(w, callee.params[i], true));
  const std::string result_text = type_text(w, callee.result, true);
  w.raw(fmt::format("def {}({}){}:", callee.name, listed(typed), annotated ? " -> " + result_text : ""));
  ++w.indent;
  std::vector<std::string> declared;
  for (const Dim& symbol : scope.symbols) declared.push_back(symbol.text);
  if (declared.size() == 2 && w.spelled_so(0.3)) {
    w.raw(listed(declared) + " = T.int64(), T.int64()");
  } else {
    for (const std::string& each : declared)
      w.raw(each + (w.spelled_so(0.8) ? " = T.int64()" : " = T.var(\"int64\")"));
  }
  if (uses_module_ && alias_ && !module.name.empty()) w.raw("cls = " + module.name);
  if (w.random.chance(0.2)) {
    w.cover("function attributes");
    w.line(w.random.chance(0.5) ? "R.func_attr({\"num_input\": 1})"
                                : "R.func_attr({\"text\": \"a\\n\\\"b\\\"\", \"list\": [1, 2.5, True]})");
  }
}

}  // namespace relish::generate
