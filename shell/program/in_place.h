// Changing a file in its place: the functions that a command made or changed replace those of the text, new
// ones stand beside them, and every other byte stays as it is: statements, comments, classes and functions
// that Relish does not read, the byte order mark and the line ends.
#pragma once

#include <string>
#include <vector>

#include "ir/printer/printer.h"
#include "shell/program/program_file.h"

namespace relish {

// A module of the text, as it was read and as it is to be.
struct ModuleChange {
  ModulePtr before, after;
};

struct InPlaceRequest {
  std::vector<ModuleChange> changes;
  // Functions are written anew also where nothing changed: `fmt`.
  bool format = false;
  // The function that new ones come from; empty when the command worked on whole modules.
  std::string subject;
  PrintOptions printing;
};

// The whole text of the program's source, changed. New functions of a class stand at its end, free ones
// behind the function that they come from. UsageError when the text cannot be changed so that it reads as
// what was meant.
std::string text_in_place(const ProgramFile& program, const InPlaceRequest& request);

}  // namespace relish
