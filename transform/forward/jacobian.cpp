// Jacobians, by a loop in the function itself. A round gives a row, the way back for one element of the
// result, or a column, the tangent for one element of a parameter; what does not hang on the round is
// computed once, before the loop.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <unordered_set>

#include "ir/printer/printer.h"
#include "ir/rewriting/regions.h"
#include "ir/verify/verify.h"
#include "stdlib/families/shapes/shapes.h"
#include "transform/derivatives.h"
#include "transform/forward/forward.h"
#include "transform/gradient/copies.h"
#include "transform/gradient/differentiated.h"
#include "transform/gradient/made_regions.h"
#include "transform/gradient/reverse.h"
#include "transform/rebuild.h"

namespace relish {
namespace {

Dims joined(const Dims& a, const Dims& b) {
  Dims all = a;
  all.insert(all.end(), b.begin(), b.end());
  return all;
}

class JacobianPass {
 public:
  JacobianPass(const Module& module, const Function& function)
      : subject_(module, function), builder_(subject_.builder) {}

  Module run(const DerivativeOptions& options) {
    subject_.choose(options.wrt, true);
    target_ = subject_.target(options.target);
    const Dims rows = dims_of("the target", target_.type(), subject_.result_span());
    Scalar columns(0);
    for (const Var& var : subject_.wrt)
      columns = columns + product(dims_of(fmt::format("'{}'", var.name()), var.type(), var.span()));
    const Scalar fewer = canonical(columns - product(rows));
    const bool by_rows = fewer.as_int().value_or(1) > 0;
    subject_.require_rules({target_}, by_rows ? Way::Back : Way::Forward);
    span_ = subject_.source.span;
    builder_.set_origin(span_);
    const std::vector<Expr> jacobians = by_rows ? rowwise(rows) : columnwise(rows);
    builder_.end_block();
    const std::vector<Binding> behind = builder_.take_bindings();
    ahead_.insert(ahead_.end(), behind.begin(), behind.end());
    Module made = subject_.with(subject_.source.name + "_jacobian", subject_.body.params, std::move(ahead_),
                                tuple({subject_.body.result, tuple(jacobians, span_)}, span_));
    verify_after(made, "jacobian");
    return made;
  }

 private:
  static Dims dims_of(const std::string& what, const Type& type, Span span) {
    const TensorType* tensor = type.tensor();
    if (tensor && tensor->shape) return *tensor->shape;
    fail(ErrorClass::Type, span, "gradient.target",
         fmt::format("{} has type {}; the Jacobian needs a tensor of known shape", what, print(type)),
         {{{}, "bind it with R.match_cast to a type that tells its shape"}});
  }

  static DType dtype_of(const Expr& value) { return *value.type().tensor()->dtype; }

  Expr call(std::string_view op, std::vector<Expr> args, Attributes attributes = {}) {
    return builder_.emit(op_call(op, std::move(args), std::move(attributes), span_), "lv");
  }
  Expr zeros(const Dims& dims, DType dtype) {
    return call("zeros", {shape_literal(dims, span_)}, {{"dtype", Attribute(std::string(name_of(dtype)))}});
  }
  Expr shaped(const Expr& value, const Dims& dims) {
    return call("reshape", {value, shape_literal(dims, span_)});
  }

  // Of so many elements in this shape, one where the round is, zeros elsewhere.
  Expr unit(const Scalar& round, const Dims& dims, DType dtype) {
    const Expr numbers = call("arange", {scalar_value(Scalar(0), span_), scalar_value(product(dims), span_)});
    const Expr place = call("full", {shape_literal({}, span_), scalar_value(round, span_)});
    const Expr marks = call("equal", {shaped(numbers, dims), place});
    return call("astype", {marks}, {{"dtype", Attribute(std::string(name_of(dtype)))}});
  }

  // The table with the values as line `round`.
  Expr with_line(const Expr& table, const Scalar& round, const Expr& values, const Dims& dims) {
    const Expr place =
        call("full", {shape_literal({Scalar(1), Scalar(1)}, span_), scalar_value(round, span_)});
    return call("scatter_nd", {table, place, shaped(values, joined({Scalar(1)}, dims))});
  }

  struct Table {
    std::string name;
    Dims dims;  // of a line
    DType dtype;
  };

  // A loop that fills the tables, one line of each a round.
  std::vector<Expr> filled(const Scalar& rounds, const std::vector<Table>& tables,
                           const std::function<std::vector<Expr>(const Scalar& round)>& lines) {
    Loop loop;
    loop.index = ScalarVar(builder_.fresh_name("round"), DType::Int64, span_);
    loop.begin = scalar_value(Scalar(0), span_);
    loop.end = scalar_value(rounds, span_);
    loop.step = scalar_value(Scalar(1), span_);
    std::vector<Var> params;
    std::vector<std::string> names;
    for (const Table& table : tables) {
      loop.initial.push_back(zeros(joined({rounds}, table.dims), table.dtype));
      params.emplace_back(builder_.fresh_name(table.name + "_lines"), loop.initial.back().type(), false,
                          span_);
      names.push_back(params.back().name());
    }
    builder_.begin_region(params);
    builder_.begin_block(false);
    const Scalar round = use(loop.index);
    const std::vector<Expr> values = lines(round);
    builder_.set_origin(span_);
    std::vector<Expr> next;
    for (std::size_t k = 0; k < tables.size(); ++k)
      next.push_back(with_line(Expr(params[k]), round, values[k], tables[k].dims));
    loop.body = std::make_shared<const Region>(closed_region(builder_, std::move(next)));
    builder_.begin_block(false);
    const Expr made = builder_.emit(loop_expr(std::move(loop), span_), "lv");
    return fields_of(builder_, made, names, span_);
  }

