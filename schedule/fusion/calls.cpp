// Making the prim_func of a group of calls.
#include "schedule/fusion/calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ir/calls/call_layout.h"
#include "ir/printer/printer.h"
#include "ir/printer/words.h"
#include "ir/rewriting/rewrite.h"

namespace relish {
namespace {

// Arguments in registers at once; a kernel of more would be slower than two.
constexpr std::size_t most_parameters = 40;

// A number that stands in the text instead of a tensor of one element.
std::optional<Scalar> literal_of(const Expr& arg) {
  const auto* constant = arg.as<Constant>();
  if (!constant || constant->value.size() != 1) return std::nullopt;
  const DType dtype = constant->value.dtype();
  if (is_bool(dtype)) return bool_literal(constant->value.get_int(0) != 0);
  if (!is_float(dtype)) return int_literal(dtype, constant->value.get_int(0));
  const double value = constant->value.get_double(0);
  if (value != value) return std::nullopt;  // the text does not tell one NaN from another
  return float_literal(dtype, value);
}

// Where a call takes an argument from.
struct Source {
  enum Kind { Input, Member, Literal, Number } kind;
  std::size_t index = 0;  // of an input or of the call whose result it is
  Scalar value;           // of a literal; of a scalar in terms of the caller's symbols
};

// How the calls are connected, and the text that tells it.
struct Wiring {
  std::vector<Expr> inputs;
  std::vector<std::vector<Source>> sources;  // by call, by argument
  std::vector<ScalarVar> symbols;            // of the caller, in order of first use
  std::string key;
  bool good = true;
};

class WiringReader {
 public:
  Wiring read(const std::vector<const FusibleCall*>& calls, const std::vector<bool>& kept) {
    std::unordered_map<std::uint64_t, std::size_t> members;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const FusibleCall& call = *calls[i];
      wiring_.key += fmt::format("{}@{}(", call.callee->function->name, kept[i]);
      wiring_.sources.emplace_back();
      for (const Expr& arg : call.call().args) {
        wiring_.sources.back().push_back(source(arg, members));
        wiring_.key += ',';
      }
      wiring_.key += ")->";
      type(call.result.type());
      members.emplace(call.result.id(), i);
    }
    return std::move(wiring_);
  }

 private:
  Source source(const Expr& arg, const std::unordered_map<std::uint64_t, std::size_t>& members) {
    const Var* var = arg.as_var();
    if (var) {
      if (const auto member = members.find(var->id()); member != members.end()) {
        wiring_.key += fmt::format("m{}", member->second);
        return {Source::Member, member->second, {}};
      }
    }
    if (const auto* number = arg.as<ScalarValueExpr>()) {
      dim(number->value);
      return {Source::Number, 0, number->value};
    }
    if (const auto literal = literal_of(arg)) {
      wiring_.key += print(*literal);
      return {Source::Literal, 0, *literal};
    }
    const std::uint64_t id = var ? var->id() : reinterpret_cast<std::uintptr_t>(&arg.node());
    if (!arg.type().tensor() || (!var && !arg.as<Constant>())) wiring_.good = false;
    const auto [known, fresh] = inputs_.emplace(std::pair(var != nullptr, id), wiring_.inputs.size());
    wiring_.key += fmt::format("i{}", known->second);
    if (fresh) {
      wiring_.inputs.push_back(arg);
      type(arg.type());
    }
    return {Source::Input, known->second, {}};
  }

  void type(const Type& type) {
    const TensorType* tensor = type.tensor();
    if (!tensor || !tensor->dtype || !tensor->shape || !tensor->vdevice.empty()) {
      wiring_.good = false;
      return;
    }
    wiring_.key += fmt::format(":{}", static_cast<int>(*tensor->dtype));
    for (const Scalar& each : *tensor->shape) {
      wiring_.key += '.';
      dim(each);
    }
  }

  // Symbols go by numbers: those of one name may be two.
  void dim(const Scalar& value) {
    if (const auto literal = value.as_int()) {
      wiring_.key += fmt::format("{}", *literal);
      return;
    }
    std::vector<ScalarVar> vars;
    collect_vars(value, vars);
    ScalarMap numbered;
    for (const ScalarVar& var : vars) {
      const auto [known, fresh] = symbols_.emplace(var.id(), wiring_.symbols.size());
      if (fresh) wiring_.symbols.push_back(var);
      numbered.emplace(var.id(), use(ScalarVar(fmt::format("s{}", known->second), var.dtype())));
    }
    wiring_.key += print(substitute(value, numbered));
  }

