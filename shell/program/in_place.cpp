// Edits by position: what is replaced, inserted or taken out is found from where declarations stand in the
// text; the edits are made in one pass over it.
#include "shell/program/in_place.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "frontend/names/namespaces.h"
#include "frontend/names/top_level_names.h"
#include "frontend/reader.h"
#include "frontend/text/scanner.h"
#include "ir/printer/constant_section.h"
#include "shell/command.h"
#include "shell/program/module_files.h"
#include "shell/program/reading.h"
#include "shell/script/builtins.h"
#include "support/failure.h"
#include "support/lines.h"
#include "support/render.h"

namespace relish {
namespace {

struct Edit {
  std::size_t begin, end;  // equal for an insertion
  std::string text;
};

struct Place {
  std::size_t begin, end;
  std::string indentation;
};

[[noreturn]] void refuse(const ProgramFile& program, const std::string& reason) {
  fail(ErrorClass::Usage, {}, "program.in_place",
       fmt::format("{} cannot be changed in its place: {}; write to another file", printable(program.path),
                   reason));
}

// Behind the comment that stands behind a declaration on its last line.
std::size_t with_comment_behind(std::string_view text, std::size_t end) {
  std::size_t rest = end;
  while (rest < text.size() && (text[rest] == ' ' || text[rest] == '\t' || text[rest] == ';')) ++rest;
  if (rest == text.size() || text[rest] != '#') return end;
  rest = std::min(text.find('\n', rest), text.size());
  return rest > 0 && text[rest - 1] == '\r' ? rest - 1 : rest;
}

Place place_of(std::string_view text, Span whole) {
  const std::size_t line = line_begin(text, whole.begin);
  return {whole.begin, with_comment_behind(text, whole.end),
          std::string(text.substr(line, whole.begin - line))};
}

// A function without the comments that stand above it: they are not written anew.
GlobalFunction without_comments_above(const GlobalFunction& function, std::size_t above) {
  return std::visit(
      [&](const auto& pointer) -> GlobalFunction {
        if (above == 0 || !pointer->comments) return pointer;
        auto copy = std::make_shared<std::decay_t<decltype(*pointer)>>(*pointer);
        Comments rest = *pointer->comments;
        rest.before.erase(rest.before.begin(), rest.before.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                                         above, rest.before.size())));
        copy->comments = std::make_shared<const Comments>(std::move(rest));
        return copy;
      },
      function);
}

bool is_word(char c) { return is_name_part(c); }

bool mentions(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end]))) return true;
  }
  return false;
}

// Whether a text uses a namespace, as in `R.add`; words of strings and comments count too, which costs an
// import at most.
bool uses_namespace(std::string_view text, char name) {
  for (std::size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
    const bool begins = at == 0 || (!is_word(text[at - 1]) && text[at - 1] != '.');
    if (begins && at + 2 < text.size() && text[at + 1] == '.' && is_word(text[at + 2])) return true;
  }
  return false;
}

class InPlace {
 public:
  InPlace(const ProgramFile& program, const InPlaceRequest& request)
      : program_(program),
        request_(request),
        source_(*Sources::instance().find(program.source)),
        text_(source_.text()),
        section_(find_constant_section(text_)),
        top_(top_level_of(program.source, text_.substr(0, section_))) {
    const std::size_t line = text_.find('\n');
    if (line != text_.npos && line > 0 && text_[line - 1] == '\r') line_end_ = "\r\n";
    if (section_ != text_.npos) {
      for (const auto& [name, tensor] : read_constant_section(program.source, text_, section_))
        constants_.keep(name, tensor);
    }
  }

  std::string run() {
    for (const ModuleChange& change : request_.changes) change_module(change);
    if (is_python_file(program_.path)) add_imports();
    std::string result = apply();
    check(result);
    return (program_.byte_order_mark ? "\xEF\xBB\xBF" : "") + result;
  }

