// A safetensors file: the entries of its header, the header's text, the data; and raw bytes.
#include <nlohmann/json.hpp>

#include "runtime/files.h"
#include "tests/fuzz/loader_input.h"
#include "tests/fuzz/structured.h"
#include "tests/unit/runtime/file_builders.h"

using namespace relish::fuzzing;
using Json = nlohmann::ordered_json;

namespace {

constexpr const char* example = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";

// Offsets that follow each other, each as long as its entry's shape and dtype ask for; the number of bytes of
// all.
std::uint64_t lay_out(Json& header) {
  std::uint64_t offset = 0;
  for (auto& [name, entry] : header.items()) {
    if (name == "__metadata__" || !entry.is_object() || !entry.contains("shape") || !entry.contains("dtype"))
      continue;
    std::uint64_t bytes = 1;
    const std::string dtype = entry["dtype"].is_string() ? entry["dtype"].get<std::string>() : "";
    if (dtype.ends_with("64")) bytes = 8;
    if (dtype.ends_with("32")) bytes = 4;
    if (dtype.ends_with("16")) bytes = 2;
    for (const Json& dimension : entry["shape"]) {
      if (dimension.is_number_unsigned()) bytes *= dimension.get<std::uint64_t>();
    }
    bytes = std::min<std::uint64_t>(bytes, 500);
    entry["data_offsets"] = {offset, offset + bytes};
    offset += bytes;
  }
  return offset;
}

void change_entry(Json& entry, Choices& choices) {
  switch (choices.below(7)) {
    case 0:
      entry["dtype"] = choices.of({"BOOL", "I8", "I16", "I32", "I64", "U8", "U16", "U32", "U64", "F16",
                                   "BF16", "F32", "F64", "F8_E4M3", "C64", ""});
      break;
    case 1:
      entry["shape"] = Json::array({choices.below(4), choices.below(4)});
      break;
    case 2:
      if (entry["shape"].is_array()) entry["shape"].push_back(choices.size_near(1));
      break;
    case 3:
      entry["shape"] = Json::array();
      break;
    case 4:
      entry["data_offsets"] = Json::array({choices.size_near(0), choices.size_near(8)});
      break;
    case 5:
      entry[choices.of({"dtype", "shape", "data_offsets", "more"})] =
          choices.of<Json>({Json(nullptr), Json(-1), Json(1.5), Json(true), Json::array({Json::array()}),
                            Json::object(), Json("x")});
      break;
    default:
      entry.erase(std::string(choices.of({"dtype", "shape", "data_offsets"})));
      break;
  }
}

std::string changed(Choices& choices, std::string_view input) {
  std::string text = example;
  std::string data(8, '\1');
  if (input.size() >= 8) {
    std::uint64_t length = 0;
    std::memcpy(&length, input.data(), 8);
    const std::string_view rest = input.substr(8);
    text = rest.substr(0, length);
    data = rest.substr(std::min<std::uint64_t>(length, rest.size()));
  }
  Json header = Json::parse(text, nullptr, false);
  if (!header.is_object() || header.empty()) {
    text = example;
    header = Json::parse(text);
  }
  if (choices.one_in(4)) {
    text = choices.mutated(text);  // the text itself, with its true length
    return relish::testing::safetensors_file(text, data);
  }
  for (std::uint64_t i = choices.below(3) + 1; i > 0; --i) {
    auto entry = header.begin();
    std::advance(entry, static_cast<std::ptrdiff_t>(choices.below(header.size())));
    const std::uint64_t what = choices.below(6);
    if (what == 0) {
      header["__metadata__"] = Json::object({{"k", choices.one_in(4) ? Json(1) : Json("v")}});
    } else if (what == 1) {
      Json copy = entry.value();  // a new name may move what the entry is in
      header[choices.mutated("name")] = std::move(copy);
    } else if (entry.value().is_object()) {
      change_entry(entry.value(), choices);
    } else {
      header[entry.key()] = Json::parse(example)["a"];
    }
  }
  if (!choices.one_in(3)) data.resize(lay_out(header), '\1');
  text = header.dump(-1, ' ', false, Json::error_handler_t::ignore);
  if (choices.one_in(8))
    text.insert(text.size() - 1, "," + text.substr(1, text.size() - 2));  // every key twice
  if (choices.one_in(8)) text += std::string(choices.below(9), ' ');
  return relish::testing::safetensors_file(text, data);
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  return mutate_fields(data, size, max_size, seed, changed);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try_loader(data, size, [](const std::string& path) {
    std::map<std::string, std::string> metadata;
    relish::read_safetensors(path, &metadata);
  });
  return 0;
}
