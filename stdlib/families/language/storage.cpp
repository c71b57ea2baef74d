// Storages and tensors in them.
#include "stdlib/families/language/storage.h"

#include "ir/printer/printer.h"

namespace relish {
namespace {

std::int64_t bytes_of(const Shape& shape, DType dtype) {
  Shape whole = shape;
  whole.push_back(size_of(dtype));
  return element_count(whole);  // refuses what no memory holds
}

}  // namespace

std::optional<DType> dtype_argument(const CallView& call, std::size_t i) {
  const Expr& arg = call.args[i];
  if (const auto* literal = arg.as<DTypeLiteral>()) return literal->value;
  if (arg.type().as<DTypeType>() || arg.type().as<AnyType>()) return std::nullopt;
  call.reject("dtype", call.span_of(i),
              fmt::format("dtype has type {}; expected R.dtype(\"float32\")", print(arg.type())));
}

DType dtype_value(const Value& value) {
  const std::optional<DType> dtype = dtype_from_name(value.string());
  RELISH_CHECK(dtype.has_value(), value.string());
  return *dtype;
}

void require_scope(const CallView& call, std::size_t i) {
  if (!call.has(i)) return;
  const Type& type = call.args[i].type();
  if (type.as<StringType>() || type.as<AnyType>()) return;
  call.reject("scope", call.span_of(i),
              fmt::format("the scope has type {}; expected R.str(\"global\")", print(type)));
}

void require_integer(const CallView& call, std::size_t i) {
  if (!call.has(i)) return;
  const auto* scalar = call.args[i].type().as<ScalarType>();
  if (call.args[i].type().as<AnyType>() || (scalar && is_int(scalar->dtype))) return;
  call.reject("index", call.span_of(i),
              fmt::format("found a scalar of type {}; expected an integer", print(call.args[i].type())));
}

void require_storage(const CallView& call, std::size_t i) {
  if (call.args[i].type().as<AnyType>()) return;
  call.reject(
      "storage", call.span_of(i),
      fmt::format("storage has type {}; expected a storage, which is an R.Any", print(call.args[i].type())));
}

Type allocated_type(const CallView& call, std::size_t shape, std::size_t dtype) {
  const BroadcastShape dims = shape_argument(call, shape);
  for (const Scalar& dim : dims.dims.value_or(Dims{})) {
    if (dim.as_int().value_or(0) < 0)
      call.reject("shape", call.span_of(shape), fmt::format("dimension {} is negative", *dim.as_int()));
  }
  return tensor_of(dims, dtype_argument(call, dtype));
}

Value allocated_tensor(const EvalCall& c, std::size_t shape, std::size_t dtype) {
  return Tensor::zeros(dtype_value(c.args[dtype]), c.args[shape].shape().dims);
}

Value allocated_storage(const EvalCall& c, std::size_t shape, std::size_t dtype) {
  const std::int64_t bytes = bytes_of(c.args[shape].shape().dims, dtype_value(c.args[dtype]));
  return Value(std::shared_ptr<const ObjectValue>(std::make_shared<const StorageObject>(bytes)));
}

Type tensor_in_storage_type(const CallView& call) {
  require_integer(call, 4);
  require_storage(call, 0);
  require_integer(call, 1);
  return allocated_type(call, 2, 3);
}

Value tensor_in_storage(const EvalCall& c) {
  const auto* object = std::get_if<std::shared_ptr<const ObjectValue>>(&c.args[0].kind());
  const auto* storage = object ? dynamic_cast<const StorageObject*>(object->get()) : nullptr;
  const std::string id = fmt::format("{}.storage", short_name_of(c.call.op));
  if (!storage) {
    fail(ErrorClass::Runtime, c.call.span, id,
         fmt::format("{}: found {}; expected a storage", short_name_of(c.call.op), describe(c.args[0])));
  }
  const std::int64_t offset = c.args[1].scalar().integer;
  const std::int64_t bytes = bytes_of(c.args[2].shape().dims, dtype_value(c.args[3]));
  if (offset < 0 || offset > storage->bytes || bytes > storage->bytes - offset) {
    fail(ErrorClass::Runtime, c.call.span, id,
         fmt::format("{}: a tensor of {} bytes at byte {} does not fit in {}", short_name_of(c.call.op),
                     bytes, offset, storage->describe()));
  }
  return allocated_tensor(c, 2, 3);
}

}  // namespace relish
