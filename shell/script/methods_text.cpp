// Methods of strs, by Python's rules. Positions count characters.
#include <algorithm>
#include <array>

#include "shell/script/characters.h"
#include "shell/script/convert.h"
#include "shell/script/indexing.h"
#include "shell/script/letters.h"
#include "shell/script/methods.h"
#include "shell/script/script.h"
#include "shell/script/text_formats.h"
#include "support/interrupt.h"
#include "support/render.h"

namespace relish {
namespace {

const std::string& text_argument(const NamedValue& argument, std::string_view callee) {
  if (const std::string* text = argument.value.string()) return *text;
  fail(ErrorClass::Type, argument.span, "call.argument",
       fmt::format("{}: found {}; expected a str", callee, describe(argument.value)));
}

// --- Case.

template <letters::Case which>
ScriptValue text_case(Script&, const ScriptValue& self, CallArguments& arguments) {
  arguments.done();
  return letters::in_case(*self.string(), which);
}

template <auto judge>
ScriptValue text_is(Script&, const ScriptValue& self, CallArguments& arguments) {
  arguments.done();
  return judge(*self.string());
}

// Calls `visit` with each character, while it gives true; whether it did for all.
template <class Visit>
bool for_all_characters(const std::string& text, Visit visit) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t next = next_character(text, at);
    if (!visit(code_point(std::string_view(text).substr(at, next - at)))) return false;
    at = next;
  }
  return true;
}

template <bool (*each)(std::uint32_t)>
bool all_of(const std::string& text) {
  return !text.empty() && for_all_characters(text, each);
}
bool all_lower(const std::string& text) {
  bool any = false;
  return for_all_characters(text,
                            [&](std::uint32_t code) {
                              any |= letters::is_lower(code);
                              return !letters::is_upper(code) && !letters::is_title(code);
                            }) &&
         any;
}
bool all_upper(const std::string& text) {
  bool any = false;
  return for_all_characters(text,
                            [&](std::uint32_t code) {
                              any |= letters::is_upper(code);
                              return !letters::is_lower(code) && !letters::is_title(code);
                            }) &&
         any;
}
bool all_titles(const std::string& text) {
  bool inside = false, any = false;
  return for_all_characters(text,
                            [&](std::uint32_t code) {
                              const bool begins = letters::is_upper(code) || letters::is_title(code);
                              const bool fits = begins ? !inside : !letters::is_lower(code) || inside;
                              inside = letters::is_cased(code);
                              any |= inside;
                              return fits;
                            }) &&
         any;
}

// Which letters beyond ASCII a name may have is not known here.
ScriptValue text_is_name(Script&, const ScriptValue& self, CallArguments& arguments) {
  arguments.done();
  const std::string& text = *self.string();
  if (std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; })) {
    fail(ErrorClass::Type, arguments.span(), "script.letters",
         fmt::format(
             "isidentifier: '{}' has letters beyond ASCII, of which it is not known here whether names may "
             "have them",
             printable(text, 40)));
  }
  const auto in_names = [](char c) {
    return c == '_' || letters::is_letter_or_number(static_cast<unsigned char>(c));
  };
  return !text.empty() && !is_decimal(text[0]) && std::all_of(text.begin(), text.end(), in_names);
}

// --- Looking for parts.

// The characters from `start` to `end`, as find, count and others take them, and where they begin in bytes;
// nothing where the end stands in front of the start, or that behind the text: there not even '' is.
struct TextPart {
  std::string_view text;
  std::size_t begin = 0;
};

std::optional<TextPart> part_of(const std::string& text, CallArguments& arguments) {
  const NamedValue* start = arguments.optional("start");
  const NamedValue* end = arguments.optional("end");
  arguments.done();
  const std::int64_t length = count_characters(text);
  SubscriptItem::Slice slice;
  if (start && !start->value.is_none()) slice.begin = index_of(start->value, start->span, "a bound");
  if (end && !end->value.is_none()) slice.end = index_of(end->value, end->span, "a bound");
  const SlicePositions p = slice_positions(slice, length, arguments.span());
  if (p.begin > p.end || (slice.begin && *slice.begin > length)) return std::nullopt;
  const std::size_t begin = byte_of_character(text, p.begin);
  return TextPart{std::string_view(text).substr(begin, byte_of_character(text, p.end) - begin), begin};
}

