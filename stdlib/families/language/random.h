// What the operators of R.random share: the rule of a key, and Philox4x32-10 as statements of a loop nest.
// The evaluations use runtime/philox.h; both make the same bits from the constants that stand there.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "runtime/philox.h"
#include "stdlib/families/elementwise/binary.h"

namespace relish {

// Rejects by "key" unless argument `i` is a key, R.Tensor((2,), "uint32"), as far as its type tells.
void require_key(const CallView& call, std::size_t i);
// The key that argument `i` holds.
RandomKey key_value(const EvalCall& call, std::size_t i);
// The type R.Tensor(shape argument `i`, dtype). Rejects negative dimensions by "shape".
Type drawn_type(const CallView& call, std::size_t i, DType dtype);

// Statements of the body of a block, in order, which name their intermediate values.
class LocalStatements {
 public:
  explicit LocalStatements(Span origin) : origin_(origin) {}

  Scalar let(std::string_view name, const Scalar& value);          // an immutable local
  ScalarVar variable(std::string_view name, const Scalar& value);  // one that `assign` changes
  void assign(const ScalarVar& variable, const Scalar& value);
  void append(Stmt stmt) { body_.push_back(std::move(stmt)); }
  // for i in range(extent): the statements that `body` makes of i.
  void repeat(std::string_view name, const Scalar& extent,
              const std::function<void(LocalStatements&, const Scalar& i)>& body);
  // At least once, and as long as the condition that `body` gives holds.
  void repeat_while(std::string_view name, const std::function<Scalar(LocalStatements&)>& body);
  Stmt finish() { return seq(std::move(body_), origin_); }

 private:
  Span origin_;
  std::vector<Stmt> body_;
};

using KeyWords = std::array<Scalar, 2>;
using PhiloxWords = std::array<Scalar, 4>;  // all uint32

Scalar uint32_literal(std::uint32_t value);
// philox_block: the words of a counter.
PhiloxWords philox_words(LocalStatements& into, const KeyWords& key, const PhiloxWords& counter);
// philox: the words for an index of 64 bits (int64 or uint64).
PhiloxWords philox_words(LocalStatements& into, const KeyWords& key, const Scalar& index,
                         std::uint32_t stream);
// random_word and random_double_word for an int64 index: uint32 and uint64.
Scalar word_at(LocalStatements& into, const KeyWords& key, const Scalar& index);
Scalar double_word_at(LocalStatements& into, const KeyWords& key, const Scalar& index);
// permuted_index of the runtime: the image of `start` among n (uint64), by the order of a row (uint32).
Scalar permuted_at(LocalStatements& into, const KeyWords& key, const Scalar& n, const Scalar& start,
                   const Scalar& row);
// The float64 in (0, 1) of a double word, and the same in the runtime: (b + 0.5) * 2^-52 of its highest 52
// bits.
Scalar inner_uniform(LocalStatements& into, const Scalar& word);
double inner_uniform(std::uint64_t word);
// -fixed_log of a positive float64.
Scalar minus_log(LocalStatements& into, const Scalar& x);
// normal_quantile of a float64.
Scalar normal_quantile_of(LocalStatements& into, const Scalar& p);
// The position of an element in row-major order.
Scalar flat_index(const Dims& shape, const Dims& index);

// One element of a drawn tensor in the making.
struct Draw {
  Lowering& lowering;
  LocalStatements& locals;
  KeyWords key;
  const Dims& index;
  const binary_family::LoweredOperand* operand;  // the argument beside the key, when one was asked for

  // The element's position in row-major order.
  Scalar position() const { return locals.let("position", flat_index(lowering.result_dims(), index)); }
};
// The nest result[index] = value(draw), converted to the result's dtype. Argument 0 is the key, `operand` a
// tensor or scalar argument that `value` uses.
PrimFunc lower_draw(const LowerCall& call, std::string_view block,
                    const std::function<Scalar(const Draw&)>& value,
                    std::optional<std::size_t> operand = std::nullopt);

// `op` as an operator that takes a key: it has no gradient, and both tiers make the same bits.
constexpr Op random_op(Op op) {
  op.no_gradient = "bits do not change smoothly with the key";
  op.zero_gradient = true;
  op.agreement = Agreement::Random;
  return op;
}
inline constexpr Param key_param = {"key", ParamKind::Tensor, "tensor", "",
                                    "a key, R.Tensor((2,), \"uint32\")"};

// What uniform and normal numbers have in common: (key, shape, dtype), a floating dtype.
inline constexpr Param distribution_params[] = {
    key_param,
    {"shape", ParamKind::Shape, "shape", "", "shape of the result"},
    {"dtype", ParamKind::Attribute, "dtype", "\"float32\"", "a floating dtype"}};
Type distribution_type(const CallView& call);

}  // namespace relish
