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
  double at = w_.random.uniform(0, total);
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
    if (!place.branch && !place.dataflow && place.depth == 0 && w_.random.chance(0.15))
      dataflow_statement();
    else
      statement(place);
  }
}

void GraphWriter::dataflow_statement() {
  w_.cover("dataflow block");
  w_.open("with R.dataflow():");
  std::vector<std::string> before;
  for (const Known& each : scope_.known) before.push_back(each.name);
  statements(w_.random.between(1, 4), {.dataflow = true, .branch = false, .nested = false, .depth = 1});
  std::vector<Known> inside;
  for (const Known& each : scope_.known) {
    if (std::find(before.begin(), before.end(), each.name) == before.end()) inside.push_back(each);
  }
  std::vector<std::string> outputs;
  for (const Known& each : inside) {
    if (w_.random.chance(0.4))
      outputs.push_back(each.name);
    else
      std::erase_if(scope_.known, [&](const Known& other) { return other.name == each.name; });
  }
  w_.line("R.output(" + listed(outputs) + ")");
  w_.close();
}

// One function, with the lines that depend on its body before it.
void GraphWriter::write(const std::string& name, bool is_main) {
  scope_.taken = {"R",     "T", "I", "cls",   "relish", "float", "range", "print",
                  "relax", "n", "m", "batch", "n_1",    "c0",    "c1",    "c2"};
  scope_.taken.insert(module_.functions.begin(), module_.functions.end());
  if (!module_.name.empty()) scope_.taken.insert(module_.name);
  alias_ = w_.spelled_so(0.7);
  GraphCallee callee;
  callee.name = name;
  const std::vector<std::string> params = parameters(callee);
  pure_ = !w_.random.chance(0.25);
  callee.pure = pure_;
  const bool is_private = !is_main && w_.random.chance(0.3);
  for (const std::string& each : params) {
    if (w_.random.chance(0.7)) scope_.pinned.insert(each);
  }
  for (const Known& each : scope_.known) {
    // A scalar parameter may stand for a dimension: it keeps its name.
    if (each.type.kind == Shown::Scalar) scope_.pinned.insert(each.name);
  }

  // The body first: the header tells its result.
  std::string head = std::move(w_.result.text);
  w_.result.text.clear();
  ++w_.indent;
  statements(w_.random.between(2, is_main ? 9 : 5), {});
  return_statement(callee);
  const std::string body = std::move(w_.result.text);
  w_.result.text = std::move(head);
  --w_.indent;

  // Dims that the body makes known are nobody's outside: such a result has no annotation.
  const bool outside = body.find("c0 = ") == std::string::npos;
  header(callee, params, is_private, outside);
  w_.result.text += body;
  --w_.indent;
  w_.raw("");
  for (const Dim& symbol : callee.symbols) {
    if (is_main) w_.result.dims.emplace_back(symbol.text, symbol.value);
  }
  if (outside && callee.symbols.size() == scope_.symbols.size()) module_.graphs.push_back(std::move(callee));
}

// Symbols and parameters of every kind, at least one of them a tensor. Their names.
std::vector<std::string> GraphWriter::parameters(GraphCallee& callee) {
  constexpr const char* symbols[] = {"n", "m", "batch", "n_1"};
  std::vector<std::string> params;
  const auto param = [&](const Shown& type) {
    const std::string own = scope_.fresh();
    callee.params.push_back(type);
    params.push_back(own);
    scope_.know(own, type);
  };
  for (std::int64_t count = w_.random.chance(0.6) ? w_.random.between(1, 2) : 0; count > 0; --count)
    scope_.symbols.push_back({symbols[scope_.symbols.size() + static_cast<std::size_t>(w_.random.below(2))],
                              w_.random.between(1, 5)});
  if (scope_.symbols.size() == 2 && scope_.symbols[0] == scope_.symbols[1]) scope_.symbols.pop_back();
  callee.symbols = scope_.symbols;
  if (!scope_.symbols.empty()) {
    w_.cover("symbolic dims");
    Shown first{.dtype = "float32", .dims = scope_.symbols};
    if (w_.random.chance(0.2)) {
      w_.cover("shape parameter");
      param({.kind = Shown::Shape, .dims = scope_.symbols});
    } else {
      param(first);
    }
  }
  for (std::int64_t count = w_.random.between(1, 3); count > 0; --count) {
    const double choice = w_.random.uniform();
    if (choice < 0.6) {
      param(scope_.tensor_shown());
    } else if (choice < 0.8) {
      w_.cover("scalar parameter");
      constexpr const char* kinds[] = {"int64", "bool", "float32"};
      param({.kind = Shown::Scalar, .dtype = w_.random.pick(kinds)});
    } else {
      w_.cover("tuple parameter");
      param({.kind = Shown::Tuple, .fields = {scope_.tensor_shown(), scope_.tensor_shown()}});
    }
  }
  if (scope_.those(Shown::Tensor).empty()) param(scope_.tensor_shown());
  return params;
}

