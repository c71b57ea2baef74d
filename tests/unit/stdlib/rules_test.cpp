// Type rules on symbolic and unknown shapes, the completeness of declarations, and the catalog.
#include <catch2/catch.hpp>

#include <set>

#include "ir/printer/printer.h"
#include "stdlib/catalog.h"
#include "stdlib/coverage.h"
#include "stdlib/embedded.h"
#include "stdlib/op_doc.h"
#include "stdlib/stdlib.h"
#include "stdlib/surface.h"
#include "support/failure.h"
#include "tests/unit/stdlib/numbers_file.h"

using namespace relish;

namespace {

Var tensor(std::vector<Scalar> dims, DType dtype = DType::Float32) {
  return Var("x", tensor_type(std::move(dims), dtype));
}
Var unknown(int rank, std::optional<DType> dtype = DType::Float32) {
  return Var("x", TensorType{dtype, std::nullopt, rank});
}

std::string type_of_call(std::string_view op, std::vector<Expr> args, Attributes attributes = {}) {
  install_stdlib();
  try {
    return print(op_call(op, std::move(args), std::move(attributes)).type());
  } catch (const Failure& failure) {
    return failure.diagnostics().front().id;
  }
}

std::string text(const TensorType& type) { return print(Type(type)); }

}  // namespace

TEST_CASE("broadcasting of symbolic shapes keeps what is provable", "[fast]") {
  const ScalarVar n("n", DType::Int64), m("m", DType::Int64);
  CHECK(type_of_call("add", {tensor({n, 4}), tensor({4})}) == text({DType::Float32, {{n, 4}}, 2}));
  CHECK(type_of_call("add", {tensor({Scalar(n) * 2}), tensor({Scalar(2) * n})}) ==
        text({DType::Float32, {{Scalar(n) * 2}}, 1}));
  CHECK(type_of_call("add", {tensor({n, 1}), tensor({m})}) == text({DType::Float32, {{n, m}}, 2}));
  CHECK(type_of_call("add", {tensor({n}), tensor({m})}) == text({DType::Float32, std::nullopt, 1}));
  CHECK(type_of_call("add", {tensor({n}), tensor({3})}) == text({DType::Float32, std::nullopt, 1}));
  CHECK(type_of_call("add", {tensor({2}), tensor({3})}) == "add.shape");
  CHECK(type_of_call("add", {unknown(2), tensor({3})}) == text({DType::Float32, std::nullopt, 2}));
  CHECK(type_of_call("add", {unknown(-1), tensor({3})}) == text({DType::Float32, std::nullopt, -1}));
  CHECK(type_of_call("add", {unknown(1, std::nullopt), tensor({3})}) ==
        text({std::nullopt, std::nullopt, 1}));
  CHECK(type_of_call("less", {tensor({n, 4}), tensor({1})}) == text({DType::Bool, {{n, 4}}, 2}));
}

TEST_CASE("element types are not promoted", "[fast]") {
  CHECK(type_of_call("add", {tensor({2}), tensor({2}, DType::Float64)}) == "add.dtype");
  CHECK(type_of_call("add", {tensor({2}), tensor({2}, DType::Bool)}) == text({DType::Float32, {{2}}, 1}));
  CHECK(type_of_call("exp", {tensor({2}, DType::Int32)}) == "exp.dtype");
  CHECK(type_of_call("exp", {unknown(-1, std::nullopt)}) == text({std::nullopt, std::nullopt, -1}));
  CHECK(type_of_call("matmul", {tensor({2, 2}), tensor({2, 2}, DType::Float16)}) == "matmul.dtype");
  CHECK(type_of_call("matmul", {tensor({2, 2}), tensor({2, 2}, DType::Float16)},
                     {{"out_dtype", DType::Float32}}) == text({DType::Float32, {{2, 2}}, 2}));
}