enum class MissingField : std::uint8_t { Minus, Error };

template <bool last, MissingField missing>
ScriptValue text_find(Script&, const ScriptValue& self, CallArguments& arguments) {
  const NamedValue& wanted = arguments.required("part");
  const std::string& part = text_argument(wanted, arguments.callee());
  const std::string& text = *self.string();
  const std::optional<TextPart> inside = part_of(text, arguments);
  const std::size_t found = !inside ? std::string_view::npos
                            : last  ? inside->text.rfind(part)
                                    : inside->text.find(part);
  if (found != std::string_view::npos)
    return count_characters(std::string_view(text).substr(0, inside->begin + found));
  if (missing == MissingField::Minus) return -1;
  fail(ErrorClass::Runtime, wanted.span, "script.no_item",
       fmt::format("{}: '{}' is not in the str", arguments.callee(), printable(part, 40)));
}

ScriptValue text_count(Script&, const ScriptValue& self, CallArguments& arguments) {
  const std::string& part = text_argument(arguments.required("part"), "count");
  const std::optional<TextPart> where = part_of(*self.string(), arguments);
  if (!where) return 0;
  const std::string_view inside = where->text;
  if (part.empty()) return count_characters(inside) + 1;
  std::int64_t count = 0;
  for (std::size_t at = inside.find(part); at != std::string_view::npos;
       at = inside.find(part, at + part.size()))
    ++count;
  return count;
}

template <bool at_end>
ScriptValue text_begins(Script&, const ScriptValue& self, CallArguments& arguments) {
  const NamedValue& wanted = arguments.required("part");
  const std::optional<TextPart> inside = part_of(*self.string(), arguments);
  const auto fits = [&](const std::string& part) {
    return inside && (at_end ? inside->text.ends_with(part) : inside->text.starts_with(part));
  };
  const ScriptList* several = wanted.value.sequence();
  if (!several || !several->tuple) return fits(text_argument(wanted, arguments.callee()));
  for (const ScriptValue& part : several->items)
    if (fits(text_argument({"", part, wanted.span}, arguments.callee()))) return true;
  return false;
}

ScriptValue text_replace(Script&, const ScriptValue& self, CallArguments& arguments) {
  const std::string& from = text_argument(arguments.required("old"), "replace");
  const std::string& to = text_argument(arguments.required("new"), "replace");
  const NamedValue* most = arguments.optional("count");
  arguments.done();
  const std::string& text = *self.string();
  std::int64_t left = most ? index_of(most->value, most->span, "a count") : -1;
  std::string result;
  std::size_t at = 0;
  const auto put = [&](std::string_view piece) {
    check_item_count(static_cast<std::int64_t>(result.size() + piece.size()), arguments.span());
    result += piece;
  };
  while (left != 0) {
    poll_interrupt(arguments.span());
    if (from.empty()) {
      // Between all characters, and at both ends.
      put(to);
      if (at == text.size()) return result;
      const std::size_t next = next_character(text, at);
      put(std::string_view(text).substr(at, next - at));
      at = next;
    } else {
      const std::size_t found = text.find(from, at);
      if (found == std::string::npos) break;
      put(std::string_view(text).substr(at, found - at));
      put(to);
      at = found + from.size();
    }
    --left;
  }
  put(std::string_view(text).substr(at));
  return result;
}

template <bool at_end>
ScriptValue text_without(Script&, const ScriptValue& self, CallArguments& arguments) {
  const std::string& part = text_argument(arguments.required("part"), arguments.callee());
  arguments.done();
  const std::string& text = *self.string();
  if (at_end ? !text.ends_with(part) : !text.starts_with(part)) return text;
  return at_end ? text.substr(0, text.size() - part.size()) : text.substr(part.size());
}

