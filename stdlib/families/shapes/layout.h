// Layouts: which dimension of a tensor holds the batches, channels, rows … that an operator works on. "NHWC"
// is a permutation of letters; in a blocked one, as "NCHW4c", a dimension of its own holds so many neighbours
// of a letter, and the letter's own dimension counts the blocks. Whoever works behind a layout sees one
// dimension a letter, in one order, whatever the tensor's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stdlib/families/shapes/shapes.h"

namespace relish::windows {

// How far in a row-major tensor an element lies behind another whose index differs in one letter.
struct Step {
  std::int64_t stride = 0;
  std::int64_t block = 1, inner = 0;  // of a blocked letter: how long a block is, and the stride inside

  friend std::int64_t operator*(std::int64_t index, const Step& step) {
    return step.block == 1 ? index * step.stride
                           : index / step.block * step.stride + index % step.block * step.inner;
  }
};
using Steps = std::vector<Step>;

enum class Blocks : std::uint8_t { Refused, Allowed };

class Layout {
 public:
  // The attribute `name`; None and "" give `fallback`. Rejects by "layout" what does not hold each letter of
  // `order` once, with blocks of them where they are allowed.
  Layout(const CallView& call, std::string_view name, const std::string& order,
         const Layout* fallback = nullptr, Blocks blocks = Blocks::Refused);

  const std::string& text() const { return text_; }
  // With letters `a` and `b` exchanged, and their blocks.
  std::string exchanged(char a, char b) const;
  // The dimension of the tensor that holds letter i of the order; of a blocked letter its blocks.
  std::size_t axis(std::size_t i) const { return axis_[i]; }
  // Dimensions of a tensor in this layout.
  int rank() const { return rank_; }

  // Dims of a tensor in the order of the letters, and back. Dims that are no multiple of their block have no
  // tensor: `stored` rejects them by "layout".
  Dims ordered(const Dims& stored) const;
  Shape ordered(const Shape& stored) const;
  Dims stored(const CallView& call, const Dims& ordered) const;
  Shape stored(const Shape& ordered) const;
  // An index into a tensor in the order of the letters, and back.
  Dims ordered_index(const Dims& stored) const;
  Dims stored_index(const Dims& ordered) const;
  // For each letter, the steps through a row-major tensor of this shape.
  Steps steps(const Shape& stored) const;
  // The rank and, where known, the dims of an argument of this layout in the order; rejects by "rank", and by
  // "layout" blocks of another length.
  std::optional<Dims> dims(const CallView& call, std::size_t argument) const;
  // The same of known dims of anything else that must have this layout; `at` is its place, `what` its name.
  void require(const CallView& call, Span at, std::string_view what, const Dims& stored) const;

 private:
  struct Block {
    std::int64_t length;
    std::size_t axis;  // the dimension that holds the places inside a block
  };

  bool read(const std::string& order, Blocks blocks);

  std::string text_;
  std::vector<std::size_t> axis_;
  std::vector<std::optional<Block>> blocks_;  // of each letter
  int rank_ = 0;
};

// How many letters a layout has, without its blocks: the dimensions that an operator works on.
int letters_of(std::string_view layout);

}  // namespace relish::windows
