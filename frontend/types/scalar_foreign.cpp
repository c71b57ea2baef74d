// What scalar expressions of prim_funcs say of memory and of other functions: the attributes of buffers
// (A.shape[0], A.data), several loop variables under one name, and calls of native code and of prim_funcs,
// which are kept as they are written.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "frontend/types/scalar_reader.h"
#include "support/counted.h"
#include "support/render.h"

namespace relish {
namespace {

[[noreturn]] void fail_type(Span at, std::string_view id, std::string message) {
  fail(ErrorClass::Type, at, id, std::move(message));
}

// Functions behind "T." that only a GPU has, or that need its memory; by the beginning of their names.
constexpr std::array<std::string_view, 40> device_names = {"tvm_storage_sync",
                                                           "tvm_warp",
                                                           "tvm_thread",
                                                           "ptx",
                                                           "cuda",
                                                           "mma_",
                                                           "tvm_mma",
                                                           "tvm_load_matrix",
                                                           "tvm_fill",
                                                           "tvm_store_matrix",
                                                           "tile",
                                                           "warp",
                                                           "simdgroup_",
                                                           "cta",
                                                           "thread_id",
                                                           "thread_return",
                                                           "alloc_shared",
                                                           "alloc_tmem",
                                                           "alloc_tcgen05",
                                                           "alloc_cast_frag",
                                                           "sync_",
                                                           "device_entry",
                                                           "lane_id",
                                                           "cluster",
                                                           "shared_scalar",
                                                           "scope_id",
                                                           "smem",
                                                           "tmem",
                                                           "wg",
                                                           "cooperative_tensor",
                                                           "webgpu",
                                                           "nvshmem",
                                                           "nki",
                                                           "metal",
                                                           "create_barriers",
                                                           "TensorMap",
                                                           "TileLayout",
                                                           "SMEMPool",
                                                           "TMEMPool",
                                                           "layout."};
constexpr std::array<std::string_view, 6> native_beginnings = {"call_", "tvm_",       "anylist_",
                                                               "vm_",   "texture2d_", "dma_"};
constexpr std::array<std::string_view, 12> native_names = {"address_of",
                                                           "isnullptr",
                                                           "handle_add_byte_offset",
                                                           "ptr_byte_offset",
                                                           "llvm_lookup_intrinsic_id",
                                                           "print_buffer",
                                                           "type_annotation",
                                                           "lookup_param",
                                                           "start_profile_intrinsic",
                                                           "end_profile_intrinsic",
                                                           "TVMBackendAllocWorkspace",
                                                           "TVMBackendFreeWorkspace"};
// Those that give a pointer unless they say a dtype.
constexpr std::array<std::string_view, 12> pointer_names = {
    "address_of",           "lookup_param",           "tvm_stack_alloca",
    "tvm_stack_make_shape", "tvm_access_ptr",         "tvm_tuple",
    "anylist_getitem",      "tvm_stack_make_array",   "TVMBackendAllocWorkspace",
    "type_annotation",      "handle_add_byte_offset", "ptr_byte_offset"};
// Those whose first argument may be the dtype of what they give.
constexpr std::array<std::string_view, 7> typed_names = {
    "call_extern", "call_pure_extern",        "call_llvm_intrin", "call_llvm_pure_intrin",
    "call_intrin", "call_spirv_pure_glsl450", "type_annotation"};

template <std::size_t n>
bool is_listed(std::string_view name, const std::array<std::string_view, n>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool begins_with_one_of(std::string_view name, std::span<const std::string_view> beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](std::string_view beginning) { return name.starts_with(beginning); });
}

// "handle" or "void" instead of a dtype.
bool is_no_value(std::string_view dtype) { return dtype == "handle" || dtype == "void" || dtype.empty(); }

}  // namespace

bool needs_device(std::string_view name) { return begins_with_one_of(name, device_names); }

std::optional<Buffer> ScalarReader::buffer_named(const ast::Expr& expr) const {
  const std::string* name = ast::name_of(expr);
  if (!name) return std::nullopt;
  ScalarMeaning meaning = scope_.find(*name, expr.span);
  auto* buffer = std::get_if<Buffer>(&meaning);
  return buffer ? std::optional(*buffer) : std::nullopt;
}

