// Where the text of a function uses each variable, in the order of the text: the printer gives a name to a
// new variable again when nobody reads the old one any more. Internal to ir/.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/nodes/expr.h"

namespace relish::printing {

struct TextRange {
  int begin = 0, end = 0;
};

class UseOrder {
 public:
  explicit UseOrder(const Function& function);

  // Of a binding with all that it holds, of a region, of the body of a nested function.
  TextRange of(const Binding& binding) const { return bindings_.at(&binding); }
  TextRange of(const Region& region) const { return regions_.at(&region); }
  TextRange of(const Function& nested) const { return functions_.at(&nested); }

  // Whether something in (position, end] reads the variable, outside of the skipped ranges.
  bool used(std::uint64_t id, int position, int end, const std::vector<TextRange>& skipped) const;
  std::size_t uses(std::uint64_t id) const;

 private:
  struct OpenLoop {
    int begin;
    std::unordered_set<std::uint64_t> outside;  // variables from before it that it reads
  };

  void use(const Expr& expr, int at);
  void use(std::uint64_t id, int at);
  void walk(const std::vector<BindingBlock>& blocks);
  void walk(const Binding& binding);
  void walk(const Region& region);

  int next_ = 0;
  std::unordered_map<const void*, TextRange> bindings_, regions_, functions_;
  std::unordered_map<std::uint64_t, std::vector<int>> uses_;
  std::unordered_map<std::uint64_t, int> bound_;
  std::vector<OpenLoop> loops_;
};

}  // namespace relish::printing
