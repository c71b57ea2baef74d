// Structural equality of modules and graph functions.
#include "ir/equality/equal.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "ir/equality/equal_internal.h"
#include "ir/operators/op.h"
#include "ir/printer/printer.h"
#include "support/interrupt.h"

namespace relish {
namespace comparing {

bool Pairing::pair(std::uint64_t a, std::uint64_t b) {
  auto forward = forward_.find(a);
  auto backward = backward_.find(b);
  if (forward != forward_.end() || backward != backward_.end()) {
    return forward != forward_.end() && forward->second == b;
  }
  forward_.emplace(a, b);
  backward_.emplace(b, a);
  pairs_.emplace_back(a, b);
  return true;
}

void Pairing::roll_back(std::size_t mark) {
  while (pairs_.size() > mark) {
    forward_.erase(pairs_.back().first);
    backward_.erase(pairs_.back().second);
    pairs_.pop_back();
  }
}

bool Comparison::differ(const std::string& what) {
  if (!difference_.empty()) return false;
  for (const std::string& place : place_) difference_ += place + ": ";
  difference_ += what;
  return false;
}

namespace {

// Dtypes may be held as such or as their names.
bool same_attribute(const Attribute& a, const Attribute& b) {
  if (a == b) return true;
  auto dtype_of = [](const Attribute& attribute) -> std::optional<DType> {
    if (const DType* dtype = attribute.as<DType>()) return *dtype;
    const std::string* name = attribute.as<std::string>();
    return name ? dtype_from_name(*name) : std::nullopt;
  };
  auto dtype = dtype_of(a);
  if (dtype && dtype == dtype_of(b)) return true;
  // NaN equals itself here, as constants do.
  const double *x = a.as<double>(), *y = b.as<double>();
  return x && y && std::bit_cast<std::uint64_t>(*x) == std::bit_cast<std::uint64_t>(*y);
}

// The bindings block by block as reading gives them: no empty blocks, plain blocks in a row are one.
struct BlockView {
  bool dataflow;
  std::vector<const Binding*> bindings;
};
std::vector<BlockView> blocks_of(const std::vector<BindingBlock>& blocks) {
  std::vector<BlockView> views;
  for (const BindingBlock& block : blocks) {
    if (block.bindings.empty()) continue;
    if (views.empty() || block.dataflow || views.back().dataflow) views.push_back({block.dataflow, {}});
    for (const Binding& binding : block.bindings) views.back().bindings.push_back(&binding);
  }
  return views;
}

}  // namespace

bool Comparison::attributes(const Attributes& a, const Attributes& b) {
  for (const auto& [key, value] : a) {
    const Attribute* other = find_attribute(b, key);
    if (!other) return differ(fmt::format("attribute {} is missing in the second", key));
    if (!same_attribute(value, *other)) {
      return differ(fmt::format("attribute {} is {} and {}", key, print(value), print(*other)));
    }
  }
  for (const auto& [key, value] : b) {
    if (!find_attribute(a, key)) return differ(fmt::format("attribute {} is missing in the first", key));
  }
  return true;
}

// Written alike under the pairing, or provably equal where all variables are paired.
bool Comparison::dim(const Scalar& a, const Scalar& b) {
  std::size_t mark = pairing_.mark();
  std::string before = difference_;
  if (scalars(a, b)) return true;
  pairing_.roll_back(mark);
  difference_ = before;
  std::vector<ScalarVar> vars;
  collect_vars(b, vars);
  bool known = std::all_of(vars.begin(), vars.end(),
                           [&](const ScalarVar& var) { return pairing_.paired_second(var.id()); });
  if (known && prove_equal(a, substitute(b, b_to_a_))) return true;
  return differ(fmt::format("dimension {} and {}", print(a), print(b)));
}

bool Comparison::dims(const std::vector<Scalar>& a, const std::vector<Scalar>& b) {
  if (a.size() != b.size()) return differ(fmt::format("{} dimensions and {}", a.size(), b.size()));
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!dim(a[i], b[i])) return false;
  }
  return true;
}