std::optional<std::vector<Scalar>> ScalarReader::several(const ast::Expr& expr) {
  if (auto* starred = expr.as<ast::Starred>()) {
    if (auto all = spread(*starred->value)) return all;
    fail_type(
        expr.span, "scalar.star",
        fmt::format("found {} behind '*'; expected a list, A.shape, or several loop variables under one "
                    "name",
                    ast::describe(*starred->value)));
  }
  if (const std::string* name = ast::name_of(expr)) {
    for (const auto& let : lets_.open)
      if (let.first == *name) return std::nullopt;
    ScalarMeaning meaning = scope_.find(*name, expr.span);
    auto* all = std::get_if<std::vector<Scalar>>(&meaning);
    return all ? std::optional(*all) : std::nullopt;
  }
  auto* attribute = expr.as<ast::Attribute>();
  if (!attribute || (attribute->name != "shape" && attribute->name != "strides")) return std::nullopt;
  auto buffer = buffer_named(*attribute->object);
  if (!buffer) return std::nullopt;
  if (attribute->name == "shape") return buffer->shape();
  if (!buffer->strides().empty()) return buffer->strides();
  std::vector<Scalar> strides(buffer->shape().size());
  Scalar next = int_literal(buffer->shape().empty() ? DType::Int32 : buffer->shape().back().dtype(), 1);
  for (std::size_t d = strides.size(); d-- > 0;) {
    strides[d] = next;
    next = canonical(next * buffer->shape()[d]);
  }
  return strides;
}

// What stands behind a star.
std::optional<std::vector<Scalar>> ScalarReader::spread(const ast::Expr& expr) {
  if (expr.as<ast::ListValue>() || expr.as<ast::TupleValue>() || expr.as<ast::NumberListValue>())
    return read_list(expr);
  return several(expr);
}

// A.shape[0], it[1].
std::optional<ScalarOperand> ScalarReader::item_of_several(const ast::Subscript& subscript) {
  auto all = several(*subscript.object);
  if (!all) return std::nullopt;
  const Span at = subscript.items.empty() ? subscript.object->span : subscript.items[0]->span;
  std::optional<std::int64_t> place;
  if (subscript.items.size() == 1 && !subscript.items[0]->as<ast::Slice>())
    place = read(*subscript.items[0]).as_int();
  const auto size = static_cast<std::int64_t>(all->size());
  if (place && *place < 0) place = *place + size;
  if (!place || *place < 0 || *place >= size) {
    fail_type(at, "scalar.item",
              fmt::format("found an item of {} that is no number below {}", ast::describe(*subscript.object),
                          size));
  }
  return ScalarOperand{(*all)[static_cast<std::size_t>(*place)]};
}

// A.data and A.elem_offset.
std::optional<ScalarOperand> ScalarReader::attribute(const ast::Expr& expr, const ast::Attribute& attribute) {
  auto buffer = buffer_named(*attribute.object);
  if (!buffer) return std::nullopt;
  if (attribute.name == "data") return ScalarOperand{data_of(*buffer, false, expr.span)};
  if (attribute.name == "elem_offset") {
    const Scalar& offset = buffer->elem_offset();
    return ScalarOperand{offset.defined() ? offset : int_literal(DType::Int32, 0, expr.span)};
  }
  return std::nullopt;
}

// The indices of C[i, j] and of C[i][j], outer before inner.
std::vector<const ast::Expr*> ScalarReader::items_of(const ast::Subscript& subscript) const {
  std::vector<const ast::Expr*> items;
  const bool nested = subscript.object->as<ast::Subscript>() != nullptr;
  if (nested) items = items_of(*subscript.object->as<ast::Subscript>());
  // A[(i, j)] is A[i, j].
  auto* tuple = subscript.items.size() == 1 ? subscript.items[0]->as<ast::TupleValue>() : nullptr;
  const bool spread = tuple && !tuple->items.empty();
  for (const ast::ExprPtr& item : spread ? tuple->items : subscript.items) items.push_back(item.get());
  if (!nested) return items;
  // A slice of a slice counts from the beginning of that.
  for (const ast::Expr* item : items) {
    if (item->as<ast::Slice>() || item->as<ast::TupleValue>())
      fail_type(
          item->span, "buffer.slice",
          fmt::format("found {} in one of several subscripts; expected all indices in one, as in C[i, j]",
                      ast::describe(*item)));
  }
  return items;
}

Scalar ScalarReader::read_effect(const ast::Expr& expr) {
  pointers_allowed_ = true;
  Scalar result = settled(operand(expr)).value;
  refuse_vector(result, expr.span);
  return result;
}

Scalar ScalarReader::value_of_lanes(const ast::Expr& expr) {
  pointers_allowed_ = true;
  Scalar result = settled(operand(expr)).value;
  return lanes_of(result, expr.span) > 1 ? result : Scalar();
}

