// The match of a call with the rows of the table, and the text that is made of it.
#include "stdlib/foreign_calls.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include <fmt/format.h>

#include "ir/operators/foreign_keywords.h"
#include "ir/operators/op.h"
#include "stdlib/foreign_calls_networks.h"
#include "stdlib/foreign_calls_tensors.h"
#include "stdlib/surface.h"

namespace relish {
namespace {

using enum ForeignLibrary;

struct LibraryName {
  std::string_view root;
  ForeignLibrary library;
};
constexpr LibraryName library_names[] = {
    {"torch", Torch}, {"F", Torch},   {"nn", Torch},    {"functional", Torch}, {"np", NumPy},
    {"numpy", NumPy}, {"jnp", NumPy}, {"jax", NumPy},   {"math", Math},        {"tf", Any},
    {"keras", Any},   {"K", Any},     {"tvm", Any},     {"relax", Any},        {"relay", Any},
    {"scipy", NumPy}, {"onnx", Any},  {"optim", Torch}, {"sklearn", Any},      {"optax", Any},
    {"flax", Any},    {"pd", Any},    {"pandas", Any},  {"topi", Any},
};

// Python's functions of numbers that are no operators of one tensor.
struct MathCall {
  std::string_view word;
  std::size_t parameters;
  std::string_view write;
};
constexpr MathCall math_calls[] = {
    {"fabs", 1, "abs({0})"},
    {"fmod", 2, "float(R.mod(tensor({0}, \"float64\"), {1}))"},
    {"fsum", 1, "sum({0})"},
    {"hypot", 2, "(({0}) ** 2 + ({1}) ** 2) ** 0.5"},
    {"isfinite", 1, "bool(R.isfinite(tensor({0}, \"float64\")))"},
    {"isinf", 1, "bool(R.isinf(tensor({0}, \"float64\")))"},
    {"isnan", 1, "bool(R.isnan(tensor({0}, \"float64\")))"},
    {"log", 2, "float(R.log(tensor({0}, \"float64\")) / R.log(tensor({1}, \"float64\")))"},
    {"pow", 2, "float({0}) ** ({1})"},
};

constexpr std::pair<std::string_view, std::string_view> foreign_constants[] = {
    {"pi", "3.141592653589793"},
    {"e", "2.718281828459045"},
    {"euler_gamma", "0.5772156649015329"},
    {"inf", "float(\"inf\")"},
    {"Inf", "float(\"inf\")"},
    {"infty", "float(\"inf\")"},
    {"Infinity", "float(\"inf\")"},
    {"PINF", "float(\"inf\")"},
    {"NINF", "float(\"-inf\")"},
    {"nan", "float(\"nan\")"},
    {"NaN", "float(\"nan\")"},
    {"NAN", "float(\"nan\")"},
    {"newaxis", "None"},
    {"tau", "6.283185307179586"},
    {"True_", "True"},
    {"False_", "False"},
    {"bool_", "\"bool\""},
    {"intp", "\"int64\""},
    {"int_", "\"int64\""},
    {"float_", "\"float64\""},
    {"intc", "\"int32\""},
    {"longlong", "\"int64\""},
    {"ubyte", "\"uint8\""},
    {"ushort", "\"uint16\""},
    {"uintc", "\"uint32\""},
    {"uintp", "\"uint64\""},
    {"ulonglong", "\"uint64\""},
};

// One name for what has several.
constexpr std::pair<std::string_view, std::string_view> other_keywords[] = {
    {"dim", "axis"},       {"dims", "axis"},     {"keepdim", "keepdims"}, {"input", "x"},
    {"self", "x"},         {"a_min", "min"},     {"a_max", "max"},        {"other", "y"},
    {"x1", "x"},           {"x2", "y"},          {"newshape", "shape"},   {"mat2", "y"},
    {"target", "y"},       {"index", "indices"}, {"correction", "ddof"},  {"size", "shape"},
    {"tensors", "arrays"}, {"shifts", "shift"},
};

bool is_word_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool is_list(std::string_view text) { return text.starts_with("(") || text.starts_with("["); }

// "2", "-1", "[0, 1]": digits, signs and what makes a list.
bool is_whole(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789-,()[] ") == text.npos;
}

// A list of one as its item, anything else as it is; nothing for longer lists.
std::optional<std::string> one_item(std::string_view text) {
  if (!is_list(text)) return std::string(text);
  if (text.size() < 3 || (text.back() != ')' && text.back() != ']')) return std::nullopt;
  text = text.substr(1, text.size() - 2);
  if (text.ends_with(',')) text.remove_suffix(1);
  return text.find(',') == text.npos ? std::optional(std::string(text)) : std::nullopt;
}

bool is_written_list(std::string_view text) {
  return is_list(text) && text.find_first_not_of("0123456789,()[] ") == text.npos;
}

// The same text but for blanks, or the same number: 2 and 2.0.
bool same_value(std::string a, std::string b) {
  std::erase(a, ' ');
  std::erase(b, ' ');
  double x = 0, y = 0;
  const auto number = [](std::string_view text, double& into) {
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), into);
    return status == std::errc() && end == text.data() + text.size();
  };
  return a == b || (number(a, x) && number(b, y) && x == y);
}

