// Types of graph values ("struct info" in TVM): tensors with symbolic dimensions, tuples, shapes, scalars,
// functions. Values behind counted handles; equality is by provable equality of dimensions.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ir/nodes/scalar.h"

namespace relish {

class Type;

struct TensorType {
  std::optional<DType> dtype;                // unknown when absent
  std::optional<std::vector<Scalar>> shape;  // dims known (int64 scalars); else only the rank, perhaps
  int rank = -1;                             // -1 unknown; equals shape->size() when the shape is known
  std::string vdevice = {};  // "llvm:0:global" as written; read, printed and otherwise ignored

  bool has_shape() const { return shape.has_value(); }
};
struct TupleType {
  std::vector<Type> fields;
};  // empty: void
struct ShapeType {
  std::optional<std::vector<Scalar>> dims;
  int rank = -1;
};
struct ScalarType {
  DType dtype;
};  // R.Prim("int64"), T.int64
struct StringType {};
struct DTypeType {};
struct FunctionType;
// R.Stack(T), an extension: a last-in first-out tape of values of one type.
struct StackType {
  std::shared_ptr<const Type> element;
};
struct AnyType {};    // R.Any
struct ErrorType {};  // only inside the front end: silences follow-up errors

struct FunctionType;
using TypeKind = std::variant<TensorType, TupleType, ShapeType, ScalarType, StringType, DTypeType,
                              std::shared_ptr<const FunctionType>, StackType, AnyType, ErrorType>;

class Type {
 public:
  Type();  // R.Any
  Type(TypeKind kind);
  Type(TensorType t) : Type(TypeKind(std::move(t))) {}
  Type(TupleType t) : Type(TypeKind(std::move(t))) {}
  Type(ShapeType t) : Type(TypeKind(std::move(t))) {}
  Type(ScalarType t) : Type(TypeKind(t)) {}
  Type(StackType t) : Type(TypeKind(std::move(t))) {}
  Type(FunctionType t);

  const TypeKind& kind() const { return *kind_; }
  template <class K>
  const K* as() const {
    return std::get_if<K>(kind_.get());
  }
  const TensorType* tensor() const { return as<TensorType>(); }
  const TupleType* tuple() const { return as<TupleType>(); }
  const FunctionType* function() const;
  bool is_void() const {
    const auto* t = tuple();
    return t && t->fields.empty();
  }
  bool is_error() const { return as<ErrorType>() != nullptr; }
  bool same_as(const Type& other) const { return kind_ == other.kind_; }

 private:
  std::shared_ptr<const TypeKind> kind_;
};

struct FunctionType {
  std::vector<Type> params;
  Type result;
  bool pure = true;
  // The parameters are unknown: a bare R.Callable, R.PackedFunc, or R.Callable(ret=T).
  bool opaque = false;
  std::vector<std::string> param_names = {};  // of a global function, for messages only; else empty
};

// R.Tensor(dims, dtype) with everything known.
Type tensor_type(std::vector<Scalar> dims, DType dtype);
Type void_type();

// Equal for all values of the symbolic variables.
bool same_type(const Type& a, const Type& b);
// How `value` relates to what is `wanted`: it always fits, may fit (less is known of it), or provably does
// not.
enum class Fit { Always, Maybe, Never };
Fit fits(const Type& value, const Type& wanted);
// The most precise type that both fit: differing dims become unknown; differing kinds give R.Any.
Type join(const Type& a, const Type& b);

Type substitute(const Type& type, const ScalarMap& scalars);
void collect_vars(const Type& type, std::vector<ScalarVar>& into);
// True when every dimension and dtype in it is known (symbolic counts as known).
bool fully_known(const Type& type);

}  // namespace relish
