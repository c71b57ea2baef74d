// One text at a time: statements run one after the other, whichever thread lends its stack.
#include "shell/program/told_table.h"

#include <utility>

#include "shell/program/terminal_width.h"

namespace relish {
namespace {

int asking = 0;
std::optional<std::string> told;

}  // namespace

AskedByPerson::AskedByPerson() {
  ++asking;
  told.reset();
}

AskedByPerson::~AskedByPerson() {
  --asking;
  told.reset();
}

bool person_asks() { return asking > 0; }

void tell_table(const std::function<std::string()>& text) {
  if (asking > 0) told = text();
}

void tell_page(const std::string& page) {
  tell_table([&] { return wrapped(page, terminal_columns(0)); });
}

std::optional<std::string> take_told_table() { return std::exchange(told, std::nullopt); }

}  // namespace relish
