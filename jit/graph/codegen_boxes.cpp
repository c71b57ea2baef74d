// Code generation of values in boxes, whose make only the run shows, and of function values: a function of
// the module with the values that it captured.
#include <fmt/format.h>

#include "ir/calls/entry.h"
#include "ir/scalars/symbols.h"
#include "jit/graph/codegen_graph.h"
#include "jit/runtime/closure.h"
#include "transform/lift_bodies.h"

namespace relish::jit {

const ValueTree& GraphEmitter::next_conversion() {
  return frame_.values->converted.at(static_cast<std::size_t>(frame_.position)).at(frame_.conversion++);
}

GraphEmitter::Live GraphEmitter::convert(const Live& live, const Type& type, Span span,
                                         const std::string& what, const Type* whole) {
  Live result = live;
  const bool converts = needs_conversion(live.tree, type);
  if (!converts && live.tree.kind == ValueTree::Tuple) {
    for (std::size_t i = 0; i < live.fields.size(); ++i) {
      result.fields[i] = convert(live.fields[i], type.tuple()->fields[i], span, what, whole ? whole : &type);
      result.tree.fields[i] = result.fields[i].tree;
    }
    return result;
  }
  if (!converts) return live;
  HostCall call{{live.tree}, next_conversion(), span, {}};
  if (is_boxed(type)) {
    call.call = [](std::vector<Value> args) { return std::move(args.at(0)); };
  } else {
    call.call = [type, span, what, outer = whole ? *whole : type](std::vector<Value> args) {
      match_make(args.at(0), type, span, what, outer);
      return std::move(args[0]);
    };
  }
  return host_call({live}, std::move(call));
}

// The value against the type when it runs: sizes that are known go along, those that the type determines come
// back.
void GraphEmitter::check_value(const Live& live, const Type& type, Span span, const std::string& what) {
  if (type.as<AnyType>()) return;
  std::vector<ScalarVar> vars, determined, known, fresh;
  collect_vars(type, vars);
  collect_determined(type, determined);
  Live given;
  given.tree.kind = ValueTree::ShapeLeaf;
  for (const ScalarVar& var : vars) {
    const auto found = frame_.symbols.find(var.id());
    if (found == frame_.symbols.end()) continue;
    known.push_back(var);
    given.values.push_back(found->second);
  }
  given.tree.rank = static_cast<int>(known.size());
  for (const ScalarVar& var : determined)
    if (!frame_.symbols.contains(var.id())) fresh.push_back(var);
  ValueTree sizes;
  sizes.kind = ValueTree::ShapeLeaf;
  sizes.rank = static_cast<int>(fresh.size());
  HostCall call{{live.tree, given.tree}, sizes, span, {}};
  call.call = [type, span, what, known, fresh](const std::vector<Value>& args) {
    SymbolValues symbols;
    for (std::size_t i = 0; i < known.size(); ++i) symbols[known[i].id()] = args.at(1).shape().dims[i];
    match_value(args.at(0), type, symbols, ErrorClass::Runtime, span, what);
    ShapeValue found;
    for (const ScalarVar& var : fresh) found.dims.push_back(symbols.at(var.id()));
    return Value(std::move(found));
  };
  const Live found = host_call({live, given}, std::move(call));
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    symbol_vars_.insert_or_assign(fresh[i].id(), fresh[i]);
    frame_.symbols.try_emplace(fresh[i].id(), found.values.at(i));
  }
}

GraphEmitter::Live GraphEmitter::argument(const Expr& expr, const Type& type, Span span,
                                          const std::string& what) {
  return convert(value(expr), type, span, what);
}

GraphEmitter::Live GraphEmitter::argument(const Expr& expr, const Function& callee, std::size_t position) {
  const Var& param = callee.params[position];
  return argument(expr, param.type(), param.span(),
                  fmt::format("{}: {}", name_in_text(callee), param.name()));
}

// A function value. `behind`: what it captured stands behind the arguments of its calls, not before them.
GraphEmitter::Live GraphEmitter::function_value(const Function& callee, const std::vector<Expr>& given,
                                                bool behind, const ValueTree& result, Span span) {
  std::vector<Live> args;
  HostCall call{{}, result, span, {}};
  for (const Expr& each : given) {
    args.push_back(value(each));
    call.params.push_back(args.back().tree);
  }
  llvm::Function* code = function(callee);
  const GraphValues& inner = values(callee);
  RELISH_CHECK(inner.owns_results, callee.name);
  auto described = std::make_shared<CallableCode>();
  described->name = name_in_text(callee);
  described->variables = callee.params;
  described->params = inner.params;
  described->result = inner.result;
  described->span = callee.span;
  described->behind = behind;
  call.callable = std::move(described);
  return host_call_by("rt_function_value", args, std::move(call), code);
}

// R.make_closure, and calls of function values in the spellings of TVM's machine.
GraphEmitter::Live GraphEmitter::closure_call(const PackedCall& call, const Expr& expr) {
  if (call.form != PackedForm::MakeClosure) return call_value(call.callee, call.args, expr);
  const ValueTree& result = frame_.values->bound[static_cast<std::size_t>(frame_.position)];
  if (const auto* global = call.callee.as<GlobalRef>()) {
    // Nested functions take what they captured behind the arguments of a call.
    const bool nested = !lifted_function(lifted_.functions, global->name).written_name.empty();
    if (const FunctionPtr callee = module_.function(global->name))
      return function_value(*callee, call.args, nested, result, expr.span());
  }
  std::vector<Live> args{value(call.callee)};
  for (const Expr& arg : call.args) args.push_back(value(arg));
  HostCall made{{}, result, expr.span(), {}};
  for (const Live& arg : args) made.params.push_back(arg.tree);
  made.call = [span = expr.span()](std::vector<Value> values) { return with_fixed(std::move(values), span); };
  return host_call(args, std::move(made));
}

GraphEmitter::Live GraphEmitter::call_value(const Expr& callee, const std::vector<Expr>& arguments,
                                            const Expr& expr) {
  std::vector<Live> args{value(callee)};
  for (const Expr& arg : arguments) args.push_back(value(arg));
  HostCall call{{}, frame_.values->bound[static_cast<std::size_t>(frame_.position)], expr.span(), {}};
  for (const Live& arg : args) call.params.push_back(arg.tree);
  call.type = expr.type();
  Live live = host_call_by("rt_call_value", args, std::move(call), nullptr);
  match(live, expr.type(), expr.span(), "the result of the call");
  return live;
}

void GraphEmitter::match(const Live& live, const Type& type, Span span, const std::string& what) {
  bind_dims(live, type);
  // What is in a box, or cannot fit, which the whole value says best.
  if (has_box_of(live.tree, type) || !is_made_as(live.tree, type)) return check_value(live, type, span, what);
  Site site{span, FaultKind::ShapeMismatch, what, type, {}, live.tree.dtype};
  if (const TensorType* tensor = type.tensor()) {
    return match_dims(frame_.storages[live.tree.storage].dims, tensor->shape, tensor->rank, true,
                      std::move(site));
  }
  if (const auto* shape = type.as<ShapeType>())
    return match_dims(live.values, shape->dims, shape->rank, true, std::move(site));
  if (const TupleType* tuple = type.tuple()) {
    for (std::size_t i = 0; i < tuple->fields.size(); ++i)
      match(live.fields[i], tuple->fields[i], span, what);
  }
}

}  // namespace relish::jit
