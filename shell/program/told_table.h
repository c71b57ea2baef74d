// What a command tells a person who asks by `:name`, in the place of the value that its call gives: a table,
// as in the shell. The value is that of the call all the same.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace relish {

// While one lives, a person asks.
class AskedByPerson {
 public:
  AskedByPerson();
  ~AskedByPerson();
  AskedByPerson(const AskedByPerson&) = delete;
};

bool person_asks();
// Keeps what `text` gives for who shows the value; it is made only where a person asks.
void tell_table(const std::function<std::string()>& text);
// The same of a page of text, broken at words in the width of the terminal.
void tell_page(const std::string& page);
// What was told since a person asks, once.
std::optional<std::string> take_told_table();

}  // namespace relish
