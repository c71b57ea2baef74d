// Generation of one Relax function: parameters, blocks of bindings, a result. The construct families
// (graph_*.cpp) add bindings through this class; each is a function that appends one or more bindings, or
// none when nothing in scope suits it. In an evaluated program every variable carries its value for the
// sample arguments, so that a binding which faults or is not steady is drawn anew.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/generate/loop_generator.h"
#include "tests/generate/program.h"
#include "tests/generate/value_probe.h"

namespace relish::generate {

// A function that later ones may call, with arguments that suit it.
struct Callee {
  std::string name;
  bool prim_func = false;
  GeneratedLoop loop;          // of a prim_func
  std::vector<Value> samples;  // of a Relax function
  bool pure = true;
};

// What the functions of a program share.
struct ProgramState {
  Program& program;
  Module& module;
  Random& random;
  std::vector<Callee> callees = {};
  std::vector<std::string> names = {};  // of all global functions
};

class GraphGenerator {
 public:
  explicit GraphGenerator(ProgramState& state);

  // Appends the function to the module; gives its sample arguments.
  std::vector<Value> run(const std::string& name, bool is_main);

  // --- For the families.

  using Known = KnownValue;

  Random& random() { return state_.random; }
  const Options& options() const { return state_.program.options; }
  ProgramState& state() { return state_; }
  void cover(const std::string& construct) { state_.program.constructs.insert(construct); }
  void loosen(int agreement) { state_.program.agreement = std::max(state_.program.agreement, agreement); }
  CommentsPtr comments();

  const std::vector<Known>& known() const { return known_; }
  // Those in scope whose type passes `holds`.
  template <class F>
  std::vector<const Known*> those(F&& holds) const {
    std::vector<const Known*> result;
    for (const Known& each : known_) {
      if (holds(each.var.type())) result.push_back(&each);
    }
    return result;
  }
  GraphDims& dims() { return dims_; }
  bool in_dataflow() const { return block_.dataflow; }
  bool is_pure() const { return pure_; }

  // Binds the expression to a new variable; nothing when the value does not suit an evaluated program.
  // `looser`: the annotation. `maker`: the operator called.
  std::optional<Var> bind(const Expr& value, const std::string& maker = "", std::optional<Type> looser = {});
  // Binds `value` cast to `type`; `bound` are the dims that it makes known, with their values.
  std::optional<Var> bind_cast(const Expr& value, const Type& type, const SymbolValues& bound);
  // A new parameter with that value.
  Var parameter(const Type& type, Value value);
  // A variable, constant or new parameter of exactly that (concrete) tensor type; `sample` is its value when
  // it has to be made.
  Expr provide(const Tensor& sample, double reuse = 0.7);
  Expr provide_value(const Type& type, const Value& sample);

  // What is bound from now on is seen outside its block and may have a type that only its value tells.
  void set_exposed(bool exposed) { exposed_ = exposed; }
  // The function's result holds the variable.
  void keep(const Var& var) { kept_.push_back(var); }
  // No form uses the variable any more: it holds nothing, or what only certain operators take.
  void forget(const Var& var);
  // A place to go back to: bindings and parameters made since then vanish.
  struct Mark {
    std::size_t bindings, known, params, anchors, symbols, kept;
  };
  Mark mark() const;
  void go_back(const Mark& mark);

 private:
  Var add(Binding binding, std::optional<Value> value, const std::string& maker);
  void block(bool with_target);
  Expr result();
  Type parameter_type(int depth);
  void finish_with_sum();

  ProgramState& state_;
  GraphDims dims_;
  ValueProbe probe_;
  bool pure_ = true;
  bool exposed_ = false;
  std::vector<Var> kept_;
  std::vector<Var> params_;
  std::vector<Value> arguments_;
  std::vector<Known> known_;
  BindingBlock block_;
  std::vector<BindingBlock> blocks_;
};

}  // namespace relish::generate
