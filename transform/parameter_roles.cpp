// A walk over the bindings that follows where each parameter goes. A value is "fixed" when it does not depend
// on data: parameters, constants, and what is computed from these alone. A role shows where a fixed value
// meets data, or where an operator has a place for it.
#include "transform/parameter_roles.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "ir/operators/op.h"

namespace relish {
namespace {

using FixedDims = std::vector<std::int64_t>;

// What a parameter has become on its way to its use.
enum class Form : std::uint8_t {
  Plain,    // itself, rearranged or scaled
  Shifted,  // with something fixed added: 1 + gamma, variance + epsilon
  Root,     // a square root, perhaps of a shifted one: the deviation to a variance
  Other,    // through some other function: exp(log_scale)
};

struct Origin {
  std::size_t parameter;
  Form form;
};

// Data that is the product of a parameter with other data, element by element: a sum over it makes the
// parameter a weight. The parameter's dims as they stand beside the product's.
struct Product {
  std::size_t parameter;
  FixedDims dims;
};

struct Tracked {
  bool fixed = false;
  std::vector<Origin> origins;  // of a fixed value: the parameters in it
  std::vector<Tracked> fields;  // of a tuple whose fields are known
  std::vector<Product> products;
};

struct FixedPlace {
  std::string_view op;
  std::size_t argument;
  ParameterRole role;
};
constexpr FixedPlace places[] = {
    {"nn.batch_norm", 1, ParameterRole::Scale},     {"nn.batch_norm", 2, ParameterRole::Offset},
    {"nn.batch_norm", 3, ParameterRole::Offset},    {"nn.batch_norm", 4, ParameterRole::Scale},
    {"nn.layer_norm", 1, ParameterRole::Scale},     {"nn.layer_norm", 2, ParameterRole::Offset},
    {"nn.group_norm", 1, ParameterRole::Scale},     {"nn.group_norm", 2, ParameterRole::Offset},
    {"nn.instance_norm", 1, ParameterRole::Scale},  {"nn.instance_norm", 2, ParameterRole::Offset},
    {"nn.rms_norm", 1, ParameterRole::Scale},       {"nn.prelu", 1, ParameterRole::Slope},
    {"linear", 2, ParameterRole::Offset},           {"nn.bias_add", 1, ParameterRole::Offset},
    {"ewise_fma", 0, ParameterRole::Scale},         {"ewise_fma", 1, ParameterRole::Scale},
    {"ewise_fma", 2, ParameterRole::Offset},        {"index_tensor", 0, ParameterRole::Embedding},
    {"gather_nd", 0, ParameterRole::Embedding},     {"gather_elements", 0, ParameterRole::Embedding},
    {"nn.attention_bias", 3, ParameterRole::Offset}};

// Sums of products: which dimension of an argument is summed over, which stays. Negative: from the end.
struct SummedPlace {
  std::string_view op;
  std::size_t argument;
  std::size_t summed_from_end, kept_from_end;
};
constexpr SummedPlace sums[] = {{"matmul", 0, 1, 2}, {"matmul", 1, 2, 1},   {"linear", 0, 1, 2},
                                {"linear", 1, 1, 2}, {"nn.dense", 0, 1, 2}, {"nn.dense", 1, 1, 2}};

// The first argument as it is, its elements elsewhere, or some of them.
constexpr std::string_view rearranging[] = {"permute_dims",
                                            "reshape",
                                            "reshape_like",
                                            "expand_dims",
                                            "squeeze",
                                            "flatten",
                                            "nn.batch_flatten",
                                            "astype",
                                            "wrap_param",
                                            "broadcast_to",
                                            "broadcast_to_like",
                                            "split",
                                            "strided_slice",
                                            "dynamic_strided_slice",
                                            "slice_like",
                                            "repeat",
                                            "tile",
                                            "flip",
                                            "copy",
                                            "concat",
                                            "stack",
                                            "layout_transform",
                                            "negative",
                                            "nn.pad",
                                            "tril",
                                            "triu",
                                            "nn.dropout",
                                            "to_vdevice",
                                            "hint_on_device",
                                            "builtin.stop_lift_params",
                                            "grad.start_checkpoint",
                                            "grad.end_checkpoint"};

template <class Table>
bool listed(const Table& table, std::string_view name) {
  return std::find(std::begin(table), std::end(table), name) != std::end(table);
}

bool is_elementwise_pair(std::string_view op) {
  constexpr std::string_view pairs[] = {"add",   "subtract", "multiply", "divide",
                                        "power", "maximum",  "minimum"};
  return listed(pairs, op);
}

class UseFinder {
 public:
  UseFinder(const Module& module, std::size_t parameters) : module_(module), uses_(parameters) {}

