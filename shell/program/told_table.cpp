// One text at a time, of the thread that runs statements.
#include "shell/program/told_table.h"

#include <utility>

namespace relish {
namespace {

thread_local int asking = 0;
thread_local std::optional<std::string> told;

}  // namespace

AskedByPerson::AskedByPerson() {
  ++asking;
  told.reset();
}

AskedByPerson::~AskedByPerson() {
  --asking;
  told.reset();
}

void tell_table(const std::function<std::string()>& text) {
  if (asking > 0) told = text();
}

std::optional<std::string> take_told_table() { return std::exchange(told, std::nullopt); }

}  // namespace relish