 private:
  // One function as it stands in the text of its module, without the class around it.
  std::string printed(const Module& module, const GlobalFunction& function, bool free, PrintOptions options,
                      ConstantSection& constants) const {
    Module alone;
    alone.name = module.name;
    alone.functions = {function};
    options.free_functions = free;
    std::string text = print_part(alone, constants, options);
    if (!free) {
      for (int header = 0; header < 2; ++header) text.erase(0, text.find('\n') + 1);
    }
    while (text.ends_with('\n')) text.pop_back();
    return text;
  }

  // Printed lines with the indentation and line ends of the text; the first one begins behind the
  // indentation.
  std::string placed(std::string_view printed, bool free, const std::string& indentation) const {
    constexpr std::size_t class_indentation = 4;
    std::string result;
    bool first = true;
    while (true) {
      const std::size_t stop = std::min(printed.find('\n'), printed.size());
      std::string_view line = printed.substr(0, stop);
      if (!free) line.remove_prefix(std::min(class_indentation, line.size()));
      if (!first && !line.empty()) result += indentation;
      result += line;
      first = false;
      if (stop == printed.size()) return result;
      result += line_end_;
      printed.remove_prefix(stop + 1);
    }
  }

  void change_module(const ModuleChange& change) {
    const auto found = std::find_if(program_.places.begin(), program_.places.end(),
                                    [&](const ModulePlace& place) { return place.module == change.before; });
    RELISH_CHECK(found != program_.places.end(), "a module stands nowhere");
    const ModulePlace& where = *found;
    const bool free = change.before == program_.free_functions;
    const Module& before = *change.before;
    const Module& after = *change.after;
    // The last of several definitions is the one that holds.
    std::map<std::string, Place> places;
    std::map<std::string, std::size_t> comments_above;
    for (const ast::FunctionPlace& function : where.functions) {
      places[function.name] = place_of(text_, function.whole);
      comments_above[function.name] = function.comments_above;
    }

    PrintOptions old_names = request_.printing;
    old_names.linked = program_.linked;
    PrintOptions new_names = old_names;
    // A copy of another file's function that is not what that file says stands in this text from now on.
    for (const auto& [name, written] : program_.linked) {
      const GlobalFunction* now = after.find(name);
      const GlobalFunction* was = before.find(name);
      if (now && was && !same_text(before, *was, after, *now, free, {}, {})) new_names.linked.erase(name);
    }

    std::size_t kept = 0;
    std::vector<std::pair<std::string, std::string>> fresh;
    std::vector<std::pair<std::string, std::string>> all;
    for (const GlobalFunction& function : after.functions) {
      const std::string& name = name_of(function);
      if (new_names.linked.count(name)) continue;
      const GlobalFunction* was = before.find(name);
      const auto place = places.find(name);
      if (place == places.end()) {
        if (std::holds_alternative<ExternFunctionPtr>(function) && was) {
          ++kept;
          continue;
        }
        fresh.emplace_back(name, printed(after, function, free, new_names, constants_));
        all.push_back(fresh.back());
        continue;
      }
      ++kept;
      const bool same = was && same_text(before, *was, after, function, free, old_names, new_names);
      // One that sees constants is not formatted: printed, it would say their values instead.
      const bool kept = program_.with_constants.contains(free ? name : before.name + "." + name);
      if (same && (!request_.format || kept)) {
        ConstantSection scratch;  // what stays in the text needs no new entries
        all.emplace_back(name, printed(after, function, free, new_names, scratch));
        continue;
      }
      const GlobalFunction bare = without_comments_above(function, comments_above[name]);
      const std::string text = printed(after, bare, free, new_names, constants_);
      all.emplace_back(name, text);
      edits_.push_back(
          {place->second.begin, place->second.end, placed(text, free, place->second.indentation)});
    }
    take_out(before, after, places, kept + fresh.size() == 0 && !free);
    if (!fresh.empty()) add(where, free, places, fresh, all);
    intended_.emplace_back(change.before, change.after);
  }

