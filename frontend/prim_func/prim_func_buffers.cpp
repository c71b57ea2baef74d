// Buffers inside prim_funcs: allocations of all versions, views of other buffers, stores of elements and of
// vectors.
#include <array>
#include <unordered_set>

#include <fmt/format.h>

#include "frontend/prim_func/prim_func_builder.h"
#include "frontend/prim_func/prim_func_parts.h"
#include "frontend/text/ast_walk.h"
#include "frontend/types/attribute_reader.h"
#include "ir/rewriting/rewrite.h"
#include "ir/verify/view_bounds.h"
#include "support/counted.h"
#include "support/fix.h"
#include "support/render.h"

namespace relish {
namespace {

bool shared_by_threads(const std::string& scope) {
  for (std::string_view prefix : {"shared", "warp", "wmma", "m16n8k8", "mma", "metal", "tmem"}) {
    if (std::string_view(scope).substr(0, prefix.size()) == prefix) return true;
  }
  return false;
}

}  // namespace

Buffer PrimFuncBuffers::buffer_target(const ast::Subscript& subscript) {
  const ast::Expr* object = subscript.object.get();
  while (auto* inner = object->as<ast::Subscript>()) object = inner->object.get();
  const std::string& name = name_target(*object);
  ScalarMeaning meaning = find(name, object->span);
  if (auto* buffer = std::get_if<Buffer>(&meaning)) return *buffer;
  if (std::holds_alternative<std::monostate>(meaning)) fail_unknown_name(name, object->span, names());
  if (auto* scalar = std::get_if<Scalar>(&meaning); scalar && !scalar->defined()) throw ReadContext::Silent{};
  type_error(object->span, "store.target",
             fmt::format("found a store into '{}', which is no buffer", printable(name)));
}

// The lanes of a store: those of its indices, which the value must have, or be a scalar.
int PrimFuncBuffers::stored_lanes(const std::vector<Scalar>& indices, const ScalarOperand& value,
                                  Span at) const {
  int lanes = 1;
  for (const Scalar& index : indices) lanes = std::max(lanes, reader_.lanes_of(index, at));
  int given = std::max(value.lanes, reader_.lanes_of(value.value, at));
  if (given != 1 && given != lanes) {
    type_error(at, "vector.store",
               fmt::format("found a store of {} into {}; expected as many", counted(given, "lane"),
                           counted(lanes, "element")));
  }
  return lanes;
}

void PrimFuncBuffers::suggest_element(Failure& failure, const ast::Subscript& target) {
  Diagnostic& diagnostic = failure.diagnostics()[0];
  if (diagnostic.id != "buffer.value") return;
  Entry* entry = look_up(std::string(context_.text_of(diagnostic.span)));
  auto* buffer = entry ? std::get_if<Buffer>(&entry->meaning) : nullptr;
  if (!buffer || buffer->rank() != static_cast<int>(target.items.size())) {
    if (buffer && buffer->rank() == 0) diagnostic.notes.push_back(insert_here(diagnostic.span, "[()]"));
    return;
  }
  const Span indices{diagnostic.span.file, target.items.front()->span.begin, target.items.back()->span.end};
  diagnostic.notes.push_back(insert_here(diagnostic.span, fmt::format("[{}]", context_.text_of(indices))));
}

void PrimFuncBuffers::suggest_indices(Failure& failure, const Buffer& buffer, const ast::Subscript& target,
                                      const ast::Expr& value) {
  Diagnostic& diagnostic = failure.diagnostics()[0];
  const std::string* name = ast::name_of(*target.object);
  if (diagnostic.id != "buffer.rank" || !name || target.items.empty() ||
      static_cast<int>(target.items.size()) >= buffer.rank() ||
      diagnostic.span.begin != target.object->span.begin ||
      std::any_of(diagnostic.notes.begin(), diagnostic.notes.end(), is_fix))
    return;
  bool found = false;
  ast::for_each_expr(value, [&](const ast::Expr& inner) {
    auto* other = inner.as<ast::Subscript>();
    const std::string* read = other ? ast::name_of(*other->object) : nullptr;
    if (found || !read || *read != *name || static_cast<int>(other->items.size()) != buffer.rank()) return;
    // What is written stands there too, in the same order.
    std::size_t matched = 0;
    for (const ast::ExprPtr& item : other->items) {
      if (matched < target.items.size() &&
          context_.text_of(item->span) == context_.text_of(target.items[matched]->span))
        ++matched;
    }
    if (matched != target.items.size()) return;
    found = true;
    const auto of = [](const ast::Subscript& subscript) {
      return Span{subscript.object->span.file, subscript.items.front()->span.begin,
                  subscript.items.back()->span.end};
    };
    diagnostic.notes.push_back(write_here(of(target), context_.text_of(of(*other))));
  });
}

void PrimFuncBuffers::store(const ast::Statement& statement, const ast::Expr& target,
                            const ast::Subscript& subscript, const ast::Expr& value,
                            std::vector<Stmt>& into) {
  Buffer buffer = buffer_target(subscript);
  std::vector<Scalar> indices;
  ScalarOperand operand;
  try {
    indices = reader_.read_indices(buffer, subscript, target.span);
    operand = reader_.operand(value);
  } catch (Failure& failure) {
    suggest_element(failure, subscript);
    suggest_indices(failure, buffer, subscript, value);
    throw;
  }
  int lanes = stored_lanes(indices, operand, statement.span);
  Scalar stored = reader_.convert(buffer.dtype(), operand, value.span).value;
  store_lanes(buffer, indices, stored, lanes, statement.span, take_comments(statement.comments), into);
}

// A loop over the lanes. A value that reads other elements of what it writes goes through a temporary, since
// all of it is read before anything is written.
void PrimFuncBuffers::store_lanes(const Buffer& buffer, const std::vector<Scalar>& indices,
                                  const Scalar& value, int lanes, Span at, CommentsPtr comments,
                                  std::vector<Stmt>& into, const Scalar& predicate) {
  if (lanes == 1) {
    const bool always = !predicate.defined() || predicate.as_int() == 1;
    Stmt stored = make_stmt(Store{buffer, indices, value}, at, always ? comments : nullptr);
    into.push_back(always ? stored : make_stmt(IfStmt{predicate, stored, {}}, at, comments));
    return;
  }
  const std::uint64_t lane = reader_.lane(lanes).id();
  bool overlaps = false;
  const auto look_for_overlap = [&](const Scalar& inner) {
    const Load* load = inner.as<Load>();
    if (!load) return;
    if (*load->buffer == buffer) {
      overlaps = overlaps || !std::equal(load->indices.begin(), load->indices.end(), indices.begin(),
                                         indices.end(), structurally_equal);
    } else {
      overlaps = overlaps || has_views_;
    }
  };
  for_each_scalar(value, look_for_overlap);
  if (predicate.defined()) for_each_scalar(predicate, look_for_overlap);
  auto loop = [&](const Buffer& to, auto&& make_indices, const Scalar& element, const Scalar& when) {
    ScalarVar variable("lane", DType::Int32, at);
    ScalarMap map{{lane, use(variable, at)}};
    std::vector<Scalar> places = make_indices(map);
    Stmt body = make_stmt(Store{to, std::move(places), substitute(element, map)}, at);
    if (when.defined() && when.as_int() != 1) body = make_stmt(IfStmt{substitute(when, map), body, {}}, at);
    Scalar extent = int_literal(DType::Int32, lanes, at);
    into.push_back(
        make_stmt(For{variable, int_literal(DType::Int32, 0, at), extent, LoopKind::Vectorized, body, {}}, at,
                  std::exchange(comments, nullptr)));
  };
  auto substituted = [&](const ScalarMap& map) {
    std::vector<Scalar> places;
    for (const Scalar& index : indices) places.push_back(substitute(index, map));
    return places;
  };
  if (!overlaps) return loop(buffer, substituted, value, predicate);
  const auto kept = [&](std::string_view name, const Scalar& element) {
    Buffer all(std::string(name), element.dtype(), {int_literal(DType::Int32, lanes, at)}, "local", at);
    allocate_local(all, at, into);
    loop(all, [&](const ScalarMap& map) { return std::vector<Scalar>{map.at(lane)}; }, element, {});
    return load(all, {use(reader_.lane(lanes), at)}, at);
  };
  const Scalar when = predicate.defined() ? kept("taken", predicate) : Scalar();
  loop(buffer, substituted, kept("lanes", value), when);
}

// B.vstore([T.Ramp(0, 1, 4)], value, predicate=mask) and T.buffer_store(B, value, [i], predicate). False for
// any other call.
bool PrimFuncBuffers::read_vector_store(const ast::Statement& statement, const ast::Call& call,
                                        std::vector<Stmt>& into) {
  auto* method = call.callee->as<ast::Attribute>();
  const bool stores = context_.namespaces.canonical(*call.callee) == "T.buffer_store";
  const std::string* object = method && method->name == "vstore"  ? ast::name_of(*method->object)
                              : stores && !call.arguments.empty() ? ast::name_of(*call.arguments[0].value)
                                                                  : nullptr;
  Entry* entry = object ? look_up(*object) : nullptr;
  if (!entry || !std::get_if<Buffer>(&entry->meaning)) return false;
  const Buffer buffer = std::get<Buffer>(entry->meaning);
  const ast::Expr *places = nullptr, *value = nullptr, *predicate = nullptr;
  using Slot = const ast::Expr**;
  const std::array<Slot, 3> slots = stores ? std::array<Slot, 3>{&value, &places, &predicate}
                                           : std::array<Slot, 3>{&places, &value, &predicate};
  for (std::size_t i = stores ? 1 : 0, at = 0; i < call.arguments.size(); ++i) {
    const ast::Argument& argument = call.arguments[i];
    const bool named = !argument.name.empty();
    const Slot slot = argument.name == "predicate"                             ? &predicate
                      : argument.name == "begin" || argument.name == "indices" ? &places
                      : named || at >= slots.size()                            ? &value
                                                                               : slots[at++];
    *slot = argument.value.get();
  }
  if (!places || !value) {
    type_error(statement.span, "scalar.arguments",
               stores ? "T.buffer_store takes a buffer, a value, indices and perhaps predicate="
                      : "vstore takes indices, a value and perhaps predicate=");
  }
  std::vector<Scalar> indices = reader_.read_places(buffer, *places, statement.span);
  ScalarOperand operand = reader_.operand(*value);
  const int lanes = stored_lanes(indices, operand, statement.span);
  Scalar mask;
  if (predicate && !predicate->as<ast::NoneValue>()) mask = reader_.read_mask(*predicate, lanes);
  Scalar stored = reader_.convert(buffer.dtype(), operand, value->span).value;
  store_lanes(buffer, indices, stored, lanes, statement.span, take_comments(statement.comments), into, mask);
  return true;
}

// x = T.allocate_const([1, 2, 3], "int32", [3]): a buffer and stores of its elements.
bool PrimFuncBuffers::read_constant(const ast::Statement& statement, const ast::Expr& target,
                                    const ast::Call& call, std::vector<Stmt>& into) {
  constexpr std::int64_t most_elements = 4096;
  std::vector<BufferArgument> arguments;
  const ast::Expr* data = nullptr;
  std::size_t position = 0;
  for (const BufferArgument& argument : buffer_arguments(call.arguments, 0)) {
    const std::size_t place = argument.name.empty() ? position++ : 3;
    if (place == 0 || argument.name == "data") {
      data = argument.value;
    } else if (place == 1 || argument.name == "dtype") {
      arguments.push_back({"dtype", argument.name_span, argument.value});
    } else if (place == 2 || argument.name == "extents") {
      arguments.push_back({"shape", argument.name_span, argument.value});
    }
  }
  const std::string& name = name_target(target);
  Buffer buffer = read_buffer(name, target.span, arguments);
  const auto size = product(buffer.shape()).as_int();
  if (size && *size > most_elements) {
    fail(ErrorClass::ResourceLimit, statement.span, "limit.constant",
         fmt::format("found a constant of {} elements in a prim_func; expected at most {}, or a parameter",
                     *size, most_elements));
  }
  std::vector<Scalar> values;
  const auto add = [&](const ScalarOperand& value, Span at) {
    if (value.value.as<FloatLiteral>() && !is_float(buffer.dtype()))
      type_error(at, "scalar.literal",
                 fmt::format("found a real number; expected an integer for {}", name_of(buffer.dtype())));
    values.push_back(reader_.convert(buffer.dtype(), value, at).value);
  };
  if (auto* numbers = data ? data->as<ast::NumberListValue>() : nullptr) {
    for (std::int64_t value : numbers->integers)
      add({int_literal(DType::Int64, value, data->span), true}, data->span);
    for (double value : numbers->reals)
      add({float_literal(DType::Float64, value, data->span), true}, data->span);
  } else if (data) {
    for (const ast::Expr* item : list_items(*data)) add(reader_.operand(*item), item->span);
  }
  if (!data || !size || *size != static_cast<std::int64_t>(values.size())) {
    type_error(statement.span, "buffer.constant",
               fmt::format("found {} of the constant '{}' of {}; expected as many",
                           counted(values.size(), "number"), printable(name),
                           size ? counted(static_cast<std::size_t>(*size), "element") : "an unknown size"));
  }
  buffer = allocate(name, target.span, buffer, nullptr, statement, into);
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::vector<Scalar> indices(buffer.shape().size());
    std::int64_t rest = static_cast<std::int64_t>(i);
    for (std::size_t d = indices.size(); d-- > 0;) {
      const std::int64_t extent = *buffer.shape()[d].as_int();
      indices[d] = int_literal(DType::Int32, rest % extent, statement.span);
      rest /= extent;
    }
    into.push_back(make_stmt(Store{buffer, std::move(indices), values[i]}, statement.span));
  }
  return true;
}

