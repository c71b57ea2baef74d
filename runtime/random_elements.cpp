// Random elements. The words of a stream come four at a time, and are taken in order.
#include "runtime/random_elements.h"

#include <array>
#include <type_traits>

#include "support/failure.h"
#include "support/interrupt.h"

namespace relish {
namespace {

class WordsInOrder {
 public:
  explicit WordsInOrder(RandomKey key) : key_(key) {}

  std::uint32_t next() {
    if (at_ == words_.size()) {
      words_ = philox(key_, block_++);
      at_ = 0;
    }
    return words_[at_++];
  }

 private:
  RandomKey key_;
  std::uint64_t block_ = 0;
  std::array<std::uint32_t, 4> words_{};
  std::size_t at_ = words_.size();
};

template <class T>
T drawn(WordsInOrder& words, Distribution distribution) {
  if (distribution == Distribution::Normal) {
    const std::uint32_t high = words.next();
    return static_cast<T>(standard_normal(high, words.next()));
  }
  if constexpr (std::is_same_v<T, double>) {
    const std::uint64_t high = words.next();
    return uniform_double(high << 32 | words.next());
  } else {
    return static_cast<T>(static_cast<double>(uniform_float(words.next())));
  }
}

}  // namespace

void draw_elements(Tensor& tensor, RandomKey key, Distribution distribution, Span span) {
  RELISH_CHECK(is_float(tensor.dtype()), "random elements of a tensor that is not floating");
  visit_dtype(tensor.dtype(), [&](auto type) {
    using T = decltype(type);
    if constexpr (!std::is_integral_v<T>) {
      T* elements = static_cast<T*>(tensor.mutable_data());
      WordsInOrder words(key);
      in_polled_parts(
          tensor.size(),
          [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) elements[i] = drawn<T>(words, distribution);
          },
          span);
    }
  });
}

}  // namespace relish
