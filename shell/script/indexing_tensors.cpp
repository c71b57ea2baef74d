// Selections of elements: basic dimensions are walked by strides, positions and masks by a list of offsets.
#include "shell/script/indexing_tensors.h"

#include <cstring>

#include "runtime/format.h"
#include "shell/script/convert.h"
#include "support/counted.h"
#include "support/interrupt.h"
#include "support/memory.h"

namespace relish {
namespace {

// What one item of the subscript is.
struct TensorIndex {
  enum class Kind : std::uint8_t { At, Slice, New, Rest, Positions, Mask } kind = Kind::At;
  std::int64_t at = 0;
  Tensor tensor = {};  // of positions, or a mask
};

TensorIndex index_of_item(const SubscriptItem& item) {
  using Kind = TensorIndex::Kind;
  if (std::get_if<SubscriptItem::Slice>(&item.kind)) return {Kind::Slice};
  if (std::get_if<SubscriptItem::Rest>(&item.kind)) return {Kind::Rest};
  const auto& value = std::get<ScriptValue>(item.kind);
  if (value.is_none()) return {Kind::New};
  const ScriptList* list = value.sequence();
  if (const Tensor* tensor = value.tensor(); tensor || (list && !list->tuple)) {
    Tensor index;
    if (tensor) {
      index = *tensor;
    } else if (list->items.empty()) {
      index = Tensor::empty(DType::Int64, {0});
    } else {
      index = tensor_of(value, std::nullopt, DType::Int64, DType::Float64, item.span);
    }
    if (is_bool(index.dtype())) return {Kind::Mask, 0, std::move(index)};
    if (!is_int(index.dtype())) {
      fail(ErrorClass::Type, item.span, "script.index",
           fmt::format("found {} as an index; expected ints or bools", describe(ScriptValue(index))));
    }
    if (index.rank() > 0) return {Kind::Positions, 0, std::move(index)};
    if (index.dtype() == DType::UInt64 && index.get_int(0) < 0) return {Kind::Positions, 0, std::move(index)};
    return {Kind::At, index.get_int(0)};
  }
  return {Kind::At, index_of(value, item.span, "an index")};
}

std::size_t dimensions_taken(const TensorIndex& index) {
  using Kind = TensorIndex::Kind;
  if (index.kind == Kind::New || index.kind == Kind::Rest) return 0;
  return index.kind == Kind::Mask ? static_cast<std::size_t>(index.tensor.rank()) : 1;
}

bool is_chosen(const TensorIndex& index) {
  return index.kind == TensorIndex::Kind::Positions || index.kind == TensorIndex::Kind::Mask;
}

// x[(0, 1)] is x[0, 1]: a tuple that a name holds is the index as a whole; nothing for another index.
std::optional<std::vector<SubscriptItem>> spread_tuple(const std::vector<SubscriptItem>& items) {
  const auto* value = items.size() == 1 ? std::get_if<ScriptValue>(&items[0].kind) : nullptr;
  const ScriptList* tuple = value ? value->sequence() : nullptr;
  if (!tuple || !tuple->tuple) return std::nullopt;
  std::vector<SubscriptItem> spread;
  for (const ScriptValue& each : tuple->items) spread.push_back({each, items[0].span});
  return spread;
}

}  // namespace

TensorSelection::TensorSelection(const Tensor& tensor, const std::vector<SubscriptItem>& given, Span span) {
  using Kind = TensorIndex::Kind;
  const std::optional<std::vector<SubscriptItem>> spread = spread_tuple(given);
  const std::vector<SubscriptItem>& items = spread ? *spread : given;
  std::vector<TensorIndex> indices;
  std::size_t taken = 0, rests = 0;
  for (const SubscriptItem& item : items) {
    indices.push_back(index_of_item(item));
    taken += dimensions_taken(indices.back());
    rests += indices.back().kind == Kind::Rest;
  }
  if (rests > 1) fail(ErrorClass::Type, span, "script.index", "found '...' twice in one index");
  const std::size_t rank = tensor.shape().size();
  if (taken > rank) {
    fail(ErrorClass::Type, span, "script.index",
         fmt::format("found {} for a tensor of rank {}", counted(taken, "index", "indices"), tensor.rank()));
  }
  // Positions and ints stand side by side, as what they choose has one place in the result.
  std::size_t last_chosen = indices.size(), first = indices.size(), last = 0;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (is_chosen(indices[i])) last_chosen = i;
    if (!is_chosen(indices[i]) && indices[i].kind != Kind::At) continue;
    first = std::min(first, i);
    last = i;
  }
  for (std::size_t i = first; last_chosen < indices.size() && i <= last; ++i) {
    if (is_chosen(indices[i]) || indices[i].kind == Kind::At) continue;
    // Two lists choose pairs of positions, which x[i][:, j] does not.
    const bool pairs = std::count_if(indices.begin(), indices.end(), is_chosen) > 1;
    fail(ErrorClass::Type, span, "script.index",
         pairs
             ? "found lists of positions that stand apart; bring their axes side by side with R.permute_dims"
             : "found positions beside an index that stands apart from them; index twice, as x[i][:, j]");
  }
  const Shape strides = row_major_strides(tensor.shape());
  std::size_t at = 0;
  bool chosen = false;
  const auto keep = [&](std::int64_t count, std::int64_t stride) {
    dimensions_.push_back({count, stride});
    shape_.push_back(count);
  };
  const auto keep_rest = [&](std::size_t end) {
    for (; at < end; ++at) keep(tensor.shape()[at], strides[at]);
  };
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const TensorIndex& index = indices[i];
    const Span place = items[i].span;
    switch (index.kind) {
      case Kind::New:
        keep(1, 0);
        break;
      case Kind::Rest:
        keep_rest(at + rank - taken);
        break;
      case Kind::At:
        begin_ += item_position(index.at, tensor.shape()[at], place, "a dimension") * strides[at];
        ++at;
        break;
      case Kind::Slice: {
        const SlicePositions p =
            slice_positions(std::get<SubscriptItem::Slice>(items[i].kind), tensor.shape()[at], place);
        if (p.count > 0) begin_ += p.begin * strides[at];
        keep(p.count, p.step * strides[at]);
        ++at;
        break;
      }
      case Kind::Positions:
      case Kind::Mask: {
        if (index.kind == Kind::Mask) {
          if (chosen) fail(ErrorClass::Type, place, "script.index", "found a mask beside other positions");
          add_mask(index.tensor, tensor, at, strides, place);
        } else {
          add_positions(index.tensor, tensor.shape()[at], strides[at], place);
        }
        at += dimensions_taken(index);
        if (!chosen) dimensions_.push_back({0, 0, &chosen_});
        chosen = true;
        break;
      }
    }
    if (chosen && i == last_chosen) {
      for (Dimension& dimension : dimensions_)
        if (dimension.offsets) dimension.count = static_cast<std::int64_t>(chosen_.size());
      shape_.insert(shape_.end(), chosen_shape_.begin(), chosen_shape_.end());
    }
  }
  keep_rest(rank);
}

