// One pass over the characters of a source: comments, characters and strings are what it must tell apart.
#include "tests/manual/source_literals.h"

#include <algorithm>
#include <cctype>

namespace relish::testing {
namespace {

class Pass {
 public:
  explicit Pass(std::string_view source) : source_(source) {}

  std::vector<SourceLiteral> run() {
    while (at_ < source_.size()) {
      if (follows("//")) {
        skip_to(source_.find('\n', at_));
      } else if (follows("/*")) {
        skip_to(source_.find("*/", at_));
      } else if (follows("R\"") && !word_before()) {
        skip_raw();
      } else if (source_[at_] == '"') {
        found_.push_back({quoted('"'), line_});
      } else if (source_[at_] == '\'' && !word_before()) {  // not the ' of 1'000
        quoted('\'');
      } else {
        skip_to(at_ + 1);
      }
    }
    return std::move(found_);
  }

 private:
  bool follows(std::string_view text) const { return source_.substr(at_).starts_with(text); }
  bool word_before() const {
    return at_ > 0 && std::isalnum(static_cast<unsigned char>(source_[at_ - 1])) != 0;
  }

  void skip_to(std::size_t end) {
    end = std::min(end, source_.size());
    line_ += static_cast<std::size_t>(std::count(source_.begin() + static_cast<std::ptrdiff_t>(at_),
                                                 source_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
    at_ = end;
  }

  void skip_raw() {
    const std::size_t open = source_.find('(', at_);
    if (open == std::string_view::npos) return skip_to(open);
    const std::string close = ")" + std::string(source_.substr(at_ + 2, open - at_ - 2)) + "\"";
    const std::size_t end = source_.find(close, open);
    skip_to(end == std::string_view::npos ? end : end + close.size());
  }

  std::string quoted(char quote) {
    const std::size_t begin = ++at_;
    while (at_ < source_.size() && source_[at_] != quote && source_[at_] != '\n')
      at_ += source_[at_] == '\\' ? 2 : 1;
    at_ = std::min(at_ + 1, source_.size());
    return std::string(source_.substr(begin, at_ - begin - 1));
  }

  std::string_view source_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::vector<SourceLiteral> found_;
};

}  // namespace

std::vector<SourceLiteral> literals_of(std::string_view source) { return Pass(source).run(); }

}  // namespace relish::testing
