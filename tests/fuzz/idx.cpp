// An IDX file, plain or gzipped: type, rank, dimensions, elements and the wrapping; and raw bytes.
#include "runtime/files.h"
#include "tests/fuzz/loader_input.h"
#include "tests/fuzz/structured.h"
#include "tests/unit/runtime/file_builders.h"

using namespace relish::fuzzing;

namespace {

constexpr std::size_t longest_content = 1 << 16;

// The contents of a gzip stream, as far as they come out.
std::string gunzipped(std::string_view data) {
  z_stream state = {};
  constexpr int gzip_flag = 16;
  if (inflateInit2(&state, MAX_WBITS + gzip_flag) != Z_OK) return {};
  std::string result(longest_content, '\0');
  state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
  state.avail_in = static_cast<uInt>(data.size());
  state.next_out = reinterpret_cast<Bytef*>(result.data());
  state.avail_out = static_cast<uInt>(result.size());
  inflate(&state, Z_FINISH);
  result.resize(state.total_out);
  inflateEnd(&state);
  return result;
}

struct IdxFields {
  int type = 8;
  int rank = 1;
  std::vector<std::uint32_t> shape = {2};
  std::string data = "ab";
};

IdxFields idx_fields(std::string_view file) {
  IdxFields fields;
  if (file.size() < 8) return fields;
  fields.type = static_cast<unsigned char>(file[2]);
  fields.rank = static_cast<unsigned char>(file[3]);
  fields.shape.clear();
  std::size_t at = 4;
  for (int i = 0; i < std::min(fields.rank, 5) && at + 4 <= file.size(); ++i, at += 4) {
    std::uint32_t dimension = 0;
    std::memcpy(&dimension, file.data() + at, 4);
    fields.shape.push_back(__builtin_bswap32(dimension));
  }
  fields.data = file.substr(at);
  return fields;
}

void change(IdxFields& fields, Choices& choices) {
  switch (choices.below(6)) {
    case 0:
      fields.type = choices.of({8, 9, 0xB, 0xC, 0xD, 0xE, 0xA, 0});
      break;
    case 1:
      fields.rank = static_cast<int>(choices.below(6));
      fields.shape.resize(static_cast<std::size_t>(fields.rank), 1);
      break;
    case 2:
      fields.rank = static_cast<int>(choices.below(256));
      break;
    case 3:
      if (!fields.shape.empty()) {
        std::uint32_t& dimension = fields.shape[choices.below(fields.shape.size())];
        dimension = static_cast<std::uint32_t>(choices.size_near(dimension));
      }
      break;
    default:
      fields.data = choices.mutated(fields.data);
      break;
  }
  if (choices.one_in(4)) return;
  std::uint64_t wanted = fields.type == 0xE ? 8 : fields.type >= 0xC ? 4 : fields.type == 0xB ? 2 : 1;
  for (std::uint32_t dimension : fields.shape) {
    if (__builtin_mul_overflow(wanted, std::uint64_t{dimension}, &wanted)) return;
  }
  if (wanted <= 4000) fields.data.resize(wanted, '\1');
}

std::string changed(Choices& choices, std::string_view input) {
  const bool was_zipped = input.starts_with("\x1f\x8b");
  const std::string content = was_zipped ? gunzipped(input) : std::string(input);
  IdxFields fields = idx_fields(content);
  for (std::uint64_t i = choices.below(3) + 1; i > 0; --i) change(fields, choices);
  std::string bytes = {'\0', '\0', static_cast<char>(fields.type), static_cast<char>(fields.rank)};
  for (std::uint32_t dimension : fields.shape) bytes += relish::testing::big_endian(dimension, 4);
  bytes += fields.data;
  const bool zip = choices.one_in(8) ? !was_zipped : was_zipped;
  if (!zip) return bytes;
  bytes = relish::testing::deflated(bytes, true);
  if (choices.one_in(16)) bytes += relish::testing::deflated("more", true);
  if (choices.one_in(16)) bytes.resize(bytes.size() - choices.below(9));
  return bytes;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  return mutate_fields(data, size, max_size, seed, changed);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try_loader(data, size, [](const std::string& path) { relish::read_idx(path); });
  return 0;
}
