// Steps as text.
#include "jit/steps/print_steps.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/operators/op.h"
#include "ir/printer/printer.h"
#include "support/overloaded.h"

namespace relish::jit {
namespace {

std::string printed_scalars(const std::vector<Scalar>& scalars) {
  std::vector<std::string> texts;
  for (const Scalar& each : scalars) texts.push_back(print(each));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string printed_names(const std::vector<ScalarVar>& vars) {
  std::vector<std::string> names;
  for (const ScalarVar& var : vars) names.push_back(var.name());
  return fmt::format("{}", fmt::join(names, ", "));
}

class Printer {
 public:
  explicit Printer(const FunctionSteps& function) : function_(function) {}

  std::string run() {
    std::vector<std::string> params;
    for (const ValueTree& param : function_.params) params.push_back(made(param));
    text_ = fmt::format("function {}({})", function_.name, fmt::join(params, ", "));
    if (function_.owns_results) text_ += " owns its results";
    if (function_.recursive) text_ += ", may call itself";
    text_ += at(function_.span) + "\n";
    for (PlaceId id = 0; id < function_.places.size(); ++id)
      if (function_.places[id].origin == Place::Constant) line(made(id) + " is constant", {});
    list(function_.steps);
    return std::move(text_);
  }

 private:
  static std::string at(Span span) {
    const SourceFile* source = Sources::instance().find(span.file);
    if (!source) return {};
    const LineColumn place = source->position(span.begin);
    return fmt::format("  @{}:{}", place.line, place.column);
  }

  void line(const std::string& text, Span span) {
    text_ += std::string(indent_, ' ') + text + at(span) + "\n";
  }

  // The place with its type, as where it is made.
  std::string made(PlaceId id) const {
    const Place& place = function_.places[id];
    switch (place.kind) {
      case ValueTree::TensorLeaf: {
        std::string dims = printed_scalars(place.dims);
        if (place.origin == Place::Constant)
          dims = fmt::format("{}", fmt::join(place.constant.shape(), ", "));
        if (place.origin != Place::Constant && place.origin != Place::Temporary)
          dims = fmt::format(
              "{}", fmt::join(std::vector<std::string>(static_cast<std::size_t>(place.rank), "_"), ", "));
        return fmt::format("%{}: {}[{}]", id, name_of(place.dtype), dims);
      }
      case ValueTree::ShapeLeaf:
        return fmt::format("%{}: shape of {}", id, place.rank);
      case ValueTree::ScalarLeaf:
        return fmt::format("%{}: {}", id, name_of(place.dtype));
      case ValueTree::BoxLeaf:
        return fmt::format("%{}: box", id);
      case ValueTree::TextLeaf:
      case ValueTree::Tuple:
        break;
    }
    return fmt::format("%{}", id);
  }

  template <class Leaf>
  static std::string tree(const ValueTree& value, const Leaf& leaf) {
    if (value.kind == ValueTree::TextLeaf) return fmt::format("\"{}\"", value.text);
    if (value.is_leaf()) return leaf(value.place);
    std::vector<std::string> fields;
    for (const ValueTree& field : value.fields) fields.push_back(tree(field, leaf));
    return fmt::format("({})", fmt::join(fields, ", "));
  }
  static std::string used(const ValueTree& value) {
    return tree(value, [](PlaceId id) { return fmt::format("%{}", id); });
  }
  std::string made(const ValueTree& value) const {
    return tree(value, [&](PlaceId id) { return made(id); });
  }
  static std::string used(const std::vector<ValueTree>& values) {
    std::vector<std::string> texts;
    for (const ValueTree& value : values) texts.push_back(used(value));
    return fmt::format("{}", fmt::join(texts, ", "));
  }

  // Which places a call gives up.
  static std::string donated_to(const std::vector<ValueTree>& args, const step::Donated& donated) {
    std::vector<std::string> given;
    std::size_t next = 0;
    for (const ValueTree& arg : args)
      for_each_leaf(arg, [&](const ValueTree& leaf) {
        if (leaf.has_storage() && next < donated.size() && donated[next])
          given.push_back(fmt::format("%{}", leaf.place));
        next += leaf.has_storage() ? 1 : 0;
      });
    return given.empty() ? "" : fmt::format(" giving up {}", fmt::join(given, ", "));
  }

  std::string call(std::string_view kind, std::string_view name, const auto& call) const {
    return fmt::format("{} = {} {}({})", made(call.result), kind, name, used(call.args));
  }

  void list(const StepList& steps) {
    indent_ += 2;
    for (const Step& each : steps) step(each);
    indent_ -= 2;
  }

  std::string fault(const std::shared_ptr<const step::OperatorFault>& told) const {
    if (!told) return "";
    return fmt::format(" or fault of {}({})", short_name_of(*told->call.as<OpCall>()->op), used(told->args));
  }

  void kernel(const step::CallKernel& n, Span span) {
    std::vector<std::string> args;
    for (const PlaceId arg : n.args) args.push_back(fmt::format("%{}", arg));
    std::string text = fmt::format("kernel {}({})", n.callee->name, fmt::join(args, ", "));
    if (n.result) text = fmt::format("{} = {}", made(*n.result), text);
    if (copies_rows_ahead(n, function_.places)) text += " unless its rows are there";
    line(text + fault(n.fault), span);
    if (n.fault) list(n.fault->steps);
  }

  void branch(const step::Branch& n, Span span) {
    line(fmt::format("{} = if %{}", made(n.result), n.condition), span);
    list(n.then);
    line(fmt::format("gives {}", used(n.then_value)), {});
    line("else", {});
    list(n.otherwise);
    line(fmt::format("gives {}", used(n.otherwise_value)), {});
  }

  void loop(const step::Loop& n, Span span) {
    std::string head = fmt::format("{} = loop {} from {}", made(n.result), made(n.carried), used(n.initial));
    if (n.range) {
      head += fmt::format(" for {} in range(%{}, %{}, %{})", n.range->index.name(), n.range->begin,
                          n.range->end, n.range->step);
    }
    line(head, span);
    if (n.goes_on) {
      list(n.condition);
      line(fmt::format("while %{}", *n.goes_on), {});
    }
    list(n.body);
    line(fmt::format("next {}", used(n.next)), {});
  }

  void step(const Step& given) {
    const auto say = [&](const std::string& text) { line(text, given.span); };
    visit_kind(
        Overloaded{
            [&](const step::Poll& n) { say(fmt::format("poll: {}", n.bound.name())); },
            [&](const step::BindSize& n) {
              say(n.dim == step::BindSize::scalar
                      ? fmt::format("size {} = %{}", n.symbol.name(), n.place)
                      : fmt::format("size {} = dim {} of %{}", n.symbol.name(), n.dim, n.place));
            },
            [&](const step::CheckShape& n) {
              say(fmt::format("check {}: %{} is {}", n.what, n.place, print(n.type)));
            },
            [&](const step::CheckSize& n) {
              say(fmt::format("check {} %{} is {}", n.what, n.place, n.symbol.name()));
            },
            [&](const step::CheckValue& n) {
              say(fmt::format("{} = check {}: {} is {} with ({}) = {} for ({})", made(n.sizes), n.what,
                              used(n.value), print(n.type), printed_names(n.known_symbols), used(n.known),
                              printed_names(n.found_symbols)));
            },
            [&](const step::ComputeShape& n) {
              say(fmt::format("{} = shape [{}]", made(n.result), printed_scalars(n.dims)));
            },
            [&](const step::ComputeScalar& n) {
              say(fmt::format("{} = scalar {}", made(n.result), print(n.value)));
            },
            [&](const step::TakeArena& n) {
              std::vector<std::string> slots;
              for (const std::vector<PlaceId>& slot : n.slots)
                slots.push_back(fmt::format("{}", fmt::join(slot, " ")));
              say(fmt::format("take arena of {}", fmt::join(slots, " | ")));
            },
            [&](const step::ReturnArena&) { say("return arena"); },
            [&](const step::Allocate& n) {
              const std::optional<std::size_t>& slot = function_.places[n.result].slot;
              say(fmt::format("{} = allocate{}{}{}", made(n.result), n.clear ? " zeros" : "",
                              slot ? fmt::format(" in slot {}", *slot) : "", fault(n.fault)));
              if (n.fault) list(n.fault->steps);
            },
            [&](const step::Copy& n) { say(fmt::format("copy %{} to %{}", n.from, n.to)); },
            [&](const step::Share& n) {
              say(fmt::format("{} = {} %{}", made(n.result), n.to_write ? "take" : "share", n.from));
            },
            [&](const step::Release& n) { say(fmt::format("release %{}", n.place)); },
            [&](const step::TakeOver& n) { say(fmt::format("{} = take over %{}", made(n.result), n.from)); },
            [&](const step::CallKernel& n) { kernel(n, given.span); },
            [&](const step::RowsAhead& n) {
              std::vector<std::string> sources;
              for (std::size_t i = 0; i < n.sources.size(); ++i)
                sources.push_back(fmt::format("%{}{}", n.sources[i], n.copied[i] ? " (copied)" : ""));
              say(fmt::format("ahead rows of {} by row %{} + 1 of %{}", fmt::join(sources, ", "), n.at,
                              n.table));
            },
            [&](const step::CallFunction& n) {
              say(call("call", n.callee->name, n) + donated_to(n.args, n.donated));
            },
            [&](const step::CallNative& n) { say(call("call native", n.name, n)); },
            [&](const step::CallMachine& n) { say(call("call machine", n.name, n)); },
            [&](const step::EvaluateOperator& n) {
              say(call("evaluate", short_name_of(*n.call.as<OpCall>()->op), n));
            },
            [&](const step::Convert& n) {
              say(fmt::format("{} = convert {} to {} for {}", made(n.result), used(n.from), print(n.type),
                              n.what));
            },
            [&](const step::Truth& n) { say(fmt::format("{} = truth of {}", made(n.result), used(n.from))); },
            [&](const step::MakeFunction& n) { say(call("function", n.callee->name, n)); },
            [&](const step::FixArguments& n) { say(call("fix", "", n)); },
            [&](const step::CallValue& n) { say(call("call value", "", n)); },
            [&](const step::Branch& n) { branch(n, given.span); },
            [&](const step::Loop& n) { loop(n, given.span); },
            [&](const step::Return& n) { say(fmt::format("return {}", used(n.value))); },
        },
        given);
  }

  const FunctionSteps& function_;
  std::string text_;
  std::size_t indent_ = 0;
};

}  // namespace

std::string print_steps(const FunctionSteps& function) { return Printer(function).run(); }

}  // namespace relish::jit
