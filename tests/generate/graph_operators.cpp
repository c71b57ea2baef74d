// Calls of operators, chosen by their declarations alone, so that a new operator is covered as it is
// declared: parameters by their kinds, numbers and attributes from the declared samples, refusals by its own
// inference.
#include "tests/generate/graph_operators.h"

#include <algorithm>

#include "runtime/stack.h"
#include "stdlib/families/language/storage.h"
#include "tests/generate/graph_forms.h"

namespace relish::generate {
namespace {

using testing::CaseArgument;
using testing::OperatorCase;

}  // namespace

const OperatorPool& pool_of(const Op& op) {
  static std::map<const Op*, OperatorPool> pools;
  const auto found = pools.find(&op);
  if (found != pools.end()) return found->second;
  OperatorPool pool;
  for (const Sample& sample : op.samples) {
    pool.cases.push_back(testing::case_of_sample(op, sample.args, std::string(op.name)));
    std::size_t position = 0;
    for (const CaseArgument& argument : pool.cases.back().arguments) {
      std::string name = argument.name;
      if (name.empty() && position < op.params.size()) name = std::string(op.params[position].name);
      ++position;
      if (const auto* attribute = std::get_if<Attribute>(&argument.value))
        pool.attributes[name].push_back(*attribute);
      if (const auto* scalar = std::get_if<ScalarValue>(&argument.value))
        pool.scalars[name].push_back(*scalar);
    }
  }
  return pools.emplace(&op, std::move(pool)).first->second;
}

bool takes_what_is_found(const Op& op) {
  return op.pure && std::none_of(op.params.begin(), op.params.end(), [](const Param& param) {
           return param.kind == ParamKind::AnyRest || (param.kind == ParamKind::Any && param.type != "shape");
         });
}

const Op& some_operator(GraphGenerator& g) {
  const std::span<const Op* const> all = all_ops();
  for (;;) {
    const Op& op = *g.random().pick(all);
    if (!takes_what_is_found(op)) continue;
    if (!g.options().differentiable || (op.vjp && op.fixed_params.empty())) return op;
  }
}

namespace {

Expr scalar_expr(const ScalarValue& value) {
  return scalar_value(is_float(value.dtype) ? float_literal(value.dtype, value.real)
                                            : int_literal(value.dtype, value.integer));
}

// Binds the call; its operands and class are noted when it stands.
std::optional<Var> bind_call(GraphGenerator& g, const Op& op, std::vector<WrittenArgument> written) {
  ArrangedArguments arranged = arrange_arguments(op, std::move(written), {});
  const Expr call = op_call(op, std::move(arranged.args), std::move(arranged.attributes));
  const std::string name(op.name);
  std::vector<std::string> makers;
  for (const Expr& arg : call.as<OpCall>()->args) {
    const auto note = [&](const Expr& leaf) {
      const Var* var = leaf.as_var();
      if (!var) return;
      for (const GraphGenerator::Known& each : g.known()) {
        if (each.var == *var && !each.maker.empty()) makers.push_back(each.maker);
      }
    };
    note(arg);
    if (const auto* fields = arg.as<TupleExpr>())
      for (const Expr& field : fields->fields) note(field);
  }
  std::optional<Var> var = g.bind(call, name);
  if (!var) return std::nullopt;
  Program& program = g.state().program;
  program.operators.insert(name);
  for (const std::string& maker : makers) program.pairs.emplace(maker, name);
  const bool rounds = op.agreement == Agreement::Elementary || op.agreement == Agreement::Sum ||
                      op.agreement == Agreement::Composite;
  if (rounds) g.loosen(static_cast<int>(op.agreement));
  return var;
}

// Runs `work`, which fails when inference refuses what was chosen.
template <class Work>
std::optional<Var> accepted(Work&& work) {
  try {
    return work();
  } catch (const Failure& failure) {
    if (failure.error_class() != ErrorClass::Type && failure.error_class() != ErrorClass::ResourceLimit)
      throw;
    return std::nullopt;
  }
}

class FreeCall {
 public:
  FreeCall(GraphGenerator& g, const Op& op, std::optional<Var> first)
      : g_(g), op_(op), pool_(pool_of(op)), given_(std::move(first)) {
    tensors_ = g.those([](const Type& type) { return type.tensor() != nullptr; });
  }

