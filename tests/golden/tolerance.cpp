// Comparison of tensors and texts by agreement class.
#include "tests/golden/tolerance.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <vector>

#include "runtime/format.h"
#include "runtime/stack.h"

namespace relish::testing {
namespace {

std::string place_of(const Tensor& tensor, std::int64_t flat) {
  std::vector<std::int64_t> index(tensor.shape().size());
  for (std::size_t i = index.size(); i-- > 0;) {
    index[i] = flat % tensor.shape()[i];
    flat /= tensor.shape()[i];
  }
  return fmt::format("[{}]", fmt::join(index, ", "));
}

std::string shape_disagreement(const Tensor& actual, const Tensor& wanted) {
  if (actual.dtype() == wanted.dtype() && actual.shape() == wanted.shape()) return {};
  return fmt::format("found {} {}, expected {} {}", name_of(actual.dtype()), format_shape(actual.shape()),
                     name_of(wanted.dtype()), format_shape(wanted.shape()));
}

template <class Allowed>
std::string element_disagreement(const Tensor& actual, const Tensor& wanted, Allowed&& allowed) {
  for (std::int64_t i = 0; i < wanted.size(); ++i) {
    const double a = actual.get_double(i), b = wanted.get_double(i);
    if (std::isnan(a) && std::isnan(b)) continue;
    if (a == b) continue;
    const bool finite = std::isfinite(a) && std::isfinite(b);
    if (finite && allowed(a, b, i)) continue;
    return fmt::format("at {}: found {}, expected {} ({} units in the last place apart)", place_of(wanted, i),
                       format_double(a), format_double(b), finite ? ulp_distance(a, b, wanted.dtype()) : -1);
  }
  return {};
}

// Classes 1, 2, 3 and 7. A NaN equals a NaN whatever its payload.
std::string bitwise_disagreement(const Tensor& actual, const Tensor& wanted) {
  const auto size = static_cast<std::size_t>(size_of(wanted.dtype()));
  const auto* a = static_cast<const char*>(actual.data());
  const auto* b = static_cast<const char*>(wanted.data());
  for (std::int64_t i = 0; i < wanted.size(); ++i, a += size, b += size) {
    if (std::memcmp(a, b, size) == 0) continue;
    if (is_float(wanted.dtype()) && std::isnan(actual.get_double(i)) && std::isnan(wanted.get_double(i)))
      continue;
    return fmt::format("at {}: found {}, expected {}, to the bit", place_of(wanted, i),
                       format_element(actual, i), format_element(wanted, i));
  }
  return {};
}

std::string sum_disagreement(const Tensor& actual, const Tensor& wanted, const Terms& terms) {
  return element_disagreement(actual, wanted, [&](double a, double b, std::int64_t i) {
    const double magnitude = terms.magnitudes ? terms.magnitudes->get_double(i) : std::abs(b);
    return std::abs(a - b) <= sum_bound(b, magnitude, terms.count, wanted.dtype()) ||
           ulp_distance(a, b, wanted.dtype()) <= 1;
  });
}

// --- Texts.

bool starts_number(std::string_view text, std::size_t i) {
  if (i > 0) {
    const char before = text[i - 1];
    if (std::isalnum(static_cast<unsigned char>(before)) || before == '_' || before == '.') return false;
  }
  if (text[i] == '-' || text[i] == '.') ++i;
  return i < text.size() && text[i] >= '0' && text[i] <= '9';
}

struct Number {
  double value = 0;
  bool integer = false;
  std::size_t length = 0;
};

Number number_at(std::string_view text, std::size_t i) {
  Number number;
  const auto result = std::from_chars(text.data() + i, text.data() + text.size(), number.value);
  number.length = static_cast<std::size_t>(result.ptr - (text.data() + i));
  const std::string_view token = text.substr(i, number.length);
  number.integer = token.find_first_of(".eEn") == std::string_view::npos;
  return number;
}

}  // namespace

std::string disagreement(const Tensor& actual, const Tensor& wanted, int agreement_class,
                         const Terms& terms) {
  std::string shape = shape_disagreement(actual, wanted);
  if (!shape.empty()) return shape;
  if (!is_float(wanted.dtype())) return bitwise_disagreement(actual, wanted);
  switch (agreement_class) {
    case 1:
    case 2:
    case 3:
    case 7:
      return bitwise_disagreement(actual, wanted);
    case 4:
      return element_disagreement(actual, wanted, [&](double a, double b, std::int64_t) {
        return ulp_distance(a, b, wanted.dtype()) <= most_ulps(wanted.dtype());
      });
    case 5:
      return sum_disagreement(actual, wanted, terms);
    default:
      return disagreement(actual, wanted, closeness(agreement_class, wanted.dtype()));
  }
}

std::string disagreement(const Tensor& actual, const Tensor& wanted, const Closeness& allowed) {
  std::string shape = shape_disagreement(actual, wanted);
  if (!shape.empty()) return shape;
  return element_disagreement(actual, wanted, [&](double a, double b, std::int64_t) {
    return std::abs(a - b) <= allowed.rtol * std::abs(b) + allowed.atol;
  });
}

std::string disagreement(const Value& actual, const Value& wanted, int agreement_class) {
  if (actual.kind().index() != wanted.kind().index()) {
    return fmt::format("found {}, expected {}", describe(actual), describe(wanted));
  }
  if (wanted.is_tensor()) return disagreement(actual.tensor(), wanted.tensor(), agreement_class);
  if (wanted.is_tuple()) {
    if (actual.fields().size() != wanted.fields().size()) {
      return fmt::format("found {}, expected {}", describe(actual), describe(wanted));
    }
    for (std::size_t i = 0; i < wanted.fields().size(); ++i) {
      std::string field = disagreement(actual.fields()[i], wanted.fields()[i], agreement_class);
      if (!field.empty()) return fmt::format("field {}: {}", i, field);
    }
    return {};
  }
  const auto held = stack_of(actual), stack = stack_of(wanted);
  if (held && stack && held->size() == stack->size()) {
    for (auto a = held, b = stack; a->size() > 0; a = a->below(), b = b->below()) {
      std::string element = disagreement(a->top(), b->top(), agreement_class);
      if (!element.empty()) return fmt::format("element {} of the stack: {}", a->size() - 1, element);
    }
    return {};
  }
  if (format_value(actual) == format_value(wanted)) return {};
  return fmt::format("found {}, expected {}", format_value(actual), format_value(wanted));
}

std::string text_disagreement(std::string_view actual, std::string_view wanted, int agreement_class) {
  if (actual == wanted) return {};
  DType dtype = DType::Float32;
  std::size_t i = 0, j = 0, line = 1;
  const auto differ = [&](std::string_view why) {
    const auto rest = [](std::string_view text, std::size_t at) {
      const std::string_view tail = text.substr(std::min(at, text.size()));
      return std::string(tail.substr(0, std::min<std::size_t>(tail.find('\n'), 60)));
    };
    return fmt::format("line {}: found '{}', expected '{}'{}", line, rest(actual, i), rest(wanted, j), why);
  };
  while (i < actual.size() && j < wanted.size()) {
    if (starts_number(actual, i) && starts_number(wanted, j)) {
      const Number a = number_at(actual, i), b = number_at(wanted, j);
      const std::string_view a_text = actual.substr(i, a.length), b_text = wanted.substr(j, b.length);
      if (a_text != b_text) {
        if (!is_float(dtype) || (a.integer && b.integer)) return differ("");
        const Closeness allowed = closeness(agreement_class, dtype);
        const bool close = std::abs(a.value - b.value) <= allowed.rtol * std::abs(b.value) + allowed.atol;
        if (!close) return differ(fmt::format(" within {:g} relative", allowed.rtol));
      }
      i += std::max<std::size_t>(a.length, 1);
      j += std::max<std::size_t>(b.length, 1);
      continue;
    }
    if (actual[i] != wanted[j]) {
      // Numbers of unequal width move the blanks that align columns.
      if (actual[i] == ' ') {
        ++i;
        continue;
      }
      if (wanted[j] == ' ') {
        ++j;
        continue;
      }
      return differ("");
    }
    const bool word_start = i == 0 || !std::isalnum(static_cast<unsigned char>(actual[i - 1]));
    if (word_start && std::isalpha(static_cast<unsigned char>(actual[i]))) {
      std::size_t end = i;
      while (end < actual.size() && std::isalnum(static_cast<unsigned char>(actual[end]))) ++end;
      if (auto named = dtype_from_name(actual.substr(i, end - i))) dtype = *named;
    }
    if (actual[i] == '\n') {
      ++line;
      // A tensor ends where its rows do; what follows is read as float32 until a dtype is named again.
      if (i + 1 < actual.size() && actual[i + 1] != ' ' && actual[i + 1] != '[') dtype = DType::Float32;
    }
    ++i;
    ++j;
  }
  while (i < actual.size() && (actual[i] == ' ' || actual[i] == '\n')) ++i;
  while (j < wanted.size() && (wanted[j] == ' ' || wanted[j] == '\n')) ++j;
  return i == actual.size() && j == wanted.size() ? std::string() : differ("");
}

}  // namespace relish::testing
