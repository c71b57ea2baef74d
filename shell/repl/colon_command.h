// `:NAME subject --option value` as the script statement that it stands for.
#pragma once

#include <string>
#include <string_view>

namespace relish {

class Script;

// The statement: `M = gradient(M.main, wrt=["w0"])` for `:gradient M.main --wrt w0`. UsageError for an
// unknown command or option, with the nearest name.
std::string statement_of(const Script& script, std::string_view line);

}  // namespace relish
