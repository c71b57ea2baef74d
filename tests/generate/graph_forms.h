// The construct families of Relax functions: each appends bindings of its kind, and says whether it did.
#pragma once

#include <span>
#include <string_view>

#include "tests/generate/graph_generator.h"

namespace relish::generate {

struct BindingForm {
  std::string_view name;
  double weight;
  bool (*make)(GraphGenerator&);
  bool loose = false;          // only where the program is not compiled
  bool differentiable = true;  // also in programs for gradients
  bool others = true;          // also in other programs
};

bool make_operator_call(GraphGenerator& g);  // graph_operators.cpp: operands as they are found
bool make_operator_sample(
    GraphGenerator& g);                 // graph_operators.cpp: operands as the operator's samples have them
bool make_target(GraphGenerator& g);    // graph_target.cpp: the operator that the options name, and its users
bool make_constant(GraphGenerator& g);  // graph_leaves.cpp
bool make_alias(GraphGenerator& g);     // graph_leaves.cpp
bool make_shape(GraphGenerator& g);     // graph_leaves.cpp
bool make_scalar(GraphGenerator& g);    // graph_leaves.cpp
bool make_text(GraphGenerator& g);      // graph_leaves.cpp: strings and dtypes as values
bool make_tuple(GraphGenerator& g);     // graph_tuples.cpp
bool make_tuple_access(GraphGenerator& g);       // graph_tuples.cpp
bool make_match_cast(GraphGenerator& g);         // graph_casts.cpp
bool make_looser_annotation(GraphGenerator& g);  // graph_casts.cpp
bool make_function_call(GraphGenerator& g);      // graph_calls.cpp
bool make_call_tir(GraphGenerator& g);           // graph_calls.cpp
bool make_control(GraphGenerator& g);            // graph_control.cpp: ifs and loops
bool make_recursion(GraphGenerator& g);          // graph_control.cpp
bool make_recurrence(GraphGenerator& g);         // graph_control.cpp: a prim_func that overwrites
bool make_call_tir_inplace(GraphGenerator& g);   // graph_in_place.cpp

std::span<const BindingForm> binding_forms();

}  // namespace relish::generate
