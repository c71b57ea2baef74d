// Columns in memory are converted at once, those of files as their rows are read.
#include "shell/commands/training/data_types.h"

#include <algorithm>
#include <cmath>

#include "shell/session.h"
#include "stdlib/families/elementwise/elements.h"
#include "support/render.h"

namespace relish {
namespace {

bool is_whole(DType dtype) { return is_int(dtype) || is_bool(dtype); }

int bits_of(DType dtype) { return is_bool(dtype) ? 1 : 8 * size_of(dtype); }

// Digits of the significand, with the one that is not stored.
int digits_of(DType dtype) {
  switch (dtype) {
    case DType::Float64:
      return 53;
    case DType::Float32:
      return 24;
    case DType::Float16:
      return 11;
    default:
      return 8;
  }
}

// Whether every value of one dtype is one of the other.
bool holds_all(DType wanted, DType given) {
  if (is_whole(given)) {
    const bool sign = is_int(given) && !is_unsigned_int(given);
    const int bits = bits_of(given) - (sign ? 1 : 0);
    if (is_float(wanted)) return bits <= digits_of(wanted);
    if (sign && (is_bool(wanted) || is_unsigned_int(wanted))) return false;
    const bool to_sign = is_int(wanted) && !is_unsigned_int(wanted);
    return bits <= bits_of(wanted) - (to_sign ? 1 : 0);
  }
  if (!is_float(wanted)) return false;
  return wanted == DType::Float64 || (wanted == DType::Float32 && given != DType::Float64);
}

// Whether a dtype may stand for another where its numbers allow it. `target`: a loss takes integers as
// floats; of a model's input they are most often pixels or codes that want a scale or an embedding.
bool may_stand_for(DType wanted, DType given, bool target) {
  if (is_whole(given)) return is_whole(wanted) || (target && is_float(wanted));
  return is_float(wanted) && (holds_all(wanted, given) || wanted == DType::Float32);
}

bool same_whole(const Tensor& given, const Tensor& taken, std::int64_t at) {
  const std::int64_t before = given.get_int(at), after = taken.get_int(at);
  const bool wide = given.dtype() == DType::UInt64, to_wide = taken.dtype() == DType::UInt64;
  if (before < 0 && wide != to_wide) return false;
  return before == after && (!is_float(taken.dtype()) || std::abs(taken.get_double(at)) < 0x1p63);
}

bool still_finite(const Tensor& given, const Tensor& taken, std::int64_t at) {
  return std::isfinite(taken.get_double(at)) || !std::isfinite(given.get_double(at));
}

struct Conversion {
  std::string data;    // name of the option
  std::string column;  // of the parameter
  Span place;
  DType wanted;
  bool cast = false;

  std::string way_out() const { return "cast (cast=True, --cast) takes such values as astype does"; }

  // `first_row`: of the tensor in its column, of rows that stand one behind the other; none: not known.
  Tensor of(const Tensor& given, std::optional<std::int64_t> first_row) const {
    Tensor taken = convert_tensor(given, wanted);
    if (cast || holds_all(wanted, given.dtype())) return taken;
    const bool whole = is_whole(given.dtype());
    for (std::int64_t i = 0; i < given.size(); ++i) {
      if (whole ? same_whole(given, taken, i) : still_finite(given, taken, i)) continue;
      const std::int64_t in_row = given.size() / std::max<std::int64_t>(given.shape().front(), 1);
      const std::string value = whole && given.dtype() == DType::UInt64
                                    ? fmt::format("{}", static_cast<std::uint64_t>(given.get_int(i)))
                                : whole ? fmt::format("{}", given.get_int(i))
                                        : fmt::format("{}", given.get_double(i));
      fail(ErrorClass::Data, place, "data.dtype",
           fmt::format("{}: {} in {}'{}' is no value of {}; {}", data, value,
                       first_row ? fmt::format("row {} of ", *first_row + i / in_row) : "", printable(column),
                       name_of(wanted), way_out()));
    }
    return taken;
  }
};

// Rows of files in another dtype.
class ConvertedRows final : public RowSource {
 public:
  ConvertedRows(Column column, Conversion conversion)
      : column_(std::move(column)), conversion_(std::move(conversion)) {}
  DType dtype() const override { return conversion_.wanted; }
  const Shape& shape() const override { return column_.shape(); }
  void read(std::span<const std::int64_t> rows, std::byte* to) const override {
    const Tensor taken = conversion_.of(column_.gather(rows), std::nullopt);
    std::copy_n(static_cast<const std::byte*>(taken.data()), taken.byte_size(), to);
  }