std::string same_quotes(std::string text) {
  std::replace(text.begin(), text.end(), '\'', '"');
  return text;
}

// A parameter of a row, taken apart.
struct RowParameter {
  std::string_view name, value;
  bool required = true, whole = false, single = false, positive = false, no_text = false, list = false;
  std::optional<int> rank = {};
  std::size_t least = 0;  // of arguments one by one; 0: it is one argument
};

std::vector<RowParameter> parameters_of(std::string_view text) {
  std::vector<RowParameter> result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(", "), text.size());
    std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 2, text.size()));
    RowParameter parameter;
    while (part.starts_with('*')) {
      ++parameter.least;
      part.remove_prefix(1);
    }
    if (const std::size_t equal = part.find('='); equal != part.npos) {
      parameter.value = part.substr(equal + 1);
      part = part.substr(0, equal);
    }
    if (const std::size_t slash = part.find('/'); slash != part.npos) {
      parameter.rank = part[slash + 1] - '0';
      part = part.substr(0, slash);
    }
    for (; !is_word_letter(part.back()); part.remove_suffix(1)) {
      parameter.required = parameter.required && part.back() != '?';
      parameter.whole = parameter.whole || part.back() == '#';
      parameter.single = parameter.single || part.back() == '@';
      parameter.positive = parameter.positive || part.back() == '!';
      parameter.no_text = parameter.no_text || part.back() == '^';
      parameter.list = parameter.list || part.back() == '&';
    }
    parameter.name = part;
    result.push_back(parameter);
  }
  return result;
}

std::string_view our_keyword(std::string_view name) {
  for (const auto& [there, here] : other_keywords)
    if (there == name) return here;
  return name;
}

using RowTexts = std::map<std::string, std::string, std::less<>>;

// The arguments by the names of a row's parameters; nothing when they are not those.
class RowMatch {
 public:
  explicit RowMatch(const std::vector<RowParameter>& parameters) : parameters_(parameters) {}

  std::optional<RowTexts> of(std::span<const ForeignArgument> arguments) {
    std::size_t position = 0, i = 0;
    for (; i < arguments.size() && arguments[i].name.empty(); ++i) {
      if (position >= parameters_.size()) return std::nullopt;
      const RowParameter& parameter = parameters_[position++];
      if (parameter.least == 0) {
        if (!put(parameter, arguments[i].text, arguments[i].rank)) return std::nullopt;
        continue;
      }
      std::size_t count = 0;
      const std::string list = listed(arguments.subspan(i), count);
      const bool enough = count >= parameter.least || is_list(arguments[i].text);
      if (!enough || !put(parameter, list, arguments[i].rank)) return std::nullopt;
      i += count - 1;
    }
    for (; i < arguments.size(); ++i) {
      const RowParameter* parameter = named(arguments[i].name);
      if (!parameter || found_.contains(parameter->name)) return std::nullopt;
      const bool one = parameter->least > 0 && !is_list(arguments[i].text);
      if (!put(*parameter, one ? fmt::format("({},)", arguments[i].text) : arguments[i].text,
               arguments[i].rank))
        return std::nullopt;
    }
    for (const RowParameter& parameter : parameters_)
      if (parameter.required && !found_.contains(parameter.name)) return std::nullopt;
    return std::move(found_);
  }

 private:
  const RowParameter* named(std::string_view name) const {
    for (const std::string_view each : {name, our_keyword(name)})
      for (const RowParameter& parameter : parameters_)
        if (parameter.name == each) return &parameter;
    return nullptr;
  }

  bool put(const RowParameter& parameter, std::string text, std::optional<int> rank) {
    if (!parameter.value.empty() && !same_value(same_quotes(text), std::string(parameter.value)))
      return false;
    if (parameter.rank && rank != parameter.rank) return false;
    if (parameter.no_text && (text.starts_with('"') || text.starts_with('\''))) return false;
    if (parameter.list && !is_written_list(text)) return false;
    if (parameter.whole && !is_whole(text)) return false;
    if (parameter.positive && text.find('-') != text.npos) return false;
    if (parameter.single) {
      const auto item = one_item(text);
      if (!item) return false;
      text = *item;
    }
    return found_.emplace(std::string(parameter.name), std::move(text)).second;
  }

