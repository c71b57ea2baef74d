// Indexing: sequences and strings as Python has them, tensors by copies of the chosen elements.
#include "shell/script/indexing.h"

#include <cstring>

#include "shell/script/convert.h"
#include "shell/script/dict_index.h"
#include "shell/script/numbers.h"
#include "support/counted.h"
#include "support/interrupt.h"

namespace relish {
namespace {

// The positions that a slice of a dimension of `length` takes.
struct Positions {
  std::int64_t begin = 0, count = 0, step = 1;
  std::int64_t end = 0;  // where the slice stops, of the dimension or beside it
};

Positions positions_of(const SubscriptItem::Slice& slice, std::int64_t length, Span span) {
  Positions result;
  result.step = slice.step.value_or(1);
  if (result.step == 0) fail(ErrorClass::Runtime, span, "script.slice", "a slice's step is 0");
  bool forward = result.step > 0;
  std::int64_t low = forward ? 0 : -1;
  std::int64_t high = forward ? length : length - 1;
  auto clamp = [&](std::optional<std::int64_t> given, std::int64_t fallback) {
    if (!given) return fallback;
    std::int64_t at = *given < 0 ? *given + length : *given;
    return at < low ? low : at > high ? high : at;
  };
  std::int64_t begin = clamp(slice.begin, forward ? 0 : length - 1);
  std::int64_t end = clamp(slice.end, forward ? length : -1);
  result.begin = begin;
  result.end = end;
  result.count = ScriptRange{begin, end, result.step}.size();
  return result;
}

std::int64_t position_of(std::int64_t index, std::int64_t length, Span span, std::string_view what) {
  std::int64_t at = index < 0 ? index + length : index;
  if (at < 0 || at >= length) {
    fail(ErrorClass::Runtime, span, "script.index_range",
         fmt::format("index {} is out of range for {} of length {}", index, what, length));
  }
  return at;
}

// The position that an element of a tensor of integers names. One of uint64 that int64 does not reach is
// beyond every dimension.
std::int64_t position_of(const Tensor& indices, std::int64_t flat, std::int64_t length, Span span) {
  const std::int64_t index = indices.get_int(flat);
  if (indices.dtype() == DType::UInt64 && index < 0) {
    fail(ErrorClass::Runtime, span, "script.index_range",
         fmt::format("index {} is out of range for a dimension of length {}",
                     static_cast<std::uint64_t>(index), length));
  }
  return position_of(index, length, span, "a dimension");
}

const SubscriptItem& only_item(const std::vector<SubscriptItem>& items, const ScriptValue& object,
                               Span span) {
  if (items.size() != 1) {
    fail(ErrorClass::Type, span, "script.index",
         fmt::format("{} takes one index, found {}", describe(object), items.size()));
  }
  return items.front();
}

ScriptValue index_sequence(const ScriptValue& object, const ScriptList& list, const SubscriptItem& item) {
  auto length = static_cast<std::int64_t>(list.items.size());
  if (const auto* slice = std::get_if<SubscriptItem::Slice>(&item.kind)) {
    Positions positions = positions_of(*slice, length, item.span);
    std::vector<ScriptValue> taken;
    for (std::int64_t i = 0; i < positions.count; ++i) {
      poll_interrupt(item.span);
      taken.push_back(list.items[static_cast<std::size_t>(positions.begin + i * positions.step)]);
    }
    return list.tuple ? ScriptValue::tuple(std::move(taken)) : ScriptValue::list(std::move(taken));
  }
  std::int64_t index = index_of(std::get<ScriptValue>(item.kind), item.span, "an index");
  return list.items[static_cast<std::size_t>(position_of(index, length, item.span, kind_name(object)))];
}

// Byte offsets of the code points, with the end.
std::vector<std::size_t> code_point_starts(const std::string& text) {
  std::vector<std::size_t> starts;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) starts.push_back(i);
  }
  starts.push_back(text.size());
  return starts;
}

ScriptValue index_string(const std::string& text, const SubscriptItem& item) {
  std::vector<std::size_t> starts = code_point_starts(text);
  auto length = static_cast<std::int64_t>(starts.size()) - 1;
  auto one = [&](std::int64_t at) {
    auto i = static_cast<std::size_t>(at);
    return text.substr(starts[i], starts[i + 1] - starts[i]);
  };
  if (const auto* slice = std::get_if<SubscriptItem::Slice>(&item.kind)) {
    Positions positions = positions_of(*slice, length, item.span);
    std::string taken;
    for (std::int64_t i = 0; i < positions.count; ++i) taken += one(positions.begin + i * positions.step);
    return taken;
  }
  return one(position_of(index_of(std::get<ScriptValue>(item.kind), item.span, "an index"), length, item.span,
                         "str"));
}

ScriptValue index_dict(const ScriptDict& dict, const SubscriptItem& item) {
  const auto* key = std::get_if<ScriptValue>(&item.kind);
  if (!key) fail(ErrorClass::Type, item.span, "script.index", "a dict takes a key, found a slice");
  if (key->tensor() && !dict.items.empty()) equal_values(dict.items[0].first, *key, item.span);  // refused
  if (const ScriptValue* value = find_in(dict, *key)) return *value;
  fail(ErrorClass::Runtime, item.span, "script.key", fmt::format("the dict has no key {}", brief_text(*key)));
}

