// The operator table and the arrangement of written arguments.
#include <catch2/catch.hpp>

#include "ir/operators/op.h"
#include "ir/operators/op_arguments.h"
#include "ir/printer/printer.h"
#include "tests/unit/catch_failure.h"

namespace relish {
namespace {

using testing::failure_of;

Type first_argument(const CallView& call) { return call.tensor(0), call.args[0].type(); }

constexpr Param sample_params[] = {
    {.name = "x", .kind = ParamKind::Tensor},
    {.name = "bias", .kind = ParamKind::OptionalTensor},
    {.name = "axes", .kind = ParamKind::Attribute, .type = "int or list[int] or None", .fallback = "None"},
    {.name = "scale", .kind = ParamKind::Attribute, .type = "float", .fallback = "1"},
    {.name = "out_dtype", .kind = ParamKind::Attribute, .type = "dtype or None", .fallback = "None"},
    {.name = "mode", .kind = ParamKind::Attribute, .type = "str", .fallback = "\"mean\""},
};
constexpr Param shaped_params[] = {
    {.name = "tensors", .kind = ParamKind::TensorTuple},
    {.name = "shape", .kind = ParamKind::Shape},
    {.name = "value", .kind = ParamKind::Scalar, .type = "float", .fallback = "0.5"},
};
constexpr std::string_view sample_aliases[] = {"sampled"};
const Op sample_op = {.name = "nn.sample",
                      .summary = "",
                      .params = sample_params,
                      .infer = first_argument,
                      .aliases = sample_aliases};
const Op shaped_op = {
    .name = "shaped", .summary = "", .params = shaped_params, .infer = [](const CallView& call) {
      return call.args[0].type();
    }};

const Expr x = Var("x", tensor_type({2}, DType::Float32));

std::string arranged(const Op& op, std::vector<WrittenArgument> written) {
  std::string text;
  const std::string failure = failure_of([&] {
    const ArrangedArguments result = arrange_arguments(op, std::move(written), {});
    for (const Expr& arg : result.args) text += print(arg) + " ";
    for (const auto& [name, value] : result.attributes) text += name + "=" + print(value) + " ";
  });
  return failure == "no failure" ? text : failure;
}

TEST_CASE("arguments go by position and keyword, defaults fill in") {
  CHECK(arranged(sample_op, {{"", x, {}}}) == "x axes=None scale=1.0 out_dtype=None mode=\"mean\" ");
  CHECK(arranged(sample_op, {{"mode", "sum", {}}, {"x", x, {}}, {"bias", x, {}}}) ==
        "x x axes=None scale=1.0 out_dtype=None mode=\"sum\" ");
  CHECK(
      arranged(sample_op, {{"", x, {}}, {"", Attribute(), {}}, {"", AttributeList{1, 0}, {}}, {"", 2, {}}}) ==
      "x axes=[1, 0] scale=2.0 out_dtype=None mode=\"mean\" ");
  CHECK(arranged(sample_op, {{"", x, {}}, {"axes", tuple({scalar_value(1), scalar_value(0)}), {}}}) ==
        "x axes=[1, 0] scale=1.0 out_dtype=None mode=\"mean\" ");
  CHECK(arranged(sample_op, {{"", x, {}}, {"out_dtype", "void", {}}, {"axes", scalar_value(-1), {}}}) ==
        "x axes=-1 scale=1.0 out_dtype=None mode=\"mean\" ");
  const ArrangedArguments typed =
      arrange_arguments(sample_op, {{"", x, {}}, {"out_dtype", "float16", {}}}, {});
  CHECK(*find_attribute(typed.attributes, "out_dtype") == Attribute(DType::Float16));
}

TEST_CASE("shapes, tuples and scalars are converted") {
  const Expr pair = tuple({x, x});
  CHECK(arranged(shaped_op, {{"", pair, {}}, {"", AttributeList{2, 3}, {}}}) ==
        "(x, x) R.shape([2, 3]) 0.5 ");
  CHECK(arranged(shaped_op, {{"", pair, {}}, {"", 4, {}}, {"", 2, {}}}) == "(x, x) R.shape([4]) 2 ");
  CHECK(arranged(shaped_op, {{"", pair, {}}, {"", tuple({scalar_value(2)}), {}}, {"", true, {}}}) ==
        "(x, x) R.shape([2]) True ");
  CHECK(arranged(shaped_op, {{"", pair, {}}, {"", x, {}}}) ==
        "TypeError: shaped: shape is R.Tensor((2,), dtype=\"float32\"); expected a shape");
  CHECK(arranged(shaped_op, {{"", x, {}}, {"", 4, {}}}) ==
        "TypeError: shaped: tensors is R.Tensor((2,), dtype=\"float32\"); expected a tuple of tensors");
  CHECK(arranged(shaped_op, {{"", pair, {}}, {"", 4, {}}, {"", x, {}}}) ==
        "TypeError: shaped: value is R.Tensor((2,), dtype=\"float32\"); expected a scalar");
}

TEST_CASE("wrong arguments are refused by name") {
  CHECK(arranged(sample_op, {}) == "TypeError: sample: argument 'x' is missing");
  CHECK(arranged(sample_op, {{"", x, {}}, {"x", x, {}}}) == "TypeError: sample: argument 'x' is given twice");
  CHECK(arranged(sample_op, {{"", x, {}}, {"axis", 1, {}}}) ==
        "TypeError: sample: unknown argument 'axis'; did you mean 'axes'?");
  CHECK(arranged(sample_op, std::vector<WrittenArgument>(7, {"", x, {}})) ==
        "TypeError: sample: 7 arguments are given; it takes at most 6");
  CHECK(arranged(sample_op, {{"", x, {}}, {"scale", "big", {}}}) ==
        "TypeError: sample: scale is \"big\"; expected float");
  CHECK(arranged(sample_op, {{"", x, {}}, {"axes", x, {}}})
            .starts_with("TypeError: sample: axes is not a constant; expected "));
  CHECK(arranged(sample_op, {{"", x, {}}, {"out_dtype", "float33", {}}}) ==
        "TypeError: sample: out_dtype is \"float33\"; expected dtype or None");
  CHECK(arranged(sample_op, {{"", AttributeList{1, 2}, {}}}) ==
        "TypeError: sample: x is [1, 2]; expected a tensor");
}

TEST_CASE("op_call completes attributes and infers the type") {
  const Expr call = op_call(sample_op, {x, Expr()}, {{"mode", "sum"}});
  CHECK(same_type(call.type(), x.type()));
  CHECK(call.as<OpCall>()->args.size() == 1);
  CHECK(call.as<OpCall>()->attributes.size() == 4);
  CHECK(call.as<OpCall>()->attributes[3].second == Attribute("sum"));
  CHECK(failure_of([] { op_call(sample_op, {scalar_value(1)}, {}); }) ==
        "TypeError: sample: x has type T.int64; expected a tensor");
  CHECK(failure_of([] { op_call(sample_op, {}, {}); }).starts_with("InternalError"));
  CHECK(failure_of([] { op_call(sample_op, {x}, {{"moed", 1}}); }).starts_with("InternalError"));
  const Expr unknown = Var("e", TypeKind(ErrorType{}));
  CHECK(op_call(sample_op, {unknown}, {}).type().is_error());
}

TEST_CASE("defaults are read from their text") {
  auto read = [](std::string_view text) { return default_of(Param{.name = "p", .fallback = text}); };
  CHECK(read("None").is_none());
  CHECK(read("-1") == Attribute(-1));
  CHECK(read("1e-5") == Attribute(1e-5));
  CHECK(read("True") == Attribute(true));
  CHECK(read("\"NCHW\"") == Attribute("NCHW"));
  CHECK(read("[1, [2, 3]]") == Attribute(AttributeList{1, AttributeList{2, 3}}));
  CHECK(read("(1,)") == Attribute(AttributeList{1}));
  CHECK(read("[]") == Attribute(AttributeList{}));
  CHECK(failure_of([&] { read("[1"); }).starts_with("InternalError"));
}

}  // namespace
}  // namespace relish
