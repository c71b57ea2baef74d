// Scalar expressions of the text: arithmetic of prim_funcs, and dimensions of types. Names are looked up
// through an interface, because a dimension sees symbolic variables only and a prim_func also loops, locals
// and buffers. What operands mean together stands a layer below (scalar_rules.h), what a function of T means
// beside it (scalar_function.h).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "frontend/context.h"
#include "frontend/types/scalar_rules.h"
#include "ir/nodes/scalar.h"

namespace relish {

// What a name stands for in a scalar expression. `std::string` is the reason why it may not be used here; a
// list is that of the variables of `for it in T.grid(a, b)`.
using ScalarMeaning = std::variant<std::monostate, Scalar, Buffer, std::string, std::vector<Scalar>>;

// What a call of a prim_func inside another has to know of it.
struct PrimFuncHeader {
  std::string name;
  std::size_t params;
  std::optional<DType> result;
};

class ScalarScope {
 public:
  virtual ~ScalarScope() = default;
  virtual ScalarMeaning find(const std::string& name, Span use) = 0;
  virtual std::vector<std::string> names() const = 0;  // for suggestions
  // The axes of the block, or the loop variables, outer before inner: what indices are made of.
  virtual std::vector<std::string> index_names() const { return {}; }
  // The dimension of a tensor of that name where its type tells it, else undefined; negative axes count from
  // the end.
  virtual Scalar dimension_of(const std::string& tensor, std::int64_t axis) {
    (void)tensor;
    (void)axis;
    return {};
  }
  // The same of a shape, `s = x.shape`.
  virtual Scalar dimension_in(const std::string& shape, std::int64_t axis) {
    (void)shape;
    (void)axis;
    return {};
  }
  // The prim_func that `Module.f` or `f` names.
  virtual std::optional<PrimFuncHeader> prim_func(const ast::Expr& callee) {
    (void)callee;
    return std::nullopt;
  }
};

// Variables of T.Let. A name is declared once for all side by side that use it; in one within another it is a
// new variable.
struct LetNames {
  ScalarVar variable(const std::string& name, DType dtype, Span span);

  std::vector<std::pair<std::string, Scalar>> open;  // of those around what is read
  std::map<std::string, ScalarVar> known = {};       // of all so far
};

class ScalarReader : public ScalarRules {
 public:
  ScalarReader(ReadContext& context, ScalarScope& scope, DType plain_integer)
      : ScalarRules(plain_integer), context_(context), scope_(scope) {}

  // Each throws TypeError at the place of the fault (Silent for names whose declaration failed). Vectors are
  // refused but by operand, value and read_indices.
  Scalar read(const ast::Expr& expr);
  ScalarOperand operand(const ast::Expr& expr);
  Scalar value(const ast::Expr& expr) { return settled(operand(expr)).value; }
  // Of this dtype: plain numbers take it, all else is cast.
  Scalar read_as(DType dtype, const ast::Expr& expr);
  Scalar read_condition(const ast::Expr& expr);
  // The condition of an if or a while, where an integer stands for "is not 0".
  Scalar read_truth(const ast::Expr& expr);
  Scalar read_index(const ast::Expr& expr);
  // The predicate of vload and vstore: of as many lanes, or the same for all.
  Scalar read_mask(const ast::Expr& expr, int lanes);
  // The indices of vload and vstore: a list, or one.
  std::vector<Scalar> read_places(const Buffer& buffer, const ast::Expr& expr, Span at);
  std::vector<Scalar> read_indices(const Buffer& buffer, const ast::Subscript& subscript, Span at);
  // A list or tuple of scalars, such as the shape of a buffer; a single scalar counts as one.
  std::vector<Scalar> read_list(const ast::Expr& expr);
  // Like `value`, but what points to memory is allowed: the arguments of foreign calls, statements.
  Scalar read_effect(const ast::Expr& expr);
  // The value where it is a vector, else undefined.
  Scalar value_of_lanes(const ast::Expr& expr);
  // A call of native code or of a prim_func.
  bool is_foreign(const ast::Expr& expr);
  // What stands for several scalars: A.shape, A.strides, `it` of `for it in T.grid(a, b)`, and a starred
  // item.
  std::optional<std::vector<Scalar>> several(const ast::Expr& expr);
  // The same for what stands behind a star, which may be a list too.
  std::optional<std::vector<Scalar>> spread(const ast::Expr& expr);
  // "float32", or A.dtype.
  DType dtype_argument(const ast::Expr& expr) const;
  std::string_view text_of(Span at) const { return context_.text_of(at); }

 private:
  ScalarOperand name(const ast::Expr& expr, const std::string& id);
  ScalarOperand call(const ast::Expr& expr, const ast::Call& call);
  ScalarOperand subscript(const ast::Expr& expr, const ast::Subscript& subscript);
  ScalarOperand comparison(const ast::Expr& expr, const ast::Comparison& comparison);
  std::optional<Buffer> buffer_named(const ast::Expr& expr) const;
  std::optional<ScalarOperand> attribute(const ast::Expr& expr, const ast::Attribute& attribute);
  std::optional<ScalarOperand> item_of_several(const ast::Subscript& subscript);
  std::vector<const ast::Expr*> items_of(const ast::Subscript& subscript) const;
  ScalarOperand foreign(const ast::Expr& expr, const ast::Call& call);
  ScalarOperand access_pointer(const ast::Expr& expr, const Buffer& buffer, const ast::Call& call);
  Scalar foreign_argument(const ast::Expr& expr);
  // Of the arguments from `first` on.
  ScalarOperand vector_load(const ast::Expr& expr, const Buffer& buffer, const ast::Call& call,
                            std::size_t first = 0);
  ScalarOperand prefix(const ast::Expr& expr, const ast::Prefix& prefix);
  ScalarOperand let_expression(const ast::Expr& expr, const ast::Call& call);
  Scalar slice_index(const ast::Slice& slice, const Scalar& dim, Span at);
  void check_depth(std::size_t levels, Span at);

  ReadContext& context_;
  ScalarScope& scope_;
  std::size_t depth_ = 0;
  bool pointers_allowed_ = false;  // for the expression that is read next
  LetNames lets_;
};

// Whether the function behind "T." is one that only a GPU has, or needs its memory.
bool needs_device(std::string_view name);
// "float32" to its dtype; TypeError that suggests the nearest, or names what is not supported.
DType read_dtype(std::string_view name, Span at);
// A name of the script's statements, which functions do not see.
// `size`: where a symbol may stand.
[[noreturn]] void fail_script_name(const std::string& name, Span at, bool size = false);
[[noreturn]] void fail_unknown_name(const std::string& name, Span at, std::vector<std::string> candidates);

}  // namespace relish