  bool same_text(const Module& before, const GlobalFunction& was, const Module& after,
                 const GlobalFunction& now, bool free, const PrintOptions& old_names,
                 const PrintOptions& new_names) const {
    if (was == now && old_names.linked.size() == new_names.linked.size()) return true;
    ConstantSection scratch;
    return printed(before, was, free, old_names, scratch) == printed(after, now, free, new_names, scratch);
  }

  // Functions that are gone. A class that has nothing left holds `pass`.
  void take_out(const Module& before, const Module& after, const std::map<std::string, Place>& places,
                bool nothing_left) {
    for (const GlobalFunction& function : before.functions) {
      const auto place = places.find(name_of(function));
      if (place == places.end() || after.find(name_of(function))) continue;
      if (std::exchange(nothing_left, false)) {
        edits_.push_back({place->second.begin, place->second.end, "pass"});
        continue;
      }
      // With the empty lines before it, but not the line's end.
      std::size_t begin = place->second.begin;
      while (begin > 0 && std::string_view(" \t\r\n").find(text_[begin - 1]) != std::string_view::npos)
        --begin;
      edits_.push_back({begin, place->second.end, ""});
    }
  }

  void add(const ModulePlace& where, bool free, const std::map<std::string, Place>& places,
           const std::vector<std::pair<std::string, std::string>>& fresh,
           const std::vector<std::pair<std::string, std::string>>& all) {
    if (!free) {
      const Place whole = place_of(text_, where.whole);
      const std::string indentation = where.functions.empty()
                                          ? whole.indentation + "    "
                                          : place_of(text_, where.functions.front().whole).indentation;
      std::string text;
      for (const auto& [name, function] : fresh)
        text += line_end_ + line_end_ + indentation + placed(function, false, indentation);
      edits_.push_back({whole.end, whole.end, std::move(text)});
      return;
    }
    // Behind the function they come from; without one, behind the first that calls them, or the last of all.
    std::map<std::size_t, std::string> behind;
    std::map<std::string, std::size_t> homes;
    for (const auto& [name, place] : places) homes[name] = place.end;
    std::size_t last = 0;
    for (const auto& [name, end] : homes) last = std::max(last, end);
    for (const auto& [name, function] : fresh) {
      // A new function must not be what other statements mean by the name.
      const bool python = is_python_file(program_.path);
      const bool known = python || find_builtin(name) != nullptr || find_command(name) != nullptr;
      if ((known && top_.used.contains(name)) || top_.names.contains(name)) {
        refuse(program_,
               fmt::format("its statements mean something else by '{}', the name of a new function", name));
      }
      std::size_t home = last;
      if (const auto subject = places.find(request_.subject); subject != places.end()) {
        home = subject->second.end;
      } else {
        for (const auto& [caller, text] : all) {
          const auto known = homes.find(caller);
          if (caller == name || known == homes.end() || !mentions(text, name)) continue;
          home = known->second;
          break;
        }
      }
      homes[name] = home;
      behind[home] += line_end_ + line_end_ + line_end_ + placed(function, true, "");
    }
    for (auto& [home, text] : behind) edits_.push_back({home, home, std::move(text)});
  }

