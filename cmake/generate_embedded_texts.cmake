# Writes OUTPUT, the C++ table behind stdlib/embedded.h, from all .relish files below FOLDER.
cmake_minimum_required(VERSION 3.25)
file(GLOB_RECURSE paths RELATIVE "${FOLDER}" "${FOLDER}/*.relish")
list(SORT paths)

# Compilers limit the length of one string literal; longer texts are cut into adjacent ones.
set(piece_length 8000)

set(entries "")
list(LENGTH paths count)
foreach(path IN LISTS paths)
  file(READ "${FOLDER}/${path}" contents)
  string(APPEND entries "    {\"${path}\",")
  string(LENGTH "${contents}" length)
  if(length EQUAL 0)
    string(APPEND entries " \"\"")
  endif()
  set(begin 0)
  while(begin LESS length)
    string(SUBSTRING "${contents}" ${begin} ${piece_length} piece)
    string(APPEND entries "\n     R\"relish_text(${piece})relish_text\"")
    math(EXPR begin "${begin} + ${piece_length}")
  endwhile()
  string(APPEND entries "},\n")
endforeach()

file(WRITE "${OUTPUT}"
"// Generated from stdlib/**/*.relish by cmake/generate_embedded_texts.cmake.
#include \"stdlib/embedded.h\"

#include <algorithm>
#include <array>

namespace relish {
namespace {

constexpr std::array<EmbeddedText, ${count}> kTexts = {{
${entries}}};

}  // namespace

std::span<const EmbeddedText> embedded_texts() { return kTexts; }

std::optional<std::string_view> embedded_text(std::string_view path) {
  auto found = std::find_if(kTexts.begin(), kTexts.end(), [&](const EmbeddedText& text) { return text.path == path; });
  if (found == kTexts.end()) return std::nullopt;
  return found->contents;
}

}  // namespace relish
")