template <bool last>
ScriptValue text_partition(Script&, const ScriptValue& self, CallArguments& arguments) {
  const NamedValue& wanted = arguments.required("separator");
  const std::string& part = text_argument(wanted, arguments.callee());
  arguments.done();
  if (part.empty()) fail(ErrorClass::Runtime, wanted.span, "script.separator", "found an empty separator");
  const std::string& text = *self.string();
  const std::size_t at = last ? text.rfind(part) : text.find(part);
  if (at == std::string::npos && last) return ScriptValue::tuple({"", "", text});
  if (at == std::string::npos) return ScriptValue::tuple({text, "", ""});
  return ScriptValue::tuple({text.substr(0, at), part, text.substr(at + part.size())});
}

// --- Ends.

enum class Ends : std::uint8_t { Left, Right, Both };

template <Ends ends>
ScriptValue text_strip(Script&, const ScriptValue& self, CallArguments& arguments) {
  const NamedValue* characters = arguments.optional("characters");
  arguments.done();
  const std::string& text = *self.string();
  const std::string* set =
      characters && !characters->value.is_none() ? &text_argument(*characters, arguments.callee()) : nullptr;
  const auto goes = [&](std::size_t begin, std::size_t end) {
    const std::string_view one = std::string_view(text).substr(begin, end - begin);
    if (!set) return is_space(code_point(one));
    for (std::size_t i = 0; i < set->size(); i = next_character(*set, i))
      if (std::string_view(*set).substr(i, next_character(*set, i) - i) == one) return true;
    return false;
  };
  std::size_t begin = 0, end = text.size();
  while (ends != Ends::Right && begin < end && goes(begin, next_character(text, begin)))
    begin = next_character(text, begin);
  while (ends != Ends::Left && begin < end && goes(previous_character(text, end), end))
    end = previous_character(text, end);
  return text.substr(begin, end - begin);
}

template <int side>  // of the text in the field: -1, 0, 1
ScriptValue text_justify(Script&, const ScriptValue& self, CallArguments& arguments) {
  const NamedValue& width = arguments.required("width");
  const NamedValue* fill = arguments.optional("fill");
  arguments.done();
  const std::string blank = fill ? text_argument(*fill, arguments.callee()) : " ";
  if (fill && count_characters(blank) != 1) {
    fail(ErrorClass::Type, fill->span, "call.argument",
         fmt::format("{}: expected one character to fill with", arguments.callee()));
  }
  const std::int64_t length = count_characters(*self.string());
  const std::int64_t wanted = index_of(width.value, width.span, "a width");
  check_item_count(wanted, width.span);
  const std::int64_t missing = std::max<std::int64_t>(wanted - length, 0);
  // As Python has it: of an odd number the one more stands on the left where the width is odd.
  const std::int64_t left = side > 0 ? missing : side < 0 ? 0 : missing / 2 + (missing & wanted & 1);
  std::string result;
  for (std::int64_t i = 0; i < left; ++i) result += blank;
  result += *self.string();
  for (std::int64_t i = left; i < missing; ++i) result += blank;
  return result;
}

ScriptValue text_zfill(Script&, const ScriptValue& self, CallArguments& arguments) {
  const NamedValue& width = arguments.required("width");
  arguments.done();
  std::string text = *self.string();
  const std::int64_t wanted = index_of(width.value, width.span, "a width");
  check_item_count(wanted, width.span);
  const std::int64_t missing = wanted - count_characters(text);
  const bool sign = !text.empty() && (text[0] == '+' || text[0] == '-');
  if (missing > 0) text.insert(sign ? 1 : 0, static_cast<std::size_t>(missing), '0');
  return text;
}

// --- Pieces.

