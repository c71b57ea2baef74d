// Decoding of values.
#include "shell/workspace/saved/archive_values.h"

#include <bit>
#include <charconv>

#include "frontend/reader.h"
#include "ir/printer/printer.h"
#include "shell/program/function_reading.h"
#include "shell/script/script.h"
#include "shell/script/unfinished_modules.h"
#include "shell/script/unread_value.h"
#include "shell/workspace/saved/archive_lines.h"
#include "support/interrupt.h"
#include "support/render.h"
#include "support/value_text.h"

namespace relish {
namespace {

using nlohmann::json;

class ValueOfArchive final : public UnreadValue {
 public:
  ValueOfArchive(std::shared_ptr<ArchiveValues> values, std::string name, json json, std::string kind,
                 std::string overview)
      : UnreadValue(std::move(kind), std::move(overview)),
        values_(std::move(values)),
        name_(std::move(name)),
        json_(std::move(json)) {}

 protected:
  ScriptValue read() const override {
    try {
      return values_->read(json_);
    } catch (Failure& failure) {
      failure.note({}, fmt::format("it is of the value of '{}'; :undo or a new value goes on without it",
                                   printable(name_)));
      throw;
    }
  }

 private:
  std::shared_ptr<ArchiveValues> values_;
  std::string name_;
  json json_;
};

std::string text_of_digits(const std::string& digits) {
  std::string text;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    unsigned byte = 0;
    std::from_chars(digits.data() + i, digits.data() + i + 2, byte, 16);
    text += static_cast<char>(byte);
  }
  return text;
}

double real_of_digits(const std::string& digits) {
  std::uint64_t bits = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), bits, 16);
  return std::bit_cast<double>(bits);
}

bool is_plain(const json& value) {
  return !value.is_object() || value.contains("bits") || value.contains("bytes") || value.contains("shape") ||
         value.contains("range");
}

}  // namespace

ArchiveValues::ArchiveValues(const std::string& path, Outside outside)
    : file_(path), outside_(std::move(outside)) {
  for (const auto& [number, text] : file_.lines("origin")) {
    const json origin = json::parse(text, nullptr, false);
    if (origin.is_object() && origin.contains("of") && origin.contains("function") &&
        origin["function"].is_string())
      origin_lines_.emplace(origin["of"], OriginLine{origin["function"], number});
  }
}

void ArchiveValues::damaged(std::string_view what) const {
  data_failure(file_.path(), "session.damaged",
               fmt::format("{} is not as it was written; the rest of the session is as it was", what));
}

json ArchiveValues::line(std::string_view kind, std::size_t number) const {
  const auto text = file_.line(kind, number);
  json parsed = text ? json::parse(*text, nullptr, false) : json();
  if (!parsed.is_object()) damaged(fmt::format("{} {}", kind, number));
  return parsed;
}

ScriptValue ArchiveValues::value_of(const std::string& name, const json& entry) {
  if (is_plain(entry.at(0))) return read(entry.at(0));
  return unread(name, entry.at(0), entry.at(1), entry.at(2));
}

ScriptValue ArchiveValues::unread(const std::string& name, const json& json, std::string kind,
                                  std::string overview) {
  return ScriptValue(UnreadValuePtr(std::make_shared<const ValueOfArchive>(
      shared_from_this(), name, json, std::move(kind), std::move(overview))));
}

ScriptValue ArchiveValues::read(const json& value, int depth) {
  if (depth > static_cast<int>(most_value_nesting)) damaged("a value that nests too deep");
  try {
    if (value.is_null()) return {};
    if (value.is_boolean()) return value.get<bool>();
    if (value.is_number_integer()) return value.get<std::int64_t>();
    if (value.is_number_float()) return value.get<double>();
    if (value.is_string()) return value.get<std::string>();
    if (value.contains("bits")) return real_of_digits(value["bits"]);
    if (value.contains("bytes")) return text_of_digits(value["bytes"]);
    if (value.contains("shape")) return ShapeValue{value["shape"].get<Shape>()};
    if (value.contains("range")) {
      const auto& of = value["range"];
      return ScriptRange{of.at(0), of.at(1), of.at(2)};
    }
    if (value.contains("tensor")) return tensor(value["tensor"]);
    if (value.contains("module")) return module(value["module"]);
    if (value.contains("part")) return read_part(value["part"], depth);
    if (value.contains("function")) {
      const ModulePtr owner = module(value["of"]);
      const std::string name = value["function"];
      if (!owner->find(name)) damaged(fmt::format("the function '{}'", printable(name)));
      return FunctionReference{owner, name};
    }
    return read_function(value, depth);
  } catch (const json::exception&) {
    damaged("a value");
  }
}