ScriptValue index_range(const ScriptRange& range, const SubscriptItem& item) {
  if (const auto* slice = std::get_if<SubscriptItem::Slice>(&item.kind)) {
    Positions positions = positions_of(*slice, range.size(), item.span);
    // As Python's: bounds become those of the range, and steps multiply.
    const auto bound = [&](std::int64_t position) {
      return checked_add(range.begin, checked_multiply(position, range.step, item.span), item.span);
    };
    return ScriptRange{bound(positions.begin), bound(positions.end),
                       checked_multiply(range.step, positions.step, item.span)};
  }
  std::int64_t index = index_of(std::get<ScriptValue>(item.kind), item.span, "an index");
  return range.at(position_of(index, range.size(), item.span, "range"));
}

// Rows of `tensor` by an integer tensor: shape indices.shape + tensor.shape[1:].
Tensor take_rows(const Tensor& tensor, const Tensor& indices, Span span) {
  Shape shape = indices.shape();
  shape.insert(shape.end(), tensor.shape().begin() + 1, tensor.shape().end());
  Tensor result = Tensor::empty(tensor.dtype(), shape);
  std::int64_t rows = tensor.shape()[0];
  std::size_t row_bytes = rows == 0 ? 0 : static_cast<std::size_t>(tensor.byte_size() / rows);
  const auto* from = static_cast<const char*>(tensor.data());
  auto* to = static_cast<char*>(result.mutable_data());
  for (std::int64_t i = 0; i < indices.size(); ++i) {
    poll_interrupt(span);
    std::int64_t row = position_of(indices, i, rows, span);
    std::memcpy(to + static_cast<std::size_t>(i) * row_bytes,
                from + static_cast<std::size_t>(row) * row_bytes, row_bytes);
  }
  return result;
}

// Copies the chosen positions of all dimensions; a contiguous tail is copied at once.
struct TensorSlicer {
  const Tensor& source;
  const std::vector<Positions>& positions;
  Shape strides;
  char* to;
  std::size_t item_bytes;

  void copy(std::size_t dimension, std::int64_t offset) {
    poll_interrupt();
    if (dimension == positions.size()) {
      std::memcpy(to, static_cast<const char*>(source.data()) + static_cast<std::size_t>(offset) * item_bytes,
                  item_bytes);
      to += item_bytes;
      return;
    }
    const Positions& p = positions[dimension];
    if (dimension + 1 == positions.size() && p.step == 1) {
      std::size_t bytes = static_cast<std::size_t>(p.count) * item_bytes;
      std::memcpy(
          to,
          static_cast<const char*>(source.data()) + static_cast<std::size_t>(offset + p.begin) * item_bytes,
          bytes);
      to += bytes;
      return;
    }
    for (std::int64_t i = 0; i < p.count; ++i)
      copy(dimension + 1, offset + (p.begin + i * p.step) * strides[dimension]);
  }
};

ScriptValue index_tensor(const Tensor& tensor, const std::vector<SubscriptItem>& items, Span span) {
  if (items.size() > tensor.shape().size()) {
    fail(ErrorClass::Type, span, "script.index",
         fmt::format("found {} for a tensor of rank {}", counted(items.size(), "index", "indices"),
                     tensor.rank()));
  }
  if (items.size() == 1) {
    const auto* value = std::get_if<ScriptValue>(&items[0].kind);
    if (value && value->tensor() && value->tensor()->rank() > 0) {
      if (!is_int(value->tensor()->dtype())) {
        fail(ErrorClass::Type, items[0].span, "script.index",
             "a tensor is indexed by ints or a tensor of integers");
      }
      return take_rows(tensor, *value->tensor(), items[0].span);
    }
  }
  std::vector<Positions> positions;
  Shape shape;
  for (std::size_t i = 0; i < tensor.shape().size(); ++i) {
    std::int64_t length = tensor.shape()[i];
    Positions p{0, length, 1};
    bool keeps_dimension = true;
    if (i < items.size()) {
      const SubscriptItem& item = items[i];
      if (const auto* slice = std::get_if<SubscriptItem::Slice>(&item.kind)) {
        p = positions_of(*slice, length, item.span);
      } else {
        const ScriptValue& value = std::get<ScriptValue>(item.kind);
        const Tensor* index = value.tensor();
        bool zero_rank = index && index->rank() == 0 && is_int(index->dtype());
        p.begin = zero_rank
                      ? position_of(*index, 0, length, item.span)
                      : position_of(index_of(value, item.span, "an index"), length, item.span, "a dimension");
        p.count = 1;
        keeps_dimension = false;
      }
    }
    positions.push_back(p);
    if (keeps_dimension) shape.push_back(p.count);
  }
  Tensor result = Tensor::empty(tensor.dtype(), shape);
  if (result.size() == 0) return result;
  TensorSlicer slicer{tensor, positions, row_major_strides(tensor.shape()),
                      static_cast<char*>(result.mutable_data()),
                      static_cast<std::size_t>(size_of(tensor.dtype()))};
  slicer.copy(0, 0);
  return result;
}

}  // namespace

ScriptValue subscript(const ScriptValue& object, const std::vector<SubscriptItem>& items, Span span) {
  if (const Tensor* tensor = object.tensor()) return index_tensor(*tensor, items, span);
  const SubscriptItem& item = only_item(items, object, span);
  if (const ScriptList* list = object.sequence()) return index_sequence(object, *list, item);
  if (const ScriptDict* dict = object.dictionary()) return index_dict(*dict, item);
  if (const std::string* text = object.string()) return index_string(*text, item);
  if (const auto* range = object.as<ScriptRange>()) return index_range(*range, item);
  if (const auto* shape = object.as<ShapeValue>()) {
    std::vector<ScriptValue> dims(shape->dims.begin(), shape->dims.end());
    return index_sequence(object, ScriptList{std::move(dims), true}, item);
  }
  fail(ErrorClass::Type, span, "script.index", fmt::format("{} has no items", describe(object)));
}

}  // namespace relish