ScriptValue pieces_of(const std::vector<std::string_view>& pieces) {
  std::vector<ScriptValue> items;
  items.reserve(pieces.size());
  for (const std::string_view piece : pieces) items.emplace_back(std::string(piece));
  return ScriptValue::list(std::move(items));
}

template <bool from_right>
ScriptValue text_split(Script&, const ScriptValue& self, CallArguments& arguments) {
  const NamedValue* separator = arguments.optional("sep");
  const NamedValue* most = arguments.optional("maxsplit");
  arguments.done();
  std::int64_t left = most ? index_of(most->value, most->span, "a count") : -1;
  const std::string_view text = *self.string();
  std::vector<std::string_view> pieces;
  if (separator && !separator->value.is_none()) {
    const std::string& part = text_argument(*separator, arguments.callee());
    if (part.empty())
      fail(ErrorClass::Runtime, separator->span, "script.separator", "found an empty separator");
    std::string_view rest = text;
    for (; left != 0; --left) {
      poll_interrupt(arguments.span());
      const std::size_t at = from_right ? rest.rfind(part) : rest.find(part);
      if (at == std::string_view::npos) break;
      pieces.push_back(from_right ? rest.substr(at + part.size()) : rest.substr(0, at));
      rest = from_right ? rest.substr(0, at) : rest.substr(at + part.size());
    }
    pieces.push_back(rest);
  } else {
    // Runs of white space separate; none stands at an end.
    std::size_t begin = 0, end = text.size();
    const auto space_at = [&](std::size_t at) {
      return is_space(code_point(text.substr(at, next_character(text, at) - at)));
    };
    const auto skip = [&] {
      if (from_right) {
        while (begin < end && space_at(previous_character(text, end))) end = previous_character(text, end);
      } else {
        while (begin < end && space_at(begin)) begin = next_character(text, begin);
      }
    };
    for (skip(); begin < end; skip(), --left) {
      poll_interrupt(arguments.span());
      if (left == 0) {
        // The rest as it stands, with the white space at its other end.
        pieces.push_back(text.substr(begin, end - begin));
        break;
      }
      std::size_t at = from_right ? end : begin;
      if (from_right) {
        while (at > begin && !space_at(previous_character(text, at))) at = previous_character(text, at);
        pieces.push_back(text.substr(at, end - at));
        end = at;
      } else {
        while (at < end && !space_at(at)) at = next_character(text, at);
        pieces.push_back(text.substr(begin, at - begin));
        begin = at;
      }
    }
  }
  if (from_right) std::reverse(pieces.begin(), pieces.end());
  return pieces_of(pieces);
}

ScriptValue text_splitlines(Script&, const ScriptValue& self, CallArguments& arguments) {
  const NamedValue* keep = arguments.optional("keepends");
  arguments.done();
  if (keep && !integer_of(keep->value)) {
    fail(ErrorClass::Type, keep->span, "call.argument",
         fmt::format("splitlines: found {}; expected True or False", describe(keep->value)));
  }
  const bool ends = keep && *integer_of(keep->value) != 0;
  const std::string_view text = *self.string();
  std::vector<std::string_view> pieces;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = begin;
    while (end < text.size() && !is_line_end(code_point(text.substr(end, next_character(text, end) - end))))
      end = next_character(text, end);
    std::size_t next = end < text.size() ? next_character(text, end) : end;
    if (end + 1 < text.size() && text[end] == '\r' && text[end + 1] == '\n') next = end + 2;
    pieces.push_back(text.substr(begin, (ends ? next : end) - begin));
    begin = next;
  }
  return pieces_of(pieces);
}

ScriptValue text_join(Script&, const ScriptValue& self, CallArguments& arguments) {
  const NamedValue& parts = arguments.required("parts");
  arguments.done();
  std::string result;
  bool first = true;
  for_each_item(parts.value, parts.span, [&](const ScriptValue& part) {
    if (!first) result += *self.string();
    first = false;
    if (!part.string()) {
      fail(ErrorClass::Type, parts.span, "call.argument",
           fmt::format("join: found {} among the parts; expected strs", describe(part)));
    }
    result += *part.string();
    check_item_count(static_cast<std::int64_t>(result.size()), arguments.span());
    return true;
  });
  return result;
}

