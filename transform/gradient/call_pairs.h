// Gradients of calls: for each function and set of arguments that take part, made once and shared by all
// calls, f_forward gives what f gives and what the way back needs of it, and f_backward takes this and the
// cotangents and gives the gradients. Those of a function that reaches itself hand tapes on.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "transform/gradient/adjoint.h"
#include "transform/gradient/job.h"
#include "transform/gradient/recursion_tapes.h"

namespace relish {

struct CallPair {
  std::string forward;  // empty: f itself is called, and nothing of it is kept
  std::string backward;
  FunctionType forward_type, backward_type;
  std::vector<std::size_t>
      params;                    // of f, which it takes; then what is kept or the tapes, then the cotangents
  std::vector<std::size_t> wrt;  // parameters whose gradients it gives, in a tuple; then the tapes
  std::vector<std::vector<int>> outputs;  // paths to the floating tensors of the result
  bool recursion = false;                 // it hands tapes on
  std::vector<Type> tapes;                // of which types
  RecursionTapes places;
};

class CallPairs {
 public:
  explicit CallPairs(GradientJob& job) : job_(job) {}

  using TakesPart = std::function<bool(const Expr&)>;
  // The callee is a function of the module.
  const CallPair& of(const FunctionCall& call, const TakesPart& takes_part);

  // Whether calls of the function are inlined: types in it leave open what the arguments may tell, and it
  // does not reach itself.
  bool is_inlined(const Function& function);
  bool reaches_itself(const std::string& name);

 private:
  void make(const Function& function, CallPair& pair);
  void make_recursive(const Function& function, CallPair& pair, const std::string& backward);
  void set_types(const Function& function, CallPair& pair, const std::vector<Type>& tapes);
  void make_taped_halves(const Function& function, CallPair& pair);
  void make_halves(const Function& function, CallPair& pair, const std::string& name);

  GradientJob& job_;
  std::map<std::string, CallPair> pairs_;
  std::optional<std::unordered_set<std::string>> cyclic_;
  std::map<std::string, bool> inlined_;
  std::vector<std::pair<FunctionPtr, CallPair*>> together_;  // pairs that hand on the same tapes
};

// Paths to the floating tensors, and to stacks of such, in the type.
void collect_float_leaves(const Type& type, std::vector<std::vector<int>>& into, std::vector<int> path = {});

// Whether a function that reaches itself is called in the value, and not by a gradient of the user's.
bool holds_recursion(const GradientJob& job, const Expr& value);

}  // namespace relish
