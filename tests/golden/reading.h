// Reading of a golden file's text through the front end, its canonical text, and the round-trip law on it.
#pragma once

#include <string>
#include <vector>

#include "frontend/reader.h"
#include "ir/nodes/module.h"
#include "ir/printer/printer.h"
#include "shell/program/path_rules.h"
#include "tests/golden/golden_file.h"

namespace relish::testing {

// Python files have statements that are skipped.
bool is_python(const GoldenFile& file);
// By which a file of this folder may load others, and how it is read.
PathRules rules_of(const GoldenFile& file);
ReadOptions reading_options(const GoldenFile& file);
// The text under test as a source of its own.
std::uint32_t add_source(const GoldenFile& file);

// Every accepted program: what is printed reads as an equal program and prints as the same text, in the
// canonical dialect and in the older ones as far as these can say it; the modules verify.
std::vector<std::string> round_trip_problems(const GoldenFile& file);
// The same for one module.
std::vector<std::string> round_trip_problems(const Module& module, const std::string& what);

// That of "--dialect D" in the file's head; today's without.
Dialect dialect_of(const GoldenFile& file);
// The canonical text of the whole file, statements included, in its dialect; empty when the file is not
// accepted.
std::string printed_source(const GoldenFile& file, Dialect dialect = Dialect::D026);

}  // namespace relish::testing
