// The laws that generated programs are held to. Each check gives what it found wrong, one text a finding;
// none when the program keeps the law.
#pragma once

#include <string>
#include <vector>

#include "tests/generate/program.h"

namespace relish::generate {

// Counted over all programs of a run, under names.
using Tally = std::map<std::string, std::int64_t>;

// roundtrip.cpp: in each dialect, the printed text reads back as an equal module, prints anew as the same
// text and has kept its comments; another spelling of it (variants.h) reads as the same module.
std::vector<std::string> round_trip_findings(const Program& program, Tally& tally);
// run.cpp: the interpreter gives the same bits, or the same fault, for the module and for what each dialect's
// text reads as.
std::vector<std::string> run_findings(const Program& program, Tally& tally);
// tiers.cpp: the compiled tier agrees with the interpreter, and its bits do not depend on the thread count,
// on who owns the arguments, nor on where its code comes from (tier_variants.cpp).
std::vector<std::string> tier_findings(const Program& program, Tally& tally);
// passes.cpp: each transform leaves a module that verifies, round-trips and computes what it should.
std::vector<std::string> pass_findings(const Program& program, Tally& tally);
// gradient.cpp: gradients against differences along random directions; a gradient that is zero where
// differences are not is told as such. The compiled adjoint gives what the interpreted one does.
std::vector<std::string> gradient_findings(const Program& program, Tally& tally);
// The same for a given `main_adjoint` of the program's `main`, with the gradients of all its float64 inputs.
std::vector<std::string> adjoint_findings(const Program& program, const ModulePtr& adjoint, Tally& tally);

// forward.cpp: tangents against gradients, the compiled tangent against the interpreted one.
std::vector<std::string> forward_findings(const Program& program, Tally& tally);

// open_values.cpp: a text in which a value goes into a parameter of an open type and on; its module is null
// when it is refused as it stands. The tiers give the same value, or the same fault at the same place.
Program open_program(std::uint64_t seed);
std::vector<std::string> open_findings(const Program& program, Tally& tally);
// mutated_texts.cpp: a text in which tokens were left out, doubled or exchanged. What the reader still
// accepts ends alike in both tiers.
Program mutated_program(std::uint64_t seed);
std::vector<std::string> text_findings(const Program& program, Tally& tally);

// --- Shared by the checks.

// What became of a call: a value, or the fault as its class and message.
struct Outcome {
  std::optional<Value> value;
  std::string fault;
};
Outcome outcome_of(Evaluator& engine, const ModulePtr& module, const std::string& function,
                   std::vector<Value> args);
// The two tiers on the program's inputs: equal faults, results within what the program's agreement class
// allows. Results of inputs that the generator has not judged are compared where they are steady.
enum class Draw { Judged, Unjudged };
std::vector<std::string> agreement_findings(const Program& program, Tally& tally, Draw draw);
// tier_variants.cpp, of the program on inputs of sizes 0, 1 and such as leave a tail behind vectors; with its
// symbolic sizes bound to those of its inputs; and with code kept in and taken from a store of objects, whose
// outcome must be `wanted`.
std::vector<std::string> other_sizes_findings(const Program& program, Tally& tally);
std::vector<std::string> bound_sizes_findings(const Program& program, Tally& tally);
std::vector<std::string> stored_code_findings(const Program& program, const Outcome& wanted, Tally& tally);
// The compiled tier.
Evaluator& compiled(int threads);
// Whether the compiled tier refused what needs to know a dimension: a lowering says so by its name.
bool is_not_lowered(const Outcome& outcome);
// Reads a text that must hold one module; null after adding a finding.
ModulePtr read_back(const std::string& text, const std::string& what, std::vector<std::string>& findings);
// The first line of what a Failure says.
std::string text_of(const Failure& failure);

}  // namespace relish::generate
