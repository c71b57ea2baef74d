// Prints a text of tests/scale/texts.h: scale_text KIND N (for modules, N is a number of bytes). Without
// arguments, the kinds.
#include <cstdio>
#include <cstdlib>

#include "tests/scale/texts.h"

int main(int argc, char** argv) {
  using namespace relish::scale;
  if (argc != 3) {
    for (auto kinds : {modules(), growths()}) {
      for (const TextKind& kind : kinds)
        std::printf("%-28s %s\n", std::string(kind.name).c_str(), std::string(kind.what).c_str());
    }
    return argc == 1 ? 0 : 2;
  }
  const TextKind* kind = find_kind(argv[1]);
  if (!kind) {
    std::fprintf(stderr, "scale_text: no kind '%s'\n", argv[1]);
    return 2;
  }
  const std::string text = kind->make(std::strtoull(argv[2], nullptr, 10));
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
}