  std::vector<ParameterUse> find(const Function& function, const std::vector<std::string>& names) {
    for (const Var& param : function.params) {
      Tracked value;
      const auto found = std::find(names.begin(), names.end(), param.name());
      if (found != names.end()) {
        value.fixed = true;
        value.origins = {{static_cast<std::size_t>(found - names.begin()), Form::Plain}};
      }
      values_.insert_or_assign(param.id(), std::move(value));
    }
    walk(function.blocks);
    for (const Var& param : function.params) {
      const auto found = std::find(names.begin(), names.end(), param.name());
      if (found == names.end()) continue;
      ParameterUse& use = uses_[static_cast<std::size_t>(found - names.begin())];
      if (use.role == ParameterRole::Unknown) use.fans = fans_of_shape(param);
    }
    return std::move(uses_);
  }

 private:
  // A program may call functions that call functions, and so on, more often than anybody can wait for; what
  // lies behind so many bindings tells no role.
  static constexpr std::size_t most_bindings = 1'000'000;

  Fans fans_of_shape(const Var& param) const {
    const std::optional<FixedDims> dims = dims_of(Expr(param));
    if (!dims || dims->size() < 2) return {};
    if (dims->size() == 2) return {dims->front(), dims->back()};
    Fans fans{(*dims)[1], (*dims)[0]};
    for (std::size_t d = 2; d < dims->size(); ++d) {
      fans.in *= (*dims)[d];
      fans.out *= (*dims)[d];
    }
    return fans;
  }

  void note(const Tracked& value, ParameterRole role, Fans fans = {}) {
    for (const Origin& origin : value.origins) note(origin.parameter, role, fans);
    for (const Tracked& field : value.fields) note(field, role, fans);
  }
  void note(std::size_t parameter, ParameterRole role, Fans fans = {}) {
    if (role > uses_[parameter].role) uses_[parameter] = {role, fans};
  }

  // The sizes of a tensor; none when they are not all known.
  std::optional<FixedDims> dims_of(const Expr& expr) const {
    const TensorType* type = expr.type().tensor();
    if (!type || !type->shape) return std::nullopt;
    FixedDims dims;
    for (const Scalar& dim : *type->shape) {
      const std::optional<std::int64_t> size = substitute(dim, sizes_).as_int();
      if (!size) return std::nullopt;
      dims.push_back(*size);
    }
    return dims;
  }
  static std::size_t rank_of(const Expr& expr) {
    const TensorType* type = expr.type().tensor();
    return type && type->rank > 0 ? static_cast<std::size_t>(type->rank) : 0;
  }

  Tracked value_of(const Expr& expr) const {
    Tracked result;
    if (const Var* var = expr.as_var()) {
      const auto found = values_.find(var->id());
      return found == values_.end() ? result : found->second;
    }
    if (const auto* literal = expr.as<TupleExpr>()) {
      result.fixed = true;
      for (const Expr& field : literal->fields) {
        result.fields.push_back(value_of(field));
        result.fixed = result.fixed && result.fields.back().fixed;
      }
      return result;
    }
    result.fixed = expr.as<Constant>() || expr.as<ShapeLiteral>() || expr.as<ScalarValueExpr>() ||
                   expr.as<StringLiteral>() || expr.as<DTypeLiteral>();
    return result;
  }

