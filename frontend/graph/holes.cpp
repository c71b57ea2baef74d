// A candidate is tried by making again what the hole stands in; nothing of it is kept.
#include "frontend/graph/holes.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/printer/printer.h"
#include "support/failure.h"
#include "support/fix.h"
#include "support/render.h"

namespace relish {
namespace {

constexpr std::size_t most_tries = 64;  // of candidates, for one hole
constexpr std::size_t most_told = 6;
constexpr int most_dimensions = 6;
// An extent that no text has: what takes it takes any.
constexpr std::int64_t any_extent = 1'000'003;

void collect_dims(const Type& type, std::vector<Scalar>& into) {
  if (const TensorType* tensor = type.tensor(); tensor && tensor->shape)
    into.insert(into.end(), tensor->shape->begin(), tensor->shape->end());
  if (const TupleType* tuple = type.tuple())
    for (const Type& field : tuple->fields) collect_dims(field, into);
}

bool is_var(const Expr& value, const Var& var) {
  return value.defined() && value.as_var() && *value.as_var() == var;
}

// The value with another one in the place of the variable, also within tuples that are written out; undefined
// when the variable is not in it.
Expr with_value(const Expr& value, const Var& var, const Expr& by) {
  if (is_var(value, var)) return by;
  const TupleExpr* written = value.defined() ? value.as<TupleExpr>() : nullptr;
  if (!written) return {};
  std::vector<Expr> fields = written->fields;
  bool any = false;
  for (Expr& field : fields) {
    const Expr changed = with_value(field, var, by);
    if (!changed.defined()) continue;
    field = changed;
    any = true;
  }
  return any ? tuple(std::move(fields), value.span()) : Expr();
}

Expr value_of_type(TensorType type) { return Var("_", Type(std::move(type))); }

}  // namespace

Expr Holes::add(const std::string& name, Span span) {
  Var var("?" + name, Type(TypeKind(ErrorType{})), false, span);
  holes_.push_back({name, span, var, std::nullopt, {}, {}});
  return var_ref(var, span);
}

const Holes::Hole* Holes::find(const Expr& value) const {
  const Var* var = holes_.empty() || !value.defined() ? nullptr : value.as_var();
  if (!var) return nullptr;
  const auto found =
      std::find_if(holes_.begin(), holes_.end(), [&](const Hole& hole) { return hole.var == *var; });
  return found == holes_.end() ? nullptr : &*found;
}

bool Holes::among(const std::vector<Expr>& values) const {
  return any() && std::any_of(values.begin(), values.end(), [&](const Expr& value) {
           const TupleExpr* written = value.defined() ? value.as<TupleExpr>() : nullptr;
           return is_hole(value) || (written && among(written->fields));
         });
}

void Holes::note_use(Hole& hole, const Use& use, std::size_t operand, bool in_tuple) const {
  if (operand >= use.kinds.size()) return;
  const auto& [kind, what] = use.kinds[operand];
  if (hole.words.empty()) hole.words = in_tuple ? "a tensor" : kind;
  std::string beside;
  const auto add_beside = [&](const Expr& value) {
    if (!value.defined() || value.type().is_error() || !(value.type().tensor() || value.as_var())) return;
    const Var* var = value.as_var();
    beside += fmt::format("{}{}{}", beside.empty() ? ", beside " : " and ",
                          var ? printable(var->name()) + ": " : "", print(value.type()));
  };
  for (const Expr& other : use.operands) {
    const TupleExpr* written = other.defined() ? other.as<TupleExpr>() : nullptr;
    for (std::size_t i = 0; written && i < written->fields.size(); ++i) add_beside(written->fields[i]);
    if (!written) add_beside(other);
  }
  hole.reasons.emplace_back(use.span,
                            fmt::format("it is {}{}{}", in_tuple ? "a field of " : "", what, beside));
}

void Holes::use(const Expr& result, Use use) {
  for (Hole& hole : holes_) {
    for (std::size_t i = 0; i < use.operands.size(); ++i) {
      const bool itself = is_var(use.operands[i], hole.var);
      if (itself || with_value(use.operands[i], hole.var, Expr(hole.var)).defined())
        note_use(hole, use, i, !itself);
    }
  }
  results_[&result.node()] = demands_.size();
  demands_.push_back({std::move(use), result, {}});
}

Holes::Demand* Holes::demand_of(const Expr& value) {
  if (const auto made = results_.find(&value.node()); made != results_.end()) return &demands_[made->second];
  const Var* var = value.as_var();
  const auto bound = var ? bound_.find(var->id()) : bound_.end();
  return bound == bound_.end() ? nullptr : &demands_[bound->second];
}

void Holes::want(const Expr& value, const Type& type, const std::string& who, Span at) {
  if (!any() || type.is_error()) return;
  if (Hole* hole = find(value)) {
    if (!hole->type) hole->type = type;
    hole->reasons.emplace_back(at, fmt::format("{} wants it", who));
  } else if (const auto* tuple = value.as<TupleExpr>()) {
    const TupleType* fields = type.tuple();
    for (std::size_t i = 0;
         fields && fields->fields.size() == tuple->fields.size() && i < tuple->fields.size(); ++i)
      want(tuple->fields[i], fields->fields[i], who, at);
  } else if (Demand* demand = demand_of(value)) {
    demand->wanted.push_back(type);
  }
}

void Holes::want_words(const Expr& value, std::string words, const std::string& who, Span at) {
  Hole* hole = find(value);
  if (!hole) return;
  if (hole->words.empty()) hole->words = std::move(words);
  hole->is_text = true;
  hole->reasons.emplace_back(at, fmt::format("it is {}", who));
}

void Holes::stands_for(const Var& var, const Expr& value) {
  if (const auto made = results_.find(&value.node()); made != results_.end()) bound_[var.id()] = made->second;
}

// --- Trying.

bool Holes::fits_in(const Hole& hole, const Expr& value) const {
  if (hole.type && fits(value.type(), *hole.type) == Fit::Never) return false;
  for (const Demand& demand : demands_) {
    std::vector<Expr> operands = demand.use.operands;
    bool here = false;
    for (Expr& operand : operands) {
      const Expr changed = with_value(operand, hole.var, value);
      here |= changed.defined();
      if (changed.defined()) operand = changed;
    }
    if (!here) continue;
    try {
      const Expr made = demand.use.make(operands);
      if (made.type().is_error()) continue;  // another hole is in it
      for (const Type& wanted : demand.wanted)
        if (fits(made.type(), wanted) == Fit::Never) return false;
    } catch (const Failure& failure) {
      if (failure.error_class() == ErrorClass::Interrupted) throw;
      return false;
    }
  }
  return true;
}

// Dimensions that may be wanted: those that stand around, each once.
std::vector<Scalar> Holes::dims_around() const {
  std::vector<Scalar> all, dims;
  for (const Demand& demand : demands_) {
    for (const Expr& operand : demand.use.operands)
      if (operand.defined()) collect_dims(operand.type(), all);
    for (const Type& type : demand.wanted) collect_dims(type, all);
  }
  for (const Scalar& dim : all) {
    const bool known =
        std::any_of(dims.begin(), dims.end(), [&](const Scalar& each) { return print(each) == print(dim); });
    if (!known && dims.size() < 16) dims.push_back(dim);
  }
  return dims;
}

// A dimension is told where one of those around fits alone.
void Holes::find_dims(const Hole& hole, TensorType& type) const {
  static constexpr const char* names[] = {"n", "m", "k", "p", "q", "r"};
  std::vector<Scalar> dims;
  for (int i = 0; i < type.rank; ++i) dims.emplace_back(ScalarVar(std::string(names[i]), DType::Int64));
  const std::vector<Scalar> around = dims_around();
  bool found = false;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const auto takes = [&](const Scalar& dim) {
      std::vector<Scalar> tried = dims;
      tried[i] = dim;
      return fits_in(hole, value_of_type({type.dtype, std::move(tried), type.rank}));
    };
    if (takes(Scalar(any_extent))) continue;
    std::optional<Scalar> only;
    std::size_t count = 0;
    for (const Scalar& dim : around) {
      if (!takes(dim)) continue;
      only = dim;
      ++count;
    }
    if (count != 1) continue;
    dims[i] = *only;
    found = true;
  }
  if (found) type.shape = std::move(dims);
}