ScriptValue ArchiveValues::read_part(std::size_t number, int depth) {
  poll_interrupt();
  const json part = line("part", number);
  if (part.contains("text")) return read(part["text"], depth);
  std::vector<ScriptValue> items;
  const bool is_dict = part.contains("dict"), is_tuple = part.contains("tuple");
  for (const json& item : part.at(is_dict ? "dict" : is_tuple ? "tuple" : "list"))
    items.push_back(read(item, depth + 1));
  if (is_tuple) return ScriptValue::tuple(std::move(items));
  if (!is_dict) return ScriptValue::list(std::move(items));
  std::vector<std::pair<ScriptValue, ScriptValue>> entries;
  for (std::size_t i = 0; i + 1 < items.size(); i += 2)
    entries.emplace_back(std::move(items[i]), std::move(items[i + 1]));
  return ScriptValue::dict(std::move(entries));
}

Tensor ArchiveValues::tensor(std::size_t number) const {
  const std::string what = fmt::format("tensor {}", number);
  const json form = line("tensor", number);
  const auto dtype = dtype_from_name(form.at("dtype").get<std::string>());
  if (!dtype) damaged(what);
  const Shape shape = form.at("shape").get<Shape>();
  checked_element_count(shape, file_.path(), 0);
  Tensor tensor = Tensor::empty(*dtype, shape);
  const auto bytes = static_cast<std::uint64_t>(tensor.byte_size());
  const auto wanted = form.at("crc").get<std::uint32_t>();
  for (const std::uint64_t begin : file_.values_begins()) {
    const std::uint64_t at = begin + form.at("at").get<std::uint64_t>();
    const bool there = file_.read_at(at, tensor.mutable_data(), bytes);
    if (there && checksum_of(tensor.data(), bytes) == wanted) return tensor;
  }
  damaged(what);
}

// A definition binds its name in a script of its own, and nothing else runs.
ScriptValue ArchiveValues::read_function(const json& value, int depth) {
  Settings settings;
  settings.quiet = true;
  Session session(settings, std::make_unique<StringOutput>());
  ScriptOptions options;
  options.confined = true;
  Script script(session, options);
  std::string name, text;
  if (value.contains("method")) {
    script.environment().set("self", read(value.at("self"), depth + 1));
    name = "value";
    text = "value = self." + value["method"].get<std::string>() + "\n";
  } else {
    name = value.at("name");
    text = value.at("def");
  }
  script.run_text(file_.path(), text);
  const ScriptValue* made = script.environment().find(name);
  if (!made) damaged("a function");
  return *made;
}

// --- Modules.

ModulePtr ArchiveValues::module(std::size_t number) {
  // From the one that stands whole to this one.
  std::vector<std::pair<std::size_t, json>> chain;
  ModulePtr base;
  for (std::size_t at = number;;) {
    if (const auto known = modules_.find(at); known != modules_.end()) {
      base = known->second;
      break;
    }
    chain.emplace_back(at, line("module", at));
    const json& form = chain.back().second;
    if (!form.contains("base")) break;
    const std::size_t before = form["base"];
    if (before >= at) damaged(fmt::format("module {}", at));
    at = before;
  }
  for (auto step = chain.rbegin(); step != chain.rend(); ++step) {
    const bool unfinished = unfinished_modules().holds(base);
    std::vector<HoleReport> holes;
    try {
      base = read_module_line(step->second, step->first, base, holes);
    } catch (const json::exception&) {
      damaged(fmt::format("module {}", step->first));
    }
    modules_[step->first] = base;
    base = add_origins(step->first);
    if (unfinished || !holes.empty()) unfinished_modules().note(base, std::move(holes));
  }
  return base;
}