  void walk(const std::vector<BindingBlock>& blocks) {
    for (const BindingBlock& block : blocks) {
      for (const Binding& binding : block.bindings) {
        if (++bindings_ > most_bindings) return;
        const Expr& value = binding.value();
        if (const auto* nested = value.as<FunctionExpr>())
          functions_.insert_or_assign(binding.var().id(), nested->function);
        values_.insert_or_assign(binding.var().id(), visit(value));
      }
    }
  }

  Tracked visit(const Expr& expr) {
    if (const auto* call = expr.as<OpCall>()) return visit_operator(*call, expr);
    if (const auto* call = expr.as<FunctionCall>()) return visit_call(*call);
    if (const auto* field = expr.as<TupleGet>()) {
      Tracked whole = value_of(field->tuple);
      const auto index = static_cast<std::size_t>(field->index);
      return index < whole.fields.size() ? whole.fields[index] : whole;
    }
    if (const auto* branches = expr.as<If>()) {
      walk(branches->then_region->blocks);
      walk(branches->else_region->blocks);
      return {};
    }
    if (const auto* loop = expr.as<Loop>()) {
      if (loop->condition) enter(*loop->condition, loop->initial);
      enter(*loop->body, loop->initial);
      return {};
    }
    return value_of(expr);
  }

  // What a loop carries is data, but for what stays as it was before the loop.
  void enter(const Region& region, const std::vector<Expr>& initial) {
    for (std::size_t i = 0; i < region.params.size() && i < initial.size(); ++i) {
      const Var* next = i < region.results.size() ? region.results[i].as_var() : nullptr;
      const bool kept = next && *next == region.params[i];
      values_.insert_or_assign(region.params[i].id(), kept ? value_of(initial[i]) : Tracked{});
    }
    walk(region.blocks);
  }

  Tracked visit_call(const FunctionCall& call) {
    FunctionPtr callee;
    if (const auto* global = call.callee.as<GlobalRef>()) callee = module_.function(global->name);
    if (const Var* var = call.callee.as_var())
      if (const auto found = functions_.find(var->id()); found != functions_.end()) callee = found->second;
    const bool recursive = callee && std::find(active_.begin(), active_.end(), callee.get()) != active_.end();
    if (!callee || recursive || callee->params.size() != call.args.size()) return {};
    for (std::size_t i = 0; i < call.args.size(); ++i) {
      const Var& param = callee->params[i];
      match_sizes(param.type(), call.args[i]);
      values_.insert_or_assign(param.id(), value_of(call.args[i]));
    }
    active_.push_back(callee.get());
    walk(callee->blocks);
    active_.pop_back();
    return value_of(callee->result);
  }

  // The sizes that an argument gives the symbols of its parameter's type.
  void match_sizes(const Type& wanted, const Expr& argument) {
    const TensorType* type = wanted.tensor();
    const std::optional<FixedDims> dims = dims_of(argument);
    if (!type || !type->shape || !dims || dims->size() != type->shape->size()) return;
    for (std::size_t d = 0; d < dims->size(); ++d)
      if (const auto var = (*type->shape)[d].as_var()) sizes_.insert_or_assign(var->id(), Scalar((*dims)[d]));
  }

  Tracked visit_operator(const OpCall& call, const Expr& result) {
    const std::string_view name = call.op->name;
    std::vector<Tracked> args;
    bool fixed = !name.starts_with("random.");
    for (const Expr& arg : call.args) {
      args.push_back(value_of(arg));
      fixed = fixed && args.back().fixed;
    }
    note_places(call, args);
    note_convolution(call, args);
    if (name == "einsum") note_einsum(call, args);
    if (is_elementwise_pair(name) && args.size() == 2) return visit_pair(call, args, result);
    if (name == "sum" && !args.empty()) note_summed_products(call, args[0]);
    if (name == "take" && args.size() == 2) return visit_take(call, std::move(args));
    if (!fixed) return {};
    Tracked made;
    made.fixed = true;
    if (args.empty()) return made;
    if (listed(rearranging, name)) {
      made.origins = origins_in(args[0]);
    } else {
      const bool root = name == "sqrt" || name == "rsqrt";
      for (const Tracked& arg : args)
        for (Origin origin : origins_in(arg)) {
          origin.form = root && origin.form != Form::Other ? Form::Root : Form::Other;
          made.origins.push_back(origin);
        }
    }
    return made;
  }