  Wiring wiring_;
  std::map<std::pair<bool, std::uint64_t>, std::size_t> inputs_;
  std::unordered_map<std::uint64_t, std::size_t> symbols_;
};

// Symbols that no shape of a parameter tells.
std::vector<ScalarVar> untold(const std::vector<ScalarVar>& symbols, const std::vector<Type>& types) {
  std::vector<ScalarVar> result;
  for (const ScalarVar& var : symbols) {
    const bool told = std::any_of(types.begin(), types.end(), [&](const Type& type) {
      const auto& shape = *type.tensor()->shape;
      return std::any_of(shape.begin(), shape.end(),
                         [&](const Scalar& dim) { return dim.as_var() == std::optional(var); });
    });
    if (!told) result.push_back(var);
  }
  return result;
}

std::vector<Type> types_of(const Wiring& wiring, const std::vector<const FusibleCall*>& calls,
                           const std::vector<bool>& kept) {
  std::vector<Type> types;
  for (const Expr& input : wiring.inputs) types.push_back(input.type());
  for (std::size_t i = 0; i < calls.size(); ++i)
    if (kept[i]) types.push_back(calls[i]->result.type());
  return types;
}

class FunctionMaker {
 public:
  FunctionMaker(const Wiring& wiring, const std::vector<const FusibleCall*>& calls,
                const std::vector<bool>& kept, ReadyContractions& contractions)
      : wiring_(wiring), calls_(calls), kept_(kept), contractions_(contractions) {}

  // Null when parameters and arguments are not seen to agree.
  std::shared_ptr<FusedCalls> make() {
    for (const ScalarVar& var : wiring_.symbols)
      symbols_.emplace(var.id(), use(ScalarVar(free_name(var.name()), var.dtype(), var.span())));
    PrimFunc function;
    for (const Expr& input : wiring_.inputs) {
      const Var* var = input.as_var();
      inputs_.push_back(buffer(var ? var->name() : "constant", input.type(), input.span()));
      function.params.push_back({inputs_.back()});
    }
    std::vector<Buffer> handed;
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      const Var& var = calls_[i]->result;
      results_.push_back(buffer(var.name(), var.type(), calls_[i]->value.span()));
      if (kept_[i])
        function.params.push_back({results_.back()});
      else
        handed.push_back(results_.back());
    }
    for (const ScalarVar& var : untold(wiring_.symbols, types_of(wiring_, calls_, kept_)))
      function.params.push_back({*symbols_.at(var.id()).as_var()});
    if (function.params.size() > most_parameters || !sizes_hold(handed)) return nullptr;
    temporaries_ = handed;
    for (std::size_t i = 0; i < calls_.size(); ++i)
      if (!add_stages(i)) return nullptr;
    if (stages_.size() > most_stages) return nullptr;
    const Span span = calls_.back()->value.span();
    BufferIds products;
    for (const Stage& stage : stages_)
      if (is_contraction(stage)) products.insert(stage.values.front().target.id());
    FusedBody body = fuse_stages(std::move(stages_), temporaries_, span, contractions_);
    // What one call hands to the next is not to be stored after all, but for a few numbers. Not those of
    // products: of all layers that share a weight they would be one kernel, and all it reads alive until
    // then.
    for (const Buffer& buffer : body.allocations)
      if ((!is_small(buffer) || products.contains(buffer.id())) && !body.on_tiles.contains(buffer.id()) &&
          std::find(handed.begin(), handed.end(), buffer) != handed.end())
        return nullptr;
    function.allocations = std::move(body.allocations);
    function.body = body.body;
    function.attributes = {{"noalias", true}};
    function.is_private = true;
    function.span = span;
    return std::make_shared<FusedCalls>(
        FusedCalls{std::make_shared<const PrimFunc>(std::move(function)), body.loops});
  }

 private:
  // A value of a size that cannot be is refused where it is made. So it is when it vanishes: its dimensions
  // are numbers or those of arguments and results, which exist, or it has as many elements as one of them.
  bool sizes_hold(const std::vector<Buffer>& handed) const {
    const auto exists = [&](const Scalar& dim) {
      return dim.as_int() || std::any_of(inputs_.begin(), inputs_.end(), [&](const Buffer& buffer) {
               return std::any_of(buffer.shape().begin(), buffer.shape().end(),
                                  [&](const Scalar& other) { return prove_equal(dim, other); });
             });
    };
    return std::all_of(handed.begin(), handed.end(), [&](const Buffer& buffer) {
      if (std::all_of(buffer.shape().begin(), buffer.shape().end(), exists)) return true;
      const Scalar size = product(buffer.shape());
      return std::any_of(inputs_.begin(), inputs_.end(),
                         [&](const Buffer& other) { return prove_equal(product(other.shape()), size); });
    });
  }

  std::string free_name(const std::string& wanted) {
    const std::string plain = prints_as_itself(wanted) ? wanted : "value";
    std::string name = plain;
    for (int suffix = 1; !taken_.insert(name).second; ++suffix) name = fmt::format("{}_{}", plain, suffix);
    return name;
  }

  Buffer buffer(const std::string& name, const Type& type, Span span) {
    std::vector<Scalar> shape;
    for (const Scalar& dim : *type.tensor()->shape) shape.push_back(substitute(dim, symbols_));
    return {free_name(name), *type.tensor()->dtype, std::move(shape), "global", span};
  }

