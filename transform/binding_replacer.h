// What passes share that find a binding to be worth no name of its own: its uses take another leaf, and the
// binding goes. Knows what every variable in sight was bound to.
#pragma once

#include <unordered_map>
#include <vector>

#include "ir/rewriting/expr_mapper.h"

namespace relish {

class BindingReplacer : public ExprMapper {
 protected:
  // A binding that has been mapped: it goes, and `leaf` is what its variable's uses take; or, where the leaf
  // has another type or is not seen where the variable is, it stays, bound to the leaf.
  void take_over(Binding mapped, bool dataflow, const Expr& leaf, std::vector<Binding>& into);
  // The binding stays, and its value is remembered.
  void keep(Binding mapped, std::vector<Binding>& into);
  // keep, or take_over when the value has become a leaf that names something.
  void put(Binding mapped, bool dataflow, std::vector<Binding>& into);
  // What the variable of `leaf` is bound to, for a value that is made of parts of it: undefined where it is
  // not known, or where a part may be out of sight.
  Expr value_of(const Expr& leaf) const;

  Expr map_var(const Expr& expr, const Var& var) override;

 private:
  std::unordered_map<std::uint64_t, Expr> leaves_;  // by variable that went
  struct Held {
    Expr value;
    bool of_block;  // mentions variables that are only seen in its dataflow block
  };
  std::unordered_map<std::uint64_t, Held> values_;  // by variable that stayed
};

}  // namespace relish