bool Comparison::types(const Type& a, const Type& b) {
  auto mismatch = [&] { return differ(fmt::format("type {} and {}", print(a), print(b))); };
  if (a.kind().index() != b.kind().index()) return mismatch();
  if (const TensorType* x = a.tensor()) {
    const TensorType* y = b.tensor();
    if (x->vdevice != y->vdevice) return mismatch();
    if (x->dtype != y->dtype || x->has_shape() != y->has_shape() || x->rank != y->rank) return mismatch();
    return !x->shape || dims(*x->shape, *y->shape);
  }
  if (const ShapeType* x = a.as<ShapeType>()) {
    const ShapeType* y = b.as<ShapeType>();
    if (x->dims.has_value() != y->dims.has_value() || x->rank != y->rank) return mismatch();
    return !x->dims || dims(*x->dims, *y->dims);
  }
  if (const TupleType* x = a.tuple()) return type_lists(x->fields, b.tuple()->fields);
  if (const ScalarType* x = a.as<ScalarType>()) return x->dtype == b.as<ScalarType>()->dtype || mismatch();
  if (const FunctionType* x = a.function()) {
    const FunctionType* y = b.function();
    if (x->opaque != y->opaque || x->pure != y->pure) return mismatch();
    return types(x->result, y->result) && (x->opaque || type_lists(x->params, y->params));
  }
  if (const StackType* x = a.as<StackType>()) return types(*x->element, *b.as<StackType>()->element);
  return true;
}

bool Comparison::type_lists(const std::vector<Type>& a, const std::vector<Type>& b) {
  if (a.size() != b.size()) return differ(fmt::format("{} types and {}", a.size(), b.size()));
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!types(a[i], b[i])) return false;
  }
  return true;
}

bool Comparison::expr_lists(const std::vector<Expr>& a, const std::vector<Expr>& b) {
  if (a.size() != b.size()) return differ(fmt::format("{} operands and {}", a.size(), b.size()));
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!exprs(a[i], b[i])) return false;
  }
  return true;
}

bool Comparison::graph_vars(const Var& a, const Var& b) {
  return pairing_.pair(a.id(), b.id()) || differ(fmt::format("variable {} and {}", a.name(), b.name()));
}

class ExprComparison {
 public:
  explicit ExprComparison(Comparison& comparison) : c_(comparison) {}

  bool operator()(const VarRef& a, const VarRef& b) { return c_.graph_vars(a.var, b.var); }
  bool operator()(const Constant& a, const Constant& b) {
    return identical(a.value, b.value) || c_.differ("the constants have other values");
  }
  bool operator()(const TupleExpr& a, const TupleExpr& b) { return c_.expr_lists(a.fields, b.fields); }
  bool operator()(const TupleGet& a, const TupleGet& b) {
    if (a.index != b.index) return c_.differ(fmt::format("tuple item {} and {}", a.index, b.index));
    return c_.exprs(a.tuple, b.tuple);
  }
  bool operator()(const OpCall& a, const OpCall& b) {
    if (a.op->name != b.op->name)
      return c_.differ(fmt::format("operator R.{} and R.{}", a.op->name, b.op->name));
    return c_.expr_lists(a.args, b.args) && c_.attributes(a.attributes, b.attributes);
  }
  bool operator()(const FunctionCall& a, const FunctionCall& b) {
    return c_.exprs(a.callee, b.callee) && c_.expr_lists(a.args, b.args);
  }
  bool operator()(const CallTir& a, const CallTir& b) {
    if (a.tuple_result != b.tuple_result) return c_.differ("one call_tir gives a tuple, the other a tensor");
    if (a.inplace_indices != b.inplace_indices || a.gradient_name != b.gradient_name)
      return c_.differ("the forms of a call_tir differ");
    return c_.exprs(a.callee, b.callee) && c_.expr_lists(a.args, b.args) &&
           c_.type_lists(a.out_types, b.out_types) &&
           c_.attributes(a.gradient_arguments, b.gradient_arguments);
  }
  bool operator()(const PackedCall& a, const PackedCall& b) {
    if (a.form != b.form || a.tuple_result != b.tuple_result || a.inplace_indices != b.inplace_indices)
      return c_.differ("the forms of a packed call differ");
    return c_.exprs(a.callee, b.callee) && c_.expr_lists(a.args, b.args) &&
           c_.type_lists(a.out_types, b.out_types) && c_.attributes(a.attributes, b.attributes);
  }
  bool operator()(const ExternFunc& a, const ExternFunc& b) {
    return a.symbol == b.symbol || c_.differ(fmt::format("extern {} and {}", a.symbol, b.symbol));
  }
  bool operator()(const FunctionExpr& a, const FunctionExpr& b) {
    return c_.functions(*a.function, *b.function);
  }
  bool operator()(const If& a, const If& b) {
    return c_.exprs(a.condition, b.condition) && c_.regions(a.then_region, b.then_region) &&
           c_.regions(a.else_region, b.else_region);
  }
  bool operator()(const Loop& a, const Loop& b) {
    if (a.index.defined() != b.index.defined()) return c_.differ("one loop is a while, the other a for");
    if (!c_.expr_lists(a.initial, b.initial)) return false;
    if (a.index.defined() && (!c_.exprs(a.begin, b.begin) || !c_.exprs(a.end, b.end) ||
                              !c_.exprs(a.step, b.step) || !c_.vars(a.index, b.index))) {
      return false;
    }
    return c_.regions(a.condition, b.condition) && c_.regions(a.body, b.body);
  }
  bool operator()(const ShapeLiteral& a, const ShapeLiteral& b) { return c_.dims(a.dims, b.dims); }
  bool operator()(const ScalarValueExpr& a, const ScalarValueExpr& b) {
    if (a.value.dtype() != b.value.dtype()) {
      return c_.differ(fmt::format("scalar {} and {}", print(a.value), print(b.value)));
    }
    return is_int(a.value.dtype()) ? c_.dim(a.value, b.value) : c_.scalars(a.value, b.value);
  }
  bool operator()(const StringLiteral& a, const StringLiteral& b) {
    return a.value == b.value || c_.differ("the strings differ");
  }
  bool operator()(const DTypeLiteral& a, const DTypeLiteral& b) {
    return a.value == b.value ||
           c_.differ(fmt::format("dtype {} and {}", name_of(a.value), name_of(b.value)));
  }
  bool operator()(const GlobalRef& a, const GlobalRef& b) {
    return a.name == b.name || c_.differ(fmt::format("global {} and {}", a.name, b.name));
  }