  // The stages of a call in terms of the function's buffers and symbols.
  bool add_stages(std::size_t position) {
    const FusibleCall& call = *calls_[position];
    const PrimFunc& callee = *call.callee->function;
    const std::vector<ParamSource> layout = call_layout(callee, call.call(), call.value.span());
    ScalarMap scalars;
    BufferMap buffers;
    std::unordered_map<std::uint64_t, Scalar> literals;
    std::vector<std::pair<Buffer, std::vector<Scalar>>> agree;
    for (std::size_t i = 0; i < layout.size(); ++i) {
      const PrimParam& param = callee.params[i];
      const bool result = layout[i].kind == ParamSource::Result;
      const Source source =
          result ? Source{Source::Member, position, {}} : wiring_.sources[position][layout[i].index];
      if (const ScalarVar* scalar = param.scalar()) {
        if (source.kind != Source::Number) return false;
        scalars.insert_or_assign(scalar->id(), cast(scalar->dtype(), substitute(source.value, symbols_)));
        continue;
      }
      const Buffer& buffer = *param.buffer();
      if (source.kind == Source::Number) return false;
      if (source.kind == Source::Literal) {
        if (source.value.dtype() != buffer.dtype()) return false;
        literals.emplace(buffer.id(), source.value);
        for (const Scalar& dim : buffer.shape())
          if (dim.as_int() != 1) return false;
        continue;
      }
      const Buffer& given = source.kind == Source::Input ? inputs_[source.index] : results_[source.index];
      if (given.dtype() != buffer.dtype() || given.rank() != buffer.rank()) return false;
      buffers.emplace(buffer.id(), given);
      for (std::size_t d = 0; d < buffer.shape().size(); ++d)
        if (const auto var = buffer.shape()[d].as_var()) scalars.emplace(var->id(), given.shape()[d]);
      agree.emplace_back(buffer, given.shape());
    }
    for (const auto& [buffer, shape] : agree)
      for (std::size_t d = 0; d < shape.size(); ++d)
        if (!prove_equal(substitute(buffer.shape()[d], scalars), shape[d])) return false;
    for (const Buffer& buffer : callee.allocations) {
      std::vector<Scalar> shape;
      for (const Scalar& dim : buffer.shape()) shape.push_back(substitute(dim, scalars));
      temporaries_.emplace_back(free_name(buffer.name()), buffer.dtype(), std::move(shape), buffer.scope(),
                                buffer.span());
      buffers.emplace(buffer.id(), temporaries_.back());
    }
    for (const Stage& stage : call.callee->stages) {
      stages_.push_back(fresh_stage(stage, scalars, buffers));
      put_literals(stages_.back(), literals);
      if (stage.span == callee.span) at_call(stages_.back(), call.value.span());
    }
    return true;
  }

  static void put_literals(Stage& stage, const std::unordered_map<std::uint64_t, Scalar>& literals) {
    if (literals.empty()) return;
    const auto number = [&](const Scalar& part) -> std::optional<Scalar> {
      const auto* loaded = part.as<Load>();
      if (!loaded) return std::nullopt;
      const auto found = literals.find(loaded->buffer->id());
      return found == literals.end() ? std::nullopt : std::optional(found->second);
    };
    for (StageValue& value : stage.values) value.value = rewrite(value.value, number);
    if (stage.init.defined()) stage.init = rewrite(stage.init, number);
  }

  // A prim_func that was made for an operator stands for many calls; its statements here for this one.
  static void at_call(Stage& stage, Span span) {
    stage.span = span;
    for (StageValue& value : stage.values) value.span = span;
  }

  const Wiring& wiring_;
  const std::vector<const FusibleCall*>& calls_;
  const std::vector<bool>& kept_;
  ReadyContractions& contractions_;
  std::set<std::string> taken_{"T", "R", "I", "range", "float"};
  ScalarMap symbols_;  // of the caller: the function's own
  std::vector<Buffer> inputs_, results_, temporaries_;
  std::vector<Stage> stages_;
};

}  // namespace

std::shared_ptr<FusedCalls> CallFuser::fused(const std::vector<const FusibleCall*>& calls,
                                             const std::vector<bool>& kept) {
  const Wiring wiring = WiringReader().read(calls, kept);
  if (!wiring.good) return nullptr;
  const auto known = known_.find(wiring.key);
  if (known != known_.end()) return known->second;
  const auto made = FunctionMaker(wiring, calls, kept, contractions_).make();
  known_.emplace(wiring.key, made);
  return made;
}

std::shared_ptr<FusedCalls> CallFuser::with_function(const std::vector<const FusibleCall*>& calls,
                                                     const std::vector<bool>& kept) {
  const Wiring wiring = WiringReader().read(calls, kept);
  const std::shared_ptr<FusedCalls>& known = known_.at(wiring.key);
  if (!known->function) known->function = FunctionMaker(wiring, calls, kept, contractions_).make()->function;
  return known;
}

std::vector<Expr> CallFuser::arguments(const std::vector<const FusibleCall*>& calls,
                                       const std::vector<bool>& kept) {
  const Wiring wiring = WiringReader().read(calls, kept);
  std::vector<Expr> args = wiring.inputs;
  for (const ScalarVar& var : untold(wiring.symbols, types_of(wiring, calls, kept)))
    args.push_back(scalar_value(use(var), calls.back()->value.span()));
  return args;
}

}  // namespace relish
