// Which names the text reads behind the ifs and loops of a function body: what an if or a loop assigns is a
// result of it only when somebody reads the name later.
#pragma once

#include <set>
#include <string>
#include <unordered_map>

#include "frontend/text/ast.h"

namespace relish {

class Liveness {
 public:
  // Of the body of one function; nested functions are reads of what they capture.
  explicit Liveness(const ast::Block& body);

  // Whether a statement after this if or loop may read the name before it is bound anew. Inside a loop the
  // next iteration counts as after.
  bool read_after(const ast::Statement& statement, const std::string& name) const;
  // Whether an iteration of this loop (its condition included) may read the name before binding it.
  bool read_first(const ast::Statement& loop, const std::string& name) const;

 private:
  using Names = std::set<std::string>;
  struct Effects {
    Names reads;  // of values from before
    Names binds;  // on every way
  };

  Effects effects(const ast::Block& block);
  const Effects& effects(const ast::Statement& statement);
  Effects compute(const ast::Statement& statement);
  void walk(const ast::Block& block, Names live);

  std::unordered_map<const ast::Statement*, Effects> effects_;
  std::unordered_map<const ast::Statement*, Names> after_;
};

}  // namespace relish
