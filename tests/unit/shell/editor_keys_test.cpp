// The editor under whatever keys, pastes and sizes: sequences are read whole, pictures fit their terminal,
// and no byte of a text is lost.
#include <catch2/catch.hpp>

#include <unistd.h>

#include <clocale>
#include <random>

#include "shell/program/terminal_width.h"
#include "shell/repl/editor/edited_text.h"
#include "shell/repl/editor/key_sequences.h"
#include "shell/repl/editor/other_keys.h"
#include "shell/repl/editor/screen.h"
#include "shell/repl/editor/terminal_keys.h"
#include "support/character_width.h"
#include "tests/golden/terminal_screen.h"

using namespace relish;
using relish::testing::TerminalScreen;

namespace {

// What the editor sees of characters from a terminal.
std::string keys_seen(std::string_view typed, const std::string& own = {}) {
  KeySequences keys;
  for (const OtherKey& key : other_keys()) keys.know(key.bytes);
  keys.know(paste_mark);
  keys.know_own(own);
  std::string seen;
  for (const char c : typed) {
    keys.take(static_cast<wchar_t>(static_cast<unsigned char>(c)));
    while (const auto key = keys.next()) seen += static_cast<char>(*key);
  }
  return seen;
}

std::string without_colors(std::string text) {
  for (std::size_t at = text.find('\x1b'); at != std::string::npos; at = text.find('\x1b'))
    text.erase(at, text.find('m', at) + 1 - at);
  return text;
}

// What a picture is by its rules: inside the terminal, with the cursor in it, and all of a text that fits.
void check_picture(const EditorView& view) {
  const EditorPicture picture = picture_of(view);
  const std::size_t most = std::max<std::size_t>(view.rows, 2) - 1;
  bool fits = picture.rows.size() <= most && !picture.rows.empty() &&
              picture.cursor_row < picture.rows.size() &&
              picture.cursor_column < std::max<std::size_t>(view.columns, 1);
  std::string shown;
  for (std::size_t i = 0; fits && i < picture.rows.size(); ++i) {
    const std::string row = without_colors(picture.rows[i]);
    fits = width_of(row) <= view.columns;
    shown += row;
  }
  // Drawn on a terminal at any row of the cursor, it leaves this one there.
  TerminalScreen screen(view.columns, std::max<std::size_t>(view.rows, 2));
  std::size_t row = 3;
  screen.write(bytes_of(picture, row));
  fits = fits && row == picture.cursor_row && screen.unknown().empty();
  if (view.columns > view.prompt.size() && picture.rows.size() + 2 < most) {
    std::string text(view.text);
    for (const std::string& line : view.below) fits = fits && !line.empty();
    // Line by line, without what stands in front of each.
    std::size_t at = 0;
    for (const char c : text) {
      if (c == '\n') continue;
      at = shown.find(static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? '?' : c, at);
      fits = fits && at != std::string::npos;
      if (!fits) break;
      ++at;
    }
  }
  if (fits) return;
  UNSCOPED_INFO(view.columns << "x" << view.rows << ", cursor " << view.cursor << ": " << view.text);
  CHECK(fits);
}

std::string random_text(std::mt19937& random, std::size_t most) {
  const std::vector<std::string> pieces = {"a",  "xyz = ", "(",       "\n", "\n    ", "漢", "é",
                                           "\"", "#",      "e\u0301", "🙂", "R.exp",  ":",  "\x01",
                                           "\t", "[",      "]",       "?a", "\x7f",   "0"};
  std::string text;
  const std::size_t count = random() % (most + 1);
  for (std::size_t i = 0; i < count; ++i) text += pieces[random() % pieces.size()];
  return text;
}

std::size_t place_in(std::mt19937& random, const std::string& text) {
  std::size_t at = random() % (text.size() + 1);
  while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) ++at;
  return at;
}

}  // namespace