bool ScalarReader::is_foreign(const ast::Expr& expr) {
  auto* call = expr.as<ast::Call>();
  if (!call) return false;
  auto* method = call->callee->as<ast::Attribute>();
  if (method && method->name == "access_ptr" && buffer_named(*method->object)) return true;
  const std::string name = context_.namespaces.canonical(*call->callee);
  if (!name.starts_with("T.")) return scope_.prim_func(*call->callee).has_value();
  const std::string_view plain = std::string_view(name).substr(2);
  return !needs_device(plain) &&
         (is_listed(plain, native_names) || begins_with_one_of(plain, native_beginnings));
}

Scalar ScalarReader::foreign_argument(const ast::Expr& expr) {
  if (auto* text = expr.as<ast::StringValue>()) return text_literal(text->value, expr.span);
  if (auto buffer = buffer_named(expr)) return data_of(*buffer, true, expr.span);
  return read_effect(expr);
}

// T.call_packed("f", A.data, n), T.call_extern("int32", "f", x), Module.f(A, n): with what it gives.
ScalarOperand ScalarReader::foreign(const ast::Expr& expr, const ast::Call& call) {
  if (auto* method = call.callee->as<ast::Attribute>(); method && method->name == "access_ptr")
    if (auto buffer = buffer_named(*method->object)) return access_pointer(expr, *buffer, call);
  ForeignCall result;
  DType dtype = DType::Int32;
  const std::string name = context_.namespaces.canonical(*call.callee);
  // A dimension is computed before anything is called.
  if (plain_integer_ != DType::Int32) {
    fail(ErrorClass::Policy, expr.span, "native.call",
         fmt::format("found a call of {} in a dimension; expected arithmetic", printable(name)));
  }
  const auto take_dtype = [&](const ast::StringValue& text, Span at) {
    if (is_no_value(text.value)) {
      result.is_pointer = text.value == "handle";
      dtype = result.is_pointer ? DType::UInt64 : DType::Int32;
    } else {
      dtype = read_dtype(text.value, at);
      result.is_pointer = false;
    }
  };
  const auto header = name.starts_with("T.") ? std::nullopt : scope_.prim_func(*call.callee);
  if (header) {
    result.function = header->name;
    result.of_module = true;
    if (header->result) dtype = *header->result;
  } else {
    result.function = name;
    const std::string_view plain = std::string_view(name).substr(2);
    result.is_pointer = is_listed(plain, pointer_names);
    if (result.is_pointer) dtype = DType::UInt64;
    if (plain == "isnullptr") dtype = DType::Bool;
    auto* first = call.arguments.empty() ? nullptr : call.arguments[0].value->as<ast::StringValue>();
    if (first && is_listed(plain, typed_names) && plain != "type_annotation" &&
        (is_no_value(first->value) || dtype_from_name(first->value)))
      take_dtype(*first, call.arguments[0].value->span);
    if (plain == "tvm_struct_get" && call.arguments.size() == 4)
      if (auto* text = call.arguments[3].value->as<ast::StringValue>())
        take_dtype(*text, call.arguments[3].value->span);
  }
  for (const ast::Argument& argument : call.arguments) {
    if (auto all = argument.stars == 1 ? spread(*argument.value) : std::nullopt) {
      result.args.insert(result.args.end(), all->begin(), all->end());
      result.names.resize(result.args.size());
      continue;
    }
    if (argument.stars) fail_type(argument.value->span, "scalar.arguments", "found a starred argument");
    if (!argument.name.empty() && header)
      fail_type(argument.name_span, "scalar.arguments",
                fmt::format("found an argument by name of the prim_func '{}'; expected all by position",
                            printable(header->name)));
    if (argument.name == "dtype")
      if (auto* text = argument.value->as<ast::StringValue>()) take_dtype(*text, argument.value->span);
    result.args.push_back(foreign_argument(*argument.value));
    result.names.push_back(argument.name);
  }
  if (header && result.args.size() != header->params) {
    fail_type(expr.span, "scalar.arguments",
              fmt::format("found {} of '{}'; expected {}", counted(result.args.size(), "argument"),
                          printable(header->name), header->params));
  }
  return {foreign_call(std::move(result), dtype, expr.span)};
}

