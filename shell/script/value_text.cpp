// Text of script values, as print and a bare expression show them.
#include <fmt/format.h>

#include "ir/printer/printer.h"
#include "runtime/format.h"
#include "shell/script/characters.h"
#include "shell/script/format_spec.h"
#include "shell/script/letters.h"
#include "shell/script/script_function.h"
#include "shell/script/unread_value.h"
#include "support/failure.h"
#include "support/interrupt.h"

namespace relish {
namespace {

// A string in quotes, as it may be written in a script.
std::string quoted(const std::string& text) {
  char quote = text.find('\'') != std::string::npos && text.find('"') == std::string::npos ? '"' : '\'';
  std::string result(1, quote);
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80) {
      const std::size_t next = next_character(text, at);
      const std::string_view one = std::string_view(text).substr(at, next - at);
      const std::uint32_t code = code_point(one);
      result += letters::is_printable(code) ? std::string(one) : escape_of(code);
      at = next;
      continue;
    }
    ++at;
    if (c == quote || c == '\\') {
      result += '\\';
      result += c;
    } else if (c == '\n') {
      result += "\\n";
    } else if (c == '\r') {
      result += "\\r";
    } else if (c == '\t') {
      result += "\\t";
    } else if (byte < 0x20 || byte == 0x7F) {
      result += escape_of(byte);
    } else {
      result += c;
    }
  }
  return result + quote;
}

std::string function_text(const FunctionReference& function) {
  if (FunctionPtr graph = function.module->function(function.name)) return print(*graph);
  if (PrimFuncPtr loops = function.module->prim_func(function.name)) return print(*loops);
  return "function " + function.name;
}

// How much of a container is written.
struct Extent {
  std::size_t most_items = SIZE_MAX;  // of one container, above which its middle is left out
  std::size_t edge_items = 3;
  std::size_t most_characters = SIZE_MAX;  // of all: then items are left out,
  bool refuses = false;                    // or the text is refused
  bool full = false;                       // every element of tensors
};

constexpr Extent shown{1000, 3, 100'000};
constexpr Extent brief{10, 3, 80};
// A text as long as a str may be; and one for the eye or a file, which nothing holds.
constexpr Extent exact{SIZE_MAX, 3, static_cast<std::size_t>(most_items), true};
constexpr Extent exact_in_full{SIZE_MAX, 3, std::size_t{1} << 28, true, true};

std::string plain_text(const ScriptValue& value, bool full);

// Writes a value with what it holds.
class ValueWriter {
 public:
  explicit ValueWriter(const Extent& extent) : extent_(extent) {}

  std::string text(const ScriptValue& value) {
    write(value);
    return std::move(text_);
  }

 private:
  void write(const ScriptValue& value) {
    poll_interrupt();
    if (const ScriptList* list = value.sequence()) {
      text_ += list->tuple ? '(' : '[';
      write_items(list->items, [&](const ScriptValue& item) { write(item); });
      if (list->tuple && list->items.size() == 1) text_ += ',';
      text_ += list->tuple ? ')' : ']';
    } else if (const ScriptDict* dict = value.dictionary()) {
      text_ += '{';
      write_items(dict->items, [&](const std::pair<ScriptValue, ScriptValue>& item) {
        write(item.first);
        text_ += ": ";
        write(item.second);
      });
      text_ += '}';
    } else if (const std::string* text = value.string()) {
      put(quoted(*text));
    } else if (value.as<ModulePtr>() || value.as<FunctionReference>()) {
      // Inside a container a module or function is named, not printed.
      text_ += "<" + describe(value) + ">";
    } else {
      put(plain_text(value, extent_.full));
    }
  }

  // Exact text is refused when it grows too long, other text is cut.
  void put(const std::string& text) {
    if (extent_.refuses && text_.size() + text.size() > extent_.most_characters) {
      fail(ErrorClass::ResourceLimit, {}, "limit.items",
           fmt::format("the text of the value is too long; expected at most {} characters",
                       extent_.most_characters));
    }
    if (extent_.refuses || text.size() <= extent_.most_characters) {
      text_ += text;
      return;
    }
    std::size_t end = extent_.most_characters;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // a whole character
    text_ += text.substr(0, end);
    text_ += "...";
  }

  template <class Item, class WriteItem>
  void write_items(const std::vector<Item>& items, const WriteItem& write_item) {
    const bool cut = items.size() > extent_.most_items;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0) text_ += ", ";
      const bool gap = cut && i == extent_.edge_items;
      const bool rest = !extent_.refuses && text_.size() >= extent_.most_characters;
      if (gap || rest) text_ += "...";
      if (rest) return;
      if (gap) {
        i = items.size() - extent_.edge_items - 1;
        continue;
      }
      write_item(items[i]);
    }
  }

  const Extent& extent_;
  std::string text_;
};

