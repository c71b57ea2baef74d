// Code generation of values in boxes, whose make only the run shows, and of function values: a function of
// the module with the values that it captured.
#include <fmt/format.h>

#include "ir/entry.h"
#include "jit/closure.h"
#include "jit/codegen_graph.h"
#include "transform/lift_bodies.h"

namespace relish::jit {

const ValueTree& GraphEmitter::next_conversion() {
  return frame_.values->converted.at(static_cast<std::size_t>(frame_.position)).at(frame_.conversion++);
}

GraphEmitter::Live GraphEmitter::convert(const Live& live, const Type& type, Span span,
                                         const std::string& what) {
  Live result = live;
  if (live.tree.kind == ValueTree::Tuple && type.tuple() &&
      type.tuple()->fields.size() == live.fields.size()) {
    for (std::size_t i = 0; i < live.fields.size(); ++i) {
      result.fields[i] = convert(live.fields[i], type.tuple()->fields[i], span, what);
      result.tree.fields[i] = result.fields[i].tree;
    }
    return result;
  }
  if ((live.tree.kind == ValueTree::BoxLeaf) == is_boxed(type)) return live;
  HostCall call{{live.tree}, next_conversion(), span, {}};
  if (is_boxed(type)) {
    call.call = [](std::vector<Value> args) { return std::move(args.at(0)); };
  } else {
    // Dims belong to compiled code.
    call.call = [type = without_dims(type), span, what](std::vector<Value> args) {
      SymbolValues symbols;
      match_value(args.at(0), type, symbols, ErrorClass::Runtime, span, what);
      return std::move(args[0]);
    };
  }
  return host_call({live}, std::move(call));
}

void GraphEmitter::check_box(const Live& live, const Type& type, Span span, const std::string& what) {
  if (type.as<AnyType>()) return;
  HostCall call{{live.tree}, {}, span, [type, span, what](const std::vector<Value>& args) {
                  SymbolValues symbols;
                  match_value(args.at(0), type, symbols, ErrorClass::Runtime, span, what);
                  return Value();
                }};
  host_call({live}, std::move(call));
}

GraphEmitter::Live GraphEmitter::argument(const Expr& expr, const Type& type, Span span,
                                          const std::string& what) {
  return convert(value(expr), type, span, what);
}

GraphEmitter::Live GraphEmitter::argument(const Expr& expr, const Var& param) {
  return argument(expr, param.type(), param.span(), fmt::format("{}: {}", frame_.source->name, param.name()));
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
  const Attribute* written = find_attribute(callee.attributes, function_name);
  described->name = written ? *written->as<std::string>() : callee.name;
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
  const bool behind = find_attribute(call.attributes, captures_behind) != nullptr;
  if (const auto* global = call.callee.as<GlobalRef>()) {
    if (const FunctionPtr callee = module_.function(global->name))
      return function_value(*callee, call.args, behind, result, expr.span());
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
  Live live = host_call_by("rt_call_value", args, std::move(call), nullptr);
  match(live, expr.type(), expr.span(), "the result of the call");
  return live;
}

}  // namespace relish::jit
