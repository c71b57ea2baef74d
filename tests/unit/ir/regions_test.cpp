// The frame of passes: regions in the builder, free variables of bodies, values over changed regions, and
// what the mapper gives back when nothing changes.
#include "ir/rewriting/regions.h"

#include <catch2/catch.hpp>

#include "graph_samples.h"
#include "ir/printer/printer.h"
#include "ir/rewriting/expr_mapper.h"
#include "ir/rewriting/rewrite.h"
#include "ir/verify/verify.h"

using namespace relish;
using namespace relish::samples;

namespace {

std::vector<std::string> names_of(const std::vector<Var>& vars) {
  std::vector<std::string> names;
  for (const Var& var : vars) names.push_back(var.name());
  return names;
}

using Names = std::vector<std::string>;

Expr sum_of(FunctionBuilder& builder, const Expr& a, const Expr& b, std::string_view hint) {
  return builder.call("add", {a, b}, {}, hint);
}

// main(x, y, c): an if over c, a for over its result, a nested function around x, a call of it.
struct Bodies {
  Var x{"x", floats({2})}, y{"y", floats({2})}, c{"c", tensor_type({}, DType::Bool)};
  Expr branch, loop, nested;
  FunctionPtr function;

  Bodies() {
    install();
    FunctionBuilder builder;
    for (const Var& param : {x, y, c}) builder.reserve_name(param.name());
    builder.begin_block(false);
    const Expr twice = sum_of(builder, x, x, "twice");

    builder.begin_region();
    const Region then_region = [&] {
      const Expr result = sum_of(builder, twice, y, "from_then");
      return builder.end_region({result});
    }();
    builder.begin_region();
    const Region else_region = builder.end_region({Expr(y)});
    branch = if_expr(c, then_region, else_region);
    const Expr chosen = builder.emit(branch, "chosen");

    Loop made;
    made.index = ScalarVar("i", DType::Int64);
    made.begin = scalar_value(Scalar(0));
    made.end = scalar_value(Scalar(3));
    made.step = scalar_value(Scalar(1));
    made.initial = {chosen};
    const Var carried("carried", floats({2}));
    builder.begin_region({carried});
    const Expr next = sum_of(builder, carried, x, "next");
    made.body = std::make_shared<const Region>(builder.end_region({next}));
    loop = loop_expr(made);
    const Expr looped = builder.emit(loop, "looped");

    Function inner;
    inner.name = "inner";
    inner.params = {Var("z", floats({2}))};
    builder.begin_region();
    const Expr inner_sum = sum_of(builder, inner.params[0], x, "inner_sum");
    inner.blocks = builder.end_region({}).blocks;
    inner.result = inner_sum;
    inner.result_type = inner_sum.type();
    nested = function_expr(std::make_shared<const Function>(inner));
    const Expr callee = builder.emit(nested, "inner");
    const Expr result = builder.emit(function_call(callee, {looped}), "result");

    Function made_function;
    made_function.name = "main";
    made_function.params = {x, y, c};
    made_function.blocks = builder.take_blocks();
    made_function.result = result;
    made_function.result_type = result.type();
    function = std::make_shared<const Function>(std::move(made_function));
  }
};

// Nothing changes.
class Nothing final : public ExprMapper {};

// Sums of a value with itself go, and what they were is what they summed; every other sum is taken twice.
class Sums final : public ExprMapper {
 protected:
  Expr map_var(const Expr& expr, const Var& var) override {
    const auto found = gone_.find(var.id());
    return found == gone_.end() ? expr : found->second;
  }
  void map_binding(const Binding& binding, bool, std::vector<Binding>& into) override {
    Binding mapped = map(binding);
    const auto* call = mapped.value().as<OpCall>();
    if (!call || call->op != &samples::add) {
      into.push_back(mapped);
    } else if (call->args[0].as_var() && *call->args[0].as_var() == *call->args[1].as_var()) {
      gone_.emplace(binding.var().id(), call->args[0]);
    } else {
      const Var before("before", mapped.value().type());
      into.push_back(Binding{VarBinding{before, mapped.value()}, {}, nullptr, false});
      into.push_back(mapped);
    }
  }

