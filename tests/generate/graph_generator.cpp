// The frame of a generated Relax function, and the judgement of its bindings.
#include "tests/generate/graph_generator.h"

#include <algorithm>

#include "ir/operators/op.h"
#include "tests/generate/graph_forms.h"
#include "tests/generate/names.h"
#include "tests/generate/values.h"

namespace relish::generate {
namespace {

// The type without dims that only the body of the function makes known: its callers cannot tell them.
Type seen_outside(const Type& type, std::span<const ScalarVar> known) {
  if (const TupleType* tuple = type.tuple()) {
    TupleType result;
    for (const Type& field : tuple->fields) result.fields.push_back(seen_outside(field, known));
    return Type(result);
  }
  std::vector<ScalarVar> vars;
  collect_vars(type, vars);
  const bool all = std::all_of(vars.begin(), vars.end(), [&](const ScalarVar& var) {
    return std::find(known.begin(), known.end(), var) != known.end();
  });
  if (all) return type;
  if (const TensorType* tensor = type.tensor())
    return Type(TensorType{tensor->dtype, std::nullopt, tensor->rank});
  return Type(ShapeType{std::nullopt, type.as<ShapeType>()->rank});
}

DType home_of(ProgramState& state) {
  constexpr DType homes[] = {DType::Float32, DType::Float32, DType::Float32,
                             DType::Float64, DType::Float16, DType::BFloat16};
  return state.program.options.differentiable ? DType::Float64 : state.random.pick(homes);
}

}  // namespace

GraphGenerator::GraphGenerator(ProgramState& state)
    : state_(state),
      dims_{state.program.options, state.random, home_of(state)},
      probe_(state.module, state.random, dims_) {}

CommentsPtr GraphGenerator::comments() {
  if (!options().comments || !random().chance(0.1)) return nullptr;
  Comments comments;
  for (std::int64_t count = random().between(0, 2); count > 0; --count)
    comments.before.push_back(comment_text(random()));
  if (comments.before.empty() || random().chance(0.4)) comments.after = comment_text(random());
  cover("comments");
  return std::make_shared<const Comments>(std::move(comments));
}

Type GraphGenerator::parameter_type(int depth) {
  const double choice = random().uniform();
  if (choice < 0.1 && depth > 0) {
    cover("tuple parameter");
    TupleType tuple;
    for (std::int64_t count = random().between(1, 3); count > 0; --count)
      tuple.fields.push_back(parameter_type(depth - 1));
    return Type(tuple);
  }
  if (choice < 0.15 && !options().differentiable) {
    cover("shape parameter");
    std::vector<Scalar> dims = dims_.shape();
    const int rank = static_cast<int>(dims.size());
    return Type(ShapeType{std::move(dims), rank});
  }
  if (choice < 0.22 && !options().differentiable && depth == 2) {
    cover("scalar parameter");
    constexpr DType kinds[] = {DType::Int64, DType::Int64, DType::Float32, DType::Bool};
    return Type(ScalarType{random().pick(kinds)});
  }
  return tensor_type(dims_.shape(), dims_.dtype());
}

Var GraphGenerator::parameter(const Type& type, Value value) {
  // Samples have round numbers, which is where kinks and ties are.
  if (options().differentiable && value.is_tensor() && is_float(value.tensor().dtype())) {
    Tensor off = value.tensor().copy();
    for (std::int64_t i = 0; i < off.size(); ++i)
      off.set_double(i, off.get_double(i) + random().uniform(0.011, 0.04));
    value = off;
  }
  std::vector<std::string> taken{"R", "T", "I", "cls", "relish", "float", state_.module.name};
  taken.insert(taken.end(), state_.names.begin(), state_.names.end());
  for (const Var& param : params_) taken.push_back(param.name());
  const Var var(parameter_name(random(), taken), type);
  params_.push_back(var);
  probe_.anchors.emplace_back(var, value);
  arguments_.push_back(std::move(value));
  known_.push_back({var, arguments_.back(), ""});
  return var;
}

Expr GraphGenerator::provide_value(const Type& type, const Value& sample) {
  const auto same = those([&](const Type& other) { return same_type(other, type); });
  if (!same.empty() && random().chance(0.7)) return random().pick(same)->var;
  if (sample.is_tensor() && fully_known(dims_.concrete(type)) && same_type(dims_.concrete(type), type))
    return provide(sample.tensor(), 0);
  if (sample.is_scalar()) {
    const ScalarValue& scalar = sample.scalar();
    return scalar_value(is_float(scalar.dtype) ? float_literal(scalar.dtype, scalar.real)
                                               : int_literal(scalar.dtype, scalar.integer));
  }
  if (sample.is_shape()) {
    std::vector<Scalar> dims(sample.shape().dims.begin(), sample.shape().dims.end());
    return shape_literal(std::move(dims));
  }
  if (sample.is_tuple() && type.tuple()) {
    std::vector<Expr> fields;
    for (std::size_t i = 0; i < sample.fields().size(); ++i)
      fields.push_back(provide_value(type.tuple()->fields[i], sample.fields()[i]));
    return tuple(std::move(fields));
  }
  return parameter(type, sample);
}

Expr GraphGenerator::provide(const Tensor& sample, double reuse) {
  const Type type = type_of(Value(sample));
  const auto same = those([&](const Type& other) { return same_type(other, type); });
  if (!same.empty() && random().chance(reuse)) return random().pick(same)->var;
  // A variable of the same size takes the shape.
  if (random().chance(reuse)) {
    const auto alike = those([&](const Type& other) {
      const TensorType* tensor = other.tensor();
      if (!tensor || tensor->dtype != sample.dtype() || !tensor->shape) return false;
      return product(*tensor->shape).as_int() == sample.size() && sample.size() > 0;
    });
    if (!alike.empty()) {
      const Var from = random().pick(alike)->var;
      std::vector<Scalar> dims(sample.shape().begin(), sample.shape().end());
      if (const auto var = bind(op_call("reshape", {from, shape_literal(dims)}), "reshape")) {
        state_.program.operators.insert("reshape");
        return *var;
      }
    }
  }
  if (random().chance(0.4) && !options().differentiable) return constant(sample);
  return parameter(type, sample);
}

Var GraphGenerator::add(Binding binding, std::optional<Value> value, const std::string& maker) {
  // The lines of an if or a loop have places for comments of their own.
  if (!binding.value().as<If>() && !binding.value().as<Loop>()) binding.comments = comments();
  binding.annotated = true;
  const Var var = binding.var();
  block_.bindings.push_back(std::move(binding));
  known_.push_back({var, std::move(value), maker});
  return var;
}

std::optional<Var> GraphGenerator::bind(const Expr& value, const std::string& maker,
                                        std::optional<Type> looser) {
  std::optional<Value> result;
  // What is compiled has known shapes.
  if (!options().loose && !exposed_ &&
      (!fully_known(value.type()) || !is_small(dims_.concrete(value.type()))))
    return std::nullopt;
  if (options().evaluated) {
    result = probe_.judged(value, known_);
    if (!result) return std::nullopt;
  }
  const bool hidden = !exposed_ && block_.dataflow && random().chance(0.7);
  const Var var(variable_name(random()), looser ? *looser : value.type(), hidden);
  return add({VarBinding{var, value}, {}, nullptr}, std::move(result), maker);
}

std::optional<Var> GraphGenerator::bind_cast(const Expr& value, const Type& type, const SymbolValues& bound) {
  std::optional<Value> result;
  if (options().evaluated) {
    result = probe_.run(value, known_, false);
    if (!result) return std::nullopt;
  }
  for (const auto& [id, number] : bound) dims_.values.emplace(id, number);
  std::vector<ScalarVar> vars;
  collect_vars(type, vars);
  for (const ScalarVar& var : vars) {
    if (bound.contains(var.id())) dims_.symbols.push_back(var);
  }
  const bool hidden = !exposed_ && block_.dataflow && random().chance(0.7);
  const Var var(variable_name(random()), type, hidden);
  if (result) probe_.anchors.emplace_back(var, *result);
  return add({MatchCast{var, value, type}, {}, nullptr}, std::move(result), "");
}

void GraphGenerator::forget(const Var& var) {
  std::erase_if(known_, [&](const Known& each) { return each.var == var; });
}

GraphGenerator::Mark GraphGenerator::mark() const {
  return {block_.bindings.size(), known_.size(),        params_.size(),
          probe_.anchors.size(),  dims_.symbols.size(), kept_.size()};
}

void GraphGenerator::go_back(const Mark& mark) {
  const auto shorten = [](auto& items, std::size_t size) {
    if (items.size() > size) items.erase(items.begin() + static_cast<std::ptrdiff_t>(size), items.end());
  };
  shorten(block_.bindings, mark.bindings);
  shorten(known_, mark.known);
  shorten(params_, mark.params);
  shorten(arguments_, mark.params);
  shorten(probe_.anchors, mark.anchors);
  shorten(dims_.symbols, mark.symbols);
  shorten(kept_, mark.kept);
}

void GraphGenerator::block(bool with_target) {
  block_ = {};
  block_.dataflow = random().chance(0.7) && !(with_target && !find_op(options().target)->pure);
  block_.comments = block_.dataflow ? comments() : nullptr;
  std::vector<const BindingForm*> forms;
  double total = 0;
  for (const BindingForm& form : binding_forms()) {
    if ((form.loose && !options().loose) || !(options().differentiable ? form.differentiable : form.others))
      continue;
    forms.push_back(&form);
    total += form.weight;
  }
  for (std::int64_t count = random().between(1, 6); count > 0; --count) {
    if (with_target && make_target(*this)) with_target = false;
    double at = random().uniform(0, total);
    for (const BindingForm* form : forms) {
      at -= form->weight;
      if (at > 0) continue;
      form->make(*this);
      break;
    }
  }
  if (block_.bindings.empty()) return;
  std::erase_if(known_, [](const Known& each) { return each.var.dataflow(); });
  cover(block_.dataflow ? "dataflow block" : "plain bindings");
  blocks_.push_back(std::move(block_));
}

Expr GraphGenerator::result() {
  const auto some = [&]() -> Expr {
    // What came last is computed from the most.
    const auto count = static_cast<std::int64_t>(known_.size());
    const std::int64_t first = random().chance(0.7) ? std::max<std::int64_t>(0, count - 4) : 0;
    return known_[static_cast<std::size_t>(random().between(first, count - 1))].var;
  };
  if (options().differentiable || (kept_.empty() && random().chance(0.4))) return some();
  std::vector<Expr> fields(kept_.begin(), kept_.end());
  for (std::int64_t count = random().between(1, 3); count > 0; --count) {
    if (random().chance(0.15)) {
      const Expr inner = some();
      fields.push_back(tuple({inner}));
    } else {
      fields.push_back(some());
    }
  }
  cover("tuple result");
  return tuple(std::move(fields));
}

std::vector<Value> GraphGenerator::run(const std::string& name, bool is_main) {
  Function function;
  function.name = name;
  pure_ = options().differentiable || !random().chance(0.1);
  for (std::int64_t count = random().chance(0.5) ? random().between(1, 2) : 0; count > 0; --count) {
    const ScalarVar symbol(dimension_name(random()), DType::Int64);
    dims_.add(symbol, random().between(1, 5));
  }
  dims_.of_parameters = dims_.symbols.size();
  std::vector<Scalar> own(dims_.symbols.begin(), dims_.symbols.end());
  if (!own.empty()) {
    cover("symbolic dims");
    // A parameter has them bare, so that its value determines them.
    if (random().chance(0.5)) own.push_back(Scalar(random().between(1, 4)));
    dims_.shapes.push_back(own);
    const Type type = tensor_type(own, dims_.home);
    parameter(type, value_of(random(), dims_.concrete(type)));
  }
  while (dims_.shapes.size() < 3) {
    std::vector<Scalar> dims;
    for (std::int64_t rank = random().between(0, 3); rank > 0; --rank) dims.push_back(dims_.dimension());
    dims_.shapes.push_back(std::move(dims));
  }
  for (std::int64_t count = random().between(1, 3); count > 0; --count) {
    const Type type = parameter_type(2);
    parameter(type, value_of(random(), dims_.concrete(type)));
  }
  const bool with_target = is_main && !options().target.empty();
  if (with_target && !find_op(options().target)->pure) pure_ = false;
  const std::int64_t blocks = random().between(1, is_main ? 4 : 2);
  for (std::int64_t i = 0; i < blocks; ++i) block(with_target && i == blocks / 2);
  if (options().differentiable && is_main) finish_with_sum();

  function.result = result();
  function.result_type = seen_outside(function.result.type(), dims_.parameter_symbols());
  if (options().loose && random().chance(0.1) && function.result_type.tensor()) {
    TensorType looser = *function.result_type.tensor();
    looser.shape.reset();
    function.result_type = Type(looser);
  }
  function.params = params_;
  function.blocks = std::move(blocks_);
  function.pure = pure_;
  function.is_private = !is_main && random().chance(0.3);
  function.comments = comments();
  function.result_comments = comments();
  if (random().chance(0.15)) {
    cover("function attributes");
    function.attributes = {{"num_input", Attribute(static_cast<std::int64_t>(1))}};
    if (random().chance(0.5)) function.attributes.emplace_back("some_text", Attribute("a \"text\"\n\\"));
    if (random().chance(0.5))
      function.attributes.emplace_back("nested", AttributeList{Attribute(1.5), Attribute(true)});
  }
  if (!pure_) cover("impure function");
  state_.module.set(std::make_shared<const Function>(std::move(function)));
  return arguments_;
}

// The result of a program for gradients: a weighted sum of what was computed, with all results of the target.
void GraphGenerator::finish_with_sum() {
  const auto floats = those([&](const Type& type) {
    return type.tensor() && type.tensor()->dtype == DType::Float64 && type.tensor()->shape;
  });
  std::vector<Var> terms;
  for (const Var& var : kept_) {
    if (std::any_of(floats.begin(), floats.end(), [&](const Known* each) { return each->var == var; }))
      terms.push_back(var);
  }
  for (std::size_t i = floats.size(), more = 0; i-- > 0 && more < 4; ++more) {
    if (std::find(terms.begin(), terms.end(), floats[i]->var) == terms.end()) terms.push_back(floats[i]->var);
  }
  if (terms.empty()) {
    const Type type = tensor_type({Scalar(2)}, DType::Float64);
    terms.push_back(parameter(type, value_of(random(), type)));
  }
  block_ = {};
  block_.dataflow = true;
  const auto step = [&](const Expr& value, bool last) {
    const Var var(variable_name(random()), value.type(), !last);
    return add({VarBinding{var, value}, {}, nullptr},
               options().evaluated ? probe_.run(value, known_, false) : std::nullopt, "");
  };
  std::optional<Var> total;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    // Weights that differ from element to element: sums of softmax, of differences from a mean and their like
    // do not change. Where the shape is symbolic, a curve does the same.
    Tensor weights = Tensor::scalar(DType::Float64, 0);
    const auto number = [](const Scalar& dim) { return dim.as_int().has_value(); };
    const std::vector<Scalar>& dims = *terms[i].type().tensor()->shape;
    const bool fixed = std::all_of(dims.begin(), dims.end(), number);
    if (fixed) weights = Tensor::empty(DType::Float64, concrete_shape(*terms[i].type().tensor()));
    for (std::int64_t k = 0; k < weights.size(); ++k)
      weights.set_double(k, 0.25 * static_cast<double>(random().between(1, 8)));
    Var weighted = step(op_call("multiply", {terms[i], constant(weights)}), false);
    if (!fixed) weighted = step(op_call("sin", {weighted}), false);
    const Var sum = step(op_call("sum", {weighted}), i == 0 && terms.size() == 1);
    total = total ? step(op_call("add", {*total, sum}), i + 1 == terms.size()) : sum;
  }
  blocks_.push_back(std::move(block_));
  known_.erase(known_.begin(), known_.end() - 1);
}

}  // namespace relish::generate
