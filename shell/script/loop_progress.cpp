// A look at the clock each round, where there is a terminal.
#include "shell/script/loop_progress.h"

#include <fmt/format.h>

#include "shell/session.h"
#include "support/clock.h"
#include "train/report/run_record.h"

namespace relish {
namespace {

constexpr double first_seconds = 1, interval = 0.2;

}  // namespace

LoopProgress::LoopProgress(Session& session, int& running, Span loop, std::optional<std::int64_t> rounds)
    : session_(session),
      running_(running),
      loop_(loop),
      rounds_(rounds),
      told_(running == 0 && has_live_line()) {
  ++running_;
  if (told_) began_ = shown_ = steady_seconds();
}

LoopProgress::~LoopProgress() {
  --running_;
  if (told_) clear_live_line();
}

void LoopProgress::tell(std::int64_t number) {
  const double now = steady_seconds();
  if (now - began_ < first_seconds || now - shown_ < interval) return;
  shown_ = now;
  const SourceFile* source = Sources::instance().find(loop_.file);
  std::string line =
      source ? fmt::format("loop at line {}: ", source->position(loop_.begin).line) : std::string("loop: ");
  line += fmt::format("round {}", number);
  if (rounds_) line += fmt::format(" of {}", *rounds_);
  line += fmt::format(", {}", duration_text(now - began_));
  if (rounds_ && number > 1) {
    const double each = (now - began_) / static_cast<double>(number - 1);
    line += fmt::format(", {} left", duration_text(each * static_cast<double>(*rounds_ - number + 1)));
  }
  session_.output().flush();  // what was printed so far stands above it
  show_live_line(std::move(line));
}

}  // namespace relish
