// Analysis of graph functions: trees of leaves, storages and their lives.
#include "jit/graph/graph_values.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/calls/call_layout.h"
#include "ir/calls/packed_result.h"
#include "ir/operators/op.h"
#include "ir/printer/printer.h"
#include "support/interrupt.h"
#include "transform/lift_bodies.h"

namespace relish::jit {
namespace {

[[noreturn]] void not_compiled(Span span, const std::string& what) {
  fail(ErrorClass::Type, span, "jit.unsupported", what + "; run it with --tier interp");
}

bool is_inplace(const CallTir& call, std::size_t argument) {
  return std::find(call.inplace_indices.begin(), call.inplace_indices.end(),
                   static_cast<std::int64_t>(argument)) != call.inplace_indices.end();
}

class Analysis {
 public:
  Analysis(const LiftedModule& lifted, const Function& function, const CalleeValues& callee)
      : lifted_(lifted.functions), module_(lifted.module), function_(function), callee_(callee) {}

  GraphValues run() {
    values_.converted.emplace_back();
    for (const Var& param : function_.params) {
      ValueTree tree = tree_of(param.type(), [&](const TensorType* type) {
        const std::size_t id = storage_of(type, Storage::Param);
        values_.storages[id].param = next_param_++;
        return id;
      });
      values_.vars.emplace(param.id(), tree);
      values_.params.push_back(std::move(tree));
    }
    for (const BindingBlock& block : function_.blocks) {
      for (const Binding& binding : block.bindings) {
        poll_interrupt(binding.span);
        values_.made.emplace_back();
        ValueTree tree = value(binding.value());
        values_.bound.push_back(tree);
        if (const auto* cast = std::get_if<MatchCast>(&binding.kind)) {
          tree = convert(tree, cast->type);
          use(tree);
        }
        values_.vars.insert_or_assign(binding.var().id(), std::move(tree));
        ++position_;
        values_.converted.emplace_back();
      }
    }
    values_.owns_results = lifted_function(lifted_, function_.name).owns_results;
    values_.result = value(function_.result);
    // Callers read what belongs to them by the type that the function declares.
    if (values_.owns_results) values_.result = convert(values_.result, function_.result_type);
    use(values_.result);
    mark_result(values_.result);
    return std::move(values_);
  }

 private:
  std::size_t add(Storage storage) {
    storage.made = storage.last_use = position_;
    values_.storages.push_back(std::move(storage));
    return values_.storages.size() - 1;
  }

  std::size_t storage_of(const TensorType* type, Storage::Kind kind) {
    Storage storage;
    storage.kind = kind;
    storage.boxed = type == nullptr;
    if (type) storage.dtype = *type->dtype;
    return add(std::move(storage));
  }

  // A storage that the current binding makes.
  std::size_t made_storage(const TensorType* type) {
    values_.made.back().push_back(storage_of(type, Storage::Returned));
    return values_.made.back().back();
  }

  // The tree of a value that is made by a conversion.
  ValueTree conversion(const Type& type) {
    ValueTree tree =
        tree_of(type, [&](const TensorType* tensor) { return storage_of(tensor, Storage::Returned); });
    values_.converted.back().push_back(tree);
    return tree;
  }

  ValueTree convert(const ValueTree& from, const Type& type) {
    return converted_tree(from, type, [&](const ValueTree& leaf, const Type& wanted) {
      use(leaf);
      return conversion(wanted);
    });
  }

  // The argument of a parameter.
  ValueTree argument(const Expr& expr, const Type& type) {
    const ValueTree tree = convert(value(expr), type);
    use(tree);
    return tree;
  }

  void use(const ValueTree& tree) {
    if (tree.has_storage()) values_.storages[tree.storage].last_use = position_;
    for (const ValueTree& field : tree.fields) use(field);
  }

  void mark_result(const ValueTree& tree) {
    if (tree.has_storage()) values_.storages[tree.storage].escapes = true;
    for (const ValueTree& field : tree.fields) mark_result(field);
  }

  // The field that a chain of TupleGets takes of a variable; null for other values.
  const ValueTree* part_of_variable(const Expr& expr) const {
    if (const Var* var = expr.as_var()) {
      const auto found = values_.vars.find(var->id());
      RELISH_CHECK(found != values_.vars.end(), var->name());
      return &found->second;
    }
    const auto* get = expr.as<TupleGet>();
    const ValueTree* whole = get ? part_of_variable(get->tuple) : nullptr;
    return whole ? &whole->fields.at(static_cast<std::size_t>(get->index)) : nullptr;
  }

