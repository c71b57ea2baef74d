// report.md: what a job was, on what data, how it went and what it left, as a page to read.
#pragma once

#include <optional>
#include <string>

#include "train/report/confusion.h"
#include "train/report/run_record.h"

namespace relish {

std::string report_page(const RunRecord& run, const std::optional<Confusion>& confusion);

}  // namespace relish
