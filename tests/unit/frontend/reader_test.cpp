// Whole sources: modules in three dialects, statements, Python files, the printing law, and faults with their
// places.
#include "frontend/reader.h"

#include <catch2/catch.hpp>

#include <csignal>

#include "reading.h"
#include "support/failure.h"
#include "support/interrupt.h"

namespace relish {
namespace {

using test::add_source;
using test::canonical;
using test::Read;
using test::read;
using test::short_text;

// The body of an R.function with parameters x, y: R.Tensor((2, 3), "float32") and i: R.Tensor((2,), "int32").
std::string with_body(const std::string& body) {
  return test::function_of(
      "@R.function\n"
      "def f(x: R.Tensor((2, 3), \"float32\"), y: R.Tensor((2, 3), \"float32\"), i: R.Tensor((2,), "
      "\"int32\")):\n",
      body);
}

std::string body_errors(const std::string& body) { return read(with_body(body)).errors; }

std::string body_type(const std::string& body) {
  Read result = read(with_body(body));
  if (!result.errors.empty()) return result.errors;
  canonical(with_body(body));
  return print(result.result.free_functions->function("f")->result_type);
}

const char* const classifier_2022 = R"(
import tvm
from tvm.script import relax as R, tir as T

@tvm.script.ir_module
class MLP:
    @T.prim_func
    def dense(X: T.Buffer[(1, 8), "float32"], W: T.Buffer[(4, 8), "float32"], Z: T.Buffer[(1, 4), "float32"]):
        T.func_attr({"global_symbol": "dense", "tir.noalias": True})
        for i, j, k in T.grid(1, 4, 8):
            with T.block("Z"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Z[vi, vj] = T.float32(0)
                Z[vi, vj] = Z[vi, vj] + X[vi, vk] * W[vj, vk]

    @R.function
    def main(x: Tensor((1, 8), "float32"), w: Tensor((4, 8), "float32")):
        with R.dataflow():
            z = R.call_tir(dense, (x, w), (1, 4), dtype="float32")
            out = R.nn.relu(z)
            R.output(out)
        return out
)";

const char* const classifier_2023 = R"(
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tir as T

@I.ir_module
class MLP:
    @T.prim_func
    def dense(X: T.Buffer((1, 8), "float32"), W: T.Buffer((4, 8), "float32"), Z: T.Buffer((1, 4), "float32")):
        T.func_attr({"tir.noalias": True})
        for i, j, k in T.grid(1, 4, 8):
            with T.block("Z"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                T.reads(X[vi, vk], W[vj, vk])
                T.writes(Z[vi, vj])
                with T.init():
                    Z[vi, vj] = T.float32(0)
                Z[vi, vj] = Z[vi, vj] + X[vi, vk] * W[vj, vk]

    @R.function
    def main(x: R.Tensor((1, 8), "float32"), w: R.Tensor((4, 8), "float32")) -> R.Tensor((1, 4), "float32"):
        cls = MLP
        with R.dataflow():
            z = R.call_tir(cls.dense, (x, w), out_sinfo=R.Tensor((1, 4), "float32"))
            out: R.Tensor((1, 4), "float32") = R.nn.relu(z)
            R.output(out)
        return out
)";

const char* const classifier_canonical = R"(# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.script import relax as R

@I.ir_module
class MLP:
    @T.prim_func(s_tir=True)
    def dense(X: T.Buffer((1, 8), "float32"), W: T.Buffer((4, 8), "float32"), Z: T.Buffer((1, 4), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for i, j, k in T.grid(1, 4, 8):
            with T.sblock("Z"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                T.reads(X[vi, vk], W[vj, vk])
                T.writes(Z[vi, vj])
                with T.init():
                    Z[vi, vj] = T.float32(0.0)
                Z[vi, vj] = Z[vi, vj] + X[vi, vk] * W[vj, vk]

    @R.function
    def main(x: R.Tensor((1, 8), dtype="float32"), w: R.Tensor((4, 8), dtype="float32")) -> R.Tensor((1, 4), dtype="float32"):
        cls = MLP
        with R.dataflow():
            z = R.call_tir(cls.dense, (x, w), out_ty=R.Tensor((1, 4), dtype="float32"))
            out: R.Tensor((1, 4), dtype="float32") = R.nn.relu(z)
            R.output(out)
        return out
)";

// What an if gives must be seen from its text: the module of the first text is that of its printed text.
TEST_CASE("what an if gives does not depend on names that nobody reads", "[reader][if]") {
  const std::string head =
      "@R.function\n"
      "def f(x: R.Tensor((2,), \"float32\"), n: R.Prim(\"int64\")) -> R.Tensor((2,), \"float32\"):\n"
      "    y = R.negative(x)\n"
      "    if n > 3:\n"
      "        w = R.add(x, x)\n";
  auto same = [&](const std::string& one, const std::string& other) {
    canonical(head + one);
    Read a = read(head + one), b = read(head + other);
    REQUIRE(a.errors + b.errors == "");
    return first_difference(*a.result.all_modules().front(), *b.result.all_modules().front());
  };
  // An elif is the if inside the else, though the first way ends with another name.
  CHECK(same("        y = R.exp(x)\n"
             "    elif n > 2:\n"
             "        w = R.exp(x)\n"
             "    else:\n"
             "        w = R.negative(x)\n"
             "    return y\n",
             "        y = R.exp(x)\n"
             "    else:\n"
             "        if n > 2:\n"
             "            w = R.exp(x)\n"
             "        else:\n"
             "            w = R.negative(x)\n"
             "    return y\n") == "");
  auto results = [&](const std::string& tail) {
    Read one = read(head + tail);
    REQUIRE(one.errors == "");
    const FunctionPtr& function = std::get<FunctionPtr>(one.result.all_modules().front()->functions.front());
    for (const BindingBlock& block : function->blocks) {
      for (const Binding& binding : block.bindings) {
        if (const If* branch = binding.value().as<If>()) return branch->then_region->results.size();
      }
    }
    return std::size_t{99};
  };
  // Beside a result that is read, the order of the lines does not make another result.
  CHECK(results("    else:\n        y = R.exp(x)\n        w = R.negative(x)\n    return y\n") == 1);
  CHECK(results("    else:\n        w = R.negative(x)\n        y = R.exp(x)\n    return y\n") == 1);
  CHECK(results("    else:\n        y = R.exp(x)\n        w = R.negative(x)\n    return R.add(y, w)\n") == 2);
  // Nothing is read: the name that both ways end with is the value, as in TVM.
  CHECK(results("    else:\n        w = R.negative(x)\n    return x\n") == 1);
  CHECK(results("    else:\n        w = R.negative(x)\n        y = R.exp(x)\n    return x\n") == 0);
}

TEST_CASE("the dialects of 2022, 2023 and 0.26 give one text") {
  CHECK(canonical(classifier_2022) == classifier_canonical);
  CHECK(canonical(classifier_2023) == classifier_canonical);
  CHECK(canonical(classifier_canonical) == classifier_canonical);
  for (Dialect dialect : {Dialect::D2022, Dialect::D2023, Dialect::D026}) {
    Read module = read(classifier_2022);
    PrintOptions options;
    options.dialect = dialect;
    CHECK(canonical(print(*module.result.modules[0], options)) == classifier_canonical);
  }
}

TEST_CASE("a Python file keeps its decorated definitions and skips the rest with one note") {
  std::string text = std::string("import numpy as np\nx = np.zeros(3)\nfor i in [j for j in x]:\n  pass\n") +
                     classifier_2022 + "\ndef helper(a=1, *b):\n  yield a\n\nprint(lambda: $)\n";
  ReadOptions options;
  options.python_file = true;
  Read result = read(text, options);
  CHECK(result.errors ==
        "1:1 note 5 statements of this Python file are skipped: only decorated classes and functions are "
        "read\n");
  REQUIRE(result.result.modules.size() == 1);
  CHECK(print(*result.result.modules[0]) == classifier_canonical);
}

TEST_CASE("comments stay with their statements") {
  std::string text = R"(
# The model.
@I.ir_module
class M:
    # Adds.
    @R.function
    def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        # all of it
        with R.dataflow():
            # first
            y = R.add(x, x)  # behind
            R.output(y)
        return y
)";
  std::string printed = canonical(text);
  CHECK(printed.find("# The model.\n@I.ir_module") != std::string::npos);
  CHECK(printed.find("    # Adds.\n    @R.function") != std::string::npos);
  CHECK(printed.find("        # all of it\n        with R.dataflow():") != std::string::npos);
  CHECK(printed.find("            # first\n            y: R.Tensor((2,), dtype=\"float32\") = R.add(x, x)  # "
                     "behind\n") != std::string::npos);
}

TEST_CASE("values of Relax functions") {
  const std::string tensor = "R.Tensor((2, 3), dtype=\"float32\")";
  CHECK(body_type("return x") == tensor);
  CHECK(body_type("a = x + y * 2.0 - 1\nreturn a / x") == tensor);
  CHECK(body_type("return R.add(x, R.exp(y))") == tensor);
  CHECK(body_type("a, b = (x, i)\nreturn b, (a, b)") ==
        "R.Tuple(R.Tensor((2,), dtype=\"int32\"), R.Tuple(R.Tensor((2, 3), dtype=\"float32\"), "
        "R.Tensor((2,), dtype=\"int32\")))");
  CHECK(body_type("t = (x, (i, y))\nreturn t[1][0]") == "R.Tensor((2,), dtype=\"int32\")");
  CHECK(body_type("return R.const([[1, 2, 3]])") == "R.Tensor((1, 3), dtype=\"int32\")");
  CHECK(body_type("return R.const(1.5)") == "R.Tensor((), dtype=\"float32\")");
  CHECK(body_type("return i + 1") == "R.Tensor((2,), dtype=\"int32\")");
  CHECK(body_type("return R.shape([2, 3])") == "R.Shape([2, 3])");
  CHECK(body_type("return R.prim_value(3)") == "T.int64");
  CHECK(body_type("a: R.Prim(\"float32\") = 2.5\nreturn a") == "T.float32");
  CHECK(body_type("return R.sum(x, axis=[0], keepdims=True)") == "R.Tensor((1, 3), dtype=\"float32\")");
  CHECK(body_type("return R.sum(x, 1)") == "R.Tensor((2,), dtype=\"float32\")");
  CHECK(body_type("return R.permute_dims(x)") == "R.Tensor((3, 2), dtype=\"float32\")");
  CHECK(body_type("return relax.op.broadcast_to(x, (4, 2, 3))") == "R.Tensor((4, 2, 3), dtype=\"float32\")");
  CHECK(body_type("y = R.exp(x)\ny = R.exp(y)\nreturn y") == tensor);
  CHECK(body_type("z: R.Tensor = R.exp(x)\nreturn z") == "R.Tensor");
  CHECK(body_type("_ = R.exp(x)\nreturn R.tuple(x)") == "R.Tuple(R.Tensor((2, 3), dtype=\"float32\"))");
  CHECK(body_type("\"\"\"A docstring.\"\"\"\nreturn x") == tensor);
}

TEST_CASE("symbolic dimensions") {
  auto type = [](const std::string& signature, const std::string& body) {
    Read result = read("@R.function\ndef f(" + signature + "):\n" + body);
    if (!result.errors.empty()) return result.errors;
    canonical("@R.function\ndef f(" + signature + "):\n" + body);
    return print(result.result.free_functions->function("f")->result_type);
  };
  CHECK(type("x: R.Tensor((\"n\", 4), \"float32\")", "  return R.permute_dims(x)") ==
        "R.Tensor((4, n), dtype=\"float32\")");
  CHECK(type("x: R.Tensor((\"m + 1\",), \"float32\"), y: R.Tensor((\"m\",), \"float32\")",
             "  m = T.int64()\n  return R.broadcast_to(y, R.shape([m * 2, m]))") ==
        "R.Tensor((m * 2, m), dtype=\"float32\")");
  CHECK(type("x: R.Tensor((\"n\",), \"float32\"), n: R.Prim(\"int64\")", "  return R.shape([n * 2])") ==
        "R.Shape([n * 2])");
  CHECK(type("x: R.Tensor(ndim=2, dtype=\"float32\")",
             "  n, m = T.int64(), T.int64()\n  y = R.match_cast(x, R.Tensor((n, m), \"float32\"))\n  return "
             "R.permute_dims(y)") == "R.Tensor(dtype=\"float32\", ndim=2)");
  CHECK(
      type("x: R.Tensor((\"n + 1\",), \"float32\")", "  return x") ==
      "2:21 TypeError found 'n', which no dimension introduces; expected a dimension \"n\" of its own, in quotes\n");
  CHECK(type("x: R.Tensor((\"n + 1\",), \"float32\")", "  n = T.int64()\n  return x") ==
        "3:3 TypeError the dimension 'n' cannot be found when the function runs; expected it alone in the "
        "type of a "
        "parameter or of R.match_cast\n");
  CHECK(
      type("x: R.Tensor((k,), \"float32\")", "  return x") ==
      "2:20 TypeError found 'k', which no dimension introduces; expected a dimension \"k\" of its own, in quotes\n");
}

TEST_CASE("faults of Relax functions, with their places") {
  CHECK(body_errors("return z") == "3:10 TypeError found the name 'z', which is not defined here\n");
  CHECK(body_errors("return R.summ(x)") ==
        "3:10 TypeError found the operator R.summ, which is unknown; did you mean 'R.sum'?\n");
  CHECK(body_errors("a = R.unheard_of(x)\nb = R.add(a, x)\nreturn b") ==
        "3:7 TypeError found the operator R.unheard_of, which is unknown\n");
  CHECK(body_errors("return R.matmul(x, y)").substr(0, 5) == "3:10 ");
  CHECK(body_errors("a: R.Tensor((2, 4), \"float32\") = R.add(x, y)\nreturn a") ==
        "3:6 TypeError found the type R.Tensor((2, 4), dtype=\"float32\") for 'a'; its value has type "
        "R.Tensor((2, 3), "
        "dtype=\"float32\")\n  note 3:36 this has type R.Tensor((2, 3), dtype=\"float32\")\n");
  CHECK(body_errors("return x == y") == "3:12 TypeError found '==' on tensors; write R.equal(x, y)\n");
  CHECK(
      body_errors("return x @ y") ==
      "3:10 TypeError matmul: x1 of shape (2, 3) and x2 of shape (2, 3) do not multiply: 3 columns against 2 "
      "rows\n");
  CHECK(
      body_errors("return i + 1.5") ==
      "3:14 TypeError found the number 1.5 beside a tensor of int32; expected an integer, or the tensor cast by astype\n");
  CHECK(body_errors("return x[0]") ==
        "3:10 TypeError found [] on a tensor in an R.function, which takes fields of tuples only; "
        "write R.take(x, 0, axis=0)\n");
  CHECK(body_errors("for k in x:\n  y = x\nreturn x") ==
        "3:12 TypeError found a loop over the name 'x' in an R.function; expected range(...)\n");
  CHECK(body_errors("x += y\nreturn x") == "");
  CHECK(body_errors("y = x") == "2:5 TypeError the function 'f' does not end in a return\n");
  CHECK(body_errors("with R.dataflow():\n  a = R.exp(x)\n  b = R.exp(a)\n  R.output(b)\nreturn a") ==
        "7:10 TypeError found 'a', which is local to a dataflow block that has ended; list it in R.output\n"
        "  note 4:5 it is bound here\n");
  CHECK(body_errors("with R.dataflow():\n  a = R.exp(x)\n  R.output(b)\nreturn x") ==
        "5:14 TypeError R.output lists 'b', which the block does not bind\n");
  CHECK(body_errors("return R.call_tir(3, (x,), out_ty=R.Tensor((2,), \"float32\"))") ==
        "3:21 TypeError found the number 3 in R.call_tir; expected a prim_func\n");
  CHECK(body_errors("return R.const([1, [2]])") ==
        "3:22 TypeError found lists of unequal length in R.const; expected a regular nesting\n");
  CHECK(body_errors("return (lambda a: a)(x)").substr(0, 5) == "3:11 ");
  CHECK(body_errors("R.exp(x)\nreturn x") ==
        "3:3 TypeError found a value of type R.Tensor((2, 3), dtype=\"float32\") that is not bound; expected "
        "y = ...\n");
}

TEST_CASE("one bad line does not hide the next, and makes no followers") {
  CHECK(body_errors("a = R.exp(x\nb = R.unheard_of(x)\nc = R.add(a, b)\nd = zz\nreturn c") ==
        "3:12 SyntaxError found '(' that is never closed; expected a closing bracket\n"
        "  note 4:3 a statement begins before it is closed\n"
        "4:7 TypeError found the operator R.unheard_of, which is unknown\n"
        "6:7 TypeError found the name 'zz', which is not defined here\n");
  CHECK(body_errors("a = R.exp(x y)\nb = R.unheard_of(a)\nc = R.add(a, b)\nd = zz\nreturn c") ==
        "3:15 SyntaxError found 'y'; expected ',' or ')'\n"
        "4:7 TypeError found the operator R.unheard_of, which is unknown\n"
        "6:7 TypeError found the name 'zz', which is not defined here\n");
}

TEST_CASE("modules and functions call each other") {
  CHECK(read("@R.function\ndef f(x: R.Tensor((2,), \"float32\")):\n  return g(x)\n"
             "@R.function\ndef g(x: R.Tensor((2,), \"float32\")):\n  return R.exp(x)\n")
            .errors == "");
  CHECK(
      read("@R.function\ndef f(x: R.Tensor((2,), \"float32\")):\n  return f(x)\n").errors ==
      "3:10 TypeError found a recursive use of 'f', whose result type is inferred; expected -> and its type\n"
      "  note 2:5 it is defined here\n");
  CHECK(read("@R.function\ndef f(x: R.Tensor((2,), \"float32\")) -> R.Tensor((2,), \"float32\"):\n  return "
             "f(x)\n")
            .errors == "");
  CHECK(read("w = 3\n@R.function\ndef f(x: R.Tensor((2,), \"float32\")):\n  return R.add(x, w)\n").errors ==
        "4:19 TypeError found 'w', a variable of the script, which functions do not see; pass it as a "
        "parameter, use bind_params, or make it a constant: bound once, above, to literals, arg() and "
        "arithmetic\n");
  CHECK(read("@R.function\ndef f(x: R.Tensor((2,), \"float32\")):\n  return x\n"
             "@R.function\ndef f(x: R.Tensor((2,), \"float32\")):\n  return x\n")
            .errors == "5:5 TypeError found the function 'f' twice\n  note 2:5 it is defined here first\n");
  CHECK(read("@I.ir_module\nclass M:\n  @R.function\n  def f(x: R.Tensor((2,), \"float32\")):\n    return "
             "M.g(x)\n")
            .errors == "5:14 TypeError found the name 'g', which is not defined here\n");
}

TEST_CASE("call_tir is checked against the prim_func") {
  auto errors = [](const std::string& call) {
    std::string text =
        std::string(
            "@T.prim_func\ndef p(A: T.Buffer((4,), \"float32\"), B: T.Buffer((4,), \"float32\")):\n"
            "  for i in range(4):\n    B[i] = A[i]\n"
            "@R.function\ndef f(x: R.Tensor((4,), \"float32\"), i: R.Tensor((4,), \"int32\")):\n  return ") +
        call + "\n";
    return read(text).errors;
  };
  CHECK(errors("R.call_tir(p, (x,), R.Tensor((4,), \"float32\"))") == "");
  CHECK(errors("R.call_tir(p, x, (4,), dtype=\"float32\")") == "");
  CHECK(errors("R.call_tir(p, [x], out_sinfo=R.Tensor((4,), \"float32\"))") == "");
  CHECK(
      errors("R.call_tir(p, (i,), out_ty=R.Tensor((4,), \"float32\"))")
          .find("7:25 TypeError an argument of type R.Tensor((4,), dtype=\"int32\") is given for 'A' of p") ==
      0);
  CHECK(errors("R.call_tir(p, (x,), out_ty=R.Tensor((5,), \"float32\"))").find("a result of type") !=
        std::string::npos);
  CHECK(errors("R.call_tir(p, (x, x), out_ty=R.Tensor((4,), \"float32\"))")
            .find("7:10 TypeError p has 2 buffer") == 0);
  CHECK(errors("R.call_tir(q, (x,), out_ty=R.Tensor((4,), \"float32\"))") ==
        "7:21 TypeError found the name 'q', which is not defined here\n");
  CHECK(errors("p(x)").find("found a call of the prim_func") != std::string::npos);
}

TEST_CASE("script statements keep their order among declarations") {
  Read result =
      read("x = 1\n@R.function\ndef f(a: R.Tensor((2,), \"float32\")):\n  return a\nprint(f(x))  # shown\n");
  REQUIRE(result.errors == "");
  REQUIRE(result.result.script.size() == 3);
  CHECK(result.result.script[0].as<ast::Assignment>());
  CHECK(result.result.script[1].as<ast::DeclareFunction>());
  CHECK(result.result.script[2].as<ast::ExpressionStatement>());
  CHECK(result.result.script[2].comments->after == "shown");
}

TEST_CASE("what a script does not have is refused by name") {
  CHECK(read("def f(x: int):\n  return x\n").errors ==
        "1:10 TypeError found a type annotation in a script function; expected none, or @R.function above "
        "'def'\n");
  CHECK(read("class M:\n  pass\n").errors ==
        "1:7 SyntaxError classes without decorator are not supported: found class M; expected a dict of its "
        "values, or @I.ir_module before functions of tensors\n");
  CHECK(read("try:\n  x = 1\nexcept ValueError:\n  pass\n").errors ==
        "1:1 SyntaxError 'try' is not supported: errors end the statement that caused them; check the "
        "condition with if\n");
  CHECK(read("global x\n").errors.find("'global' is not supported") != std::string::npos);
  CHECK(read("import numpy as np\n").errors ==
        "1:8 SyntaxError found an import of 'numpy'; a script imports TVM's namespaces only; operators are "
        "here without an import: tensor(…), zeros(…), R.exp(x); relish doc NAME answers a name of others\n");
  CHECK(read("import foo\n")
            .errors.ends_with("a script imports TVM's namespaces only, and reads files with load\n"));
  CHECK(read("with open(\"x\"):\n  y = 1\n").errors ==
        "1:1 SyntaxError 'with' is not supported in a script; it stands in functions only; files are read by "
        "load(path), written by save(value, path)\n");
  CHECK(read("# relish: 2\nx = 1\n").errors ==
        "1:1 SyntaxError found a text for version 2 of the language; expected version 1\n");
  CHECK(read("else:\n  x = 1\n").errors == "1:1 SyntaxError found 'else' without an if before it\n");
}

TEST_CASE("large constants stand in a section at the end") {
  std::string text = "@R.function\ndef f(x: R.Tensor((20,), \"float32\")):\n  return R.add(x, R.const([";
  for (int i = 0; i < 20; ++i) text += std::to_string(i) + ".5, ";
  text += "], \"float32\"))\n";
  CHECK(canonical(text).find("relish.constant(\"c0\")") != std::string::npos);
}

TEST_CASE("operator chains of 100,000 terms are read") {
  std::string body = "z = x";
  for (int i = 0; i < 100000; ++i) body += " + y";
  Read result = read(with_body(body + "\nreturn z"));
  CHECK(result.errors == "");
  CHECK(result.result.free_functions->function("f")->blocks[0].bindings.size() == 100000);
}

TEST_CASE("an interrupt ends the reading of a text") {
  install_stdlib();
  interrupt_flag.store(SIGINT);
  Diagnostics diagnostics;
  const std::uint32_t file = Sources::instance().add("<test>", "@R.function\ndef f(x: R.Any):\n  return x\n");
  try {
    read_source(file, {}, diagnostics);
    FAIL("the text was read");
  } catch (const Failure& failure) {
    CHECK(failure.error_class() == ErrorClass::Interrupted);
  }
  CHECK(interrupt_flag.load() == 0);
  CHECK_FALSE(diagnostics.has_errors());
}

}  // namespace
}  // namespace relish
