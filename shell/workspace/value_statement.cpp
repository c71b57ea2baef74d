// Expressions of values.
#include "shell/workspace/value_statement.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "runtime/files.h"
#include "runtime/format.h"
#include "shell/program/text_file.h"
#include "shell/script/script_function.h"
#include "shell/script/unread_value.h"

namespace relish {
namespace {

// A tensor of more elements stands in a file.
constexpr std::int64_t most_written_elements = 256;

// A list of more numbers is the list of a tensor: its text would take as long as making it.
constexpr std::size_t most_written_items = 10'000;

// The items of a long list or tuple as a tensor; none unless all are ints, or all are floats.
std::optional<Tensor> tensor_of_numbers(const ScriptList& list) {
  if (list.items.size() <= most_written_items) return std::nullopt;
  const auto filled = [&](DType dtype, auto kind) -> std::optional<Tensor> {
    using Number = decltype(kind);
    Tensor tensor = Tensor::empty(dtype, {static_cast<std::int64_t>(list.items.size())});
    auto* numbers = static_cast<Number*>(tensor.mutable_data());
    for (const ScriptValue& item : list.items) {
      const auto* number = item.as<Number>();
      if (!number) return std::nullopt;
      *numbers++ = *number;
    }
    return tensor;
  };
  if (list.items.front().as<std::int64_t>()) return filled(DType::Int64, std::int64_t());
  if (list.items.front().as<double>()) return filled(DType::Float64, double());
  return std::nullopt;
}

class PieceWriter {
 public:
  explicit PieceWriter(const Script& script) : script_(script) {}

  std::vector<SessionPiece> take() {
    flush();
    return std::move(pieces_);
  }
  void add(std::string_view text) { text_ += text; }
  // False for what no text says.
  bool add_value(const ScriptValue& value, std::string_view target);

 private:
  template <class Items>
  bool add_items(const Items& items, std::string_view open, std::string_view close);
  void add_real(double value);
  void add_tensor(const Tensor& tensor);
  void add_elements(const Tensor& tensor, std::size_t dim, std::int64_t first);
  bool add_function(const FunctionReference& function, std::string_view target);
  bool add_script_function(const ScriptFunctionPtr& function, std::string_view target);
  void flush() {
    if (!text_.empty()) pieces_.emplace_back(std::exchange(text_, std::string()));
  }

