// Functions of scripts as values: those that `def` and `lambda` make, built-ins, and methods of a value.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "frontend/text/ast.h"
#include "shell/script/script_value.h"

namespace relish {

struct Builtin;
struct Library;
struct ValueMethod;

// What a name of a running function stands for.
struct NameSlot {
  ScriptValue value = {};
  bool bound = false;
  // The function made the value's name itself: a list or dict there is no caller's, and may change.
  bool own = false;
};
using CellPtr = std::shared_ptr<NameSlot>;

// Names of functions around one. Functions may hold each other in long chains: what goes with the last holder
// goes one after the other, not one inside the other.
struct CapturedCells : std::vector<CellPtr> {
  CapturedCells() = default;
  CapturedCells(const CapturedCells&) = default;
  CapturedCells(CapturedCells&&) = default;
  CapturedCells& operator=(const CapturedCells&) = default;
  CapturedCells& operator=(CapturedCells&&) = default;
  ~CapturedCells();
};

struct ScriptFunction {
  std::string name;
  Span span;   // of the header
  Span whole;  // with its body

  // A function of the text; `text` keeps its syntax tree.
  std::shared_ptr<const void> text = {};
  const std::vector<ast::Parameter>* parameters = nullptr;
  const ast::Block* body = nullptr;  // of a def
  const ast::Expr* value = nullptr;  // of a lambda
  std::shared_ptr<const ast::Scope> scope = {};
  std::vector<ScriptValue> defaults = {};  // of the parameters that have one, in their order
  std::uint32_t depth = 1;                 // of nesting in them, itself included
  CapturedCells captured = {};             // names of the functions around it

  // Of a loaded file, whose names it sees; null: those of the script.
  Library* home = nullptr;

  // A built-in; or a method of `self`.
  const Builtin* builtin = nullptr;
  const ValueMethod* method = nullptr;
  ScriptValue self = {};
};
using ScriptFunctionPtr = std::shared_ptr<const ScriptFunction>;

// A function that runs, or the statements of a text.
struct Frame {
  std::vector<NameSlot> slots = {};
  std::vector<CellPtr> cells = {};
  std::size_t own_cells = 0;
  std::shared_ptr<const void> text = {};
  const ScriptFunction* function = nullptr;  // null: statements at top level
  const ast::Scope* scope = nullptr;
  ScriptValue result = {};
};

}  // namespace relish