// What is known of the tensor: its dtype where one fits alone, and so its dimensions.
std::optional<TensorType> Holes::wanted_tensor(const Hole& hole) const {
  TensorType type{std::nullopt, std::nullopt, -1};
  if (!fits_in(hole, value_of_type(type))) return std::nullopt;
  std::vector<DType> dtypes;
  for (int i = 0; i < dtype_count; ++i)
    if (fits_in(hole, value_of_type({static_cast<DType>(i), std::nullopt, -1})))
      dtypes.push_back(static_cast<DType>(i));
  if (dtypes.size() == 1) type.dtype = dtypes.front();
  std::vector<int> ranks;
  for (int rank = 0; rank <= most_dimensions; ++rank)
    if (fits_in(hole, value_of_type({type.dtype, std::nullopt, rank}))) ranks.push_back(rank);
  if (ranks.size() != 1) return type;
  type.rank = ranks.front();
  find_dims(hole, type);
  return type;
}

std::string Holes::wanted_by(const Hole& hole) const {
  if (hole.type) return print(*hole.type);
  if (hole.words != "a tensor") return hole.words;
  const auto tensor = wanted_tensor(hole);
  const bool known = tensor && (tensor->dtype || tensor->rank >= 0);
  return known ? print(Type(*tensor)) : hole.words;
}

