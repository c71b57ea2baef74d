// Reading and filling of format texts.
#include "stdlib/families/language/message_format.h"

#include <charconv>
#include <functional>

#include "runtime/format.h"
#include "support/render.h"

namespace relish {
namespace {

// The pieces of a format text in order: literal text, and the positions of values. `refuse` does not return.
void walk(std::string_view format, const std::function<void(std::string_view)>& text,
          const std::function<void(std::size_t)>& value, const std::function<void(std::string)>& refuse) {
  std::size_t next = 0;
  bool numbered = false, unnumbered = false;
  while (!format.empty()) {
    const std::size_t brace = std::min(format.find_first_of("{}"), format.size());
    text(format.substr(0, brace));
    format.remove_prefix(brace);
    if (format.empty()) return;
    if (format.size() > 1 && format[1] == format[0]) {
      text(format.substr(0, 1));
      format.remove_prefix(2);
      continue;
    }
    const std::size_t end = format.find('}');
    if (format[0] == '}' || end == std::string_view::npos)
      return refuse(fmt::format("found a lone '{}'; expected it twice for the character itself", format[0]));
    const std::string_view field = format.substr(1, end - 1);
    std::size_t index = next;
    if (field.empty()) {
      ++next;
      unnumbered = true;
    } else {
      const auto [stop, error] = std::from_chars(field.data(), field.data() + field.size(), index);
      if (error != std::errc() || stop != field.data() + field.size()) {
        return refuse(fmt::format("found '{{{}}}'; expected {{}} or a number, values are shown as text",
                                  printable(field)));
      }
      numbered = true;
    }
    if (numbered && unnumbered) return refuse("found {} beside a numbered field; expected one of the kinds");
    value(index);
    format.remove_prefix(end + 1);
  }
}

}  // namespace

void check_format(const CallView& call, std::string_view format, std::size_t count) {
  walk(
      format, [](std::string_view) {},
      [&](std::size_t index) {
        if (index < count) return;
        call.reject("format", call.span,
                    fmt::format("format shows value {}; {} value{} given", index, count,
                                count == 1 ? " is" : "s are"));
      },
      [&](const std::string& message) { call.reject("format", call.span, "format: " + message); });
}

std::string formatted(std::string_view format, std::span<const Value> values) {
  std::string result;
  walk(
      format, [&](std::string_view text) { result += text; },
      [&](std::size_t index) { result += shown(values[index]); },
      [](const std::string& message) { RELISH_CHECK(false, message); });
  return result;
}

std::string shown(const Value& value) {
  if (value.is_tensor() && value.tensor().rank() == 0) return format_element(value.tensor(), 0);
  return format_value(value);
}

}  // namespace relish
