// The table of names follows the list: what was appended since the last question is taken in first, into the
// table itself when no other list shares it.
#include "ir/nodes/function_list.h"

#include "ir/nodes/module.h"

namespace relish {
namespace {

// A shorter list is faster looked through.
constexpr std::size_t least_in_table = 16;
// A list whose own additions are more than this share of the table that it shares gets a table of its own.
constexpr std::size_t most_added_share = 8;

}  // namespace

const std::string& name_of(const GlobalFunction& function) {
  return std::visit([](const auto& held) -> const std::string& { return held->name; }, function);
}

FunctionList::FunctionList(const FunctionList& other) : blocks_(other.blocks_), size_(other.size_) {
  const std::lock_guard lock(other.mutex_);
  names_ = other.names_;
  known_ = names_ ? names_->known : 0;
}

FunctionList::FunctionList(FunctionList&& other) noexcept
    : blocks_(std::move(other.blocks_)), size_(other.size_), names_(std::move(other.names_)) {
  known_ = names_ ? names_->known : 0;
  other.forget();
  other.blocks_.clear();
  other.size_ = 0;
}

FunctionList& FunctionList::operator=(const FunctionList& other) {
  if (this != &other) *this = FunctionList(other);
  return *this;
}

FunctionList& FunctionList::operator=(FunctionList&& other) noexcept {
  if (this == &other) return *this;
  forget();
  blocks_ = std::move(other.blocks_);
  size_ = other.size_;
  names_ = std::move(other.names_);
  known_ = names_ ? names_->known : 0;
  other.forget();
  other.blocks_.clear();
  other.size_ = 0;
  return *this;
}

void FunctionList::take(std::vector<GlobalFunction> functions) {
  forget();
  blocks_.clear();
  size_ = 0;
  for (GlobalFunction& function : functions) push_back(std::move(function));
}

void FunctionList::forget() {
  names_.reset();
  added_.clear();
  next_numbers_.clear();
  known_ = 0;
}

FunctionList::Block& FunctionList::block_to_change(std::size_t i) {
  std::shared_ptr<Block>& block = blocks_[i / block_size];
  if (block.use_count() > 1) block = std::make_shared<Block>(*block);
  return *block;
}

void FunctionList::push_back(GlobalFunction function) {
  if (size_ % block_size == 0) blocks_.push_back(std::make_shared<Block>());
  block_to_change(size_).push_back(std::move(function));
  ++size_;
}

void FunctionList::replace(std::size_t i, GlobalFunction function) {
  if (name_of((*this)[i]) != name_of(function)) forget();
  block_to_change(i)[i % block_size] = std::move(function);
}

// Afterwards `names_` and `added_` together know all functions.
void FunctionList::know_all() const {
  if (known_ == size_) return;
  const std::size_t behind = size_ - (names_ ? names_->known : 0);
  const bool shared = names_ && names_.use_count() > 1;
  if (shared && behind <= names_->known / most_added_share) {
    for (; known_ < size_; ++known_)
      if (!names_->positions.contains(name_of((*this)[known_])))
        added_.try_emplace(name_of((*this)[known_]), known_);
    return;
  }
  if (!names_ || shared) names_ = names_ ? std::make_shared<Names>(*names_) : std::make_shared<Names>();
  added_.clear();
  for (; names_->known < size_; ++names_->known)
    names_->positions.try_emplace(name_of((*this)[names_->known]), names_->known);
  known_ = size_;
}

std::size_t FunctionList::position_locked(std::string_view name) const {
  know_all();
  if (const auto found = names_->positions.find(name); found != names_->positions.end()) return found->second;
  const auto found = added_.find(name);
  return found == added_.end() ? size_ : found->second;
}

std::size_t FunctionList::position(std::string_view name) const {
  if (size_ >= least_in_table) {
    const std::lock_guard lock(mutex_);
    return position_locked(name);
  }
  const auto found =
      std::find_if(begin(), end(), [&](const GlobalFunction& each) { return name_of(each) == name; });
  return static_cast<std::size_t>(found - begin());
}

const GlobalFunction* FunctionList::find(std::string_view name) const {
  const std::size_t at = position(name);
  return at == size_ ? nullptr : &(*this)[at];
}

std::string FunctionList::fresh_name(std::string_view wanted) const {
  std::string name(wanted);
  if (position(name) == size_) return name;
  const std::lock_guard lock(mutex_);
  const auto known = next_numbers_.find(wanted);
  int number = known == next_numbers_.end() ? 1 : known->second;
  const auto is_taken = [&] {
    name = std::string(wanted) + std::to_string(number);
    if (size_ >= least_in_table) return position_locked(name) != size_;
    return std::any_of(begin(), end(), [&](const GlobalFunction& each) { return name_of(each) == name; });
  };
  while (is_taken()) ++number;
  next_numbers_[std::string(wanted)] = number;
  return name;
}

}  // namespace relish
