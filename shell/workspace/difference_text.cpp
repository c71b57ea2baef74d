// Differences as text for people and as JSON.
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>

#include "shell/workspace/difference.h"
#include "support/render.h"

namespace relish {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t numbers_width = 15, least_side = 12;  // of a line in two sides

// Lists of names, one a line: what both forms begin with.
std::string lists_of(const Difference& difference) {
  std::string text;
  for (const std::string& name : difference.added) text += "+ " + name + "\n";
  for (const std::string& name : difference.removed) text += "- " + name + "\n";
  constexpr std::size_t most_renamed = 12;
  for (std::size_t i = 0; i < std::min(most_renamed, difference.renamed.size()); ++i)
    text += fmt::format("= {} is now {}\n", difference.renamed[i].first, difference.renamed[i].second);
  if (difference.renamed.size() > most_renamed)
    text += fmt::format("= and {} more names; --json has all\n", difference.renamed.size() - most_renamed);
  return text;
}

// How much there is of each, in front of a text that is longer than one sees at once.
std::string counts_text(const Difference& difference) {
  std::size_t hunks = 0;
  for (const Change& change : difference.changed) hunks += change.hunks.size();
  std::vector<std::string> parts;
  const auto add = [&](std::size_t count, std::string_view what) {
    if (count > 0) parts.push_back(fmt::format("{} {}", count, what));
  };
  add(difference.added.size(), "added");
  add(difference.removed.size(), "removed");
  add(difference.renamed.size(), "renamed");
  add(difference.changed.size(), "changed");
  std::string text = fmt::format("{}", fmt::join(parts, ", "));
  if (hunks > difference.changed.size()) text += fmt::format(" in {} places", hunks);
  return text + "\n";
}

std::string text_of_all(const Difference& difference,
                        const std::function<std::string(const Hunk&)>& hunk_text) {
  constexpr std::ptrdiff_t most_without_counts = 20;  // lines
  std::string text = lists_of(difference);
  for (const Change& change : difference.changed) {
    text += fmt::format("~ {}{}{}\n", change.name, change.note.empty() ? "" : ": ", change.note);
    for (const Hunk& hunk : change.hunks) text += hunk_text(hunk);
  }
  if (text.empty()) return "no difference";
  if (std::count(text.begin(), text.end(), '\n') > most_without_counts)
    text.insert(0, counts_text(difference));
  text.pop_back();
  return text;
}

// Cut to a column, by bytes of whole characters.
std::string in_column(const std::string& line, std::size_t width) {
  std::string cut = line;
  if (cut.size() > width) {
    cut.resize(width - 1);
    while (!cut.empty() && (static_cast<unsigned char>(cut.back()) & 0xC0) == 0x80) cut.pop_back();
    if (!cut.empty() && static_cast<unsigned char>(cut.back()) >= 0xC0) cut.pop_back();
    cut += '>';
  }
  cut.resize(std::max(cut.size(), width), ' ');
  return cut;
}

Json json_of(const Hunk& hunk) {
  return {{"before", hunk.before},
          {"after", hunk.after},
          {"removed", hunk.removed},
          {"added", hunk.added},
          {"moved", hunk.moved}};
}

}  // namespace

std::string unified_text(const Difference& difference) {
  return text_of_all(difference, [](const Hunk& hunk) {
    std::string text = fmt::format("  line {}{}{}\n", hunk.before,
                                   hunk.before == hunk.after ? "" : fmt::format(", now {}", hunk.after),
                                   hunk.moved ? ", moved" : "");
    for (const std::string& line : hunk.removed) text += "  - " + line + "\n";
    for (const std::string& line : hunk.added) text += "  + " + line + "\n";
    return text;
  });
}

std::string side_by_side_text(const Difference& difference, std::size_t columns) {
  const std::size_t side = std::max(least_side, (columns - std::min(columns, numbers_width)) / 2);
  return text_of_all(difference, [side](const Hunk& hunk) {
    std::string text;
    for (std::size_t i = 0; i < std::max(hunk.removed.size(), hunk.added.size()); ++i) {
      const bool left = i < hunk.removed.size(), right = i < hunk.added.size();
      const std::string number = left ? std::to_string(hunk.before + i) : "";
      const std::string other = right ? std::to_string(hunk.after + i) : "";
      text += fmt::format("{:>5} {} {} {:>5} {}\n", number, in_column(left ? hunk.removed[i] : "", side),
                          left && right ? '|'
                          : left        ? '<'
                                        : '>',
                          other, right ? in_column(hunk.added[i], side) : "");
      while (text.ends_with(" \n")) text.erase(text.size() - 2, 1);
    }
    return text;
  });
}

std::string json_text(const Difference& difference) {
  Json json;
  json["equal"] = difference.equal();
  json["added"] = difference.added;
  json["removed"] = difference.removed;
  json["renamed"] = Json::array();
  for (const auto& [old, now] : difference.renamed)
    json["renamed"].push_back({{"before", old}, {"after", now}});
  json["changed"] = Json::array();
  for (const Change& change : difference.changed) {
    Json entry{{"name", change.name}, {"hunks", Json::array()}};
    for (const Hunk& hunk : change.hunks) entry["hunks"].push_back(json_of(hunk));
    if (!change.note.empty()) entry["note"] = change.note;
    json["changed"].push_back(std::move(entry));
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace relish
