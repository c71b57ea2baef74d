// Functions inside Relax functions, and the rule of purity.
#include <functional>
#include <optional>

#include <fmt/format.h>

#include "frontend/graph/graph_builder.h"
#include "frontend/names/suggestions.h"
#include "ir/operators/op.h"
#include "support/render.h"

namespace relish {
namespace {

// What has the effect, for the message: "R.print", "'f'".
std::string effect_of(const Expr& value) {
  if (auto* call = value.as<OpCall>()) return fmt::format("R.{}", call->op->name);
  if (auto* call = value.as<FunctionCall>()) {
    if (auto* global = call->callee.as<GlobalRef>()) return fmt::format("'{}'", printable(global->name));
    if (const Var* var = call->callee.as_var()) return fmt::format("'{}'", printable(var->name()));
  }
  if (auto* call = value.as<PackedCall>()) {
    if (call->form == PackedForm::Builtin) return "R.call_builtin_with_ctx";
    if (call->form == PackedForm::InvokeClosure) return "R.invoke_closure";
    if (call->form == PackedForm::CallTirDyn) return "R.vm.call_tir_dyn";
    return "R.call_packed";
  }
  return "a function";
}

// The block and those of the branches and loops in it.
void for_each_block(const BindingBlock& block, const std::function<void(const BindingBlock&)>& visit) {
  visit(block);
  auto inside = [&](const std::shared_ptr<const Region>& region) {
    if (!region) return;
    for (const BindingBlock& inner : region->blocks) for_each_block(inner, visit);
  };
  for (const Binding& binding : block.bindings) {
    if (auto* branch = binding.value().as<If>()) {
      inside(branch->then_region);
      inside(branch->else_region);
    } else if (auto* loop = binding.value().as<Loop>()) {
      inside(loop->condition);
      inside(loop->body);
    }
  }
}

// The names of a function while one inside it is read, whose own differ from them; behind it those are free.
class LentNames {
 public:
  LentNames(FunctionBuilder& outer, FunctionBuilder& inner) : outer_(outer), inner_(inner) {
    inner_.set_origin(outer_.origin());
    inner_.swap_names(outer_);
    mark_ = inner_.mark_names();
  }
  ~LentNames() {
    inner_.free_names(mark_);
    inner_.drop_mark();
    inner_.swap_names(outer_);
  }
  LentNames(const LentNames&) = delete;
  LentNames& operator=(const LentNames&) = delete;

 private:
  FunctionBuilder& outer_;
  FunctionBuilder& inner_;
  std::size_t mark_ = 0;
};

}  // namespace

void GraphBuilder::read_nested(const ast::Statement& statement, const ast::FunctionDefinition& definition) {
  FunctionOptions options = read_decorators(context_, definition);
  if (options.prim_func) {
    type_error(definition.name_span, "function.nested",
               fmt::format("found the prim_func '{}' inside an R.function; expected it in the module",
                           printable(definition.name)));
  }
  GraphBuilder inner(context_, globals_, definition, this);
  std::optional<LentNames> lent(std::in_place, builder_, inner.builder_);
  inner.read_header();
  bool output = is_output(definition.name, statement);
  auto variable = [&](FunctionType type) {
    return Var(definition.name, Type(std::move(type)), in_dataflow_ && !output, definition.name_span);
  };
  std::optional<Var> self;
  if (inner.has_result_annotation()) {
    FunctionType type = inner.signature();
    type.pure = options.pure;
    self = variable(std::move(type));
    inner.bind(definition.name, Bound{*self, std::nullopt}, definition.name_span);
  } else {
    inner.bind(
        definition.name,
        Unavailable{"a recursive use of a function whose result type is inferred; write -> and its type",
                    "it is defined here"},
        definition.name_span);
  }
  CommentsPtr comments = take_comments(statement.comments);
  FunctionPtr function = inner.build(comments, options);
  lent.reset();
  if (!function) throw ReadContext::Silent{};
  if (!self) self = variable(function_type_of(*function));
  if (!in_dataflow_) open_plain_block();
  builder_.append(Binding{VarBinding{*self, function_expr(function, definition.name_span)}, statement.span,
                          nullptr, false});
  bind(definition.name, Bound{*self, std::nullopt}, definition.name_span);
}

// `pure`: of the function; effects in dataflow blocks are refused in any.
void GraphBuilder::check_effects(const std::vector<BindingBlock>& blocks, bool pure) {
  for (const BindingBlock& block : blocks) {
    for (const Binding& binding : block.bindings) {
      const Expr& value = binding.value();
      if (auto* branch = value.as<If>()) {
        check_effects(branch->then_region->blocks, pure);
        check_effects(branch->else_region->blocks, pure);
      } else if (auto* loop = value.as<Loop>()) {
        if (loop->condition) check_effects(loop->condition->blocks, pure);
        check_effects(loop->body->blocks, pure);
      } else if ((pure || block.dataflow) && !value.type().is_error() && has_effects(value)) {
        Span at = value.span().known() ? value.span() : binding.span;
        if (block.dataflow) {
          context_.attempt_typed([&] {
            type_error(at, "dataflow.effect",
                       fmt::format("found a call of {}, which has effects, inside a dataflow block; expected "
                                   "it outside",
                                   effect_of(value)));
          });
          continue;
        }
        context_.attempt_typed([&] {
          std::vector<DiagnosticNote> notes{{function_.span, "the function is declared here"}};
          for (DiagnosticNote& note : without_purity(definition_)) notes.push_back(std::move(note));
          fail(ErrorClass::Type, at, "function.purity",
               fmt::format("found a call of {}, which has effects, in the pure function '{}'; expected "
                           "@R.function(pure=False)",
                           effect_of(value), printable(function_.name)),
               std::move(notes));
        });
      }
    }
  }
}

void GraphBuilder::check_purity() {
  const Attribute* forced = find_attribute(function_.attributes, "relax.force_pure");
  bool force = forced && !(forced->as<bool>() && !*forced->as<bool>()) &&
               !(forced->as<std::int64_t>() && *forced->as<std::int64_t>() == 0);
  if (!force) check_effects(function_.blocks, function_.pure);
  if (!force || function_.pure) return;
  context_.attempt_typed([&] {
    type_error(
        definition_.name_span, "function.forced",
        fmt::format("found relax.force_pure of the function '{}' with pure=False; expected one of them",
                    printable(function_.name)));
  });
}

}  // namespace relish
