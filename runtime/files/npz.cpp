// Reading and writing of npz: a zip archive of npy entries.
#include <algorithm>
#include <memory>

#include "runtime/files.h"
#include "runtime/files/npy.h"
#include "runtime/files/safetensors.h"
#include "runtime/files/selection.h"
#include "runtime/files/zip.h"
#include "runtime/files/zip_write.h"
#include "support/atomic_file.h"
#include "support/render.h"

namespace relish {
namespace {

constexpr std::string_view npy_suffix = ".npy";
static_assert(most_npz_comment_bytes == max_zip_comment_bytes);

std::unique_ptr<ByteStream> open_entry(const DataFile& file, const ZipEntry& entry,
                                       const std::string& place) {
  if (!entry.deflated)
    return std::make_unique<RangeStream>(file, place, entry.data_offset, entry.stored_bytes);
  return std::make_unique<InflateStream>(file, place, entry.data_offset, entry.stored_bytes,
                                         InflateStream::Format::RawDeflate);
}

Tensor read_entry(const DataFile& file, const ZipEntry& entry, const std::string& place) {
  std::unique_ptr<ByteStream> stream = open_entry(file, entry, place);
  NpyHeader header = read_npy_header(*stream);
  if (entry.bytes < header.header_bytes || entry.bytes - header.header_bytes != header.data_bytes) {
    stream->fail_here(
        "npz.size",
        fmt::format("the header of {} bytes announces {} bytes of elements, the entry has {} bytes",
                    header.header_bytes, header.data_bytes, entry.bytes));
  }
  if (header.data_bytes > file.trusted_allocation()) {
    std::uint64_t present = open_entry(file, entry, place)->skip(entry.bytes);
    if (present != entry.bytes)
      data_failure(place, "file.truncated", "truncated: the entry is shorter than announced", present);
  }
  Tensor tensor = read_npy_elements(*stream, header);
  std::uint32_t crc = stream->crc();
  if (!stream->at_end()) stream->fail_here("npz.size", "the entry is longer than announced");
  if (crc != entry.crc) {
    data_failure(place, "npz.checksum",
                 fmt::format("the checksum is {:08x}; expected {:08x}", crc, entry.crc), entry.bytes);
  }
  return tensor;
}

}  // namespace

NamedTensors read_npz_selected(const std::string& path, const std::string* only) {
  DataFile file(path);
  std::vector<ZipEntry> entries = read_zip_directory(file);
  NamedTensors tensors;
  std::vector<std::string> names;
  for (const ZipEntry& entry : entries) {
    // What torch.save writes is an archive too, of a pickle and the bytes that it names.
    if (entry.name.ends_with("/data.pkl"))
      data_failure(path, "file.format", fmt::format("this is a file of PyTorch: {}", way_out_of_pickle));
    if (!entry.name.ends_with(npy_suffix)) {
      data_failure(fmt::format("{}:{}", path, printable(entry.name)), "npz.entry",
                   "the entry is not an npy array");
    }
    names.push_back(entry.name.substr(0, entry.name.size() - npy_suffix.size()));
  }
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (only != nullptr && names[i] != *only) continue;
    Tensor tensor = read_entry(file, entries[i], fmt::format("{}:{}", path, printable(names[i])));
    tensors.emplace_back(names[i], std::move(tensor));
  }
  if (only != nullptr && tensors.empty()) missing_entry(path, *only, names);
  return tensors;
}

std::vector<std::string> entry_names(const std::string& path) {
  if (!path.ends_with(".npz")) return names_in_safetensors(path);
  std::vector<std::string> names;
  for (const ZipEntry& entry : read_zip_directory(DataFile(path)))
    if (entry.name.ends_with(npy_suffix))
      names.push_back(entry.name.substr(0, entry.name.size() - npy_suffix.size()));
  return names;
}

NamedTensors read_npz(const std::string& path) { return read_npz_selected(path, nullptr); }

std::string npz_comment(const std::string& path) { return read_zip_comment(DataFile(path)); }

void write_npz(const std::string& path, const NamedTensors& tensors, const std::string& comment) {
  check_names(path, tensors);
  RELISH_CHECK(comment.size() <= most_npz_comment_bytes);
  if (tensors.size() > max_zip_entries) {
    fail_at(ErrorClass::Usage, path, "npz.entries",
            fmt::format("{} tensors; an npz file holds at most {}; a safetensors file holds more",
                        tensors.size(), max_zip_entries));
  }
  write_file_atomically(path, [&](ByteSink& sink) {
    std::uint64_t offset = 0;
    auto put = [&](std::string_view text) {
      sink.write(text);
      offset += text.size();
    };
    std::vector<ZipRecord> written;
    for (const auto& [name, tensor] : tensors) {
      std::string header = npy_header(tensor);
      ZipRecord entry{name + std::string(npy_suffix), 0,
                      header.size() + static_cast<std::uint64_t>(tensor.byte_size()), offset};
      entry.crc = static_cast<std::uint32_t>(
          crc32_z(0, reinterpret_cast<const Bytef*>(header.data()), header.size()));
      entry.crc = static_cast<std::uint32_t>(crc32_z(entry.crc, static_cast<const Bytef*>(tensor.data()),
                                                     static_cast<std::size_t>(tensor.byte_size())));
      put(zip_local_record(entry));
      put(header);
      put({static_cast<const char*>(tensor.data()), static_cast<std::size_t>(tensor.byte_size())});
      written.push_back(std::move(entry));
    }
    std::uint64_t directory_offset = offset;
    for (const ZipRecord& entry : written) put(zip_central_record(entry));
    put(zip_end_records(written.size(), directory_offset, offset - directory_offset, comment));
  });
}

}  // namespace relish
