// Annotations of the text: R.Tensor, R.Tuple, R.Shape, R.Prim, R.Callable, R.Any and their older spellings;
// and the symbolic dimensions of one function.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "frontend/context.h"
#include "frontend/types/scalar_reader.h"
#include "ir/nodes/type.h"

namespace relish {

// The symbolic variables of one function. A name comes to life at its first use, provided that something in
// the function declares it: a string dimension, `n = T.int64()`, a type parameter.
class SymbolTable : public ScalarScope {
 public:
  void declare(const std::string& name, DType dtype, Span at) {
    declared_.emplace(name, Declared{dtype, at});
  }
  // Names from outside the function; its own come first. `names` must outlive this.
  void declare_outer(const std::set<std::string>& names, DType dtype, Span at) {
    outer_ = &names;
    outer_declared_ = {dtype, at};
  }
  bool declares(const std::string& name) const {
    return declared_.count(name) > 0 || (outer_ && outer_->count(name) > 0);
  }
  // Of a name that the function itself declares.
  std::optional<DType> declared_dtype(const std::string& name) const {
    const auto found = declared_.find(name);
    return found == declared_.end() ? std::nullopt : std::optional(found->second.dtype);
  }
  void define(const std::string& name, ScalarVar var) { vars_.insert_or_assign(name, std::move(var)); }
  // All string dimensions that are plain names, anywhere in an annotation; each declares itself.
  void declare_strings(const ast::Expr& annotation, DType dtype);
  // The form of 2022: in `Tensor((n, m), "float32")`, without a namespace, plain names declare themselves.
  void declare_bare_names(const ast::Expr& annotation, DType dtype);

  ScalarMeaning find(const std::string& name, Span use) override;
  std::vector<std::string> names() const override;

 private:
  struct Declared {
    DType dtype;
    Span span;
  };
  std::map<std::string, Declared> declared_;
  const std::set<std::string>* outer_ = nullptr;
  Declared outer_declared_;
  std::map<std::string, ScalarVar> vars_;
};

// Variables, whose types and, of shape type, whose dims a type may name.
class ShapeScope {
 public:
  virtual ~ShapeScope() = default;
  // The type of the variable that the expression names; nothing when it is no name of a shape.
  virtual std::optional<ShapeType> shape_of(const ast::Expr& expr) = 0;
  // The type of the variable, or of the field of one, that the expression names, for x.ty; nothing for
  // others.
  virtual std::optional<Type> type_of(const ast::Expr& expr) = 0;
};

class TypeReader {
 public:
  // `scope` gives the names in dimensions, `shapes` those of whole shapes (none when null).
  TypeReader(ReadContext& context, ScalarScope& scope, ShapeScope* shapes = nullptr)
      : context_(context), scope_(scope), shapes_(shapes) {}

  // Throws TypeError at the place of the fault.
  Type read(const ast::Expr& expr);
  // Whether the expression is meant as a type (and not, say, as a shape).
  bool is_type(const ast::Expr& expr) const;
  // The dtype of a scalar's annotation (R.Prim("int64"), T.int64); nothing for other types.
  std::optional<DType> scalar_dtype(const ast::Expr& annotation) const;
  // The variable that R.Prim(value="n") or R.Prim(value=n) stands for; nothing for other types and values.
  std::optional<std::string> named_value(const ast::Expr& annotation) const;
  // Dimensions in a tuple or list; strings are dimensions too. `plain_integer`: dtype of plain numbers.
  std::vector<Scalar> read_dims(const ast::Expr& expr, DType plain_integer = DType::Int64);
  Scalar read_dim(const ast::Expr& expr, DType plain_integer = DType::Int64);

 private:
  std::string type_name(const ast::Expr& expr) const;
  std::optional<Type> type_of_value(const ast::Expr& expr) const;
  Type tensor(const ast::Expr& expr, const ast::Call* call);
  Type tuple(const ast::Call& call);
  Type shape(const ast::Expr& expr, const ast::Call* call);
  Type scalar(const ast::Expr& expr, const ast::Call& call);
  Type callable(const ast::Call& call);
  Type stack(const ast::Expr& expr, const ast::Call* call);
  std::vector<Type> read_types(const ast::Expr& expr);
  std::vector<Scalar> starred_dims(const ast::Expr& expr, DType plain_integer);

  ReadContext& context_;
  ScalarScope& scope_;
  ShapeScope* shapes_;
};

}  // namespace relish
