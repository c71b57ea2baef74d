// Values across the binary interface, and errors back.
#include <atomic>
#include <cstddef>
#include <cstring>
#include <deque>

#include "runtime/native.h"
#include "support/failure.h"
#include "support/render.h"

namespace relish {
namespace {

// The layouts are fixed for all time by those who wrote libraries for them.
static_assert(sizeof(RelishAny) == 16 && offsetof(RelishAny, as) == 8);
static_assert(sizeof(RelishObject) == 24 && offsetof(RelishObject, release) == 16);
static_assert(sizeof(RelishTensor) == 48 && offsetof(RelishTensor, element) == 20 &&
              offsetof(RelishTensor, shape) == 24 && offsetof(RelishTensor, byte_offset) == 40);

constexpr int host_memory = 1;

// What the running function said last, of this thread.
struct RaisedError {
  std::string kind;
  std::string message;
};
thread_local RaisedError raised;

struct ElementCode {
  DType dtype;
  RelishElement element;
};
constexpr ElementCode element_codes[] = {
    {DType::Bool, {RELISH_CODE_BOOL, 8, 1}},        {DType::Int8, {RELISH_CODE_INT, 8, 1}},
    {DType::Int16, {RELISH_CODE_INT, 16, 1}},       {DType::Int32, {RELISH_CODE_INT, 32, 1}},
    {DType::Int64, {RELISH_CODE_INT, 64, 1}},       {DType::UInt8, {RELISH_CODE_UINT, 8, 1}},
    {DType::UInt16, {RELISH_CODE_UINT, 16, 1}},     {DType::UInt32, {RELISH_CODE_UINT, 32, 1}},
    {DType::UInt64, {RELISH_CODE_UINT, 64, 1}},     {DType::Float16, {RELISH_CODE_FLOAT, 16, 1}},
    {DType::BFloat16, {RELISH_CODE_BFLOAT, 16, 1}}, {DType::Float32, {RELISH_CODE_FLOAT, 32, 1}},
    {DType::Float64, {RELISH_CODE_FLOAT, 64, 1}},
};
static_assert(std::size(element_codes) == dtype_count);

Shape row_strides(const Shape& shape) {
  Shape strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= shape[d];
  }
  return strides;
}

// A counted shape, so that a function may keep it.
struct ShapeObject {
  RelishObject head;
  RelishDims dims;
  Shape values;
};

constexpr std::uint64_t one_strong = 1;
constexpr std::uint64_t one_weak = std::uint64_t{1} << 32;

// Gives back one strong reference.
void release(RelishObject* object) {
  std::atomic_ref<std::uint64_t> counts(object->counts);
  const std::uint64_t before = counts.fetch_sub(one_strong, std::memory_order_acq_rel);
  if ((before & (one_weak - 1)) != 1 || object->release == nullptr) return;
  if (before == one_strong + one_weak) return object->release(object, 3);
  object->release(object, 1);
  if (counts.fetch_sub(one_weak, std::memory_order_acq_rel) >> 32 == 1) object->release(object, 2);
}

// The arguments of one call as the interface has them, and what they point to.
class Arguments {
 public:
  explicit Arguments(std::span<const NativeArgument> given) {
    for (const NativeArgument& argument : given) values_.push_back(std::visit(*this, argument));
  }
  Arguments(const Arguments&) = delete;
  ~Arguments() {
    for (ShapeObject* shape : shapes_) release(&shape->head);
  }

  const RelishAny* data() const { return values_.data(); }
  std::int32_t count() const { return static_cast<std::int32_t>(values_.size()); }

  RelishAny operator()(std::monostate) const { return {}; }

  RelishAny operator()(const ScalarValue& scalar) const {
    RelishAny any = {};
    any.kind = is_float(scalar.dtype) ? RELISH_FLOAT : is_bool(scalar.dtype) ? RELISH_BOOL : RELISH_INT;
    if (is_float(scalar.dtype)) {
      any.as.real = scalar.real;
    } else {
      any.as.integer = scalar.integer;
    }
    return any;
  }