 private:
  VarMap gone_;
};

std::string text_of(const FunctionPtr& function) {
  Module module = module_of({GlobalFunction(function)});
  Diagnostics diagnostics;
  verify(module, diagnostics);
  for (const Diagnostic& diagnostic : diagnostics.all()) UNSCOPED_INFO(diagnostic.message);
  CHECK_FALSE(diagnostics.has_errors());
  return print(module);
}

std::size_t count(const std::string& text, std::string_view what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

}  // namespace

TEST_CASE("regions: the builder gives a region its own blocks and goes on around it") {
  const Bodies bodies;
  REQUIRE(bodies.function->blocks.size() > 0);
  const std::vector<Binding> bindings = all_bindings(*bodies.function);
  Names names;
  for (const Binding& binding : bindings) names.push_back(binding.var().name());
  CHECK(names == Names{"twice", "chosen", "looped", "inner", "result"});
  const auto* branch = bodies.branch.as<If>();
  CHECK(all_bindings(branch->then_region->blocks).size() == 1);
  CHECK(branch->else_region->blocks.empty());
  const auto* loop = bodies.loop.as<Loop>();
  CHECK(names_of(loop->body->params) == Names{"carried"});
  CHECK(text_of(bodies.function).find("from_then") != std::string::npos);
}

TEST_CASE("regions: take_bindings is take_blocks without the blocks") {
  install();
  FunctionBuilder builder;
  const Var x("x", floats({2}));
  builder.begin_block(true);
  const Expr a = sum_of(builder, x, x, "a");
  builder.begin_block(false);
  sum_of(builder, a, x, "b");
  const std::vector<Binding> bindings = builder.take_bindings();
  REQUIRE(bindings.size() == 2);
  CHECK(bindings[0].var().name() == "a");
  CHECK(bindings[1].var().name() == "b");
  CHECK(builder.take_blocks().empty());
}

TEST_CASE("regions: variables that a body takes from around it") {
  const Bodies bodies;
  CHECK(vars_of(*bodies.function).free.empty());
  const auto* branch = bodies.branch.as<If>();
  CHECK(names_of(vars_of(*branch->then_region).free) == Names{"twice", "y"});
  CHECK(names_of(vars_of(*branch->else_region).free) == Names{"y"});
  const auto* loop = bodies.loop.as<Loop>();
  const BodyVars body = vars_of(*loop->body);
  CHECK(names_of(body.free) == Names{"x"});  // not what it carries
  CHECK(body.bound.contains(loop->body->params[0].id()));
  CHECK(names_of(vars_of(*bodies.nested.as<FunctionExpr>()->function).free) == Names{"x"});
  // What regions and nested functions inside bind is bound; each free variable stands once.
  Region whole;
  whole.blocks = bodies.function->blocks;
  whole.results = {bodies.function->result};
  const BodyVars vars = vars_of(whole);
  CHECK(names_of(vars.free) == Names{"x", "c", "y"});
  CHECK(vars.bound.contains(all_bindings(branch->then_region->blocks)[0].var().id()));
  CHECK(vars.bound.contains(bodies.nested.as<FunctionExpr>()->function->params[0].id()));
}

TEST_CASE("regions: bindings are walked where they stand, inner ones first") {
  const Bodies bodies;
  Names names;
  for_each_binding(*bodies.function, [&](const Binding& each) { names.push_back(each.var().name()); });
  CHECK(names == Names{"twice", "from_then", "chosen", "next", "looped", "inner_sum", "inner", "result"});
}

TEST_CASE("regions: an if and a loop over changed regions") {
  const Bodies bodies;
  std::vector<RegionRole> roles;
  const auto same = [&](const Region& region, RegionRole role) {
    roles.push_back(role);
    return region;
  };
  const Expr branch = with_regions(*bodies.branch.as<If>(), same, {});
  CHECK(same_type(branch.type(), bodies.branch.type()));
  with_regions(*bodies.loop.as<Loop>(), same, {});
  CHECK(roles == std::vector<RegionRole>{RegionRole::Then, RegionRole::Else, RegionRole::Body});
  // Types are inferred again: without results the if gives the empty tuple.
  const Expr bare = with_regions(*bodies.branch.as<If>(),
                                 [](const Region& region, RegionRole) {
                                   Region copy = region;
                                   copy.results.clear();
                                   return copy;
                                 },
                                 {});
  CHECK(bare.type().tuple()->fields.empty());
}

TEST_CASE("regions: a mapper that changes nothing gives the handle back, inside and out") {
  const Bodies bodies;
  Nothing nothing;
  CHECK(nothing.map(bodies.function) == bodies.function);
  CHECK(nothing.map(bodies.branch).same_as(bodies.branch));
  CHECK(nothing.map(bodies.loop).same_as(bodies.loop));
  CHECK(nothing.map(bodies.nested).same_as(bodies.nested));
  const Var other("other", floats({2}));
  CHECK(substitute(bodies.function, {{other.id(), Expr(bodies.x)}}) == bodies.function);
  CHECK(substitute(bodies.function, {}) == bodies.function);
}

TEST_CASE("regions: a mapper takes bindings apart and leaves them out, in regions too") {
  const Bodies bodies;
  const std::string before = text_of(bodies.function);
  CHECK(count(before, "R.add(") == 4);
  const FunctionPtr mapped = Sums().map(bodies.function);
  CHECK(mapped != bodies.function);
  const std::string after = text_of(mapped);
  // twice is gone; the sums of the branch, the loop and the nested function stand twice each.
  CHECK(count(after, "R.add(") == 6);
  CHECK(after.find("twice") == std::string::npos);
  CHECK(count(after, "before") >= 3);
  CHECK(text_of(bodies.function) == before);
}

TEST_CASE("regions: substitution in a whole function follows types") {
  install();
  const ScalarVar n("n", DType::Int64);
  const FunctionPtr function = std::make_shared<const Function>(doubled(floats({n})));
  const FunctionPtr fixed = substitute(function, {}, {{n.id(), Scalar(3)}});
  CHECK(same_type(fixed->params[0].type(), floats({3})));
  CHECK(same_type(fixed->result.type(), floats({3})));
  CHECK(same_type(fixed->result_type, floats({3})));
  CHECK(vars_of(*fixed).free.empty());
}