ModulePtr ArchiveValues::read_module_line(const json& form, std::size_t number, const ModulePtr& base,
                                          std::vector<HoleReport>& holes) {
  const std::string what = fmt::format("module {}", number);
  const std::string entry = module_entry(number);
  const std::string text = file_.text(entry, form.at("bytes"));
  if (text.size() != form.at("bytes").get<std::size_t>() ||
      checksum_of(text.data(), text.size()) != form.at("crc").get<std::uint32_t>())
    damaged(what);
  ModulePtr part = base;
  if (!text.empty()) {
    const std::string name = fmt::format("{}:{}", file_.path(), entry);
    SomeFunctions read = read_saved_functions(Sources::instance().add(name, text),
                                              form.contains("base") ? base.get() : nullptr);
    part = std::move(read.module);
    holes = std::move(read.holes);
  }
  if (!part) damaged(what);
  if (!text.empty()) note_file(form, *part, base);
  Module whole = *part;
  whole.functions = {};
  for (const json& function : form.at("functions")) {
    const std::string name = function;
    const GlobalFunction* found = part->find(name);
    if (!found && base) found = base->find(name);
    if (!found) damaged(fmt::format("the function '{}' of {}", printable(name), what));
    whole.functions.push_back(*found);
  }
  auto made = std::make_shared<const Module>(std::move(whole));
  if (!form.contains("file")) return made;
  // Its functions of the script stand in the file that it was loaded from, if that is as it was.
  try {
    const ModulePtr loaded = outside_.load(form["file"].get<std::string>());
    if (print(*loaded) == print(*made)) return loaded;
  } catch (const Failure& failure) {
    if (failure.error_class() == ErrorClass::Interrupted) throw;
  }
  return made;
}

// The texts of functions that are read here are no files that could change.
void ArchiveValues::note_file(const json& form, const Module& part, const ModulePtr& base) {
  std::optional<FileFunctions> functions;
  if (form.contains("from")) {
    const json& from = form["from"];
    const std::size_t number = from.at("text").is_object() ? from["text"].at("part").get<std::size_t>() : 0;
    std::shared_ptr<const std::string> text;
    if (from["text"].is_object()) text = texts_[number];
    if (!text) {
      const ScriptValue value = read(from["text"]);
      text = std::make_shared<const std::string>(value.string() ? *value.string() : std::string());
      if (from["text"].is_object()) texts_[number] = text;
    }
    functions = FileFunctions{from.at("path"), text, from.at("functions").get<std::set<std::string>>()};
  }
  std::set<std::uint32_t> sources;
  for (const GlobalFunction& function : part.functions) {
    const GlobalFunction* before = base ? base->find(name_of(function)) : nullptr;
    if (before && *before == function) continue;
    sources.insert(std::visit([](const auto& held) { return held->span.file; }, function));
  }
  for (const std::uint32_t source : sources) outside_.note(source, functions);
}

// Those of other modules are read with them; a module that asks for this one meanwhile finds its functions
// without origins.
ModulePtr ArchiveValues::add_origins(std::size_t number) {
  Module told = *modules_.at(number);
  std::map<std::string, std::size_t> lines;
  const auto [first, last] = origin_lines_.equal_range(number);
  for (auto at = first; at != last; ++at) lines.emplace(at->second.function, at->second.line);
  // What another was made from has its own origin first.
  const std::function<GlobalFunction(const std::string&)> settled =
      [&](const std::string& name) -> GlobalFunction {
    const GlobalFunction* function = told.find(name);
    if (!function) damaged(fmt::format("the function '{}'", printable(name)));
    const auto line = lines.extract(name);
    if (line.empty()) return *function;
    const OriginPtr origin =
        read_origin(line.mapped(), [&](std::size_t module_number, const std::string& source) {
          if (module_number == number) return settled(source);
          const GlobalFunction* found = module(module_number)->find(source);
          if (!found) damaged(fmt::format("the function '{}'", printable(source)));
          return *found;
        });
    told.set(with_origin(*told.find(name), origin));
    return *told.find(name);
  };
  if (lines.empty()) return modules_.at(number);
  while (!lines.empty()) {
    const std::string name = lines.begin()->first;
    if (!told.find(name)) {
      lines.erase(name);
      continue;
    }
    settled(name);
  }
  return modules_[number] = std::make_shared<const Module>(std::move(told));
}

// Null where the line is not as it was written: nobody knows where the function came from.
OriginPtr ArchiveValues::read_origin(
    std::size_t number, const std::function<GlobalFunction(std::size_t, const std::string&)>& source) const {
  try {
    const json form = line("origin", number);
    FunctionOrigin origin{form.at("command"), std::nullopt, form.at("source"),
                          source(form.at("source_of"), form.at("source_function")),
                          form.at("input").get<std::size_t>()};
    if (form.contains("options")) origin.options = form["options"].get<std::string>();
    return std::make_shared<const FunctionOrigin>(std::move(origin));
  } catch (const json::exception&) {
    return nullptr;
  } catch (const Failure& failure) {
    if (failure.error_class() == ErrorClass::Interrupted) throw;
    return nullptr;
  }
}

}  // namespace relish