  const Script& script_;
  std::vector<SessionPiece> pieces_;
  std::string text_;
};

template <class Items>
bool PieceWriter::add_items(const Items& items, std::string_view open, std::string_view close) {
  add(open);
  bool first = true;
  for (const ScriptValue& item : items) {
    if (!first) add(", ");
    first = false;
    if (!add_value(item, "")) return false;
  }
  add(close);
  return true;
}

bool PieceWriter::add_value(const ScriptValue& value, std::string_view target) {
  if (const Tensor* tensor = value.tensor()) {
    add_tensor(*tensor);
  } else if (const ScriptList* list = value.sequence()) {
    if (std::optional<Tensor> numbers = tensor_of_numbers(*list)) {
      if (list->tuple) add("tuple(");
      flush();
      pieces_.emplace_back(ScriptValue(std::move(*numbers)));
      add(list->tuple ? ".tolist())" : ".tolist()");
      return true;
    }
    const bool single = list->tuple && list->items.size() == 1;
    return add_items(list->items, list->tuple ? "(" : "[", single ? ",)" : list->tuple ? ")" : "]");
  } else if (const ScriptDict* dict = value.dictionary()) {
    add("{");
    bool first = true;
    for (const auto& [key, item] : dict->items) {
      if (!first) add(", ");
      first = false;
      if (!add_value(key, "")) return false;
      add(": ");
      if (!add_value(item, "")) return false;
    }
    add("}");
  } else if (const auto* real = value.as<double>()) {
    add_real(*real);
  } else if (const auto* integer = value.as<std::int64_t>();
             integer && *integer == std::numeric_limits<std::int64_t>::min()) {
    add("(-9223372036854775807 - 1)");
  } else if (const auto* shape = value.as<ShapeValue>()) {
    add("R.shape([");
    for (std::size_t i = 0; i < shape->dims.size(); ++i)
      add(fmt::format("{}{}", i > 0 ? ", " : "", shape->dims[i]));
    add("])");
  } else if (const auto* range = value.as<ScriptRange>()) {
    add(fmt::format("range({}, {}, {})", range->begin, range->end, range->step));
  } else if (const auto* module = value.as<ModulePtr>()) {
    flush();
    pieces_.emplace_back(ScriptValue(*module));
  } else if (const auto* function = value.as<FunctionReference>()) {
    return add_function(*function, target);
  } else if (const auto* function = value.as<ScriptFunctionPtr>()) {
    return add_script_function(*function, target);
  } else if (value.as<std::shared_ptr<const ObjectValue>>()) {
    return false;
  } else {
    add(quoted_text_of(value, true));
  }
  return true;
}

void PieceWriter::add_real(double value) {
  if (std::isfinite(value)) return add(quoted_text_of(ScriptValue(value)));
  add(std::isnan(value) ? "float(\"nan\")" : value < 0 ? "float(\"-inf\")" : "float(\"inf\")");
}

void PieceWriter::add_tensor(const Tensor& tensor) {
  const bool literal_dtype = is_float(tensor.dtype()) || is_int(tensor.dtype()) || is_bool(tensor.dtype());
  // A nested list says no more of dimensions behind one of length 0.
  if (tensor.size() == 0) {
    add("zeros((");
    for (const std::int64_t dim : tensor.shape()) add(fmt::format("{}, ", dim));
    add(fmt::format("), \"{}\")", name_of(tensor.dtype())));
    return;
  }
  bool finite = true;
  for (std::int64_t i = 0; is_float(tensor.dtype()) && finite && i < tensor.size(); ++i)
    finite = std::isfinite(tensor.get_double(i));
  if (!literal_dtype || !finite || tensor.size() > most_written_elements) {
    flush();
    pieces_.emplace_back(ScriptValue(tensor));
    return;
  }
  add("tensor(");
  add_elements(tensor, 0, 0);
  add(fmt::format(", \"{}\")", name_of(tensor.dtype())));
}

// The part of the tensor behind the first dimensions, from element `first` on.
void PieceWriter::add_elements(const Tensor& tensor, std::size_t dim, std::int64_t first) {
  if (dim == tensor.shape().size()) {
    if (is_bool(tensor.dtype())) return add(tensor.get_int(first) != 0 ? "True" : "False");
    if (is_float(tensor.dtype())) return add_real(tensor.get_double(first));
    add_value(ScriptValue(tensor.get_int(first)), "");
    return;
  }
  std::int64_t stride = 1;
  for (std::size_t i = dim + 1; i < tensor.shape().size(); ++i) stride *= tensor.shape()[i];
  add("[");
  for (std::int64_t i = 0; i < tensor.shape()[dim]; ++i) {
    if (i > 0) add(", ");
    add_elements(tensor, dim + 1, first + i * stride);
  }
  add("]");
}

// A function by a name that has it already, or as one of a module in a file.
bool PieceWriter::add_function(const FunctionReference& function, std::string_view target) {
  const ScriptValue* own = script_.environment().find(function.name);
  const auto* bound = own ? own->as<FunctionReference>() : nullptr;
  if (bound && function.name != target && bound->name == function.name && bound->module == function.module) {
    add(function.name);
    return true;
  }
  flush();
  pieces_.emplace_back(ScriptValue(function.module));
  add("." + function.name);
  return true;
}

// Whether the text of a function says all of it: nothing came from a function around it, and its defaults are
// written out.
bool is_whole_text(const ScriptFunction& function) {
  return function.captured.empty() &&
         std::all_of(function.parameters->begin(), function.parameters->end(), [](const auto& parameter) {
           const ast::Expr* value = parameter.default_value.get();
           return !value || value->template as<ast::IntValue>() || value->template as<ast::FloatValue>() ||
                  value->template as<ast::BoolValue>() || value->template as<ast::StringValue>() ||
                  value->template as<ast::NoneValue>();
         });
}

std::string_view text_of_span(Span span) {
  const SourceFile* source = Sources::instance().find(span.file);
  return source ? std::string_view(source->text()).substr(span.begin, span.end - span.begin)
                : std::string_view();
}

// A function by a name that has it already, or a lambda as it is written.
bool PieceWriter::add_script_function(const ScriptFunctionPtr& function, std::string_view target) {
  if (function->builtin) return add(function->name), true;
  if (function->method) {
    if (!add_value(function->self, "")) return false;
    return add("." + function->name), true;
  }
  const ScriptValue* own = script_.environment().find(function->name);
  const auto* bound = own ? own->as<ScriptFunctionPtr>() : nullptr;
  if (bound && *bound == function && function->name != target) return add(function->name), true;
  if (!function->value || !is_whole_text(*function)) return false;
  add("(");
  add(text_of_span(function->whole));
  add(")");
  return true;
}

// The text of a `def` at top level that binds this name.
std::string_view definition_text(const ScriptValue& value, const std::string& name) {
  const ScriptFunction* function = value.script_function();
  const bool written = function && function->body && function->name == name && is_whole_text(*function);
  const SourceFile* source = written ? Sources::instance().find(function->whole.file) : nullptr;
  const std::uint32_t begin = written ? function->whole.begin : 0;
  const bool top = source && (begin == 0 || source->text()[begin - 1] == '\n');
  return top ? text_of_span(function->whole) : std::string_view();
}

}  // namespace

std::optional<std::vector<SessionPiece>> assignment_pieces(const Script& script, const std::string& name) {
  PieceWriter writer(script);
  if (const std::string_view text = definition_text(*script.environment().find(name), name); !text.empty()) {
    writer.add(text);
    writer.add("\n");
    return writer.take();
  }
  writer.add(name + " = ");
  if (!writer.add_value(*script.environment().find(name), name)) return std::nullopt;
  writer.add("\n");
  return writer.take();
}

std::pair<std::string, std::string> statement_of_function(const ScriptFunction& function) {
  const std::string name = "value";
  if (function.builtin) return {name, name + " = " + function.name + "\n"};
  if (function.method || function.home || !is_whole_text(function)) return {};
  if (function.value) return {name, fmt::format("{} = ({})\n", name, text_of_span(function.whole))};
  const SourceFile* source = Sources::instance().find(function.whole.file);
  const std::uint32_t begin = function.whole.begin;
  if (!source || (begin > 0 && source->text()[begin - 1] != '\n')) return {};
  return {function.name, std::string(text_of_span(function.whole)) + "\n"};
}

std::string value_file(const std::string& path, const SessionPiece& piece, std::size_t number) {
  std::filesystem::path file(path);
  const bool module = kind_name(std::get<ScriptValue>(piece)) == "module";
  file.replace_filename(
      fmt::format("{}.value-{}.{}", file.stem().string(), number, module ? "relish" : "safetensors"));
  return file.string();
}

std::string value_expression(const std::string& path, const SessionPiece& piece, std::size_t number) {
  const std::string file = std::filesystem::path(value_file(path, piece, number)).filename().string();
  const std::string load = fmt::format("load({})", quoted_text_of(ScriptValue(file)));
  return kind_name(std::get<ScriptValue>(piece)) == "module" ? load : load + "[\"value\"]";
}

void write_value_file(const std::string& path, const SessionPiece& piece, std::size_t number) {
  const std::string file = value_file(path, piece, number);
  const ScriptValue& value = read_value(std::get<ScriptValue>(piece));
  if (value.tensor()) {
    write_tensors(file, {{"value", *value.tensor()}});
  } else {
    write_program_text(file, text_of(value) + "\n");
  }
}

}  // namespace relish