void TensorSelection::add_positions(const Tensor& indices, std::int64_t length, std::int64_t stride,
                                    Span span) {
  const bool fresh = chosen_.empty() && chosen_shape_.empty();
  if (!fresh && chosen_shape_ != indices.shape()) {
    fail(ErrorClass::Type, span, "script.index", "found positions of two shapes in one index");
  }
  chosen_shape_ = indices.shape();
  chosen_.resize(static_cast<std::size_t>(indices.size()));
  for (std::int64_t i = 0; i < indices.size(); ++i) {
    poll_interrupt(span);
    const std::int64_t index = indices.get_int(i);
    if (indices.dtype() == DType::UInt64 && index < 0) {
      fail(ErrorClass::Runtime, span, "script.index_range",
           fmt::format("index {} is out of range for a dimension of length {}",
                       static_cast<std::uint64_t>(index), length));
    }
    chosen_[static_cast<std::size_t>(i)] += item_position(index, length, span, "a dimension") * stride;
  }
}

void TensorSelection::add_mask(const Tensor& mask, const Tensor& tensor, std::size_t first,
                               const Shape& strides, Span span) {
  std::int64_t stride = 1;
  for (int i = 0; i < mask.rank(); ++i) {
    const auto at = first + static_cast<std::size_t>(i);
    if (at >= tensor.shape().size() || mask.shape()[static_cast<std::size_t>(i)] != tensor.shape()[at]) {
      fail(ErrorClass::Type, span, "script.index",
           fmt::format("found a mask of shape {} for {}; expected the shape of what it chooses from",
                       format_value(Value(ShapeValue{mask.shape()})), describe(ScriptValue(tensor))));
    }
    stride = strides[at];
  }
  for (std::int64_t i = 0; i < mask.size(); ++i) {
    poll_interrupt(span);
    if (mask.get_int(i) != 0) chosen_.push_back(i * stride);
  }
  chosen_shape_ = {static_cast<std::int64_t>(chosen_.size())};
}

