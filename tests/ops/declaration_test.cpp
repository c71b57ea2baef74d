// What every declaration of an operator must hold: documentation, samples, refusals with the right rule, a
// gradient or a reason, a way to run in both tiers, numbers from outside.
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include "ir/printer/printer.h"
#include "tests/ops/operator_case.h"

namespace relish::testing {
namespace {

bool has_tensor_parameter(const Op& op) {
  for (const Param& param : op.params) {
    if (param.kind == ParamKind::Tensor || param.kind == ParamKind::TensorTuple) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("every operator is declared in full", "[ops]") {
  for (const Op* op : operators_under_test()) {
    INFO(op->name);
    CHECK(!op->summary.empty());
    CHECK(op->summary.ends_with("."));
    CHECK(op->infer != nullptr);
    CHECK(!op->samples.empty());
    CHECK(op->eval != nullptr);
    CHECK((op->vjp != nullptr || !op->no_gradient.empty()));
    CHECK((op->vjp == nullptr || !op->gradient_doc.empty()));
    CHECK((op->vjp == nullptr || op->no_gradient.empty() == op->fixed_params.empty()));
    for (const Param& param : op->params) {
      INFO(param.name);
      CHECK(!param.name.empty());
      CHECK(!param.type.empty());
      CHECK(!param.doc.empty());
    }
    if (has_tensor_parameter(*op)) CHECK(!op->rejects.empty());
    for (const std::string_view alias : op->aliases) CHECK(find_op(alias) == op);
    CHECK(find_op(op->name) == op);
  }
}

TEST_CASE("every operator has numbers from outside", "[ops]") {
  for (const Op* op : operators_under_test()) {
    if (!computes_numbers(*op)) continue;
    bool inline_numbers = false;
    for (const Sample& sample : op->samples) inline_numbers = inline_numbers || !sample.expect.empty();
    const std::string file = fmt::format("{}/tests/numbers/operators/{}.json", RELISH_SOURCE_DIR, op->name);
    INFO(op->name);
    CHECK((inline_numbers || std::filesystem::exists(file)));
  }
}

TEST_CASE("refusals name their rule", "[ops]") {
  for (const Op* op : operators_under_test()) {
    for (const Reject& reject : op->rejects) {
      INFO(op->name << "(" << reject.args << ")");
      try {
        const BuiltCall call = build_call(case_of_sample(*op, reject.args, std::string(op->name)));
        FAIL_CHECK("accepted, as " << print(call.type));
      } catch (const Failure& failure) {
        const Diagnostic& first = failure.diagnostics().front();
        INFO(first.message);
        CHECK(first.error_class == ErrorClass::Type);
        CHECK(first.id == reject.constraint);
        CHECK(first.message.find(reject.message) != std::string::npos);
        CHECK(reject.constraint.starts_with(std::string(short_name_of(*op)) + "."));
      }
    }
  }
}

// The rules that an operator's own file enforces each have a call that breaks them. Two are no matter of one
// call: "lowering" depends on what is known of dimensions, "gradient" belongs to the transform.
TEST_CASE("every rule of an operator's file is broken by a declared call", "[ops]") {
  const std::filesystem::path folder = std::filesystem::path(RELISH_SOURCE_DIR) / "stdlib/ops";
  const std::regex enforced("reject\\(\"([a-z_]+)\""), declared("\\{\"[a-z_0-9]+\\.([a-z_]+)\"");
  const auto names = [](const std::string& text, const std::regex& form) {
    std::set<std::string> found;
    for (std::sregex_iterator i(text.begin(), text.end(), form), end; i != end; ++i) found.insert((*i)[1]);
    return found;
  };
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".cpp") continue;
    std::ifstream stream(entry.path());
    const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    const std::set<std::string> broken = names(text, declared);
    for (const std::string& rule : names(text, enforced)) {
      INFO(entry.path().filename().string() << ": " << rule);
      CHECK((rule == "lowering" || rule == "gradient" || broken.contains(rule)));
    }
    ++files;
  }
  CHECK(files > 10);
}

}  // namespace relish::testing