// Whether the sizes of a buffer can be computed before all statements: what they name is known there.
static bool sized_at_entry(const Buffer& buffer, const std::vector<Stmt>& before) {
  std::unordered_set<std::uint64_t> locals;
  for (const Stmt& stmt : before)
    if (const auto* defined = stmt.as<DefineScalar>()) locals.insert(defined->var.id());
  bool known = true;
  for (const Scalar& dim : buffer.shape()) {
    for_each_scalar(dim, [&](const Scalar& part) {
      const auto var = part.as_var();
      known = known && !part.as<Load>() && !(var && locals.contains(var->id()));
    });
  }
  return known;
}

void PrimFuncBuffers::allocate_local(const Buffer& buffer, Span at, std::vector<Stmt>& into) {
  if (at_function_level() && sized_at_entry(buffer, into))
    function_.allocations.push_back(buffer);
  else
    into.push_back(make_stmt(AllocateStmt{buffer}, at));
}

Buffer PrimFuncBuffers::allocate(const std::string& name, Span at, Buffer buffer, BlockStmt* block,
                                 const ast::Statement& statement, std::vector<Stmt>& into) {
  if (auto earlier = frames_.back().find(name); earlier != frames_.back().end()) {
    if (auto* first = std::get_if<Buffer>(&earlier->second.meaning)) {
      fail(ErrorClass::Type, at, "buffer.twice",
           fmt::format("found a second buffer '{}' in a scope; expected another name", printable(name)),
           {{first->span(), "the first is here"}});
    }
  }
  if (shared_by_threads(buffer.scope())) device_buffers_.push_back(buffer);
  bind(name, buffer, at);
  if (block) {
    block->allocations.push_back(buffer);
  } else if (at_function_level() && sized_at_entry(buffer, into)) {
    function_.allocations.push_back(buffer);
  } else {
    into.push_back(make_stmt(AllocateStmt{buffer}, statement.span, take_comments(statement.comments)));
  }
  return buffer;
}

