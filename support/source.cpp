// Source texts: line starts found once, columns counted in code points on demand.
#include "support/source.h"

#include <algorithm>
#include <limits>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "support/failure.h"

namespace relish {

Span cover(Span a, Span b) {
  if (!a.known()) return b;
  if (!b.known() || a.file != b.file) return a;
  return {a.file, std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

SourceFile::SourceFile(std::string name, std::string text, std::uint32_t first_line)
    : name_(std::move(name)), text_(std::move(text)), first_line_(first_line) {
  if (text_.starts_with("\xEF\xBB\xBF")) text_.erase(0, 3);
  // Spans hold 32-bit offsets, and the offset of the end must fit as well.
  if (text_.size() >= std::numeric_limits<std::uint32_t>::max()) {
    fail_at(ErrorClass::ResourceLimit, name_, "source.size",
            fmt::format("the source has {} bytes; at most {} can be read", text_.size(),
                        std::numeric_limits<std::uint32_t>::max() - 1));
  }
  line_starts_.push_back(0);
  for (std::size_t end = text_.find('\n'); end != std::string::npos; end = text_.find('\n', end + 1)) {
    line_starts_.push_back(static_cast<std::uint32_t>(end + 1));
  }
  line_starts_.shrink_to_fit();  // sources stay for as long as the process
}

std::string SourceFile::folder() const {
  std::size_t slash = name_.rfind('/');
  if (slash == std::string::npos) return {};
  return slash == 0 ? "/" : name_.substr(0, slash);
}

LineColumn SourceFile::position(std::uint32_t offset) const {
  offset = std::min(offset, static_cast<std::uint32_t>(text_.size()));
  auto after = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  auto line = static_cast<std::uint32_t>(after - line_starts_.begin());
  std::uint32_t start = *(after - 1);
  // A code point is counted at its first byte: continuation bytes are 10xxxxxx.
  auto code_points = std::count_if(text_.begin() + start, text_.begin() + offset,
                                   [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
  return {first_line_ + line - 1, static_cast<std::uint32_t>(code_points) + 1};
}

std::string_view SourceFile::line(std::uint32_t number) const {
  if (number < first_line_ || number - first_line_ >= line_starts_.size()) return {};
  number -= first_line_ - 1;
  std::size_t begin = line_starts_[number - 1];
  std::size_t end = number < line_starts_.size() ? line_starts_[number] - 1 : text_.size();
  if (end > begin && text_[end - 1] == '\r') --end;
  return std::string_view(text_).substr(begin, end - begin);
}

struct Sources::Impl {
  mutable std::shared_mutex mutex;
  std::vector<std::unique_ptr<const SourceFile>> files;
};

Sources::Sources() : impl_(std::make_shared<Impl>()) {}

Sources& Sources::instance() {
  // Never destroyed: diagnostics may be rendered while other static objects are going.
  static auto* sources = new Sources();
  return *sources;
}

std::uint32_t Sources::add(std::string name, std::string text, std::uint32_t first_line) {
  auto file = std::make_unique<const SourceFile>(std::move(name), std::move(text), first_line);
  std::unique_lock lock(impl_->mutex);
  impl_->files.push_back(std::move(file));
  return static_cast<std::uint32_t>(impl_->files.size());
}

const SourceFile* Sources::find(std::uint32_t id) const {
  std::shared_lock lock(impl_->mutex);
  if (id == 0 || id > impl_->files.size()) return nullptr;
  return impl_->files[id - 1].get();
}

}  // namespace relish
