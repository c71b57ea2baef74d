// Records and messages by hand: there are four fields. Event: wall_time = 1 (double), step = 2 (int64),
// file_version = 3 (string), summary = 5; Summary: value = 1; Value: tag = 1 (string), simple_value = 2
// (float).
#include "train/report/event_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>

#include "support/atomic_file.h"
#include "train/run_folder_files.h"

namespace relish {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::uint32_t, 256> crc_table() {
  constexpr std::uint32_t polynomial = 0x82F63B78;  // of Castagnoli, lowest bit first
  std::array<std::uint32_t, 256> table = {};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = (rest >> 1U) ^ ((rest & 1U) != 0 ? polynomial : 0);
    table[byte] = rest;
  }
  return table;
}

// Checksums of checksums are weak, so that stored ones are turned and moved.
std::uint32_t masked(std::uint32_t crc) { return ((crc >> 15U) | (crc << 17U)) + 0xA282EAD8U; }

template <class T>
void append_fixed(std::string& bytes, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) bytes += static_cast<char>((value >> (8 * i)) & 0xFFU);
}

void append_varint(std::string& bytes, std::uint64_t value) {
  for (; value >= 0x80U; value >>= 7U) bytes += static_cast<char>((value & 0x7FU) | 0x80U);
  bytes += static_cast<char>(value);
}

enum class Wire : std::uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };
void append_key(std::string& bytes, unsigned field, Wire wire) {
  append_varint(bytes, (field << 3U) | static_cast<unsigned>(wire));
}

void append_bytes(std::string& bytes, unsigned field, std::string_view value) {
  append_key(bytes, field, Wire::Bytes);
  append_varint(bytes, value.size());
  bytes += value;
}

std::string event_at(double wall_time) {
  std::string event;
  append_key(event, 1, Wire::Fixed64);
  append_fixed(event, std::bit_cast<std::uint64_t>(wall_time));
  return event;
}

// What a line of the metrics holds for TensorBoard.
std::string record_of_line(const std::string& line, double started) {
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains("step") || !json["step"].is_number_integer()) return "";
  EventScalars scalars;
  double seconds = 0;
  for (const auto& [name, value] : json.items()) {
    if (name == "wall_s" && value.is_number()) seconds = value.get<double>();
    if (name == "step" || name == "wall_s" || !value.is_number()) continue;
    scalars.emplace_back(name, value.get<double>());
  }
  return event_record(scalars_event(started + seconds, json["step"].get<std::int64_t>(), scalars));
}

}  // namespace

std::uint32_t crc32c_of(std::string_view bytes) {
  static constexpr std::array<std::uint32_t, 256> table = crc_table();
  std::uint32_t crc = 0xFFFFFFFFU;
  for (const char byte : bytes) crc = table[(crc ^ static_cast<unsigned char>(byte)) & 0xFFU] ^ (crc >> 8U);
  return ~crc;
}

std::string event_record(std::string_view event) {
  std::string record;
  append_fixed(record, static_cast<std::uint64_t>(event.size()));
  append_fixed(record, masked(crc32c_of(record)));
  record += event;
  append_fixed(record, masked(crc32c_of(event)));
  return record;
}

std::string version_event(double wall_time) {
  std::string event = event_at(wall_time);
  append_bytes(event, 3, "brain.Event:2");
  return event;
}

std::string scalars_event(double wall_time, std::int64_t step, const EventScalars& scalars) {
  std::string summary;
  for (const auto& [tag, number] : scalars) {
    std::string value;
    append_bytes(value, 1, tag);
    append_key(value, 2, Wire::Fixed32);
    append_fixed(value, std::bit_cast<std::uint32_t>(static_cast<float>(number)));
    append_bytes(summary, 1, value);
  }
  std::string event = event_at(wall_time);
  append_key(event, 2, Wire::Varint);
  append_varint(event, static_cast<std::uint64_t>(step));
  append_bytes(event, 5, summary);
  return event;
}

EventFile::EventFile(std::string path, const std::string& metrics, double started)
    : path_(std::move(path)), started_(started) {
  write_file_atomically(path_, [&](ByteSink& sink) {
    sink.write(event_record(version_event(started)));
    std::ifstream lines(metrics);
    for (std::string line; std::getline(lines, line);) sink.write(record_of_line(line, started));
  });
  descriptor_ = open_in_run_folder(path_, O_WRONLY | O_APPEND);
}

EventFile::~EventFile() { ::close(descriptor_); }

void EventFile::write(double seconds, std::int64_t step, const EventScalars& scalars) {
  const std::string record = event_record(scalars_event(started_ + seconds, step, scalars));
  for (std::string_view rest = record; !rest.empty();) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) run_folder_failure(path_, "cannot write", errno);
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace relish
