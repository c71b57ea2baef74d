// Text inside XML and HTML.
#pragma once

#include <string>
#include <string_view>

namespace relish {

// The text with what would be read as markup written as entities; control characters, which may not stand in
// XML, become blanks. Good for attributes too.
std::string as_markup(std::string_view text);

}  // namespace relish
