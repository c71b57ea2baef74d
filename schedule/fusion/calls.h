// One prim_func for several calls: what of their arguments and results it takes and gives, and its body.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/nodes/expr.h"
#include "ir/nodes/module.h"
#include "schedule/fusion/fuse_stages.h"

namespace relish {

// What is known of a prim_func whose calls may be fused.
struct FusibleCallee {
  PrimFuncPtr function;
  std::vector<Stage> stages;
  std::size_t loops = 0;  // nests that remain of it alone
  bool checks = false;    // it may fail by a check; else never
};

struct FusibleCall {
  Var result;
  Expr value;  // a call_tir of one result
  const FusibleCallee* callee;
  bool lent = false;  // it stands elsewhere, too, and is a copy that this group does for itself

  const CallTir& call() const { return *value.as<CallTir>(); }
};

// The calls as one. Calls with the same key share the function.
struct FusedCalls {
  PrimFuncPtr function;   // null while nobody asks for it. Its name is not yet one of the module's
  std::size_t loops = 0;  // nests that remain
};

class CallFuser {
 public:
  // `contractions`: what is known of them, and what is found out; it must outlive this.
  explicit CallFuser(ReadyContractions& contractions) : contractions_(contractions) {}

  // The calls in order; `kept`: those whose results are used by others, at least one. Null when the calls do
  // not fit together, or something that one hands to another would be stored after all.
  std::shared_ptr<FusedCalls> fused(const std::vector<const FusibleCall*>& calls,
                                    const std::vector<bool>& kept);

  // What `fused` gave for the same calls, with the function.
  std::shared_ptr<FusedCalls> with_function(const std::vector<const FusibleCall*>& calls,
                                            const std::vector<bool>& kept);

  // The arguments of a call of what `fused` gave for the same calls.
  static std::vector<Expr> arguments(const std::vector<const FusibleCall*>& calls,
                                     const std::vector<bool>& kept);

 private:
  ReadyContractions& contractions_;
  std::map<std::string, std::shared_ptr<FusedCalls>> known_;
};

}  // namespace relish