  RelishAny operator()(const std::string& text) const {
    RelishAny any = {};
    any.kind = RELISH_STRING;
    any.as.text = text.c_str();
    return any;
  }

  RelishAny operator()(const NativeTensor& tensor) {
    TensorView& view = tensors_.emplace_back();
    view.shape.assign(tensor.shape.begin(), tensor.shape.end());
    view.strides = row_strides(view.shape);
    RelishElement element = {};
    for (const ElementCode& candidate : element_codes) {
      if (candidate.dtype == tensor.dtype) element = candidate.element;
    }
    view.tensor.data = tensor.data;
    view.tensor.device = {host_memory, 0};
    view.tensor.rank = static_cast<std::int32_t>(view.shape.size());
    view.tensor.element = element;
    view.tensor.shape = view.shape.data();
    view.tensor.strides = view.strides.data();
    RelishAny any = {};
    any.kind = RELISH_TENSOR;
    any.as.tensor = &view.tensor;
    return any;
  }

  RelishAny operator()(const NativeShape& shape) {
    auto* object = new ShapeObject;
    object->values.assign(shape.dims.begin(), shape.dims.end());
    object->dims = {object->values.data(), object->values.size()};
    object->head = {one_strong + one_weak, RELISH_SHAPE_OBJECT, 0, [](void* self, int which) {
                      if (which & 2) delete static_cast<ShapeObject*>(self);
                    }};
    shapes_.push_back(object);
    RelishAny any = {};
    any.kind = RELISH_SHAPE_OBJECT;
    any.as.object = &object->head;
    return any;
  }

 private:
  struct TensorView {
    RelishTensor tensor = {};
    Shape shape;
    Shape strides;
  };

  std::vector<RelishAny> values_;
  std::deque<TensorView> tensors_;
  std::vector<ShapeObject*> shapes_;
};

// What a function left as its result, as our own value.
class ResultReader {
 public:
  ResultReader(const std::string& name, const RelishAny& result, Span span)
      : name_(name), result_(result), span_(span) {}
  ~ResultReader() {
    if (result_.kind >= RELISH_OBJECT && result_.as.object != nullptr) release(result_.as.object);
  }

  Value read() const {
    switch (result_.kind) {
      case RELISH_NONE:
        return {};
      case RELISH_INT:
        return ScalarValue::of_int(result_.as.integer);
      case RELISH_BOOL:
        return ScalarValue::of_bool(result_.as.integer != 0);
      case RELISH_FLOAT:
        return ScalarValue::of_real(result_.as.real);
      case RELISH_STRING:
        return std::string(present(result_.as.text));
      case RELISH_SMALL_STRING:
        if (result_.length >= sizeof result_.as.bytes) refuse("a small string that is too long");
        return std::string(result_.as.bytes, result_.length);
      case RELISH_TENSOR:
        return copy_of(*present(result_.as.tensor));
      case RELISH_TENSOR_OBJECT:
        return copy_of(*behind_head<RelishTensor>());
      case RELISH_STRING_OBJECT: {
        const auto* bytes = behind_head<RelishBytes>();
        return std::string(bytes->data, bytes->size);
      }
      case RELISH_SHAPE_OBJECT: {
        const auto* dims = behind_head<RelishDims>();
        return ShapeValue{{dims->data, dims->data + dims->size}};
      }
      default:
        refuse(fmt::format("a value of kind {}", result_.kind));
    }
  }

 private:
  [[noreturn]] void refuse(std::string_view what) const {
    fail(ErrorClass::Runtime, span_, "native.result",
         fmt::format("native function '{}' returned {}; expected a dense tensor in host memory, a number, a "
                     "string or a shape",
                     printable(name_), what));
  }

  template <class T>
  const T* present(const T* pointer) const {
    if (pointer == nullptr) refuse("a null pointer");
    return pointer;
  }

  template <class T>
  const T* behind_head() const {
    const auto* head = present(result_.as.object);
    return reinterpret_cast<const T*>(reinterpret_cast<const char*>(head) + sizeof(RelishObject));
  }

