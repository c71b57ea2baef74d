// The spellings of TVM's namespaces: `relax.op.nn.relu`, `R.nn.relu` and an imported alias all become
// "R.nn.relu".
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "frontend/text/ast.h"

namespace relish {

// The dtype that a word of T stands for, "int32" for "i32" and "bool" for "boolean"; any other word itself.
std::string_view unabbreviated(std::string_view word);

class Namespaces {
 public:
  Namespaces();

  // `import target as name`. False when the target is none of TVM's (or a harmless one such as typing).
  bool bind(const std::string& name, std::string_view target);
  // The canonical spelling, "R.…", "T.…" or "I.…", of a dotted name; the name itself when it is in no
  // namespace.
  std::string canonical(const std::string& dotted) const;
  // Of an expression: empty when it is not a dotted name.
  std::string canonical(const ast::Expr& expr) const;
  // Whether a call of it makes a symbolic size: TypeVar("n"), I.dynamic("n").
  bool makes_size(const ast::Expr& callee) const;
  // Whether the name stands for a namespace or something imported from one.
  bool known(const std::string& name) const { return aliases_.count(name) > 0; }
  // All such names with what they stand for, to be bound again.
  const std::unordered_map<std::string, std::string>& aliases() const { return aliases_; }

  friend bool operator==(const Namespaces&, const Namespaces&) = default;

 private:
  std::unordered_map<std::string, std::string> aliases_;
};

}  // namespace relish