  ValueTree value(const Expr& expr) {
    if (const ValueTree* known = part_of_variable(expr)) return *known;
    if (const auto* n = expr.as<Constant>()) {
      Storage storage;
      storage.kind = Storage::Constant;
      storage.constant = n->value;
      storage.dtype = n->value.dtype();
      const std::size_t id = add(std::move(storage));
      values_.constants.try_emplace({n->value.data(), n->value.shape()}, id);
      return tensor_leaf(id, n->value.rank(), n->value.dtype());
    }
    if (const auto* n = expr.as<TupleExpr>()) {
      ValueTree tree;
      for (const Expr& field : n->fields) tree.fields.push_back(value(field));
      return tree;
    }
    if (const auto* n = expr.as<TupleGet>()) {
      const ValueTree tree = value(n->tuple);
      return tree.fields.at(static_cast<std::size_t>(n->index));
    }
    if (const auto* n = expr.as<CallTir>()) return call_tir(*n, expr);
    if (const auto* n = expr.as<FunctionCall>()) return function_call(*n, expr);
    if (const auto* n = expr.as<PackedCall>()) return packed_call(*n, expr);
    if (const auto* n = expr.as<If>()) {
      argument(n->condition, condition_type(n->condition.type()));
      use_captured(*n->then_region);
      use_captured(*n->else_region);
      return returned(expr);
    }
    if (const auto* n = expr.as<Loop>()) {
      for (std::size_t i = 0; i < n->initial.size(); ++i) argument(n->initial[i], n->body->params[i].type());
      for (const Expr* bound : {&n->begin, &n->end, &n->step})
        if (bound->defined()) use(value(*bound));
      if (n->condition) use_captured(*n->condition);
      use_captured(*n->body);
      return returned(expr);
    }
    if (const auto* n = expr.as<OpCall>()) {
      for (const Expr& arg : n->args) use(value(arg));
      return returned(expr);
    }
    if (const auto* n = expr.as<ShapeLiteral>()) {
      ValueTree tree;
      tree.kind = ValueTree::ShapeLeaf;
      tree.rank = static_cast<int>(n->dims.size());
      return tree;
    }
    if (const auto* n = expr.as<ScalarValueExpr>()) {
      ValueTree tree;
      tree.kind = ValueTree::ScalarLeaf;
      tree.dtype = n->value.dtype();
      return tree;
    }
    if (const auto* n = expr.as<GlobalRef>(); n && module_.function(n->name)) return conversion(Type());
    if (expr.as<GlobalRef>() && !packed_symbol(module_, expr))
      not_compiled(expr.span(), "a prim_func as a value is not compiled");
    // Literals, and functions outside the module, which are their symbols.
    ValueTree tree;
    tree.kind = ValueTree::TextLeaf;
    tree.text = packed_symbol(module_, expr).value_or(text_of(expr));
    return tree;
  }

  static ValueTree tensor_leaf(std::size_t storage, int rank, DType dtype) {
    ValueTree tree;
    tree.kind = ValueTree::TensorLeaf;
    tree.storage = storage;
    tree.rank = rank;
    tree.dtype = dtype;
    return tree;
  }

