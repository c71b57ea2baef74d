// Files that hold a user's work beside modules: pieces that Relish does not read stand between declarations.
#pragma once

#include <string>
#include <vector>

#include "tests/generate/random.h"

namespace relish::testing {

struct Notebook {
  std::string text;
  std::vector<std::string> kept;  // what must still be there, in this order, byte for byte
};

// A Python file of random pieces: line ends, byte order mark, indentation, missing last line end.
Notebook random_notebook(generate::Random& random);
// A script of statements and declarations.
Notebook random_script(generate::Random& random);

}  // namespace relish::testing
