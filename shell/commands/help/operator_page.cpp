// Pages of operators.
#include "shell/commands/help/operator_page.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "frontend/text/line_parser.h"
#include "ir/operators/op_arguments.h"
#include "shell/script/script.h"
#include "shell/script/script_value.h"
#include "stdlib/op_doc.h"
#include "support/failure.h"
#include "support/source.h"

namespace relish {
namespace {

constexpr std::size_t most_samples = 3;
constexpr std::size_t most_lines = 6;
constexpr std::size_t most_columns = 100;

// At most `most_lines` lines of at most `most_columns` columns, each behind `indent`; the first behind
// `lead`.
std::string shortened(std::string_view text, std::string_view lead, std::string_view indent) {
  std::string result;
  std::size_t lines = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (lines == most_lines) return result + std::string(indent) + "...\n";
    const bool cut = end > most_columns;
    result += lines == 0 ? lead : indent;
    result += text.substr(0, cut ? most_columns : end);
    result += cut ? "...\n" : "\n";
    ++lines;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

// Whether the text of an argument tells its value: literals, and calls of constants.
bool is_plain(const ast::Expr& expr) {
  const auto all = [](const std::vector<ast::ExprPtr>& items) {
    return std::all_of(items.begin(), items.end(), [](const ast::ExprPtr& item) { return is_plain(*item); });
  };
  if (const auto* list = expr.as<ast::ListValue>()) return all(list->items);
  if (const auto* tuple = expr.as<ast::TupleValue>()) return all(tuple->items);
  if (const auto* prefix = expr.as<ast::Prefix>()) return is_plain(*prefix->operand);
  if (const auto* call = expr.as<ast::Call>()) {
    const auto* name = call->callee->as<ast::Name>();
    return !(name && name->id == "rand") &&
           std::all_of(call->arguments.begin(), call->arguments.end(),
                       [](const ast::Argument& argument) { return is_plain(*argument.value); });
  }
  return !expr.as<ast::Chain>() && !expr.as<ast::Comparison>() && !expr.as<ast::Logic>();
}

bool is_list(const ast::Expr& expr) {
  const auto* numbers = expr.as<ast::NumberListValue>();
  return expr.as<ast::ListValue>() || (numbers && !numbers->tuple);
}

struct SampleArgument {
  const Param* param;
  std::string name;  // "" positional
  std::string text;  // as a script has it
  bool plain;
};

// A sample's arguments as a script writes them: the lists that stand for tensors become tensors.
std::vector<SampleArgument> arguments_of(const Op& op, std::string_view arguments) {
  const std::string text = "f(" + std::string(arguments) + ")";
  const std::uint32_t file = Sources::instance().add("<sample>", text);
  Diagnostics diagnostics;
  LineParser parser(file, Sources::instance().find(file)->text(), diagnostics);
  const ast::ExprPtr expression = parser.expression(0, text.size());
  throw_if_errors(diagnostics);
  const auto* call = expression ? expression->as<ast::Call>() : nullptr;
  RELISH_CHECK(call, "a sample is a list of arguments");
  const auto text_of_expr = [&](const ast::Expr& expr) {
    return text.substr(expr.span.begin, expr.span.end - expr.span.begin);
  };
  // A number takes the dtype of the tensor beside it; alone it is one.
  const auto tensors = std::count_if(op.params.begin(), op.params.end(), [](const Param& param) {
    return param.kind == ParamKind::Tensor || param.kind == ParamKind::OptionalTensor;
  });
  const auto tensor_text = [&](const ast::Expr& expr) {
    const bool number = expr.as<ast::IntValue>() || expr.as<ast::FloatValue>();
    const bool wraps = is_list(expr) || (number && tensors == 1);
    return wraps ? "tensor(" + text_of_expr(expr) + ")" : text_of_expr(expr);
  };
  std::vector<SampleArgument> result;
  for (const ast::Argument& argument : call->arguments) {
    const Param* param = written_parameter(op, argument.name, result.size());
    const ast::Expr& value = *argument.value;
    std::string written = text_of_expr(value);
    switch (param ? param->kind : ParamKind::Attribute) {
      case ParamKind::Tensor:
      case ParamKind::OptionalTensor:
        written = tensor_text(value);
        break;
      case ParamKind::TensorTuple:
        if (const std::vector<ast::ExprPtr>* items = items_of(value)) {
          std::vector<std::string> fields;
          for (const ast::ExprPtr& item : *items) fields.push_back(tensor_text(*item));
          written = fmt::format("({}{})", fmt::join(fields, ", "), fields.size() == 1 ? "," : "");
        }
        break;
      case ParamKind::Any:
      case ParamKind::AnyRest:
        if (is_list(value) && param->type != "shape" && !param->type.starts_with("tuple"))
          written = tensor_text(value);
        break;
      case ParamKind::Shape:
      case ParamKind::Scalar:
      case ParamKind::Attribute:
        break;
    }
    result.push_back({param, argument.name, std::move(written), is_plain(value)});
  }
  return result;
}

// The call, the values of arguments that are not written out, what it prints, and its result.
std::string run_sample(const Op& op, const Sample& sample, const Settings& settings) {
  auto sink = std::make_unique<StringOutput>();
  const StringOutput& printed = *sink;
  Session session(settings, std::move(sink));
  Script script(session);
  const auto call_of = [&](const std::vector<std::string>& arguments) {
    return fmt::format("R.{}({})", op.name, fmt::join(arguments, ", "));
  };
  const auto evaluate = [&](const std::string& text) {
    return script.evaluate(Sources::instance().add("<sample>", text));
  };
  std::string text;
  try {
    // What is drawn gets a name, so that what is shown is what the call takes.
    std::vector<std::string> shown, taken;
    std::string values;
    for (const SampleArgument& argument : arguments_of(op, sample.args)) {
      const std::string keyword = argument.name.empty() ? "" : argument.name + "=";
      shown.push_back(keyword + argument.text);
      taken.push_back(shown.back());
      if (argument.plain || !argument.param || argument.param->kind == ParamKind::Attribute) continue;
      const std::string name = fmt::format("sample_{}", shown.size());
      script.run_text("<sample>", fmt::format("{} = {}", name, argument.text));
      values += shortened(text_of(evaluate(name)), fmt::format("    {} = ", argument.param->name), "      ");
      taken.back() = keyword + name;
    }
    text = "  " + call_of(shown) + "\n" + values;
    const ScriptValue result = evaluate(call_of(taken));
    text += shortened(printed.text(), "    prints ", "           ");
    return text + shortened(text_of(result), "    -> ", "       ");
  } catch (const Failure& failure) {
    const Diagnostic& first = failure.diagnostics().front();
    return text + fmt::format("    -> {}: {}\n", name_of(first.error_class), first.message);
  }
}

}  // namespace

std::string operator_page(const Op& op, const Settings& settings) {
  std::vector<const Sample*> chosen;
  for (const Sample& sample : op.samples)
    if (!sample.expect.empty() && chosen.size() < most_samples) chosen.push_back(&sample);
  if (chosen.empty() && !op.samples.empty()) chosen.push_back(&op.samples.front());
  std::string examples;
  for (const Sample* sample : chosen) examples += run_sample(op, *sample, settings);
  return op_doc(op, examples);
}

}  // namespace relish
