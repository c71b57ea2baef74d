// Reading of the declarations in the texts of the standard library. The texts are ours: what is wrong in one
// is a defect of them.
#include "stdlib/catalog_texts.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <utility>

#include "stdlib/embedded.h"
#include "support/failure.h"
#include "support/value_text.h"

namespace relish {
namespace {

// The declarations of a text, each in one line without its mark.
std::vector<std::string> joined_lines(std::string_view contents) {
  constexpr std::string_view mark = "#: ";
  std::vector<std::string> lines;
  while (!contents.empty()) {
    const std::size_t end = std::min(contents.find('\n'), contents.size());
    const std::string_view line = contents.substr(0, end);
    contents.remove_prefix(std::min(end + 1, contents.size()));
    if (!line.starts_with(mark)) continue;
    const std::string_view said = line.substr(mark.size());
    if (said.starts_with(' ')) {
      RELISH_CHECK(!lines.empty(), std::string(line));
      lines.back() += " " + std::string(without_blanks(said));
    } else {
      lines.emplace_back(said);
    }
  }
  return lines;
}

// The arguments of a declaration's call: names by position, the others by name.
class Arguments {
 public:
  // A declaration is read within the program's own limits, whatever the user's are.
  explicit Arguments(std::string_view call)
      : call_(call), text_(call, "catalog", "", 16), value_(text_.value("a declaration")) {
    RELISH_CHECK(value_.kind == WrittenValue::Kind::Call, std::string(call));
    for (const WrittenValue& item : value_.items) {
      if (item.kind == WrittenValue::Kind::Argument)
        named_.emplace(item.text, &item.items[0]);
      else
        positional_.push_back(plain(item));
    }
  }

  std::string_view callee() const { return value_.text; }
  const std::vector<std::string_view>& positional() const { return positional_; }
  std::string_view at(std::size_t i) const {
    RELISH_CHECK(i < positional_.size(), std::string(call_));
    return positional_[i];
  }

  const WrittenValue* take(const std::string& name) {
    const auto found = named_.find(name);
    if (found == named_.end()) return nullptr;
    const WrittenValue* value = found->second;
    named_.erase(found);
    return value;
  }
  std::string_view text(const std::string& name, std::string_view fallback = "") {
    const WrittenValue* value = take(name);
    return value ? plain(*value) : fallback;
  }
  bool flag(const std::string& name) {
    const WrittenValue* value = take(name);
    return value && value->truth;
  }
  std::optional<double> number(const std::string& name) {
    const WrittenValue* value = take(name);
    return value ? real_number(text_.source(*value)) : std::nullopt;
  }
  std::vector<std::string_view> list(const std::string& name) {
    std::vector<std::string_view> result;
    if (const WrittenValue* value = take(name))
      for (const WrittenValue& item : value->items) result.push_back(plain(item));
    return result;
  }
  void done() const { RELISH_CHECK(named_.empty(), std::string(call_)); }

 private:
  // As it is written, without the quotes of a string; part of the call's text, which stays.
  std::string_view plain(const WrittenValue& value) const {
    std::string_view source = text_.source(value);
    return value.kind == WrittenValue::Kind::String ? source.substr(1, source.size() - 2) : source;
  }

  std::string_view call_;
  ValueText text_;
  WrittenValue value_;
  std::vector<std::string_view> positional_;
  std::map<std::string, const WrittenValue*> named_;
};

OptionUse use_of(std::string_view word) {
  struct Use {
    std::string_view word;
    OptionUse use;
  };
  constexpr Use uses[] = {{"variant", OptionUse::Variant},   {"attribute", OptionUse::Attribute},
                          {"constant", OptionUse::Constant}, {"pair", OptionUse::Pair},
                          {"rate", OptionUse::Rate},         {"reduction", OptionUse::Reduction},
                          {"gradient", OptionUse::Gradient}, {"word", OptionUse::Word},
                          {"length", OptionUse::Length},     {"compat", OptionUse::Compat}};
  const auto found = std::ranges::find(uses, word, &Use::word);
  RELISH_CHECK(found != std::end(uses), std::string(word));
  return found->use;
}

LossParts parts_of(std::string_view word) {
  if (word == "operator") return LossParts::Operator;
  if (word == "rows") return LossParts::Rows;
  RELISH_CHECK(word.empty(), std::string(word));
  return LossParts::Elements;
}

CatalogOption option_of(Arguments& arguments, std::string_view doc) {
  CatalogOption option{.name = arguments.at(0),
                       .use = use_of(arguments.text("use")),
                       .type = arguments.at(1),
                       .fallback = arguments.text("default"),
                       .doc = doc,
                       .suffix = arguments.text("function"),
                       .state = arguments.text("state"),
                       .required = arguments.flag("required")};
  const std::optional<double> at_most = arguments.number("at_most"), below = arguments.number("below"),
                              more_than = arguments.number("more_than");
  RELISH_CHECK(!more_than || *more_than == 0, std::string(option.name));
  option.most = below ? *below : at_most.value_or(option.most);
  option.below = below.has_value();
  option.positive = more_than.has_value();
  option.any_sign = arguments.flag("any_sign");
  return option;
}

class CatalogReader {
 public:
  CatalogTexts read() {
    for (const EmbeddedText& text : embedded_texts()) read_text(text, true);
    for (const EmbeddedText& text : embedded_texts()) read_text(text, false);
    std::ranges::sort(texts_.losses, {}, &LossEntry::name);
    std::ranges::sort(texts_.optimizers, {}, &OptimizerEntry::name);
    std::ranges::sort(texts_.schedules, {}, &RuleEntry::name);
    std::ranges::sort(texts_.initialisers, {}, &RuleEntry::name);
    return std::move(texts_);
  }

