// What may stand at the cursor: names of the session and of the open text, members, operators, arguments,
// commands with their options and values, files, states.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace relish {

class Workspace;

struct Candidate {
  std::string text;  // in the place of the word
  std::string kind;  // "tensor float32 (2, 3)", "operator", "parameter"
  std::string doc;   // a line; may be empty
};

struct Completions {
  std::string_view word;              // what the candidates begin with
  std::vector<Candidate> candidates;  // the likeliest first
};

// For the end of `text`, the input up to the cursor.
Completions complete(const Workspace& workspace, std::string_view text);

}  // namespace relish