TEST_CASE("shapes of reductions, products and moves", "[fast]") {
  const ScalarVar n("n", DType::Int64), k("k", DType::Int64);
  const auto axes = [](std::vector<std::int64_t> list) { return attribute_of(list); };
  CHECK(type_of_call("sum", {tensor({n, 3, 4})}, {{"axis", axes({1})}, {"keepdims", false}}) ==
        text({DType::Float32, {{n, 4}}, 2}));
  CHECK(type_of_call("sum", {tensor({n, 3, 4})}, {{"axis", axes({-3})}, {"keepdims", true}}) ==
        text({DType::Float32, {{1, 3, 4}}, 3}));
  CHECK(type_of_call("sum", {unknown(-1)}, {{"axis", Attribute()}, {"keepdims", false}}) ==
        text({DType::Float32, {std::vector<Scalar>{}}, 0}));
  CHECK(type_of_call("sum", {tensor({n})}, {{"axis", axes({1})}, {"keepdims", false}}) == "sum.axis");
  CHECK(type_of_call("matmul", {tensor({n, k}), tensor({k, 5})}) == text({DType::Float32, {{n, 5}}, 2}));
  CHECK(type_of_call("matmul", {tensor({n, k}), tensor({Scalar(k) + 1, 5})}) == "matmul.inner");
  CHECK(type_of_call("matmul", {tensor({2, n, 3}), tensor({3})}) == text({DType::Float32, {{2, n}}, 2}));
  CHECK(type_of_call("matmul", {tensor({3}), tensor({3})}) ==
        text({DType::Float32, {std::vector<Scalar>{}}, 0}));
  CHECK(type_of_call("permute_dims", {tensor({n, 3})}) == text({DType::Float32, {{3, n}}, 2}));
  CHECK(type_of_call("reshape", {tensor({n, 28, 28}), shape_literal({n, -1})}) ==
        text({DType::Float32, {{n, 784}}, 2}));
  CHECK(type_of_call("reshape", {tensor({2, 3}), shape_literal({0, -1})}) ==
        text({DType::Float32, {{2, 3}}, 2}));
  CHECK(type_of_call("reshape", {tensor({2, 0}), shape_literal({0})}) == text({DType::Float32, {{0}}, 1}));
  CHECK(type_of_call("reshape", {tensor({0}), shape_literal({2, 0})}) == text({DType::Float32, {{2, 0}}, 2}));
  CHECK(type_of_call("reshape", {tensor({2, 3}), shape_literal({4})}) == "reshape.shape");
  CHECK(type_of_call("collapse_sum_to", {tensor({n, 4}), shape_literal({4})}) ==
        text({DType::Float32, {{4}}, 1}));
  CHECK(type_of_call("squeeze", {tensor({n, 1})}, {{"axis", axes({1})}}) == text({DType::Float32, {{n}}, 1}));
  CHECK(type_of_call("squeeze", {tensor({n, 1})}, {{"axis", axes({0})}}) == "squeeze.axis");
}

TEST_CASE("every operator is declared completely", "[fast]") {
  install_stdlib();
  for (const Op* op : all_ops()) {
    INFO(op->name);
    CHECK_FALSE(op->summary.empty());
    CHECK(op->infer != nullptr);
    CHECK(op->samples.size() >= (op->params.empty() ? 1 : 2));
    CHECK((op->params.empty() || !op->rejects.empty()));
    CHECK((op->vjp != nullptr || !op->no_gradient.empty()));
    if (op->vjp != nullptr) CHECK_FALSE(op->gradient_doc.empty());
    CHECK(op->eval != nullptr);
    for (const Param& param : op->params) {
      CHECK_FALSE(param.doc.empty());
      CHECK_FALSE(param.type.empty());
    }
    for (const Reject& reject : op->rejects) {
      const std::size_t dot = op->name.rfind('.');
      const std::string_view short_name = dot == std::string_view::npos ? op->name : op->name.substr(dot + 1);
      CHECK(reject.constraint.substr(0, reject.constraint.find('.')) == short_name);
    }
    CHECK(op_doc(*op).find(op_signature(*op)) == 0);
    CHECK(operators_markdown().find(fmt::format("## R.{}\n", op->name)) != std::string::npos);
  }
}

TEST_CASE("the report of coverage has a row for every operator and names what is absent", "[fast]") {
  const CoverageReport report = coverage_report();
  for (const Op* op : all_ops())
    CHECK(report.table.find(fmt::format("{:<34} ", op->name)) != std::string::npos);
  std::set<std::string_view> names;
  for (const OperatorGroup& group : operator_groups()) {
    for (std::string_view name : group.names) CHECK(names.insert(name).second);
    if (group.name == "language") continue;
    for (std::string_view name : group.names)
      CHECK(((find_op(name) != nullptr) !=
             (report.table.find(fmt::format(": {} (absent)", name)) != std::string::npos)));
  }
  CHECK(group_of_operator("add") == "core");
  CHECK(group_of_operator("stack.push") == "own");
  CHECK(report.complete == (report.table.find("gap: ") == std::string::npos));
}

