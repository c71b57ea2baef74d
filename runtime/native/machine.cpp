// What the functions of TVM's virtual machine do: tables of shapes in a heap, checks of values, storages and
// tensors in them, tuples, reshaping.
#include "runtime/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "support/failure.h"
#include "support/render.h"

namespace relish {

std::string StorageObject::describe() const { return fmt::format("a storage of {} bytes", bytes); }

namespace machine {
namespace {

// The arguments of one call, by position; a wrong one is a RuntimeError that names it.
class Arguments {
 public:
  Arguments(std::string_view name, std::span<const Value> values, Span span)
      : name_(name), values_(values), span_(span) {}

  std::size_t size() const { return values_.size(); }
  const Value& operator[](std::size_t i) const {
    require(i + 1);
    return values_[i];
  }
  void require(std::size_t least) const {
    if (values_.size() >= least) return;
    refuse(fmt::format("found {} arguments, expected {}", values_.size(), least));
  }
  std::int64_t integer(std::size_t i) const {
    const Value& value = (*this)[i];
    if (value.is_scalar() && !is_float(value.scalar().dtype)) return value.scalar().integer;
    wrong(i, "an integer");
  }
  const Tensor& tensor(std::size_t i) const {
    if (!(*this)[i].is_tensor()) wrong(i, "a tensor");
    return values_[i].tensor();
  }
  const Shape& shape(std::size_t i) const {
    if (!(*this)[i].is_shape()) wrong(i, "a shape");
    return values_[i].shape().dims;
  }
  const std::vector<Value>& fields(std::size_t i) const {
    if (!(*this)[i].is_tuple()) wrong(i, "a tuple");
    return values_[i].fields();
  }
  DType dtype(std::size_t i) const {
    const auto known = (*this)[i].is_string() ? dtype_from_name(values_[i].string()) : std::nullopt;
    if (!known) wrong(i, "a dtype");
    return *known;
  }
  // What the text says of a failed check; empty when it says nothing.
  std::string note(std::size_t i) const {
    return i < values_.size() && values_[i].is_string() ? values_[i].string() : std::string();
  }
  // Place `at` of the heap that argument i is.
  std::int64_t& heap(std::size_t i, std::int64_t at) const {
    const Tensor& heap = tensor(i);
    if (heap.dtype() != DType::Int64 || heap.rank() != 1) wrong(i, "a heap, a tensor of int64");
    if (at < 0 || at >= heap.size()) refuse(fmt::format("place {} is not in a heap of {}", at, heap.size()));
    Tensor shared = heap;
    return shared.mutable_view<std::int64_t>()[static_cast<std::size_t>(at)];
  }
  [[noreturn]] void wrong(std::size_t i, std::string_view expected) const {
    refuse(fmt::format("argument {} is {}, expected {}", i + 1, describe(values_[i]), expected));
  }
  [[noreturn]] void refuse(const std::string& message) const {
    fail(ErrorClass::Runtime, span_, "native.argument", fmt::format("{}: {}", name_, message));
  }
  // A check of the text that does not hold.
  [[noreturn]] void failed(const std::string& note, const std::string& message) const {
    fail(ErrorClass::Runtime, span_, "native.check",
         fmt::format("{}: {}{}{}", name_, printable(note), note.empty() ? "" : ": ", message));
  }

