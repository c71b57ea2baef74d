// Rows by pread: neighbours that are wanted one behind the other are read at once.
#include <algorithm>
#include <cstring>
#include <filesystem>

#include "runtime/files/data_file.h"
#include "runtime/files/npy.h"
#include "runtime/files/rows.h"
#include "runtime/format.h"
#include "runtime/row_files.h"
#include "support/render.h"

namespace relish {
namespace {

std::uint64_t row_bytes_of(DType dtype, const Shape& shape) {
  std::uint64_t bytes = static_cast<std::uint64_t>(size_of(dtype));
  for (std::size_t i = 1; i < shape.size(); ++i) bytes *= static_cast<std::uint64_t>(shape[i]);
  return bytes;
}

class FileRows final : public RowSource {
 public:
  FileRows(const std::string& path, const RowsInFile& place)
      : file_(path), place_(place), row_bytes_(row_bytes_of(place.dtype, place.shape)) {}

  DType dtype() const override { return place_.dtype; }
  const Shape& shape() const override { return place_.shape; }

  void read(std::span<const std::int64_t> rows, std::byte* to) const override {
    for (std::size_t i = 0; i < rows.size();) {
      RELISH_CHECK(rows[i] >= 0 && rows[i] < place_.shape.front());
      std::size_t end = i + 1;
      while (end < rows.size() && rows[end] == rows[end - 1] + 1) ++end;
      RELISH_CHECK(rows[end - 1] < place_.shape.front());
      const std::uint64_t begin = place_.begin + static_cast<std::uint64_t>(rows[i]) * row_bytes_;
      const std::uint64_t bytes = (end - i) * row_bytes_;
      file_.read_at(begin, to, bytes);
      if (place_.swap_bytes || place_.dtype == DType::Bool) settle(to, end - i, begin);
      to += bytes;
      i = end;
    }
  }

 private:
  void settle(std::byte* data, std::size_t rows, std::uint64_t begin) const {
    Shape shape = place_.shape;
    shape.front() = static_cast<std::int64_t>(rows);
    Tensor tensor = Tensor::empty(place_.dtype, shape);
    std::memcpy(tensor.mutable_data(), data, rows * row_bytes_);
    settle_elements(tensor, place_.swap_bytes, file_.path(), begin);
    std::memcpy(data, tensor.data(), rows * row_bytes_);
  }

  DataFile file_;
  RowsInFile place_;
  std::uint64_t row_bytes_;
};

class TensorRows final : public RowSource {
 public:
  explicit TensorRows(Tensor tensor)
      : tensor_(std::move(tensor)), row_bytes_(row_bytes_of(tensor_.dtype(), tensor_.shape())) {}
  DType dtype() const override { return tensor_.dtype(); }
  const Shape& shape() const override { return tensor_.shape(); }
  void read(std::span<const std::int64_t> rows, std::byte* to) const override {
    const auto* from = static_cast<const std::byte*>(tensor_.data());
    for (const std::int64_t row : rows) {
      RELISH_CHECK(row >= 0 && row < tensor_.shape().front());
      if (row_bytes_ > 0) std::memcpy(to, from + static_cast<std::uint64_t>(row) * row_bytes_, row_bytes_);
      to += row_bytes_;
    }
  }

 private:
  Tensor tensor_;
  std::uint64_t row_bytes_;
};

class JoinedRows final : public RowSource {
 public:
  explicit JoinedRows(std::vector<std::shared_ptr<const RowSource>> parts)
      : parts_(std::move(parts)), shape_(parts_.front()->shape()) {
    shape_.front() = 0;
    for (const auto& part : parts_) ends_.push_back(shape_.front() += part->shape().front());
    row_bytes_ = row_bytes_of(dtype(), shape_);
  }
  DType dtype() const override { return parts_.front()->dtype(); }
  const Shape& shape() const override { return shape_; }
  void read(std::span<const std::int64_t> rows, std::byte* to) const override {
    std::vector<std::int64_t> own;
    for (std::size_t i = 0; i < rows.size();) {
      const auto part =
          static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), rows[i]) - ends_.begin());
      RELISH_CHECK(rows[i] >= 0 && part < parts_.size());
      const std::int64_t begin = part == 0 ? 0 : ends_[part - 1];
      own.clear();
      for (; i < rows.size() && rows[i] >= begin && rows[i] < ends_[part]; ++i)
        own.push_back(rows[i] - begin);
      parts_[part]->read(own, to);
      to += own.size() * row_bytes_;
    }
  }

 private:
  std::vector<std::shared_ptr<const RowSource>> parts_;
  Shape shape_;
  std::vector<std::int64_t> ends_;  // of the rows of each part, among all
  std::uint64_t row_bytes_ = 0;
};

bool is_regular_path(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error);
}

// "m.safetensors:x" when the whole is no file.
std::pair<std::string, std::string> path_and_entry_of(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || is_regular_path(text)) return {text, ""};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

std::optional<RowsInFile> rows_of_npy(const std::string& path) {
  const DataFile file(path);
  RangeStream stream(file, path, 0, file.size());
  const NpyHeader header = read_npy_header(stream);
  if (header.fortran_order && header.shape.size() > 1) return std::nullopt;
  if (header.data_bytes != file.size() - header.header_bytes) {
    data_failure(path, "npy.size",
                 fmt::format("the header announces {} bytes of elements, the file has {}", header.data_bytes,
                             file.size() - header.header_bytes),
                 header.header_bytes);
  }
  return RowsInFile{header.dtype, header.shape, header.header_bytes, header.swap_bytes};
}

}  // namespace

std::uint64_t bytes_of_rows_file(const std::string& text) {
  const std::string path = path_and_entry_of(text).first;
  return is_regular_path(path) ? DataFile(path).size() : 0;
}

std::shared_ptr<const RowSource> open_rows(const std::string& text) {
  const auto [path, entry] = path_and_entry_of(text);
  std::string head = DataFile(path).head(8);
  std::optional<RowsInFile> place;
  if (head.starts_with("\x93NUMPY")) {
    if (entry.empty()) place = rows_of_npy(path);
  } else if (path.ends_with(".safetensors")) {
    place = rows_in_safetensors(path, entry);
  } else if (head.size() >= 4 && head[0] == '\0' && head[1] == '\0' && entry.empty()) {
    place = rows_in_idx(path);
  }
  if (!place || place->shape.empty()) return nullptr;
  return std::make_shared<FileRows>(path, *place);
}

std::shared_ptr<const RowSource> rows_of_tensor(Tensor tensor) {
  return std::make_shared<TensorRows>(std::move(tensor));
}

std::shared_ptr<const RowSource> joined_rows(std::vector<std::shared_ptr<const RowSource>> parts,
                                             const std::vector<std::string>& names) {
  RELISH_CHECK(!parts.empty() && parts.size() == names.size());
  const auto row_of = [](const RowSource& part) {
    return Shape(part.shape().begin() + 1, part.shape().end());
  };
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (parts[i]->dtype() == parts[0]->dtype() && row_of(*parts[i]) == row_of(*parts[0])) continue;
    data_failure(printable(names[i]), "data.parts",
                 fmt::format("its rows are {} {}; those of {} are {} {}", name_of(parts[i]->dtype()),
                             format_shape(row_of(*parts[i])), printable(names[0]), name_of(parts[0]->dtype()),
                             format_shape(row_of(*parts[0]))));
  }
  return std::make_shared<JoinedRows>(std::move(parts));
}

}  // namespace relish
