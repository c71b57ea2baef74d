// Reading is nlohmann's, as a stream of events, so that what a text nests costs no stack.
#include "shell/script/json_values.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "runtime/files/data_file.h"
#include "runtime/format.h"
#include "shell/script/dict_index.h"
#include "support/atomic_file.h"
#include "support/interrupt.h"
#include "support/limits.h"
#include "support/render.h"

namespace relish {
namespace {

// Builds the value while the text is read.
class JsonBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit JsonBuilder(const std::string& path) : path_(path) {}

  bool null() override { return put({}); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(static_cast<std::int64_t>(value)); }
  bool number_unsigned(number_unsigned_t value) override {
    if (value > static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max()))
      refuse(fmt::format("the int {} does not fit 64 bits", value));
    return put(static_cast<std::int64_t>(value));
  }
  bool number_float(number_float_t value, const string_t& text) override {
    if (text.find_first_of(".eE") == std::string::npos)
      refuse(fmt::format("the int {} does not fit 64 bits", printable(text, 40)));
    return put(value);
  }
  bool string(string_t& text) override { return put(std::move(text)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(true); }
  bool start_array(std::size_t) override { return open(false); }
  bool key(string_t& text) override {
    Level& level = levels_.back();
    ScriptValue name(std::move(text));
    if (level.index.find(level.entries, name))
      refuse(fmt::format("the name '{}' occurs twice in an object", printable(*name.string(), 40)));
    level.index.add(name, level.entries.size());
    level.entries.emplace_back(std::move(name), ScriptValue());
    return true;
  }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t byte, const std::string& token,
                   const nlohmann::json::exception& error) override {
    constexpr int out_of_range = 406;
    if (error.id == out_of_range)
      refuse(fmt::format("the number {} is beyond the range of 64 bits", printable(token, 40)));
    std::string_view text = error.what();
    // "[json.exception.parse_error.101] parse error at line 1, column 5: syntax error while …"
    if (const std::size_t at = text.find("] parse error"); at != text.npos) text.remove_prefix(at + 14);
    data_failure(path_, "json.syntax", printable(text, 300), byte > 0 ? byte - 1 : 0);
  }

  ScriptValue result;

 private:
  struct Level {
    bool object = false;
    std::vector<ScriptValue> items = {};
    DictItems entries = {};
    DictIndex index = DictIndex();
  };

  [[noreturn]] void refuse(const std::string& message) { data_failure(path_, "json.value", message); }

  bool put(ScriptValue value) {
    poll_interrupt();
    if (levels_.empty()) {
      result = std::move(value);
    } else if (levels_.back().object) {
      levels_.back().entries.back().second = std::move(value);
    } else {
      levels_.back().items.push_back(std::move(value));
    }
    return true;
  }
  bool open(bool object) {
    if (levels_.size() >= most_value_nesting)
      refuse(fmt::format("objects and arrays nest deeper than {}", most_value_nesting));
    levels_.emplace_back();
    levels_.back().object = object;
    return true;
  }
  bool close() {
    Level level = std::move(levels_.back());
    levels_.pop_back();
    return put(level.object ? ScriptValue::dict(std::move(level.entries))
                            : ScriptValue::list(std::move(level.items)));
  }

  const std::string& path_;
  std::vector<Level> levels_;
};

[[noreturn]] void refuse_json(const std::string& place, const ScriptValue& value, Span span,
                              std::string_view why) {
  fail(ErrorClass::Type, span, "save.json",
       fmt::format("save: found {}{}, which JSON has not{}",
                   value.as<double>() ? text_of(value) : describe(value),
                   place.empty() ? "" : fmt::format(" at {}", printable(place, 60)), why));
}

void write_json(const ScriptValue& value, const std::string& place, Span span, std::string& into) {
  poll_interrupt(span);
  if (value.is_none()) {
    into += "null";
  } else if (const auto* flag = value.as<bool>()) {
    into += *flag ? "true" : "false";
  } else if (const auto* integer = value.as<std::int64_t>()) {
    into += std::to_string(*integer);
  } else if (const auto* real = value.as<double>()) {
    if (!std::isfinite(*real)) refuse_json(place, value, span, "");
    into += format_double(*real);
  } else if (const std::string* text = value.string()) {
    into += nlohmann::json(*text).dump();
  } else if (const ScriptList* list = value.sequence()) {
    into += '[';
    for (std::size_t i = 0; i < list->items.size(); ++i) {
      if (i > 0) into += ", ";
      write_json(list->items[i], fmt::format("{}[{}]", place, i), span, into);
    }
    into += ']';
  } else if (const ScriptDict* dict = value.dictionary()) {
    into += '{';
    for (std::size_t i = 0; i < dict->items.size(); ++i) {
      const auto& [key, item] = dict->items[i];
      if (!key.string()) refuse_json(place, key, span, " as a name; names are strs");
      if (i > 0) into += ", ";
      into += nlohmann::json(*key.string()).dump() + ": ";
      write_json(item, place + (place.empty() ? "" : ".") + *key.string(), span, into);
    }
    into += '}';
  } else {
    refuse_json(place, value, span,
                value.tensor() ? "; t.tolist() gives lists, a .npz or .safetensors file holds tensors" : "");
  }
}

}  // namespace

ScriptValue read_json(const std::string& path) {
  std::string text = read_file(path, memory_limit(), "--memory-limit");
  std::string_view bytes = text;
  if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
  JsonBuilder builder(path);
  nlohmann::json::sax_parse(bytes.begin(), bytes.end(), &builder);
  return std::move(builder.result);
}

std::string json_text(const ScriptValue& value, Span span) {
  std::string text;
  write_json(value, "", span, text);
  return text;
}

}  // namespace relish
