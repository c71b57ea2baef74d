// The input that failed last, with what its diagnostics propose put into its place.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "support/diagnostic.h"

namespace relish {

// The input with what its diagnostics propose: their fixes ("insert ')' here"), and words for which one knows
// a nearer one ("did you mean 'x'?"); nothing when none does.
std::optional<std::string> corrected_input(std::string_view input, std::span<const Diagnostic> diagnostics);

// Inputs that commands make, for who reads inputs to take.
struct Proposal {
  std::optional<std::string> corrected;  // the last input that failed, as its messages would have it,
  bool corrected_wanted = false;         // by `:fix`
  std::optional<std::string> to_run;     // by `:edit`
  std::optional<std::string> to_mend;    // what an editor gave back, and then failed
};

}  // namespace relish