int Holes::distance(const Hole& hole, const Expr& value) const {
  const Type& type = value.type();
  if (hole.type) return same_type(type, *hole.type) ? 0 : fits(type, *hole.type) == Fit::Always ? 1 : 2;
  const auto dtype_of = [](const Type& each) {
    const TensorType* tensor = each.tensor();
    return tensor ? tensor->dtype : std::nullopt;
  };
  int least = 2;
  for (const Demand& demand : demands_) {
    const std::vector<Expr>& operands = demand.use.operands;
    if (std::none_of(operands.begin(), operands.end(),
                     [&](const Expr& each) { return is_var(each, hole.var); }))
      continue;
    for (const Expr& operand : operands) {
      if (!operand.defined() || operand.type().is_error()) continue;
      const bool itself = value.as_var() && is_var(operand, *value.as_var());
      if (same_type(operand.type(), type) && !itself) least = 0;
      if (dtype_of(type) && dtype_of(type) == dtype_of(operand.type())) least = std::min(least, 1);
    }
  }
  return least;
}

Holes::Values Holes::fitting(const Hole& hole) const {
  Values values;
  std::size_t tries = 0;
  for (const auto& each : in_scope_) {
    if (hole.is_text || tries++ == most_tries) break;
    const Type& type = each.second.type();
    if (!hole.type && hole.words == "a tensor" && !type.tensor() && !type.as<AnyType>()) continue;
    if (fits_in(hole, each.second)) values.push_back(each);
  }
  std::stable_sort(values.begin(), values.end(), [&](const auto& a, const auto& b) {
    return distance(hole, a.second) < distance(hole, b.second);
  });
  return values;
}

void Holes::tell(const Hole& hole, const HoleReport& report, const Values& fitting,
                 Diagnostics& diagnostics) const {
  Diagnostic& diagnostic = diagnostics.error(
      ErrorClass::Type, hole.span, "hole.value",
      fmt::format(
          "found the hole '?{}'; expected {}", printable(hole.name),
          report.wanted.empty() ? "a value, of which nothing around it says the type" : report.wanted));
  for (const auto& [at, why] : hole.reasons) diagnostic.note(at, why);
  if (hole.is_text) return;
  if (fitting.empty()) {
    diagnostic.note("nothing in scope fits");
    return;
  }
  std::vector<std::string> told;
  for (std::size_t i = 0; i < std::min(fitting.size(), most_told); ++i)
    told.push_back(fmt::format("{}: {}", fitting[i].first, print(fitting[i].second.type())));
  if (fitting.size() > most_told) told.push_back(fmt::format("and {} more", fitting.size() - most_told));
  diagnostic.note(
      fmt::format("in scope {}: {}", fitting.size() == 1 ? "fits" : "fit", fmt::join(told, ", ")));
  // Several at once need not fit together.
  if (holes_.size() == 1) diagnostic.notes.push_back(write_here(hole.span, fitting.front().first));
}

std::vector<HoleReport> Holes::report(Diagnostics& diagnostics) {
  std::vector<HoleReport> reports;
  for (const Hole& hole : holes_) {
    HoleReport report{hole.name, hole.span, wanted_by(hole), {}};
    const Values values = fitting(hole);
    for (const auto& [text, value] : values) report.candidates.push_back(text);
    tell(hole, report, values, diagnostics);
    reports.push_back(std::move(report));
  }
  holes_.clear();
  demands_.clear();
  results_.clear();
  bound_.clear();
  in_scope_.clear();
  return reports;
}

}  // namespace relish
