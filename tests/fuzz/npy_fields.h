// The fields of an npy file, for the targets of npy and of npz.
#pragma once

#include <optional>
#include <vector>

#include "tests/fuzz/structured.h"
#include "tests/unit/runtime/file_builders.h"

namespace relish::fuzzing {

struct NpyFields {
  int version = 1;
  std::string descr = "<f4";
  std::string order = "False";
  std::vector<std::uint64_t> shape = {2};
  std::string header;  // the text in place of one made of the fields, when not empty
  std::string data = std::string(8, '\1');
};

// As much of the fields as the text shows.
inline NpyFields npy_fields(std::string_view file) {
  NpyFields fields;
  if (file.size() < 12 || !file.starts_with("\x93NUMPY")) return fields;
  fields.version = static_cast<unsigned char>(file[6]);
  const std::size_t length_bytes = fields.version == 1 ? 2 : 4;
  std::uint64_t length = 0;
  std::memcpy(&length, file.data() + 8, length_bytes);
  const std::string_view rest = file.substr(8 + length_bytes);
  const std::string_view header = rest.substr(0, length);
  fields.data = rest.substr(std::min<std::size_t>(length, rest.size()));
  auto quoted_after = [&](std::string_view key) -> std::optional<std::string> {
    std::size_t at = header.find(key);
    if (at == std::string_view::npos) return std::nullopt;
    at = header.find('\'', at + key.size());
    const std::size_t end = at == std::string_view::npos ? at : header.find('\'', at + 1);
    if (end == std::string_view::npos) return std::nullopt;
    return std::string(header.substr(at + 1, end - at - 1));
  };
  if (auto descr = quoted_after("'descr':")) fields.descr = *descr;
  if (header.find("True") != std::string_view::npos) fields.order = "True";
  const std::size_t open = header.find('(');
  if (open == std::string_view::npos) return fields;
  fields.shape.clear();
  std::uint64_t dimension = 0;
  bool digits = false;
  for (char c : header.substr(open + 1)) {
    if (c >= '0' && c <= '9') {
      dimension = dimension * 10 + static_cast<std::uint64_t>(c - '0');
      digits = true;
      continue;
    }
    if (digits) fields.shape.push_back(dimension);
    dimension = 0;
    digits = false;
    if (c == ')') break;
  }
  return fields;
}

inline std::string npy_header_text(const NpyFields& fields) {
  std::string shape;
  for (std::uint64_t dimension : fields.shape) {
    shape += dimension > std::uint64_t{1} << 63 ? "-1, " : std::to_string(dimension) + ", ";
  }
  return "{'descr': '" + fields.descr + "', 'fortran_order': " + fields.order + ", 'shape': (" + shape + ")}";
}

inline std::string npy_text(const NpyFields& fields) {
  return testing::npy_file(fields.header.empty() ? npy_header_text(fields) : fields.header, fields.data,
                           fields.version);
}

// Data of the size that the shape and the dtype ask for, when that is small.
inline void fit_data(NpyFields& fields) {
  std::uint64_t wanted = 1;
  for (char c : fields.descr.substr(std::min<std::size_t>(fields.descr.size(), 2))) {
    if (c >= '1' && c <= '8') wanted = static_cast<std::uint64_t>(c - '0');
  }
  for (std::uint64_t dimension : fields.shape) {
    if (__builtin_mul_overflow(wanted, dimension, &wanted)) return;
  }
  if (wanted <= 2000) fields.data.resize(wanted, '\1');
}

inline void change(NpyFields& fields, Choices& choices) {
  switch (choices.below(8)) {
    case 0:
      fields.version = static_cast<int>(choices.below(5));
      break;
    case 1:
      fields.descr = std::string(choices.of({"<", ">", "=", "|", ""})) +
                     choices.of({"b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "V2", "f4", "f8",
                                 "O", "c8", "U1", "f16"});
      break;
    case 2:
      fields.order = choices.of({"True", "False", "False ", "1", ""});
      break;
    case 3:
      if (choices.one_in(2) || fields.shape.empty()) {
        fields.shape.insert(
            fields.shape.begin() + static_cast<std::ptrdiff_t>(choices.below(fields.shape.size() + 1)),
            choices.below(4));
      } else {
        fields.shape.erase(fields.shape.begin() +
                           static_cast<std::ptrdiff_t>(choices.below(fields.shape.size())));
      }
      break;
    case 4:
      if (!fields.shape.empty()) {
        std::uint64_t& dimension = fields.shape[choices.below(fields.shape.size())];
        dimension = choices.size_near(dimension);
      }
      break;
    case 5:
      fields.header = choices.mutated(npy_header_text(fields));
      break;
    case 6:
      fields.data = choices.mutated(fields.data);
      break;
    default:
      fields.data.resize(choices.below(64));
      break;
  }
  if (!choices.one_in(4)) fit_data(fields);
}

}  // namespace relish::fuzzing