 private:
  std::string_view name_;
  std::span<const Value> values_;
  Span span_;
};

// The codes of match_shape and match_prim_value, and of make_shape.
enum MatchCode : std::int64_t { EqualToNumber = 0, Store = 1, Nothing = 2, EqualToStored = 3 };
enum MakeCode : std::int64_t { Number = 0, Load = 1 };

void match_dim(const Arguments& args, std::size_t heap, std::int64_t code, std::int64_t place,
               std::int64_t found, const std::string& what, const std::string& note) {
  if (code == Nothing) return;
  if (code == Store) {
    args.heap(heap, place) = found;
    return;
  }
  if (code != EqualToNumber && code != EqualToStored)
    args.refuse(fmt::format("found the code {}, expected 0 to 3", code));
  const std::int64_t wanted = code == EqualToNumber ? place : args.heap(heap, place);
  if (found != wanted) args.failed(note, fmt::format("{} is {}, expected {}", what, found, wanted));
}

Value alloc_shape_heap(const Arguments& args) {
  const std::int64_t places = args.integer(0);
  if (places < 0) args.refuse(fmt::format("a heap of {} places", places));
  return Tensor::zeros(DType::Int64, {places});
}

Value match_shape(const Arguments& args) {
  const Shape shape = args[0].is_tensor() ? args.tensor(0).shape() : args.shape(0);
  const std::int64_t rank = args.integer(2);
  args.require(3 + 2 * static_cast<std::size_t>(std::clamp<std::int64_t>(rank, 0, 1000)));
  const std::string note = args.note(args.size() - 1);
  if (static_cast<std::int64_t>(shape.size()) != rank)
    args.failed(note, fmt::format("found rank {}, expected {}", shape.size(), rank));
  for (std::size_t i = 0; i < shape.size(); ++i)
    match_dim(args, 1, args.integer(3 + 2 * i), args.integer(4 + 2 * i), shape[i],
              fmt::format("dimension {}", i), note);
  return {};
}

Value match_prim_value(const Arguments& args) {
  match_dim(args, 1, args.integer(2), args.integer(3), args.integer(0), "the value", args.note(4));
  return {};
}

std::int64_t made_dim(const Arguments& args, std::size_t heap, std::int64_t code, std::int64_t place) {
  if (code != Number && code != Load) args.refuse(fmt::format("found the code {}, expected 0 or 1", code));
  return code == Number ? place : args.heap(heap, place);
}

Value make_shape(const Arguments& args) {
  const std::int64_t rank = args.integer(1);
  if (rank < 0 || args.size() < 2 + 2 * static_cast<std::size_t>(std::min<std::int64_t>(rank, 1000)))
    args.refuse(fmt::format("found {} arguments for a shape of rank {}", args.size(), rank));
  ShapeValue shape;
  for (std::size_t i = 0; i < static_cast<std::size_t>(rank); ++i)
    shape.dims.push_back(made_dim(args, 0, args.integer(2 + 2 * i), args.integer(3 + 2 * i)));
  return shape;
}

Value make_prim_value(const Arguments& args) {
  return ScalarValue::of_int(made_dim(args, 0, args.integer(1), args.integer(2)));
}

Value check_tensor_info(const Arguments& args) {
  const std::int64_t rank = args.integer(1);
  const bool typed = args.size() > 3;
  const std::string note = args.note(typed ? 3 : 2);
  if (!args[0].is_tensor()) args.failed(note, fmt::format("found {}, expected a tensor", describe(args[0])));
  const Tensor& tensor = args.tensor(0);
  if (rank != -1 && tensor.rank() != rank)
    args.failed(note, fmt::format("found {}, expected rank {}", describe(args[0]), rank));
  if (typed && args[2].is_string() && tensor.dtype() != args.dtype(2))
    args.failed(note, fmt::format("found {}, expected {}", describe(args[0]), name_of(args.dtype(2))));
  return {};
}

Value check_shape_info(const Arguments& args) {
  const std::int64_t rank = args.integer(1);
  const bool good =
      args[0].is_shape() && (rank == -1 || static_cast<std::int64_t>(args.shape(0).size()) == rank);
  if (!good) {
    args.failed(args.note(2), fmt::format("found {}, expected a shape{}", describe(args[0]),
                                          rank == -1 ? "" : fmt::format(" of rank {}", rank)));
  }
  return {};
}

Value check_prim_value_info(const Arguments& args) {
  const DType dtype = args.dtype(1);
  const bool good = args[0].is_scalar() && is_float(args[0].scalar().dtype) == is_float(dtype) &&
                    (!is_bool(dtype) || is_bool(args[0].scalar().dtype));
  if (!good) {
    args.failed(args.note(2),
                fmt::format("found {}, expected a scalar of {}", describe(args[0]), name_of(dtype)));
  }
  return {};
}

Value check_tuple_info(const Arguments& args) {
  const std::int64_t size = args.integer(1);
  const bool good = (args[0].is_tuple() && static_cast<std::int64_t>(args.fields(0).size()) == size) ||
                    (args[0].is_void() && size == 0);
  if (!good)
    args.failed(args.note(2), fmt::format("found {}, expected a tuple of {}", describe(args[0]), size));
  return {};
}

// Functions cross as objects, native ones by their name.
Value check_func_info(const Arguments& args) {
  const bool good =
      std::holds_alternative<std::shared_ptr<const ObjectValue>>(args[0].kind()) || args[0].is_string();
  if (!good) args.failed(args.note(1), fmt::format("found {}, expected a function", describe(args[0])));
  return {};
}

Value alloc_storage(const Arguments& args) {
  Shape whole = args.shape(0);
  whole.push_back(size_of(args.dtype(2)));
  return Value(
      std::shared_ptr<const ObjectValue>(std::make_shared<const StorageObject>(element_count(whole))));
}

Value alloc_tensor(const Arguments& args) {
  const auto* object = std::get_if<std::shared_ptr<const ObjectValue>>(&args[0].kind());
  const auto* storage = object ? dynamic_cast<const StorageObject*>(object->get()) : nullptr;
  if (!storage) args.wrong(0, "a storage");
  const std::int64_t offset = args.integer(1);
  Shape whole = args.shape(2);
  whole.push_back(size_of(args.dtype(3)));
  const std::int64_t bytes = element_count(whole);
  if (offset < 0 || offset > storage->bytes || bytes > storage->bytes - offset) {
    args.refuse(fmt::format("a tensor of {} bytes at byte {} does not fit in {}", bytes, offset,
                            storage->describe()));
  }
  return Tensor::zeros(args.dtype(3), args.shape(2));
}

// Values do not change, but compiled code owns each of its results.
Value copied(const Arguments& args) { return args[0].is_tensor() ? Value(args.tensor(0).copy()) : args[0]; }

Value reshape(const Arguments& args) {
  const Tensor& x = args.tensor(0);
  const Shape& shape = args.shape(1);
  const bool good = std::all_of(shape.begin(), shape.end(), [](std::int64_t dim) { return dim >= 0; }) &&
                    element_count(shape) == x.size();
  if (!good)
    args.refuse(fmt::format("{} is given the shape ({})", describe(args[0]), fmt::join(shape, ", ")));
  return x.copy().reshaped(shape);
}

Value shape_of(const Arguments& args) { return ShapeValue{args.tensor(0).shape()}; }

Value tensor_to_shape(const Arguments& args) {
  const Tensor& x = args.tensor(0);
  if (x.rank() != 1 || !is_int(x.dtype())) args.wrong(0, "a tensor of integers of rank 1");
  ShapeValue shape;
  for (std::int64_t i = 0; i < x.size(); ++i) shape.dims.push_back(x.get_int(i));
  return shape;
}

Value read_if_cond(const Arguments& args) {
  if (args[0].is_scalar()) return ScalarValue::of_bool(args.integer(0) != 0);
  const Tensor& x = args.tensor(0);
  if (x.rank() != 0 || is_float(x.dtype())) args.wrong(0, "a 0-d tensor of bool or integers");
  return ScalarValue::of_bool(x.get_int(0) != 0);
}

Value make_tuple(const Arguments& args) {
  std::vector<Value> fields;
  for (std::size_t i = 0; i < args.size(); ++i) fields.push_back(args[i]);
  return Value::tuple(std::move(fields));
}

Value tuple_getitem(const Arguments& args) {
  const std::vector<Value>& fields = args.fields(0);
  const std::int64_t at = args.integer(1);
  if (at < 0 || at >= static_cast<std::int64_t>(fields.size()))
    args.refuse(fmt::format("field {} of a tuple of {}", at, fields.size()));
  return fields[static_cast<std::size_t>(at)];
}

// It gives up a reference, which is not seen: values do not change.
Value tuple_reset_item(const Arguments& args) {
  tuple_getitem(args);
  return {};
}

Value nothing(const Arguments&) { return {}; }

struct Entry {
  std::string_view name;
  Value (*run)(const Arguments&);
};
constexpr std::array<Entry, 24> entries = {{
    {"alloc_shape_heap", alloc_shape_heap},
    {"alloc_storage", alloc_storage},
    {"alloc_tensor", alloc_tensor},
    {"check_func_info", check_func_info},
    {"check_prim_value_info", check_prim_value_info},
    {"check_shape_info", check_shape_info},
    {"check_tensor_info", check_tensor_info},
    {"check_tuple_info", check_tuple_info},
    {"copy", copied},
    {"ensure_zero_offset", copied},
    {"make_prim_value", make_prim_value},
    {"make_shape", make_shape},
    {"make_tuple", make_tuple},
    {"match_prim_value", match_prim_value},
    {"match_shape", match_shape},
    {"null_value", nothing},
    {"read_if_cond", read_if_cond},
    {"reshape", reshape},
    {"shape_of", shape_of},
    {"tensor_to_shape", tensor_to_shape},
    {"to_device", copied},
    {"tuple_getitem", tuple_getitem},
    {"tuple_reset_item", tuple_reset_item},
    {"kill_object", nothing},
}};

constexpr std::string_view prefix = "vm.builtin.";

const Entry* entry_of(std::string_view name) {
  if (!name.starts_with(prefix)) return nullptr;
  name.remove_prefix(prefix.size());
  const auto found =
      std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) { return entry.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

Value run(std::string_view name, std::span<const Value> args, Span span) {
  return entry_of(name)->run(Arguments(name, args, span));
}

}  // namespace
}  // namespace machine

MachineFunction machine_function(std::string_view name) {
  return machine::entry_of(name) ? machine::run : nullptr;
}

}  // namespace relish
