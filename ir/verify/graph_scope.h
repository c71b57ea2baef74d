// What has a value at a place of a graph function: the variables that are bound before it and can be seen
// there, and the dimension variables that something before it determines. Internal to ir/.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "ir/nodes/module.h"
#include "ir/scalars/symbols.h"
#include "ir/verify/verify_internal.h"

namespace relish::verifying {

class GraphScope {
 public:
  GraphScope(const Function& function, Reporter& report) : function_(function), report_(report) {}

  // Reports a variable that is bound twice.
  void define(const Var& var, Span span);
  // Its name alone, where its binding is still to come: a nested function may call itself.
  void show(const Var& var) { add(visible_, var.id()); }
  // Behind a dataflow block, its local variables.
  void hide(const Var& var) {
    if (visible_.erase(var.id()) > 0) changes_.push_back({&visible_, var.id(), false});
  }
  bool sees(const Var& var) const { return visible_.contains(var.id()); }
  bool was_bound(const Var& var) const { return bound_.contains(var.id()); }

  // The dimension variables to which a parameter or a match_cast of that type gives values.
  void determine(const Type& type);
  void determine(const ScalarVar& symbol) { add(symbols_, symbol.id()); }
  // Every dimension variable must have its value from a parameter or an earlier match_cast; `where` is what
  // mentions it.
  void check_symbols(const Type& type, Span span, std::string_view where);
  void check_symbols(const Scalar& scalar, Span span);

  // What is bound in a nested body is invisible behind it; `body` verifies it.
  template <class F>
  void nested(F&& body) {
    const std::size_t before = changes_.size();
    body();
    undo(before);
  }
  // The same of a nested function, whose scalar parameters may stand for dimension variables.
  template <class F>
  void nested(const Function& function, F&& body) {
    nested([&] {
      enclosing_.push_back(&function);
      body();
      enclosing_.pop_back();
    });
  }

 private:
  using Ids = std::unordered_set<std::uint64_t>;
  struct Change {
    Ids* ids;
    std::uint64_t id;
    bool added;
  };

  void add(Ids& ids, std::uint64_t id) {
    if (ids.insert(id).second) changes_.push_back({&ids, id, true});
  }
  // Takes back the changes behind the first `kept`.
  void undo(std::size_t kept);
  void check_symbol(const ScalarVar& symbol, Span span, std::string_view where);

  const Function& function_;
  Reporter& report_;
  std::vector<const Function*> enclosing_;   // nested functions around the place
  std::optional<ScalarParameters> scalars_;  // made when the first symbol is not determined
  Ids bound_, visible_, symbols_;
  std::vector<Change> changes_;  // of what is visible and determined: a body takes its own back, no more
};

}  // namespace relish::verifying
