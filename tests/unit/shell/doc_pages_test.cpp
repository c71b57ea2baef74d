// Every name that the program has, has a page: operators, commands, built-ins, entries of the catalog,
// constructs, metrics, formats, options, methods and dtypes; and the names of other libraries are answered.
#include <catch2/catch.hpp>

#include <set>

#include "ir/nodes/intrinsic.h"
#include "ir/operators/op.h"
#include "runtime/dtype.h"
#include "shell/commands/help/small_pages.h"
#include "shell/commands/subject.h"
#include "shell/commands/word_pages.h"
#include "shell/script/builtins.h"
#include "stdlib/catalog_doc.h"
#include "stdlib/foreign_names.h"
#include "stdlib/places_of_names.h"
#include "tests/unit/shell/script_harness.h"

namespace relish::testing {
namespace {

std::set<std::string> all_names() {
  std::set<std::string> names;
  for (const Command* command : all_commands()) {
    names.emplace(command->name);
    names.insert(shell_name(command->name));
    for (const std::string_view alias : command->aliases) names.emplace(alias);
    for (const Option& option : command->options) names.insert("--" + shell_name(option.name));
  }
  for (const Builtin& builtin : all_builtins()) names.emplace(builtin.name);
  for (const std::string& name : catalog_names()) names.insert(name);
  for (const std::string& name : option_and_method_names()) names.insert(name);
  for (int i = 0; i < dtype_count; ++i) names.emplace(name_of(static_cast<DType>(i)));
  for (const WordPage& page : word_pages()) {
    std::string_view words = page.words;
    while (!words.empty()) {
      const std::size_t end = std::min(words.find(' '), words.size());
      names.emplace(words.substr(0, end));
      words.remove_prefix(std::min(end + 1, words.size()));
    }
  }
  for (const ForeignRow& row : foreign_rows()) names.emplace(row.word);
  for (const ForeignCallRow& row : foreign_call_rows())
    if (!row.write.empty()) names.emplace(row.word);
  return names;
}

}  // namespace

TEST_CASE("dtypes in functions have pages of what they make there", "[shell]") {
  Harness harness;
  const auto page = [&](const std::string& name) {
    return harness.run("print(doc(\"" + name + "\"))").output;
  };
  CHECK(page("T.float32").find("T.float32(x)\n  In a function: x as a number of float32") !=
        std::string::npos);
  CHECK(page("T.int64").find("n = T.int64(), a statement: a size") != std::string::npos);
  CHECK(page("T.float32").find("a statement: a size") == std::string::npos);
  CHECK(page("T.float32x4").find("a vector of 4 lanes, each x as a number of float32") != std::string::npos);
  for (const char* none : {"T.float32x", "T.float32x0", "T.floatx4", "float32x4"})
    CHECK(harness.run(std::string("doc(\"") + none + "\")").error.find("nothing is known of") !=
          std::string::npos);
}

TEST_CASE("every name of the program has a page", "[shell]") {
  Harness harness;
  const std::set<std::string> names = all_names();
  CHECK(names.size() > 500);
  for (const std::string& name : names) {
    INFO(name);
    const Ran ran = harness.run("page = doc(\"" + name + "\")\nprint(len(page) > 4)");
    CHECK(ran.error == "");
    CHECK(ran.output == "True\n");
  }
}

TEST_CASE("what stands in statements only or in functions only says what the other place has", "[shell]") {
  Harness harness;
  for (const Builtin& builtin : all_builtins()) {
    INFO(builtin.name);
    const std::string_view written = written_in_functions(builtin.name);
    CHECK(!written.empty());
    // What it names there is.
    for (std::size_t at = written.find("R."); at != written.npos; at = written.find("R.", at + 1)) {
      const std::size_t end = written.find('(', at);
      const std::string_view name = written.substr(at + 2, end - at - 2);
      if (end == written.npos || name == "Tensor" || name == "const") continue;
      INFO(name);
      CHECK(find_op(name));
    }
  }
  CHECK(
      harness.run("print(doc(\"key\"))").output ==
      "key(seed)\n  A built-in of statements. In an R.function: make it a parameter, key: R.Tensor((2,), \"uint32\"), "
      "and give it key(0).\n  manual: docs/language.md, Built-ins\n");
  CHECK(harness.run("print(doc(\"match_cast\"))").output.find("In a statement: it stands in functions; ") !=
        std::string::npos);
  CHECK(harness.run("print(doc(\"T.float32\"))")
            .output.starts_with(
                "T.float32\n  A name of functions. In a statement: it stands in functions; write "
                "tensor(x, \"float32\")"));
  CHECK(
      harness.run("R.match_cast(ones(2), 1)").error ==
      "'R.match_cast' is not for statements; it stands in functions; a statement reads x.shape and x.dtype: assert "
      "x.shape == (2, 3)");
  CHECK(
      harness.run("T.float32(3)").error ==
      "'T.float32' is not for statements; it stands in functions; write tensor(x, \"float32\"), or float(x)");
  CHECK(harness.run("T.other(3)").error ==
        "'T.other' is not for statements; it stands in functions; expected an operator of R");
  const auto in_function = [&](const std::string& call) {
    return harness
        .run("@R.function\ndef f(x: R.Tensor((2,), \"float32\")):\n    y = " + call + "\n    return x\n")
        .error;
  };
  CHECK(in_function("sorted(x)") == "found the name 'sorted', which is not defined here; write R.sort(x)");
  CHECK(in_function("key(0)").ends_with(
      "; make it a parameter, key: R.Tensor((2,), \"uint32\"), and give it key(0)"));
}

TEST_CASE("pages are found by what is typed", "[shell]") {
  Harness harness;
  const auto page = [&](const std::string& name) {
    return harness.run("print(doc(\"" + name + "\"))").output;
  };
  CHECK(page("early_stopping").find("of train") != std::string::npos);
  CHECK(page(":save").find("save") != std::string::npos);
  CHECK(page("np.pi") == "np.pi is here 3.141592653589793\n");
  CHECK(page("torch.float32").find("\"float32\"") != std::string::npos);
  CHECK(page("append").find("xs.append") != std::string::npos);
  CHECK(page("F.max_pool2d").find("max_pool2d") != std::string::npos);
  CHECK(page("clamp").find("R.maximum(x, min)") != std::string::npos);
  CHECK(page("svd") == "svd: nothing here does what it does\n");
  CHECK(
      page("T.if_then_else").starts_with("T.if_then_else(condition, a, b)\n  a where the condition is true"));
  CHECK(page("T.max").find("T.Max") != std::string::npos);
  CHECK(page("T.axis.remap").find("T.axis.reduce") != std::string::npos);
  CHECK(harness.run("doc(\"T.axis.foo\")").error.starts_with("nothing is known of 'T.axis.foo'"));
  for (const std::string_view name :
       {"Buffer", "handle", "thread_binding", "init", "LetStmt", "let", "allocate", "allocate_const",
        "alloc_local", "buffer_load", "buffer_store", "Assert", "ret", "break_loop", "continue_loop"}) {
    INFO(name);
    CHECK(page(fmt::format("T.{}", name)).starts_with(fmt::format("T.{}", name)));
  }
  for (const IntrinsicInfo& info : intrinsics()) {
    INFO(info.name);
    // With what it does, not with its operands alone.
    CHECK(page("T." + std::string(info.name)).find("\n  It takes") == std::string::npos);
  }
  CHECK(harness.run("doc(\"T.if_then_els\")").error ==
        "nothing is known of 'T.if_then_els'; did you mean 'T.if_then_else'?");
  CHECK(harness.run("doc(\"T.ptx_wgmma\")").error ==
        "nothing is known of 'T.ptx_wgmma'; of prim_funcs speaks the manual in docs/language.md, Loop nests");
  CHECK(harness.run("print(ops(\"clamp\"))").output.find("maximum") != std::string::npos);
  CHECK(harness.run("doc(\"entirely_different\")").error.starts_with("nothing is known of"));
}

}  // namespace relish::testing
