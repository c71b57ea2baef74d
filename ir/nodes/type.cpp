// Types: construction, equality, fit, join and substitution.
#include "ir/nodes/type.h"

#include <algorithm>
#include <unordered_set>

#include "ir/scalars/scalar_order.h"
#include "runtime/tensor.h"
#include "support/failure.h"

namespace relish {
namespace {

using Dims = std::optional<std::vector<Scalar>>;

// Whether numbers alone make the value. Variables stand near the top of most dimensions, so this is quick.
bool is_number(const Scalar& root) {
  std::vector<const Scalar*> pending{&root};
  while (!pending.empty()) {
    const Scalar& scalar = *pending.back();
    pending.pop_back();
    if (scalar.as<VarUse>() || scalar.as<Load>()) return false;
    for_each_operand(scalar, [&](const Scalar& operand) { pending.push_back(&operand); });
  }
  return true;
}

// Dimensions are int64 whatever the text wrote: a literal changes its dtype, other integers are cast.
// Arithmetic on numbers that canonical forms left is arithmetic that does not fit int64: its value or its
// fault.
Scalar as_dimension(const Scalar& dim) {
  RELISH_CHECK(dim.defined());
  if (dim.dtype() == DType::Int64) {
    if (dim.as<IntLiteral>() || dim.as<VarUse>() || !is_number(dim)) return dim;
    const auto value = evaluate_int(dim, [](const ScalarVar&) { return std::optional<std::int64_t>(); });
    return value ? int_literal(DType::Int64, *value, dim.span()) : dim;
  }
  if (auto value = dim.as_int(); value && is_int(dim.dtype()))
    return int_literal(DType::Int64, *value, dim.span());
  if (!is_int(dim.dtype())) {
    fail(ErrorClass::Type, dim.span(), "shape.dtype",
         fmt::format("dimension has dtype {}; expected an integer", name_of(dim.dtype())));
  }
  return cast(DType::Int64, dim, dim.span());
}

void normalize(Dims& dims, int& rank) {
  if (!dims) return;
  for (Scalar& dim : *dims) {
    dim = as_dimension(dim);
  }
  rank = static_cast<int>(dims->size());
}

std::shared_ptr<const TypeKind> make_kind(TypeKind kind) {
  if (auto* tensor = std::get_if<TensorType>(&kind)) {
    normalize(tensor->shape, tensor->rank);
    if (tensor->rank > 0) check_rank(static_cast<std::size_t>(tensor->rank));
  }
  if (auto* shape = std::get_if<ShapeType>(&kind)) normalize(shape->dims, shape->rank);
  return std::make_shared<const TypeKind>(std::move(kind));
}

const std::shared_ptr<const TypeKind>& any_kind() {
  static const auto kind = std::make_shared<const TypeKind>(AnyType{});
  return kind;
}

bool same_dims(const Dims& a, int rank_a, const Dims& b, int rank_b) {
  if (a.has_value() != b.has_value() || rank_a != rank_b) return false;
  return !a || std::equal(a->begin(), a->end(), b->begin(), b->end(), prove_equal);
}

Fit worst(Fit a, Fit b) { return std::max(a, b); }

Fit fit_dims(const Dims& value, int value_rank, const Dims& wanted, int wanted_rank) {
  if (wanted_rank < 0) return Fit::Always;
  if (value_rank < 0) return Fit::Maybe;
  if (value_rank != wanted_rank) return Fit::Never;
  if (!wanted) return Fit::Always;
  if (!value) return Fit::Maybe;
  Fit fit = Fit::Always;
  for (std::size_t i = 0; i < wanted->size(); ++i) {
    if (prove_equal((*value)[i], (*wanted)[i])) continue;
    if (prove_different((*value)[i], (*wanted)[i])) return Fit::Never;
    fit = Fit::Maybe;
  }
  return fit;
}

// Shape when all dims agree, else the rank when that agrees.
void join_dims(const Dims& a, int rank_a, const Dims& b, int rank_b, Dims& dims, int& rank) {
  rank = rank_a == rank_b ? rank_a : -1;
  if (a && b && same_dims(a, rank_a, b, rank_b)) dims = a;
}

// Calls `visit(a, b)` when both types are of the kind K.
template <class K, class F>
bool both(const Type& a, const Type& b, F&& visit) {
  const K *x = a.as<K>(), *y = b.as<K>();
  if (!x || !y) return false;
  visit(*x, *y);
  return true;
}

}  // namespace

Type::Type() : kind_(any_kind()) {}

Type::Type(TypeKind kind) : kind_(make_kind(std::move(kind))) {}

Type::Type(FunctionType t) : Type(TypeKind(std::make_shared<const FunctionType>(std::move(t)))) {}

const FunctionType* Type::function() const {
  const auto* function = as<std::shared_ptr<const FunctionType>>();
  return function ? function->get() : nullptr;
}

Type tensor_type(std::vector<Scalar> dims, DType dtype) {
  return TensorType{.dtype = dtype, .shape = std::move(dims), .rank = -1};
}

Type void_type() {
  static const Type type = TupleType{};
  return type;
}

bool same_type(const Type& a, const Type& b) {
  if (a.same_as(b) || a.is_error() || b.is_error()) return true;
  if (a.kind().index() != b.kind().index()) return false;
  bool same = true;
  both<TensorType>(a, b, [&](const TensorType& x, const TensorType& y) {
    same = x.dtype == y.dtype && same_dims(x.shape, x.rank, y.shape, y.rank);
  });
  both<TupleType>(a, b, [&](const TupleType& x, const TupleType& y) {
    same = std::equal(x.fields.begin(), x.fields.end(), y.fields.begin(), y.fields.end(), same_type);
  });
  both<ShapeType>(a, b, [&](const ShapeType& x, const ShapeType& y) {
    same = same_dims(x.dims, x.rank, y.dims, y.rank);
  });
  both<ScalarType>(a, b, [&](const ScalarType& x, const ScalarType& y) { same = x.dtype == y.dtype; });
  both<StackType>(a, b,
                  [&](const StackType& x, const StackType& y) { same = same_type(*x.element, *y.element); });
  if (const FunctionType *x = a.function(), *y = b.function(); x && y) {
    same = x->pure == y->pure && x->opaque == y->opaque && same_type(x->result, y->result) &&
           (x->opaque ||
            (std::equal(x->params.begin(), x->params.end(), y->params.begin(), y->params.end(), same_type)));
  }
  return same;
}

Fit fits(const Type& value, const Type& wanted) {
  if (value.same_as(wanted) || value.is_error() || wanted.is_error() || wanted.as<AnyType>())
    return Fit::Always;
  if (value.as<AnyType>()) return Fit::Maybe;
  if (value.kind().index() != wanted.kind().index()) return Fit::Never;
  Fit fit = Fit::Always;
  both<TensorType>(value, wanted, [&](const TensorType& v, const TensorType& w) {
    if (w.dtype && v.dtype && *v.dtype != *w.dtype)
      fit = Fit::Never;
    else if (w.dtype && !v.dtype)
      fit = Fit::Maybe;
    fit = worst(fit, fit_dims(v.shape, v.rank, w.shape, w.rank));
  });
  both<TupleType>(value, wanted, [&](const TupleType& v, const TupleType& w) {
    if (v.fields.size() != w.fields.size()) {
      fit = Fit::Never;
      return;
    }
    for (std::size_t i = 0; i < v.fields.size(); ++i) fit = worst(fit, fits(v.fields[i], w.fields[i]));
  });
  both<ShapeType>(value, wanted, [&](const ShapeType& v, const ShapeType& w) {
    fit = fit_dims(v.dims, v.rank, w.dims, w.rank);
  });
  both<ScalarType>(value, wanted, [&](const ScalarType& v, const ScalarType& w) {
    if (v.dtype != w.dtype) fit = Fit::Never;
  });
  both<StackType>(value, wanted, [&](const StackType& v, const StackType& w) {
    fit = same_type(*v.element, *w.element) ? Fit::Always : fits(*v.element, *w.element);
  });
  if (const FunctionType *v = value.function(), *w = wanted.function(); v && w) {
    fit = fits(v->result, w->result);
    if (w->pure && !v->pure) return Fit::Never;
    if (w->opaque) return fit;
    if (v->opaque) return worst(fit, Fit::Maybe);
    if (v->params.size() != w->params.size()) return Fit::Never;
    for (std::size_t i = 0; i < v->params.size(); ++i) fit = worst(fit, fits(w->params[i], v->params[i]));
  }
  return fit;
}

Type join(const Type& a, const Type& b) {
  if (a.same_as(b) || a.is_error()) return a;
  if (b.is_error()) return b;
  if (a.kind().index() != b.kind().index()) return Type();
  Type joined = a;  // kinds without contents
  both<TensorType>(a, b, [&](const TensorType& x, const TensorType& y) {
    TensorType t;
    if (x.dtype == y.dtype) t.dtype = x.dtype;
    if (x.vdevice == y.vdevice) t.vdevice = x.vdevice;
    join_dims(x.shape, x.rank, y.shape, y.rank, t.shape, t.rank);
    joined = std::move(t);
  });
  both<TupleType>(a, b, [&](const TupleType& x, const TupleType& y) {
    if (x.fields.size() != y.fields.size()) {
      joined = Type();
      return;
    }
    TupleType t;
    for (std::size_t i = 0; i < x.fields.size(); ++i) t.fields.push_back(join(x.fields[i], y.fields[i]));
    joined = std::move(t);
  });
  both<ShapeType>(a, b, [&](const ShapeType& x, const ShapeType& y) {
    ShapeType t;
    join_dims(x.dims, x.rank, y.dims, y.rank, t.dims, t.rank);
    joined = std::move(t);
  });
  both<ScalarType>(a, b, [&](const ScalarType& x, const ScalarType& y) {
    if (x.dtype != y.dtype) joined = Type();
  });
  if (const FunctionType *x = a.function(), *y = b.function(); x && y && !same_type(a, b)) {
    joined = FunctionType{
        .params = {}, .result = join(x->result, y->result), .pure = x->pure && y->pure, .opaque = true};
  }
  both<StackType>(a, b, [&](const StackType& x, const StackType& y) {
    joined = Type(StackType{std::make_shared<const Type>(join(*x.element, *y.element))});
  });
  return joined;
}

namespace {

// The dims with variables replaced, canonical where something changed; false when nothing did.
bool substitute_dims(Dims& dims, const ScalarMap& scalars) {
  if (!dims) return false;
  bool changed = false;
  for (Scalar& dim : *dims) {
    Scalar replaced = substitute(dim, scalars);
    if (replaced.same_as(dim)) continue;
    dim = canonical(replaced);
    changed = true;
  }
  return changed;
}

bool substitute_all(std::vector<Type>& types, const ScalarMap& scalars) {
  bool changed = false;
  for (Type& type : types) {
    Type replaced = substitute(type, scalars);
    if (replaced.same_as(type)) continue;
    type = std::move(replaced);
    changed = true;
  }
  return changed;
}

}  // namespace

Type substitute(const Type& type, const ScalarMap& scalars) {
  if (scalars.empty()) return type;
  if (const TensorType* tensor = type.tensor()) {
    TensorType copy = *tensor;
    return substitute_dims(copy.shape, scalars) ? Type(std::move(copy)) : type;
  }
  if (const auto* shape = type.as<ShapeType>()) {
    ShapeType copy = *shape;
    return substitute_dims(copy.dims, scalars) ? Type(std::move(copy)) : type;
  }
  if (const TupleType* tuple = type.tuple()) {
    TupleType copy = *tuple;
    return substitute_all(copy.fields, scalars) ? Type(std::move(copy)) : type;
  }
  if (const FunctionType* function = type.function()) {
    FunctionType copy = *function;
    Type result = substitute(copy.result, scalars);
    const bool result_changed = !result.same_as(copy.result);
    copy.result = std::move(result);
    return substitute_all(copy.params, scalars) || result_changed ? Type(std::move(copy)) : type;
  }
  if (const auto* stack = type.as<StackType>()) {
    Type element = substitute(*stack->element, scalars);
    if (element.same_as(*stack->element)) return type;
    return StackType{std::make_shared<const Type>(std::move(element))};
  }
  return type;
}

namespace {

// Variables of a type, each once: also of a function type of many parameters in time linear in its size.
class VarCollector {
 public:
  explicit VarCollector(std::vector<ScalarVar>& into) : into_(into) {}

