// report.md and report.html: what a job was, on what data, how it went and what it left, as a page to read.
#pragma once

#include <optional>
#include <string>

#include "train/report/confusion.h"
#include "train/report/run_record.h"

namespace relish {

// Markdown, with curves as braille characters.
std::string report_page(const RunRecord& run, const std::optional<Confusion>& confusion);
// One HTML page that needs no other file, with curves as SVG.
std::string report_html(const RunRecord& run, const std::optional<Confusion>& confusion);

}  // namespace relish
