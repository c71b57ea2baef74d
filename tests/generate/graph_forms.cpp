// The table of construct families.
#include "tests/generate/graph_forms.h"

namespace relish::generate {

std::span<const BindingForm> binding_forms() {
  static constexpr BindingForm forms[] = {
      {"operator on what is in scope", 5, make_operator_call},
      {"operator as in its samples", 4, make_operator_sample},
      {"constant", 0.6, make_constant},
      {"alias", 0.3, make_alias},
      {"shape value", 0.5, make_shape, false, false},
      {"scalar value", 0.5, make_scalar, false, false},
      {"text value", 0.3, make_text, true, false},
      {"tuple", 0.8, make_tuple},
      {"tuple access", 1.2, make_tuple_access},
      {"match_cast", 0.6, make_match_cast, false, false},
      {"looser annotation", 0.6, make_looser_annotation, true, false},
      {"call of a function", 1.0, make_function_call},
      {"call_tir", 1.5, make_call_tir, false, false},
      {"if or loop", 1.5, make_control, false, true, false},
      {"recursion", 0.5, make_recursion, false, true, false},
      {"prim_func that overwrites", 0.7, make_recurrence, false, true, false},
      {"prim_func in the place of its arguments", 0.9, make_call_tir_inplace, false, true, false},
  };
  return forms;
}

}  // namespace relish::generate
