// Holes of a Relax function, `?a`: values that are still to be written. While a statement is read a hole
// stands for a value of the error type, and what uses it says what it must be: the type of an annotation, of
// a parameter, of a result, or whatever an operator takes beside its other operands. At the end of the
// statement each is reported with that type, with who wants it, and with what in scope would do.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/nodes/expr.h"
#include "support/diagnostic.h"

namespace relish {

// What a hole wants, for whoever offers values.
struct HoleReport {
  std::string name;
  Span span;
  std::string wanted;
  std::vector<std::string> candidates;  // nearest first
};

class Holes {
 public:
  using Values = std::vector<std::pair<std::string, Expr>>;

  bool any() const { return !holes_.empty(); }
  // A statement has holes: these values are in scope, with their texts, the nearest first.
  void begin(Values in_scope) { in_scope_ = std::move(in_scope); }
  // The value that stands for a hole until it is reported.
  Expr add(const std::string& name, Span span);
  bool is_hole(const Expr& value) const { return find(value) != nullptr; }
  // Whether one is a hole, or a tuple with one.
  bool among(const std::vector<Expr>& values) const;

  // `result` is what `make` makes of the operands, which throws a Failure where they do not fit. `kinds`: in
  // words, what each operand is, and what it is for: "a tensor", "'a' of R.add".
  struct Use {
    std::vector<Expr> operands;
    std::function<Expr(const std::vector<Expr>&)> make;
    std::vector<std::pair<std::string, std::string>> kinds;
    Span span;
  };
  void use(const Expr& result, Use use);
  // A value that holes may be in is to be of the type, since `who` says so.
  void want(const Expr& value, const Type& type, const std::string& who, Span at);
  // In words, of what no value is.
  void want_words(const Expr& value, std::string words, const std::string& who, Span at);
  // The variable stands for the value.
  void stands_for(const Var& var, const Expr& value);

  // Reports all and forgets them.
  std::vector<HoleReport> report(Diagnostics& diagnostics);

 private:
  struct Hole {
    std::string name;
    Span span;
    Var var;
    std::optional<Type> type;
    std::string words;     // where no type says what is wanted
    bool is_text = false;  // no value can stand there
    std::vector<std::pair<Span, std::string>> reasons;
  };
  struct Demand {
    Use use;
    Expr result;  // held, as it is known by its handle
    std::vector<Type> wanted;
  };
  const Hole* find(const Expr& value) const;
  Hole* find(const Expr& value) { return const_cast<Hole*>(std::as_const(*this).find(value)); }
  Demand* demand_of(const Expr& value);
  void note_use(Hole& hole, const Use& use, std::size_t operand, bool in_tuple) const;
  bool fits_in(const Hole& hole, const Expr& value) const;
  // How well a value that fits does: 0 for the very type that is wanted, or that another operand has; then
  // for the dtype of another operand.
  int distance(const Hole& hole, const Expr& value) const;
  Values fitting(const Hole& hole) const;
  void tell(const Hole& hole, const HoleReport& report, const Values& fitting,
            Diagnostics& diagnostics) const;
  std::string wanted_by(const Hole& hole) const;
  std::optional<TensorType> wanted_tensor(const Hole& hole) const;
  void find_dims(const Hole& hole, TensorType& type) const;
  std::vector<Scalar> dims_around() const;

  Values in_scope_;
  std::vector<Hole> holes_;
  std::vector<Demand> demands_;
  std::map<const ExprNode*, std::size_t> results_;
  std::map<std::uint64_t, std::size_t> bound_;  // by variables
};

}  // namespace relish
