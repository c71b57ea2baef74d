// Arguments as they are written, with those of libraries in their turn.
#include "frontend/names/foreign_texts.h"

#include <fmt/format.h>

#include "ir/operators/op.h"
#include "stdlib/foreign_names.h"
#include "stdlib/surface.h"
#include "support/fix.h"

namespace relish {
namespace {

constexpr std::size_t longest_argument = 60;

struct WrittenNames {
  const IsBound& bound;
  const RankOf& rank;
};

std::optional<ForeignProposal> proposal_of(const ast::Call& call, ProposalPlace place,
                                           const WrittenNames& names);

// The text of an argument; nothing for one that is long.
std::optional<std::string> argument_text(const ast::Expr& expr, ProposalPlace place,
                                         const WrittenNames& names) {
  if (const auto* attribute = expr.as<ast::Attribute>(); attribute && library_of(expr, names.bound)) {
    if (auto constant = written_constant(attribute->name)) return constant;
  }
  if (const auto* call = expr.as<ast::Call>(); call && library_of(*call->callee, names.bound)) {
    if (auto inner = proposal_of(*call, place, names)) return inner->text;
  }
  const std::string text(written_at(expr.span));
  const bool plain = !text.empty() && text.size() <= longest_argument && text.find('\n') == text.npos;
  return plain ? std::optional(text) : std::nullopt;
}

// Of a tensor, or of the first of several.
std::optional<int> rank_of(const ast::Expr& expr, const WrittenNames& names) {
  if (const auto* tuple = expr.as<ast::TupleValue>())
    return tuple->items.empty() ? std::nullopt : rank_of(*tuple->items.front(), names);
  if (const auto* list = expr.as<ast::ListValue>())
    return list->items.empty() ? std::nullopt : rank_of(*list->items.front(), names);
  const std::string* name = ast::name_of(expr);
  return name ? names.rank(*name) : std::nullopt;
}

std::optional<ForeignProposal> proposal_of(const ast::Call& call, ProposalPlace place,
                                           const WrittenNames& names) {
  const auto* callee = call.callee->as<ast::Attribute>();
  if (!callee) return std::nullopt;
  const auto library = library_of(*call.callee, names.bound);
  std::vector<ForeignArgument> arguments;
  if (!library) {
    const auto object = argument_text(*callee->object, place, names);
    arguments.push_back({"", object ? *object : "x", rank_of(*callee->object, names)});
  }
  for (const ast::Argument& argument : call.arguments) {
    const auto text = argument.stars == 0 ? argument_text(*argument.value, place, names) : std::nullopt;
    if (!text) return std::nullopt;
    arguments.push_back({argument.name, *text, rank_of(*argument.value, names)});
  }
  return written_call(callee->name, library.value_or(ForeignLibrary::Any), arguments, place);
}

// Whether one letter more, less or another, or two that are exchanged, make the one word of the other.
// Another digit is another name: Conv1d is no slip of Conv2d.
bool is_one_slip(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) std::swap(a, b);
  if (b.size() - a.size() > 1) return false;
  std::size_t front = 0;
  while (front < a.size() && a[front] == b[front]) ++front;
  if (a.size() < b.size()) return a.substr(front) == b.substr(front + 1);
  if (front + 1 < a.size() && a[front] == b[front + 1] && a[front + 1] == b[front])
    return a.substr(front + 2) == b.substr(front + 2);
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (front == a.size() || is_digit(a[front]) || is_digit(b[front])) return false;
  return a.substr(front + 1) == b.substr(front + 1);
}

std::string in_small_letters(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

// The word that was meant by a misspelt one: an operator's before others', in its own letters before small
// ones.
std::optional<std::string> meant_word(std::string_view written) {
  constexpr std::size_t least_letters = 4;
  std::vector<std::string> words;
  for (const std::string& each : op_names()) words.push_back(each.substr(each.rfind('.') + 1));
  for (const std::string_view each : words_of_others()) words.emplace_back(each);
  for (const ForeignCallRow& row : foreign_call_rows()) words.emplace_back(row.word);
  const std::string small = in_small_letters(written);
  for (const std::string& word : words)
    if (word.size() >= least_letters && in_small_letters(word) != small && is_one_slip(word, written))
      return word;
  // ReLU is meant by ReLu and relu, but clip by no CLIP.
  for (const std::string& word : words) {
    const bool capitals = in_small_letters(word) != word;
    if ((small == written || capitals) && word != written && in_small_letters(word) == small) return word;
  }
  return std::nullopt;
}

// Of a misspelt name of a library, torch.reluu: the word that was meant, with what it is here. Names that are
// less like are most often others of the library.
std::string near_name_advice(std::string_view name, ProposalPlace place) {
  const std::size_t dot = name.rfind('.');
  const auto meant = meant_word(name.substr(dot + 1));
  if (!meant) return "";
  const std::string whole = std::string(name.substr(0, dot + 1)) + *meant;
  const std::string here = foreign_name_advice(whole, place);
  return fmt::format("; did you mean '{}'?{}", whole, here.empty() ? "" : here.substr(1));
}

}  // namespace

std::optional<ForeignLibrary> library_of(const ast::Expr& expr, const IsBound& bound) {
  const std::string name = ast::dotted_name(expr);
  const std::size_t dot = name.find('.');
  if (dot == name.npos) return std::nullopt;
  const std::string root = name.substr(0, dot);
  // jax.numpy is NumPy, torch.special and torch.linalg are PyTorch.
  const auto library = library_called(root);
  return library && !bound(root) ? library : std::nullopt;
}

std::string foreign_call_advice(const ast::Call& call, ProposalPlace place, const IsBound& bound,
                                const RankOf& rank) {
  const auto proposal = proposal_of(call, place, {bound, rank});
  if (!proposal) return "";
  if (!proposal->renamed.empty() && library_of(*call.callee, bound))
    return fmt::format("; did you mean '{}'?", proposal->renamed);
  return fmt::format("; write {}{}", proposal->text, proposal->note);
}

std::string foreign_page_advice(std::string_view word) {
  return is_expression_elsewhere(word) || !foreign_rows_of(word).empty()
             ? fmt::format("; relish doc {} says what is written here", word)
             : "";
}

std::string foreign_constant_advice(std::string_view word) {
  // A letter is a name of the user's own more often than the number e.
  const auto constant = written_constant(word);
  return constant && word.size() > 1 ? "; write " + *constant : "";
}

std::string foreign_word_advice(std::string_view word) {
  if (std::string constant = foreign_constant_advice(word); !constant.empty()) return constant;
  const auto words = written_instead(word);
  if (!words || words->empty() || is_expression_elsewhere(word)) return "";
  return introduced(*words);
}

std::string foreign_name_advice(std::string_view name, ProposalPlace place, bool called) {
  const std::string_view word = name.substr(name.rfind('.') + 1);
  const auto library = library_called(name.substr(0, name.find('.')));
  if (library && has_no_counterpart(word, *library)) return "; nothing here does what it does";
  if (auto constant = written_constant(word); constant && name.find('.') == name.rfind('.'))
    return "; write " + *constant;
  if (called && is_expression_elsewhere(word)) return foreign_page_advice(word);
  if (auto instead = written_instead(word, "x", place)) {
    if (instead->empty()) return "; nothing here does what it does";
    return introduced(*instead);
  }
  if (const auto op = exact_operator(word))
    return fmt::format("; here it is R.{0}, with arguments of its own: relish doc {0}", *op);
  if (std::string page = foreign_page_advice(word); !page.empty()) return page;
  return library ? near_name_advice(name, place) : "";
}

}  // namespace relish