  // The names of TVM's namespaces that the new lines use and a Python file has not bound.
  void add_imports() {
    std::string written;
    for (const Edit& edit : edits_) written += edit.text + "\n";
    std::string imports;
    const bool latest = request_.printing.dialect == Dialect::D026;
    for (const auto& [name, target] :
         {std::pair{'I', "ir"}, std::pair{'T', latest ? "tirx" : "tir"}, std::pair{'R', "relax"}}) {
      if (!uses_namespace(written, name)) continue;
      const auto bound = top_.names.find(std::string(1, name));
      if (bound == top_.names.end()) {
        imports += fmt::format("from tvm.script import {} as {}{}", target, name, line_end_);
        continue;
      }
      Namespaces known;
      known.bind(bound->first, bound->second);
      const bool ours = !bound->second.empty() && bound->second.starts_with("tvm") &&
                        known.canonical(bound->first) == bound->first;
      if (!ours) refuse(program_, fmt::format("its name '{}' is not TVM's namespace", name));
    }
    if (imports.empty()) return;
    if (top_.last_import.known()) {
      const std::size_t at = with_comment_behind(text_, top_.last_import.end);
      imports.erase(imports.size() - line_end_.size());
      edits_.push_back({at, at, line_end_ + imports});
      return;
    }
    // Above the first declaration and the comments directly over it.
    std::size_t first = text_.size();
    for (const ModulePlace& place : program_.places) {
      if (place.whole.known()) first = std::min<std::size_t>(first, place.whole.begin);
      for (const ast::FunctionPlace& function : place.functions)
        first = std::min<std::size_t>(first, function.whole.begin);
    }
    std::size_t line = line_begin(text_, first);
    while (line > 0 && text_[line_begin(text_, line - 1)] == '#') line = line_begin(text_, line - 1);
    if (line == 0) {
      edits_.push_back({0, 0, imports + line_end_});
    } else {
      const std::size_t at = line - (line > 1 && text_[line - 2] == '\r' ? 2 : 1);
      edits_.push_back({at, at, line_end_ + imports});
    }
  }

  std::string apply() {
    std::stable_sort(edits_.begin(), edits_.end(), [](const Edit& a, const Edit& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
    });
    std::string result;
    std::size_t at = 0;
    for (const Edit& edit : edits_) {
      if (edit.begin < at) refuse(program_, "two of its declarations share a line");
      result += text_.substr(at, edit.begin - at);
      result += edit.text;
      at = edit.end;
    }
    result += text_.substr(at);
    std::string added = constants_.added_text();
    if (added.empty()) return result;
    if (section_ == text_.npos) {
      if (!result.ends_with('\n')) result += line_end_;
      added = "\n" + std::string(constant_section_heading) + "\n" + added;
    } else if (!result.ends_with('\n')) {
      result += line_end_;
    }
    for (const char c : added) {
      if (c == '\n' && line_end_.size() == 2) result += '\r';
      result += c;
    }
    return result;
  }

  // What was made must read as what was meant: the last guard before a file is replaced.
  void check(const std::string& result) const {
    ReadOptions options;
    options.python_file = is_python_file(program_.path);
    options.redefinitions = !options.python_file;
    allow_loads(options, program_.rules, {program_.path});
    options.load_all = true;
    Diagnostics diagnostics;
    const ReadResult read =
        read_source(Sources::instance().add(source_.name(), result), options, diagnostics);
    if (!read.printable) refuse(program_, "the result would not be read");
    std::vector<ModulePtr> wanted = program_.modules();
    for (const auto& [before, after] : intended_) std::replace(wanted.begin(), wanted.end(), before, after);
    if (modules_text(wanted, program_.free_functions != nullptr) !=
        modules_text(read.all_modules(), read.free_functions != nullptr))
      refuse(program_, "the result would not read as what was made");
  }

  // Modules without comments, in one order whatever the text's.
  static std::string modules_text(const std::vector<ModulePtr>& modules, bool last_is_free) {
    std::string text;
    for (std::size_t i = 0; i < modules.size(); ++i) {
      Module sorted = *modules[i];
      sorted.functions.sort(
          [](const GlobalFunction& a, const GlobalFunction& b) { return name_of(a) < name_of(b); });
      PrintOptions options;
      options.comments = false;
      options.free_functions = last_is_free && i + 1 == modules.size();
      text += print(sorted, options);
    }
    return text;
  }

  const ProgramFile& program_;
  const InPlaceRequest& request_;
  const SourceFile& source_;
  std::string_view text_;
  std::size_t section_;
  TopLevel top_;
  std::string line_end_ = "\n";
  ConstantSection constants_;
  std::vector<Edit> edits_;
  std::vector<std::pair<ModulePtr, ModulePtr>> intended_;
};

}  // namespace

std::string text_in_place(const ProgramFile& program, const InPlaceRequest& request) {
  return InPlace(program, request).run();
}

}  // namespace relish