// One to three of the values that came last.
void GraphWriter::return_statement(GraphCallee& callee) {
  std::vector<std::string> results;
  std::vector<Known> last;
  for (std::int64_t count = w_.random.chance(0.4) ? 1 : w_.random.between(2, 3); count > 0; --count) {
    // What came last is computed from the most; functions do not leave compiled programs.
    std::vector<Known> choices;
    for (const Known& each : scope_.known) {
      if (each.type.kind == Shown::Tensor || (each.type.kind == Shown::Tuple)) choices.push_back(each);
    }
    if (choices.empty()) {
      const Shown type{.kind = Shown::Tensor, .dtype = "float32"};
      const std::string value = operands_.expression(type, {});
      operands_.bind(scope_.fresh(), value, type, {});
      choices.push_back(scope_.known.back());
    }
    const auto size = static_cast<std::int64_t>(choices.size());
    last.push_back(
        choices[static_cast<std::size_t>(w_.random.between(std::max<std::int64_t>(0, size - 4), size - 1))]);
    results.push_back(last.back().name);
  }
  if (last.size() == 1) {
    callee.result = last[0].type;
  } else {
    callee.result.kind = Shown::Tuple;
    for (const Known& each : last) callee.result.fields.push_back(each.type);
  }
  w_.line("return " + (results.size() == 1  ? results[0]
                       : w_.spelled_so(0.7) ? "(" + listed(results) + ")"
                                            : listed(results)));
}

// The decorator, the signature, and the declarations that stand before the body, which is left open.
void GraphWriter::header(const GraphCallee& callee, const std::vector<std::string>& params, bool is_private,
                         bool annotated) {
  std::vector<std::string> options;
  if (!pure_) {
    options.emplace_back("pure=False");
    w_.cover("impure function");
  }
  if (is_private) options.emplace_back("private=True");
  w_.line(options.empty() ? "@R.function" : "@R.function(" + listed(options) + ")");
  std::vector<std::string> typed;
  for (std::size_t i = 0; i < params.size(); ++i)
    typed.push_back(params[i] + ": " + type_text(w_, callee.params[i], true));
  const std::string result_text = type_text(w_, callee.result, true);
  w_.raw(fmt::format("def {}({}){}:", callee.name, listed(typed), annotated ? " -> " + result_text : ""));
  ++w_.indent;
  std::vector<std::string> declared;
  for (const Dim& symbol : scope_.symbols) declared.push_back(symbol.text);
  if (declared.size() == 2 && w_.spelled_so(0.3)) {
    w_.raw(listed(declared) + " = T.int64(), T.int64()");
  } else {
    for (const std::string& each : declared)
      w_.raw(each + (w_.spelled_so(0.8) ? " = T.int64()" : " = T.var(\"int64\")"));
  }
  if (uses_module_ && alias_ && !module_.name.empty()) w_.raw("cls = " + module_.name);
  if (w_.random.chance(0.2)) {
    w_.cover("function attributes");
    w_.line(w_.random.chance(0.5) ? "R.func_attr({\"num_input\": 1})"
                                  : "R.func_attr({\"text\": \"a\\n\\\"b\\\"\", \"list\": [1, 2.5, True]})");
  }
}

}  // namespace relish::generate
