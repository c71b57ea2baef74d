// The syntax tree of statements as they are written: names unresolved, nothing inferred. Declarations
// (functions and modules) are built into IR from it and it is dropped; script statements stay in this form
// and shell/ evaluates them. Long operator chains are flat (one node with many links), so that no walk needs
// a stack as deep as the text is long.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ir/nodes/comment.h"
#include "ir/nodes/module.h"
#include "support/source.h"

namespace relish {
struct DeferredFacts;
}

namespace relish::ast {

struct Expr;
using ExprPtr = std::unique_ptr<Expr>;
struct Statement;
using Block = std::vector<Statement>;

// --- Expressions.

enum class Operator : std::uint8_t {
  Add,
  Sub,
  Mul,
  Div,
  FloorDiv,
  Mod,
  Pow,
  MatMul,
  ShiftLeft,
  ShiftRight,
  BitAnd,
  BitOr,
  BitXor,  // arithmetic
  Lt,
  Le,
  Gt,
  Ge,
  Eq,
  Ne,
  In,
  NotIn,
  Is,
  IsNot,  // comparison
  And,
  Or,  // logic
};
enum class PrefixOperator : std::uint8_t { Plus, Minus, Invert, Not };

// Where the value of a name is found while statements run; whoever runs them says so once (shell/script).
struct NamePlace {
  enum class Kind : std::uint8_t {
    Unknown,  // by its text
    Script,   // among the names of the script with the number `owner`
    Local,    // in a slot of the running function
    Cell,     // in a cell, which inner functions share
  };
  Kind kind = Kind::Unknown;
  std::uint32_t index = 0;
  std::uint32_t owner = 0;
};
// A change of what a name holds, `row.append(1)`, that nobody reads through this name before it is bound
// anew. Whoever runs the statements finds them (shell/script), with how the name was bound last.
struct UnreadChange {
  enum class Bound : std::uint8_t {
    Given,  // a parameter
    Item,   // the target of a `for`, or one of its names
    Part,   // one of several targets
    Place,  // `b = a`, `b = d[k]`
    Slice,  // `b = a[1:]`
    Other,  // what a call or another expression gave
    Fresh,  // `b = list(a)`, `b = [x, y]`: a list or dict of its own, with items that others may hold
  };
  Bound bound = Bound::Other;
  const Expr* target = nullptr;  // of an Item
  const Expr* source = nullptr;  // what was gone through, or assigned
};
struct Name {
  std::string id;
  mutable NamePlace place = {};
  mutable std::shared_ptr<const UnreadChange> unread = nullptr;  // of the name in front of a change
  mutable Span read_before = {};  // of such a name: where its expression has read it and holds the value
};
// NAME@12: what the name stood for behind an input of a session.
struct StateName {
  std::string id;
  std::string state;
};
// ?a: a value that is still to be written.
struct Hole {
  std::string id;  // without the sign
};
struct IntValue {
  std::int64_t value;
};
struct FloatValue {
  double value;
};
struct BoolValue {
  bool value;
};
struct NoneValue {};
struct StringValue {
  std::string value;
};
// f"a {x:.3f} b": text and fields alternate. Fields stand in a specification too: {x:{width}.3f}.
struct FormatPart {
  std::string text;  // literal text, when `field` is null
  ExprPtr field;
  std::string spec;                          // behind ':', without it: all of it, or up to its first field
  char conversion = 0;                       // 'r', 's', 'a' behind '!', or 0
  std::vector<FormatPart> spec_fields = {};  // what stands behind `spec`
};
struct FormatString {
  std::vector<FormatPart> parts;
};
struct TupleValue {
  std::vector<ExprPtr> items;
};
struct ListValue {
  std::vector<ExprPtr> items;
};
// A null key stands before the dict of `**d`, whose entries come in.
struct DictValue {
  std::vector<std::pair<ExprPtr, ExprPtr>> items;
};
struct Ellipsis {};
// A long list of plain numbers. All integers: `integers`; otherwise `reals`.
struct NumberListValue {
  std::vector<std::int64_t> integers;
  std::vector<double> reals;
  // Which of the reals are written as integers.
  std::vector<std::pair<std::size_t, std::int64_t>> integers_among = {};
  bool tuple = false;  // written in parentheses
  std::size_t size() const { return integers.empty() ? reals.size() : integers.size(); }
};
struct Attribute {
  ExprPtr object;
  std::string name;
  Span name_span;
};
struct Argument {
  std::string name;  // empty: positional
  Span name_span;
  ExprPtr value;
  int stars = 0;  // 1 for *x, 2 for **x
};
struct Call {
  ExprPtr callee;
  std::vector<Argument> arguments;
};
struct Slice {
  ExprPtr begin, end, step;
};  // each may be null
// x[i, j]: the items between commas; `comma` tells x[i,] from x[i].
struct Subscript {
  ExprPtr object;
  std::vector<ExprPtr> items;
  bool comma = false;
};
struct Prefix {
  PrefixOperator op;
  ExprPtr operand;
};
struct Link {
  Operator op;
  Span op_span;
  ExprPtr operand;
};
// Operators of one precedence, applied from the left: a - b + c. ** stands alone, as it binds from the right.
struct Chain {
  ExprPtr first;
  std::vector<Link> links;
};
// a < b <= c; one link is a plain comparison.
struct Comparison {
  ExprPtr first;
  std::vector<Link> links;
};
struct Logic {
  Operator op;
  std::vector<ExprPtr> operands;
};  // And, Or
struct Conditional {
  ExprPtr condition, then_value, else_value;
};
// *items, an item of a list, tuple or subscript that stands for those of another.
struct Starred {
  ExprPtr value;
};
struct Parameter {
  std::string name;
  Span span;
  ExprPtr annotation;  // may be null
  ExprPtr default_value;
  int stars = 0;
};
// The frame of a script function, as whoever runs it has numbered its names; of a comprehension, what it
// binds in the frame around it.
struct Scope {
  std::vector<std::string> slots;  // by name
  std::vector<std::string> cells;  // the function's own ones first, then those of functions around it
  std::size_t own_cells = 0;
  std::vector<std::uint32_t> captured;  // which cells of the frame around stand behind the own ones
  std::vector<NamePlace> places;        // of the parameters, or of the names of a comprehension
};
struct Lambda {
  std::vector<Parameter> parameters;
  ExprPtr value;
  mutable std::shared_ptr<const Scope> scope = {};
};
// `for target in value`, or `if value` when `target` is null.
struct ComprehensionClause {
  ExprPtr target;
  ExprPtr value;
};
// [value for … if …], {key: value for …}.
struct Comprehension {
  ExprPtr key;  // of a dict; null for a list
  ExprPtr value;
  std::vector<ComprehensionClause> clauses;
  mutable std::shared_ptr<const Scope> scope = {};
};
// What is read only to be refused by name: "a set", "a generator".
struct Unsupported {
  std::string what;
};

using ExprKind = std::variant<Name, StateName, Hole, IntValue, FloatValue, BoolValue, NoneValue, StringValue,
                              FormatString, TupleValue, ListValue, DictValue, Ellipsis, NumberListValue,
                              Attribute, Call, Slice, Subscript, Prefix, Chain, Comparison, Logic,
                              Conditional, Starred, Lambda, Comprehension, Unsupported>;

struct Expr {
  Span span;
  ExprKind kind;

