// Arguments by parameter type, and flat names of results.
#include "shell/program/call_values.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>

#include "ir/calls/entry.h"
#include "ir/printer/printer.h"
#include "shell/program/literal_text.h"
#include "shell/script/convert.h"
#include "shell/script/named_trees.h"
#include "shell/script/random_fill.h"
#include "shell/script/script.h"
#include "support/counted.h"
#include "support/render.h"
#include "support/suggest.h"

namespace relish {
namespace {

// A parameter or field of a tuple parameter that takes one value.
struct Leaf {
  std::string path;
  Type type;
};

void collect_leaves(const std::string& path, const Type& type, std::vector<Leaf>& into) {
  if (const auto* tuple = type.tuple()) {
    for (std::size_t i = 0; i < tuple->fields.size(); ++i) {
      collect_leaves(fmt::format("{}.{}", path, i), tuple->fields[i], into);
    }
    return;
  }
  into.push_back({path, type});
}

[[noreturn]] void no_fit(const Leaf& leaf, const std::string& found, std::string_view hint = "") {
  fail(ErrorClass::Data, {}, "call.argument",
       fmt::format("argument '{}': found {}, expected {}{}", leaf.path, found, print(leaf.type), hint));
}

// The value of `literal` for a leaf: nested lists become tensors of the parameter's dtype.
Value value_of_literal(const Leaf& leaf, const ScriptValue& literal) {
  if (const TensorType* tensor = leaf.type.tensor()) {
    if (literal.tensor()) return *literal.tensor();
    if (!literal.is_number() && !literal.sequence()) no_fit(leaf, describe(literal));
    try {
      Tensor result = tensor_of(literal, tensor->dtype, DType::Int64, DType::Float32, {});
      // "[]" says nothing of the dimensions behind the empty one.
      bool reshape = result.size() == 0 && tensor->has_shape() && tensor->rank > result.rank();
      if (!reshape) return result;
      Shape shape = result.shape();
      for (std::size_t i = shape.size(); i < tensor->shape->size(); ++i)
        shape.push_back((*tensor->shape)[i].as_int().value_or(0));
      return result.reshaped(shape);
    } catch (const Failure& failure) {
      if (failure.error_class() != ErrorClass::Type) throw;
      fail(ErrorClass::Data, {}, "call.argument",
           fmt::format("argument '{}' is {}: {}", leaf.path, print(leaf.type),
                       failure.diagnostics().front().message));
    }
  }
  return to_runtime(literal, leaf.type, {}, fmt::format("argument '{}'", leaf.path));
}

// A tensor of a data file for a leaf: 0-d arrays for scalars, 1-d integer arrays for shapes.
Value value_of_file(const Leaf& leaf, const Tensor& tensor) {
  if (const auto* scalar = leaf.type.as<ScalarType>()) {
    if (tensor.rank() != 0) no_fit(leaf, describe(Value(tensor)));
    ScriptValue number =
        is_float(tensor.dtype()) ? ScriptValue(tensor.get_double(0)) : ScriptValue(tensor.get_int(0));
    if (!is_float(scalar->dtype) && is_float(tensor.dtype())) no_fit(leaf, describe(Value(tensor)));
    return to_runtime(number, leaf.type, {}, fmt::format("argument '{}'", leaf.path));
  }
  if (leaf.type.as<ShapeType>()) {
    if (tensor.rank() != 1 || !is_int(tensor.dtype())) no_fit(leaf, describe(Value(tensor)));
    ShapeValue shape;
    for (std::int64_t i = 0; i < tensor.size(); ++i) {
      shape.dims.push_back(tensor.get_int(i));
      if (shape.dims.back() < 0) no_fit(leaf, fmt::format("the dimension {}", shape.dims.back()));
    }
    return shape;
  }
  return tensor;
}

// Dimensions that `value` fixes by bare variables of the type. Those that --dim gave must agree.
void learn_dims(const Leaf& leaf, const Value& value, const SymbolValues& given, SymbolValues& symbols) {
  const Type& type = leaf.type;
  auto learn = [&](const ScalarVar& var, std::int64_t extent) {
    symbols.emplace(var.id(), extent);
    auto fixed = given.find(var.id());
    if (fixed == given.end() || fixed->second == extent) return;
    fail(ErrorClass::Data, {}, "call.argument",
         fmt::format("argument '{}': {} is {}, but --dim says {}={}", leaf.path, var.name(), extent,
                     var.name(), fixed->second));
  };
  const TensorType* tensor = type.tensor();
  if (tensor && tensor->has_shape() && value.is_tensor() &&
      value.tensor().shape().size() == tensor->shape->size()) {
    for (std::size_t i = 0; i < tensor->shape->size(); ++i) {
      if (auto var = (*tensor->shape)[i].as_var()) learn(*var, value.tensor().shape()[i]);
    }
  }
  const auto* shape = type.as<ShapeType>();
  if (shape && shape->dims && value.is_shape() && value.shape().dims.size() == shape->dims->size()) {
    for (std::size_t i = 0; i < shape->dims->size(); ++i) {
      if (auto var = (*shape->dims)[i].as_var()) learn(*var, value.shape().dims[i]);
    }
  }
}

// The seed of a parameter whose rand has none: different for each name, the same in every run.
std::uint64_t seed_of(std::string_view path, std::uint64_t seed) {
  constexpr std::uint64_t basis = 0xcbf29ce484222325, prime = 0x100000001b3;  // FNV-1a
  std::uint64_t hash = basis;
  for (char c : path) hash = (hash ^ static_cast<unsigned char>(c)) * prime;
  return hash ^ seed;
}

// A tensor made for a leaf, whose dimensions must be known by now.
Value made_value(const Leaf& leaf, const ArgumentText& text, const SymbolValues& symbols,
                 std::uint64_t seed) {
  const TensorType* tensor = leaf.type.tensor();
  if (!tensor || !tensor->has_shape() || !tensor->dtype) {
    const auto* scalar = leaf.type.as<ScalarType>();
    std::string_view instead = " says not enough to make a tensor; give values or a file";
    if (scalar)
      instead = is_bool(scalar->dtype) ? " is no tensor; give True or False" : " is no tensor; give a number";
    if (leaf.type.as<ShapeType>()) instead = " is no tensor; give sizes, as [2, 3]";
    fail(ErrorClass::Usage, {}, "option.value",
         fmt::format("argument '{}': {}{}", leaf.path, print(leaf.type), instead));
  }
  Shape shape;
  for (const Scalar& dim : *tensor->shape) {
    auto value = evaluate_int(dim, [&](const ScalarVar& var) -> std::optional<std::int64_t> {
      auto found = symbols.find(var.id());
      if (found != symbols.end()) return found->second;
      fail(ErrorClass::Usage, {}, "option.dim",
           fmt::format("argument '{}': the dimension {} is not known; give --dim {}=NUMBER", leaf.path,
                       var.name(), var.name()));
    });
    shape.push_back(*value);
  }
  switch (text.kind) {
    case ArgumentText::Rand:
      try {
        return random_tensor(*tensor->dtype, shape,
                             key_from_seed(text.seed.value_or(seed_of(leaf.path, seed))),
                             Distribution::Uniform, {});
      } catch (const Failure& failure) {
        if (failure.error_class() != ErrorClass::Type) throw;
        const bool key = *tensor->dtype == DType::UInt32 && shape == Shape{2};
        no_fit(leaf, "rand",
               key ? "; a key is written key(0)" : "; rand makes floats: give ones, zeros, values or a file");
      }
    case ArgumentText::Ones: {
      Tensor ones = Tensor::empty(*tensor->dtype, shape);
      for (std::int64_t i = 0; i < ones.size(); ++i) ones.set_double(i, 1);
      return ones;
    }
    default:
      return Tensor::zeros(*tensor->dtype, shape);
  }
}

// A key is a tensor like another: whether the parameter takes it is checked where it is called.
Value key_value(const Leaf& leaf, std::uint64_t seed) {
  if (leaf.type.as<ShapeType>()) no_fit(leaf, "a key");
  const RandomKey key = key_from_seed(seed);
  return value_of_file(leaf, Tensor::from<std::uint32_t>({2}, key.words));
}

bool is_made(const ArgumentText& text) {
  return text.kind == ArgumentText::Rand || text.kind == ArgumentText::Zeros ||
         text.kind == ArgumentText::Ones;
}

// The leaves of a value that is known as a whole.
void take_known(const std::string& path, const Type& type, const Value& value,
                std::map<std::string, Value>& values) {
  const auto* tuple = type.tuple();
  if (!tuple) values[path] = value;
  for (std::size_t i = 0; tuple && i < tuple->fields.size(); ++i)
    take_known(fmt::format("{}.{}", path, i), tuple->fields[i], value.fields()[i], values);
}

Value assembled(const std::string& path, const Type& type, std::map<std::string, Value>& values) {
  const auto* tuple = type.tuple();
  if (!tuple) return std::move(values.at(path));
  if (tuple->fields.empty()) return {};
  std::vector<Value> fields;
  for (std::size_t i = 0; i < tuple->fields.size(); ++i) {
    fields.push_back(assembled(fmt::format("{}.{}", path, i), tuple->fields[i], values));
  }
  return Value::tuple(std::move(fields));
}

using GivenArguments = std::vector<std::pair<std::string, ScriptValue>>;

// A list for a tuple is one of its fields.
void spread(const std::string& path, const Type& type, const ScriptValue& value, GivenArguments& into) {
  const TupleType* tuple = type.tuple();
  if (tuple && tuple->fields.empty() && value.is_none()) return;
  const ScriptList* items = tuple ? value.sequence() : nullptr;
  if (!items) {
    into.emplace_back(path, value);
    return;
  }
  if (items->items.size() != tuple->fields.size())
    no_fit({path, type}, fmt::format("{} of {}", describe(value), counted(items->items.size(), "item")));
  for (std::size_t i = 0; i < items->items.size(); ++i)
    spread(fmt::format("{}.{}", path, i), tuple->fields[i], items->items[i], into);
}

// What is given, by the names of leaves; dicts where the function's signature has names for a tuple.
GivenArguments arguments_by_leaf(const Module& module, const std::string& function,
                                 const std::vector<CallParameter>& parameters, const CallInputs& inputs) {
  GivenArguments named;
  NamedTrees trees(module, function);
  const auto add = [&](std::size_t at, const ScriptValue& value) {
    spread(parameters[at].name, parameters[at].type, trees.argument(at, value, {}), named);
  };
  if (inputs.by_place.size() > parameters.size()) {
    std::vector<std::string> names;
    for (const CallParameter& parameter : parameters) names.push_back(parameter.name);
    fail(ErrorClass::Usage, {}, "call.arguments",
         fmt::format("{}: found {}; expected {}: {}", function, counted(inputs.by_place.size(), "argument"),
                     parameters.size(), fmt::join(names, ", ")));
  }
  for (std::size_t i = 0; i < inputs.by_place.size(); ++i) add(i, inputs.by_place[i]);
  for (const auto& [name, value] : inputs.arguments) {
    const auto found = std::find_if(parameters.begin(), parameters.end(),
                                    [&](const CallParameter& each) { return each.name == name; });
    if (found == parameters.end())
      named.emplace_back(name, value);
    else
      add(static_cast<std::size_t>(found - parameters.begin()), value);
  }
  return named;
}

constexpr Option call_option_table[] = {
    {"arg", OptionKind::Assignments, "",
     "value of a parameter, which in scripts may also stand as in a call: NAME=LITERAL, NAME=@FILE[:ENTRY], NAME=rand(seed=1), "
     "NAME=zeros, NAME=ones, NAME=key(0); t.0 for a field of a tuple; rand without a seed draws from --seed and the name"},
    {"params", OptionKind::Tensors, "",
     "file (npz, safetensors) with the values of the other parameters, by name"},
    {"dim", OptionKind::Assignments, "", "values of symbolic dimensions: n=8,m=4"},
    {"ignore_extra", OptionKind::Flag, "", "let the file of --params hold names that are no parameters"},
};

}  // namespace

std::span<const Option> call_options() { return call_option_table; }

std::vector<Option> call_options_and(std::span<const Option> own) {
  std::vector<Option> result(call_options().begin(), call_options().end());
  result.insert(result.end(), own.begin(), own.end());
  return result;
}

ScriptValue with_allowed_path(const Invocation& invocation, std::string_view option,
                              const ScriptValue& value) {
  const std::string* text = value.string();
  if (!text || !text->starts_with('@')) return value;
  return "@" + invocation.allowed_path(option, text->substr(1));
}

std::vector<std::pair<std::string, std::int64_t>> given_dims(const Invocation& invocation) {
  std::vector<std::pair<std::string, std::int64_t>> dims;
  const auto add = [&](const std::string& name, const ScriptValue& value) {
    ScriptValue number = value.string() ? parse_literal(*value.string(), "--dim " + name) : value;
    const auto* dim = number.as<std::int64_t>();
    if (!dim || *dim < 0)
      invocation.misuse(
          "dim", fmt::format("found {} for '{}'; expected an int of at least 0", text_of(value), name));
    for (const auto& [known, size] : dims)
      if (known == name && size != *dim)
        invocation.refuse_value("dim",
                                fmt::format("'{}' is given as {} and as {}", printable(name), size, *dim));
    dims.emplace_back(name, *dim);
  };
  for (const auto& [first, given] : invocation.assignments("dim")) {
    // n=8,m=4 is one text of several.
    std::string name = first;
    std::string rest = given.string() ? *given.string() : "";
    for (std::size_t comma = rest.find(','); comma != std::string::npos; comma = rest.find(',')) {
      const std::size_t mark = rest.find('=', comma);
      if (mark == std::string::npos) break;
      add(name, rest.substr(0, comma));
      name = rest.substr(comma + 1, mark - comma - 1);
      rest = rest.substr(mark + 1);
    }
    add(name, given.string() ? ScriptValue(rest) : given);
  }
  return dims;
}

CallInputs call_inputs(const Invocation& invocation) {
  CallInputs inputs;
  inputs.arguments = invocation.assignments("arg");
  for (const auto& [name, value] : invocation.call_arguments) {
    if (name.empty())
      inputs.by_place.push_back(value);
    else
      inputs.arguments.emplace_back(name, value);
  }
  for (auto& [name, value] : inputs.arguments) value = with_allowed_path(invocation, "arg", value);
  for (ScriptValue& value : inputs.by_place) value = with_allowed_path(invocation, "arg", value);
  inputs.params = invocation.tensors("params");
  // A whole safetensors or npz entry list; a lone array has no name to go by.
  for (const auto& [name, tensor] : inputs.params) {
    if (name.empty())
      invocation.misuse("params", "found a single array; expected named tensors (npz, safetensors)");
  }
  inputs.dims = given_dims(invocation);
  inputs.ignore_extra = invocation.flag("ignore_extra");
  inputs.seed = invocation.session.settings().seed;
  return inputs;
}

Value parse_argument(const std::string& name, const Type& type, const ScriptValue& given, std::uint64_t seed,
                     std::string_view flag) {
  Leaf leaf{name, type};
  if (!given.string()) return value_of_literal(leaf, given);
  std::string what = fmt::format("{} {}", flag, name);
  ArgumentText argument = parse_argument_text(*given.string(), what);
  if (is_made(argument)) return made_value(leaf, argument, {}, seed);
  if (argument.kind == ArgumentText::File) {
    NamedTensors entries = read_tensors(argument.text);
    if (entries.size() != 1) {
      fail(ErrorClass::Usage, {}, "option.value",
           fmt::format("{}: {} holds {} tensors; name one as @FILE:ENTRY", what, printable(argument.text),
                       entries.size()));
    }
    return value_of_file(leaf, entries.front().second);
  }
  bool plain_text = type.as<StringType>() != nullptr;
  if (argument.kind == ArgumentText::Key && !plain_text) return key_value(leaf, *argument.seed);
  return value_of_literal(leaf,
                          plain_text ? ScriptValue(*given.string()) : parse_literal(argument.text, what));
}

std::vector<Value> make_arguments(const Module& module, const std::string& function,
                                  const CallInputs& inputs) {
  std::vector<CallParameter> parameters = call_parameters(module, function);
  std::vector<Leaf> leaves;
  for (const CallParameter& parameter : parameters) collect_leaves(parameter.name, parameter.type, leaves);
  std::vector<std::string> names;
  for (const Leaf& leaf : leaves) names.push_back(leaf.path);

  auto surplus = [&](const std::string& name, std::string_view where) {
    fail(ErrorClass::Usage, {}, "call.arguments",
         fmt::format("{}: '{}' is no parameter of {}{}", where, printable(name), function,
                     did_you_mean(name, names)));
  };
  // A buffer also goes by the name of its handle.
  auto own_name = [&](const std::string& name) {
    for (const CallParameter& parameter : parameters)
      if (parameter.handle == name && std::find(names.begin(), names.end(), name) == names.end())
        return parameter.name;
    return name;
  };
  std::map<std::string, const ScriptValue*> given;
  const GivenArguments named = arguments_by_leaf(module, function, parameters, inputs);
  for (const auto& [written, value] : named) {
    const std::string name = own_name(written);
    if (std::find(names.begin(), names.end(), name) == names.end()) surplus(name, "--arg");
    if (!given.emplace(name, &value).second) {
      fail(ErrorClass::Usage, {}, "call.arguments", fmt::format("--arg: '{}' is given twice", name));
    }
  }
  std::map<std::string, const Tensor*> from_file;
  for (const auto& [written, tensor] : inputs.params) {
    const std::string name = own_name(written);
    bool known = std::find(names.begin(), names.end(), name) != names.end();
    if (!known && !inputs.ignore_extra) surplus(name, "--params");
    if (known) from_file.emplace(name, &tensor);
  }
  static const ScriptValue zeros{std::string("zeros")};
  std::map<std::string, Value> values;
  for (const CallParameter& parameter : parameters)
    for (const auto& [name, value] : inputs.known)
      if (name == parameter.name) take_known(name, parameter.type, value, values);
  std::string missing;
  for (const Leaf& leaf : leaves) {
    if (given.count(leaf.path) || from_file.count(leaf.path) || values.count(leaf.path)) continue;
    if (inputs.zeros_for_missing && leaf.type.tensor())
      given.emplace(leaf.path, &zeros);
    else
      missing += (missing.empty() ? "" : ", ") + leaf.path;
  }
  if (!missing.empty()) {
    fail(ErrorClass::Usage, {}, "call.arguments",
         fmt::format("{}: no value for {}; give --arg NAME=VALUE or --params FILE", function, missing));
  }

  SymbolValues symbols;
  std::vector<ScalarVar> vars;
  for (const CallParameter& parameter : parameters) collect_vars(parameter.type, vars);
  for (const auto& [name, value] : inputs.dims) {
    bool known = false;
    for (const ScalarVar& var : vars) {
      if (var.name() != name) continue;
      symbols[var.id()] = value;
      known = true;
    }
    if (!known)
      fail(ErrorClass::Usage, {}, "option.dim",
           fmt::format("--dim: {} has no dimension '{}'", function, name));
  }

  const SymbolValues dims_given = symbols;
  std::vector<std::pair<const Leaf*, ArgumentText>> to_make;
  for (const Leaf& leaf : leaves) {
    auto text = given.find(leaf.path);
    const bool known = values.count(leaf.path) > 0;
    if (text == given.end() && !known) {
      values[leaf.path] = value_of_file(leaf, *from_file.at(leaf.path));
    } else if (!known) {
      const std::string* written = text->second->string();
      ArgumentText argument = written ? parse_argument_text(*written, "--arg " + leaf.path) : ArgumentText{};
      if (is_made(argument)) {
        to_make.emplace_back(&leaf, argument);
        continue;
      }
      values[leaf.path] = parse_argument(leaf.path, leaf.type, *text->second);
    }
    learn_dims(leaf, values[leaf.path], dims_given, symbols);
  }
  for (const auto& [leaf, text] : to_make) values[leaf->path] = made_value(*leaf, text, symbols, inputs.seed);

  std::vector<Value> result;
  for (const CallParameter& parameter : parameters)
    result.push_back(assembled(parameter.name, parameter.type, values));
  return result;
}

static void note_call(ScriptObserver& session, const FunctionReference& function,
                      const std::vector<Value>& arguments) {
  try {
    if (const FunctionPtr graph = function.module->function(function.name)) bind_arguments(*graph, arguments);
    session.called(function, arguments);
  } catch (const Failure&) {
    return;  // the call says why
  }
}

std::vector<Value> call_arguments(const Invocation& invocation, const std::string& function,
                                  MissingTensors missing) {
  const bool given = invocation.given("arg") || invocation.given("params") || invocation.given("dim") ||
                     !invocation.call_arguments.empty();
  ScriptObserver* session = invocation.script ? invocation.script->options().observer : nullptr;
  if (session && !given) {
    if (auto last = session->last_arguments({invocation.module, function})) return std::move(*last);
  }
  CallInputs inputs = call_inputs(invocation);
  // What is not given is as in the last call.
  if (session && !invocation.given("dim") && invocation.call_arguments.empty() && inputs.by_place.empty()) {
    const auto last = session->last_arguments({invocation.module, function});
    const std::vector<CallParameter> parameters = call_parameters(*invocation.module, function);
    for (std::size_t i = 0; last && i < parameters.size(); ++i) {
      const std::string &name = parameters[i].name, &handle = parameters[i].handle;
      const auto is_it = [&](const auto& entry) {
        const std::string given_name = head_of_path(entry.first);
        return given_name == name || given_name == handle;
      };
      if (std::none_of(inputs.arguments.begin(), inputs.arguments.end(), is_it) &&
          std::none_of(inputs.params.begin(), inputs.params.end(), is_it))
        inputs.known.emplace_back(name, (*last)[i]);
    }
  }
  inputs.zeros_for_missing = missing == MissingTensors::Zeros;
  std::vector<Value> arguments = make_arguments(*invocation.module, function, inputs);
  // What a command calls it with are arguments of its last call, too, if it takes them.
  if (session && missing == MissingTensors::Refused)
    note_call(*session, {invocation.module, function}, arguments);
  return arguments;
}

NamedTensors flatten_result(const Value& value, const std::string& name) {
  NamedTensors result;
  if (value.is_tensor()) {
    result.emplace_back(name, value.tensor());
  } else if (value.is_tuple()) {
    for (std::size_t i = 0; i < value.fields().size(); ++i) {
      for (auto& entry : flatten_result(value.fields()[i], fmt::format("{}.{}", name, i)))
        result.push_back(std::move(entry));
    }
  } else if (value.is_scalar()) {
    const ScalarValue& scalar = value.scalar();
    result.emplace_back(name, is_float(scalar.dtype) ? Tensor::scalar(scalar.dtype, scalar.real)
                                                     : Tensor::scalar_int(scalar.dtype, scalar.integer));
  } else if (value.is_shape()) {
    const std::vector<std::int64_t>& dims = value.shape().dims;
    result.emplace_back(name, Tensor::from<std::int64_t>({static_cast<std::int64_t>(dims.size())}, dims));
  }
  return result;
}

namespace {

struct ResultForm {
  std::string name;
  Type type;
};

// As flatten_result names them; false where only the run knows them.
bool add_forms(const std::string& name, const Type& type, std::vector<ResultForm>& forms) {
  if (const TupleType* tuple = type.tuple()) {
    for (std::size_t i = 0; i < tuple->fields.size(); ++i)
      if (!add_forms(fmt::format("{}.{}", name, i), tuple->fields[i], forms)) return false;
    return true;
  }
  if (!type.tensor() && !type.as<ScalarType>() && !type.as<ShapeType>()) return false;
  forms.push_back({name, type});
  return true;
}

}  // namespace

void check_results_path(const std::string& path, const Module& module, const std::string& function,
                        Span place) {
  std::vector<ResultForm> forms;
  const FunctionPtr graph = module.function(function);  // a prim_func has no type of results
  const bool known = graph && add_forms("out", graph->result_type, forms);
  check_tensors_path(path, known ? std::optional(forms.size()) : std::nullopt);
  if (!path.ends_with(".csv") && !path.ends_with(".tsv")) return;
  for (const ResultForm& form : forms) {
    const TensorType* tensor = form.type.tensor();
    if (form.type.as<ShapeType>() || (tensor && (tensor->rank < 0 || tensor->rank == 1 || tensor->rank == 2)))
      continue;
    fail(ErrorClass::Usage, place, "call.csv",
         fmt::format("the result {} has the type {}; a .csv or .tsv takes vectors and matrices; expected an "
                     "output .npz or .safetensors",
                     form.name, print(form.type)));
  }
}

}  // namespace relish
