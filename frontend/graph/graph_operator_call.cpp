// Calls of operators: the arguments as written, numbers in the dtype of the tensor beside them, devices taken
// apart.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "frontend/graph/graph_calls.h"
#include "frontend/names/foreign_texts.h"
#include "frontend/types/attribute_reader.h"
#include "ir/operators/op_arguments.h"
#include "stdlib/places_of_names.h"
#include "stdlib/surface.h"
#include "support/render.h"
#include "support/source.h"

namespace relish {
namespace {

// Whether the expression is known when the text is read, without any name.
bool is_literal(const ReadContext& context, const ast::Expr& expr) {
  auto all = [&](const std::vector<ast::ExprPtr>& items) {
    return std::all_of(items.begin(), items.end(),
                       [&](const ast::ExprPtr& item) { return is_literal(context, *item); });
  };
  if (expr.as<ast::NoneValue>() || expr.as<ast::BoolValue>() || expr.as<ast::IntValue>() ||
      expr.as<ast::FloatValue>() || expr.as<ast::StringValue>() || expr.as<ast::NumberListValue>() ||
      expr.as<ast::DictValue>()) {
    return true;
  }
  if (auto* starred = expr.as<ast::Starred>()) return is_literal(context, *starred->value);
  if (auto* tuple = expr.as<ast::TupleValue>()) return all(tuple->items);
  if (auto* list = expr.as<ast::ListValue>()) return all(list->items);
  if ((expr.as<ast::Chain>() || expr.as<ast::Prefix>()) && literal_arithmetic(expr)) return true;
  auto* call = expr.as<ast::Call>();
  std::string name = call ? context.namespaces.canonical(*call->callee) : std::string();
  return (name == "R.dtype" || name == "R.str" || name == "float") && call->arguments.size() == 1 &&
         call->arguments[0].value->as<ast::StringValue>();
}

// The text of an index map, a lambda or T.index_map of one, on one line: the operator reads it.
Attribute index_map_text(const ReadContext& context, const ast::Expr& value) {
  const ast::Expr* lambda = &value;
  auto* call = value.as<ast::Call>();
  if (call && context.namespaces.canonical(*call->callee) == "T.index_map" && !call->arguments.empty())
    lambda = call->arguments[0].value.get();
  if (!lambda->as<ast::Lambda>()) return read_attribute(context, *lambda);
  const Span span = lambda->span;
  const std::string_view source = Sources::instance().find(span.file)->text();
  // One spelling: blanks around words and operators are single, none stand inside brackets or before a comma.
  std::string text;
  for (char c : source.substr(span.begin, span.end - span.begin)) {
    const bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    const bool closes = c == ')' || c == ']' || c == ',' || c == ':';
    if (closes && !text.empty() && text.back() == ' ') text.pop_back();
    if (!blank) text += c;
    if (blank && !text.empty() && text.back() != ' ' && text.back() != '(' && text.back() != '[') text += ' ';
  }
  return text;
}

// The operator of that name without "R."; TypeError with the nearest.
const Op& operator_named(const std::string& name, Span at) {
  const std::string short_name = name.substr(2);
  if (const Op* op = find_op(short_name)) return *op;
  static constexpr std::string_view others[] = {"const",
                                                "shape",
                                                "tuple",
                                                "match_cast",
                                                "call_tir",
                                                "call_tir_inplace",
                                                "call_tir_with_grad",
                                                "call_dps_packed",
                                                "call_packed",
                                                "call_pure_packed",
                                                "call_inplace_packed",
                                                "output",
                                                "prim_value",
                                                "str",
                                                "dtype",
                                                "func_attr",
                                                "null_value"};
  std::string advice = operator_advice(short_name, others);
  // R.any: a built-in of statements, which a function writes by other operators.
  const std::string_view instead = written_in_functions(short_name);
  if (advice.empty() && !instead.empty()) advice = fmt::format("; {}", instead);
  type_error(at, "op.unknown",
             fmt::format("found the operator {}, which is unknown{}", printable(name), advice));
}

const Param* rest_of(const Op& op) {
  const Param* rest = nullptr;
  for (const Param& param : op.params) {
    if (param.kind == ParamKind::AnyRest) rest = &param;
  }
  return rest;
}

// TVM's sum of bools is a bool, which is what few mean who count.
void tell_sum_of_bools(ReadContext& context, const Op& op, const std::vector<Expr>& args, Span at) {
  const TensorType* summed = op.name == "sum" && !args.empty() ? args[0].type().tensor() : nullptr;
  if (!summed || summed->dtype != DType::Bool) return;
  Diagnostic note;
  note.severity = Severity::Note;
  note.span = at;
  note.message = sum_of_bools_note;
  context.diagnostics.add(std::move(note));
}

}  // namespace

// The arguments of one call while they are read.
class GraphCalls::OperatorArguments {
 public:
  OperatorArguments(GraphCalls& graph, const Op& op) : graph_(graph), context_(graph.context_), op_(op) {}

