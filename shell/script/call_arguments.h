// The arguments of a call of a built-in: taken by position or name, with one set of messages for what is
// wrong.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "shell/script/operator_call.h"

namespace relish {

class CallArguments {
 public:
  CallArguments(std::string_view callee, std::vector<NamedValue> arguments, Span span);

  // The next positional argument, or the one of that name. UsageError when there is none.
  const NamedValue& required(std::string_view name);
  // Null when it was not given. With `keyword_only` positions do not count.
  const NamedValue* optional(std::string_view name, bool keyword_only = false);
  // The one with this other name of an argument that was asked for; never by position.
  const NamedValue* other_name(std::string_view name);
  // The next positional argument, or those up to the last of two and more ints in a row, as one tuple:
  // zeros(2, 3) is zeros((2, 3)).
  NamedValue dimensions(std::string_view name);
  // All positional arguments that are left.
  std::vector<NamedValue> rest();
  // All named ones that are left.
  std::vector<NamedValue> rest_by_name();
  // UsageError for arguments that nobody took.
  void done() const;

  Span span() const { return span_; }
  std::string_view callee() const { return callee_; }

 private:
  std::string callee_;
  std::vector<NamedValue> arguments_;
  std::vector<bool> taken_;
  std::vector<std::string> known_;  // names asked for so far
  Span span_;
};

// "; it takes a, b", or that it takes none by name.
std::string takes_words(const std::vector<std::string>& names);

}  // namespace relish