TEST_CASE("keys: sequences of terminals are one key each") {
  for (const OtherKey& key : other_keys()) {
    INFO(key.bytes.substr(1));
    CHECK(keys_seen("a" + key.bytes + "z") == "a" + key.bytes + "z");
  }
  // Alt and a character, and what stands around a paste.
  for (const std::string& typed : {std::string("\x1b") + "b", std::string("\x1b\r"), std::string(paste_mark)})
    CHECK(keys_seen("a" + typed + "z") == "a" + typed + "z");
  // Nobody knows these.
  for (const char* typed :
       {"\x1b[15~", "\x1b[24;5~", "\x1b[1;2P", "\x1bOP", "\x1b[[A", "\x1b[99;7~", "\x1b[<0;3;4M",
        "\x1b[57414;5u", "\x1b[?1;2c", "\x1b[2~", "\x1b[I", "\x1b[990~", "\x1bOj", "\x1b[12;40R"}) {
    INFO(typed + 1);
    CHECK(keys_seen("a" + std::string(typed) + "z") == "az");
  }
  // One that breaks off loses itself alone, and a key of ~/.editrc stays what it is.
  CHECK(keys_seen("\x1b[1;\rz") == "\rz");
  CHECK(keys_seen("\x1b[1;\x1b[Dz") == "\x1b[Dz");
  CHECK(keys_seen("\x1b[15~", "bind \\e[15~ ed-next-word\n") == "\x1b[15~");
  CHECK(keys_seen("\x1b[17~", "bind \\e[15~ ed-next-word\n").empty());
}

TEST_CASE("keys: whatever arrives, text in front of and behind sequences stays") {
  std::mt19937 random(7);
  const std::string parameters = "0123456789;:<=>? !$", last = "ABCDEFHMPQRSZabcd~^u@";
  for (int round = 0; round < 20'000; ++round) {
    std::string sequence = random() % 2 == 0 ? "\x1b[" : "\x1bO";
    for (std::size_t count = random() % 6; count > 0; --count)
      sequence += parameters[random() % parameters.size()];
    sequence += last[random() % last.size()];
    const std::string seen = keys_seen("<" + sequence + ">");
    if (seen == "<>" || seen == "<" + sequence + ">") continue;
    INFO(sequence.substr(1));
    CHECK(seen == "<>");
  }
}

TEST_CASE("editor: pictures fit terminals of every size") {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  const std::vector<std::string> texts = {
      "",
      "x",
      "\n",
      "\n\n\n",
      "漢字かな漢字",
      "for i in x:\n    print(i)\n    y = 漢\n",
      std::string(300, 'a'),
      std::string(9, 'b') + "\n" + std::string(10, 'c') + "\n" + std::string(11, 'd'),
      "e\u0301e\u0301e\u0301",
      "\x01\x7f\t"};
  for (const std::string& text : texts) {
    for (std::size_t columns = 1; columns <= 24; ++columns) {
      for (std::size_t rows = 1; rows <= 9; ++rows) {
        for (std::size_t cursor = 0; cursor <= text.size(); cursor += 1 + text.size() / 20) {
          EditorView view;
          view.text = text;
          view.cursor = cursor;
          view.prompt = "[1] >>> ";
          view.next_prompt = "    ... ";
          view.columns = columns;
          view.rows = rows;
          view.colors = (columns + rows) % 2 == 0;
          for (std::size_t i = 0; i < (columns * 7 + rows) % 9; ++i)
            view.below.push_back("below 漢 " + std::to_string(i));
          check_picture(view);
        }
      }
    }
  }
}

