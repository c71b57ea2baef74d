// Where the cursor stands in a text that is not whole yet: the word in front of it, the call or bracket that
// it is in, the string, or the `:` command. A pure function of the text, in one walk.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace relish {

struct CursorPlace {
  std::string_view word;  // in front of the cursor, to be completed: a name with its dots, or within a string
  std::size_t begin = 0;  // where it begins
  bool in_string = false;
  bool in_comment = false;
  bool behind_at = false;  // a name and `@` stand in front of the word: a state, or a factor
  bool decorator = false;
  bool in_dict = false;          // the innermost bracket is one of a dict
  std::string_view subscripted;  // p of p["… , where that is the innermost bracket
  bool wants_value = false;      // behind a sign, a bracket or a word such as `del`: a value stands here

  // The innermost call that is open: R.nn.relu( … ; empty when there is none.
  std::string_view callee;
  std::string_view subject;             // its first argument as it is written
  std::size_t argument = 0;             // how many arguments stand in front
  std::string_view keyword;             // wrt, of wrt=[… ; empty for an argument without a name
  std::vector<std::string_view> given;  // names of the arguments in front

  // Of a `:` line: its name, the words behind it that are whole, and the option whose value the word is.
  bool command_line = false;
  std::string_view command;
  std::vector<std::string_view> words;
  std::string_view option;
};

// `text`: the input up to the cursor.
CursorPlace cursor_place(std::string_view text);

// Names that the text binds or declares, those nearest to its end first: assignments, loops, parameters,
// functions, classes, imports.
std::vector<std::string> names_bound_in(std::string_view text);

}  // namespace relish