  void add(const std::string& argument_name, const ast::Expr& value, Span name_span = {}) {
    const Param* param = written_parameter(op_, argument_name, written_.size());
    // An unknown keyword is told of at its name.
    WrittenArgument argument{argument_name, Attribute(),
                             param || !name_span.known() ? value.span : name_span};
    if (auto* text = value.as<ast::StringValue>(); text && param && param->name.ends_with("scope"))
      refuse_reserved_scope(text->value, value.span);
    if (!is_absent(param, value)) argument.value = read(param, value);
    if (param && param->name == "dst_vdevice" && context_.check_device) {
      const auto* literal = std::get_if<Attribute>(&argument.value);
      if (const auto* device = literal ? literal->as<std::string>() : nullptr)
        context_.check_device(*device, value.span);
    }
    written_.push_back(std::move(argument));
  }

  void add(const ast::Argument& argument) {
    if (argument.stars)
      relish::type_error(argument.value->span, "call.star",
                         "found a starred argument; expected each one written out");
    if (add_device(*argument.value)) {
      behind_device_ = true;
      return;
    }
    // What stands behind the device is the memory of it.
    if (behind_device_ && argument.name.empty())
      return add("memory_scope", *argument.value, argument.value->span);
    // R.assert_op(condition, [a, b]) lists what it formats.
    auto* list = argument.value->as<ast::ListValue>();
    const Param* rest = rest_of(op_);
    const bool listed = rest && list && (argument.name.empty() || argument.name == rest->name);
    if (!listed) return add(argument.name, *argument.value, argument.name_span);
    for (const ast::ExprPtr& item : list->items) add("", *item);
  }

  // All of them, numbers in the dtype of the tensors that stand beside them.
  std::vector<WrittenArgument> take() {
    const auto dtype_at = [&](const Param& param) { return dtype_of(param); };
    std::vector<std::pair<std::size_t, Expr>> made;
    for (const Number& number : numbers_) {
      const std::optional<DType> dtype = number_dtype(op_, *number.param, dtype_at);
      // A name whose number has the dtype already stays what it is.
      const auto* named = std::get_if<Expr>(&written_[number.position].value);
      const auto* scalar = named && named->defined() ? named->type().as<ScalarType>() : nullptr;
      if (dtype && scalar && scalar->dtype == *dtype) continue;
      if (dtype && (is_bool(*dtype) || !number.literal->as<ast::BoolValue>()))
        made.emplace_back(number.position, graph_.literal_beside(*number.literal, *dtype));
    }
    for (Listed& list : lists_) {
      const std::optional<DType> dtype = number_dtype(op_, *list.param, dtype_at);
      for (const auto& [field, literal] : list.literals)
        list.fields[field] = dtype ? graph_.literal_beside(*literal, *dtype) : graph_.leaf(*literal);
      made.emplace_back(list.position, tuple(std::move(list.fields), written_[list.position].span));
    }
    for (auto& [position, value] : made) written_[position].value = std::move(value);
    return std::move(written_);
  }

 private:
  struct Number {
    std::size_t position;
    const Param* param;
    const ast::Expr* literal;
  };
  // A list for a tuple of tensors in which numbers stand for tensors.
  struct Listed {
    std::size_t position;
    const Param* param;
    std::vector<Expr> fields;  // undefined for these
    std::vector<std::pair<std::size_t, const ast::Expr*>> literals;
  };

