// A TensorBoard event file: records of TFRecord (length, masked CRC-32C of it, bytes, masked CRC-32C of
// them), each a protobuf message Event with the scalars of a step. The file is made anew whenever a job
// begins or goes on, from the metrics that are kept, so that each step stands in it once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace relish {

inline constexpr std::string_view event_file_name = "events.out.tfevents.relish";

// Scalars by tag, in order.
using EventScalars = std::vector<std::pair<std::string, double>>;

// CRC-32C (Castagnoli) of the bytes.
std::uint32_t crc32c_of(std::string_view bytes);
// One record, with its checksums.
std::string event_record(std::string_view event);
std::string version_event(double wall_time);
std::string scalars_event(double wall_time, std::int64_t step, const EventScalars& scalars);

class EventFile {
 public:
  // Writes what `metrics` (a metrics.jsonl) holds; the seconds of the job are counted from `started`, a time
  // since 1970. IOError.
  EventFile(std::string path, const std::string& metrics, double started);
  ~EventFile();
  EventFile(const EventFile&) = delete;
  EventFile& operator=(const EventFile&) = delete;

  // `seconds` of the job have passed.
  void write(double seconds, std::int64_t step, const EventScalars& scalars);

 private:
  std::string path_;
  double started_;
  int descriptor_ = -1;
};

}  // namespace relish
