// Printing of graph functions, types and constants.
#include <catch2/catch.hpp>

#include <limits>

#include "graph_samples.h"
#include "ir/printer/constant_section.h"
#include "ir/printer/printer.h"

using namespace relish;
using namespace relish::samples;

TEST_CASE("types print as annotations") {
  ScalarVar n("n", DType::Int64);
  CHECK(print(floats({2, 3})) == "R.Tensor((2, 3), dtype=\"float32\")");
  CHECK(print(floats({})) == "R.Tensor((), dtype=\"float32\")");
  CHECK(print(floats({Scalar(n), Scalar(n) * Scalar(2)})) == "R.Tensor((n, n * 2), dtype=\"float32\")");
  CHECK(print(Type(TensorType{})) == "R.Tensor");
  CHECK(print(Type(TensorType{.dtype = DType::Int8, .shape = std::nullopt, .rank = 2})) ==
        "R.Tensor(dtype=\"int8\", ndim=2)");
  CHECK(print(Type(TensorType{.dtype = std::nullopt, .shape = std::nullopt, .rank = 2})) ==
        "R.Tensor(ndim=2)");
  CHECK(print(Type(TensorType{.dtype = std::nullopt, .shape = std::vector<Scalar>{4}})) == "R.Tensor((4,))");
  CHECK(print(void_type()) == "R.Tuple");
  CHECK(print(Type(TupleType{{floats({1}), ScalarType{DType::Int64}}})) ==
        "R.Tuple(R.Tensor((1,), dtype=\"float32\"), T.int64)");
  CHECK(print(Type(ShapeType{.dims = std::vector<Scalar>{n, 4}})) == "R.Shape([n, 4])");
  CHECK(print(Type(ShapeType{.dims = std::nullopt, .rank = 3})) == "R.Shape(ndim=3)");
  CHECK(print(Type()) == "R.Any");
  CHECK(print(Type(), {.dialect = Dialect::D2023}) == "R.Object");
  CHECK(print(Type(ScalarType{DType::Int64}), {.dialect = Dialect::D2023}) == "R.Prim(\"int64\")");
  CHECK(print(Type(FunctionType{.params = {floats({1})}, .result = void_type()})) ==
        "R.Callable((R.Tensor((1,), dtype=\"float32\"),), R.Tuple, True)");
}

TEST_CASE("operands print by kind") {
  install();
  Var x("x", floats({2}));
  CHECK(print(constant(Tensor::scalar(DType::Float32, 1))) == "R.const(1.0, \"float32\")");
  const std::array<std::int64_t, 4> values = {1, -2, 3, 4};
  CHECK(print(constant(Tensor::from<std::int64_t>({2, 2}, values))) ==
        "R.const([[1, -2], [3, 4]], \"int64\")");
  CHECK(print(tuple({x, x})) == "(x, x)");
  CHECK(print(tuple({x})) == "(x,)");
  CHECK(print(tuple({})) == "R.tuple()");
  CHECK(print(tuple_get(tuple({x}), 0)) == "x");  // a field of a literal is that field
  CHECK(print(shape_literal({2, Scalar(ScalarVar("n", DType::Int64)) + Scalar(1)})) == "R.shape([2, n + 1])");
  CHECK(print(scalar_value(Scalar(3))) == "3");
  CHECK(print(scalar_value(Scalar(3)), {.dialect = Dialect::D2023}) == "R.prim_value(3)");
  CHECK(print(scalar_value(float_literal(DType::Float64, 2.5))) == "2.5");
  CHECK(print(scalar_value(float_literal(DType::Float32, 2.5))) == "T.float32(2.5)");
  CHECK(print(string_literal("a\"b\n")) == "R.str(\"a\\\"b\\n\")");
  CHECK(print(dtype_literal(DType::Int8)) == "R.dtype(\"int8\")");
  CHECK(print(op_call("nn.softmax", {x}, {{"axis", 1}})) == "R.nn.softmax(x, axis=1, mode=None)");
}

TEST_CASE("a module prints in the current dialect") {
  Module module = module_of({shared(doubled(floats({2, 3})))});
  module.attributes = {{"b", 2}, {"a", "x"}};
  CHECK(print(module) == R"(# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    I.module_attrs({"a": "x", "b": 2})

    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        with R.dataflow():
            lv: R.Tensor((2, 3), dtype="float32") = R.add(x, x)
            gv: R.Tensor((2, 3), dtype="float32") = R.nn.softmax(lv, axis=-1, mode=None)
            R.output(gv)
        return gv
)");
  CHECK(print(Module{}) == "# from tvm.script import ir as I\n\n@I.ir_module\nclass Module:\n    pass\n");
}

