// Places, conversions and checks.
#include "jit/steps/step_builder.h"

#include "ir/scalars/symbols.h"
#include "jit/steps/lifetimes.h"
#include "support/failure.h"

namespace relish::jit {

void not_compiled(Span span, const std::string& what) {
  fail(ErrorClass::Type, span, "jit.unsupported", what + "; run it with --tier interp");
}

PlaceId StepBuilder::add(Place place) {
  place.span = span_;
  place.list = list_number_;
  made_.places.push_back(std::move(place));
  return made_.places.size() - 1;
}

PlaceId StepBuilder::add(const ValueTree& leaf, Place::Origin origin) {
  Place place;
  place.kind = leaf.kind;
  place.dtype = leaf.dtype;
  place.rank = leaf.rank;
  place.origin = origin == Place::Returned && !leaf.has_storage() ? Place::Computed : origin;
  return add(std::move(place));
}

ValueTree StepBuilder::tree(const Type& type, Place::Origin origin) {
  return tree_of(type, [&](const ValueTree& leaf) { return add(leaf, origin); });
}

ValueTree StepBuilder::tensor(DType dtype, std::size_t rank, PlaceId place) const {
  ValueTree leaf;
  leaf.kind = ValueTree::TensorLeaf;
  leaf.dtype = dtype;
  leaf.rank = static_cast<int>(rank);
  leaf.place = place;
  return leaf;
}

// Constants are told apart by the memory that they hold.
ValueTree StepBuilder::constant(const Tensor& value) {
  const auto [known, fresh] = constants_.try_emplace({value.data(), value.shape(), value.dtype()}, 0);
  ValueTree leaf = tensor(value.dtype(), static_cast<std::size_t>(value.rank()), known->second);
  if (!fresh) return leaf;
  leaf.place = known->second = add(leaf, Place::Constant);
  made_.places[leaf.place].constant = value;
  return leaf;
}

ValueTree StepBuilder::shape(std::vector<Scalar> dims) {
  ValueTree leaf;
  leaf.kind = ValueTree::ShapeLeaf;
  leaf.rank = static_cast<int>(dims.size());
  leaf.place = add(leaf, Place::Computed);
  emit(step::ComputeShape{leaf.place, std::move(dims)});
  return leaf;
}

ValueTree StepBuilder::scalar(const Scalar& value) {
  ValueTree leaf;
  leaf.kind = ValueTree::ScalarLeaf;
  leaf.dtype = value.dtype();
  leaf.place = add(leaf, Place::Computed);
  emit(step::ComputeScalar{leaf.place, value});
  return leaf;
}

PlaceId StepBuilder::temporary(DType dtype, const std::vector<Scalar>& dims) {
  const PlaceId id = add(tensor(dtype, dims.size(), 0), Place::Temporary);
  made_.places[id].dims = dims;
  return id;
}

PlaceId StepBuilder::copied(PlaceId from, PlaceId to) {
  emit(step::Allocate{to, false});
  emit(step::Copy{from, to});
  return to;
}

StepList StepBuilder::finished(StepList steps) const {
  return with_releases(std::move(steps), made_.places, list_number_);
}

void StepBuilder::give(const ValueTree& value) {
  for_each_leaf(value, [&](const ValueTree& leaf) {
    Place& place = made_.places[leaf.place];
    if (place.list == list_number_) place.given = true;
  });
}

ValueTree StepBuilder::shared(const ValueTree& value) {
  ValueTree result = value;
  for (ValueTree& field : result.fields) field = shared(field);
  if (!value.has_storage()) return result;
  result.place = add(value, Place::Returned);
  emit(step::Share{value.place, result.place});
  give(result);
  return result;
}

ValueTree StepBuilder::for_others(const ValueTree& value) {
  ValueTree result = value;
  for (ValueTree& field : result.fields) field = for_others(field);
  if (!value.has_storage()) return result;
  const Place& place = made_.places[value.place];
  const bool own = place.origin == Place::Temporary || place.origin == Place::Returned || place.donated;
  if (!own || place.given) return shared(value);
  give(value);
  return result;
}

ValueTree StepBuilder::convert(const ValueTree& from, const Type& type, Span span,
                               const std::function<std::string()>& what, const Type* whole) {
  if (needs_conversion(from, type)) {
    ValueTree result = tree(type, Place::Returned);
    const Span outer = std::exchange(span_, span);
    emit(step::Convert{from, result, type, whole ? *whole : type, what()});
    span_ = outer;
    return result;
  }
  ValueTree result = from;
  if (const TupleType* tuple = type.tuple(); tuple && from.kind == ValueTree::Tuple)
    for (std::size_t i = 0; i < from.fields.size(); ++i)
      result.fields[i] = convert(from.fields[i], tuple->fields[i], span, what, whole ? whole : &type);
  return result;
}

void StepBuilder::bind(const ScalarVar& symbol, PlaceId place, int dim) {
  if (symbols_.insert(symbol.id()).second) emit(step::BindSize{symbol, place, dim});
}

void StepBuilder::bind_sizes(const ValueTree& value, const Type& type) {
  if (const TupleType* tuple = type.tuple()) {
    for (std::size_t i = 0; i < tuple->fields.size() && i < value.fields.size(); ++i)
      bind_sizes(value.fields[i], tuple->fields[i]);
    return;
  }
  const TensorType* tensor = value.kind == ValueTree::TensorLeaf ? type.tensor() : nullptr;
  const auto* shape = value.kind == ValueTree::ShapeLeaf ? type.as<ShapeType>() : nullptr;
  const std::optional<std::vector<Scalar>>* dims = tensor ? &tensor->shape : shape ? &shape->dims : nullptr;
  if (!dims || !*dims) return;
  for (int d = 0; d < value.rank && d < static_cast<int>((*dims)->size()); ++d)
    if (const auto var = (**dims)[static_cast<std::size_t>(d)].as_var()) bind(*var, value.place, d);
}

void StepBuilder::match(const ValueTree& value, const Type& type, Span span, const std::string& what) {
  bind_sizes(value, type);
  // What is in a box, or cannot fit, which the whole value says best.
  if (has_box_of(value, type) || !is_made_as(value, type)) return check_value(value, type, span, what);
  const TensorType* tensor = type.tensor();
  const auto* shape = type.as<ShapeType>();
  if ((tensor && value.kind == ValueTree::TensorLeaf) || (shape && value.kind == ValueTree::ShapeLeaf)) {
    const Span outer = std::exchange(span_, span);
    emit(step::CheckShape{value.place, type, what});
    span_ = outer;
  }
  if (const TupleType* tuple = type.tuple())
    for (std::size_t i = 0; i < tuple->fields.size(); ++i)
      match(value.fields[i], tuple->fields[i], span, what);
}

// Sizes that are known go along, those that the type determines come back.
void StepBuilder::check_value(const ValueTree& value, const Type& type, Span span, const std::string& what) {
  if (type.as<AnyType>()) return;
  const Span outer = std::exchange(span_, span);
  step::CheckValue check{value, type, what, {}, {}, {}, {}};
  std::vector<ScalarVar> vars, determined;
  collect_vars(type, vars);
  collect_determined(type, determined);
  std::vector<Scalar> known;
  for (const ScalarVar& var : vars) {
    if (!symbols_.contains(var.id())) continue;
    check.known_symbols.push_back(var);
    known.emplace_back(var);
  }
  for (const ScalarVar& var : determined)
    if (!symbols_.contains(var.id())) check.found_symbols.push_back(var);
  check.known = shape(std::move(known));
  check.sizes.kind = ValueTree::ShapeLeaf;
  check.sizes.rank = static_cast<int>(check.found_symbols.size());
  const PlaceId sizes = check.sizes.place = add(check.sizes, Place::Computed);
  const std::vector<ScalarVar> found = check.found_symbols;
  emit(std::move(check));
  for (std::size_t i = 0; i < found.size(); ++i) bind(found[i], sizes, static_cast<int>(i));
  span_ = outer;
}

PlaceId StepBuilder::truth(const ValueTree& value) {
  if (value.kind == ValueTree::ScalarLeaf && is_bool(value.dtype)) return value.place;
  ValueTree result;
  result.kind = ValueTree::ScalarLeaf;
  result.dtype = DType::Bool;
  result.place = add(result, Place::Computed);
  emit(step::Truth{value, result.place});
  return result.place;
}

}  // namespace relish::jit
