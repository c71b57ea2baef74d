// The form of a saved session, which readers and writers share. It is a zip archive of stored entries: the
// statements as a script that runs as it is once they are unpacked, the graph of states, modules as texts,
// and all tensors in one safetensors file. The graph is lines of `CHECKSUM KIND NUMBER JSON`: each stands for
// itself, so that a damaged one takes no other along.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace relish {

inline constexpr std::string_view archive_ending = ".rxs";
inline constexpr std::string_view script_entry = "session.relish";
inline constexpr std::string_view graph_entry = "graph.jsonl";
inline constexpr std::string_view values_entry = "values.safetensors";
inline constexpr std::int64_t archive_version = 1;

std::string module_entry(std::size_t number);       // modules/3.relish
std::string tensor_entry_name(std::size_t number);  // t3, in the safetensors file

struct ArchiveLine {
  std::string_view kind;
  std::size_t number = 0;
  std::string_view json;
};
std::string line_text(std::string_view kind, std::size_t number, std::string_view json);
// Nothing for a line that is not as it was written. Without its end.
std::optional<ArchiveLine> read_line(std::string_view line);

// Whether the first bytes of a file are those of a saved session with its values.
bool begins_as_archive(std::string_view bytes);

std::uint32_t checksum_of(const void* data, std::size_t size, std::uint32_t before = 0);

}  // namespace relish
