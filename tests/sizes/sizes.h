// How long the files and functions of a C++ text are, and how many members its classes have. Functions are
// measured by lines alone: the text is formatted by clang-format, so that a block ends with the first line
// that begins with its '}' in the column of its head.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace relish::sizes {

inline constexpr std::size_t most_lines_of_file = 600;
inline constexpr std::size_t most_lines_of_function = 100;
inline constexpr std::size_t most_members_of_class = 40;

struct LongFunction {
  std::string head;  // its first line
  std::size_t line;  // of that, from 1
  std::size_t lines;
};

std::size_t lines_of(std::string_view text);
// The functions of more lines than allowed, with head and closing brace. Tables and classes are none; what
// stands inside a function is part of it.
std::vector<LongFunction> long_functions(std::string_view text);

struct CountedClass {
  std::string name;  // with the classes it stands in: Outer::Inner
  std::size_t line;  // of its head, from 1
  std::size_t members;
};

// Every class, struct and union that the text defines, in the order of their heads, with how many data
// members and member functions its body declares: each overload and each variable of `int a, b;` is one;
// types, enums, aliases, friends and assertions are none.
std::vector<CountedClass> classes_of(std::string_view text);

struct NamespaceName {
  std::string key;   // a function with the types of its parameters, "f(int,const A&)"; else the name alone
  std::string room;  // the named namespaces around it, "relish::shell"
  std::size_t line;
  bool hidden;        // in an anonymous namespace, or static
  std::string alias;  // the whole declaration of an alias: the same one twice is none too many
};

// What the text declares or defines in namespaces: functions, types, aliases and variables. Members and what
// is defined for a class elsewhere (`A::f`), specializations, friends and forward declarations are none.
std::vector<NamespaceName> namespace_names(std::string_view text);

// What is wrong with a file, one sentence each: too long, or with too long functions or too large classes.
// `path` is for the reader.
std::vector<std::string> faults_of(std::string_view path, std::string_view text);

}  // namespace relish::sizes