TEST_CASE("the catalog chooses functions by options", "[fast]") {
  const LossEntry& loss = *find_loss("cross_entropy");
  CHECK(choose_loss(loss, {}, 2).function == "cross_entropy");
  CHECK(choose_loss(loss, {{"reduction", "sum"}, {"weights", true}}, 4).function == "cross_entropy_weighted");
  const LossChoice smoothed = choose_loss(loss, {{"label_smoothing", 0.5}, {"weights", true}}, 4);
  CHECK(smoothed.function == "cross_entropy_smoothed_weighted_positions_mean");
  CHECK(smoothed.flatten);
  CHECK(smoothed.extra == std::vector<std::string>{"targets", "weights"});
  CHECK(choose_loss(loss, {{"ignore_index", 3}}, 2).call_attributes ==
        Attributes{{"ignore_index", 3}, {"axis", -1}, {"reduction", "mean"}});
  CHECK(choose_loss(loss, {}, 3).call_attributes ==
        Attributes{{"ignore_index", -100}, {"axis", 1}, {"reduction", "mean"}});
  CHECK_THROWS_AS(choose_loss(loss, {{"label_smoothing", 1.5}}, 2), Failure);
  CHECK_THROWS_AS(choose_loss(*find_loss("huber"), {{"delta", 0}}, 2), Failure);
  CHECK_THROWS_AS(choose_loss(*find_loss("kl_div"), {}, -1), Failure);
  CHECK(choose_loss(*find_loss("kl_div"), {}, 2).rows == "rows");
  CHECK(choose_loss(*find_loss("mse"), {}, 2).join == "mean");
  CHECK_THROWS_AS(choose_loss(loss, {{"reductoin", "sum"}}, 2), Failure);
  CHECK_THROWS_AS(choose_loss(loss, {{"reduction", "max"}}, 2), Failure);
  CHECK_FALSE(choose_loss(*find_loss("mse"), {{"reduction", "none"}}, 1).scalar);
  const OptimizerEntry& sgd = *find_optimizer("sgd");
  CHECK(choose_optimizer(sgd, {{"lr", 0.5}}).update == "sgd_update");
  CHECK(choose_optimizer(sgd, {{"lr", 0.5}}).lr == 0.5);
  CHECK_FALSE(choose_optimizer(sgd, {}).lr.has_value());
  const OptimizerChoice decayed = choose_optimizer(sgd, {{"lr", 1}, {"weight_decay", 0.25}});
  CHECK(decayed.update == "sgd_update");
  CHECK(decayed.gradient_steps == std::vector<std::string>{"weight_decay"});
  CHECK(decayed.constants == std::vector<std::pair<std::string, double>>{{"weight_decay", 0.25}});
  CHECK(choose_optimizer(sgd, {{"lr", 1}, {"weight_decay", 0}}).gradient_steps.empty());
  const OptimizerEntry& momentum = *find_optimizer("momentum");
  CHECK_THROWS_AS(choose_optimizer(momentum, {{"lr", 1}}), Failure);
  const Attributes both = {{"momentum", 0.9}, {"dampening", 0.5}, {"nesterov", true}};
  CHECK_THROWS_AS(choose_optimizer(momentum, both), Failure);
  CHECK(choose_optimizer(momentum, {{"momentum", 0.9}, {"dampening", 0.5}, {"compat", "tvm"}}).update ==
        "momentum_update_dampened_tvm");
  const OptimizerEntry& adam = *find_optimizer("adam");
  const AttributeList betas = {0.5, 0.75};
  CHECK(choose_optimizer(adam, {{"betas", betas}}).constants ==
        std::vector<std::pair<std::string, double>>{{"beta1", 0.5}, {"beta2", 0.75}, {"eps", 1e-8}});
  CHECK(choose_optimizer(adam, {}).constants ==
        std::vector<std::pair<std::string, double>>{{"beta1", 0.9}, {"beta2", 0.999}, {"eps", 1e-8}});
  CHECK_THROWS_AS(choose_optimizer(adam, {{"betas", 0.9}}), Failure);
  CHECK_THROWS_AS(choose_optimizer(adam, {{"betas", AttributeList{0.9, 1}}}), Failure);
  CHECK_THROWS_AS(choose_optimizer(sgd, {{"lr", -1}}), Failure);
  // Every function that a choice may name stands in its text.
  for (const LossEntry& entry : loss_entries()) {
    const std::string_view contents = embedded_text(entry.text).value();
    for (const char* reduction : {"mean", "sum", "none"}) {
      for (int rank : {2, 3}) {
        const LossChoice choice = choose_loss(entry, {{"reduction", reduction}}, rank);
        CHECK(contents.find("def " + choice.function + "(") != std::string_view::npos);
      }
    }
  }
}