  static std::vector<Origin> origins_in(const Tracked& value) {
    std::vector<Origin> result = value.origins;
    for (const Tracked& field : value.fields) {
      const std::vector<Origin> inner = origins_in(field);
      result.insert(result.end(), inner.begin(), inner.end());
    }
    return result;
  }

  void note_places(const OpCall& call, const std::vector<Tracked>& args) {
    for (const FixedPlace& place : places)
      if (place.op == call.op->name && place.argument < args.size() &&
          (place.role != ParameterRole::Embedding || rank_of(call.args[place.argument]) >= 2))
        note(args[place.argument], place.role, row_fans(call.args[place.argument]));
    for (const SummedPlace& place : sums) {
      if (place.op != call.op->name || place.argument >= args.size()) continue;
      const std::optional<FixedDims> dims = dims_of(call.args[place.argument]);
      if (!dims || dims->empty()) continue;
      Fans fans;
      if (dims->size() == 1) {
        fans.in = dims->front();
      } else {
        fans.in = (*dims)[dims->size() - place.summed_from_end];
        fans.out = (*dims)[dims->size() - place.kept_from_end];
      }
      note(args[place.argument], ParameterRole::Weight, fans);
    }
  }

  // Of a table of rows, as PyTorch counts them.
  Fans row_fans(const Expr& table) const {
    const std::optional<FixedDims> dims = dims_of(table);
    if (!dims || dims->size() < 2) return {};
    return {dims->back(), dims->front()};
  }

  // The letters of the layout say which dimension counts inputs, outputs and the places of the window.
  void note_convolution(const OpCall& call, const std::vector<Tracked>& args) {
    const Attribute* layout = find_attribute(call.attributes, "kernel_layout");
    const std::string* text = layout ? layout->as<std::string>() : nullptr;
    if (!text || args.size() < 2) return;
    const std::optional<FixedDims> dims = dims_of(call.args[1]);
    if (!dims) return;
    Fans fans;
    std::size_t d = 0;
    for (const char letter : *text) {
      if (letter >= '0' && letter <= '9') continue;
      if (d == dims->size()) return;
      const std::int64_t size = (*dims)[d++];
      if (letter != 'O' && letter != 'o') fans.in *= size;
      if (letter != 'I' && letter != 'i') fans.out *= size;
    }
    note(args[1], ParameterRole::Weight, fans);
  }

  void note_einsum(const OpCall& call, const std::vector<Tracked>& args) {
    const Attribute* subscripts = find_attribute(call.attributes, "subscripts");
    const std::string* text = subscripts ? subscripts->as<std::string>() : nullptr;
    const auto* operands = call.args.empty() ? nullptr : call.args[0].as<TupleExpr>();
    if (!text || !operands || args[0].fields.size() != operands->fields.size()) return;
    std::vector<std::string> terms(1);
    std::optional<std::string> kept;
    for (const char c : *text) {
      if (c == '.') return;  // dimensions without labels
      if (c == '>') kept.emplace();
      if (c == ',') terms.emplace_back();
      if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) (kept ? *kept : terms.back()) += c;
    }
    const auto count = [&](char label) {
      std::ptrdiff_t times = 0;
      for (const std::string& term : terms) times += std::count(term.begin(), term.end(), label);
      return times;
    };
    for (std::size_t i = 0; i < terms.size() && i < operands->fields.size(); ++i) {
      const std::optional<FixedDims> dims = dims_of(operands->fields[i]);
      if (!dims || dims->size() != terms[i].size()) continue;
      Fans fans;
      for (std::size_t d = 0; d < dims->size(); ++d) {
        const char label = terms[i][d];
        const bool stays = kept ? kept->find(label) != std::string::npos : count(label) == 1;
        if (!stays) fans.in *= (*dims)[d];
        // A label of the result that other operands have too counts separate sums, not more of one.
        if (stays && count(label) == 1) fans.out *= (*dims)[d];
      }
      note(args[0].fields[i], ParameterRole::Weight, fans);
    }
  }