  void collect(const Type& type) {
    if (const TensorType* tensor = type.tensor()) collect(tensor->shape);
    if (const auto* shape = type.as<ShapeType>()) collect(shape->dims);
    if (const TupleType* tuple = type.tuple()) {
      for (const Type& field : tuple->fields) collect(field);
    }
    if (const FunctionType* function = type.function()) {
      for (const Type& param : function->params) collect(param);
      collect(function->result);
    }
    if (const auto* stack = type.as<StackType>()) collect(*stack->element);
  }

 private:
  void collect(const Dims& dims) {
    if (!dims) return;
    for (const Scalar& dim : *dims) {
      if (dim.as<IntLiteral>()) continue;
      if (auto var = dim.as_var()) {
        add(*var);
        continue;
      }
      std::vector<ScalarVar> own;
      collect_vars(dim, own);
      for (const ScalarVar& var : own) add(var);
    }
  }
  void add(const ScalarVar& var) {
    if (seen_.empty()) {
      for (const ScalarVar& earlier : into_) seen_.insert(earlier.id());
    }
    if (seen_.insert(var.id()).second) into_.push_back(var);
  }

  std::vector<ScalarVar>& into_;
  std::unordered_set<std::uint64_t> seen_;
};

}  // namespace

void collect_vars(const Type& type, std::vector<ScalarVar>& into) { VarCollector(into).collect(type); }

bool fully_known(const Type& type) {
  if (const TensorType* tensor = type.tensor()) return tensor->dtype && tensor->shape;
  if (const auto* shape = type.as<ShapeType>()) return shape->dims.has_value();
  if (const TupleType* tuple = type.tuple()) {
    return std::all_of(tuple->fields.begin(), tuple->fields.end(), fully_known);
  }
  if (const FunctionType* function = type.function()) {
    return !function->opaque && fully_known(function->result) &&
           std::all_of(function->params.begin(), function->params.end(), fully_known);
  }
  if (const auto* stack = type.as<StackType>()) return fully_known(*stack->element);
  return !type.as<AnyType>() && !type.is_error();
}

}  // namespace relish