  // The arguments by position from here on as one tuple; a list alone is itself.
  static std::string listed(std::span<const ForeignArgument> arguments, std::size_t& count) {
    std::string text;
    for (count = 0; count < arguments.size() && arguments[count].name.empty(); ++count)
      text += (count > 0 ? ", " : "") + arguments[count].text;
    if (count == 1 && (is_list(text) || text.ends_with(".shape"))) return text;
    return fmt::format("({}{})", text, count == 1 ? "," : "");
  }

  const std::vector<RowParameter>& parameters_;
  RowTexts found_;
};

// Whether the text needs brackets between operators: one that is neither a name, a number nor a call.
bool is_compound(std::string_view text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    const bool plain =
        is_word_letter(c) || c == '.' || c == '"' || c == ')' || c == ']' || c == '(' || c == '[';
    if (depth == 0 && !plain) return true;
  }
  return false;
}

// The row's text with the arguments in it.
std::string filled(std::string_view write, const RowTexts& texts) {
  std::string result;
  while (true) {
    const std::size_t open = write.find('{');
    result += write.substr(0, open);
    if (open == write.npos) return result;
    const std::size_t close = write.find('}', open);
    const std::string_view hole = write.substr(open + 1, close - open - 1);
    std::size_t name = hole.size();
    while (name > 0 && is_word_letter(hole[name - 1])) --name;
    const char before = result.empty() ? '(' : result.back();
    write.remove_prefix(close + 1);
    const auto text = texts.find(hole.substr(name));
    if (text == texts.end()) continue;
    // Inside brackets and between commas an argument stands as it was.
    const bool apart =
        name > 0 || ((before == '(' || before == '[' || before == '=' || result.ends_with(", ")) &&
                     (write.empty() || write.front() == ')' || write.front() == ']' || write.front() == ',' ||
                      write.front() == '{'));
    result += hole.substr(0, name);
    result += !apart && is_compound(text->second) ? fmt::format("({})", text->second) : text->second;
  }
}

// Words that have the same arguments in the same places here: tensors, then an axis; keywords by their names.
std::optional<ForeignProposal> same_operator(std::string_view word,
                                             std::span<const ForeignArgument> arguments) {
  const std::optional<std::string> name = exact_operator(word);
  const Op* op = name ? find_op(*name) : nullptr;
  if (!op || arguments.empty()) return std::nullopt;
  std::vector<std::string> names;
  std::size_t tensors = 0;
  for (const Param& param : op->params) {
    names.emplace_back(param.name);
    const bool tensor = param.kind == ParamKind::Tensor || param.kind == ParamKind::OptionalTensor ||
                        param.kind == ParamKind::TensorTuple;
    if (tensor && tensors + 1 == names.size()) ++tensors;
  }
  ForeignProposal proposal;
  bool renamed = true;
  std::vector<bool> given(names.size(), false);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const ForeignArgument& argument = arguments[i];
    std::size_t at = i;
    if (!argument.name.empty()) {
      const auto same = same_keyword(argument.name, names);
      at = static_cast<std::size_t>(
          std::find(names.begin(), names.end(), same ? std::string(*same) : argument.name) - names.begin());
    }
    const bool place = at < tensors || (at == tensors && at < names.size() && names[at].starts_with("ax"));
    if (at >= names.size() || given[at] || (argument.name.empty() && !place)) return std::nullopt;
    given[at] = true;
    const std::string keyword = argument.name.empty() ? "" : names[at] + "=";
    renamed = renamed && (argument.name.empty() || argument.name == names[at]);
    proposal.text += fmt::format("{}{}{}", i > 0 ? ", " : "", keyword, argument.text);
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool needed = op->params[i].kind != ParamKind::OptionalTensor && op->params[i].fallback.empty();
    if (needed && !given[i]) return std::nullopt;
  }
  proposal.text = fmt::format("R.{}({})", *name, proposal.text);
  if (renamed) proposal.renamed = "R." + *name;
  return proposal;
}

std::vector<ForeignCallRow> all_rows() {
  std::vector<ForeignCallRow> rows(tensor_call_rows().begin(), tensor_call_rows().end());
  rows.insert(rows.end(), network_call_rows().begin(), network_call_rows().end());
  return rows;
}

}  // namespace

std::optional<ForeignLibrary> library_called(std::string_view root) {
  for (const LibraryName& each : library_names)
    if (each.root == root) return each.library;
  return std::nullopt;
}

