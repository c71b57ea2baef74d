// Functions that call those of a module which a statement makes: `G = gradient(M.main)` and below it
// `G.main_adjoint(x)`. Their types are known when that statement has run, so they are read at their line;
// what calls them is read with them.
#pragma once

#include <unordered_map>

#include "frontend/context.h"
#include "frontend/reader.h"

namespace relish {

// What the reading of a text found out that its deferred declarations need.
struct DeferredFacts {
  std::set<std::string> type_variables;
  std::vector<Tensor> metadata_constants;
  bool has_metadata = false;
  std::unordered_map<std::string, Tensor> constants;
};

// Puts Deferred statements in the place of such declarations: a group stands where its last function does.
// The names that no statement of the text binds are left to whoever reads them.
void defer_declarations(const ReadOptions& options, ast::Block& statements,
                        std::shared_ptr<const DeferredFacts> facts);

}  // namespace relish