 private:
  Comparison& c_;
};

bool Comparison::exprs(const Expr& a, const Expr& b) {
  if (a.node().kind.index() != b.node().kind.index()) {
    return differ(fmt::format("{} and {}", print(a), print(b)));
  }
  return visit_kind(
      [&](const auto& left) { return ExprComparison(*this)(left, *b.as<std::decay_t<decltype(left)>>()); },
      a);
}

bool Comparison::bindings(const Binding& a, const Binding& b) {
  poll_interrupt(a.span);
  if (a.kind.index() != b.kind.index()) return differ("one is a match_cast, the other is not");
  // A nested function may mention the variable that is bound to it.
  if (a.value().as<FunctionExpr>() && b.value().as<FunctionExpr>() && !graph_vars(a.var(), b.var()))
    return false;
  if (!exprs(a.value(), b.value())) return false;
  if (const MatchCast* cast = std::get_if<MatchCast>(&a.kind)) {
    if (!types(cast->type, std::get<MatchCast>(b.kind).type)) return false;
  }
  // What a statement of no value binds is never seen, so it does not matter of which sort it is.
  bool visible = !a.var().type().is_void();
  if (visible && a.var().dataflow() != b.var().dataflow()) {
    return differ("one variable is visible outside the dataflow block, the other is not");
  }
  return types(a.var().type(), b.var().type()) && graph_vars(a.var(), b.var());
}

bool Comparison::block_lists(const std::vector<BindingBlock>& a, const std::vector<BindingBlock>& b) {
  std::vector<BlockView> left = blocks_of(a), right = blocks_of(b);
  for (std::size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
    if (i >= left.size() || i >= right.size() || left[i].dataflow != right[i].dataflow) {
      return differ("the blocks differ");
    }
    const auto &ours = left[i].bindings, &theirs = right[i].bindings;
    for (std::size_t k = 0; k < std::min(ours.size(), theirs.size()); ++k) {
      place_.push_back("binding " + ours[k]->var().name());
      if (!bindings(*ours[k], *theirs[k])) return false;
      place_.pop_back();
    }
    if (ours.size() != theirs.size()) {
      return differ(fmt::format("{} bindings and {} in block {}", ours.size(), theirs.size(), i + 1));
    }
  }
  return true;
}