  Tensor copy_of(const RelishTensor& tensor) const {
    if (tensor.device.type != host_memory) refuse("a tensor of another device");
    const ElementCode* code = nullptr;
    for (const ElementCode& candidate : element_codes) {
      if (std::memcmp(&candidate.element, &tensor.element, sizeof tensor.element) == 0) code = &candidate;
    }
    if (code == nullptr) refuse("a tensor of another dtype");
    if (tensor.rank < 0 || (tensor.rank > 0 && tensor.shape == nullptr)) refuse("a tensor without a shape");
    Tensor copy = Tensor::empty(code->dtype, Shape(tensor.shape, tensor.shape + tensor.rank));
    const Shape strides = row_strides(copy.shape());
    for (std::size_t d = 0; d < strides.size() && tensor.strides != nullptr && copy.size() > 0; ++d) {
      if (copy.shape()[d] > 1 && tensor.strides[d] != strides[d]) refuse("a tensor that is not dense");
    }
    if (copy.byte_size() > 0) {
      std::memcpy(copy.mutable_data(), static_cast<const char*>(present(tensor.data)) + tensor.byte_offset,
                  static_cast<std::size_t>(copy.byte_size()));
    }
    return copy;
  }

  const std::string& name_;
  RelishAny result_;
  Span span_;
};

[[noreturn]] void report_raised(const std::string& name, int status, Span span) {
  constexpr std::size_t longest_message = 1000;
  RaisedError error = std::move(raised);
  raised = {};
  std::string text = error.kind.empty() && error.message.empty()
                         ? fmt::format("returned {} and gave no reason", status)
                         : printable(error.kind) + ": " + printable(error.message, longest_message);
  fail(ErrorClass::Runtime, span, "native.failed",
       fmt::format("native function '{}': {}", printable(name), text));
}

}  // namespace

NativeArgument native_argument(const Value& value, const std::string& name, std::size_t index, Span span) {
  auto refuse = [&](std::string_view what) {
    fail(ErrorClass::Runtime, span, "native.argument",
         fmt::format(
             "native function '{}': argument {} is {}; expected a tensor, a number, a string or a shape",
             printable(name), index + 1, what));
  };
  if (value.is_void()) return {};
  if (value.is_scalar()) return value.scalar();
  if (value.is_shape()) return NativeShape{value.shape().dims};
  if (value.is_string()) {
    if (value.string().find('\0') != std::string::npos) refuse("a string with a zero byte");
    return value.string();
  }
  if (!value.is_tensor()) refuse(describe(value));
  const Tensor& tensor = value.tensor();
  return NativeTensor{const_cast<void*>(tensor.data()), tensor.dtype(), tensor.shape()};
}

Value call_native(const std::string& name, std::span<const NativeArgument> args, Span span) {
  RelishNativeFunction code = NativeFunctions::instance().find(name, span);
  const Arguments arguments(args);
  RelishAny result = {};
  raised = {};
  int status = 0;
  try {
    status = code(nullptr, arguments.data(), arguments.count(), &result);
  } catch (...) {
    // Not allowed by the interface, but a library in C++ may still do it.
    fail(ErrorClass::Runtime, span, "native.failed",
         fmt::format("native function '{}' threw a C++ exception", printable(name)));
  }
  if (status != 0) report_raised(name, status, span);
  return ResultReader(name, result, span).read();
}

}  // namespace relish

extern "C" {

__attribute__((visibility("default"), used)) void TVMFFIErrorSetRaisedFromCStr(const char* kind,
                                                                               const char* message) {
  relish::raised.kind = kind != nullptr ? kind : "";
  relish::raised.message = message != nullptr ? message : "";
}

__attribute__((visibility("default"), used)) void TVMFFIErrorSetRaisedFromCStrParts(const char* kind,
                                                                                    const char** parts,
                                                                                    std::int32_t count) {
  relish::raised.kind = kind != nullptr ? kind : "";
  relish::raised.message.clear();
  for (std::int32_t i = 0; i < count; ++i) {
    if (parts[i] != nullptr) relish::raised.message += parts[i];
  }
}
}
