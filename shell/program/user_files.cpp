// Folders of a user.
#include "shell/program/user_files.h"

#include <fmt/format.h>

#include <cstdlib>

namespace relish {

std::string user_file(const char* variable, std::string_view fallback, std::string_view name) {
  const char* folder = std::getenv(variable);
  if (folder && *folder == '/') return fmt::format("{}/relish/{}", folder, name);
  const char* home = std::getenv("HOME");
  if (home && *home == '/') return fmt::format("{}/{}/relish/{}", home, fallback, name);
  return {};
}

}  // namespace relish