  ValueTree call_tir(const CallTir& call, const Expr& expr) {
    const auto* global = call.callee.as<GlobalRef>();
    const PrimFuncPtr callee = global ? module_.prim_func(global->name) : nullptr;
    RELISH_CHECK(callee != nullptr, "callee of call_tir is not a prim_func of the module");
    const std::vector<ParamAccess> accesses = param_accesses(*callee);
    const std::vector<ParamSource> layout = call_layout(*callee, call, expr.span());
    for (std::size_t i = 0; i < call.args.size(); ++i)
      argument(call.args[i], argument_type(*callee, layout, i, call.args[i].type()));
    ValueTree results;
    for (std::size_t i = 0; i < call.out_types.size(); ++i) {
      const Type& type = call.out_types[i];
      if (i < call.inplace_indices.size() && call.inplace_indices[i] >= 0) {
        // A copy of the argument, which the function then writes to.
        const TensorType* given =
            call.args[static_cast<std::size_t>(call.inplace_indices[i])].type().tensor();
        if (!given || !given->shape || !given->dtype)
          not_compiled(expr.span(), "an argument of unknown shape that is written is not compiled");
        results.fields.push_back(
            tensor_leaf(temporary(*given->dtype, *given->shape), given->rank, *given->dtype));
        continue;
      }
      results.fields.push_back(tree_of(type, [&](const TensorType* tensor) {
        if (!tensor || !tensor->shape)
          not_compiled(expr.span(), "a call_tir result of unknown shape is not compiled");
        return temporary(*tensor->dtype, *tensor->shape);
      }));
    }
    for (std::size_t i = 0; i < layout.size(); ++i) {
      const Buffer* buffer = callee->params[i].buffer();
      if (!buffer || layout[i].kind != ParamSource::Argument || !accesses[i].written) continue;
      if (is_inplace(call, layout[i].index)) continue;
      const TensorType* type = call.args[layout[i].index].type().tensor();
      if (!type || !type->shape)
        not_compiled(expr.span(), "an argument of unknown shape that is written is not compiled");
      temporary(buffer->dtype(), *type->shape);
    }
    return call.tuple_result ? results : results.fields.at(0);
  }

  std::size_t temporary(DType dtype, const std::vector<Scalar>& dims) {
    Storage storage;
    storage.kind = Storage::Temporary;
    storage.dtype = dtype;
    storage.dims = dims;
    const std::size_t id = add(std::move(storage));
    values_.made.back().push_back(id);
    return id;
  }

  // The tree of a value whose tensors come from outside this function, each for itself.
  ValueTree returned(const Expr& expr) {
    return tree_of(expr.type(), [&](const TensorType* type) { return made_storage(type); });
  }

  // Uses of what the call of a lifted region takes beyond the region's own parameters.
  void use_captured(const Region& region) {
    const FunctionCall& call = lifted_call(region);
    const Function& callee = *module_.function(call.callee.as<GlobalRef>()->name);
    for (std::size_t i = region.params.size(); i < call.args.size(); ++i)
      argument(call.args[i], callee.params[i].type());
  }

  ValueTree function_call(const FunctionCall& call, const Expr& expr) {
    const auto* global = call.callee.as<GlobalRef>();
    const FunctionPtr callee = global ? module_.function(global->name) : nullptr;
    if (const PrimFuncPtr prim = global ? module_.prim_func(global->name) : nullptr) {
      const std::vector<ParamSource> layout =
          call_layout(*prim, CallTir{call.callee, call.args, {}, true}, expr.span());
      for (std::size_t i = 0; i < call.args.size(); ++i)
        argument(call.args[i], argument_type(*prim, layout, i, call.args[i].type()));
      return returned(expr);
    }
    if (!callee) {
      if (!global) use(value(call.callee));
      for (const Expr& arg : call.args) use(value(arg));
      return returned(expr);
    }
    std::vector<std::size_t> tensors;  // storages of the leaves of the arguments
    const std::function<void(const ValueTree&)> flatten = [&](const ValueTree& tree) {
      if (tree.has_storage()) tensors.push_back(tree.storage);
      for (const ValueTree& field : tree.fields) flatten(field);
    };
    for (std::size_t i = 0; i < call.args.size(); ++i)
      flatten(argument(call.args[i], callee->params[i].type()));
    if (lifted_function(lifted_, callee->name).owns_results) return returned(expr);
    const GraphValues* inner = callee_(*callee);
    RELISH_CHECK(inner != nullptr, callee->name);
    std::map<std::size_t, std::size_t> here;  // the callee's storage -> ours
    const std::function<ValueTree(const ValueTree&)> import = [&](const ValueTree& tree) {
      ValueTree result = tree;
      if (tree.has_storage()) {
        const Storage& storage = inner->storages[tree.storage];
        const auto known = here.find(tree.storage);
        if (known != here.end()) {
          result.storage = known->second;
        } else if (storage.kind == Storage::Param) {
          result.storage = tensors.at(storage.param);
        } else {
          Storage own;
          own.kind = storage.kind == Storage::Constant ? Storage::Constant : Storage::Returned;
          own.constant = storage.constant;
          own.dtype = storage.dtype;
          own.boxed = storage.boxed;
          result.storage = add(std::move(own));
          values_.made.back().push_back(result.storage);
        }
        here[tree.storage] = result.storage;
      }
      for (ValueTree& field : result.fields) field = import(field);
      return result;
    };
    return import(inner->result);
  }

