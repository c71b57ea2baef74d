// "name" and "name(option=value, ...)", as given to --loss and --optimizer. Values of options are constants,
// bare names, which are texts, and lists or tuples of these.
#include "support/failure.h"
#include "support/render.h"
#include "support/value_text.h"
#include "transform/append_loss.h"

namespace relish {
namespace {

Attribute attribute_of_value(const ValueText& text, const WrittenValue& value) {
  using Kind = WrittenValue::Kind;
  if (const auto constant = constant_as<Attribute>(value)) return *constant;
  if (value.kind == Kind::Word && is_plain_name(value.text)) return value.text;
  if (value.kind != Kind::List && value.kind != Kind::Tuple)
    text.refuse(value, "a number, a string, True, False or None");
  AttributeList list;
  for (const WrittenValue& item : value.items) list.push_back(attribute_of_value(text, item));
  return list;
}

}  // namespace

NamedSpec parse_named_spec(std::string_view written, std::string_view what) {
  constexpr std::string_view forms = "NAME or NAME(option=value, ...)";
  ValueText text(written, what);
  const WrittenValue value = text.value(forms);
  const bool is_call = value.kind == WrittenValue::Kind::Call;
  if ((!is_call && value.kind != WrittenValue::Kind::Word) || !is_plain_name(value.text))
    text.refuse(value, forms);
  NamedSpec spec;
  spec.name = value.text;
  for (const WrittenValue& item : value.items) {
    if (item.kind != WrittenValue::Kind::Argument) text.refuse(item, "option=value");
    if (!is_plain_name(item.text)) text.refuse(item, "an option's name before '='");
    if (find_attribute(spec.options, item.text)) {
      fail(ErrorClass::Usage, {}, "spec.repeated",
           fmt::format("option '{}' is given twice in '{}'", item.text, printable(written)));
    }
    spec.options.emplace_back(item.text, attribute_of_value(text, item.items[0]));
  }
  return spec;
}

}  // namespace relish