// A.access_ptr("rw", offset=o, extent=n), as TVM writes it out: the dtype, the memory, where it begins, how
// many elements, and whether they are read (1) and written (2).
ScalarOperand ScalarReader::access_pointer(const ast::Expr& expr, const Buffer& buffer,
                                           const ast::Call& call) {
  std::optional<std::int64_t> mask;
  Scalar offset, extent;
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    const ast::Argument& argument = call.arguments[i];
    if (argument.name == "access_mask" || (i == 0 && argument.name.empty())) {
      auto* text = argument.value->as<ast::StringValue>();
      if (text && !text->value.empty() && text->value.find_first_not_of("rw") == std::string::npos)
        mask = (text->value.find('r') != std::string::npos ? 1 : 0) |
               (text->value.find('w') != std::string::npos ? 2 : 0);
      else if (!text)
        mask = read(*argument.value).as_int();
    } else if (argument.name == "offset") {
      offset = read_index(*argument.value);
    } else if (argument.name == "extent") {
      extent = read_index(*argument.value);
    } else {
      fail_type(argument.value->span, "scalar.arguments",
                "access_ptr takes \"r\", \"w\" or \"rw\", offset= and extent=");
    }
  }
  if (!mask) fail_type(expr.span, "scalar.arguments", "access_ptr takes \"r\", \"w\" or \"rw\" first");
  if (!offset.defined())
    offset = buffer.elem_offset().defined() ? buffer.elem_offset() : int_literal(DType::Int32, 0, expr.span);
  if (!extent.defined()) {
    extent = int_literal(DType::Int32, 1, expr.span);
    for (const Scalar& dim : buffer.shape()) extent = extent * dim;
    extent = canonical(offset.as_int() == 0 ? extent : extent - offset);
  }
  ForeignCall type{
      "T.type_annotation", {text_literal(std::string(name_of(buffer.dtype())), expr.span)}, {""}};
  type.is_pointer = true;
  ForeignCall result{
      "T.tvm_access_ptr",
      {foreign_call(std::move(type), DType::UInt64, expr.span), data_of(buffer, false, expr.span), offset,
       extent, int_literal(DType::Int32, *mask, expr.span)},
      std::vector<std::string>(5)};
  result.is_pointer = true;
  return {foreign_call(std::move(result), DType::UInt64, expr.span)};
}

// A.vload([T.Ramp(0, 1, 4)], predicate=mask): lanes that the mask leaves out are not read.
ScalarOperand ScalarReader::vector_load(const ast::Expr& expr, const Buffer& buffer, const ast::Call& call,
                                        std::size_t first) {
  const std::string_view name = first == 0 ? "vload" : "T.BufferLoad";
  const ast::Expr* places = nullptr;
  const ast::Expr* predicate = nullptr;
  for (std::size_t i = first; i < call.arguments.size(); ++i) {
    const ast::Argument& argument = call.arguments[i];
    if (argument.name == "predicate") {
      if (!argument.value->as<ast::NoneValue>()) predicate = argument.value.get();
    } else if (argument.name == "begin" || argument.name == "indices" || (argument.name.empty() && !places)) {
      places = argument.value.get();
    } else if (argument.name != "dtype" && !argument.value->as<ast::StringValue>()) {
      fail_type(argument.value->span, "scalar.arguments",
                fmt::format("{} takes indices, perhaps a dtype, and predicate=", name));
    }
  }
  if (!places) fail_type(expr.span, "scalar.arguments", fmt::format("{} takes a list of indices", name));
  Scalar value = load(buffer, read_places(buffer, *places, expr.span), expr.span);
  if (!predicate) return {value};
  Scalar mask = read_mask(*predicate, lanes_of(value, expr.span));
  return {if_then_else(mask, value, zero(buffer.dtype()), expr.span)};
}

Scalar ScalarReader::read_mask(const ast::Expr& expr, int lanes) {
  ScalarOperand mask = operand(expr);
  expect_bool(mask.value, expr.span);
  const int found = std::max(mask.lanes, lanes_of(mask.value, expr.span));
  if (found != 1 && found != lanes) {
    fail_type(expr.span, "vector.lanes",
              fmt::format("found a predicate of {} for {}; expected as many", counted(found, "lane"), lanes));
  }
  return mask.value;
}

std::vector<Scalar> ScalarReader::read_places(const Buffer& buffer, const ast::Expr& expr, Span at) {
  std::vector<const ast::Expr*> items;
  if (auto* list = expr.as<ast::ListValue>())
    for (const ast::ExprPtr& item : list->items) items.push_back(item.get());
  else if (auto* tuple = expr.as<ast::TupleValue>())
    for (const ast::ExprPtr& item : tuple->items) items.push_back(item.get());
  else
    items.push_back(&expr);
  std::vector<Scalar> places;
  for (const ast::Expr* item : items) {
    if (auto all = item->as<ast::Starred>() ? several(*item) : std::nullopt) {
      places.insert(places.end(), all->begin(), all->end());
      continue;
    }
    places.push_back(value(*item));
    expect_index(places.back(), item->span);
  }
  if (static_cast<int>(places.size()) != buffer.rank()) {
    fail_type(at, "buffer.rank",
              fmt::format("found {} for {}; expected {}", counted(places.size(), "index", "indices"),
                          printable(buffer.name()), buffer.rank()));
  }
  return places;
}

}  // namespace relish