  ValueTree packed_call(const PackedCall& call, const Expr& expr) {
    if (call.form == PackedForm::MakeClosure || !packed_symbol(module_, call.callee)) {
      // A function with arguments that are fixed, or the call of a function value.
      if (!call.callee.as<GlobalRef>()) use(value(call.callee));
      for (const Expr& arg : call.args) use(value(arg));
      return returned(expr);
    }
    if (is_machine_call(call, *packed_symbol(module_, call.callee))) {
      for (const Expr& arg : call.args) use(value(arg));
      return returned(expr);
    }
    std::vector<ValueTree> args;
    for (std::size_t i = 0; i < call.args.size(); ++i) {
      ValueTree tree = value(call.args[i]);
      use(tree);
      if (is_changed_in_place(call, i) && tree.has_storage()) {
        const TensorType* type = call.args[i].type().tensor();
        if (!type || !type->shape || tree.kind == ValueTree::BoxLeaf)
          not_compiled(expr.span(), "an argument of unknown shape that is changed is not compiled");
        tree.storage = temporary(tree.dtype, *type->shape);
      }
      args.push_back(std::move(tree));
    }
    ValueTree results;
    if (call.form == PackedForm::Dps) {
      for (const Type& type : call.out_types) {
        const TensorType& tensor = destination_type(type, expr.span());
        const std::size_t id = temporary(*tensor.dtype, *tensor.shape);
        results.fields.push_back(tensor_leaf(id, static_cast<int>(tensor.shape->size()), *tensor.dtype));
      }
      return call.tuple_result ? results : results.fields.at(0);
    }
    if (results_in_place(call, expr.span())) {
      for (const std::int64_t index : call.inplace_indices)
        results.fields.push_back(args.at(static_cast<std::size_t>(index)));
      return results.fields.size() == 1 ? results.fields[0] : results;
    }
    return returned(expr);
  }

