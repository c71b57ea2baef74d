// Calls of operators, chosen by their declarations alone, so that a new operator is covered as it is
// declared: parameters by their kinds, numbers and attributes from the declared samples, refusals by its own
// inference.
#include <algorithm>
#include <map>

#include "ir/op.h"
#include "tests/generate/graph_forms.h"
#include "tests/ops/operator_case.h"

namespace relish::generate {
namespace {

using testing::CaseArgument;
using testing::OperatorCase;

// What an operator's samples give: the calls, and the values of each attribute and scalar.
struct OperatorPool {
  std::vector<OperatorCase> cases;
  std::map<std::string, std::vector<Attribute>, std::less<>> attributes;
  std::map<std::string, std::vector<ScalarValue>, std::less<>> scalars;
};

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

// Effects, stacks, and memory as lowered modules ask for it, have forms of their own in programs.
bool is_generated(const Op& op) {
  return op.pure && std::none_of(op.params.begin(), op.params.end(), [](const Param& param) {
           return param.kind == ParamKind::AnyRest || (param.kind == ParamKind::Any && param.type != "shape");
         });
}

const Op& some_operator(GraphGenerator& g) {
  const std::span<const Op* const> all = all_ops();
  for (;;) {
    const Op& op = *g.random().pick(all);
    if (!is_generated(op)) continue;
    if (!g.options().differentiable || op.vjp) return op;
  }
}

Expr scalar_expr(const ScalarValue& value) {
  return scalar_value(is_float(value.dtype) ? float_literal(value.dtype, value.real)
                                            : int_literal(value.dtype, value.integer));
}

// Binds the call; its operands and class are noted when it stands.
bool bind_call(GraphGenerator& g, const Op& op, std::vector<WrittenArgument> written) {
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
  if (!g.bind(call, name)) return false;
  Program& program = g.state().program;
  program.operators.insert(name);
  for (const std::string& maker : makers) program.pairs.emplace(maker, name);
  const bool rounds = op.agreement == Agreement::Elementary || op.agreement == Agreement::Sum ||
                      op.agreement == Agreement::Composite;
  if (rounds) g.loosen(static_cast<int>(op.agreement));
  return true;
}

// Runs `work`, which fails when inference refuses what was chosen.
template <class Work>
bool accepted(Work&& work) {
  try {
    return work();
  } catch (const Failure& failure) {
    if (failure.error_class() != ErrorClass::Type && failure.error_class() != ErrorClass::ResourceLimit)
      throw;
    return false;
  }
}

class FreeCall {
 public:
  FreeCall(GraphGenerator& g, const Op& op) : g_(g), op_(op), pool_(pool_of(op)) {
    tensors_ = g.those([](const Type& type) { return type.tensor() != nullptr; });
  }

  bool bind() {
    if (tensors_.empty()) return false;
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
        return shape_literal(g_.shape());
      }
      case ParamKind::Scalar: {
        const auto found = pool_.scalars.find(param.name);
        if (found != pool_.scalars.end() && random.chance(0.8))
          return scalar_expr(random.pick(found->second));
        if (!param.fallback.empty()) return std::nullopt;
        return scalar_value(g_.dimension());
      }
      case ParamKind::Attribute: {
        const auto found = pool_.attributes.find(param.name);
        const bool required = param.fallback.empty();
        if (found == pool_.attributes.end() || (!required && random.chance(0.3))) {
          if (required && param.name == "dtype") return Attribute(g_.float_dtype());
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
    const Var chosen = random.chance(0.5) ? tensors_.back()->var : random.pick(tensors_)->var;
    if (!first_) first_ = chosen;
    return chosen;
  }

  GraphGenerator& g_;
  const Op& op_;
  const OperatorPool& pool_;
  std::vector<const GraphGenerator::Known*> tensors_;
  std::optional<Var> first_;
};

}  // namespace

bool make_operator_call(GraphGenerator& g) {
  for (int attempt = 0; attempt < 8; ++attempt) {
    const Op& op = some_operator(g);
    if (accepted([&] { return FreeCall(g, op).bind(); })) return true;
  }
  return false;
}

bool make_operator_sample(GraphGenerator& g) {
  const Op& op = some_operator(g);
  const OperatorPool& pool = pool_of(op);
  if (pool.cases.empty()) return false;
  OperatorCase chosen = g.random().pick(pool.cases);
  const DType dtype = g.float_dtype();
  if (g.options().differentiable || g.random().chance(0.8)) {
    if (auto converted = testing::with_dtype(chosen, dtype)) chosen = std::move(*converted);
  }
  bool floats = false;
  for (const Tensor* tensor : chosen.tensors()) floats = floats || is_float(tensor->dtype());
  return accepted([&] {
    // Integers beside floats are indices and masks: they keep the values of the sample.
    const auto operand = [&](const Tensor& tensor) {
      return g.provide(tensor, !floats || is_float(tensor.dtype()) ? 0.7 : 0);
    };
    std::vector<WrittenArgument> written;
    for (const CaseArgument& argument : chosen.arguments) {
      WrittenArgument out{argument.name, Attribute(), {}};
      if (const auto* tensor = std::get_if<Tensor>(&argument.value)) {
        out.value = operand(*tensor);
      } else if (const auto* fields = std::get_if<std::vector<Tensor>>(&argument.value)) {
        std::vector<Expr> exprs;
        for (const Tensor& field : *fields) exprs.push_back(operand(field));
        out.value = tuple(std::move(exprs));
      } else if (const auto* shape = std::get_if<Shape>(&argument.value)) {
        std::vector<Scalar> dims(shape->begin(), shape->end());
        out.value = shape_literal(std::move(dims));
      } else if (const auto* scalar = std::get_if<ScalarValue>(&argument.value)) {
        out.value = scalar_expr(*scalar);
      } else {
        out.value = std::get<Attribute>(argument.value);
      }
      written.push_back(std::move(out));
    }
    return bind_call(g, op, std::move(written));
  });
}

}  // namespace relish::generate
