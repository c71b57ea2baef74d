# Writes OUTPUT, one line {"name", float64, float32, other} for each line "name float64 float32 other" of INDEX:
# how many cases of outside numbers every operator has, by the dtype of their arguments.
cmake_minimum_required(VERSION 3.25)
file(STRINGS "${INDEX}" lines)
set(text "")
foreach(line IN LISTS lines)
  string(REGEX REPLACE "^([^ ]+) ([0-9]+) ([0-9]+) ([0-9]+)$" "{\"\\1\", \\2, \\3, \\4},\n" entry "${line}")
  string(APPEND text "${entry}")
endforeach()
file(WRITE "${OUTPUT}" "${text}")