TEST_CASE("editor: random keys, pastes and sizes leave a text and a picture") {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  std::mt19937 random(21);
  EditedText text;
  EditHistory history;
  history.begin(text);
  for (int step = 0; step < 30'000; ++step) {
    const EditedText before = text;
    switch (random() % 12) {
      case 0:
      case 1:
      case 2: {
        const std::string more = random_text(random, step % 50 == 0 ? 60 : 3);
        text.text.insert(text.cursor, more);
        text.cursor += more.size();
        break;
      }
      case 3:
        text.cursor = place_above(text.text, text.cursor);
        break;
      case 4:
        text.cursor = place_below(text.text, text.cursor);
        break;
      case 5: {
        const std::size_t word = word_begin(text.text, text.cursor);
        text.text.erase(word, text.cursor - word);
        text.cursor = word;
        break;
      }
      case 6: {
        const std::size_t blanks = blanks_to_step(text.text, text.cursor);
        CHECK(blanks <= 4);
        CHECK(text.text.substr(text.cursor - blanks, blanks) == std::string(blanks, ' '));
        text.text.erase(text.cursor - blanks, blanks);
        text.cursor -= blanks;
        break;
      }
      case 7:
        text = history.undo();
        break;
      case 8: {
        const std::string line = "\n" + indentation_behind(text.text, text.cursor);
        text.text.insert(text.cursor, line);
        text.cursor += line.size();
        break;
      }
      case 9:
        if (text.text.size() > 400) text = {};
        break;
      default:
        text.cursor = place_in(random, text.text);
    }
    history.note(text);
    REQUIRE(text.cursor <= text.text.size());
    EditorView view;
    view.text = text.text;
    view.cursor = text.cursor;
    view.prompt = "[12 branch] >>> ";
    view.next_prompt = "            ... ";
    view.columns = 1 + random() % (step % 3 == 0 ? 12 : 200);
    view.rows = 1 + random() % (step % 5 == 0 ? 4 : 50);
    view.colors = random() % 2 == 0;
    view.faults = {{text.cursor / 2, text.cursor}};
    for (std::size_t i = random() % 9; i > 0; --i) view.below.push_back("candidate 漢 " + std::to_string(i));
    check_picture(view);
  }
}

TEST_CASE("editor: random pastes lose no byte") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const int kept = ::dup(STDIN_FILENO);
  ::dup2(ends[0], STDIN_FILENO);
  std::setlocale(LC_CTYPE, "C.UTF-8");
  std::mt19937 random(5);
  int lost = 0;
  for (int round = 0; round < 1000; ++round) {
    // Line ends as terminals send them; a paste ends in none, and tabs are blanks.
    std::string text = random_text(random, round % 20 == 0 ? 4000 : 200), sent, wanted;
    while (text.ends_with('\n')) text.pop_back();
    for (const char c : text) {
      sent += c == '\n' ? '\r' : c;
      wanted += c == '\t' ? std::string("    ") : std::string(1, c);
    }
    sent += paste_end_mark;
    sent += "z";
    REQUIRE(sent.size() < 60'000);  // what a pipe holds
    REQUIRE(::write(ends[1], sent.data(), sent.size()) == static_cast<ssize_t>(sent.size()));
    std::string got;
    wchar_t behind = 0;
    const bool read =
        read_paste(got, [] {}) == KeyEvent::Character && read_key(behind, [] {}) == KeyEvent::Character;
    lost += !read || got != wanted || behind != L'z';
  }
  CHECK(lost == 0);
  ::dup2(kept, STDIN_FILENO);
  for (const int end : {kept, ends[0], ends[1]}) ::close(end);
}

TEST_CASE("text is measured in cells, and lists are broken at words") {
  CHECK(cells_in("ab") == 2);
  CHECK(cells_in("日本") == 4);
  CHECK(cells_in("e\u0301") == 1);
  CHECK(cells_in("🙂─█") == 4);
  CHECK(cells_in("\xff\xe6") == 2);
  CHECK(first_cells("日本語", 3) == "日");
  CHECK(first_cells("日本語", 4) == "日本");
  CHECK(first_cells("日", 1) == "日");
  CHECK(first_cells("abc", 9) == "abc");
  CHECK(wrapped("a long line of words", 10) == "a long\nline of\nwords");
  CHECK(wrapped("a long line of words", 0) == "a long line of words");
  CHECK(wrapped("  :name     tells of what it is and more", 24) ==
        "  :name     tells of\n            what it is\n            and more");
  CHECK(wrapped("abcdefghijkl", 5) == "abcde\nfghij\nkl");
  CHECK(wrapped("\n\nx\n", 5) == "\n\nx\n");
  for (std::size_t columns = 1; columns < 40; ++columns) {
    std::string text = wrapped("Seeing\n  :vars [KIND]       what is bound 日本語 and where\n", columns);
    std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
    CHECK(text == "Seeing:vars[KIND]whatisbound日本語andwhere");
  }
}
