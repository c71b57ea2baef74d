// Syntax trees to scalar expressions: names, subscripts, operators, and what calls are sent where.
#include "frontend/types/scalar_reader.h"

#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "frontend/module/decorators.h"
#include "frontend/text/ast_walk.h"
#include "frontend/types/scalar_function.h"
#include "support/counted.h"
#include "support/fix.h"
#include "support/limits.h"
#include "support/render.h"
#include "support/suggest.h"

namespace relish {

DType read_dtype(std::string_view name, Span at) {
  if (auto dtype = dtype_from_name(name)) return *dtype;
  // Without a width they are of 32 bits.
  if (name == "float") return DType::Float32;
  if (name == "int") return DType::Int32;
  if (name == "uint") return DType::UInt32;
  if (const std::size_t x = name.find('x'); x != name.npos && dtype_from_name(name.substr(0, x))) {
    type_error(
        at, "dtype.unsupported",
        fmt::format("the dtype {} is not supported; expected {}, of a buffer with a last dimension of {}",
                    printable(name), name.substr(0, x), printable(name.substr(x + 1))));
  }
  if (name.substr(0, 6) == "float8" || name.substr(0, 6) == "float4" || name == "handle" || name == "void") {
    type_error(at, "dtype.unsupported", fmt::format("the dtype {} is not supported", printable(name)));
  }
  std::vector<std::string> candidates;
  for (int i = 0; i < dtype_count; ++i) candidates.emplace_back(name_of(static_cast<DType>(i)));
  type_error(at, "dtype.unknown",
             fmt::format("found the dtype '{}', which is unknown{}", printable(name),
                         did_you_mean(name, candidates)));
}

void fail_unknown_name(const std::string& name, Span at, std::vector<std::string> candidates) {
  fail(ErrorClass::Type, at, "name.unknown",
       fmt::format("found the name '{}', which is not defined here{}", printable(name),
                   did_you_mean(name, candidates)));
}

void fail_script_name(const std::string& name, Span at, bool size) {
  const std::string symbol =
      size ? fmt::format("; a size may be the symbol \"{0}\", which the data or dim={{\"{0}\": {0}}} tell",
                         name)
           : "";
  fail(ErrorClass::Type, at, "name.script",
       fmt::format(
           "found '{}', a variable of the script, which functions do not see; pass it as a parameter, use "
           "bind_params, or make it a constant: bound once, above, to literals, arg() and arithmetic{}",
           printable(name), symbol));
}

// A hole among scalars, in a shape, an index or a loop: what stands for a scalar here may be put in.
[[noreturn]] static void refuse_hole(ReadContext& context, ScalarScope& scope, const ast::Hole& hole,
                                     Span at) {
  constexpr std::size_t most_told = 6;
  HoleReport report{hole.id, at, "a scalar", {}};
  std::string told;
  std::set<std::string> seen;
  for (const std::string& name : scope.names()) {
    if (!seen.insert(name).second) continue;
    const ScalarMeaning meaning = scope.find(name, at);
    const auto* scalar = std::get_if<Scalar>(&meaning);
    // What could not be read has no value that could be offered.
    if (!scalar || !scalar->defined()) continue;
    if (report.candidates.size() < most_told)
      told += fmt::format("{}{}: {}", told.empty() ? "" : ", ", name, name_of(scalar->dtype()));
    report.candidates.push_back(name);
  }
  const std::size_t count = report.candidates.size();
  if (count > most_told) told += fmt::format(" and {} more", count - most_told);
  Diagnostic diagnostic;
  diagnostic.error_class = ErrorClass::Type;
  diagnostic.span = at;
  diagnostic.id = "hole.value";
  diagnostic.message = fmt::format("found the hole '?{}'; expected a scalar", printable(hole.id));
  diagnostic.note(count == 0 ? "nothing in scope fits"
                             : fmt::format("in scope {}: {}", count == 1 ? "fits" : "fit", told));
  if (count == 1) diagnostic.notes.push_back(write_here(at, report.candidates.front()));
  const bool known = std::any_of(context.holes.begin(), context.holes.end(),
                                 [&](const HoleReport& each) { return each.span == at; });
  if (!known) context.holes.push_back(std::move(report));
  throw Failure(std::move(diagnostic));
}

void ScalarReader::check_depth(std::size_t levels, Span at) {
  depth_ += levels;
  if (depth_ > limits().max_scalar_nesting) {
    fail(ErrorClass::ResourceLimit, at, "limit.scalar",
         fmt::format("found a scalar expression nested deeper than {}; expected a local scalar for a part of "
                     "it, or raise "
                     "--max-scalar-nesting",
                     limits().max_scalar_nesting));
  }
}

ScalarOperand ScalarReader::operand(const ast::Expr& expr) {
  std::size_t depth = depth_;
  const bool pointers_allowed = std::exchange(pointers_allowed_, false);
  check_depth(1, expr.span);
  auto scalar = [&]() -> ScalarOperand {
    if (auto* v = expr.as<ast::IntValue>()) {
      // What does not fit int32 is int64, as everywhere in TVM.
      DType dtype = holds(plain_integer_, v->value) ? plain_integer_ : DType::Int64;
      return {int_literal(dtype, v->value, expr.span), true};
    }
    if (auto* v = expr.as<ast::FloatValue>()) {
      return {float_literal(DType::Float64, v->value, expr.span),
              true};  // all its digits, until it is settled
    }
    if (auto* v = expr.as<ast::BoolValue>()) return {bool_literal(v->value, expr.span)};
    if (auto* v = expr.as<ast::Name>()) return name(expr, v->id);
    if (auto* v = expr.as<ast::Call>()) return call(expr, *v);
    if (auto* v = expr.as<ast::Subscript>()) return subscript(expr, *v);
    if (auto* v = expr.as<ast::Prefix>()) return prefix(expr, *v);
    if (auto* v = expr.as<ast::Attribute>())
      if (auto read = attribute(expr, *v)) return *read;
    if (auto* v = expr.as<ast::Chain>()) {
      check_depth(v->links.size(), expr.span);
      ScalarOperand result = operand(*v->first);
      for (const ast::Link& link : v->links) {
        ScalarOperand right = operand(*link.operand);
        result =
            combine(link.op, std::move(result), std::move(right), cover(v->first->span, link.operand->span));
      }
      return result;
    }
    if (auto* v = expr.as<ast::Comparison>()) {
      return comparison(expr, *v);
    }
    if (auto* v = expr.as<ast::Logic>()) {
      check_depth(v->operands.size(), expr.span);
      ScalarOperand result = operand(*v->operands[0]);
      for (std::size_t i = 1; i < v->operands.size(); ++i) {
        Span span = cover(v->operands[0]->span, v->operands[i]->span);
        result = combine(v->op, std::move(result), operand(*v->operands[i]), span);
      }
      return result;
    }
    if (auto* v = expr.as<ast::Conditional>()) {
      Scalar condition = value(*v->condition);
      expect_bool(condition, v->condition->span);
      ScalarOperand then_value = operand(*v->then_value), else_value = operand(*v->else_value);
      promote(then_value, else_value, expr.span);
      return {if_then_else(condition, then_value.value, else_value.value, expr.span)};
    }
    if (auto* v = expr.as<ast::Hole>()) refuse_hole(context_, scope_, *v, expr.span);
    if (const std::string root = ast::dotted_name(expr); !root.empty())
      refuse_python_name(context_, root.substr(0, root.find('.')), expr.span);
    type_error(expr.span, "scalar.expression",
               fmt::format("found {}; expected a scalar", ast::describe(expr)));
  }();
  depth_ = depth;
  if (!pointers_allowed && is_pointer(scalar.value)) {
    type_error(expr.span, "scalar.pointer",
               fmt::format("found {}, which points to memory, as a value; expected it in data= or as an "
                           "argument of a native function",
                           ast::describe(expr)));
  }
  return scalar;
}

// As Python has it: a < b < c is a < b and b < c.
ScalarOperand ScalarReader::comparison(const ast::Expr& expr, const ast::Comparison& comparison) {
  check_depth(comparison.links.size(), expr.span);
  ScalarOperand left = operand(*comparison.first), result;
  Span from = comparison.first->span;
  for (std::size_t i = 0; i < comparison.links.size(); ++i) {
    const ast::Link& link = comparison.links[i];
    ScalarOperand right = operand(*link.operand);
    ScalarOperand pair = combine(link.op, left, right, cover(from, link.operand->span));
    result =
        i == 0 ? pair
               : combine(ast::Operator::And, result, pair, cover(comparison.first->span, link.operand->span));
    left = std::move(right);
    from = link.operand->span;
  }
  return result;
}

Scalar ScalarReader::read(const ast::Expr& expr) {
  Scalar result = value(expr);
  refuse_vector(result, expr.span);
  return result;
}

Scalar ScalarReader::read_as(DType dtype, const ast::Expr& expr) {
  return convert(dtype, operand(expr), expr.span).value;
}

Scalar ScalarReader::read_condition(const ast::Expr& expr) {
  Scalar condition = read(expr);
  expect_bool(condition, expr.span);
  return condition;
}

Scalar ScalarReader::read_truth(const ast::Expr& expr) {
  Scalar condition = read(expr);
  if (is_int(condition.dtype()) && !is_bool(condition.dtype()))
    return compare(CompareOp::Ne, condition, int_literal(condition.dtype(), 0, expr.span), expr.span);
  expect_bool(condition, expr.span);
  return condition;
}

Scalar ScalarReader::read_index(const ast::Expr& expr) {
  Scalar index = read(expr);
  expect_index(index, expr.span);
  return index;
}

namespace {

// The indices that are missing before or between those that are written, when it is clear which.
std::vector<DiagnosticNote> missing_indices(const std::vector<std::string>& axes,
                                            const ast::Subscript& subscript, std::size_t missing) {
  // The axes that each index mentions, as positions in their order.
  std::vector<std::size_t> last_of_item(subscript.items.size(), 0);
  std::set<std::size_t> mentioned;
  for (std::size_t i = 0; i < subscript.items.size(); ++i) {
    ast::for_each_expr(*subscript.items[i], [&](const ast::Expr& inner) {
      const std::string* name = ast::name_of(inner);
      for (std::size_t a = 0; name && a < axes.size(); ++a) {
        if (axes[a] != *name) continue;
        mentioned.insert(a);
        last_of_item[i] = std::max(last_of_item[i], a + 1);
      }
    });
  }
  if (axes.size() != mentioned.size() + missing || mentioned.empty()) return {};
  // Each stands before the first index of a later axis.
  std::vector<DiagnosticNote> notes;
  std::string behind;
  for (std::size_t i = 0, a = 0; i <= subscript.items.size(); ++i) {
    std::string before;
    const bool end = i == subscript.items.size();
    for (; a < (end ? axes.size() : last_of_item[i]); ++a) {
      if (mentioned.contains(a)) continue;
      (end ? behind : before) += end ? ", " + axes[a] : axes[a] + ", ";
    }
    if (!before.empty()) {
      const Span item = subscript.items[i]->span;
      notes.push_back(insert_here({item.file, item.begin, item.begin}, before));
    }
  }
  if (!behind.empty()) notes.push_back(insert_here(subscript.items.back()->span, behind));
  return notes;
}

}  // namespace

// A[begin:end:step] as an index. The number of elements must be known when the text is read.
Scalar ScalarReader::slice_index(const ast::Slice& slice, const Scalar& dim, Span at) {
  ScalarOperand begin = slice.begin ? operand(*slice.begin) : ScalarOperand{int_literal(dim.dtype(), 0, at)};
  ScalarOperand end = slice.end ? operand(*slice.end) : ScalarOperand{dim};
  std::int64_t step = 1;
  if (slice.step) step = read(*slice.step).as_int().value_or(0);
  if (step < 1) type_error(slice.step->span, "buffer.slice", "found a step that is no positive literal");
  expect_index(begin.value, at);
  expect_index(end.value, at);
  auto length = canonical(combine(ast::Operator::Sub, end, begin, at).value).as_int();
  if (!length || *length < 1 || (*length - 1) / step >= most_lanes) {
    type_error(
        at, "buffer.slice",
        fmt::format("found a slice of {} elements; expected a number known when the text is read, from "
                    "1 to {}",
                    length ? std::to_string(*length) : "unknown", most_lanes));
  }
  return ramp(begin, {int_literal(DType::Int32, step, at), true}, (*length - 1) / step + 1, at);
}

std::vector<Scalar> ScalarReader::read_indices(const Buffer& buffer, const ast::Subscript& subscript,
                                               Span at) {
  std::vector<Scalar> indices;
  const std::vector<const ast::Expr*> items = items_of(subscript);
  auto* empty = items.size() == 1 ? items[0]->as<ast::TupleValue>() : nullptr;
  if (!(empty && empty->items.empty())) {
    for (const ast::Expr* each : items) {
      const ast::Expr& item = *each;
      if (auto all = several(item)) {
        indices.insert(indices.end(), all->begin(), all->end());
        continue;
      }
      auto* slice = item.as<ast::Slice>();
      const std::size_t i = indices.size();
      if (slice && i >= buffer.shape().size()) {
        type_error(item.span, "buffer.slice",
                   fmt::format("found a slice behind the last dimension of {}", printable(buffer.name())));
      }
      Scalar index = slice ? slice_index(*slice, buffer.shape()[i], item.span) : value(item);
      expect_index(index, item.span);
      if (any_vectors() && lanes_of(index, item.span) > 1) {
        for (const Scalar& earlier : indices) {
          if (lanes_of(earlier, item.span) > 1)
            type_error(item.span, "buffer.slice", "found a second vector among the indices; expected one");
        }
      }
      indices.push_back(std::move(index));
    }
  }
  if (static_cast<int>(indices.size()) != buffer.rank()) {
    std::vector<DiagnosticNote> notes{
        {buffer.span(), fmt::format("{} has rank {}", printable(buffer.name()), buffer.rank())}};
    const auto rank = static_cast<std::size_t>(buffer.rank());
    if (rank > 0 && indices.size() > rank && subscript.items.size() == indices.size())
      notes.push_back(
          remove_this({at.file, subscript.items[rank - 1]->span.end, subscript.items.back()->span.end}));
    if (indices.size() < rank && subscript.items.size() == indices.size())
      for (DiagnosticNote& note : missing_indices(scope_.index_names(), subscript, rank - indices.size()))
        notes.push_back(std::move(note));
    fail(ErrorClass::Type, at, "buffer.rank",
         fmt::format("found {} for {}; expected {}", counted(indices.size(), "index", "indices"),
                     printable(buffer.name()), buffer.rank()),
         std::move(notes));
  }
  return indices;
}

std::vector<Scalar> ScalarReader::read_list(const ast::Expr& expr) {
  std::vector<Scalar> result;
  auto read_all = [&](const std::vector<ast::ExprPtr>& items) {
    for (const ast::ExprPtr& item : items) {
      if (auto all = item->as<ast::Starred>() ? several(*item) : std::nullopt)
        result.insert(result.end(), all->begin(), all->end());
      else
        result.push_back(read(*item));
    }
  };
  if (auto* tuple = expr.as<ast::TupleValue>()) {
    read_all(tuple->items);
  } else if (auto* list = expr.as<ast::ListValue>()) {
    read_all(list->items);
  } else if (auto* numbers = expr.as<ast::NumberListValue>(); numbers && numbers->reals.empty()) {
    for (std::int64_t value : numbers->integers)
      result.push_back(int_literal(plain_integer_, value, expr.span));
  } else if (auto all = several(expr)) {
    result = *all;
  } else {
    result.push_back(read(expr));
  }
  if (result.size() > limits().max_rank) {
    fail(ErrorClass::ResourceLimit, expr.span, "limit.rank",
         fmt::format("found {} dimensions; expected at most {}, raise --max-rank", result.size(),
                     limits().max_rank));
  }
  return result;
}

ScalarOperand ScalarReader::name(const ast::Expr& expr, const std::string& id) {
  for (auto let = lets_.open.rbegin(); let != lets_.open.rend(); ++let)
    if (let->first == id) return {use(*let->second.as_var(), expr.span)};
  ScalarMeaning meaning = scope_.find(id, expr.span);
  if (auto* scalar = std::get_if<Scalar>(&meaning)) {
    if (!scalar->defined()) throw ReadContext::Silent{};
    if (auto var = scalar->as_var()) return {use(*var, expr.span)};
    return {*scalar};
  }
  if (auto* buffer = std::get_if<Buffer>(&meaning)) {
    fail(ErrorClass::Type, expr.span, "buffer.value",
         fmt::format("found the buffer '{}' as a value; expected an element of it", printable(id)),
         {{buffer->span(), "it is declared here"}});
  }
  if (auto* reason = std::get_if<std::string>(&meaning)) type_error(expr.span, "name.use", *reason);
  if (std::get_if<std::vector<Scalar>>(&meaning)) {
    type_error(
        expr.span, "name.several",
        fmt::format("found '{0}', which stands for several loop variables, as a value; expected one of "
                    "them, such as {0}[0]",
                    printable(id)));
  }
  if (context_.is_script_name(id)) fail_script_name(id, expr.span, true);
  refuse_python_name(context_, id, expr.span);
  fail_unknown_name(id, expr.span, scope_.names());
}

namespace {

// x.shape[0], x.shape[-1] of a tensor; nothing for another subscript.
std::optional<ScalarOperand> dimension_of_shape(ScalarScope& scope, const ast::Subscript& subscript) {
  const auto* shape = subscript.object->as<ast::Attribute>();
  const std::string* tensor = shape && shape->name == "shape" ? ast::name_of(*shape->object) : nullptr;
  const std::string* by_name = ast::name_of(*subscript.object);
  if ((!tensor && !by_name) || subscript.items.size() != 1) return std::nullopt;
  const ast::Expr& written = *subscript.items[0];
  const auto* minus = written.as<ast::Prefix>();
  const bool negative = minus && minus->op == ast::PrefixOperator::Minus;
  const auto* index = (negative ? *minus->operand : written).as<ast::IntValue>();
  if (!index) return std::nullopt;
  const std::int64_t axis = negative ? -index->value : index->value;
  if (by_name) {
    Scalar found = scope.dimension_in(*by_name, axis);
    return found.defined() ? std::optional(ScalarOperand{std::move(found)}) : std::nullopt;
  }
  if (Scalar found = scope.dimension_of(*tensor, axis); found.defined())
    return ScalarOperand{std::move(found)};
  type_error(
      subscript.object->span, "scalar.subscript",
      fmt::format("found a dimension of '{0}', which its type does not tell; give '{0}' a type with its "
                  "dimensions, as R.Tensor((\"n\", 4), \"float32\")",
                  printable(*tensor)));
}

}  // namespace

ScalarOperand ScalarReader::subscript(const ast::Expr& expr, const ast::Subscript& subscript) {
  if (auto item = item_of_several(subscript)) return *item;
  if (auto dimension = dimension_of_shape(scope_, subscript)) return *dimension;
  const ast::Expr* object = subscript.object.get();
  while (auto* inner = object->as<ast::Subscript>()) object = inner->object.get();
  const std::string* id = ast::name_of(*object);
  if (!id) {
    type_error(expr.span, "scalar.subscript",
               fmt::format("found a subscript of {}; expected one of a buffer", ast::describe(*object)));
  }
  ScalarMeaning meaning = scope_.find(*id, object->span);
  if (auto* buffer = std::get_if<Buffer>(&meaning)) {
    return {load(*buffer, read_indices(*buffer, subscript, expr.span), expr.span)};
  }
  if (std::holds_alternative<std::monostate>(meaning)) {
    if (context_.is_script_name(*id)) fail_script_name(*id, object->span);
    refuse_python_name(context_, *id, object->span);
    fail_unknown_name(*id, object->span, scope_.names());
  }
  if (auto* scalar = std::get_if<Scalar>(&meaning); scalar && !scalar->defined()) throw ReadContext::Silent{};
  type_error(object->span, "scalar.subscript",
             fmt::format("found a subscript of '{}', which is no buffer", printable(*id)));
}

ScalarOperand ScalarReader::prefix(const ast::Expr& expr, const ast::Prefix& prefix) {
  ScalarOperand value = operand(*prefix.operand);
  switch (prefix.op) {
    case ast::PrefixOperator::Plus:
      return value;
    case ast::PrefixOperator::Not:
      return {logical_not(value.value, expr.span)};
    case ast::PrefixOperator::Minus: {
      // As TVM has it: a product keeps the sign of a zero.
      return combine(ast::Operator::Mul, value, plain_number(-1, expr.span), expr.span);
    }
    case ast::PrefixOperator::Invert: {
      if (is_bool(value.value.dtype())) return {logical_not(value.value, expr.span)};
      if (!is_int(value.value.dtype())) {
        type_error(expr.span, "scalar.operator",
                   fmt::format("found '~' on {}; expected an integer", name_of(value.value.dtype())));
      }
      return {complement_of(value.value, expr.span)};
    }
  }
  return value;
}

DType ScalarReader::dtype_argument(const ast::Expr& expr) const {
  if (auto* attribute = expr.as<ast::Attribute>(); attribute && attribute->name == "dtype") {
    if (auto buffer = buffer_named(*attribute->object)) return buffer->dtype();
    if (const std::string* name = ast::name_of(*attribute->object)) {
      const ScalarMeaning meaning = scope_.find(*name, expr.span);
      if (auto* scalar = std::get_if<Scalar>(&meaning); scalar && scalar->defined() && !is_pointer(*scalar))
        return scalar->dtype();
    }
  }
  auto* name = expr.as<ast::StringValue>();
  if (!name)
    type_error(expr.span, "dtype.string",
               fmt::format("found {}; expected a dtype such as \"float32\"", ast::describe(expr)));
  return read_dtype(name->value, expr.span);
}

ScalarOperand ScalarReader::call(const ast::Expr& expr, const ast::Call& call) {
  // e.astype("float32")
  if (auto* attribute = call.callee->as<ast::Attribute>(); attribute && attribute->name == "astype") {
    if (call.arguments.size() != 1) type_error(expr.span, "scalar.arguments", "astype takes one dtype");
    DType dtype = dtype_argument(*call.arguments[0].value);
    return {cast(dtype, value(*attribute->object), expr.span)};
  }
  if (auto* attribute = call.callee->as<ast::Attribute>(); attribute && attribute->name == "vload")
    if (auto buffer = buffer_named(*attribute->object)) return vector_load(expr, *buffer, call);
  if (is_foreign(expr)) return foreign(expr, call);
  std::string name = context_.namespaces.canonical(*call.callee);
  if (name == "min" || name == "max" || name == "abs") name = "T." + name;
  if (name == "float" && call.arguments.size() == 1 && call.arguments[0].value->as<ast::StringValue>()) {
    ScalarOperand value = ScalarFunction(*this, name, expr, call).typed_literal(DType::Float32);
    return {value.value, true};
  }
  if (name.substr(0, 2) != "T.") {
    refuse_python_name(context_, name.substr(0, name.find('.')), call.callee->span);
    // x.size(0), len(x): PyTorch's and Python's words for a dimension.
    const auto* method = call.callee->as<ast::Attribute>();
    const bool size = method && method->name == "size" && call.arguments.size() == 1;
    const bool length = name == "len" && call.arguments.size() == 1;
    const std::string advice =
        size            ? fmt::format("write {}.shape[{}]", written_at(method->object->span),
                                      written_at(call.arguments[0].value->span))
        : length        ? fmt::format("write {}.shape[0]", written_at(call.arguments[0].value->span))
        : name == "arg" ? "write k = arg(…) before the function, and k here"
                        : "expected a function of T in a scalar expression";
    // np.exp, math.exp
    const std::string own = "T." + name.substr(name.rfind('.') + 1);
    std::vector<DiagnosticNote> notes;
    if (!size && !length && intrinsic_from_name(std::string_view(own).substr(2)))
      notes.push_back(write_here(call.callee->span, own));
    fail(ErrorClass::Type, call.callee->span, "scalar.call",
         fmt::format("found {}; {}", ast::describe(expr), advice), std::move(notes));
  }
  if (name == "T.BufferLoad" || name == "T.buffer_load") {
    const auto buffer = call.arguments.empty() ? std::nullopt : buffer_named(*call.arguments[0].value);
    if (!buffer)
      type_error(expr.span, "scalar.arguments", fmt::format("{} takes a buffer and indices", name));
    return vector_load(expr, *buffer, call, 1);
  }
  if (name == "T.Let") return let_expression(expr, call);
  return ScalarFunction(*this, name.substr(2), expr, call).read();
}

ScalarVar LetNames::variable(const std::string& name, DType dtype, Span span) {
  const bool around =
      std::any_of(open.begin(), open.end(), [&](const auto& let) { return let.first == name; });
  if (around) return {name, dtype, span};
  const auto found = known.find(name);
  if (found != known.end() && found->second.dtype() == dtype) return found->second;
  return known.insert_or_assign(name, ScalarVar(name, dtype, span)).first->second;
}

// T.Let(body, where={v: e}).
ScalarOperand ScalarReader::let_expression(const ast::Expr& expr, const ast::Call& call) {
  const ast::DictValue* where = nullptr;
  const ast::Expr* body = nullptr;
  for (const ast::Argument& argument : call.arguments) {
    if (argument.name == "where")
      where = argument.value->as<ast::DictValue>();
    else if (argument.name.empty() || argument.name == "body" || argument.name == "expr")
      body = argument.value.get();
  }
  if (!body || !where || where->items.empty() || call.arguments.size() != 2)
    type_error(expr.span, "scalar.let", "T.Let takes an expression and where={variable: value}");
  std::size_t outer = lets_.open.size();
  std::vector<Scalar> values;
  for (const auto& [key, given] : where->items) {
    const std::string* variable = ast::name_of(*key);
    if (!variable) {
      type_error(key->span, "scalar.let",
                 fmt::format("found {} as a variable of T.Let; expected a name", ast::describe(*key)));
    }
    Scalar bound = value(*given);
    values.push_back(bound);
    lets_.open.emplace_back(*variable, use(lets_.variable(*variable, bound.dtype(), key->span)));
  }
  Scalar result = value(*body);
  for (std::size_t i = values.size(); i-- > 0;)
    result = let(*lets_.open[outer + i].second.as_var(), values[i], result, expr.span);
  lets_.open.resize(outer);
  return {result};
}

}  // namespace relish
