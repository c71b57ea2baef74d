// Where a sequence ends.
#include "shell/repl/editor/key_sequences.h"

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace relish {
namespace {

constexpr wchar_t escape = 0x1B;
constexpr std::size_t most_bytes = 64;  // of a sequence; a longer one is none

bool is_parameter(wchar_t c) { return c >= 0x20 && c <= 0x3F; }
bool is_last(wchar_t c) { return c >= 0x40 && c <= 0x7E; }

}  // namespace

void KeySequences::take(wchar_t character) {
  if (character == escape) {
    // ESC ESC [ D is Alt and the key.
    if (begun_ != "\x1b") begun_.clear();
    begun_ += '\x1b';
    return;
  }
  if (begun_.empty()) {
    ready_ += character;
    return;
  }
  const bool alone = begun_.find_first_not_of('\x1b') == std::string::npos;
  if (alone && character != L'[' && character != L'O') {
    // Alt and a character.
    ready_.append(begun_.size(), escape);
    ready_ += character;
    begun_.clear();
    return;
  }
  if (!alone && !is_parameter(character) && !is_last(character)) {
    // It broke off.
    begun_.clear();
    ready_ += character;
    return;
  }
  if (begun_.size() < most_bytes) begun_ += static_cast<char>(character);
  // The console sends ESC [ [ A.
  const bool console = begun_.ends_with("\x1b[[");
  // rxvt ends some with a sign that is none of an end elsewhere.
  const bool ends = is_last(character) || known_.contains(begun_);
  if (!alone && ends && !console) finish();
}

void KeySequences::finish() {
  // ~/.editrc names ESC in its own way.
  const std::string_view behind_escape = std::string_view(begun_).substr(1);
  if (known_.contains(begun_) || own_.find(behind_escape) != std::string::npos)
    ready_.append(begun_.begin(), begun_.end());
  begun_.clear();
}

void KeySequences::give_up_sequence() {
  ready_.append(begun_.begin(), begun_.end());
  begun_.clear();
}

void KeySequences::put_escape_in_front() { ready_.insert(ready_.begin(), escape); }

std::optional<wchar_t> KeySequences::next() {
  if (ready_.empty()) return std::nullopt;
  const wchar_t first = ready_.front();
  ready_.erase(0, 1);
  return first;
}

void KeySequences::clear() {
  begun_.clear();
  ready_.clear();
}

std::string own_key_bindings() {
  const char* home = std::getenv("HOME");
  if (!home) return {};
  std::ifstream file(std::string(home) + "/.editrc", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace relish
