// The names of a text that nobody runs: what is bound in the session and what the text itself binds, with the
// values that are known before anything runs. Of a tensor among these only dtype and shape count.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "frontend/text/ast.h"
#include "shell/script/environment.h"

namespace relish {

class TextNames {
 public:
  explicit TextNames(const Environment& session) : session_(session) {}

  // The text binds the name, to a value that is known or not.
  void bind(const std::string& name, std::optional<ScriptValue> value = std::nullopt);
  void bind_target(const ast::Expr& target, const std::optional<ScriptValue>& value);
  void remove(const std::string& name);
  // As they were when `other` was copied of these.
  void take(const TextNames& other) {
    bound_ = other.bound_;
    removed_ = other.removed_;
  }
  // Whatever a block may bind: what the names stand for behind it is not known.
  void forget(const ast::Block& block);
  // Bound somewhere in the text, in front of a use or not.
  void declare(const ast::Block& block);

  bool is_bound(const std::string& name) const;
  bool is_local(const std::string& name) const;
  // Whether the session's own value is meant.
  bool is_of_session(const std::string& name) const;
  std::optional<ScriptValue> value(const std::string& name) const;

  // Names of a function or comprehension, for as long as its body is looked at. In a `deferred` one, which
  // runs later, nothing is known of the values of names, and one that is not bound may be by then.
  class Inside {
   public:
    Inside(TextNames& names, bool deferred);
    ~Inside();
    Inside(const Inside&) = delete;

   private:
    TextNames& names_;
    bool deferred_;
  };
  void bind_local(const std::string& name) { locals_.back().insert(name); }
  void bind_local(const ast::Expr& target);
  void bind_locals(const ast::Block& block);
  bool deferred() const { return deferred_ > 0; }

 private:
  const Environment& session_;
  std::map<std::string, std::optional<ScriptValue>> bound_;
  std::set<std::string> removed_;
  std::vector<std::set<std::string>> locals_;
  int deferred_ = 0;
};

}  // namespace relish