TEST_CASE("symbolic dimensions are quoted in the signature and declared when the body uses them") {
  ScalarVar n("n", DType::Int64);
  Function function = doubled(floats({Scalar(n), 4}));
  function.is_private = true;
  CHECK(print(function) == R"(@R.function(private=True)
def main(x: R.Tensor(("n", 4), dtype="float32")) -> R.Tensor(("n", 4), dtype="float32"):
    n = T.int64()
    with R.dataflow():
        lv: R.Tensor((n, 4), dtype="float32") = R.add(x, x)
        gv: R.Tensor((n, 4), dtype="float32") = R.nn.softmax(lv, axis=-1, mode=None)
        R.output(gv)
    return gv
)");
  function.blocks.clear();
  function.result = function.params[0];
  CHECK(print(function) == R"(@R.function(private=True)
def main(x: R.Tensor(("n", 4), dtype="float32")) -> R.Tensor(("n", 4), dtype="float32"):
    return x
)");
}

TEST_CASE("a dimension that stands for a scalar parameter shares its name") {
  Function function;
  function.name = "f";
  function.params = {Var("n", ScalarType{DType::Int64})};
  function.result = shape_literal({ScalarVar("n", DType::Int64)});
  function.result_type = function.result.type();
  CHECK(print(function) == "@R.function\ndef f(n: T.int64) -> R.Shape([\"n\"]):\n    return R.shape([n])\n");
}

namespace {

// A module whose main calls a prim_func and another function.
Module calling_module() {
  install();
  GlobalFunction kernel = shared(add_one({2, 3}));
  GlobalFunction helper = shared(doubled(floats({2, 3}), "helper"));
  FunctionBuilder builder;
  Function function;
  function.name = "main";
  function.params = {Var("x", floats({2, 3}))};
  builder.begin_block(true);
  Expr x = function.params[0];
  Var one = builder.bind(call_tir(global_ref(kernel), {x}, {floats({2, 3})}, false));
  Var two = builder.bind(function_call(global_ref(helper), {one}));
  Var both = builder.bind(call_tir(global_ref(kernel), {two}, {floats({2, 3})}, true), "", true);
  function.blocks = builder.take_blocks();
  function.result = both;
  function.result_type = both.type();
  function.attributes = {{"num_input", 1}};
  return module_of({kernel, helper, shared(std::move(function))});
}

std::string text_from(const std::string& text, std::string_view start) {
  return text.substr(text.find(start));
}

}  // namespace

TEST_CASE("calls of globals go through the class; the older dialects have their own spellings") {
  Module module = calling_module();
  CHECK(text_from(print(module), "    def main") ==
        R"(    def main(x: R.Tensor((2, 3), dtype="float32")) -> R.Tuple(R.Tensor((2, 3), dtype="float32")):
        cls = Module
        R.func_attr({"num_input": 1})
        with R.dataflow():
            lv = R.call_tir(cls.add_one, (x,), out_ty=R.Tensor((2, 3), dtype="float32"))
            lv1: R.Tensor((2, 3), dtype="float32") = cls.helper(lv)
            gv = R.call_tir(cls.add_one, (lv1,), out_ty=[R.Tensor((2, 3), dtype="float32")])
            R.output(gv)
        return gv
)");
  std::string old = print(module, {.dialect = Dialect::D2023});
  CHECK(old.find("# from tvm.script import tir as T\n") != std::string::npos);
  CHECK(old.find("lv = R.call_tir(cls.add_one, (x,), out_sinfo=R.Tensor((2, 3), dtype=\"float32\"))") !=
        std::string::npos);
  CHECK(old.find("@T.prim_func(private=True)\n") != std::string::npos);
  CHECK(old.find("with T.block(\"B\"):") != std::string::npos);
  std::string course = print(module, {.dialect = Dialect::D2022});
  CHECK(course.find("@tvm.script.ir_module\n") != std::string::npos);
  CHECK(course.find("lv = R.call_tir(add_one, (x,), (2, 3), dtype=\"float32\")") != std::string::npos);
  CHECK(course.find("def main(x: Tensor((2, 3), \"float32\"))") != std::string::npos);
  CHECK(course.find("A: T.Buffer[(T.int64(2), T.int64(3)), \"float32\"]") != std::string::npos);
  CHECK(course.find("cls") == std::string::npos);
  std::string free = print(module, {.free_functions = true});
  CHECK(free.find("class") == std::string::npos);
  CHECK(free.find("\n@R.function\ndef main(") != std::string::npos);
  CHECK(free.find("R.call_tir(add_one, (x,)") != std::string::npos);
}

TEST_CASE("names are made unique and fit to print") {
  install();
  FunctionBuilder builder;
  Function function;
  function.name = "f";
  function.params = {Var("R", floats({1})), Var("I", floats({1})), Var("a.b", floats({1})),
                     Var("a.b", floats({1})), Var("1", floats({1}))};
  Expr sum = function.params[0];
  for (const char* name : {"for", "_", "_"}) {
    Var var(name, sum.type());
    builder.append(Binding{
        .kind = VarBinding{var, op_call("add", {sum, function.params[2]})}, .span = {}, .comments = nullptr});
    if (var.name() != "_") sum = var;
  }
  function.blocks = builder.take_blocks();
  function.result = sum;
  function.result_type = sum.type();
  CHECK(print(function) == R"(@R.function
def f(R_1: R.Tensor((1,), dtype="float32"), I: R.Tensor((1,), dtype="float32"), a_b: R.Tensor((1,), dtype="float32"), a_b_1: R.Tensor((1,), dtype="float32"), _1: R.Tensor((1,), dtype="float32")) -> R.Tensor((1,), dtype="float32"):
    for_1: R.Tensor((1,), dtype="float32") = R.add(R_1, a_b)
    _: R.Tensor((1,), dtype="float32") = R.add(for_1, a_b)
    _: R.Tensor((1,), dtype="float32") = R.add(for_1, a_b)
    return for_1
)");
}

