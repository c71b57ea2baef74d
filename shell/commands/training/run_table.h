// Jobs side by side: the table of `runs`, and of the results of `sweep`.
#pragma once

#include <string>
#include <vector>

#include "shell/command.h"
#include "train/report/run_record.h"

namespace relish {

// Rows of as many cells each, in columns.
std::string lines_of_table(const std::vector<std::vector<std::string>>& rows);

// A line for each job, under a head: state, step, time, the best of what it is judged by, and those options
// in which the jobs differ.
std::string run_table(const std::vector<RunRecord>& runs);
// The same as a JSON array, with all options.
std::string run_table_json(const std::vector<RunRecord>& runs);
// The same as values of a script.
ScriptValue run_table_values(const std::vector<RunRecord>& runs);
// The best first, by what they are judged by; those without a value behind them.
void order_by_result(std::vector<RunRecord>& runs);

// The run folders at the paths and below them, each once. UsageError where there is none. One that is damaged
// is an error, or, where they are to be listed, a record that says so.
enum class Damaged : std::uint8_t { Refused, Listed };
std::vector<RunRecord> runs_at(const std::vector<std::string>& paths, Damaged damaged = Damaged::Refused);

// The paths of run folders that a command was given: on the command line its files, in a script one or
// several strs or a list of them, by the rules of paths.
std::vector<std::string> paths_of_runs(const Invocation& invocation);

}  // namespace relish
