// The option memory_budget: what compiled code may hold, for which sizes, and the note about what came of it.
#pragma once

#include <map>
#include <optional>

#include "shell/command.h"
#include "transform/gradient.h"

namespace relish {

inline constexpr std::string_view memory_budget_doc =
    "bytes that a call may hold in compiled code, as 64MB or 64000000: what does not fit is computed again";
inline constexpr std::string_view step_budget_doc =
    "bytes that a training step may hold in compiled code, as 64MB, the batch and the weights with it: what "
    "does not fit is computed again";
inline constexpr std::string_view budget_dims_doc = "sizes for which memory_budget holds: n=8,m=4";

// Nothing when it is not given. `sizes`: of symbols, by their names.
std::optional<MemoryBudget> memory_budget_option(const Invocation& invocation,
                                                 const std::map<std::string, std::int64_t>& sizes);
// The same for the sizes of the option dim.
std::optional<MemoryBudget> memory_budget_option(const Invocation& invocation);
// A note of what is held now, and for how much more work.
void tell_budget(const Invocation& invocation, const BudgetReport& report);

}  // namespace relish