  std::optional<Var> bind() {
    if (tensors_.empty()) return std::nullopt;
    std::vector<WrittenArgument> written;
    for (const Param& param : op_.params) {
      if (param.kind == ParamKind::OptionalTensor && g_.random().chance(0.5)) continue;
      if (auto value = argument(param)) written.push_back({std::string(param.name), std::move(*value), {}});
    }
    return bind_call(g_, op_, std::move(written));
  }

 private:
  using Argument = std::variant<Expr, Attribute>;

  std::optional<Argument> argument(const Param& param) {
    Random& random = g_.random();
    switch (param.kind) {
      case ParamKind::Tensor:
      case ParamKind::OptionalTensor:
        return Expr(tensor());
      case ParamKind::TensorTuple: {
        std::vector<Expr> fields;
        for (std::int64_t count = random.between(1, 3); count > 0; --count) fields.emplace_back(tensor());
        return tuple(std::move(fields));
      }
      case ParamKind::Shape: {
        if (first_ && first_->type().tensor()->shape && random.chance(0.4))
          return shape_literal(*first_->type().tensor()->shape);
        const auto shapes = g_.those([](const Type& type) { return type.as<ShapeType>() != nullptr; });
        if (!shapes.empty() && random.chance(0.3)) return Expr(random.pick(shapes)->var);
        return shape_literal(g_.dims().shape());
      }
      case ParamKind::Scalar: {
        const auto found = pool_.scalars.find(param.name);
        if (found != pool_.scalars.end() && random.chance(0.8))
          return scalar_expr(random.pick(found->second));
        if (!param.fallback.empty()) return std::nullopt;
        return scalar_value(g_.dims().dimension());
      }
      case ParamKind::Attribute: {
        const auto found = pool_.attributes.find(param.name);
        const bool required = param.fallback.empty();
        if (found == pool_.attributes.end() || (!required && random.chance(0.3))) {
          if (required && param.name == "dtype") return Attribute(g_.dims().home);
          return std::nullopt;
        }
        const Attribute& sample = random.pick(found->second);
        // Any axis of the first operand is as good as those of the samples.
        if (sample.as<std::int64_t>() && param.name == "axis" && first_) {
          const int rank = first_->type().tensor()->rank;
          if (rank > 0) return Attribute(random.between(-rank, rank - 1));
        }
        return sample;
      }
      case ParamKind::Any:
      case ParamKind::AnyRest:
        return std::nullopt;  // operators of such are not called freely
    }
    return std::nullopt;
  }

  Var tensor() {
    Random& random = g_.random();
    if (first_ && random.chance(0.6)) {
      std::vector<Var> same;
      for (const GraphGenerator::Known* each : tensors_) {
        if (same_type(each->var.type(), first_->type())) same.push_back(each->var);
      }
      return random.pick(same);
    }
    if (!first_ && given_) return *(first_ = given_);
    const Var chosen = random.chance(0.5) ? tensors_.back()->var : random.pick(tensors_)->var;
    if (!first_) first_ = chosen;
    return chosen;
  }

