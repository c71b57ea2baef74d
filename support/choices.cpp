// The nearest of the names, else a list of them.
#include "support/choices.h"

#include "support/render.h"
#include "support/suggest.h"

namespace relish {

std::string among_choices(std::string_view wanted, std::span<const std::string> names) {
  constexpr std::size_t most = 8;
  std::string nearest = did_you_mean(wanted, names);
  if (!nearest.empty()) return nearest;
  if (names.empty()) return "; there are none";
  std::string text = names.size() == 1 ? "; there is " : "; there are ";
  for (std::size_t i = 0; i < names.size() && i < most; ++i)
    text += (i > 0 ? ", " : "") + printable(names[i], 40);
  return names.size() > most ? text + ", …" : text;
}

}  // namespace relish