  std::vector<Expr> rowwise(const Dims& rows) {
    Reverse reverse(subject_.job, builder_);
    builder_.begin_block(false);
    reverse.forward(subject_.body.bindings, {target_});
    builder_.end_block();
    std::vector<Binding> ahead = builder_.take_bindings();
    builder_.begin_block(false);
    Linear back;
    back.at = Var(builder_.fresh_name("ct"), target_.type(), false, span_);
    builder_.begin_region();
    builder_.begin_block(false);
    builder_.set_origin(target_.span().known() ? target_.span() : span_);
    reverse.seed(target_, Adjoint{Expr(back.at)});
    reverse.backward();
    builder_.set_origin(span_);
    for (const Var& var : subject_.wrt)
      back.values.push_back(builder_.emit(reverse.as_expr(reverse.of(var), var.type(), Expr(var)), "lv"));
    take_steps(back, {});
    reverse.complete(ahead);
    ahead_ = std::move(ahead);
    std::vector<Table> tables;
    for (const Var& var : subject_.wrt)
      tables.push_back({var.name(), *var.type().tensor()->shape, *var.type().tensor()->dtype});
    const std::vector<Expr> made = filled(product(rows), tables, [&](const Scalar& round) {
      return of_linear(back, unit(round, rows, dtype_of(target_)));
    });
    std::vector<Expr> jacobians;
    for (std::size_t k = 0; k < made.size(); ++k)
      jacobians.push_back(shaped(made[k], joined(rows, tables[k].dims)));
    return jacobians;
  }

  // One loop for each parameter.
  std::vector<Expr> columnwise(const Dims& rows) {
    const std::vector<Binding> bindings = subject_.body.bindings;
    builder_.begin_block(false);
    for (const Binding& binding : bindings) builder_.append(binding);
    JvpFunctions functions(subject_.job);
    std::vector<Expr> jacobians;
    for (const Var& var : subject_.wrt) {
      const Dims dims = *var.type().tensor()->shape;
      const Linear tangent = tangent_along(var, bindings, functions);
      const std::vector<Table> table{{var.name(), rows, dtype_of(target_)}};
      const Expr made = filled(product(dims), table, [&](const Scalar& round) {
        return of_linear(tangent, unit(round, dims, *var.type().tensor()->dtype));
      })[0];
      const Expr flat = shaped(made, {product(dims), product(rows)});
      jacobians.push_back(shaped(call("permute_dims", {flat}), joined(rows, dims)));
    }
    return jacobians;
  }

  // Values that are linear in a variable.
  struct Linear {
    Var at;
    std::vector<Binding> steps;  // that hang on it
    std::vector<Expr> values;
  };

  // Ends the region that holds the steps. What hangs on no direction goes before it; what is bound there
  // already is taken from there.
  void take_steps(Linear& linear, const std::unordered_set<std::uint64_t>& outside) {
    builder_.end_block();
    const Region region = builder_.end_region(linear.values);
    builder_.begin_block(false);
    std::unordered_set<std::uint64_t> moving{linear.at.id()};
    for (const Binding& binding : all_bindings(region.blocks)) {
      if (outside.contains(binding.var().id())) {
        // What an if or a loop gives is taken apart whole, as reading has it; this field is there already.
        const auto* field = binding.value().as<TupleGet>();
        const Var* whole = field ? field->tuple.as_var() : nullptr;
        if (!whole || !moving.contains(whole->id())) continue;
        Binding own = binding;
        const Var& var = binding.var();
        own.kind = VarBinding{Var(var.name(), var.type(), false, var.span()), binding.value()};
        linear.steps.push_back(std::move(own));
        continue;
      }
      const std::vector<Var> used = used_vars(binding.value());
      const bool moves =
          std::any_of(used.begin(), used.end(), [&](const Var& each) { return moving.contains(each.id()); });
      if (moves) moving.insert(binding.var().id());
      if (moves)
        linear.steps.push_back(binding);
      else
        builder_.append(binding);
    }
  }

  // The values where the variable is `at`.
  std::vector<Expr> of_linear(const Linear& linear, const Expr& at) {
    VarMap vars{{linear.at.id(), at}};
    BindingBlock block;
    block.bindings = linear.steps;
    for (const Binding& step : fresh_bindings({block}, builder_, vars)) builder_.append(step);
    std::vector<Expr> values;
    for (const Expr& value : linear.values) values.push_back(substitute(value, vars));
    return values;
  }

  Linear tangent_along(const Var& var, const std::vector<Binding>& bindings, JvpFunctions& functions) {
    Linear made;
    made.at = Var(builder_.fresh_name(var.name() + "_dot"), var.type(), false, var.span());
    subject_.job.varied = {var.id()};
    subject_.job.vary(bindings);
    Forward forward(subject_.job, functions, builder_);
    builder_.begin_region();
    builder_.begin_block(false);
    forward.seed(var, Expr(made.at));
    forward.run(bindings, {target_});
    builder_.set_origin(span_);
    made.values = {builder_.emit(forward.tangent_of(target_, target_.type()), "lv")};
    std::unordered_set<std::uint64_t> outside;
    for (const Binding& binding : bindings) outside.insert(binding.var().id());
    take_steps(made, outside);
    return made;
  }

  DifferentiatedFunction subject_;
  FunctionBuilder& builder_;
  std::vector<Binding> ahead_;  // the function itself with what the way back needs
  Expr target_;
  Span span_;
};

}  // namespace

Module jacobian(const Module& module, std::string_view function, const DerivativeOptions& options) {
  return JacobianPass(module, *relax_function(module, function)).run(options);
}

}  // namespace relish
