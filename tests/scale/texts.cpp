// The makers of texts, in the order of the lists at the end.
#include "tests/scale/texts.h"

#include <fmt/format.h>

#include <array>
#include <iterator>

namespace relish::scale {
namespace {

std::string repeat(std::string_view part, std::size_t n) {
  std::string result;
  result.reserve(part.size() * n);
  for (std::size_t i = 0; i < n; ++i) result += part;
  return result;
}

// One Relax function of x: the lines of its body, which end in the return.
std::string relax_function(std::string_view body,
                           std::string_view params = "x: R.Tensor((2, 3), \"float32\")") {
  return fmt::format("@R.function\ndef main({}):\n{}", params, body);
}

// One prim_func whose only statement stores `value` for the element i of the result.
std::string prim_func(std::string_view value) {
  return fmt::format(
      "@T.prim_func\ndef main(A: T.Buffer((4,), \"float32\"), C: T.Buffer((4,), \"float32\")):\n"
      "    for i in range(4):\n        C[i] = {}\n",
      value);
}

// --- Modules, until they have `bytes`.

// Annotated bindings of one dataflow block, as TVM prints a model.
void append_bindings(std::string& text, std::size_t from, std::size_t count) {
  auto out = std::back_inserter(text);
  auto name = [&](std::size_t i) { return i == 0 ? std::string("x") : fmt::format("lv{}", from + i); };
  for (std::size_t i = 1; i <= count; ++i) {
    constexpr std::string_view type = "R.Tensor((32, 128), dtype=\"float32\")";
    fmt::format_to(out, "            {}: {} = ", name(i), type);
    switch (i % 5) {
      case 0:
        fmt::format_to(out, "R.matmul({}, w, out_dtype=\"void\")\n", name(i - 1));
        break;
      case 1:
        fmt::format_to(out, "R.add({}, b)\n", name(i - 1));
        break;
      case 2:
        fmt::format_to(out, "R.nn.relu({})\n", name(i - 1));
        break;
      case 3:
        fmt::format_to(out, "R.multiply({}, R.const(0.5, \"float32\"))\n", name(i - 1));
        break;
      default:
        fmt::format_to(out, "R.reshape(R.permute_dims({}, axes=[1, 0]), R.shape([32, 128]))\n", name(i - 1));
    }
  }
  fmt::format_to(out, "            gv: R.Tensor((32, 128), dtype=\"float32\") = R.add({}, x)\n", name(count));
}

void append_relax_function(std::string& text, std::string_view name, std::size_t count) {
  fmt::format_to(
      std::back_inserter(text),
      "    @R.function\n    def {}(x: R.Tensor((32, 128), dtype=\"float32\"), w: R.Tensor((128, 128), "
      "dtype=\"float32\"), b: R.Tensor((128,), dtype=\"float32\")) -> R.Tensor((32, 128), "
      "dtype=\"float32\"):\n        with R.dataflow():\n",
      name);
  append_bindings(text, 0, count);
  text += "            R.output(gv)\n        return gv\n\n";
}

constexpr std::string_view module_head = "@I.ir_module\nclass Module:\n";

std::string many_bindings(std::size_t bytes) {
  std::string text(module_head);
  for (std::size_t i = 0; text.size() < bytes; ++i)
    append_relax_function(text, fmt::format("main{}", i), 200);
  return text;
}

std::string one_function(std::size_t bytes) {
  std::string text(module_head);
  append_relax_function(text, "main", bytes / 90 + 1);
  return text;
}

// A matmul with an epilogue and an elementwise loop, as legalization prints them, and the calls of both.
std::string prim_funcs(std::size_t bytes) {
  std::string text(module_head);
  for (std::size_t i = 0; text.size() < bytes; ++i) {
    fmt::format_to(std::back_inserter(text), R"(    @T.prim_func(private=True)
    def fused_matmul_add{0}(x: T.Buffer((T.int64(32), T.int64(128)), "float32"), w: T.Buffer((T.int64(128), T.int64(64)), "float32"), b: T.Buffer((T.int64(64),), "float32"), T_add: T.Buffer((T.int64(32), T.int64(64)), "float32")):
        T.func_attr({{"tirx.noalias": True}})
        # with T.sblock("root"):
        matmul = T.sblock_alloc_buffer((T.int64(32), T.int64(64)))
        for i0, i1, k in T.grid(T.int64(32), T.int64(64), T.int64(128)):
            with T.sblock("matmul"):
                v_i0, v_i1, v_k = T.axis.remap("SSR", [i0, i1, k])
                T.reads(x[v_i0, v_k], w[v_k, v_i1])
                T.writes(matmul[v_i0, v_i1])
                with T.init():
                    matmul[v_i0, v_i1] = T.float32(0.0)
                matmul[v_i0, v_i1] = matmul[v_i0, v_i1] + x[v_i0, v_k] * w[v_k, v_i1]
        for ax0, ax1 in T.grid(T.int64(32), T.int64(64)):
            with T.sblock("T_add"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(matmul[v_ax0, v_ax1], b[v_ax1])
                T.writes(T_add[v_ax0, v_ax1])
                T_add[v_ax0, v_ax1] = T.max(matmul[v_ax0, v_ax1] + b[v_ax1], T.float32(0.0))

    @R.function
    def layer{0}(x: R.Tensor((32, 128), dtype="float32"), w: R.Tensor((128, 64), dtype="float32"), b: R.Tensor((64,), dtype="float32")) -> R.Tensor((32, 64), dtype="float32"):
        cls = Module
        with R.dataflow():
            gv = R.call_tir(cls.fused_matmul_add{0}, (x, w, b), out_ty=R.Tensor((32, 64), dtype="float32"))
            R.output(gv)
        return gv

)",
                   i);
  }
  return text;
}

// Statements of a script, as a session leaves them.
std::string script(std::size_t bytes) {
  std::string text = "a0 = 1\n";
  for (std::size_t i = 1; text.size() < bytes; ++i)
    fmt::format_to(std::back_inserter(text), "a{} = (a{} * 3 + [1, 2, {}][1]) % 1000  # line {}\n", i, i - 1,
                   i, i);
  return text;
}

// --- Nesting.

std::string round_brackets(std::size_t n) { return "x = " + repeat("(", n) + "1" + repeat(")", n) + "\n"; }
std::string tuples(std::size_t n) {
  return relax_function("    return " + repeat("(", n) + "x" + repeat(",)", n) + "\n");
}
std::string lists(std::size_t n) { return "x = " + repeat("[", n) + repeat("]", n) + "\n"; }
std::string dictionaries(std::size_t n) {
  return "x = " + repeat("{\"a\": ", n) + "1" + repeat("}", n) + "\n";
}
std::string open_brackets(std::size_t n) { return "x = " + repeat("(", n) + "\n"; }
std::string calls(std::size_t n) {
  return relax_function("    return " + repeat("R.nn.relu(", n) + "x" + repeat(")", n) + "\n");
}
std::string types(std::size_t n) {
  return relax_function("    return x\n",
                        "x: " + repeat("R.Tuple(", n) + "R.Tensor((2,), \"float32\")" + repeat(")", n));
}
std::string minuses(std::size_t n) { return "x = " + repeat("-", n) + "1\n"; }
std::string minuses_of_a_tensor(std::size_t n) {
  return relax_function("    return " + repeat("-", n) + "x\n");
}
std::string minuses_of_a_scalar(std::size_t n) { return prim_func(repeat("-", n) + "A[i]"); }
std::string nots(std::size_t n) { return "x = " + repeat("not ", n) + "True\n"; }
std::string powers(std::size_t n) { return "x = 1" + repeat(" ** 1", n) + "\n"; }
std::string conditionals(std::size_t n) { return "x = 1" + repeat(" if True else 1", n) + "\n"; }
std::string conditionals_inside(std::size_t n) {
  return "x = " + repeat("(1 if True else ", n) + "1" + repeat(")", n) + "\n";
}
// Every level below the limit, their product far above it.
std::string brackets_of_minuses(std::size_t n) {
  return "x = " + repeat(repeat("-", 900) + "(", n / 900) + "1" + repeat(")", n / 900) + "\n";
}
std::string lambdas(std::size_t n) { return "x = " + repeat("lambda: ", n) + "1\n"; }
std::string fields_in_fields(std::size_t n) {
  return "x = f\"" + repeat("{f'", n) + repeat("'}", n) + "\"\n";
}

std::string blocks(std::string_view header, std::size_t n) {
  std::string text;
  for (std::size_t i = 0; i < n; ++i) text += std::string(i, ' ') + std::string(header) + "\n";
  return text + std::string(n, ' ') + "pass\n";
}
// Blocks deeper than the limit cost their square in blanks: n counts bytes here.
std::size_t levels_of_bytes(std::size_t n) {
  std::size_t levels = 1;
  while (levels * levels / 2 < n) ++levels;
  return levels;
}
std::string ifs(std::size_t n) { return blocks("if True:", levels_of_bytes(n * 50)); }
std::string fors(std::size_t n) { return blocks("for i in range(2):", levels_of_bytes(n * 50)); }
std::string defs(std::size_t n) { return blocks("def f():", levels_of_bytes(n * 50)); }
std::string withs_in_a_function(std::size_t n) {
  std::size_t levels = levels_of_bytes(n * 50);
  std::string text = "@R.function\ndef main(x: R.Tensor((2,), \"float32\")):\n";
  for (std::size_t i = 0; i < levels; ++i) text += std::string(i + 1, ' ') + "with R.dataflow():\n";
  return text + std::string(levels + 1, ' ') + "y = x\n";
}
std::string functions_in_functions(std::size_t n) {
  std::size_t levels = levels_of_bytes(n * 50);
  std::string text = "@R.function\ndef main(x: R.Tensor((2,), \"float32\")):\n";
  for (std::size_t i = 0; i < levels; ++i) {
    text += std::string(i + 1, ' ') + "@R.function\n" + std::string(i + 1, ' ') +
            "def g(x: R.Tensor((2,), \"float32\")) -> R.Tensor((2,), \"float32\"):\n";
  }
  return text + std::string(levels + 1, ' ') + "return x\n";
}
std::string fors_in_a_prim_func(std::size_t n) {
  std::size_t levels = levels_of_bytes(n * 50);
  std::string text = "@T.prim_func\ndef main(A: T.Buffer((4,), \"float32\")):\n";
  for (std::size_t i = 0; i < levels; ++i)
    text += std::string(i + 1, ' ') + fmt::format("for i{} in range(1):\n", i);
  return text + std::string(levels + 1, ' ') + "A[0] = A[1]\n";
}
std::string else_ifs(std::size_t n) { return "if False:\n pass\n" + repeat("elif False:\n pass\n", n); }

// --- Chains.

std::string sum(std::size_t n) { return relax_function("    return x" + repeat(" + x", n) + "\n"); }
std::string sum_in_dataflow(std::size_t n) {
  return relax_function("    with R.dataflow():\n        y = x" + repeat(" * x", n) +
                        "\n        R.output(y)\n    return y\n");
}
std::string mixed_chain(std::size_t n) {
  return relax_function("    return x" + repeat(" + x * 2.0 - x / 3.0", n / 4) + "\n");
}
std::string sum_of_a_script(std::size_t n) { return "x = 1" + repeat(" + 1", n) + "\n"; }
std::string ands(std::size_t n) { return "x = True" + repeat(" and True", n) + "\n"; }
std::string ands_and_ors(std::size_t n) { return "x = True" + repeat(" and True or False", n / 2) + "\n"; }
std::string comparisons(std::size_t n) { return "x = 1" + repeat(" <= 1", n) + "\n"; }
std::string casts(std::size_t n) {
  return relax_function("    return x" + repeat(".astype(\"float16\").astype(\"float32\")", n / 2) + "\n");
}
std::string subscripts(std::size_t n) {
  return relax_function("    return x" + repeat("[0]", n) + "\n", "x: R.Tuple(R.Tensor((2,), \"float32\"))");
}
std::string calls_of_calls(std::size_t n) { return "x = f" + repeat("()", n) + "\n"; }
std::string attributes(std::size_t n) { return "x = a" + repeat(".b", n) + "\n"; }
std::string sum_of_scalars(std::size_t n) { return prim_func("A[i]" + repeat(" + A[i]", n)); }
std::string strings(std::size_t n) { return "x = " + repeat("\"a\" ", n) + "\n"; }

// --- Widths.

std::string arguments(std::size_t n) {
  return relax_function("    y = (x" + repeat(", x", n) + ")\n    return y\n");
}
std::string named_arguments(std::size_t n) {
  std::string text = "x = f(a=1";
  for (std::size_t i = 0; i < n; ++i) fmt::format_to(std::back_inserter(text), ", a{}=1", i);
  return text + ")\n";
}
std::string parameters(std::size_t n) {
  std::string params = "x: R.Tensor((2, 3), \"float32\")";
  for (std::size_t i = 0; i < n; ++i)
    fmt::format_to(std::back_inserter(params), ", x{}: R.Tensor((2, 3), \"float32\")", i);
  return relax_function("    return x\n", params);
}
std::string buffers(std::size_t n) {
  std::string params = "A: T.Buffer((4,), \"float32\")";
  for (std::size_t i = 0; i < n; ++i)
    fmt::format_to(std::back_inserter(params), ", A{}: T.Buffer((4,), \"float32\")", i);
  return "@T.prim_func\ndef main(" + params + "):\n    for i in range(4):\n        A[i] = A[i]\n";
}
std::string dimensions(std::size_t n) {
  std::string params = "x: R.Tensor((\"n\",), \"float32\")";
  for (std::size_t i = 0; i < n; ++i)
    fmt::format_to(std::back_inserter(params), ", x{0}: R.Tensor((\"n{0}\",), \"float32\")", i);
  return relax_function("    return x\n", params);
}
std::string functions(std::size_t n) {
  std::string text(module_head);
  for (std::size_t i = 0; i < n; ++i) {
    fmt::format_to(std::back_inserter(text),
                   "    @R.function\n    def f{}(x: R.Tensor((2,), \"float32\")) -> R.Tensor((2,), "
                   "\"float32\"):\n        return x\n",
                   i);
  }
  return text;
}
// Each calls the one before it and none says what it returns.
std::string functions_that_call(std::size_t n) {
  std::string text(module_head);
  for (std::size_t i = n; i > 0; --i) {
    fmt::format_to(std::back_inserter(text),
                   "    @R.function\n    def f{}(x: R.Tensor((2,), \"float32\")):\n        return {}(x)\n", i,
                   i == 1 ? "R.nn.relu" : fmt::format("Module.f{}", i - 1));
  }
  return text;
}
std::string classes(std::size_t n) {
  std::string text;
  for (std::size_t i = 0; i < n; ++i) {
    fmt::format_to(std::back_inserter(text),
                   "@I.ir_module\nclass M{}:\n    @R.function\n    def f(x: R.Tensor((2,), \"float32\")):\n"
                   "        return x\n",
                   i);
  }
  return text;
}
std::string free_functions(std::size_t n) {
  std::string text;
  for (std::size_t i = 0; i < n; ++i) {
    fmt::format_to(std::back_inserter(text),
                   "@R.function\ndef f{}(x: R.Tensor((2,), \"float32\")):\n    return x\n", i);
  }
  return text;
}
std::string dataflow_blocks(std::size_t n) {
  std::string body;
  for (std::size_t i = 0; i < n; ++i) {
    fmt::format_to(std::back_inserter(body),
                   "    # {0}\n    with R.dataflow():\n        y{0} = R.nn.relu(x)\n        R.output(y{0})\n",
                   i);
  }
  return relax_function(body + "    return x\n");
}
std::string function_loops(std::size_t n) {
  std::string body;
  for (std::size_t i = 0; i < n; ++i)
    fmt::format_to(std::back_inserter(body), "    for i{} in range(3):\n        x = x * 2 + x\n", i);
  return relax_function(body + "    return x\n");
}
std::string inner_functions(std::size_t n) {
  std::string body;
  for (std::size_t i = 0; i < n; ++i) {
    fmt::format_to(
        std::back_inserter(body),
        "    @R.function\n    def f{0}(y: R.Tensor((2,), \"float32\")):\n        return y * 2 + 1\n", i);
  }
  return relax_function(body + "    return x\n");
}
std::string outputs(std::size_t n) {
  std::string body = "    with R.dataflow():\n", listed;
  for (std::size_t i = 0; i < n; ++i) {
    fmt::format_to(std::back_inserter(body), "        y{} = R.nn.relu(x)\n", i);
    fmt::format_to(std::back_inserter(listed), "{}y{}", i == 0 ? "" : ", ", i);
  }
  return relax_function(body + "        R.output(" + listed + ")\n    return x\n");
}
std::string match_casts(std::size_t n) {
  std::string body;
  for (std::size_t i = 0; i < n; ++i)
    fmt::format_to(std::back_inserter(body),
                   "    y{0} = R.match_cast(x, R.Tensor((\"m{0}\", \"k{0}\"), \"float32\"))\n", i);
  return relax_function(body + "    return x\n", "x: R.Tensor(\"float32\", ndim=2)");
}
std::string same_name(std::size_t n) {
  return relax_function(repeat("    y = R.nn.relu(x)\n", n) + "    return y\n");
}
std::string loops(std::size_t n) {
  return "@T.prim_func\ndef main(A: T.Buffer((4,), \"float32\")):\n" +
         repeat("    for i in range(4):\n        A[i] = A[i] + T.float32(1)\n", n);
}
std::string sblocks(std::size_t n) {
  std::string text = "@T.prim_func\ndef main(A: T.Buffer((4,), \"float32\")):\n";
  for (std::size_t i = 0; i < n; ++i) {
    fmt::format_to(
        std::back_inserter(text),
        "    for i in range(4):\n        with T.sblock(\"b{}\"):\n            v = T.axis.spatial(4, i)\n"
        "            A[v] = A[v] + T.float32(1)\n",
        i);
  }
  return text;
}
std::string local_buffers(std::size_t n) {
  std::string text = "@T.prim_func\ndef main(A: T.Buffer((4,), \"float32\")):\n";
  for (std::size_t i = 0; i < n; ++i)
    fmt::format_to(std::back_inserter(text), "    B{} = T.sblock_alloc_buffer((4,))\n", i);
  return text + "    for i in range(4):\n        A[i] = A[i]\n";
}
std::string numbers(std::size_t n) {
  return relax_function("    y = R.const([0.5" + repeat(", 0.5", n) + "], \"float32\")\n    return y\n");
}
std::string rows_of_numbers(std::size_t n) {
  return relax_function("    y = R.const([[0.5, 1]" + repeat(", [0.5, 1]", n) +
                        "], \"float32\")\n    return y\n");
}
// Numbers up to the last entry, which is none: looked at as a list of numbers again and again.
std::string almost_number_lists(std::size_t n) {
  return "x = [" + repeat("[1, ", 900) + repeat("1, ", n) + "\n";
}
std::string nested_almost_number_lists(std::size_t n) {
  return "x = " + repeat("(", 900) + repeat("1, ", n) + "a" + repeat(")", 900) + "\n";
}
std::string comments(std::size_t n) { return repeat("# a comment\n", n) + "x = 1\n"; }
std::string comments_in_brackets(std::size_t n) { return "x = [1,\n" + repeat("  # a comment\n", n) + "]\n"; }
std::string continuations(std::size_t n) { return "x = 1" + repeat(" + \\\n 1", n) + "\n"; }
std::string long_comment(std::size_t n) { return "x = 1  # " + repeat("word ", n) + "\n"; }
std::string long_string(std::size_t n) { return "x = \"" + repeat("\\n", n) + "\"\n"; }
std::string format_fields(std::size_t n) { return "x = f\"" + repeat("{1}", n) + "\"\n"; }
std::string semicolons(std::size_t n) { return repeat("x = 1; ", n) + "x = 1\n"; }
std::string suite_on_a_line(std::size_t n) { return "if True: " + repeat("x = 1; ", n) + "x = 1\n"; }
std::string targets(std::size_t n) { return repeat("x = ", n) + "1\n"; }
std::string decorators(std::size_t n) { return repeat("@R.function\n", n) + "def f():\n    return 1\n"; }
std::string attribute_entries(std::size_t n) {
  std::string text = "    R.func_attr({\"a\": 1";
  for (std::size_t i = 0; i < n; ++i) fmt::format_to(std::back_inserter(text), ", \"a{}\": {}", i, i);
  return relax_function(text + "})\n    return x\n");
}
std::string imports(std::size_t n) { return repeat("from tvm.script import relax as R\n", n) + "x = 1\n"; }

// --- Many faults.

std::string unknown_names(std::size_t n) {
  std::string body;
  for (std::size_t i = 0; i < n; ++i)
    fmt::format_to(std::back_inserter(body), "    y{0} = R.nn.relu(x)\n    z{0} = R.nn.relu(w{0})\n", i);
  return relax_function(body + "    return x\n");
}
std::string unknown_functions(std::size_t n) {
  std::string text(module_head);
  for (std::size_t i = 0; i < n; ++i) {
    fmt::format_to(std::back_inserter(text),
                   "    @R.function\n    def f{0}(x: R.Tensor((2,), \"float32\")):\n        return g{0}(x)\n",
                   i);
  }
  return text;
}
std::string unknown_operators(std::size_t n) {
  return relax_function(repeat("    y = R.rleu(x)\n", n) + "    return x\n");
}
std::string unknown_scalars(std::size_t n) {
  std::string text = "@T.prim_func\ndef main(A: T.Buffer((4,), \"float32\")):\n";
  for (std::size_t i = 0; i < n; ++i)
    fmt::format_to(std::back_inserter(text), "    B{0} = T.sblock_alloc_buffer((4,))\n    A[0] = q{0}\n", i);
  return text;
}
std::string wrong_shapes(std::size_t n) {
  return relax_function(repeat("    y = R.matmul(x, x)\n", n) + "    return x\n");
}
std::string broken_lines(std::size_t n) { return repeat("x = = 1\n", n); }
std::string broken_long_line(std::size_t n) { return "x = [" + repeat("a, ", n) + "a b]\n"; }
std::string unclosed_strings(std::size_t n) { return repeat("x = \"abc\n", n); }
std::string unclosed_brackets(std::size_t n) { return repeat("x = (1\n", n); }
std::string unclosed_brackets_of_calls(std::size_t n) { return repeat("f(a,\n", n); }
std::string surplus_brackets(std::size_t n) { return "x = 1" + repeat(")", n) + "\n"; }
std::string crossed_brackets(std::size_t n) { return "x = " + repeat("(]", n) + "\n"; }
std::string bad_bytes(std::size_t n) { return "x = " + repeat("\xFF", n) + "\n"; }
std::string bad_bytes_in_a_string(std::size_t n) { return "x = \"" + repeat("\xFF", n) + "\"\n"; }
std::string bad_bytes_in_comments(std::size_t n) { return repeat("#\xFF\n", n); }
std::string nuls(std::size_t n) { return std::string(n, '\0'); }
std::string unindents(std::size_t n) { return repeat("if True:\n    x = 1\n  x = 1\n", n); }
std::string indents(std::size_t n) { return repeat("x = 1\n    x = 1\n", n); }
std::string bodies_missing(std::size_t n) { return repeat("if True:\n", n); }
std::string same_function(std::size_t n) {
  return repeat("@R.function\ndef f(x: R.Tensor((2,), \"float32\")):\n    return x\n", n);
}
std::string same_parameter(std::size_t n) {
  return relax_function("    return x\n",
                        "x: R.Tensor((2,), \"float32\")" + repeat(", x: R.Tensor((2,), \"float32\")", n));
}
std::string python_file(std::size_t n) {
  return "# Python\n" + repeat("@foo(1)\ndef f(a, b=2):\n    return [q for q in a]\n", n);
}

constexpr TextKind module_kinds[] = {
    {"bindings", "Relax functions of 200 annotated bindings", many_bindings, Outcome::Good},
    {"one_function", "one Relax function of annotated bindings", one_function, Outcome::Good},
    {"prim_funcs", "prim_funcs as legalization makes them, and their calls", prim_funcs, Outcome::Good},
    {"script", "statements of a script", script, Outcome::Good},
};

constexpr TextKind growth_kinds[] = {
    {"round_brackets", "((((1))))", round_brackets, Outcome::Limit},
    {"tuples", "((((x,),),),)", tuples, Outcome::Limit},
    {"lists", "[[[[]]]]", lists, Outcome::Limit},
    {"dictionaries", "{\"a\": {\"a\": 1}}", dictionaries, Outcome::Limit},
    {"open_brackets", "(((( and the end", open_brackets, Outcome::Limit},
    {"calls", "relu(relu(relu(x)))", calls, Outcome::Limit},
    {"types", "R.Tuple(R.Tuple(...))", types, Outcome::Limit},
    {"minuses", "----1 in a script", minuses, Outcome::Limit},
    {"minuses_of_a_tensor", "----x", minuses_of_a_tensor, Outcome::Limit},
    {"minuses_of_a_scalar", "----A[i]", minuses_of_a_scalar, Outcome::Limit},
    {"nots", "not not not True", nots, Outcome::Limit},
    {"powers", "1 ** 1 ** 1", powers, Outcome::Limit},
    {"conditionals", "1 if True else 1 if True else 1", conditionals, Outcome::Limit},
    {"conditionals_inside", "(1 if True else (1 if True else 1))", conditionals_inside, Outcome::Limit},
    {"brackets_of_minuses", "---(---(---(1)))", brackets_of_minuses, Outcome::Good},
    {"lambdas", "lambda: lambda: 1", lambdas, Outcome::Refused},
    {"fields_in_fields", "f\"{f'{f''}'}\"", fields_in_fields, Outcome::Refused},
    {"ifs", "if in if", ifs, Outcome::Limit},
    {"fors", "for in for", fors, Outcome::Limit},
    {"defs", "def in def", defs, Outcome::Refused},
    {"withs_in_a_function", "with in with", withs_in_a_function, Outcome::Refused},
    {"functions_in_functions", "R.function in R.function", functions_in_functions, Outcome::Limit},
    {"fors_in_a_prim_func", "loop in loop", fors_in_a_prim_func, Outcome::Limit},
    {"else_ifs", "if and many elif", else_ifs, Outcome::Good},

    {"sum", "x + x + x", sum, Outcome::Good},
    {"sum_in_dataflow", "x * x * x in a dataflow block", sum_in_dataflow, Outcome::Good},
    {"mixed_chain", "x + x * 2.0 - x / 3.0", mixed_chain, Outcome::Good},
    {"sum_of_a_script", "1 + 1 + 1 in a script", sum_of_a_script, Outcome::Good},
    {"ands", "True and True and True", ands, Outcome::Good},
    {"ands_and_ors", "True and True or False and True", ands_and_ors, Outcome::Good},
    {"comparisons", "1 <= 1 <= 1", comparisons, Outcome::Good},
    {"casts", "x.astype(\"float16\").astype(\"float32\")", casts, Outcome::Good},
    {"subscripts", "x[0][0][0]", subscripts, Outcome::Refused},
    {"calls_of_calls", "f()()()", calls_of_calls, Outcome::Limit},
    {"attributes", "a.b.b.b", attributes, Outcome::Limit},
    {"sum_of_scalars", "A[i] + A[i] + A[i]", sum_of_scalars, Outcome::Limit},
    {"strings", "\"a\" \"a\" \"a\"", strings, Outcome::Good},

    {"arguments", "a tuple of many", arguments, Outcome::Good},
    {"named_arguments", "f(a=1, a0=1, a1=1)", named_arguments, Outcome::Good},
    {"parameters", "many parameters", parameters, Outcome::Good},
    {"buffers", "many buffers", buffers, Outcome::Good},
    {"dimensions", "many symbolic dimensions", dimensions, Outcome::Good},
    {"functions", "many functions of a module", functions, Outcome::Good},
    {"functions_that_call", "functions whose result types depend on the next", functions_that_call,
     Outcome::Limit},
    {"classes", "many modules", classes, Outcome::Good},
    {"free_functions", "many free functions", free_functions, Outcome::Good},
    {"dataflow_blocks", "many dataflow blocks", dataflow_blocks, Outcome::Good},
    {"function_loops", "many loops of a function", function_loops, Outcome::Good},
    {"inner_functions", "many functions in a function", inner_functions, Outcome::Good},
    {"outputs", "many outputs of a dataflow block", outputs, Outcome::Good},
    {"match_casts", "many dimensions of match_cast", match_casts, Outcome::Good},
    {"same_name", "one name bound many times", same_name, Outcome::Good},
    {"loops", "many loops of a prim_func", loops, Outcome::Good},
    {"sblocks", "many blocks of a prim_func", sblocks, Outcome::Good},
    {"local_buffers", "many allocations of a prim_func", local_buffers, Outcome::Good},
    {"numbers", "a long list of numbers", numbers, Outcome::Good},
    {"rows_of_numbers", "many short lists of numbers", rows_of_numbers, Outcome::Good},
    {"almost_number_lists", "[1, [1, [1, and never closed", almost_number_lists, Outcome::Refused},
    {"nested_almost_number_lists", "((((1, 1, 1, a", nested_almost_number_lists, Outcome::Good},
    {"comments", "many comments", comments, Outcome::Good},
    {"comments_in_brackets", "many comments inside brackets", comments_in_brackets, Outcome::Good},
    {"continuations", "many continuations", continuations, Outcome::Good},
    {"long_comment", "a long comment", long_comment, Outcome::Good},
    {"long_string", "a long string of escapes", long_string, Outcome::Good},
    {"format_fields", "an f-string of many fields", format_fields, Outcome::Good},
    {"semicolons", "x = 1; x = 1", semicolons, Outcome::Good},
    {"suite_on_a_line", "if True: x = 1; x = 1", suite_on_a_line, Outcome::Good},
    {"targets", "x = x = x = 1", targets, Outcome::Good},
    {"decorators", "many decorators", decorators, Outcome::Good},
    {"attribute_entries", "many attributes of a function", attribute_entries, Outcome::Limit},
    {"imports", "many imports", imports, Outcome::Good},

    {"unknown_names", "many unknown names beside many names", unknown_names, Outcome::Refused},
    {"unknown_functions", "many unknown functions beside many functions", unknown_functions,
     Outcome::Refused},
    {"unknown_operators", "many unknown operators", unknown_operators, Outcome::Refused},
    {"unknown_scalars", "many unknown scalars", unknown_scalars, Outcome::Refused},
    {"wrong_shapes", "many wrong shapes", wrong_shapes, Outcome::Refused},
    {"broken_lines", "many lines that do not parse", broken_lines, Outcome::Refused},
    {"broken_long_line", "a long line that does not parse", broken_long_line, Outcome::Refused},
    {"unclosed_strings", "many strings never closed", unclosed_strings, Outcome::Refused},
    {"unclosed_brackets", "many brackets never closed", unclosed_brackets, Outcome::Refused},
    {"unclosed_brackets_of_calls", "f(a, f(a, f(a,", unclosed_brackets_of_calls, Outcome::Limit},
    {"surplus_brackets", "many brackets never opened", surplus_brackets, Outcome::Refused},
    {"crossed_brackets", "(](](]", crossed_brackets, Outcome::Refused},
    {"bad_bytes", "many bytes that are no text", bad_bytes, Outcome::Refused},
    {"bad_bytes_in_a_string", "the same in a string", bad_bytes_in_a_string, Outcome::Refused},
    {"bad_bytes_in_comments", "the same in comments", bad_bytes_in_comments, Outcome::Refused},
    {"nuls", "zeros", nuls, Outcome::Refused},
    {"unindents", "many unindents that match nothing", unindents, Outcome::Refused},
    {"indents", "many indents", indents, Outcome::Refused},
    {"bodies_missing", "many headers without a body", bodies_missing, Outcome::Refused},
    {"same_function", "one function many times", same_function, Outcome::Refused},
    {"same_parameter", "one parameter many times", same_parameter, Outcome::Refused},
    {"python_file", "definitions that are not decorated", python_file, Outcome::Refused},
};

}  // namespace

std::span<const TextKind> modules() { return module_kinds; }

std::span<const TextKind> growths() { return growth_kinds; }

const TextKind* find_kind(std::string_view name) {
  for (std::span<const TextKind> kinds : {modules(), growths()}) {
    for (const TextKind& kind : kinds) {
      if (kind.name == name) return &kind;
    }
  }
  return nullptr;
}

}  // namespace relish::scale