  // R.null_value() stands for an absent argument; where a value must be, it is none.
  bool is_absent(const Param* param, const ast::Expr& value) const {
    auto* inner = value.as<ast::Call>();
    if (!inner || context_.namespaces.canonical(*inner->callee) != "R.null_value") return false;
    const bool any = param && (param->kind == ParamKind::Any || param->kind == ParamKind::AnyRest);
    return !any || !param->fallback.empty();
  }

  std::variant<Expr, Attribute> read(const Param* param, const ast::Expr& value) {
    // None stands for the default of a flag and for an empty list, as TVM prints them.
    const bool attribute = param && param->kind == ParamKind::Attribute;
    if (attribute && value.as<ast::NoneValue>()) {
      if (param->fallback == "[]") return Attribute(AttributeList{});
      if (param->type == "bool" && (param->fallback == "True" || param->fallback == "False"))
        return Attribute(param->fallback == "True");
    }
    if (param && param->name == "dst_vdevice")
      if (auto device = graph_.device_text(value)) return Attribute(*device);
    if (param && param->type == "index map") return index_map_text(context_, value);
    const bool tensor =
        param && (param->kind == ParamKind::Tensor || param->kind == ParamKind::OptionalTensor);
    // Positions that are numbers stay scalars.
    const bool position = tensor && param->type.find("integers") != std::string_view::npos;
    // An option by the name of a number is that number, as if it stood there.
    if (attribute || (param && param->kind == ParamKind::Scalar)) {
      const ast::Expr* number = graph_.named_number(value);
      if (!number && attribute) number = graph_.named_numbers(value);
      if (number) return read(param, *number);
    }
    if (tensor && ((!position && graph_.is_number(value)) || graph_.is_number_list(value))) {
      numbers_.push_back({written_.size(), param, &value});
      return is_literal(context_, value) ? read_attribute(context_, value) : Attribute();
    }
    // `s = 0.5` before: a number of that name.
    if (const ast::Expr* number = tensor && !position ? graph_.named_number(value) : nullptr) {
      numbers_.push_back({written_.size(), param, number});
      // R.full((2,), s): what the number makes by itself it makes by its name.
      const bool alone = param->type.find("reals are float32") != std::string_view::npos;
      return alone && is_literal(context_, *number)
                 ? std::variant<Expr, Attribute>(read_attribute(context_, *number))
                 : std::variant<Expr, Attribute>(graph_.leaf(value));
    }
    if (auto* hole = attribute ? value.as<ast::Hole>() : nullptr) {
      const Expr wanted = graph_.hole(*hole, value.span);
      graph_.holes_.want_words(wanted, fmt::format("{}, written out", param->type),
                               fmt::format("the attribute '{}' of R.{}", param->name, op_.name), value.span);
      throw ReadContext::Silent{};
    }
    if (param && param->kind == ParamKind::TensorTuple && read_listed(*param, value)) return Attribute();
    if (is_literal(context_, value)) return read_attribute(context_, value);
    if (param && param->kind == ParamKind::Shape &&
        (value.as<ast::TupleValue>() || value.as<ast::ListValue>()))
      return graph_.shape_of_dims(value);
    Expr given = graph_.leaf(value);
    // `dims = (n, d)` before.
    const auto dims = param && param->kind == ParamKind::Shape ? graph_.known_dims(given) : std::nullopt;
    if (dims) return shape_literal(*dims, value.span);
    return given;
  }

  // Whether the value is a list with numbers, or lists of them, beside tensors.
  bool read_listed(const Param& param, const ast::Expr& value) {
    const auto* list = value.as<ast::ListValue>();
    const auto* written = value.as<ast::TupleValue>();
    if (!list && !written) return false;
    const std::vector<ast::ExprPtr>& items = list ? list->items : written->items;
    const auto literal = [&](const ast::ExprPtr& item) {
      return graph_.is_number(*item) || graph_.is_number_list(*item);
    };
    const auto count = std::count_if(items.begin(), items.end(), literal);
    if (count == 0 || count == static_cast<std::ptrdiff_t>(items.size())) return false;
    Listed result{written_.size(), &param, {}, {}};
    for (const ast::ExprPtr& item : items) {
      if (literal(item)) {
        result.literals.emplace_back(result.fields.size(), item.get());
        result.fields.emplace_back();
      } else if (const auto* starred = item->as<ast::Starred>()) {
        const Expr whole = graph_.leaf(*starred->value);
        if (!whole.type().tuple()) return false;
        for (Expr& field : graph_.fields_of(whole, item->span)) result.fields.push_back(std::move(field));
      } else {
        result.fields.push_back(graph_.leaf(*item));
      }
    }
    lists_.push_back(std::move(result));
    return true;
  }

