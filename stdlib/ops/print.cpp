// Printing of values while a program runs.
#include "runtime/program_output.h"
#include "stdlib/families/language/message_format.h"

namespace relish::ops_print {
namespace {

constexpr Param params[] = {
    {"values", ParamKind::AnyRest, "any values", "", "what is shown"},
    {"format", ParamKind::Attribute, "str", "\"\"",
     "text with {} or {0} where values stand; empty: the values with blanks between them"}};

Type infer(const CallView& call) {
  check_format(call, call.string_attribute("format"), call.args.size());
  return void_type();
}

Value evaluate(const EvalCall& c) {
  const std::string format = c.call.string_attribute("format");
  std::string line;
  if (!format.empty()) {
    line = formatted(format, c.args);
  } else {
    for (const Value& value : c.args) {
      if (&value != c.args.data()) line += ' ';
      line += shown(value);
    }
  }
  write_program_line(line);
  return {};
}

constexpr Sample samples[] = {
    {"[1.0, 2.0], R.const(3, \"int32\")", "()", false},
    {"[1.0, 2.0], 4, format=\"x: {}, n: {}\"", "()", false},
    {"R.shape([2, 3]), \"text\", format=\"{1} {0} {{}}\"", "()", false},
};
constexpr Reject rejects[] = {
    {"print.format", "[1.0], format=\"{} {}\"", "format shows value 1; 1 value is given"},
    {"print.format", "[1.0], format=\"{:.2f}\"", "values are shown as text"},
    {"print.format", "[1.0], format=\"{\"", "found a lone '{'"},
    {"print.format", "1, 2, format=\"{} {1}\"", "beside a numbered field"},
};

}  // namespace

extern const Op op_print{
    .name = "print",
    .summary = "Writes a line of values to the output.",
    .params = params,
    .infer = infer,
    .eval = evaluate,
    .no_gradient = "it has no result",
    .pure = false,
    .agreement = Agreement::DataMovement,
    .samples = samples,
    .rejects = rejects,
    .doc =
        "It has an effect: it stands outside dataflow blocks, in functions with pure=False or with the "
        "attribute relax.force_pure. Lines come in the order of the program, with those that a script "
        "prints. A tensor is shown as `print` of a script shows it, a 0-d tensor as its number."};

}  // namespace relish::ops_print