void PrimFuncBuffers::declare_view(const std::string& name, const ast::Statement& statement, BufferView view,
                                   BlockStmt* block, std::vector<Stmt>& into) {
  // About what a pointer without a type points to nothing is known.
  const bool unknown = view.source.is_pointer() && view.source.rank() == 0;
  if (view.buffer.dtype() != view.source.dtype() && !unknown) {
    fail(ErrorClass::Type, statement.span, "view.dtype",
         fmt::format("found a view of dtype {} over {} of {}; expected the same dtype",
                     name_of(view.buffer.dtype()), printable(view.source.name()),
                     name_of(view.source.dtype())),
         {{view.source.span(), "it is declared here"}});
  }
  if (const auto fault = fault_of_view(view)) {
    fail(ErrorClass::Type, statement.span, "view.bounds", *fault,
         {{view.source.span(), "it is declared here"}});
  }
  has_views_ = true;
  if (!view.region) declared_views_.push_back(view);
  bind(name, view.buffer, statement.span);
  if (block && view.region) {
    block->views.push_back(std::move(view));
  } else {
    into.push_back(make_stmt(ViewStmt{std::move(view)}, statement.span, take_comments(statement.comments)));
  }
}

// T.decl_buffer((16,), "float32", data=p): of p's elements from the one that it points to.
void PrimFuncBuffers::declare_view_of(const std::string& name, const ast::Statement& statement, Buffer buffer,
                                      const ast::Expr& data, BlockStmt* block, std::vector<Stmt>& into) {
  const Pointer pointer = pointed_to(data, into);
  if (pointer.offset.defined() && pointer.offset.as_int() != 0) {
    const Scalar offset =
        buffer.elem_offset().defined() ? buffer.elem_offset() + pointer.offset : pointer.offset;
    buffer = buffer.with_layout(buffer.strides(), offset);
  }
  declare_view(name, statement, {buffer, pointer.buffer, std::nullopt}, block, into);
}

