// Names and exit codes of the error classes.
#include "support/error_class.h"

namespace relish {
namespace {

struct ClassEntry {
  std::string_view name;
  int exit_code;
};

// In the order of the enumeration.
constexpr ClassEntry class_table[] = {
    {"RuntimeError", 1},    {"UsageError", 2},    {"SyntaxError", 3},    {"TypeError", 4},
    {"DataError", 5},       {"ResourceLimit", 6}, {"IOError", 7},        {"NumericStop", 8},
    {"CheckpointError", 9}, {"PolicyError", 10},  {"InternalError", 70}, {"TimeLimit", 75},
    {"Interrupted", 130},
};

}  // namespace

std::string_view name_of(ErrorClass error_class) { return class_table[static_cast<int>(error_class)].name; }

int exit_code_of(ErrorClass error_class) { return class_table[static_cast<int>(error_class)].exit_code; }

}  // namespace relish
