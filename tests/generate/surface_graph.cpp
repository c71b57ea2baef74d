// The frame of Relax functions in surface programs, their types and names.
#include "tests/generate/surface_graph.h"

#include <fmt/format.h>

#include <algorithm>

namespace relish::generate {
namespace {

constexpr const char* dtypes[] = {"float32", "float32", "float32", "float64", "int32", "int64"};

}  // namespace

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

std::string GraphWriter::dim_text(const Dim& dim, bool signature) {
  const bool number = std::isdigit(static_cast<unsigned char>(dim.text[0])) != 0;
  if (number) return dim.text;
  return signature ? "\"" + dim.text + "\"" : dim.text;
}

std::string GraphWriter::shape_text(const std::vector<Dim>& dims) {
  std::vector<std::string> texts;
  for (const Dim& dim : dims) texts.push_back(dim_text(dim, false));
  return w.spelled_so(0.7) ? "R.shape([" + listed(texts) + "])"
                           : "R.ShapeExpr((" + listed(texts, true) + "))";
}

std::string GraphWriter::type_text(const Shown& type, bool signature) {
  const auto all = [&](std::size_t count) {
    std::vector<std::string> fields;
    for (std::size_t i = 0; i < count; ++i) fields.push_back(type_text(type.fields[i], signature));
    return fields;
  };
  std::vector<std::string> dims;
  for (const Dim& dim : type.dims) dims.push_back(dim_text(dim, signature));
  switch (type.kind) {
    case Shown::Tensor: {
      const std::string shape = w.spelled_so(0.8) ? "(" + listed(dims, true) + ")" : "[" + listed(dims) + "]";
      const char* quote = w.spelled_so(0.85) ? "\"" : "'";
      return fmt::format("R.Tensor({}, {}{}{}{})", shape, w.spelled_so() ? "dtype=" : "", quote, type.dtype,
                         quote);
    }
    case Shown::Scalar:
      return w.spelled_so() ? fmt::format("R.Prim(\"{}\")", type.dtype) : "T." + type.dtype;
    case Shown::Shape:
      return "R.Shape([" + listed(dims) + "])";
    case Shown::Tuple:
      return w.spelled_so(0.7) || type.fields.empty() ? "R.Tuple(" + listed(all(type.fields.size())) + ")"
                                                      : "R.Tuple([" + listed(all(type.fields.size())) + "])";
    default:
      return fmt::format("R.Callable(({}), {}{})", listed(all(type.fields.size() - 1), true),
                         type_text(type.fields.back(), signature), w.spelled_so() ? ", True" : "");
  }
}

std::vector<const GraphWriter::Known*> GraphWriter::those(Shown::Kind kind) const {
  std::vector<const Known*> result;
  for (const Known& each : known) {
    if (each.type.kind == kind) result.push_back(&each);
  }
  return result;
}

std::optional<GraphWriter::Known> GraphWriter::some(Shown::Kind kind) {
  const auto choices = those(kind);
  if (choices.empty()) return std::nullopt;
  const auto count = static_cast<std::int64_t>(choices.size());
  // Rather one of the last, so that programs go deep.
  const std::int64_t first = w.random.chance(0.6) ? std::max<std::int64_t>(0, count - 3) : 0;
  return *choices[static_cast<std::size_t>(w.random.between(first, count - 1))];
}

void GraphWriter::know(const std::string& name, const Shown& type) {
  std::erase_if(known, [&](const Known& each) { return each.name == name; });
  known.push_back({name, type});
}

Dim GraphWriter::dimension() {
  if (symbols_.empty() || w.random.chance(0.5)) {
    const std::int64_t value = w.random.between(1, 4);
    return {std::to_string(value), value};
  }
  const Dim symbol = w.random.pick(symbols_);
  switch (w.random.below(6)) {
    case 0:
      return {symbol.text + " * 2", symbol.value * 2};
    case 1:
      return {symbol.text + " + 1", symbol.value + 1};
    default:
      return symbol;
  }
}

Shown GraphWriter::tensor_shown() {
  const auto old = some(Shown::Tensor);
  if (old && w.random.chance(0.7)) return old->type;
  Shown type;
  type.dtype = w.random.pick(dtypes);
  for (std::int64_t rank = w.random.between(0, 2); rank > 0; --rank) type.dims.push_back(dimension());
  return type;
}

std::string GraphWriter::target(const Place& place) {
  if (!place.branch && !place.dataflow && !place.nested && w.random.chance(0.2)) {
    std::vector<std::string> old;
    for (const Known& each : known) {
      if (!pinned_.contains(each.name)) old.push_back(each.name);
    }
    if (!old.empty()) {
      w.cover("name bound again");
      const std::string name = w.random.pick(old);
      std::erase_if(known, [&](const Known& each) { return each.name == name; });
      return name;
    }
  }
  return fresh();
}

void GraphWriter::bind(const std::string& name, const std::string& value, const Shown& type, const Place&) {
  w.line(w.spelled_so(0.4) ? fmt::format("{}: {} = {}", name, type_text(type, false), value)
                           : fmt::format("{} = {}", name, value));
  know(name, type);
}

void GraphWriter::bind_called(const std::string& value, const Shown& type, const Place& place) {
  const std::string name = target(place);
  w.line(fmt::format("{}: {} = {}", name, type_text(type, false), value));
  know(name, type);
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
  for (const Known& each : known) before.push_back(each.name);
  statements(w.random.between(1, 4), {.dataflow = true, .branch = false, .nested = false, .depth = 1});
  std::vector<Known> inside;
  for (const Known& each : known) {
    if (std::find(before.begin(), before.end(), each.name) == before.end()) inside.push_back(each);
  }
  std::vector<std::string> outputs;
  for (const Known& each : inside) {
    if (w.random.chance(0.4))
      outputs.push_back(each.name);
    else
      std::erase_if(known, [&](const Known& other) { return other.name == each.name; });
  }
  w.line("R.output(" + listed(outputs) + ")");
  w.close();
}

// One function, with the lines that depend on its body before it.
void GraphWriter::write(const std::string& name, bool is_main) {
  taken_ = {"R",     "T", "I", "cls",   "relish", "float", "range", "print",
            "relax", "n", "m", "batch", "n_1",    "c0",    "c1",    "c2"};
  taken_.insert(module.functions.begin(), module.functions.end());
  if (!module.name.empty()) taken_.insert(module.name);
  alias_ = w.spelled_so(0.7);
  GraphCallee callee;
  callee.name = name;
  const std::vector<std::string> params = parameters(callee);
  pure = !w.random.chance(0.25);
  callee.pure = pure;
  const bool is_private = !is_main && w.random.chance(0.3);
  for (const std::string& each : params) {
    if (w.random.chance(0.7)) pinned_.insert(each);
  }
  for (const Known& each : known) {
    // A scalar parameter may stand for a dimension: it keeps its name.
    if (each.type.kind == Shown::Scalar) pinned_.insert(each.name);
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
  if (outside && callee.symbols.size() == symbols_.size()) module.graphs.push_back(std::move(callee));
}

// Symbols and parameters of every kind, at least one of them a tensor. Their names.
std::vector<std::string> GraphWriter::parameters(GraphCallee& callee) {
  constexpr const char* symbols[] = {"n", "m", "batch", "n_1"};
  std::vector<std::string> params;
  const auto param = [&](const Shown& type) {
    const std::string own = fresh();
    callee.params.push_back(type);
    params.push_back(own);
    know(own, type);
  };
  for (std::int64_t count = w.random.chance(0.6) ? w.random.between(1, 2) : 0; count > 0; --count)
    symbols_.push_back(
        {symbols[symbols_.size() + static_cast<std::size_t>(w.random.below(2))], w.random.between(1, 5)});
  if (symbols_.size() == 2 && symbols_[0] == symbols_[1]) symbols_.pop_back();
  callee.symbols = symbols_;
  if (!symbols_.empty()) {
    w.cover("symbolic dims");
    Shown first{.dtype = "float32", .dims = symbols_};
    if (w.random.chance(0.2)) {
      w.cover("shape parameter");
      param({.kind = Shown::Shape, .dims = symbols_});
    } else {
      param(first);
    }
  }
  for (std::int64_t count = w.random.between(1, 3); count > 0; --count) {
    const double choice = w.random.uniform();
    if (choice < 0.6) {
      param(tensor_shown());
    } else if (choice < 0.8) {
      w.cover("scalar parameter");
      constexpr const char* kinds[] = {"int64", "bool", "float32"};
      param({.kind = Shown::Scalar, .dtype = w.random.pick(kinds)});
    } else {
      w.cover("tuple parameter");
      param({.kind = Shown::Tuple, .fields = {tensor_shown(), tensor_shown()}});
    }
  }
  if (those(Shown::Tensor).empty()) param(tensor_shown());
  return params;
}

// One to three of the values that came last.
void GraphWriter::return_statement(GraphCallee& callee) {
  std::vector<std::string> results;
  std::vector<Known> last;
  for (std::int64_t count = w.random.chance(0.4) ? 1 : w.random.between(2, 3); count > 0; --count) {
    // What came last is computed from the most; functions do not leave compiled programs.
    std::vector<Known> choices;
    for (const Known& each : known) {
      if (each.type.kind == Shown::Tensor || (each.type.kind == Shown::Tuple)) choices.push_back(each);
    }
    if (choices.empty()) {
      const Shown type{.kind = Shown::Tensor, .dtype = "float32"};
      const std::string value = expression(type, {});
      bind(fresh(), value, type, {});
      choices.push_back(known.back());
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
    typed.push_back(params[i] + ": " + type_text(callee.params[i], true));
  const std::string result_text = type_text(callee.result, true);
  w.raw(fmt::format("def {}({}){}:", callee.name, listed(typed), annotated ? " -> " + result_text : ""));
  ++w.indent;
  std::vector<std::string> declared;
  for (const Dim& symbol : symbols_) declared.push_back(symbol.text);
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