// T.match_buffer(A[0:4, 0:4], (4, 4), strides=[s, 1], elem_offset=o): strides and offset follow from the
// region; variables there are names for them.
void PrimFuncBuffers::match_region(const ast::Statement& statement, const ast::Expr& target,
                                   const ast::Call& call, BlockStmt* block, std::vector<Stmt>& into) {
  const auto& subscript = *call.arguments[0].value->as<ast::Subscript>();
  Buffer source = buffer_target(subscript);
  BufferRegion region{source, read_region_dims(source, subscript)};
  std::vector<Scalar> strides(source.shape().size());
  Scalar next = int_literal(source.shape().empty() ? DType::Int32 : source.shape().back().dtype(), 1);
  for (std::size_t d = strides.size(); d-- > 0;) {
    strides[d] = source.strides().empty() ? next : source.strides()[d];
    next = canonical(next * source.shape()[d]);
  }
  Scalar offset = source.elem_offset();
  for (std::size_t d = 0; d < strides.size(); ++d) {
    Scalar part = region.dims[d].begin * strides[d];
    offset = offset.defined() ? offset + part : part;
  }
  std::vector<ast::Expr const*> named;
  std::vector<BufferArgument> arguments;
  for (const BufferArgument& argument : buffer_arguments(call.arguments, 1)) {
    if (argument.name != "strides" && argument.name != "elem_offset") {
      arguments.push_back(argument);
      continue;
    }
    std::vector<const ast::Expr*> items = list_items(*argument.value);
    const bool offsets = argument.name == "elem_offset";
    if (!offsets && items.size() > strides.size()) {
      type_error(argument.value->span, "view.strides",
                 fmt::format("found {} for {}; expected as many", counted(items.size(), "stride"),
                             counted(strides.size(), "dimension")));
    }
    const std::size_t skipped = offsets ? 0 : strides.size() - items.size();
    for (std::size_t d = 0; d < items.size(); ++d) {
      const std::string* name = ast::name_of(*items[d]);
      if (!name || !symbols_.declares(*name)) continue;
      if (offsets && !offset.defined()) offset = int_literal(DType::Int32, 0);
      bind(*name, offsets ? offset : strides[d + skipped], items[d]->span);
    }
  }
  const std::string& name = name_target(target);
  // Without a shape it is that of the region.
  const bool shaped = std::any_of(arguments.begin(), arguments.end(), [](const BufferArgument& argument) {
    return argument.name.empty() || argument.name == "shape";
  });
  std::optional<std::vector<Scalar>> shape;
  if (!shaped) {
    shape.emplace();
    for (const RegionDim& dim : region.dims) shape->push_back(canonical(dim.extent));
  }
  Buffer buffer = read_buffer(name, target.span, arguments, nullptr, shape ? &*shape : nullptr);
  if (buffer.rank() > source.rank()) {
    type_error(target.span, "view.shape",
               fmt::format("found a view of {} of a region of {}", counted(buffer.rank(), "dimension"),
                           source.rank()));
  }
  declare_view(name, statement, {buffer, source, std::move(region)}, block, into);
}