ScriptValue text_format(Script&, const ScriptValue& self, CallArguments& arguments) {
  return format_by_braces(*self.string(), arguments.rest(), arguments.rest_by_name(), arguments.span());
}

// Starlark's word for the characters, which are what a loop over the str gives here.
ScriptValue text_elements(Script&, const ScriptValue& self, CallArguments& arguments) {
  arguments.done();
  std::vector<ScriptValue> characters;
  for_each_item(self, arguments.span(), [&](const ScriptValue& character) {
    characters.push_back(character);
    return true;
  });
  return ScriptValue::list(std::move(characters));
}

constexpr ValueMethod text_table[] = {
    {"capitalize", "s.capitalize()", text_case<letters::Case::Capital>},
    {"center", "s.center(width, fill=\" \")", text_justify<0>},
    {"count", "s.count(part, start=0, end=len(s))", text_count},
    {"elems", "s.elems()", text_elements},
    {"endswith", "s.endswith(part)", text_begins<true>},
    {"find", "s.find(part, start=0, end=len(s))", text_find<false, MissingField::Minus>},
    {"format", "s.format(values…, name=value…)", text_format},
    {"index", "s.index(part, start=0, end=len(s))", text_find<false, MissingField::Error>},
    {"isalnum", "s.isalnum()", text_is<all_of<letters::is_letter_or_number>>},
    {"isalpha", "s.isalpha()", text_is<all_of<letters::is_letter>>},
    {"isdigit", "s.isdigit()", text_is<all_of<letters::is_digit>>},
    {"isidentifier", "s.isidentifier()", text_is_name},
    {"islower", "s.islower()", text_is<all_lower>},
    {"isspace", "s.isspace()", text_is<all_of<is_space>>},
    {"istitle", "s.istitle()", text_is<all_titles>},
    {"isupper", "s.isupper()", text_is<all_upper>},
    {"join", "s.join(parts)", text_join},
    {"ljust", "s.ljust(width, fill=\" \")", text_justify<-1>},
    {"lower", "s.lower()", text_case<letters::Case::Lower>},
    {"lstrip", "s.lstrip(characters=None)", text_strip<Ends::Left>},
    {"partition", "s.partition(separator)", text_partition<false>},
    {"removeprefix", "s.removeprefix(part)", text_without<false>},
    {"removesuffix", "s.removesuffix(part)", text_without<true>},
    {"replace", "s.replace(old, new, count=-1)", text_replace},
    {"rfind", "s.rfind(part, start=0, end=len(s))", text_find<true, MissingField::Minus>},
    {"rindex", "s.rindex(part, start=0, end=len(s))", text_find<true, MissingField::Error>},
    {"rjust", "s.rjust(width, fill=\" \")", text_justify<1>},
    {"rpartition", "s.rpartition(separator)", text_partition<true>},
    {"rsplit", "s.rsplit(sep=None, maxsplit=-1)", text_split<true>},
    {"rstrip", "s.rstrip(characters=None)", text_strip<Ends::Right>},
    {"split", "s.split(sep=None, maxsplit=-1)", text_split<false>},
    {"splitlines", "s.splitlines(keepends=False)", text_splitlines},
    {"startswith", "s.startswith(part)", text_begins<false>},
    {"strip", "s.strip(characters=None)", text_strip<Ends::Both>},
    {"swapcase", "s.swapcase()", text_case<letters::Case::Swapped>},
    {"title", "s.title()", text_case<letters::Case::Title>},
    {"upper", "s.upper()", text_case<letters::Case::Upper>},
    {"zfill", "s.zfill(width)", text_zfill},
};

}  // namespace

std::span<const ValueMethod> text_methods() { return text_table; }

}  // namespace relish