void TensorSelection::runs(std::size_t dimension, std::int64_t offset, const Run& visit) const {
  poll_interrupt();
  if (dimension == dimensions_.size()) return visit(offset, 1, 1);
  const Dimension& d = dimensions_[dimension];
  if (dimension + 1 == dimensions_.size() && !d.offsets) return visit(offset, d.count, d.stride);
  for (std::int64_t i = 0; i < d.count; ++i)
    runs(dimension + 1, offset + (d.offsets ? (*d.offsets)[static_cast<std::size_t>(i)] : i * d.stride),
         visit);
}

void TensorSelection::for_each_run(const Run& visit) const {
  for (const std::int64_t dim : shape_)
    if (dim == 0) return;
  runs(0, begin_, visit);
}

Tensor select(const Tensor& tensor, const std::vector<SubscriptItem>& items, Span span) {
  const TensorSelection selection(tensor, items, span);
  Tensor result = Tensor::empty(tensor.dtype(), selection.shape());
  const auto size = static_cast<std::size_t>(size_of(tensor.dtype()));
  const auto* from = static_cast<const char*>(tensor.data());
  auto* to = static_cast<char*>(result.mutable_data());
  selection.for_each_run([&](std::int64_t offset, std::int64_t count, std::int64_t stride) {
    if (stride == 1) {
      const std::size_t bytes = static_cast<std::size_t>(count) * size;
      std::memcpy(to, from + static_cast<std::size_t>(offset) * size, bytes);
      to += bytes;
      return;
    }
    for (std::int64_t i = 0; i < count; ++i, to += size)
      std::memcpy(to, from + static_cast<std::size_t>(offset + i * stride) * size, size);
  });
  return result;
}

namespace {

// The value as a tensor of the dtype: a number or list that it can hold, or a tensor that has it.
Tensor value_to_assign(const ScriptValue& value, DType dtype, Span span) {
  if (value.is_number()) return number_beside(value, dtype, span);
  if (value.sequence()) return tensor_of(value, dtype, DType::Int64, DType::Float32, span);
  if (const Tensor* tensor = value.tensor()) {
    if (tensor->dtype() == dtype) return *tensor;
    fail(ErrorClass::Type, span, "script.tensor_item",
         fmt::format("found {} for elements of {}; convert it by astype(\"{}\")", describe(value),
                     name_of(dtype), name_of(dtype)));
  }
  fail(ErrorClass::Type, span, "script.tensor_item",
       fmt::format("found {}; expected a number or a tensor of {}", describe(value), name_of(dtype)));
}

}  // namespace

void assign(Tensor& tensor, const std::vector<SubscriptItem>& items, const ScriptValue& value, Span span) {
  const TensorSelection selection(tensor, items, span);
  Tensor source = value_to_assign(value, tensor.dtype(), span);
  const Shape& wanted = selection.shape();
  bool fits = source.shape().size() <= wanted.size();
  Shape strides(wanted.size(), 0);
  const Shape own = row_major_strides(source.shape());
  for (std::size_t i = 0; fits && i < source.shape().size(); ++i) {
    const std::size_t at = wanted.size() - source.shape().size() + i;
    if (source.shape()[i] != 1) {
      fits = source.shape()[i] == wanted[at];
      strides[at] = own[i];
    }
  }
  if (!fits) {
    fail(ErrorClass::Type, span, "script.tensor_item",
         fmt::format("found {} for elements of shape {}", describe(ScriptValue(source)),
                     format_value(Value(ShapeValue{wanted}))));
  }
  // Nobody else may see the change, and the source may be this tensor itself.
  if (source.same_storage(tensor)) source = source.copy();
  if (!tensor.unique()) tensor = tensor.copy();
  const auto size = static_cast<std::size_t>(size_of(tensor.dtype()));
  auto* to = static_cast<char*>(tensor.mutable_data());
  const auto* from = static_cast<const char*>(source.data());
  std::vector<std::int64_t> index(wanted.size(), 0);
  std::int64_t at = 0;
  const auto step = [&] {
    for (std::size_t i = wanted.size(); i-- > 0;) {
      at += strides[i];
      if (++index[i] < wanted[i]) return;
      at -= strides[i] * wanted[i];
      index[i] = 0;
    }
  };
  selection.for_each_run([&](std::int64_t offset, std::int64_t count, std::int64_t stride) {
    for (std::int64_t i = 0; i < count; ++i, step())
      std::memcpy(to + static_cast<std::size_t>(offset + i * stride) * size,
                  from + static_cast<std::size_t>(at) * size, size);
  });
}

}  // namespace relish