// A.view(2, 8), A.permute(1, 0), A.local(16).
bool PrimFuncBuffers::read_view_method(const ast::Statement& statement, const ast::Expr& target,
                                       const ast::Call& call, BlockStmt* block, std::vector<Stmt>& into) {
  auto* method = call.callee->as<ast::Attribute>();
  const std::string* object = method ? ast::name_of(*method->object) : nullptr;
  Entry* entry = object ? look_up(*object) : nullptr;
  auto* found = entry ? std::get_if<Buffer>(&entry->meaning) : nullptr;
  if (!found) return false;
  Buffer source = *found;
  const std::string& name = name_target(target);
  std::vector<Scalar> given;
  for (const ast::Argument& argument : call.arguments) {
    if (!argument.name.empty() || argument.value->as<ast::StringValue>()) {
      type_error(argument.value->span, "unsupported.layout",
                 fmt::format("found {} of A.{}, which belongs to layouts of a GPU; expected extents",
                             argument.name.empty() ? "a string" : argument.name, method->name));
    }
    for (Scalar& extent : reader_.read_list(*argument.value)) given.push_back(std::move(extent));
  }
  Scalar size = int_literal(source.shape().empty() ? DType::Int32 : source.shape()[0].dtype(), 1);
  for (const Scalar& dim : source.shape()) size = canonical(size * dim);
  Buffer buffer;
  if (method->name == "view" || method->name == "local") {
    if (given.empty()) given.push_back(size);
    Scalar wanted = given[0];
    for (std::size_t i = 1; i < given.size(); ++i) wanted = wanted * given[i];
    if (prove_different(cast(DType::Int64, wanted), cast(DType::Int64, size))) {
      type_error(
          statement.span, "view.shape",
          fmt::format("found a view of another number of elements than {} has", printable(source.name())));
    }
    buffer = Buffer(name, source.dtype(), given, source.scope(), target.span);
  } else if (method->name == "permute") {
    std::vector<Scalar> shape, strides;
    std::vector<bool> seen(source.shape().size(), false);
    for (const Scalar& axis : given) {
      auto at = axis.as_int();
      if (!at || *at < 0 || *at >= source.rank() || seen[static_cast<std::size_t>(*at)] ||
          given.size() != seen.size()) {
        type_error(statement.span, "view.axes",
                   fmt::format("A.permute takes each of the {} axes once", source.rank()));
      }
      const auto d = static_cast<std::size_t>(*at);
      seen[d] = true;
      shape.push_back(source.shape()[d]);
      Scalar stride = int_literal(source.shape()[d].dtype(), 1);
      for (std::size_t k = d + 1; k < seen.size(); ++k) stride = canonical(stride * source.shape()[k]);
      strides.push_back(source.strides().empty() ? stride : source.strides()[d]);
    }
    if (given.size() != seen.size()) {
      type_error(statement.span, "view.axes",
                 fmt::format("A.permute takes each of the {} axes once", source.rank()));
    }
    buffer = Buffer(name, source.dtype(), shape, source.scope(), target.span).with_layout(strides, {});
  } else {
    type_error(call.callee->span, "unsupported.method",
               fmt::format("{}.{} is not supported; expected view, permute or local",
                           printable(source.name()), printable(method->name)));
  }
  declare_view(name, statement, {buffer, source, std::nullopt}, block, into);
  return true;
}

