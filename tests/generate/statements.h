// Random statements of scripts: values of every kind, containers, built-ins, f-strings, loops, numbers of
// every size, and texts that are nearly such. Most fail; none may do more than that.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/generate/checks.h"

namespace relish::generate {

// The inputs of one session.
std::vector<std::string> statement_inputs(std::uint64_t seed);
// Runs them one after the other. A finding: an error that is ours or tells no place, an input of one
// statement that failed and changed a name, a value whose text or comparison with itself fails in another way
// than it should.
std::vector<std::string> statement_findings(std::uint64_t seed, Tally& tally);

}  // namespace relish::generate