bool is_container(const ScriptValue& value) { return value.sequence() || value.dictionary(); }

// The text of a value that holds no other.
std::string plain_text(const ScriptValue& value, bool full) {
  struct Text {
    bool full;
    std::string operator()(std::monostate) const { return "None"; }
    std::string operator()(bool v) const { return v ? "True" : "False"; }
    std::string operator()(std::int64_t v) const { return std::to_string(v); }
    std::string operator()(double v) const { return format_double(v); }
    std::string operator()(const std::string& v) const { return v; }
    std::string operator()(const std::shared_ptr<const ScriptList>&) const { return {}; }
    std::string operator()(const std::shared_ptr<const ScriptDict>&) const { return {}; }
    std::string operator()(const ScriptRange& v) const {
      return v.step == 1 ? fmt::format("range({}, {})", v.begin, v.end)
                         : fmt::format("range({}, {}, {})", v.begin, v.end, v.step);
    }
    std::string operator()(const Tensor& v) const {
      FormatOptions options;
      options.full = full;
      return format_tensor(v, options);
    }
    std::string operator()(const ShapeValue& v) const { return format_value(v); }
    std::string operator()(const ModulePtr& v) const {
      std::string text = print(*v);
      while (text.ends_with('\n')) text.pop_back();
      return text;
    }
    std::string operator()(const FunctionReference& v) const {
      std::string text = function_text(v);
      while (text.ends_with('\n')) text.pop_back();
      return text;
    }
    std::string operator()(const std::shared_ptr<const ObjectValue>& v) const { return v->describe(); }
    std::string operator()(const ScriptFunctionPtr& v) const {
      return fmt::format("<{} {}>", v->text ? "function" : "built-in function", v->name);
    }
    std::string operator()(const UnreadValuePtr& v) const { return v->overview(); }
  };
  return std::visit(Text{full}, value.kind());
}

}  // namespace

std::string text_of(const ScriptValue& value, bool full) {
  if (is_container(value)) return ValueWriter(full ? exact_in_full : exact).text(value);
  return plain_text(value, full);
}

std::string quoted_text_of(const ScriptValue& value, bool full) {
  if (const std::string* text = value.string()) return quoted(*text);
  if (value.as<ModulePtr>() || value.as<FunctionReference>()) return "<" + describe(value) + ">";
  return text_of(value, full);
}

std::string shown_text(const ScriptValue& value) {
  return is_container(value) ? ValueWriter(shown).text(value) : plain_text(value, false);
}

std::string written_text(const ScriptValue& value, bool shown, bool full) {
  const Tensor* tensor = value.tensor();
  if (!tensor || tensor->rank() > 0) return shown ? shown_text(value) : text_of(value, full);
  if (is_bool(tensor->dtype())) return tensor->get_int(0) != 0 ? "True" : "False";
  std::string number = format_element(*tensor, 0);
  // As a float is written: 4.0.
  const bool whole = number.find_first_not_of("-0123456789") == std::string::npos;
  if (is_float(tensor->dtype()) && whole) number += ".0";
  return number;
}

std::string brief_text(const ScriptValue& value) { return ValueWriter(brief).text(value); }

}  // namespace relish
