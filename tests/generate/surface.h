// Programs generated as text: what of the language is rather a way to write than a kind of node, such as ifs,
// loops, nested functions, calls by every name, scalars and views of loop functions. A text comes from two
// seeds: the options' seed says what the program is, `spelling` which of the equal spellings stands there.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "tests/generate/program.h"

namespace relish::generate {

struct SurfaceText {
  std::string text;
  std::vector<std::string> comments;  // each stands once in the text
  std::set<std::string> constructs;
  std::vector<std::pair<std::string, std::int64_t>> dims;  // of main: its symbolic dims with their values
  int agreement = 2;
};
SurfaceText surface_text(const Options& options, std::uint64_t spelling);

// The program of the text, read and with values for main; Failure when the text does not read.
Program surface_program(const Options& options);

}  // namespace relish::generate
