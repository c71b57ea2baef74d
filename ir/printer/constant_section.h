// Large constants of a text: a trailing section of comment lines that holds each tensor once, exactly, as
// base64 of its row-major little-endian bytes. The text refers to an entry as `relish.constant("c0")`. Lines
// of the section:
//
//   # relish.constants
//   #: c0 float32 (784, 128) <up to 96 characters of base64>
//   #:   <up to 96 characters more>
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "runtime/tensor.h"

namespace relish {

inline constexpr std::string_view constant_section_heading = "# relish.constants";

// Collects the constants of a text that is being written.
class ConstantSection {
 public:
  // The name of the entry that holds the tensor: equal tensors (dtype, shape, bytes) share one.
  std::string add(const Tensor& tensor);
  // An entry that a text has already: it keeps its name, and no new one gets that.
  void keep(const std::string& name, const Tensor& tensor);
  bool empty() const { return entries_.empty(); }
  // Heading and entries; nothing when empty.
  std::string text() const;
  // The entries that were added to those kept, without a heading.
  std::string added_text() const;

 private:
  struct Entry {
    std::string name;
    Tensor tensor;
    bool kept = false;
  };
  static void write(const Entry& entry, std::string& out);

  std::size_t next_ = 0;  // number of the next name
  std::unordered_set<std::string> kept_names_;
  std::vector<Entry> entries_;
  std::unordered_multimap<std::uint64_t, std::size_t> by_hash_;
};

// Offset of the section's heading line in a source; npos when it has none.
std::size_t find_constant_section(std::string_view source);
// The entries of the section whose heading stands at `heading` of `source`, the text of file `file`. A
// damaged entry is a Failure(SyntaxError) at its line.
std::unordered_map<std::string, Tensor> read_constant_section(std::uint32_t file, std::string_view source,
                                                              std::size_t heading);

}  // namespace relish