  GraphGenerator& g_;
  const Op& op_;
  const OperatorPool& pool_;
  std::vector<const GraphGenerator::Known*> tensors_;
  std::optional<Var> given_, first_;
};

// An object that a sample gives, made by the operators that make such objects.
Expr object_expr(GraphGenerator& g, const Value& object, const OperandSource& operand) {
  if (const StackValue::Pointer stack = stack_of(object)) {
    std::vector<Value> values;  // the top first
    for (StackValue::Pointer at = stack; at->size() > 0; at = at->below()) values.push_back(at->top());
    std::optional<Var> made = call_as_sample(g, *find_op("stack.new"), operand);
    if (made && !values.empty()) {
      const Type element = type_of(values.front());
      made = g.bind_cast(*made, StackType{std::make_shared<const Type>(element)}, {});
    }
    for (std::size_t i = values.size(); made && i-- > 0;) {
      const Expr value =
          values[i].is_tensor() ? operand(values[i].tensor(), false) : scalar_expr(values[i].scalar());
      made = bind_call(g, *find_op("stack.push"), {{"", Expr(*made), {}}, {"", value, {}}});
    }
    RELISH_CHECK(made.has_value(), "a stack of a sample cannot be made");
    return *made;
  }
  const auto* storage =
      dynamic_cast<const StorageObject*>(std::get<std::shared_ptr<const ObjectValue>>(object.kind()).get());
  RELISH_CHECK(storage, "a sample gives an object of an unknown kind");
  const std::optional<Var> made = bind_call(g, *find_op("memory.alloc_storage"),
                                            {{"", shape_literal({Scalar(storage->bytes)}), {}},
                                             {"", scalar_value(Scalar(std::int64_t{0})), {}},
                                             {"", string_literal("global"), {}},
                                             {"", dtype_literal(DType::UInt8), {}}});
  RELISH_CHECK(made.has_value(), "the storage of a sample cannot be made");
  return *made;
}

}  // namespace

std::optional<Var> call_freely(GraphGenerator& g, const Op& op, std::optional<Var> first) {
  return accepted([&] { return FreeCall(g, op, std::move(first)).bind(); });
}

std::optional<Var> call_as_sample(GraphGenerator& g, const Op& op, const OperandSource& operand) {
  const OperatorPool& pool = pool_of(op);
  if (pool.cases.empty()) return std::nullopt;
  OperatorCase chosen = g.random().pick(pool.cases);
  const DType dtype = g.dims().home;
  if (g.options().differentiable || g.random().chance(0.8)) {
    if (auto converted = testing::with_dtype(chosen, dtype)) chosen = std::move(*converted);
  }
  // Integers beside floats are indices and masks: they keep the values of the sample.
  bool floats = false;
  for (const Tensor* tensor : chosen.tensors()) floats = floats || is_float(tensor->dtype());
  return accepted([&] {
    const auto tensor_expr = [&](const Tensor& tensor) {
      return operand(tensor, floats && !is_float(tensor.dtype()));
    };
    std::vector<WrittenArgument> written;
    for (const CaseArgument& argument : chosen.arguments) {
      WrittenArgument out{argument.name, Attribute(), {}};
      const std::size_t position = written.size();
      const std::string_view name = !argument.name.empty()        ? std::string_view(argument.name)
                                    : position < op.params.size() ? op.params[position].name
                                                                  : std::string_view();
      const auto& given = op.fixed_params;
      if (g.options().differentiable && std::find(given.begin(), given.end(), name) != given.end()) {
        // No gradient may pass through it.
        out.value = constant(std::get<Tensor>(argument.value));
      } else if (const auto* tensor = std::get_if<Tensor>(&argument.value)) {
        out.value = tensor_expr(*tensor);
      } else if (const auto* fields = std::get_if<std::vector<Tensor>>(&argument.value)) {
        std::vector<Expr> exprs;
        for (const Tensor& field : *fields) exprs.push_back(tensor_expr(field));
        out.value = tuple(std::move(exprs));
      } else if (const auto* shape = std::get_if<Shape>(&argument.value)) {
        std::vector<Scalar> dims(shape->begin(), shape->end());
        out.value = shape_literal(std::move(dims));
      } else if (const auto* scalar = std::get_if<ScalarValue>(&argument.value)) {
        out.value = scalar_expr(*scalar);
      } else if (const auto* object = std::get_if<std::shared_ptr<const ObjectValue>>(&argument.value)) {
        out.value = object_expr(g, Value(*object), operand);
      } else {
        out.value = std::get<Attribute>(argument.value);
      }
      written.push_back(std::move(out));
    }
    return bind_call(g, op, std::move(written));
  });
}

bool make_operator_call(GraphGenerator& g) {
  for (int attempt = 0; attempt < 8; ++attempt) {
    if (call_freely(g, some_operator(g))) return true;
  }
  return false;
}

bool make_operator_sample(GraphGenerator& g) {
  return call_as_sample(g, some_operator(g),
                        [&](const Tensor& sample, bool fixed) { return g.provide(sample, fixed ? 0 : 0.7); })
      .has_value();
}

}  // namespace relish::generate
