// Kernels that read rows which a number, or the elements of a tensor, choose.
#include "jit/steps/rows_ahead.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ir/operators/op.h"
#include "ir/rewriting/rewrite.h"

namespace relish::jit {
namespace {

// Parameters of a kernel: a buffer of which it reads rows, and the scalar or the buffer that says which.
struct RowsRead {
  std::size_t source, chosen_by;
};

class RowReads {
 public:
  explicit RowReads(const PrimFunc& kernel) {
    for (std::size_t i = 0; i < kernel.params.size(); ++i) {
      const PrimParam& param = kernel.params[i];
      params_.emplace(param.buffer() ? param.buffer()->id() : param.scalar()->id(), i);
    }
    for_each_scalar(kernel.body, [&](const Scalar& each) {
      const auto* load = each.as<Load>();
      const auto source = load && !load->indices.empty() ? param_of(*load->buffer) : std::nullopt;
      if (!source) return;
      for_each_scalar(load->indices.front(), [&](const Scalar& part) {
        if (const auto chosen = chosen_by(part); chosen && chosen != source) add({*source, *chosen});
      });
    });
  }

  const std::vector<RowsRead>& found() const { return found_; }

 private:
  std::optional<std::size_t> param_of(const Buffer& buffer) const { return place_of(buffer.id()); }
  std::optional<std::size_t> chosen_by(const Scalar& part) const {
    if (const auto* load = part.as<Load>()) return param_of(*load->buffer);
    const auto var = part.as_var();
    return var ? place_of(var->id()) : std::nullopt;
  }
  std::optional<std::size_t> place_of(std::uint64_t id) const {
    const auto found = params_.find(id);
    return found == params_.end() ? std::nullopt : std::optional(found->second);
  }
  void add(RowsRead rows) {
    const auto known = std::find_if(found_.begin(), found_.end(), [&](const RowsRead& each) {
      return each.source == rows.source && each.chosen_by == rows.chosen_by;
    });
    if (known == found_.end()) found_.push_back(rows);
  }

  std::unordered_map<std::uint64_t, std::size_t> params_;  // buffers and scalars, by id
  std::vector<RowsRead> found_;
};

// Kernels without one read no rows of that kind.
bool takes_numbers(const PrimFunc& kernel) {
  return std::any_of(kernel.params.begin(), kernel.params.end(), [](const PrimParam& param) {
    return param.scalar() || param.buffer()->dtype() == DType::Int64;
  });
}

class Teller {
 public:
  Teller(FunctionSteps& body, std::size_t carried, bool effects) : body_(body), effects_(effects) {
    for (std::size_t i = 0; i < carried; ++i)
      for_each_leaf(body.params.at(i), [&](const ValueTree& leaf) { carried_.insert(leaf.place); });
    // What others than kernels see is not copied before they have seen it.
    for (const Step& each : body.steps)
      if (!std::holds_alternative<step::CallKernel>(each.kind) &&
          !std::holds_alternative<step::CheckShape>(each.kind) &&
          !std::holds_alternative<step::BindSize>(each.kind))
        for_each_place(each, [&](PlaceId place, bool) { seen_.insert(place); });
  }

  void run(std::size_t entry) {
    for (std::size_t i = entry; i < body_.steps.size(); ++i)
      if (const auto* kernel = std::get_if<step::CallKernel>(&body_.steps[i].kind)) look_at(*kernel, i);
    for (std::size_t i = told_.size(); i-- > 0;) {
      if (told_[i].ahead.sources.empty()) continue;
      const auto behind = body_.steps.begin() + static_cast<std::ptrdiff_t>(told_[i].kernel + 1);
      body_.steps.insert(behind, Step{body_.steps[told_[i].kernel].span, std::move(told_[i].ahead)});
    }
  }

 private:
  struct Told {
    std::size_t kernel;  // step
    step::RowsAhead ahead;
  };

  void look_at(const step::CallKernel& kernel, std::size_t at) {
    if (!takes_numbers(*kernel.callee)) return;
    const RowReads reads(*kernel.callee);
    for (const RowsRead& rows : reads.found()) {
      const PlaceId source = kernel.args[rows.source], chosen_by = kernel.args[rows.chosen_by];
      if (!of_all_rounds(source)) continue;
      if (kernel.callee->params[rows.chosen_by].scalar())
        takes_row(kernel, at, source, chosen_by);
      else if (const auto told = told_by_row_.find(chosen_by); told != told_by_row_.end())
        add_source(told_[told->second].ahead, source, copies(kernel));
    }
  }

  // What the kernel writes may be the row of a table of row numbers.
  void takes_row(const step::CallKernel& kernel, std::size_t at, PlaceId table, PlaceId row) {
    if (body_.places[table].dtype != DType::Int64) return;
    told_.push_back({at, {table, row, {}, {}}});
    for (const PlaceId place : kernel.args) {
      const Place& made = body_.places[place];
      if (made.origin == Place::Temporary && made.dtype == DType::Int64)
        told_by_row_.insert_or_assign(place, told_.size() - 1);
    }
  }

  // A source that is read in two ways is fetched.
  static void add_source(step::RowsAhead& ahead, PlaceId source, bool copied) {
    const auto known = std::find(ahead.sources.begin(), ahead.sources.end(), source);
    if (known == ahead.sources.end()) {
      ahead.sources.push_back(source);
      ahead.copied.push_back(copied);
    } else if (!copied) {
      ahead.copied[static_cast<std::size_t>(known - ahead.sources.begin())] = false;
    }
  }

  // Whether the kernel copies rows into memory of this function alone, by numbers of them: the operator take,
  // whose rows are the same before this round as in it.
  bool copies(const step::CallKernel& kernel) {
    if (effects_ || kernel.args.size() != 3 || !kernel.fault || kernel.fault->fused) return false;
    const auto* call = kernel.fault->call.as<OpCall>();
    const Attribute* axis = find_attribute(call->attributes, "axis");
    const Place &source = body_.places[kernel.args[0]], &rows = body_.places[kernel.args[1]];
    Place& copy = body_.places[kernel.args[2]];
    if (short_name_of(*call->op) != "take" || !axis || !(*axis == Attribute(0)) || source.donated ||
        carried_.contains(kernel.args[0]) || seen_.contains(kernel.args[0]) || rows.dtype != DType::Int64 ||
        rows.rank != 1 || copy.origin != Place::Temporary || copy.given)
      return false;
    copy.copied_ahead = true;
    return true;
  }

  bool of_all_rounds(PlaceId id) const {
    const Place& place = body_.places[id];
    return place.origin == Place::Param && place.kind == ValueTree::TensorLeaf && place.rank > 0;
  }

  FunctionSteps& body_;
  const bool effects_;
  std::unordered_set<PlaceId> carried_, seen_;  // seen by steps that are no kernels
  std::vector<Told> told_;
  std::unordered_map<PlaceId, std::size_t> told_by_row_;
};

}  // namespace

void tell_rows_ahead(FunctionSteps& body, std::size_t entry, std::size_t carried, bool effects) {
  Teller(body, carried, effects).run(entry);
}

}  // namespace relish::jit
