// The text of every sample behind each pass of the table: it reads back, verifies, and the interpreter
// computes by it what the operator itself gives, by the class of the operator.
#include <catch2/catch.hpp>

#include "frontend/reader.h"
#include "ir/printer/printer.h"
#include "ir/verify/verify.h"
#include "jit/jit.h"
#include "schedule/fusion/fuse.h"
#include "schedule/schedule.h"
#include "tests/ops/agreement.h"
#include "tests/small_tiles.h"
#include "transform/legalize.h"

namespace relish::testing {
namespace {

// What is wrong with the module's text; empty when nothing is.
std::string fault_of(const Module& module, const OperatorCase& sample, const BuiltCall& call,
                     const Value& wanted) {
  const std::string text = print(module);
  const ModulePtr again = read_module("again.relish", text);
  if (print(*again) != text) return "reads back as another text:\n" + text;
  Diagnostics diagnostics;
  verify(*again, diagnostics);
  if (diagnostics.has_errors()) return diagnostics.all().front().message + "\n" + text;
  const Value found = interpreter().call(again, "main", call.values);
  const std::string apart = disagreement_by_class(sample, found, wanted);
  return apart.empty() ? apart : apart + "\n" + text;
}

void check_texts_of(const OperatorCase& sample) {
  const BuiltCall call = build_call(sample);
  const Value wanted = interpreter().call(call.module, "main", call.values);
  const auto holds = [&](std::string_view pass, const Module& module) {
    const std::string fault = fault_of(module, sample, call, wanted);
    if (!fault.empty()) FAIL_CHECK(sample.label << ", behind " << pass << ": " << fault);
  };
  const Module legal = legalize(*call.module);
  holds("legalize", legal);
  const Module fused = fuse(legal);
  holds("fuse", fused);
  holds("schedule", schedule(fused));
  holds("schedule for this machine", schedule(fused, this_machine()));
  holds("schedule in small tiles", schedule(fused, test::small_tiles));
  holds("plan", planned(call.module, this_machine()));
}

}  // namespace

TEST_CASE("the text of every sample behind each pass reads back and computes the same", "[ops]") {
  int checked = 0;
  for (const Op* op : operators_under_test()) {
    int number = 0;
    for (const Sample& sample : op->samples) {
      const OperatorCase written =
          case_of_sample(*op, sample.args, std::string(op->name) + " #" + std::to_string(++number));
      INFO(written.label);
      try {
        check_texts_of(written);
      } catch (const Failure& failure) {
        FAIL_CHECK(written.label << ": " << text_of(failure));
      }
      ++checked;
    }
  }
  CHECK(checked > 0);
}

}  // namespace relish::testing
