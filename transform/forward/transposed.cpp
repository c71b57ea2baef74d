// Transposing a gradient rule: its steps are recorded for a symbolic cotangent and walked backwards, and what
// the result needs of both ways is kept.
#include "transform/forward/transposed.h"

#include <fmt/format.h>

#include <unordered_set>

#include "support/failure.h"
#include "transform/gradient/reverse.h"
#include "transform/gradient/rule_check.h"
#include "transform/rebuild.h"
#include "transform/transpose_cleanup.h"

namespace relish {
namespace {

// Of a known rank and open sizes.
bool leaves_sizes_open(const Type& type) {
  const TensorType* tensor = type.tensor();
  return tensor && !tensor->shape && tensor->rank > 0;
}

class Transposition {
 public:
  // `names_sizes`: the rule asks for sizes of the output that its type leaves open.
  Transposition(GradientJob& job, const Var& output, FunctionBuilder& builder, bool names_sizes)
      : job_(job), output_(output), builder_(builder), names_sizes_(names_sizes) {
    // Only what hangs on the cotangent takes part here.
    std::swap(around_, job.varied);
    scratch_.set_origin(builder.origin());
  }
  Transposition(const Transposition&) = delete;
  Transposition& operator=(const Transposition&) = delete;
  ~Transposition() { std::swap(around_, job_.varied); }

  Adjoint run(const std::vector<Adjoint>& tangents, const PartialsOf& partials_of) {
    scratch_.begin_block(false);
    const Expr cotangent = cotangent_of(output_.type(), Expr(output_));
    for (const Var& var : cotangents_) job_.varied.insert(var.id());
    std::vector<Expr> partials = partials_of(cotangent, scratch_), targets;
    for (std::size_t i = 0; i < partials.size(); ++i) {
      if (!partials[i].defined() || i >= tangents.size() || tangents[i].empty()) {
        partials[i] = Expr();
        continue;
      }
      partials[i] = bound(partials[i]);
      targets.push_back(partials[i]);
    }
    scratch_.end_block();
    const std::vector<Binding> steps = scratch_.take_bindings();
    job_.vary(steps);
    Diagnostics diagnostics;
    RuleCheck(job_, diagnostics).check(steps, targets);
    throw_if_errors(diagnostics);
    Reverse reverse(job_, scratch_);
    scratch_.begin_block(false);
    reverse.forward(steps, targets);
    for (std::size_t i = 0; i < partials.size(); ++i)
      if (partials[i].defined()) reverse.seed(partials[i], tangents[i]);
    reverse.backward();
    scratch_.end_block();
    made_ = scratch_.take_bindings();
    VarMap tidied;
    made_ = simplify_transposes(std::move(made_), 0, scratch_, tidied);
    for (const Var& var : cotangents_) {
      const Expr& tangent = reverse.of(var).value;
      found_.push_back(tangent.defined() ? substitute(tangent, tidied) : tangent);
    }
    find_live();
    emit_live();
    std::size_t next = 0;
    return result_of(output_.type(), next);
  }

 private:
  // A cotangent of the type: variables for what is floating, zeros for the rest.
  Expr cotangent_of(const Type& type, const Expr& like) {
    if (const TupleType* tuple_type = type.tuple()) {
      std::vector<Expr> fields;
      for (int i = 0; i < static_cast<int>(tuple_type->fields.size()); ++i)
        fields.push_back(cotangent_of(tuple_type->fields[static_cast<std::size_t>(i)],
                                      scratch_.emit(tuple_get(like, i, scratch_.origin()), "lv")));
      return tuple(std::move(fields), scratch_.origin());
    }
    if (!counts(type)) return Reverse(job_, scratch_).as_expr({}, type, like);
    const bool named = names_sizes_ && leaves_sizes_open(type) && like.as_var() && *like.as_var() == output_;
    cotangents_.emplace_back("ct", named ? with_named_sizes() : type, false, scratch_.origin());
    return Expr(cotangents_.back());
  }

  // The output's type with its sizes under names, which a cast of it gives.
  Type with_named_sizes() {
    TensorType type = *output_.type().tensor();
    std::vector<Scalar> dims;
    for (int d = 0; d < type.rank; ++d)
      dims.push_back(use(ScalarVar(builder_.fresh_name(fmt::format("{}_size{}", output_.name(), d)),
                                   DType::Int64, builder_.origin())));
    type.shape = std::move(dims);
    Binding cast;
    cast.kind = MatchCast{Var(builder_.fresh_name(output_.name()), Type(type), false, builder_.origin()),
                          Expr(output_), Type(type)};
    cast.span = builder_.origin();
    builder_.append(cast);
    return Type(type);
  }

