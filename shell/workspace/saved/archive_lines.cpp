// Lines with checksums.
#include "shell/workspace/saved/archive_lines.h"

#include <fmt/format.h>
#include <zlib.h>

#include "support/value_text.h"

namespace relish {

std::string module_entry(std::size_t number) { return fmt::format("modules/{}.relish", number); }
std::string tensor_entry_name(std::size_t number) { return fmt::format("t{}", number); }

bool begins_as_archive(std::string_view bytes) {
  constexpr std::size_t record_bytes = 30;  // in front of the entry's name
  return bytes.starts_with("PK\x03\x04") && bytes.size() > record_bytes + script_entry.size() &&
         bytes.substr(record_bytes).starts_with(script_entry);
}

std::uint32_t checksum_of(const void* data, std::size_t size, std::uint32_t before) {
  return static_cast<std::uint32_t>(crc32_z(before, static_cast<const Bytef*>(data), size));
}

std::string line_text(std::string_view kind, std::size_t number, std::string_view json) {
  const std::string text = fmt::format("{} {} {}", kind, number, json);
  // Two ends: where one is damaged the next line has its beginning all the same.
  return fmt::format("{:08x} {}\n\n", checksum_of(text.data(), text.size()), text);
}

std::optional<ArchiveLine> read_line(std::string_view line) {
  constexpr std::size_t digits = 8;
  if (line.size() < digits + 1) return std::nullopt;
  const std::string_view text = line.substr(digits + 1);
  if (line.substr(0, digits + 1) != fmt::format("{:08x} ", checksum_of(text.data(), text.size())))
    return std::nullopt;
  const std::size_t first = text.find(' ');
  const std::size_t second = first == std::string_view::npos ? first : text.find(' ', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  const auto number = whole_number<std::size_t>(text.substr(first + 1, second - first - 1));
  if (!number) return std::nullopt;
  return ArchiveLine{text.substr(0, first), *number, text.substr(second + 1)};
}

}  // namespace relish