  Tracked visit_take(const OpCall& call, std::vector<Tracked> args) {
    // A chosen layer of stacked parameters is still a parameter.
    if (args[0].fixed && args[1].fixed && rank_of(call.args[1]) == 0) return std::move(args[0]);
    if (rank_of(call.args[0]) >= 2) note(args[0], ParameterRole::Embedding, row_fans(call.args[0]));
    Tracked made;
    made.fixed = args[0].fixed && args[1].fixed;
    return made;
  }

  Tracked visit_pair(const OpCall& call, const std::vector<Tracked>& args, const Expr& result) {
    const std::string_view name = call.op->name;
    const bool sum = name == "add" || name == "subtract" || name == "maximum" || name == "minimum";
    Tracked made;
    if (args[0].fixed && args[1].fixed) {
      made.fixed = true;
      for (const Tracked& arg : args) {
        for (Origin origin : arg.origins) {
          if (sum && origin.form == Form::Plain) origin.form = Form::Shifted;
          if (name == "power" && origin.form != Form::Other) origin.form = Form::Root;
          made.origins.push_back(origin);
        }
      }
      return made;
    }
    for (std::size_t i = 0; i < 2; ++i) {
      if (!args[i].fixed) continue;
      for (const Origin& origin : args[i].origins) {
        // 1 + gamma is 1 where gamma is 0; a shifted divisor is a variance with its epsilon.
        const bool centred = origin.form == Form::Other || (origin.form == Form::Shifted && name != "divide");
        note(origin.parameter, sum || centred ? ParameterRole::Offset : ParameterRole::Scale);
        if (name == "multiply") add_product(origin.parameter, call.args[i], result, made);
      }
    }
    return made;
  }

  void add_product(std::size_t parameter, const Expr& factor, const Expr& result, Tracked& into) const {
    const std::optional<FixedDims> dims = dims_of(factor);
    const std::size_t rank = rank_of(result);
    if (!dims || dims->size() > rank) return;
    Product product{parameter, FixedDims(rank - dims->size(), 1)};
    product.dims.insert(product.dims.end(), dims->begin(), dims->end());
    into.products.push_back(std::move(product));
  }

  void note_summed_products(const OpCall& call, const Tracked& value) {
    for (const Product& product : value.products) {
      std::vector<bool> summed(product.dims.size(), true);
      if (const Attribute* axis = find_attribute(call.attributes, "axis"); axis && !axis->is_none()) {
        summed.assign(product.dims.size(), false);
        for (std::int64_t a : int_list(*axis)) {
          if (a < 0) a += static_cast<std::int64_t>(summed.size());
          if (a >= 0 && a < static_cast<std::int64_t>(summed.size()))
            summed[static_cast<std::size_t>(a)] = true;
        }
      }
      Fans fans;
      for (std::size_t d = 0; d < product.dims.size(); ++d)
        (summed[d] ? fans.in : fans.out) *= product.dims[d];
      if (fans.in > 1) note(product.parameter, ParameterRole::Weight, fans);
    }
  }

  const Module& module_;
  std::vector<ParameterUse> uses_;
  std::unordered_map<std::uint64_t, Tracked> values_;
  std::unordered_map<std::uint64_t, FunctionPtr> functions_;  // nested ones, by the variable that they bind
  std::vector<const Function*> active_;
  ScalarMap sizes_;
  std::size_t bindings_ = 0;
};

}  // namespace

std::vector<ParameterUse> parameter_uses(const Module& module, const Function& function,
                                         const std::vector<std::string>& names) {
  return UseFinder(module, names.size()).find(function, names);
}

}  // namespace relish