std::span<const ForeignCallRow> foreign_call_rows() {
  static const std::vector<ForeignCallRow> rows = all_rows();
  return rows;
}

std::vector<const ForeignCallRow*> foreign_rows_of(std::string_view word) {
  std::vector<const ForeignCallRow*> rows;
  for (const ForeignCallRow& row : foreign_call_rows())
    if (row.word == word) rows.push_back(&row);
  return rows;
}

bool has_no_counterpart(std::string_view word, ForeignLibrary library) {
  for (const ForeignCallRow* row : foreign_rows_of(word))
    if (row->write.empty() && row->library == library) return true;
  return false;
}

std::string call_text_of(const ForeignCallRow& row) {
  std::string parameters;
  for (const char c : row.parameters)
    if (std::string_view("#@!^&").find(c) == std::string_view::npos) parameters += c;
  return fmt::format("{}({})", row.word, parameters);
}

std::string written_text_of(const ForeignCallRow& row) {
  std::string text;
  for (const char c : row.write)
    if (c != '{' && c != '}') text += c;
  return text;
}

std::optional<ForeignProposal> written_call(std::string_view word, ForeignLibrary library,
                                            std::span<const ForeignArgument> arguments, ProposalPlace place) {
  // x.add_(y) changes x there; here it is a value as any other.
  const bool changes = word.size() > 1 && word.ends_with('_') && library != NumPy;
  if (changes) word.remove_suffix(1);
  const std::string_view bind = ", which is a new value";
  // Python's numbers have the functions of tensors as operators of one element.
  if (library == Math) {
    for (const MathCall& each : math_calls) {
      if (each.word != word || place == ProposalPlace::Function) continue;
      if (each.parameters == 1 && arguments.size() == 1 && arguments[0].name.empty())
        return ForeignProposal{fmt::format(fmt::runtime(each.write), arguments[0].text), "", ""};
      if (each.parameters == 2 && arguments.size() == 2 && arguments[1].name.empty())
        return ForeignProposal{fmt::format(fmt::runtime(each.write), arguments[0].text, arguments[1].text),
                               "", ""};
    }
    const auto op = exact_operator(word);
    if (!op || place == ProposalPlace::Function || arguments.size() != 1) return std::nullopt;
    const bool whole = word == "floor" || word == "ceil" || word == "trunc";  // Python's give ints
    return ForeignProposal{
        fmt::format("{}(R.{}(tensor({}, \"float64\")))", whole ? "int" : "float", *op, arguments[0].text), "",
        ""};
  }
  if (has_no_counterpart(word, library)) return std::nullopt;
  const bool says_axis = std::any_of(arguments.begin(), arguments.end(),
                                     [](const ForeignArgument& each) { return each.name == "axis"; });
  bool elsewhere = false;  // what these arguments mean is written otherwise, and not in this place
  for (const ForeignCallRow* row : foreign_rows_of(word)) {
    if (row->write.empty()) continue;
    // x.max(axis=1) of an unknown x is NumPy's, whose word axis is.
    if (library == Any && row->library == Torch && says_axis) continue;
    const bool alone = row->library == NumPyAlone;
    if (alone ? library != NumPy : row->library != Any && library != Any && row->library != library) continue;
    const std::vector<RowParameter> parameters = parameters_of(row->parameters);
    const auto texts = RowMatch(parameters).of(arguments);
    const bool here = row->place == ProposalPlace::Both || row->place == place;
    elsewhere = elsewhere || (texts && !here);
    if (texts && here) return ForeignProposal{filled(row->write, *texts), changes ? bind : row->note, ""};
  }
  // np.int8(x): a number as a tensor.
  const auto constant = written_constant(word);
  if (constant && constant->starts_with('"') && library != Any && arguments.size() == 1 &&
      place == ProposalPlace::Statement)
    return ForeignProposal{fmt::format("tensor({}, {})", arguments[0].text, *constant), "", ""};
  if (elsewhere) return std::nullopt;
  auto proposal = same_operator(word, arguments);
  if (proposal && changes) {
    proposal->note = bind;
    proposal->renamed.clear();
  }
  return proposal;
}

std::optional<std::string> written_constant(std::string_view word) {
  for (const auto& [there, here] : foreign_constants)
    if (there == word) return std::string(here);
  if (dtype_from_name(std::string(word))) return fmt::format("\"{}\"", word);
  const auto dtype = dtype_called_elsewhere(word);
  return dtype ? std::optional(fmt::format("\"{}\"", *dtype)) : std::nullopt;
}

}  // namespace relish
