// The names that TVM knows: axes of blocks, threads and clusters, and virtual threads of any number.
#include "frontend/prim_func/thread_tags.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "support/failure.h"
#include "support/fix.h"
#include "support/render.h"
#include "support/suggest.h"

namespace relish {

void check_thread_tag(const std::string& tag, Span at) {
  if (tag.starts_with("vthread") || tag == "cthread") return;
  std::vector<std::string> names;
  for (std::string_view kind : {"blockIdx", "threadIdx", "clusterCtaIdx", "preferredClusterCtaIdx"})
    for (char axis : {'x', 'y', 'z'}) names.push_back(fmt::format("{}.{}", kind, axis));
  if (std::find(names.begin(), names.end(), tag) != names.end()) return;
  names.emplace_back("vthread");
  std::vector<DiagnosticNote> notes;
  if (const auto nearest = nearest_name(tag, names))
    notes.push_back(write_here(at, fmt::format("\"{}\"", *nearest)));
  fail(ErrorClass::Type, at, "loop.thread",
       fmt::format("found the thread \"{}\", which there is not; expected one such as \"blockIdx.x\", "
                   "\"threadIdx.x\" or \"vthread\"",
                   printable(tag)),
       std::move(notes));
}

}  // namespace relish