 private:
  // Texts that entries point into stay as long as the program.
  static std::string_view kept(std::string text) {
    static std::deque<std::string> pool;
    return pool.emplace_back(std::move(text));
  }
  static std::span<const std::string_view> kept(std::vector<std::string_view> list) {
    static std::deque<std::vector<std::string_view>> pool;
    return pool.emplace_back(std::move(list));
  }
  static std::span<const CatalogOption> kept(std::vector<CatalogOption> list) {
    static std::deque<std::vector<CatalogOption>> pool;
    return pool.emplace_back(std::move(list));
  }

  // First what the texts of a folder share, then the entries.
  void read_text(const EmbeddedText& text, bool shared) {
    std::vector<CatalogOption>& common = common_[text.path.substr(0, text.path.find('/'))];
    std::function<void(std::span<const CatalogOption>)> finish;
    std::vector<CatalogOption> own;
    for (std::string& line : joined_lines(text.contents)) {
      const std::string_view whole = kept(std::move(line));
      const std::size_t close = std::min(whole.find("): "), whole.size() - 1);
      const std::string_view doc = close + 3 <= whole.size() ? whole.substr(close + 3) : std::string_view();
      Arguments arguments(whole.substr(0, close + 1));
      if (arguments.callee() == "options") {
        for (const std::string_view name : arguments.positional()) {
          const auto found = std::ranges::find(common, name, &CatalogOption::name);
          if (!shared) RELISH_CHECK(found != common.end(), std::string(name));
          if (!shared) own.push_back(*found);
        }
      } else if (arguments.callee() == "option") {
        CatalogOption option = option_of(arguments, doc);
        if (finish)
          own.push_back(option);
        else if (shared)
          common.push_back(option);
      } else {
        if (finish && !shared) finish(kept(std::exchange(own, {})));
        finish = entry_of(arguments, doc, text.path);
      }
      arguments.done();
    }
    if (finish && !shared) finish(kept(std::move(own)));
  }

  // What adds the entry when its options are known.
  std::function<void(std::span<const CatalogOption>)> entry_of(Arguments& arguments, std::string_view doc,
                                                               std::string_view path) {
    const std::string_view name = arguments.at(0);
    if (arguments.callee() == "loss") {
      LossEntry entry;
      entry.name = name;
      entry.summary = doc;
      entry.text = path;
      entry.parts = parts_of(arguments.text("parts"));
      entry.class_targets = arguments.flag("class_targets");
      entry.classes = arguments.flag("classes");
      entry.threshold = arguments.number("threshold").value_or(entry.threshold);
      return [this, entry](std::span<const CatalogOption> options) mutable {
        entry.options = options;
        texts_.losses.push_back(entry);
      };
    }
    if (arguments.callee() == "optimizer") {
      OptimizerEntry entry;
      entry.name = name;
      entry.summary = doc;
      entry.text = path;
      entry.shared_states = kept(arguments.list("shared"));
      entry.parameter_states = kept(arguments.list("states"));
      return [this, entry](std::span<const CatalogOption> options) mutable {
        entry.options = options;
        texts_.optimizers.push_back(entry);
      };
    }
    const bool schedule = arguments.callee() == "schedule";
    RELISH_CHECK(schedule || arguments.callee() == "initialiser", std::string(arguments.callee()));
    RuleEntry entry;
    entry.name = name;
    entry.summary = doc;
    entry.function = arguments.text("function", name);
    entry.interval = arguments.flag("interval");
    return [this, entry, schedule](std::span<const CatalogOption> options) mutable {
      entry.options = options;
      (schedule ? texts_.schedules : texts_.initialisers).push_back(entry);
    };
  }

  CatalogTexts texts_;
  std::map<std::string_view, std::vector<CatalogOption>> common_;
};

}  // namespace

const CatalogTexts& catalog_texts() {
  static const CatalogTexts texts = CatalogReader().read();
  return texts;
}

}  // namespace relish