TEST_CASE("void calls stand as statements, match_cast and comments print") {
  install();
  ScalarVar n("n", DType::Int64);
  Function function;
  function.name = "f";
  function.pure = false;
  function.params = {Var("x", TensorType{.dtype = DType::Float32, .shape = std::nullopt, .rank = 1})};
  auto comments = std::make_shared<const Comments>(Comments{{"why", ""}, "here"});
  function.comments = std::make_shared<const Comments>(Comments{{"what it does"}, ""});
  FunctionBuilder builder;
  Var y("y", floats({Scalar(n)}));
  builder.append(
      Binding{.kind = MatchCast{y, function.params[0], y.type()}, .span = {}, .comments = comments});
  builder.bind(op_call("print", {y}));
  function.blocks = builder.take_blocks();
  function.result = tuple({});
  function.result_type = void_type();
  CHECK(print(function) == R"(# what it does
@R.function(pure=False)
def f(x: R.Tensor(dtype="float32", ndim=1)) -> R.Tuple:
    n = T.int64()
    # why
    #
    y: R.Tensor((n,), dtype="float32") = R.match_cast(x, R.Tensor((n,), dtype="float32"))  # here
    R.print(y)
    return R.tuple()
)");
  CHECK(print(function, {.comments = false}).find('#') == std::string::npos);
}

TEST_CASE("large and inexact constants go to the section and come back bit by bit") {
  install();
  std::vector<float> values(200);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) * 0.37f;
  values[7] = std::numeric_limits<float>::quiet_NaN();
  Tensor large = Tensor::from<float>({20, 10}, values);
  Tensor infinite = Tensor::scalar(DType::Float64, std::numeric_limits<double>::infinity());
  Tensor hollow = Tensor::empty(DType::Int32, {0, 3});
  Function function;
  function.name = "main";
  function.result = tuple({constant(large), constant(large.copy()), constant(infinite), constant(hollow)});
  function.result_type = function.result.type();
  std::string text = print(module_of({shared(std::move(function))}));
  CHECK(text.starts_with("# relish: 1\n# from tvm.script import ir as I\n"));
  CHECK(text.find("return (relish.constant(\"c0\"), relish.constant(\"c0\"), relish.constant(\"c1\"), "
                  "relish.constant(\"c2\"))\n\n# relish.constants\n#: c0 float32 (20, 10) ") !=
        std::string::npos);
  std::size_t heading = find_constant_section(text);
  REQUIRE(heading != std::string::npos);
  auto constants = read_constant_section(0, text, heading);
  REQUIRE(constants.size() == 3);
  CHECK(identical(constants.at("c0"), large));
  CHECK(identical(constants.at("c1"), infinite));
  CHECK(identical(constants.at("c2"), hollow));
}

TEST_CASE("a damaged section of constants is refused at its line") {
  auto message_of = [](const std::string& entries) -> std::string {
    try {
      read_constant_section(0, "# relish.constants\n" + entries, 0);
    } catch (const Failure& failure) {
      return failure.diagnostics().front().id;
    }
    return "";
  };
  CHECK(message_of("#: c0 float32 (1,) AACAPw==\n").empty());
  CHECK(message_of("#: c0 float32 (2,) AACAPw==\n") == "constants.data");
  CHECK(message_of("#: c0 float32 (2,) AACA\n") == "constants.short");
  CHECK(message_of("#: c0 float32 (1,) AACA*w==\n") == "constants.data");
  CHECK(message_of("#: c0 float99 (1,) AACAPw==\n") == "constants.entry");
  CHECK(message_of("#: c0 float32 (1,) AACAPw==\n#: c0 float32 (1,) AACAPw==\n") == "constants.twice");
  CHECK(message_of("#:   AACAPw==\n") == "constants.data");
}

TEST_CASE("flat functions print in linear time") {
  install();
  FunctionBuilder builder;
  Function function;
  function.name = "main";
  function.params = {Var("x", floats({2}))};
  builder.begin_block(true);
  Expr value = function.params[0];
  for (int i = 0; i < 20000; ++i) value = builder.call("add", {value, value});
  Var out = builder.bind(op_call("add", {value, value}), "", true);
  function.blocks = builder.take_blocks();
  function.result = out;
  function.result_type = out.type();
  std::string text = print(function);
  CHECK(text.find("lv19999: ") != std::string::npos);
}
