// Reading layouts, and the two views of a tensor: as it is stored and in the order of the letters.
#include "stdlib/families/shapes/layout.h"

#include <algorithm>

#include "ir/printer/printer.h"

namespace relish::windows {
namespace {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_small(char c) { return c >= 'a' && c <= 'z'; }
constexpr std::int64_t longest_block = 1 << 20;

}  // namespace

int letters_of(std::string_view layout) {
  return static_cast<int>(
      std::count_if(layout.begin(), layout.end(), [](char c) { return !is_digit(c) && !is_small(c); }));
}

// Letters stand for dimensions in their order; a number and a small letter for the places inside the blocks
// of the large one. False for any other text.
bool Layout::read(const std::string& order, Blocks blocks) {
  axis_.assign(order.size(), std::string::npos);
  blocks_.assign(order.size(), {});
  rank_ = 0;
  for (std::size_t at = 0; at < text_.size(); ++at, ++rank_) {
    std::int64_t length = 0;
    while (at < text_.size() && is_digit(text_[at]) && length <= longest_block)
      length = length * 10 + (text_[at++] - '0');
    if (at == text_.size()) return false;
    const bool small = is_small(text_[at]);
    const char letter = small ? static_cast<char>(text_[at] - 'a' + 'A') : text_[at];
    const std::size_t i = order.find(letter);
    if (i == std::string::npos) return false;
    if (small) {
      const bool good = blocks == Blocks::Allowed && length >= 1 && length <= longest_block;
      if (!good || blocks_[i]) return false;
      blocks_[i] = {length, static_cast<std::size_t>(rank_)};
    } else {
      if (length != 0 || axis_[i] != std::string::npos) return false;
      axis_[i] = static_cast<std::size_t>(rank_);
    }
  }
  return std::count(axis_.begin(), axis_.end(), std::string::npos) == 0;
}

Layout::Layout(const CallView& call, std::string_view name, const std::string& order, const Layout* fallback,
               Blocks blocks) {
  const Attribute& attribute = call.attribute(name);
  text_ = attribute.is_none() ? std::string() : call.string_attribute(name);
  if (text_.empty() && fallback) text_ = fallback->text_;
  if (read(order, blocks)) return;
  const bool blocked = std::any_of(text_.begin(), text_.end(), is_digit);
  std::string_view hint;
  if (blocked && blocks == Blocks::Refused) hint = "; blocked layouts are not supported";
  if (blocked && blocks == Blocks::Allowed) hint = ", a block as 4c once for each";
  call.reject("layout", call.span,
              fmt::format("{} is \"{}\", expected the letters {} in some order{}", name, text_, order, hint));
}

std::string Layout::exchanged(char a, char b) const {
  const auto small = [](char c) { return static_cast<char>(c - 'A' + 'a'); };
  std::string result = text_;
  for (char& letter : result) {
    for (auto [from, to] :
         {std::pair(a, b), std::pair(b, a), std::pair(small(a), small(b)), std::pair(small(b), small(a))}) {
      if (letter != from) continue;
      letter = to;
      break;
    }
  }
  return result;
}

Dims Layout::ordered(const Dims& stored) const {
  Dims result;
  for (std::size_t i = 0; i < axis_.size(); ++i) {
    const Scalar& dim = stored[axis_[i]];
    result.push_back(blocks_[i] ? canonical(dim * Scalar(blocks_[i]->length)) : dim);
  }
  return result;
}

Shape Layout::ordered(const Shape& stored) const {
  Shape result;
  for (std::size_t i = 0; i < axis_.size(); ++i)
    result.push_back(stored[axis_[i]] * (blocks_[i] ? blocks_[i]->length : 1));
  return result;
}

Dims Layout::stored(const CallView& call, const Dims& ordered) const {
  Dims result(static_cast<std::size_t>(rank_));
  for (std::size_t i = 0; i < axis_.size(); ++i) {
    result[axis_[i]] = ordered[i];
    if (!blocks_[i]) continue;
    const Scalar length(blocks_[i]->length);
    if (!prove_equal(floor_mod(ordered[i], length), Scalar(0))) {
      call.reject("layout", call.span,
                  fmt::format("{} holds blocks of {} where the dimension is {}, expected a multiple of it",
                              text_, print(length), print(ordered[i])));
    }
    result[axis_[i]] = canonical(floor_div(ordered[i], length));
    result[blocks_[i]->axis] = length;
  }
  return result;
}

Shape Layout::stored(const Shape& ordered) const {
  Shape result(static_cast<std::size_t>(rank_));
  for (std::size_t i = 0; i < axis_.size(); ++i) {
    result[axis_[i]] = blocks_[i] ? ordered[i] / blocks_[i]->length : ordered[i];
    if (blocks_[i]) result[blocks_[i]->axis] = blocks_[i]->length;
  }
  return result;
}

Dims Layout::ordered_index(const Dims& stored) const {
  Dims result;
  for (std::size_t i = 0; i < axis_.size(); ++i) {
    const Scalar& index = stored[axis_[i]];
    result.push_back(blocks_[i] ? index * Scalar(blocks_[i]->length) + stored[blocks_[i]->axis] : index);
  }
  return result;
}

Dims Layout::stored_index(const Dims& ordered) const {
  Dims result(static_cast<std::size_t>(rank_), Scalar(0));
  for (std::size_t i = 0; i < axis_.size(); ++i) {
    result[axis_[i]] = blocks_[i] ? floor_div(ordered[i], Scalar(blocks_[i]->length)) : ordered[i];
    if (blocks_[i]) result[blocks_[i]->axis] = floor_mod(ordered[i], Scalar(blocks_[i]->length));
  }
  return result;
}

Steps Layout::steps(const Shape& stored) const {
  const Shape strides = row_major_strides(stored);
  Steps result;
  for (std::size_t i = 0; i < axis_.size(); ++i)
    result.push_back(blocks_[i] ? Step{strides[axis_[i]], blocks_[i]->length, strides[blocks_[i]->axis]}
                                : Step{strides[axis_[i]]});
  return result;
}

void Layout::require(const CallView& call, Span at, std::string_view what, const Dims& stored) const {
  for (const std::optional<Block>& block : blocks_) {
    if (!block) continue;
    const Scalar& dim = stored[block->axis];
    if (dim.as_int() == block->length) continue;
    call.reject("layout", at,
                fmt::format("dimension {} of {} is {}, expected the blocks of {} that {} says", block->axis,
                            what, print(dim), block->length, text_));
  }
}

std::optional<Dims> Layout::dims(const CallView& call, std::size_t argument) const {
  const BroadcastShape shape = shape_of(call.tensor(argument));
  const std::string_view name = call.op.params[argument].name;
  if (shape.rank >= 0 && shape.rank != rank_) {
    call.reject("rank", call.span_of(argument),
                fmt::format("{} has rank {}, expected {} for the layout {}", name, shape.rank, rank_, text_));
  }
  if (!shape.dims) return std::nullopt;
  require(call, call.span_of(argument), name, *shape.dims);
  return ordered(*shape.dims);
}

}  // namespace relish::windows