bool Comparison::regions(const RegionPtr& a, const RegionPtr& b) {
  if (!a != !b) return differ("a region is missing in one of them");
  if (!a) return true;
  if (a->params.size() != b->params.size() || a->results.size() != b->results.size())
    return differ("the regions carry other numbers of values");
  for (std::size_t i = 0; i < a->params.size(); ++i) {
    if (!types(a->params[i].type(), b->params[i].type()) || !graph_vars(a->params[i], b->params[i]))
      return false;
  }
  return block_lists(a->blocks, b->blocks) && expr_lists(a->results, b->results);
}

bool Comparison::functions(const Function& a, const Function& b) {
  place_.push_back("function " + a.name);
  if (a.name != b.name) return differ("is called " + b.name + " in the second");
  if (a.pure != b.pure || a.is_private != b.is_private) return differ("purity or privacy differs");
  if (!attributes(a.attributes, b.attributes)) return false;
  if (a.params.size() != b.params.size()) {
    return differ(fmt::format("{} parameters and {}", a.params.size(), b.params.size()));
  }
  for (std::size_t i = 0; i < a.params.size(); ++i) {
    if (a.params[i].name() != b.params[i].name()) {
      return differ(fmt::format("parameter {} and {}", a.params[i].name(), b.params[i].name()));
    }
    place_.push_back("parameter " + a.params[i].name());
    if (!types(a.params[i].type(), b.params[i].type()) || !graph_vars(a.params[i], b.params[i])) return false;
    place_.pop_back();
  }
  if (!block_lists(a.blocks, b.blocks)) return false;
  place_.push_back("result");
  if (!exprs(a.result, b.result) || !types(a.result_type, b.result_type)) return false;
  place_.resize(place_.size() - 2);
  return true;
}

namespace {

bool modules(Comparison& comparison, const Module& a, const Module& b) {
  if (a.name != b.name) return comparison.differ(fmt::format("module {} and {}", a.name, b.name));
  if (a.check_well_formed != b.check_well_formed) return comparison.differ("check_well_formed differs");
  if (!comparison.attributes(a.attributes, b.attributes)) return false;
  if (!comparison.attributes(a.global_infos, b.global_infos)) return false;
  for (std::size_t i = 0; i < std::min(a.functions.size(), b.functions.size()); ++i) {
    const GlobalFunction &ours = a.functions[i], &theirs = b.functions[i];
    if (name_of(ours) != name_of(theirs)) {
      return comparison.differ(
          fmt::format("function {} is called {} in the second", name_of(ours), name_of(theirs)));
    }
    if (ours.index() != theirs.index()) {
      return comparison.differ(fmt::format("{} is of another kind in the second", name_of(ours)));
    }
    if (ours == theirs) continue;
    if (const ExternFunctionPtr* external = std::get_if<ExternFunctionPtr>(&ours)) {
      const ExternFunctionPtr& other = std::get<ExternFunctionPtr>(theirs);
      Comparison own;
      const bool typed = (*external)->type.has_value();
      if ((*external)->symbol != other->symbol || typed != other->type.has_value() ||
          (typed && !own.types(*(*external)->type, *other->type))) {
        return comparison.differ(fmt::format("extern function {} differs", name_of(ours)));
      }
      continue;
    }
    const FunctionPtr* graph = std::get_if<FunctionPtr>(&ours);
    // Variables belong to their function, also where a pass has left one identity in several.
    Comparison own;
    bool same = graph ? own.functions(**graph, *std::get<FunctionPtr>(theirs))
                      : own.prim_funcs(*std::get<PrimFuncPtr>(ours), *std::get<PrimFuncPtr>(theirs));
    if (!same) return comparison.differ(own.difference());
  }
  if (a.functions.size() != b.functions.size()) {
    return comparison.differ(fmt::format("{} functions and {}", a.functions.size(), b.functions.size()));
  }
  return true;
}

}  // namespace
}  // namespace comparing

using comparing::Comparison;

bool equal_modulo_names(const Module& a, const Module& b) { return first_difference(a, b).empty(); }

bool equal_modulo_names(const Function& a, const Function& b) { return Comparison().functions(a, b); }

bool equal_modulo_names(const PrimFunc& a, const PrimFunc& b) { return Comparison().prim_funcs(a, b); }

std::string first_difference(const Module& a, const Module& b) {
  Comparison comparison;
  if (comparing::modules(comparison, a, b)) return "";
  return comparison.difference();
}

}  // namespace relish