  static bool counts(const Type& type) { return has_floats(type) || may_hide_floats(type); }

  Expr bound(const Expr& value) {
    if (const auto* literal = value.as<TupleExpr>()) {
      std::vector<Expr> fields;
      for (const Expr& field : literal->fields) fields.push_back(bound(field));
      return tuple(std::move(fields), value.span());
    }
    return scratch_.emit(value, "lv");
  }

  void need(const Expr& value) {
    for (const Var& var : used_vars(value)) live_.insert(var.id());
  }

  // Which steps the tangents need.
  void find_live() {
    for (const Expr& tangent : found_) {
      if (!tangent.defined()) continue;
      need(tangent);
      if (const Var* last = tangent.as_var()) results_.insert(last->id());
    }
    for (auto it = made_.rbegin(); it != made_.rend(); ++it)
      if (live_.contains(it->var().id())) need(it->value());
  }

  // Into the function, under names of its own; a step that only names another is that one.
  void emit_live() {
    for (const Var& var : cotangents_)
      if (live_.contains(var.id()))
        renamed_.insert_or_assign(var.id(), Reverse(job_, builder_).as_expr({}, var.type(), like_of(var)));
    for (const Binding& binding : made_) {
      const Var& var = binding.var();
      if (!live_.contains(var.id())) continue;
      const std::string name = results_.contains(var.id()) ? output_.name() + "_dot" : "lv";
      if (const auto* cast = std::get_if<MatchCast>(&binding.kind)) {
        Binding copy = binding;
        copy.kind = MatchCast{Var(builder_.fresh_name(name), var.type(), false, var.span()),
                              substitute(cast->value, renamed_), cast->type};
        renamed_.insert_or_assign(var.id(), Expr(copy.var()));
        builder_.append(copy);
      } else {
        renamed_.insert_or_assign(var.id(), builder_.emit(substitute(binding.value(), renamed_), name));
      }
    }
  }

  // The field of the output that the cotangent is for.
  Expr like_of(const Var& cotangent) {
    std::size_t wanted = 0;
    while (!(cotangents_[wanted] == cotangent)) ++wanted;
    Expr found;
    std::size_t next = 0;
    const std::function<void(const Type&, const Expr&)> search = [&](const Type& type, const Expr& value) {
      const TupleType* fields = type.tuple();
      if (!fields && counts(type) && next++ == wanted) found = value;
      for (int i = 0; fields && i < static_cast<int>(fields->fields.size()); ++i)
        search(fields->fields[static_cast<std::size_t>(i)], tuple_get(value, i, builder_.origin()));
    };
    search(output_.type(), Expr(output_));
    return builder_.emit(found, "lv");
  }

  Adjoint result_of(const Type& type, std::size_t& next) {
    Adjoint result;
    if (const TupleType* fields = type.tuple()) {
      for (const Type& field : fields->fields) result.fields.push_back(result_of(field, next));
    } else if (counts(type)) {
      const Expr& tangent = found_[next++];
      if (tangent.defined())
        result.value = builder_.emit(substitute(tangent, renamed_), output_.name() + "_dot");
    }
    return result;
  }

  GradientJob& job_;
  const Var& output_;
  FunctionBuilder& builder_;
  const bool names_sizes_;
  std::unordered_set<std::uint64_t> around_;  // what varies in the function
  FunctionBuilder scratch_;
  std::vector<Var> cotangents_;
  std::vector<Expr> found_;  // by cotangent: the tangent of its place; undefined: zero
  std::vector<Binding> made_;
  std::unordered_set<std::uint64_t> live_, results_;
  VarMap renamed_;
};

}  // namespace

Adjoint transposed(GradientJob& job, const Var& output, const std::vector<Adjoint>& tangents,
                   const PartialsOf& partials, FunctionBuilder& builder) {
  bool any = false;
  for (const Adjoint& tangent : tangents) any = any || !tangent.empty();
  if (!any) return {};
  try {
    return Transposition(job, output, builder, false).run(tangents, partials);
  } catch (const Failure& failure) {
    if (failure.error_class() != ErrorClass::Type || !leaves_sizes_open(output.type())) throw;
  }
  return Transposition(job, output, builder, true).run(tangents, partials);
}

}  // namespace relish