// X = T.alloc_buffer((2, 2), strides=(31, 1)): a view with these strides over memory that holds all that it
// reaches. Strides of a row-major buffer say nothing new.
void PrimFuncBuffers::allocate_strided(const std::string& name, const ast::Statement& statement, Span at,
                                       Buffer buffer, BlockStmt* block, std::vector<Stmt>& into) {
  Scalar size = Scalar(1), next = Scalar(1);
  bool compact = true, empty = false;
  for (std::size_t d = buffer.shape().size(); d-- > 0;) {
    const Scalar extent = cast(DType::Int64, buffer.shape()[d]);
    const Scalar stride = cast(DType::Int64, buffer.strides()[d]);
    compact = compact && prove_equal(stride, next);
    empty = empty || extent.as_int() == 0;
    size = canonical(size + (extent - Scalar(1)) * stride);
    next = canonical(next * extent);
  }
  const Buffer plain(name, buffer.dtype(), buffer.shape(), buffer.scope(), at);
  if (compact || empty) {
    allocate(name, at, plain, block, statement, into);
    return;
  }
  // A dimension that turns out to be empty leaves nothing to reach.
  if (!size.as_int()) size = canonical(max(size, Scalar(0)));
  const std::string memory = name + "_data";
  const Buffer held(memory, buffer.dtype(), {size}, buffer.scope(), at);
  if (block)
    block->allocations.push_back(held);
  else
    allocate_local(held, at, into);
  declare_view(name, statement, {buffer, held, std::nullopt}, block, into);
}

