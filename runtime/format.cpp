// Text of numbers, tensors and values.
#include "runtime/format.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "support/interrupt.h"
#include "support/render.h"

namespace relish {
namespace {

// Significant digits of elements when a tensor is not printed in full.
constexpr int short_digits = 6;
// Elements of an elided tensor that are printed at most.
constexpr std::int64_t most_shown = 4096;

template <class T>
std::string special_text(T value) {
  if (std::isnan(value)) return "nan";
  return value < 0 ? "-inf" : "inf";
}

// Shortest digits that read back exactly, laid out as Python does: an exponent below 1e-4 and from 1e16 on.
template <class T>
std::string shortest(T value) {
  if (!std::isfinite(value)) return special_text(value);
  char buffer[64];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
  std::string_view text(buffer, static_cast<std::size_t>(end - buffer));
  std::size_t mark = text.find('e');
  int exponent = 0;
  const char* exponent_begin = text.data() + mark + 1 + (text[mark + 1] == '+' ? 1 : 0);
  std::from_chars(exponent_begin, end, exponent);
  if (exponent < -4 || exponent >= 16) return std::string(text);

  std::string sign = text.front() == '-' ? "-" : "";
  std::string digits;
  for (char c : text.substr(0, mark)) {
    if (c >= '0' && c <= '9') digits += c;
  }
  if (exponent < 0) return sign + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  auto whole = static_cast<std::size_t>(exponent) + 1;
  if (digits.size() <= whole) return sign + digits + std::string(whole - digits.size(), '0') + ".0";
  return sign + digits.substr(0, whole) + "." + digits.substr(whole);
}

std::string rounded(double value) {
  if (!std::isfinite(value)) return special_text(value);
  char buffer[64];
  auto end =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::general, short_digits).ptr;
  return std::string(buffer, end);
}

// An element inside a tensor, where the dtype stands in the heading: "1" rather than "1.0".
std::string element_text(const Tensor& tensor, std::int64_t index, bool exact) {
  if (!exact && is_float(tensor.dtype())) return rounded(tensor.get_double(index));
  std::string text = format_element(tensor, index);
  if (is_float(tensor.dtype()) && text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

// Prints nested lists; elements of a tensor are right-aligned to one width.
class TensorPrinter {
 public:
  TensorPrinter(const Tensor& tensor, const FormatOptions& options)
      : tensor_(tensor), options_(options), strides_(row_major_strides(tensor.shape())) {
    const bool elided = !options.full && tensor.size() > options.elide_above;
    std::int64_t shown = 1;
    for (const std::int64_t length : tensor.shape()) {
      const bool cut = elided && length > 2 * options.edge_items;
      kept_.push_back(cut ? Kept{options.edge_items, options.edge_items} : Kept{length, 0});
      shown *= elided ? kept_.back().first + kept_.back().last : 1;
    }
    // Many short dimensions: of the outer ones only the beginning.
    for (std::size_t i = 0; i < kept_.size() && shown > most_shown; ++i) {
      shown /= std::max<std::int64_t>(kept_[i].first + kept_[i].last, 1);
      kept_[i] = {1, 0};
    }
  }

  std::string print() {
    if (tensor_.size() == 0) return "[]";
    measure(0, 0);
    print_dimension(0, 0);
    return std::move(out_);
  }

 private:
  // Calls `element` for the shown positions of a dimension and `gap` for those left out.
  template <class Element, class Gap>
  void walk(std::size_t dimension, Element element, Gap gap) const {
    const std::int64_t length = tensor_.shape()[dimension];
    const Kept& kept = kept_[dimension];
    for (std::int64_t i = 0; i < kept.first; ++i) element(i);
    if (kept.first + kept.last < length) gap();
    for (std::int64_t i = length - kept.last; i < length; ++i) element(i);
  }

  bool is_last(std::size_t dimension) const { return dimension + 1 == tensor_.shape().size(); }

  void measure(std::size_t dimension, std::int64_t base) {
    auto element = [&](std::int64_t i) {
      poll_interrupt();
      std::int64_t index = base + i * strides_[dimension];
      if (!is_last(dimension)) return measure(dimension + 1, index);
      width_ = std::max(width_, element_text(tensor_, index, options_.full).size());
    };
    walk(dimension, element, [] {});
  }

  void print_dimension(std::size_t dimension, std::int64_t base) {
    out_ += '[';
    bool first = true;
    auto line_break = [&] { out_ += '\n' + std::string(dimension + 1, ' '); };
    if (is_last(dimension)) {
      std::size_t column = dimension + 1;
      auto put = [&](const std::string& text) {
        if (!first) {
          bool full_line = column + 2 + text.size() + 1 > static_cast<std::size_t>(options_.width);
          out_ += full_line ? "," : ", ";
          if (full_line) line_break();
          column = full_line ? dimension + 1 : column + 2;
        }
        out_ += text;
        column += text.size();
        first = false;
      };
      auto element = [&](std::int64_t i) {
        poll_interrupt();
        std::string text = element_text(tensor_, base + i * strides_[dimension], options_.full);
        put(std::string(width_ - text.size(), ' ') + text);
      };
      walk(dimension, element, [&] { put("..."); });
    } else {
      auto separate = [&] {
        if (!first) {
          out_ += ',';
          line_break();
        }
        first = false;
      };
      auto element = [&](std::int64_t i) {
        separate();
        print_dimension(dimension + 1, base + i * strides_[dimension]);
      };
      auto gap = [&] {
        separate();
        out_ += "...";
      };
      walk(dimension, element, gap);
    }
    out_ += ']';
  }

  const Tensor& tensor_;
  const FormatOptions& options_;
  Shape strides_;
  // Elements of a dimension that are shown, at its beginning and end.
  struct Kept {
    std::int64_t first = 0, last = 0;
  };
  std::vector<Kept> kept_;
  std::size_t width_ = 0;
  std::string out_;
};

std::string format_scalar(const ScalarValue& scalar) {
  switch (scalar.dtype) {
    case DType::Bool:
      return scalar.integer != 0 ? "True" : "False";
    case DType::UInt64:
      return std::to_string(static_cast<std::uint64_t>(scalar.integer));
    case DType::Float64:
      return format_double(scalar.real);
    case DType::Float16:
    case DType::BFloat16:
    case DType::Float32:
      return format_float(static_cast<float>(scalar.real));
    default:
      return std::to_string(scalar.integer);
  }
}

std::string format_field(const Value& field, const FormatOptions& options) {
  std::string text = field.is_string()
                         ? fmt::format("\"{}\"", printable(field.string(), field.string().size()))
                         : format_value(field, options);
  std::string indented;
  for (char c : text) {
    indented += c;
    if (c == '\n') indented += ' ';
  }
  return indented;
}

}  // namespace

std::string format_double(double value) { return shortest(value); }

std::string format_float(float value) { return shortest(value); }

std::string format_element(const Tensor& tensor, std::int64_t index) {
  switch (tensor.dtype()) {
    case DType::Bool:
      return tensor.get_int(index) != 0 ? "True" : "False";
    case DType::UInt64:
      return std::to_string(static_cast<std::uint64_t>(tensor.get_int(index)));
    case DType::Float64:
      return format_double(tensor.get_double(index));
    case DType::Float16:
    case DType::BFloat16:
    case DType::Float32:
      return format_float(static_cast<float>(tensor.get_double(index)));
    default:
      return std::to_string(tensor.get_int(index));
  }
}

std::string format_shape(const Shape& shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

std::string format_tensor(const Tensor& tensor, const FormatOptions& options) {
  RELISH_CHECK(tensor.defined());
  std::string heading = fmt::format("{} {}", name_of(tensor.dtype()), format_shape(tensor.shape()));
  if (tensor.rank() == 0) return heading + " " + element_text(tensor, 0, true);
  return heading + "\n" + TensorPrinter(tensor, options).print();
}

std::string format_value(const Value& value, const FormatOptions& options) {
  struct Formatter {
    const FormatOptions& options;
    std::string operator()(std::monostate) const { return "None"; }
    std::string operator()(const Tensor& t) const { return format_tensor(t, options); }
    std::string operator()(const std::shared_ptr<const TupleValue>& t) const {
      std::string text = "(";
      for (std::size_t i = 0; i < t->fields.size(); ++i) {
        if (i > 0) text += ",\n ";
        text += format_field(t->fields[i], options);
      }
      return text + (t->fields.size() == 1 ? ",)" : ")");
    }
    std::string operator()(const ShapeValue& s) const { return format_shape(s.dims); }
    std::string operator()(const ScalarValue& s) const { return format_scalar(s); }
    std::string operator()(const std::string& s) const { return s; }
    std::string operator()(const std::shared_ptr<const ObjectValue>& o) const { return o->describe(); }
  };
  return std::visit(Formatter{options}, value.kind());
}

}  // namespace relish
