// A step over several batches inside the loop over steps: the loop over its parts, which adds up their
// gradients, and the update behind it.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "ir/calls/roles.h"
#include "ir/nodes/builder.h"

namespace relish {

class PartsWriter {
 public:
  // What one step over `parts` batches of `rows` rows takes.
  struct Step {
    std::int64_t parts = 0;
    Scalar rows;
    std::map<Role, Expr> state;         // parameters, buffers, averages, states, as far as there are any
    Expr rate;                          // its learning rate
    Expr key;                           // its key; undefined without one
    Expr weights;                       // (parts + 1,): what each part counts, and then what all count
    std::map<std::string, Expr> whole;  // data that are no columns, by the parameter's name
    // The rows of the columns, by the parameter's name: those of all parts, or `order`, which says where they
    // stand in the columns.
    std::map<std::string, Expr> columns;
    Expr order;  // (parts, rows); undefined: the columns are the rows of this step
  };
  struct Done {
    std::map<Role, Expr> state;
    Expr losses;   // (parts,)
    Expr metrics;  // (parts, sums); undefined without them
    Expr gradient_norm;
  };

  // `prefix`: of the names of the two functions.
  PartsWriter(FunctionBuilder& builder, const Module& module, std::string prefix)
      : builder_(builder), module_(module), prefix_(std::move(prefix)) {}

  Done write(const Step& step);

 private:
  struct Sums {
    Expr gradients, buffers, losses, metrics;
  };
  Sums write_parts(const Step& step);
  std::vector<Expr> arguments_of_part(const Step& step, const ScalarVar& part, const Sums& sums);
  Expr field(const Expr& whole, const RoleSignature& roles, Role role, const std::string& name);

  FunctionBuilder& builder_;
  const Module& module_;
  std::string prefix_;
};

}  // namespace relish
