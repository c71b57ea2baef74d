// Type rules on symbolic and unknown shapes, and the completeness of declarations.
#include <catch2/catch.hpp>

#include <set>

#include "ir/printer/printer.h"
#include "stdlib/coverage.h"
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
  const auto axes = [](const std::vector<std::int64_t>& list) { return attribute_of(list); };
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