  const LiftedFunctions& lifted_;
  const Module& module_;
  const Function& function_;
  const CalleeValues& callee_;
  GraphValues values_;
  std::int64_t position_ = 0;
  std::size_t next_param_ = 0;
};

}  // namespace

std::string text_of(const Expr& literal) {
  if (const auto* text = literal.as<StringLiteral>()) return text->value;
  if (const auto* dtype = literal.as<DTypeLiteral>()) return std::string(name_of(dtype->value));
  return {};
}

std::optional<std::string> packed_symbol(const Module& module, const Expr& callee) {
  if (const auto* external = callee.as<ExternFunc>()) return external->symbol;
  const auto* global = callee.as<GlobalRef>();
  const ExternFunctionPtr function = global ? module.extern_function(global->name) : nullptr;
  return function ? std::optional(function->symbol) : std::nullopt;
}

std::size_t slot_count(const ValueTree& tree) {
  switch (tree.kind) {
    case ValueTree::TensorLeaf:
      return 1 + static_cast<std::size_t>(tree.rank);
    case ValueTree::ShapeLeaf:
      return static_cast<std::size_t>(tree.rank);
    case ValueTree::ScalarLeaf:
    case ValueTree::BoxLeaf:
      return 1;
    case ValueTree::TextLeaf:
      return 0;
    case ValueTree::Tuple:
      break;
  }
  std::size_t count = 0;
  for (const ValueTree& field : tree.fields) count += slot_count(field);
  return count;
}

bool is_boxed(const Type& type) {
  if (const TensorType* tensor = type.tensor()) return !tensor->dtype || (!tensor->shape && tensor->rank < 0);
  if (const auto* shape = type.as<ShapeType>()) return !shape->dims && shape->rank < 0;
  // A text that is no literal is known when it is there.
  return !type.as<ScalarType>() && !type.tuple();
}

ValueTree tree_of(const Type& type, const std::function<std::size_t(const TensorType*)>& make_storage) {
  ValueTree tree;
  if (is_boxed(type)) {
    tree.kind = ValueTree::BoxLeaf;
    tree.storage = make_storage(nullptr);
  } else if (const TensorType* tensor = type.tensor()) {
    tree.kind = ValueTree::TensorLeaf;
    tree.rank = tensor->shape ? static_cast<int>(tensor->shape->size()) : tensor->rank;
    tree.dtype = *tensor->dtype;
    tree.storage = make_storage(tensor);
  } else if (const auto* shape = type.as<ShapeType>()) {
    tree.kind = ValueTree::ShapeLeaf;
    tree.rank = shape->dims ? static_cast<int>(shape->dims->size()) : shape->rank;
  } else if (const auto* scalar = type.as<ScalarType>()) {
    tree.kind = ValueTree::ScalarLeaf;
    tree.dtype = scalar->dtype;
  } else if (const TupleType* fields = type.tuple()) {
    for (const Type& field : fields->fields) tree.fields.push_back(tree_of(field, make_storage));
  } else {
    tree.kind = ValueTree::TextLeaf;
  }
  return tree;
}

bool needs_conversion(const ValueTree& from, const Type& type) {
  if (is_boxed(type)) return from.kind != ValueTree::BoxLeaf;
  if (const TensorType* tensor = type.tensor()) {
    const int rank = tensor->shape ? static_cast<int>(tensor->shape->size()) : tensor->rank;
    return from.kind != ValueTree::TensorLeaf || from.dtype != *tensor->dtype || from.rank != rank;
  }
  if (const auto* shape = type.as<ShapeType>()) {
    const int rank = shape->dims ? static_cast<int>(shape->dims->size()) : shape->rank;
    return from.kind != ValueTree::ShapeLeaf || from.rank != rank;
  }
  if (const auto* scalar = type.as<ScalarType>())
    return from.kind != ValueTree::ScalarLeaf || from.dtype != scalar->dtype;
  return from.kind != ValueTree::Tuple || type.tuple()->fields.size() != from.fields.size();
}

bool is_made_as(const ValueTree& tree, const Type& type) {
  if (tree.kind == ValueTree::BoxLeaf || type.as<AnyType>()) return true;
  if (needs_conversion(tree, type)) return false;
  const TupleType* tuple = type.tuple();
  for (std::size_t i = 0; i < tree.fields.size(); ++i)
    if (!is_made_as(tree.fields[i], tuple->fields[i])) return false;
  return true;
}

bool has_box_of(const ValueTree& tree, const Type& type) {
  if (tree.kind == ValueTree::BoxLeaf) return !type.as<AnyType>();
  const TupleType* tuple = type.tuple();
  if (!tuple || tuple->fields.size() != tree.fields.size()) return false;
  for (std::size_t i = 0; i < tree.fields.size(); ++i)
    if (has_box_of(tree.fields[i], tuple->fields[i])) return true;
  return false;
}

ValueTree converted_tree(const ValueTree& from, const Type& type,
                         const std::function<ValueTree(const ValueTree& from, const Type& type)>& convert) {
  if (needs_conversion(from, type)) return convert(from, type);
  const TupleType* tuple = type.tuple();
  if (!tuple) return from;
  ValueTree result = from;
  for (std::size_t i = 0; i < from.fields.size(); ++i)
    result.fields[i] = converted_tree(from.fields[i], tuple->fields[i], convert);
  return result;
}

const PrimParam* taking(const PrimFunc& callee, const std::vector<ParamSource>& layout,
                        std::size_t argument) {
  for (std::size_t i = 0; i < layout.size(); ++i)
    if (layout[i].kind == ParamSource::Argument && layout[i].index == argument) return &callee.params[i];
  return nullptr;
}

Type argument_type(const PrimFunc& callee, const std::vector<ParamSource>& layout, std::size_t argument,
                   const Type& given) {
  const PrimParam* param = taking(callee, layout, argument);
  if (!param) return given;
  if (const Buffer* buffer = param->buffer()) return tensor_type(buffer->shape(), buffer->dtype());
  return ScalarType{param->scalar()->dtype()};
}

Type condition_type(const Type& given) {
  const TensorType* tensor = given.tensor();
  const bool truth = tensor && tensor->dtype == DType::Bool && tensor->shape && tensor->shape->empty();
  return truth ? given : Type(ScalarType{DType::Bool});
}

GraphValues analyse(const LiftedModule& lifted, const Function& function, const CalleeValues& callee) {
  return Analysis(lifted, function, callee).run();
}

}  // namespace relish::jit
