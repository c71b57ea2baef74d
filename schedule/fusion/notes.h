// Why kernels are not more of one: what is told of each call that was not joined with one that reads what it
// gives. For people who look at a profile; nothing depends on it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ir/nodes/expr.h"

namespace relish {

struct FusionNote {
  Span reader;  // of what reads the result; none where nothing of the function does
  std::string why;
};

// By the name of the prim_func, in the order of the readers.
using FusionNotes = std::map<std::string, std::vector<FusionNote>>;

// What keeps every call like this one by itself, whoever reads it.
std::string why_alone(const CallTir& call);
// What keeps a call apart from a reader that is none whose loops are known.
std::string why_not_into(const Expr& reader);

}  // namespace relish