 private:
  Column column_;
  Conversion conversion_;
};

const TensorType* type_of_parameter(const Function& function, const std::string& name) {
  const auto found = std::find_if(function.params.begin(), function.params.end(),
                                  [&](const Var& each) { return each.name() == name; });
  return found == function.params.end() ? nullptr : found->type().tensor();
}

// What is said of a column that is taken as another kind of numbers; nothing where only a width changes.
std::string told(DType given, DType wanted, const std::string& column) {
  if (is_whole(given) && is_whole(wanted)) return {};
  const std::string what = is_bool(given)    ? "truth values"
                           : is_whole(given) ? "integers"
                                             : fmt::format("{} numbers", name_of(given));
  return fmt::format("the {} of '{}'", what, printable(column));
}

}  // namespace

void fit_dtypes(const Invocation& invocation, DataSet& data, const TrainingProgram& program,
                const Function& function, const DataParameters& parameters) {
  // Which column is which is not known where some are left out: that is told elsewhere.
  if (data.inputs.size() + data.targets.size() < parameters.inputs.size() + parameters.targets.size()) return;
  const bool cast = invocation.flag("cast");
  std::vector<std::pair<DType, std::vector<std::string>>> notes;
  const auto fit = [&](Column& column, const std::string& name, std::size_t at, bool target) {
    const TensorType* type = type_of_parameter(function, name);
    for (auto prepare = program.prepare.rbegin(); prepare != program.prepare.rend(); ++prepare)
      if (at < prepare->taken)
        type = function_to_call(program.module, prepare->function)->params[at].type().tensor();
    if (!type || !type->dtype || *type->dtype == column.dtype() || column.shape().empty()) return;
    if (type->rank >= 0 && type->rank != static_cast<int>(column.shape().size())) return;
    const DType wanted = *type->dtype, given = column.dtype();
    const Conversion conversion{data.name, name, data.place, wanted, cast};
    if (!cast && !may_stand_for(wanted, given, target)) {
      fail(ErrorClass::Data, data.place, "data.dtype",
           fmt::format("{}: '{}' is {} and the model takes {}; {}", data.name, printable(name),
                       name_of(given), name_of(wanted), conversion.way_out()));
    }
    if (column.in_memory()) {
      column = Column(conversion.of(column.tensor(), 0));
    } else {
      column = Column(std::make_shared<ConvertedRows>(column, conversion));
    }
    std::string note = told(given, wanted, name);
    if (note.empty()) return;
    const auto known =
        std::find_if(notes.begin(), notes.end(), [&](const auto& each) { return each.first == wanted; });
    (known == notes.end() ? notes.emplace_back(wanted, std::vector<std::string>{}) : *known)
        .second.push_back(std::move(note));
  };
  for (std::size_t i = 0; i < std::min(parameters.inputs.size(), data.inputs.size()); ++i)
    fit(data.inputs[i], parameters.inputs[i], i, false);
  for (std::size_t i = 0; i < std::min(parameters.targets.size(), data.targets.size()); ++i)
    fit(data.targets[i], parameters.targets[i], data.inputs.size() + i, true);
  for (const auto& [wanted, columns] : notes) {
    write_error_text(fmt::format("note: {}: {} are taken as {}\n", data.name, fmt::join(columns, " and "),
                                 name_of(wanted)));
  }
}

}  // namespace relish
