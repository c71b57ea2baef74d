// Texts that are proposed for methods, subscripts and calls which an R.function does not have.
#include "frontend/graph/graph_hints.h"

#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stdlib/foreign_names.h"
#include "stdlib/surface.h"
#include "support/fix.h"
#include "support/suggest.h"

namespace relish {
namespace {

constexpr std::size_t longest_operand = 24;

std::string text_or(const ast::ExprPtr& expr, std::string_view otherwise) {
  return expr ? operand_text(*expr) : std::string(otherwise);
}

// The calls of a subscript in the making: slices first, then what is taken, then new dimensions.
struct IndexCalls {
  std::vector<std::string> axes, begins, ends, steps;
  std::vector<std::pair<int, std::string>> taken;
  std::vector<int> added;
  bool stepped = false;

  std::string around(std::string text) const {
    if (!axes.empty()) {
      text = fmt::format("R.strided_slice({}, axes=[{}], begin=[{}], end=[{}]{})", text,
                         fmt::join(axes, ", "), fmt::join(begins, ", "), fmt::join(ends, ", "),
                         stepped ? fmt::format(", strides=[{}]", fmt::join(steps, ", ")) : "");
    }
    // The last axis first, so that those before it keep their numbers.
    for (auto each = taken.rbegin(); each != taken.rend(); ++each)
      text = fmt::format("R.take({}, {}, axis={})", text, each->second, each->first);
    if (!added.empty()) text = fmt::format("R.expand_dims({}, axis=[{}])", text, fmt::join(added, ", "));
    return text;
  }
};

constexpr std::string_view to_the_end = "2147483647";

// What a function binds comes before.
bool unbound(const std::string&) { return false; }

}  // namespace

std::string operand_text(const ast::Expr& expr, std::string_view otherwise) {
  const std::string text(written_at(expr.span));
  const bool plain = !text.empty() && text.size() <= longest_operand && text.find('\n') == text.npos;
  return plain ? text : std::string(otherwise);
}

std::string method_hint(const ast::Attribute& method, const ast::Call& call, const RankOf& rank) {
  // Tuples do not grow; what each round of a loop gives has its place in a tensor.
  const std::string* list = ast::name_of(*method.object);
  if (method.name == "append" && list && !rank(*list) && call.arguments.size() == 1) {
    const std::string value = operand_text(*call.arguments[0].value);
    return fmt::format(
        "; in round i of a loop write {0} = R.slice_scatter({0}, R.expand_dims({1}, 0), i, i + 1), and "
        "{0} = R.zeros(…) before it",
        *list, value);
  }
  const std::string whole = foreign_call_advice(call, ProposalPlace::Function, unbound, rank);
  if (!whole.empty()) return whole;
  if (!call.arguments.empty() && !foreign_page_advice(method.name).empty())
    return foreign_page_advice(method.name);
  const std::string near = did_you_mean(method.name, std::vector<std::string>{"astype"});
  if (!near.empty()) return near;
  const std::string advice =
      method_advice(method.name, operand_text(*method.object), !call.arguments.empty());
  return advice.empty() ? "; expected astype or an operator of R" : advice;
}

std::string attribute_hint(const ast::Attribute& attribute) {
  const std::string object = operand_text(*attribute.object);
  if (attribute.name == "T" || attribute.name == "mT") {
    return attribute.name == "T" ? fmt::format("; write R.permute_dims({})", object)
                                 : "; write R.permute_dims with all axes, the last two exchanged";
  }
  // Not as a word that takes the place of another: the message is of the whole expression.
  const auto near = nearest_name(attribute.name, std::vector<std::string>{"shape", "dtype", "ndim"});
  if (near == attribute.name) return "; expected an operator of R";
  if (near) return fmt::format("; did you mean {}.{}?", object, *near);
  const std::string advice = method_advice(attribute.name, object, false);
  return advice.empty() ? "; expected an operator of R" : advice;
}

std::string subscript_hint(const ast::Subscript& subscript) {
  IndexCalls calls;
  int axis = 0, result_axis = 0;
  const std::string object = operand_text(*subscript.object);
  for (const ast::ExprPtr& item : subscript.items) {
    if (item->as<ast::NoneValue>()) {
      calls.added.push_back(result_axis++);
      continue;
    }
    if (item->as<ast::Comparison>())
      return fmt::format("; write R.where({}, {}, 0.0)", operand_text(*item), object);
    if (item->as<ast::FloatValue>() || item->as<ast::StringValue>()) return "; an index is an integer";
    if (item->as<ast::Ellipsis>()) return "; write R.take or R.strided_slice with the axes";
    if (const auto* slice = item->as<ast::Slice>()) {
      if (slice->begin || slice->end || slice->step) {
        calls.axes.push_back(std::to_string(axis));
        calls.begins.push_back(text_or(slice->begin, "0"));
        calls.ends.push_back(text_or(slice->end, to_the_end));
        calls.steps.push_back(text_or(slice->step, "1"));
        calls.stepped = calls.stepped || slice->step;
      }
      ++axis;
      ++result_axis;
      continue;
    }
    const bool list = item->as<ast::ListValue>() || item->as<ast::NumberListValue>();
    calls.taken.emplace_back(
        axis++, list ? fmt::format("R.const({}, \"int64\")", operand_text(*item)) : operand_text(*item));
    if (list) ++result_axis;
  }
  return "; write " + calls.around(object);
}

std::string library_hint(const ast::Call& call, const RankOf& rank) {
  if (!library_of(*call.callee, unbound)) return "";
  const std::string whole = foreign_call_advice(call, ProposalPlace::Function, unbound, rank);
  if (!whole.empty()) return whole;
  return foreign_name_advice(ast::dotted_name(*call.callee), ProposalPlace::Function, true);
}

std::string library_hint(const ast::Attribute& name) {
  const std::string dotted = ast::dotted_name(*name.object) + "." + name.name;
  const auto library = library_called(dotted.substr(0, dotted.find('.')));
  return library ? foreign_name_advice(dotted, ProposalPlace::Function) : "";
}

std::string bare_call_hint(std::string_view name, const ast::Call& call) {
  // Of two tensors, element by element.
  const bool pair =
      call.arguments.size() == 2 && call.arguments[0].name.empty() && call.arguments[1].name.empty();
  if (pair && (name == "max" || name == "min")) {
    return fmt::format("; write R.{}imum({}, {})", name, operand_text(*call.arguments[0].value),
                       operand_text(*call.arguments[1].value));
  }
  const auto op = exact_operator(name);
  if (op) return fmt::format("; did you mean 'R.{}'?", *op);
  const auto instead = written_instead(name);
  return instead && !instead->empty() ? introduced(*instead) : "";
}

}  // namespace relish
