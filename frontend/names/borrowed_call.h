// A call as if it had been written, made of parts of another one: R.emit_with_ty("relax.add", (x, y)) is
// R.add(x, y). The parts stay where they are.
#pragma once

#include <string>

#include "frontend/text/ast.h"

namespace relish {

class BorrowedCall {
 public:
  explicit BorrowedCall(const ast::Expr& callee) { call_.callee.reset(borrowed(callee)); }
  BorrowedCall(const BorrowedCall&) = delete;
  BorrowedCall& operator=(const BorrowedCall&) = delete;
  ~BorrowedCall() {
    (void)call_.callee.release();
    for (ast::Argument& argument : call_.arguments) (void)argument.value.release();
  }

  void add(const ast::Expr& value, std::string name = {}) {
    ast::Argument argument;
    argument.name = std::move(name);
    argument.name_span = value.span;
    call_.arguments.push_back(std::move(argument));
    call_.arguments.back().value.reset(borrowed(value));
  }

  const ast::Call& call() const { return call_; }

 private:
  // The call is only looked at, and lets go of its parts before it ends.
  static ast::Expr* borrowed(const ast::Expr& expr) { return const_cast<ast::Expr*>(&expr); }

  ast::Call call_;
};

}  // namespace relish