  template <class K>
  const K* as() const {
    return std::get_if<K>(&kind);
  }
  template <class K>
  K* as() {
    return std::get_if<K>(&kind);
  }
};

// "a.b.c" for a name with attributes, empty for anything else.
std::string dotted_name(const Expr& expr);
// The items of a tuple or list as they are written; null for other expressions.
inline const std::vector<ExprPtr>* items_of(const Expr& expr) {
  if (const auto* tuple = expr.as<TupleValue>()) return &tuple->items;
  const auto* list = expr.as<ListValue>();
  return list ? &list->items : nullptr;
}
// The name when the expression is just one, else null.
inline const std::string* name_of(const Expr& expr) {
  const Name* name = expr.as<Name>();
  return name ? &name->id : nullptr;
}
// "a call", "the number 3": for messages.
std::string describe(const Expr& expr);
// "+", "<=", "not in".
std::string_view text_of(Operator op);
std::string_view text_of(PrefixOperator op);

// --- Statements.

struct ExpressionStatement {
  ExprPtr value;
};
// a = b = v: two targets. A tuple target is a TupleValue. `annotation` belongs to `x: T = v`; `value` is null
// in `x: T`.
struct Assignment {
  std::vector<ExprPtr> targets;
  ExprPtr annotation;
  ExprPtr value;
};
struct AugmentedAssignment {
  ExprPtr target;
  Operator op;
  ExprPtr value;
};
struct Assert {
  ExprPtr condition, message;
};  // message may be null
// del a, b: targets as written.
struct Delete {
  ExprPtr targets;
};
struct Pass {};
struct Break {};
struct Continue {};
struct Return {
  ExprPtr value;
};  // null: plain return
struct For {
  ExprPtr target;
  ExprPtr iterable;
  Block body;
};
struct While {
  ExprPtr condition;
  Block body;
};
struct Branch {
  ExprPtr condition;
  Block body;
  Span span;
  CommentsPtr comments = nullptr;
};  // span and comments of the header
struct If {
  std::vector<Branch> branches;
  Block else_body;
  bool has_else = false;
  CommentsPtr else_comments = nullptr;
};
struct WithItem {
  ExprPtr value;
  ExprPtr target;
};
struct With {
  std::vector<WithItem> items;
  Block body;
};
struct Import {
  struct Bound {
    std::string name;
    std::string target;
    Span span;
  };  // name bound -> "tvm.script.relax"
  std::vector<Bound> bound;
  bool everything = false;  // from m import *
};

struct TypeParameter {
  std::string name;
  Span span;
  ExprPtr bound;
};
struct FunctionDefinition {
  std::string name;
  Span name_span;
  std::vector<ExprPtr> decorators;
  std::vector<TypeParameter> type_parameters;
  std::vector<Parameter> parameters;
  ExprPtr result_annotation;  // may be null
  Block body;
  // Of a script function: its frame, and where its name is bound.
  mutable std::shared_ptr<const Scope> scope = {};
  mutable NamePlace place = {};
};
struct ClassDefinition {
  std::string name;
  Span name_span;
  std::vector<ExprPtr> decorators;
  std::vector<Argument> bases;
  Block body;
};
// A statement that was refused: it may bind these names, which are then not "unknown".
struct Damaged {
  std::vector<std::string> names;
};

// Where a function stands in the text, with its decorators and body.
struct FunctionPlace {
  std::string name;
  Span whole;
  std::size_t comments_above = 0;  // how many of its comments stand before `whole`
};
// In scripts, the place where a declaration stood; it makes the module, or the free function, visible.
struct DeclareModule {
  ModulePtr module;
  std::vector<FunctionPlace> functions = {};  // of the class, in the order of the text
};
struct DeclareFunction {
  GlobalFunction function;
  bool linked = false;  // a copy of another file's function: it stands in no statement of the text
};

// Declarations that are read when the statements before them have run: frontend/module/deferred.h.
struct Deferred {
  std::vector<std::string> names;  // of the one that stands here in the text
  mutable Block definitions;       // the group that is read here, until it is; else none
  std::shared_ptr<const DeferredFacts> facts;
};

using StatementKind = std::variant<ExpressionStatement, Assignment, AugmentedAssignment, Assert, Delete, Pass,
                                   Break, Continue, Return, For, While, If, With, Import, FunctionDefinition,
                                   ClassDefinition, Damaged, DeclareModule, DeclareFunction, Deferred>;

struct Statement {
  Span span;  // of its line, for compound statements of the header
  StatementKind kind;
  CommentsPtr comments;
  Span whole;                      // with decorators and body
  std::size_t comments_above = 0;  // of a definition: how many of its comments stand before `whole`

  template <class K>
  const K* as() const {
    return std::get_if<K>(&kind);
  }
  template <class K>
  K* as() {
    return std::get_if<K>(&kind);
  }
};

}  // namespace relish::ast