// What makes a buffer: allocations, views, and T.match_buffer. False for any other value.
bool PrimFuncBuffers::read_allocation(const ast::Statement& statement, const ast::Expr& target,
                                      const ast::Expr& value, BlockStmt* block, std::vector<Stmt>& into) {
  auto* call = value.as<ast::Call>();
  if (!call) return false;
  std::string name = context_.namespaces.canonical(*call->callee);
  if (name.substr(0, 2) != "T.") return read_view_method(statement, target, *call, block, into);
  if (name == "T.match_buffer") {
    bool region = !call->arguments.empty() && call->arguments[0].value->as<ast::Subscript>();
    if (region)
      match_region(statement, target, *call, block, into);
    else
      match_buffer(name_target(target), target, *call);
    return true;
  }
  if (name == "T.allocate_const") return read_constant(statement, target, *call, into);
  if (name == "T.allocate") {
    // T.allocate([n], "float32", "global"): the scope by position, then a condition.
    std::vector<BufferArgument> arguments = buffer_arguments(call->arguments, 0);
    std::vector<BufferArgument> kept;
    std::string scope = "global";
    std::size_t position = 0;
    for (const BufferArgument& argument : arguments) {
      std::size_t place = argument.name.empty() ? position++ : 0;
      auto* text = argument.value->as<ast::StringValue>();
      if ((place == 2 || argument.name == "scope") && text) {
        refuse_reserved_scope(text->value, argument.value->span);
        if (!text->value.empty()) scope = text->value;
      } else if (argument.name == "annotations") {
        if (argument.value->as<ast::DictValue>()) read_buffer_advice("annotations", *argument.value);
      } else if (argument.name == "extents") {
        kept.push_back({"shape", argument.name_span, argument.value});
      } else if (place < 2 && argument.name != "condition") {
        kept.push_back(argument);
      } else if (place == 3 || argument.name == "condition") {
        if (reader_.read_condition(*argument.value).as_int() != 1) {
          type_error(argument.value->span, "unsupported.condition",
                     "found memory that is there under a condition; expected True");
        }
      }
    }
    const std::string& variable = name_target(target);
    Buffer read = read_buffer(variable, target.span, kept);
    allocate(variable, target.span, Buffer(variable, read.dtype(), read.shape(), scope, target.span), nullptr,
             statement, into);
    return true;
  }
  const bool declares = name == "T.decl_buffer" || name == "T.buffer_decl" || name == "T.Buffer";
  if (!declares && name != "T.alloc_buffer" && name != "T.sblock_alloc_buffer" && name != "T.alloc_local")
    return false;
  const std::string& variable = name_target(target);
  const ast::Expr* data = nullptr;
  Buffer buffer = read_buffer(variable, target.span, buffer_arguments(call->arguments, 0), &data);
  if (data) {
    if (!declares)
      type_error(data->span, "buffer.data", fmt::format("found data= of {}; expected none", name));
    declare_view_of(variable, statement, buffer, *data, block, into);
    return true;
  }
  if (buffer.elem_offset().defined()) {
    type_error(value.span, "buffer.layout",
               "found elem_offset of a fresh buffer; expected it on a view (data=)");
  }
  if (name == "T.alloc_local") {
    buffer = Buffer(variable, buffer.dtype(), buffer.shape(), "local", target.span)
                 .with_layout(buffer.strides(), {});
  }
  if (!buffer.strides().empty()) {
    allocate_strided(variable, statement, target.span, buffer, block, into);
    return true;
  }
  allocate(variable, target.span, buffer, block, statement, into);
  return true;
}

}  // namespace relish
