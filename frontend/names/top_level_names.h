// What the top level of a text binds and holds besides its declarations, found line by line: for texts that
// are Python, or whatever else stands in a file, where much cannot be read.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "support/source.h"

namespace relish {

struct TopLevel {
  // What each name means at the end of the text: "tvm.script.relax" for an imported one, else empty.
  std::map<std::string, std::string> names;
  // The statements that are neither declarations nor imports of TVM's namespaces nor a value alone, with
  // their blocks.
  std::vector<Span> others;
  // The names that those use, but for attributes.
  std::set<std::string> used;
  // The last import of a namespace of TVM's that stands before the first declaration; unknown without one.
  Span last_import;
  bool damaged = false;  // something of it was not understood
};

TopLevel top_level_of(std::uint32_t file, std::string_view text);

}  // namespace relish
