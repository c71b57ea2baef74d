// Every refusal of the front end: the nearest texts that are not accepted, with place, class and message.
#include <catch2/catch.hpp>
#include <utility>

#include "frontend/reader.h"
#include "helpers.h"
#include "stdlib/stdlib.h"
#include "support/limits.h"
#include "tests/unit/catch_failure.h"

namespace relish {
namespace {

std::string errors_of(const std::string& text) {
  install_stdlib();
  install_front_end();
  Diagnostics diagnostics;
  read_source(test::add_source(text + "\n"), {}, diagnostics);
  return test::short_text(diagnostics);
}

// The body below a header, two columns in.
std::string in_body(std::string_view header, std::string_view body) {
  std::string text = std::string(header) + "\n  ";
  for (char c : body) {
    text += c;
    if (c == '\n') text += "  ";
  }
  return text;
}

struct FaultyText {
  const char* text;
  const char* errors;
};

constexpr FaultyText relax_faults[] = {
    {"a = R.sum(x, axis=\"a\")\nreturn a",
     "3:21 TypeError sum: axis is \"a\"; expected int or list[int] or None\n"},
    {"return R.matmul(x)", "3:10 TypeError matmul: argument 'x2' is missing\n"},
    {"return R.add(x, x, x)", "3:22 TypeError add: 3 arguments are given; it takes at most 2\n"},
    {"return R.sum(x, foo=3)", "3:19 TypeError sum: unknown argument 'foo'; expected x, axis, keepdims\n"},
    {"return x.strides", "3:10 TypeError found 'x.strides' in an R.function; expected x.strides[i]\n"},
    {"return (x, x)[3]", "3:10 TypeError index 3 is out of range for a tuple of 2\n"},
    {"return x if x else x",
     "3:15 TypeError found 'if' on R.Tensor((4,), dtype=\"float32\"); expected bool scalars or 0-d bool "
     "tensors\n"},
    {"return not x",
     "3:10 TypeError found 'not' on R.Tensor((4,), dtype=\"float32\"); expected bool scalars or 0-d bool "
     "tensors\n"},
    {"return +x", "3:10 TypeError found '+' on R.Tensor((4,), dtype=\"float32\"); write the operand alone\n"},
    {"return ~x", "3:10 TypeError found '~' on R.Tensor((4,), dtype=\"float32\"); write R.bitwise_not(x)\n"},
    {"return x and x",
     "3:10 TypeError found 'and' on R.Tensor((4,), dtype=\"float32\"); expected bool scalars or 0-d bool "
     "tensors\n"},
    {"return [i for i in x]",
     "3:10 TypeError found a comprehension, which is not supported; write the items out, [x * 0, x * 1], or fill a "
     "tensor in a loop with R.slice_scatter\n"},
    {"return {1: 2}", "3:10 TypeError found a dictionary; expected a value\n"},
    {"return None", "3:10 TypeError found None; expected a value\n"},
    {"return x.nothing_near()",
     "3:12 TypeError found the method 'nothing_near'; expected astype or an operator of R\n"},
    {"return x.softmx()", "3:12 TypeError found the method 'softmx'; did you mean R.nn.softmax(x)?\n"},
    {"return np.zeros(3)",
     "3:10 TypeError found a call of 'np.zeros', which an R.function cannot call; write R.zeros((3,), "
     "\"float32\")\n"},
    {"return my.zeros(3)",
     "3:10 TypeError found a call of 'my.zeros', which an R.function cannot call; expected an operator of "
     "R or a function of the module\n"},
    {"return R.const(\"x\")",
     "3:18 TypeError found the string \"x\" in R.const; expected numbers in nested lists\n"},
    {"return R.const(1.5, \"int32\")",
     "3:18 TypeError found 1.5 in a constant of int32, which has no such value\n"},
    {"return R.const(300, \"int8\")",
     "3:18 TypeError found 300 in a constant of int8, which has no such value\n"},
    {"return R.const(1, \"float33\")",
     "3:21 TypeError found the dtype 'float33', which is unknown; did you mean 'float32'?\n"},
    {"a, b = x\nreturn a",
     "3:10 TypeError found a value of type R.Tensor((4,), dtype=\"float32\") for 2 names; expected a "
     "tuple\n"},
    {"a, b = (x, x, x)\nreturn a", "3:10 TypeError found a tuple of 3 for 2 names\n"},
    {"a, b.c = (x, x)\nreturn a", "3:6 TypeError found 'b.c' as a target; expected a name\n"},
    {"x[0] = i\nreturn x",
     "3:3 TypeError found an assignment to an element; values of an R.function are immutable; R.slice_scatter(x, part, begin, end) and R.where(mask, value, x) are new ones\n"},
    {"a = b = x\nreturn a", "3:7 TypeError found several targets; expected one assignment each\n"},
    {"a: R.Tensor\nreturn x", "3:3 TypeError found a name with a type and no value\n"},
    {"a: R.Tensor, b = x\nreturn a", "3:14 SyntaxError found ','; expected the end of the line or ';'\n"},
    {"with R.dataflow():\n  return x",
     "4:5 TypeError found a return inside a dataflow block; expected it behind\n"},
    {"with R.dataflow():\n  with R.dataflow():\n    y = x",
     "4:5 TypeError found a block inside a dataflow block\n"},
    {"with x:\n  y = x\nreturn x", "3:3 TypeError found 'with' on the name 'x'; expected R.dataflow()\n"},
    {"R.output(x)\nreturn x", "3:3 TypeError found R.output outside a dataflow block\n"},
    {"return x\ny = x", "4:3 TypeError found a statement behind the return; expected none\n"},
    {"while x:\n  y = x\nreturn x",
     "3:9 TypeError the condition of a while has type R.Tensor((4,), dtype=\"float32\"); expected a bool "
     "scalar or a 0-d bool tensor\n"},
    {"if x:\n  y = x\nreturn x",
     "3:6 TypeError the condition of an if has type R.Tensor((4,), dtype=\"float32\"); expected a bool "
     "scalar or a 0-d bool tensor\n"},
    {"def g():\n  pass\nreturn x",
     "3:7 SyntaxError plain functions are not supported: found def g without a decorator; expected "
     "@R.function or @T.prim_func\n"},
    {"assert x\nreturn x",
     "3:3 TypeError found an assert in an R.function; expected R.assert_op(condition, "
     "format=\"...\")\n"},
    {"break",
     "3:3 TypeError found break in an R.function; its loops run to their end, end a while by its "
     "condition\n"},
    {"@T.prim_func\ndef g():\n  pass\nreturn x",
     "4:7 TypeError found the prim_func 'g' inside an R.function; expected it in the module\n"},
    {"n = T.int32()\nreturn x",
     "3:7 TypeError found a call of T.int32 as a dimension; dimensions are int64\n"},
    {"y = R.match_cast(x)\nreturn y",
     "3:7 TypeError found 1 argument of R.match_cast; expected a value and a type\n"},
    {"y = R.match_cast(x, R.Tensor((5,), \"float32\"))\nreturn y",
     "3:20 TypeError found a value of type R.Tensor((4,), dtype=\"float32\"), which is never "
     "R.Tensor((5,), dtype=\"float32\")\n"},
    {"y = R.match_shape(x)\nreturn y",
     "3:7 TypeError found 1 argument of R.match_shape; expected a value and its dimensions\n"},
    {"return R.match_cast(x, R.Tensor)",
     "3:10 TypeError found R.match_cast inside an expression; expected y = R.match_cast(x, type)\n"},
    {"return R.emit_te(x)",
     "3:10 TypeError R.emit_te needs Python, which Relish does not run; expected a prim_func and "
     "R.call_tir\n"},
    {"return R.call_tir_inplace(x)",
     "3:10 TypeError found 1 positional argument of R.call_tir_inplace; expected a prim_func, its "
     "arguments, inplace_indices and the type of the result\n"},
    {"return R.call_packed(\"f\", x)",
     "3:10 TypeError found a call of R.call_packed, which has effects, in the pure function 'f'; expected "
     "@R.function(pure=False)\n  note 2:5 the function is declared here\n"},
    {"return R.ExternFunc(3)", "3:10 TypeError R.ExternFunc takes the symbol of a native function\n"},
    {"return R.add(*x)", "3:17 TypeError found a starred argument; expected each one written out\n"},
    {"return R.shape([1.5])", "3:18 TypeError found a dimension of dtype float64; expected int64\n"},
    {"return R.shape([n])",
     "3:19 TypeError found 'n', which no dimension introduces; expected a dimension \"n\" of its own, in quotes\n"},
    {"return R.str(3)", "3:10 TypeError found the number 3 in R.str; expected a string\n"},
    {"return R.dtype(\"float31\")",
     "3:18 TypeError found the dtype 'float31', which is unknown; did you mean 'float32'?\n"},
    {"return R.TupleGetItem(x, y)", "3:28 TypeError found an index that is no plain integer\n"},
    {"return x(i)", "3:10 TypeError x is called; it has type R.Tensor((4,), dtype=\"float32\")\n"},
    {"return (1)(x)", "3:11 TypeError found a call of the number 1; expected a function\n"},
    {"return R.add", "3:10 TypeError found 'R.add' without its arguments\n"},
    {"return R.const([1, 2], \"int32\", 3)",
     "3:10 TypeError found 3 arguments of R.const; expected a value and a dtype\n"},
    {"return R.const(1, foo=2)", "3:21 TypeError R.const has no argument 'foo'\n"},
    {"return x < i < x",
     "3:10 TypeError less: x1 has dtype float32 and x2 has dtype int32, expected the same; cast one with astype\n"
     "3:14 TypeError less: x1 has dtype int32 and x2 has dtype float32, expected the same; cast one with astype\n"},
    {"return x in i", "3:12 TypeError found 'in' on tensors; expected an operator of R\n"},
    {"return (x, x) + x",
     "3:10 TypeError add: x1 has type R.Tuple(R.Tensor((4,), dtype=\"float32\"), R.Tensor((4,), "
     "dtype=\"float32\")); expected a tensor, as its field [0]\n"},
    {"return relish.constant(\"c9\")",
     "3:10 TypeError found no entry 'c9' in the section of constants at the end of the text\n"},
    {"return relish.constant(3)", "3:10 TypeError relish.constant takes the name of an entry as a string\n"},
    {"return R.prim_value(\"x\")", "3:23 TypeError found the string \"x\"; expected a scalar\n"},
    {"return R.call_tir(x, x)", "3:21 TypeError found the name 'x' in R.call_tir; expected a prim_func\n"},
    {"return R.call_tir(f, x, (4,), dtype=\"float32\")",
     "3:21 TypeError found a recursive use of 'f', whose result type is inferred; expected -> and its "
     "type\n  note 2:5 it is defined here\n"},
    {"return R.call_tir(f)",
     "3:10 TypeError found 1 positional argument of R.call_tir; expected a prim_func, its arguments and "
     "the type of the result\n"},
    {"return x + True", "3:14 TypeError found True beside a tensor of float32; expected a number\n"},
    {"y = x + zz\nreturn y", "3:11 TypeError found the name 'zz', which is not defined here\n"},
    {"return R.func_attr({})",
     "3:10 TypeError found R.func_attr inside an expression; expected it as a statement\n"},
    {"R.func_attr({3: 4})\nreturn x", "3:16 TypeError found the number 3 as a key; expected a string\n"},
    {"R.func_attr(x)\nreturn x",
     "3:3 TypeError found an argument that is no dictionary of R.func_attr; expected one dictionary of "
     "attributes\n"},
    {"R.func_attr({\"a\": x})\nreturn x",
     "3:21 TypeError found the name 'x'; expected a literal that is known when the text is read\n"},
    {"return i + 9999999999",
     "3:14 TypeError found 9999999999 beside a tensor of int32, which has no such value\n"},
    {"return [1.0, 2.0][x]",
     "3:10 TypeError found the name 'x' as the index of a tuple; expected a plain integer\n"},
    {"cls = f\nreturn x",
     "3:9 TypeError found a recursive use of 'f', whose result type is inferred; expected -> and its "
     "type\n  note 2:5 it is defined here\n"},
    {"Module = x\nreturn cls.f(x)",
     "4:10 TypeError found the name 'cls', which is not bound here; write cls = Module above it, or Module.f\n"},
    {"return Module", "3:10 TypeError found the module 'Module' as a value; expected one of its functions\n"},
    {"a: 3 = x\nreturn a",
     "3:6 TypeError found the number 3; expected a type such as R.Tensor((2, 3), \"float32\")\n"},
    {"return lambda a: a", "3:10 TypeError found a lambda, which is not supported\n"},
};

TEST_CASE("faults of Relax functions") {
  constexpr const char* header =
      "@R.function\ndef f(x: R.Tensor((4,), \"float32\"), i: R.Tensor((4,), \"int32\")):";
  for (const FaultyText& fault : relax_faults) {
    INFO(fault.text);
    CHECK(errors_of(in_body(header, fault.text)) == fault.errors);
  }
}

constexpr FaultyText prim_func_faults[] = {
    {"for i in range():\n  A[i] = 1", "3:12 TypeError found 0 bounds of range; expected one or two\n"},
    {"for i in range(1.5):\n  A[0] = 1",
     "3:18 TypeError found an index of dtype float32; expected an integer\n"},
    {"for i in range(4, foo=3):\n  A[i] = 1", "3:21 TypeError range has no argument 'foo' here\n"},
    {"for i in T.grid(4, x=3):\n  A[i] = 1",
     "3:24 TypeError found the argument 'x' of T.grid; expected extents, *A.shape or dtype=\n"},
    {"for i, j in T.grid(4):\n  A[i] = 1", "3:7 TypeError found 2 variables for a loop of 1 dimension\n"},
    {"for i.x in T.grid(4):\n  A[i] = 1",
     "3:7 TypeError found 'i.x' as a target; expected a name or an element of a buffer\n4:7 TypeError "
     "found the name 'i', which is not defined here\n"},
    {"with T.block(\"x\"):\n  vi = T.axis.remap(\"SX\", [n, 3])",
     "4:10 TypeError found 1 name, 2 letters and 2 loop variables in T.axis.remap; expected as many of "
     "each\n"},
    {"with T.block(\"x\"):\n  vi, vj = T.axis.remap(\"SX\", [n, 3])",
     "4:34 TypeError found the name 'n' in T.axis.remap; expected a loop variable\n"},
    {"with T.block(\"x\"):\n  vi, vj = T.axis.remap(\"SR\", [n, 3])",
     "4:34 TypeError found the name 'n' in T.axis.remap; expected a loop variable\n"},
    {"with T.block(\"x\"):\n  vi = T.axis.remap(\"S\")",
     "4:10 TypeError T.axis.remap takes letters and loop variables, as in (\"SR\", [i, j])\n"},
    {"with T.block(\"x\"):\n  vi = T.axis.scam(4, n)",
     "4:10 TypeError T.axis.scam is not known; expected remap, spatial, reduce, scan or opaque\n"},
    {"with T.block(\"x\"):\n  vi = T.axis.spatial(4)",
     "4:10 TypeError T.axis.spatial takes a domain and a value\n"},
    {"with T.block(\"x\"):\n  vi = T.axis.spatial((1, 2, 3), n)",
     "4:25 TypeError found a domain that is no pair of bounds\n"},
    {"vk = T.axis.spatial(4, 0)", "3:8 TypeError found an axis outside a block\n"},
    {"with T.init():\n  A[0] = 1", "3:3 TypeError found T.init outside a block\n"},
    {"with T.block(\"x\"):\n  with T.init():\n    A[0] = 1\n  with T.init():\n    A[0] = 2",
     "6:5 TypeError found a second T.init in a block\n"},
    {"with T.block(3):\n  A[0] = 1", "3:16 TypeError found a block's name that is no string\n"},
    {"with T.block(\"x\") as y:\n  A[0] = 1", "3:24 TypeError found 'as' on a block; expected none\n"},
    {"with T.launch_thread(n, 3) as z:\n  pass",
     "3:24 TypeError found the name 'n' as a thread; expected a name such as \"threadIdx.x\" or what "
     "T.env_thread gives\n"},
    {"with T.launch(n, 3) as z:\n  pass",
     "3:3 TypeError found 'with' on a call of T.launch; expected T.sblock or T.init in a prim_func\n"},
    {"T.where(n > 3)", "3:3 TypeError found T.where outside a block\n"},
    {"with T.block(\"x\"):\n  T.where(n > 3, n)", "4:5 TypeError T.where takes one condition\n"},
    {"with T.block(\"x\"):\n  T.reads(n)",
     "4:13 TypeError found the name 'n' as a region; expected a buffer\n"},
    {"with T.block(\"x\"):\n  T.reads(A[0, 1])", "4:13 TypeError found a region of 2 dimensions; A has 1\n"},
    {"with T.block(\"x\"):\n  T.reads(A[0:4:2])", "4:19 TypeError found a step in a region; expected none\n"},
    {"A[0:n] = 3",
     "3:5 TypeError found a slice of unknown elements; expected a number known when the text is read, from "
     "1 "
     "to 65536\n"},
    {"B = T.decl_buffer((4,), \"float32\", data=n)",
     "3:43 TypeError found the name 'n' as the data of a buffer; expected A.data of a buffer, or what "
     "T.allocate gives\n"},
    {"B = T.alloc_buffer(4, \"int32\", A.data)",
     "3:34 TypeError found data= of T.alloc_buffer; expected none\n"},
    {"B = T.alloc_buffer((4,), foo=3)", "3:28 TypeError a buffer has no argument 'foo'\n"},
    {"B = T.alloc_buffer((4,), scope=3)", "3:34 TypeError found a scope that is no string\n"},
    {"B = T.alloc_buffer((4,), 5)",
     "3:28 TypeError found the number 5; expected a dtype such as \"float32\"\n"},
    {"B = T.alloc_buffer(dtype=\"int32\")", "3:3 TypeError the buffer 'B' is given no shape\n"},
    {"B = T.alloc_buffer((-4,))",
     "3:23 TypeError found the dimension -4; expected one that is not negative, or a symbol such as \"n\"\n"},
    {"B = T.alloc_buffer((1.5,))",
     "3:23 TypeError found a dimension of dtype float32; expected an integer\n"},
    {"B = T.match_buffer(n, (4,))",
     "3:3 TypeError found T.match_buffer of something that is no T.handle parameter; expected such a "
     "parameter\n"},
    {"A[0] = lambda x: x", "3:10 TypeError found a lambda; expected a scalar\n"},
    {"assert A[0], \"x\"",
     "3:10 TypeError found a condition of dtype float32; expected a comparison or a bool\n"},
    {"assert n > 0, n", "3:17 TypeError found a message that is no string\n"},
    {"A[0] = T.Cast(\"float3\", A[0])",
     "3:17 TypeError found the dtype 'float3', which is unknown; did you mean 'float32'?\n"},
    {"A[0] = T.Cast(3, A[0])", "3:20 TypeError found a subscript; expected a dtype such as \"float32\"\n"},
    {"A[0] = T.Cast(\"float32\")", "3:10 TypeError found 1 argument of T.Cast; expected 2\n"},
    {"A[0] = T.exp(n)", "3:10 TypeError T.exp takes floats, found int32\n"},
    {"A[0] = T.exp(A[0], A[1])", "3:10 TypeError found 2 arguments of T.exp; expected 1\n"},
    {"A[0] = T.exp(foo=3)", "3:16 TypeError T.exp has no argument 'foo'\n"},
    {"A[0] = T.exp(*n)", "3:17 TypeError found a starred argument\n"},
    {"A[0] = T.float32(\"x\")",
     "3:20 TypeError found the string \"x\"; expected a number, or \"inf\", \"-inf\" or \"nan\" for a "
     "float\n"},
    {"A[0] = T.float32()", "3:10 TypeError found 0 arguments of T.float32; expected one value\n"},
    {"A[0] = T.int32(1.5)", "3:18 TypeError found the number 1.5; expected an integer for int32\n"},
    {"A[0] = T.Select(n, 1, 2)",
     "3:19 TypeError found a condition of dtype int32; expected a comparison or a bool\n"},
    {"A[0] = not n", "3:10 TypeError operand of not has dtype int32; expected bool\n"},
    {"A[0] = n and n", "3:10 TypeError operand of and has dtype int32; expected bool\n"},
    {"A[0] = A[0] & 3", "3:10 TypeError & takes integers, found float32\n"},
    {"A[0] = A[0] << 3", "3:10 TypeError << takes integers, found float32\n"},
    {"A[0] = ~A[0]", "3:10 TypeError found '~' on float32; expected an integer\n"},
    {"A[0] = n in A",
     "3:15 TypeError found the buffer 'A' as a value; expected an element of it\n  note 2:7 it is declared "
     "here\n"},
    {"A[0] = n.x", "3:10 TypeError found 'n.x'; expected a scalar\n"},
    {"A[0] = foo(3)",
     "3:10 TypeError found a call of foo; expected a function of T in a scalar expression\n"},
    {"A[0] = R.add(3)",
     "3:10 TypeError found a call of R.add; expected a function of T in a scalar expression\n"},
    {"A[0] = n[0]", "3:10 TypeError found a subscript of 'n', which is no buffer\n"},
    {"A[0] = zz[0]", "3:10 TypeError found the name 'zz', which is not defined here\n"},
    {"A[0] = \"x\"", "3:10 TypeError found the string \"x\"; expected a scalar\n"},
    {"n[0] = 3", "3:3 TypeError found a store into 'n', which is no buffer\n"},
    {"zz[0] += 3", "3:3 TypeError found the name 'zz', which is not defined here\n"},
    {"zz += 3", "3:3 TypeError found the name 'zz', which is not defined here\n"},
    {"n += 3",
     "3:3 TypeError found an assignment to 'n', which is no scalar of the body\n  note 2:37 it is bound "
     "here\n"},
    {"x: foo = 3",
     "3:6 TypeError found the name 'foo' as the type of a scalar; expected one such as T.int32\n"},
    {"x: T.int32 = zz", "3:16 TypeError found the name 'zz', which is not defined here\n"},
    {"A[0]: T.int32 = 3", "3:3 TypeError found a type on an element of a buffer; expected none\n"},
    {"f(x) = 3", "3:3 TypeError found a call of f as a target; expected a name or an element of a buffer\n"},
    {"x = y = 3", "3:7 TypeError found several targets; expected one assignment each\n"},
    {"x, y = 3", "3:3 TypeError found 2 names for the number 3; expected as many values\n"},
    {"x, y = 3, 4, 5", "3:3 TypeError found 2 names for a tuple; expected as many values\n"},
    {"A = 3",
     "3:3 TypeError found an assignment to 'A', which is no scalar of the body\n  note 2:7 it is bound "
     "here\n"},
    {"break", "3:3 TypeError found break outside a loop\n"},
    {"continue", "3:3 TypeError found continue outside a loop\n"},
    {"return",
     "3:3 TypeError found a return without a value; expected the end of the function to be that of its "
     "body\n"},
    {"def g():\n  pass", "3:3 TypeError found a function inside a prim_func; expected it in the module\n"},
    {"@T.prim_func\ndef g():\n  pass",
     "4:3 TypeError found a function inside a prim_func; expected it in the module\n"},
    {"n", "3:3 TypeError found the name 'n' as a statement; expected a store such as C[i] = x\n"},
    {"3", "3:3 TypeError found the number 3 as a statement; expected a store such as C[i] = x\n"},
    {"T.func_attr(3)",
     "3:3 TypeError found an argument that is no dictionary of T.func_attr; expected one dictionary of "
     "attributes\n"},
    {"T.evaluate(1, 2)", "3:3 TypeError T.evaluate takes one expression\n"},
    {"T.evaluate(T.call_packed(*A))", "3:29 TypeError found a starred argument\n"},
    {"A[0] = T.address_of(A[0])",
     "3:10 TypeError found a call of T.address_of, which points to memory, as a value; expected it in "
     "data= "
     "or as an argument of a native function\n"},
    {"A[T.infinity(\"float32\")] = 3",
     "3:5 TypeError found an index of dtype float32; expected an integer\n"},
    {"A[0] = T.infinity(\"int32\")", "3:10 TypeError T.infinity needs a float dtype\n"},
    {"A[0] = T.reinterpret(\"int64\", A[0])",
     "3:10 TypeError float32 is reinterpreted as int64; expected a dtype of the same width\n"},
    {"while A[0]:\n  A[0] = 1",
     "3:9 TypeError found a condition of dtype float32; expected a comparison or a bool\n"},
    {"if A[0]:\n  A[0] = 1",
     "3:6 TypeError found a condition of dtype float32; expected a comparison or a bool\n"},
    {"A[0] = T.bitwise_not(A[0])", "3:10 TypeError T.bitwise_not needs an integer\n"},
    {"A[0] = T.float16(A[0]) + T.bfloat16(A[0])",
     "3:10 TypeError found float16 beside bfloat16; expected one of them cast\n"},
    {"for i in T.serial(4, annotations=3):\n  A[i] = 1",
     "3:36 TypeError found annotations that are no dictionary\n"},
    {"with T.block(\"x\"):\n  T.block_attr(3)",
     "4:5 TypeError found an argument that is no dictionary of T.block_attr; expected one dictionary of "
     "attributes\n"},
};

TEST_CASE("faults of prim_funcs") {
  constexpr const char* header = "@T.prim_func\ndef f(A: T.Buffer((4,), \"float32\"), n: T.int32):";
  for (const FaultyText& fault : prim_func_faults) {
    INFO(fault.text);
    CHECK(errors_of(in_body(header, fault.text)) == fault.errors);
  }
}

constexpr FaultyText module_faults[] = {
    {"@R.function\ndef f(x: R.Tensro((4,))):\n  return x",
     "2:10 TypeError found 'R.Tensro', which is no type; did you mean 'R.Tensor'?\n"},
    {"@R.function\ndef f(x: \"R.Tensor\"):\n  return x",
     "2:10 TypeError found a string as a type; expected one such as R.Tensor((2, 3), \"float32\")\n"},
    {"@R.function\ndef f(x: R.Tensor((4,), dtyp=\"float32\")):\n  return x",
     "2:25 TypeError R.Tensor has no argument 'dtyp'; did you mean 'dtype'?\n"},
    {"@R.function\ndef f(x):\n  return x",
     "2:7 TypeError found the parameter 'x' without a type; expected one such as R.Tensor((2, 3), "
     "\"float32\")\n"},
    {"@R.function\ndef f(x: R.Any, x: R.Any):\n  return x",
     "2:17 TypeError found the parameter 'x' twice\n  note 2:7 it is declared here first\n"},
    {"@R.function\ndef f(x: R.Prim(valu=3)):\n  return x", "2:17 TypeError R.Prim has no argument 'valu'\n"},
    {"@R.function\ndef f(x: R.Prim(3)):\n  return x",
     "2:10 TypeError R.Prim takes one dtype, as in R.Prim(\"int64\")\n"},
    {"@R.function\ndef f(x: R.Any = 3):\n  return x",
     "2:18 TypeError found a default value; parameters of functions have none: a call gives them all\n"},
    {"@R.function\ndef f(*x: R.Any):\n  return x",
     "2:8 TypeError found a starred parameter; expected each one written out\n"},
    {"@R.function\ndef f(x: R.Tensor((4,), 3)):\n  return x",
     "2:25 TypeError found the number 3; expected a dtype such as \"float32\"\n"},
    {"@R.function\ndef f(x: R.Tensor((4,), \"float32\", 3)):\n  return x",
     "2:36 TypeError found the number 3 as a device; expected a string such as \"llvm:0\"\n"},
    {"@R.function\ndef f(x: R.Tensor(4, \"float32\")):\n  return x",
     "2:19 TypeError found the number 4 as a shape; expected a tuple of dimensions such as (2, 3)\n"},
    {"@R.function\ndef f(x: R.Tensor((4,), ndim=2)):\n  return x",
     "2:30 TypeError found ndim=2 beside a shape of 1 dimension\n"},
    {"@R.function\ndef f(x: R.Tensor(ndim=\"a\")):\n  return x",
     "2:24 TypeError found the string \"a\" as a rank; expected a number up to 32\n"},
    {"@R.function\ndef f(x: R.Tensor((-4,))):\n  return x",
     "2:20 TypeError found the dimension -4; expected one that is not negative, or a symbol such as \"n\"\n"},
    {"@R.function\ndef f(x: R.Tensor((1.5,))):\n  return x",
     "2:20 TypeError found a dimension of dtype float64; expected int64\n"},
    {"@R.function\ndef f(x: R.Tensor((\"n m\",))):\n  return x",
     "2:23 SyntaxError found 'm'; expected the end of the line\n"},
    {"@R.function\ndef f(x: R.Tensor((\"\\x6e\",))):\n  return x",
     "2:20 TypeError found a dimension in a string with escapes; expected plain text\n"},
    {"@R.function\ndef f(x: R.Tensor((2,), \"float8_e4m3fn\")):\n  return x",
     "2:25 TypeError the dtype float8_e4m3fn is not supported\n"},
    {"@R.function\ndef f(x: R.Callable((R.Any,), R.Any, 3)):\n  return x",
     "2:38 TypeError found a purity that is neither True nor False\n"},
    {"@R.function\ndef f(x: R.DTensor):\n  return x",
     "2:10 TypeError R.DTensor: distributed tensors are not supported\n"},
    {"@R.function\ndef f(x: 3 + 4):\n  return x",
     "2:10 TypeError found an operation '+'; expected a type such as R.Tensor((2, 3), \"float32\")\n"},
    {"@R.function\ndef f(x: R.Tensor((2,), vdevice=3)):\n  return x",
     "2:33 TypeError found the number 3 as a device; expected a string such as \"llvm:0\"\n"},
    {"@R.function(foo=3)\ndef f(x: R.Any):\n  return x",
     "1:13 TypeError found an argument of R.function that it does not have; expected private=True or "
     "False\n"},
    {"@R.macro\ndef f(x):\n  return x",
     "1:2 SyntaxError '@R.macro' is not supported: it is expanded by Python; write its statements where "
     "they are used\n"},
    {"@foo\n@R.function\ndef f(x: R.Any):\n  return x",
     "1:2 TypeError found the decorator 'foo'; expected R.function or T.prim_func\n"},
    {"@R.gradient()\ndef f(x: R.Any):\n  return x",
     "1:2 TypeError R.gradient takes the function whose gradient this is\n"},
    {"@T.prim_func\ndef f(a):\n  pass",
     "2:7 TypeError found the parameter 'a' without a type; expected one such as T.Buffer((2, 3), "
     "\"float32\")\n"},
    {"@T.prim_func\ndef f(a: int):\n  pass",
     "2:10 TypeError found the name 'int' as the type of a parameter; expected T.Buffer, T.handle or a "
     "scalar such as T.int64\n"},
    {"@T.prim_func\ndef f(*a: T.int32):\n  pass",
     "2:8 TypeError found a starred parameter; expected each one written out\n"},
    {"@T.prim_func\ndef f(a: T.int32 = 3):\n  pass",
     "2:20 TypeError found a default value; parameters of functions have none: a call gives them all\n"},
    {"@T.prim_func\ndef f(a: T.int32, a: T.int32):\n  pass",
     "2:19 TypeError found the parameter 'a' twice\n  note 2:7 it is declared here first\n"},
    {"@T.prim_func\ndef f(a: T.int32) -> T.int32:\n  pass",
     "2:5 TypeError f returns int32; found a way through it without a return\n"},
    {"@T.prim_func\ndef f(a: T.Buffer((\"n + 1\",), \"float32\")):\n  n = T.int64()\n  a[0] = 1",
     "3:3 TypeError the variable 'n' cannot be found from the arguments; expected it alone as a dimension "
     "of a buffer, or as a scalar parameter\n"},
    {"@T.prim_func\ndef f(a: T.handle):\n  A = T.match_buffer(a, (4,))\n  B = T.match_buffer(a, (4,))\n  "
     "A[0] = a",
     "4:3 TypeError the handle 'a' is matched twice\n5:10 TypeError found the name 'a', which points "
     "to memory, as a value; expected it in data= or as an argument of a native function\n"},
    {"@I.ir_module(foo=3)\nclass M:\n  pass",
     "1:18 TypeError found an argument of I.ir_module that it does not have; expected "
     "check_well_formed=True or False\n"},
    {"@foo\nclass M:\n  pass", "1:2 TypeError found the decorator 'foo'; expected I.ir_module\n"},
    {"@I.ir_module\nclass M(Base):\n  pass",
     "2:9 SyntaxError found a base class of a module; modules have none\n"},
    {"@I.ir_module\nclass M:\n  x = 3",
     "3:3 TypeError found a statement in a module; expected functions, I.module_attrs or a docstring\n"},
    {"@I.ir_module\nclass M:\n  f = R.ExternFunc()",
     "3:7 TypeError R.ExternFunc takes the symbol of a native function and perhaps its type\n"},
    {"@I.ir_module\nclass M:\n  I.module_attrs(3)",
     "3:3 TypeError found an argument that is no dictionary of I.module_attrs; expected one dictionary of "
     "attributes\n"},
    {"@I.ir_module\nclass M:\n  @R.function\n  def f(x: R.Any):\n    return N.g(x)\n@I.ir_module\nclass "
     "N:\n  pass",
     "5:12 TypeError found 'N.g' of a module that stands below; a function calls those of modules above it\n"},
    {"@R.function\ndef f(x: R.Tensor((\"n\",)), y: R.Tensor((\"k * 2\",))):\n  k = T.int64()\n  return x",
     "3:3 TypeError the dimension 'k' cannot be found when the function runs; expected it alone in the "
     "type of a parameter or of R.match_cast\n"},
};

TEST_CASE("faults of headers and modules") {
  for (const FaultyText& fault : module_faults) {
    INFO(fault.text);
    CHECK(errors_of(fault.text) == fault.errors);
  }
}

TEST_CASE("faults of scripts") {
  const FaultyText faults[] = {
      {"if x:\n  @R.function\n  def f(x: R.Any):\n    return x",
       "3:3 SyntaxError found a declaration inside a statement; expected it at the top level\n"},
      {"raise 3",
       "1:1 SyntaxError 'raise' is not supported: use fail(\"message\"), or assert condition, \"message\"\n"},
      {"nonlocal x",
       "1:1 SyntaxError 'nonlocal' is not supported: a function sees the names around it and binds its "
       "own; return the new value\n"},
      {"yield 3",
       "1:1 SyntaxError 'yield' is not supported: a function returns its whole result, such as a list\n"},
      {"await x", "1:1 SyntaxError 'await' is not supported: statements run one after another\n"},
      {"x = (yield 3)", "1:12 SyntaxError found '3'; expected 'for', ')' or ','\n"},
      {"for i in x:\n  y\nelse:\n  z",
       "3:1 SyntaxError found 'else' behind a loop; expected it behind an if, which asks what the loop has set\n"},
      {"if x:\n  y\nelse:\n  z\nelse:\n  w", "5:1 SyntaxError found 'else' without an if before it\n"},
      {"*a, *b = c", "1:5 TypeError found two starred targets; expected one at most\n"},
      {"x = {**a for a in b}", "1:6 SyntaxError found '**' in a comprehension; expected KEY: VALUE\n"},
      {"del x.a", "1:5 TypeError cannot unbind 'x.a'; expected a name or an item\n"},
      {"x = 1 if 2", "1:11 SyntaxError found the end of the line; expected 'else'\n"},
      {"x := 3",
       "1:3 SyntaxError found ':='; expected the end of the line or ';'\n  note - a statement binds a name "
       "by '='\n"},
      {"print \"abc\"",
       "1:7 SyntaxError found '\"abc\"'; expected the end of the line or ';'\n"
       "  note - a call is written with parentheses: print(…)\n"},
      {"for *a in b:\n  c",
       "1:5 SyntaxError found a starred expression alone; expected it in a list, a tuple or a call\n"},
      {"x = *a",
       "1:5 SyntaxError found a starred expression alone; expected it in a list, a tuple or a call\n"},
      {"@R.function\ns = 3", "1:1 SyntaxError found a decorator without a function or class behind it\n"},
      {"@R.function", "1:1 SyntaxError found a decorator without a function or class behind it\n"},
      {"def f(:\n  pass",
       "1:6 SyntaxError found '(' that is never closed; expected a closing bracket\n  note 2:3 a statement "
       "begins before it is closed\n"},
      {"class :\n  pass", "1:7 SyntaxError found ':'; expected a name\n"},
      {"x = a..b", "1:7 SyntaxError found '.'; expected a name\n"},
      {"x = 3 3", "1:7 SyntaxError found '3'; expected the end of the line or ';'\n"},
      {"x = (1, 2",
       "1:5 SyntaxError found '(' that is never closed; expected a closing bracket\n  note - the text ends "
       "before it is closed\n"},
      {"x = 0x", "1:6 SyntaxError found 'x'; expected the end of the line or ';'\n"},
      {"x = 1.2.3", "1:8 SyntaxError found '.3'; expected the end of the line or ';'\n"},
      {"f\"{x!z}\"",
       "1:5 SyntaxError found an unknown conversion in an f-string; expected '!r', '!s' or '!a'\n"},
      {"f\"{x:{y:3}}\"",
       "1:6 SyntaxError found '{' inside a format specification without a plain expression and '}' behind it\n"},
      {"f\"}\"", "1:3 SyntaxError found '}' in an f-string; expected '}}' or a field before it\n"},
      {"f\"{x\\n}\"", "1:5 SyntaxError found '\\' in a field of an f-string\n"},
      {"'\\x4'", "1:2 SyntaxError found an escape that is cut short; expected 2 hexadecimal digits\n"},
      {"'\\ud800'", "1:2 SyntaxError found an escape that is no character; expected 4 hexadecimal digits\n"},
      {"x = \\ 3", "1:5 SyntaxError found '\\' inside a line; expected it at the line's end only\n"},
      {"if x: for y in z: w", "1:7 SyntaxError found 'for' behind ':'; expected it on a line of its own\n"},
      {"assert", "1:7 SyntaxError found the end of the line; expected an expression\n"},
      {"return return", "1:8 SyntaxError found 'return'; expected the end of the line or ';'\n"},
      {"import", "1:7 SyntaxError found the end of the line; expected a name or '.'\n"},
      {"from x import", "1:14 SyntaxError found the end of the line; expected a name, '*' or '('\n"},
      {"else", "1:5 SyntaxError found the end of the line; expected ':'\n"},
      {"match x:\n  y", "1:1 SyntaxError 'match' is not supported: use if and elif\n"},
      {"with a as b:\n  c",
       "1:1 SyntaxError 'with' is not supported in a script; it stands in functions only; files are read by load(path), written by save(value, path)\n"},
  };
  for (const FaultyText& fault : faults) {
    INFO(fault.text);
    CHECK(errors_of(fault.text) == fault.errors);
  }
}

// The rules of what is refused, with places.
std::string rules_of(const Diagnostics& diagnostics) {
  std::string text;
  for (const Diagnostic& fault : diagnostics.all()) {
    const LineColumn at = Sources::instance().find(fault.span.file)->position(fault.span.begin);
    text += fmt::format("{}:{} {} {}\n", at.line, at.column, name_of(fault.error_class), fault.id);
  }
  return text;
}

std::string rules_of(const std::string& text) {
  install_stdlib();
  install_front_end();
  Diagnostics diagnostics;
  read_source(test::add_source(text + "\n"), {}, diagnostics);
  return rules_of(diagnostics);
}

TEST_CASE("texts of more than 10,000 attributes, and of more functions that need each other's types") {
  std::string entries, functions = "@I.ir_module\nclass M:\n";
  for (int i = 0; i < 10000; ++i) entries += fmt::format("\"a{}\": 1, ", i);
  CHECK(rules_of("@I.ir_module\nclass M:\n  I.module_attrs({" + entries + "})").empty());
  CHECK(rules_of("@I.ir_module\nclass M:\n  I.module_attrs({" + entries + "\"b\": 1})") ==
        "3:18 ResourceLimit limit.attributes\n");

  const std::uint32_t before = std::exchange(limits().max_call_depth, 10);
  for (int i = 0; i < 12; ++i) {
    functions += fmt::format("  @R.function\n  def f{}(x: R.Any):\n    return M.f{}(x)\n", i, i + 1);
  }
  functions += "  @R.function\n  def f12(x: R.Any):\n    return x";
  CHECK(rules_of(functions).find(" ResourceLimit limit.inference\n") != std::string::npos);
  limits().max_call_depth = 20;
  CHECK(rules_of(functions).empty());
  limits().max_call_depth = before;
}

TEST_CASE("a text of the library has one module, the value of an option is one expression") {
  CHECK(testing::rule_of([] { read_module("none", "x = 3\n"); }) == "TypeError: module.count");
  const auto expression = [](std::string text) {
    Diagnostics diagnostics;
    read_expression(test::add_source(std::move(text)), diagnostics);
    return rules_of(diagnostics);
  };
  CHECK(expression("[1, 2]").empty());
  CHECK(expression("y = 3") == "1:1 SyntaxError syntax.expression\n");
  CHECK(expression("y\nz") == "1:1 SyntaxError syntax.expression\n");
}

}  // namespace
}  // namespace relish