  // A device stands for two arguments: R.device(device_type=1, index=0), tvm.cpu() and its kin. False for
  // what is none, and where the operator takes none.
  bool add_device(const ast::Expr& value) {
    auto* device = value.as<ast::Call>();
    if (!device || !written_parameter(op_, "device_type", 0)) return false;
    const std::string made_by = context_.namespaces.canonical(*device->callee);
    if (made_by == "R.device" || made_by == "tvm.device" || made_by == "tvm.runtime.device") {
      add_device_fields(*device);
      return true;
    }
    const auto kind = graph_.device_kind(*device);
    if (!kind) return false;
    written_.push_back({"device_type", *kind, device->callee->span});
    if (!device->arguments.empty())
      add("index", *device->arguments[0].value, device->arguments[0].value->span);
    return true;
  }

  void add_device_fields(const ast::Call& device) {
    static constexpr std::array<std::array<std::string_view, 3>, 2> spellings = {
        {{"device_type", "dev_type", ""}, {"index", "device_id", "dev_id"}}};
    std::size_t position = 0;
    for (const ast::Argument& argument : device.arguments) {
      std::size_t at = position;
      if (argument.name.empty()) {
        ++position;
      } else {
        const auto found = std::find_if(spellings.begin(), spellings.end(), [&](const auto& names) {
          return std::find(names.begin(), names.end(), argument.name) != names.end();
        });
        at = static_cast<std::size_t>(found - spellings.begin());
      }
      if (at >= spellings.size() || argument.stars) {
        relish::type_error(
            argument.value->span, "device.arguments",
            "found an argument that R.device has not; expected R.device(device_type=1, index=0)");
      }
      // The kind by its name.
      const auto* name = at == 0 ? argument.value->as<ast::StringValue>() : nullptr;
      const auto kind = name ? device_number(name->value) : std::nullopt;
      if (kind)
        written_.push_back({"device_type", *kind, argument.value->span});
      else
        add(std::string(spellings[at][0]), *argument.value, argument.name_span);
    }
  }

  std::optional<DType> dtype_of(const Param& param) const {
    for (std::size_t i = 0; i < written_.size(); ++i) {
      if (written_parameter(op_, written_[i].name, i) != &param) continue;
      for (const Listed& list : lists_) {
        if (list.position != i) continue;
        for (const Expr& field : list.fields)
          if (const TensorType* tensor = field.defined() ? field.type().tensor() : nullptr)
            return tensor->dtype;
      }
      const auto* value = std::get_if<Expr>(&written_[i].value);
      const TupleType* fields = value ? value->type().tuple() : nullptr;
      const Type type = fields && !fields->fields.empty() ? fields->fields[0]
                        : value                           ? value->type()
                                                          : Type();
      if (const TensorType* tensor = type.tensor()) return tensor->dtype;
    }
    return std::nullopt;
  }

  GraphCalls& graph_;
  ReadContext& context_;
  const Op& op_;
  std::vector<WrittenArgument> written_;
  std::vector<Number> numbers_;  // for tensor parameters: they wait for a dtype
  std::vector<Listed> lists_;    // likewise
  bool behind_device_ = false;
};

Expr GraphCalls::operator_call(const std::string& name, const ast::Expr& expr, const ast::Call& call,
                               const ast::Expr* receiver) {
  const Op& op = operator_named(name, call.callee->span);
  OperatorArguments arguments(*this, op);
  if (receiver) arguments.add("", *receiver);
  for (const ast::Argument& argument : call.arguments) arguments.add(argument);
  ArrangedArguments arranged = arrange_arguments(op, arguments.take(), expr.span);
  if (auto scalar = scalar_operator(op.name, arranged.args, expr.span)) return *scalar;
  tell_sum_of_bools(context_, op, arranged.args, expr.span);
  return make_op_call(op, std::move(arranged.args), std::move(arranged.attributes), expr.span);
}

}  // namespace relish
