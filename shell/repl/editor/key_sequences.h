// Keys that terminals send as several characters, read whole: ESC [ … and ESC O … up to their last one. What
// nothing is bound to is passed over and types nothing.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace relish {

class KeySequences {
 public:
  // Sequences that pass as they are.
  void know(std::string sequence) { known_.insert(std::move(sequence)); }
  // Those of ~/.editrc, by its text, pass as well.
  void know_own(std::string text) { own_ = std::move(text); }

  // A character from the terminal.
  void take(wchar_t character);
  // The next one for who reads keys; none while a sequence is not whole.
  std::optional<wchar_t> next();
  // Whether a sequence has begun; whether one that is whole was not taken yet.
  bool open() const { return !begun_.empty(); }
  bool ready() const { return !ready_.empty(); }
  // What has begun is no sequence, since nothing follows it; what is ready comes behind an Escape.
  void give_up_sequence();
  void put_escape_in_front();
  // Forgets what has begun and what waits.
  void clear();

 private:
  void finish();

  std::set<std::string, std::less<>> known_;
  std::string own_;
  std::string begun_;  // from ESC on
  std::wstring ready_;
};

// The text of ~/.editrc; empty where there is none.
std::string own_key_bindings();

}  // namespace relish
