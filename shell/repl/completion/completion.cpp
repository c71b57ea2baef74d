// Candidates by place.
#include "shell/repl/completion/completion.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "frontend/text/scanner.h"
#include "ir/operators/op.h"
#include "shell/repl/completion/completion_sources.h"
#include "shell/repl/completion/cursor_place.h"
#include "support/value_text.h"

namespace relish {
namespace {

// What stands behind `? ` or `help `, of which a page is asked for.
std::optional<std::string_view> page_begun(std::string_view text) {
  std::string_view line = text.substr(text.rfind('\n') + 1);
  for (const std::string_view word : {"? ", "??", "?", "help "}) {
    if (!line.starts_with(word)) continue;
    line.remove_prefix(word.size());
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    return line;
  }
  return std::nullopt;
}

class Completer {
 public:
  Completer(const Workspace& workspace, std::string_view text)
      : sources_(workspace), text_(text), place_(cursor_place(text)) {}

  Completions run() {
    if (place_.in_comment) return {};
    if (const auto asked = page_begun(text_)) {
      place_.word = *asked;
      add(sources_.pages());
    } else if (place_.command_line) {
      command_line();
    } else if (place_.in_string) {
      string();
    } else {
      expression();
    }
    return take();
  }

 private:
  void add(std::vector<Candidate> candidates) {
    for (Candidate& candidate : candidates) {
      if (candidate.text == place_.word) {
        if (!whole_) whole_ = std::move(candidate);
        continue;
      }
      const bool fits = candidate.text.starts_with(place_.word);
      if (fits && seen_.insert(candidate.text).second) found_.push_back(std::move(candidate));
    }
  }

  // What is whole already stands first among what it may go on to.
  Completions take() {
    if (whole_ && !found_.empty()) found_.insert(found_.begin(), std::move(*whole_));
    return {place_.word, std::move(found_)};
  }

  void files() { add(sources_.files(place_.word)); }
  void files_ending(std::string_view ending) {
    std::vector<Candidate> found = sources_.files(place_.word);
    std::erase_if(found, [&](const Candidate& file) {
      return !file.text.ends_with(ending) && !file.text.ends_with('/');
    });
    add(std::move(found));
  }

  // The value of an option of a command, or of an argument that takes what such an option takes.
  bool option_value(const Command& command, std::string_view name, std::string_view subject) {
    const Option* option = nullptr;
    for (const Option& each : command.options)
      if (shell_name(each.name) == shell_name(name) || (name.size() == 1 && each.letter == name[0]))
        option = &each;
    if (!option) return false;
    // "adam(lr": the options of what the text calls.
    if (place_.in_string && place_.word.find('(') != std::string_view::npos) return false;
    switch (option->kind) {
      case OptionKind::Names:
        add(sources_.parameters(subject));
        return true;
      case OptionKind::Assignments:
        if (option->name == "dim") {
          add(sources_.dimensions(subject, place_.in_dict ? "" : "="));
          return true;
        }
        // As {"x": value} or ["x=value"].
        add(sources_.parameters(subject, place_.in_dict ? "" : "="));
        if (!place_.in_string) add(sources_.names(true));
        return true;
      case OptionKind::Spec:
        if (option->name == "vs") add(sources_.functions());
        add(sources_.catalog(option->name));
        return true;
      case OptionKind::Tensors:
      case OptionKind::InputFile:
      case OptionKind::OutputFile:
      case OptionKind::OutputFolder:
        if (option->kind == OptionKind::Tensors && !place_.in_string) add(sources_.names(false));
        files();
        return true;
      case OptionKind::Text:
        if (option->name == "passes") {
          add(sources_.transforms());
          return true;
        }
        add(sources_.choices(option->doc));
        return !found_.empty();
      case OptionKind::Flag:
        if (!place_.in_string) add({{"True", "bool", ""}, {"False", "bool", ""}});
        return true;
      default:
        add(sources_.choices(option->doc));
        return !found_.empty();
    }
  }

  void command_line() {
    if (place_.command.empty()) {
      add(sources_.commands());
      return;
    }
    const std::string name(place_.command);
    const Command* command = find_command(name);
    if (!place_.callee.empty() && catalog_options()) return;
    if (command && place_.word.starts_with("-")) {
      add(sources_.command_options(*command));
      return;
    }
    const std::string subject = place_.words.empty() ? "" : std::string(place_.words.front());
    if (command && !place_.option.empty() && option_value(*command, place_.option, subject)) return;
    if (!place_.callee.empty() || place_.in_string) {
      place_.in_string ? string() : expression();
      return;
    }
    command_subject(name, command);
  }

  void command_subject(const std::string& name, const Command* command) {
    const bool first = place_.words.empty();
    if (name == "goto") return add(sources_.states());
    if (name == "tier" || (name == "set" && !first && place_.words.front() == "tier"))
      return add({{"interp", "tier", ""}, {"jit", "tier", ""}});
    if (name == "set")
      return first ? add({{"tier", "option", "interp or jit"},
                          {"threads", "option", "how many"},
                          {"seed", "option", "of numbers drawn without one"},
                          {"native", "option", "a library to open"}})
                   : files();
    if (name == "help" || name == "doc") return add(sources_.pages());
    if (name == "load" || name == "save" || name == "run") return files();
    if (name == "restore") return files_ending(".rxs");
    // A new name.
    if (name == "branch" || name == "snapshot" || name == "undo") return;
    if (name == "vars") return add(sources_.kinds());
    if (asks(name) && place_.word.find('.') != place_.word.rfind('.'))
      return add(sources_.bindings(place_.word.substr(0, place_.word.rfind('.'))));
    if (name == "reload") return add(sources_.modules());
    if (name == "diff") add(sources_.states());
    if (command && (command->subject == Subject::Function || command->subject == Subject::Call) && first) {
      if (place_.word.find('.') == std::string_view::npos) add(sources_.functions());
    } else if (command && command->subject == Subject::Module && first) {
      return add(sources_.modules());
    }
    expression();
  }

  static bool asks(std::string_view command) {
    return command == "where" || command == "uses" || command == "info" || command == "type";
  }

  // Options of adam(…), of the catalog.
  bool catalog_options() {
    if (sources_.is_bound(place_.callee)) return false;
    std::vector<Candidate> options = sources_.catalog_options(place_.callee);
    const bool any = !options.empty();
    add_not_given(std::move(options));
    return any;
  }

  void add_not_given(std::vector<Candidate> keywords) { add_but(std::move(keywords), place_.given); }

  void add_but(std::vector<Candidate> keywords, const std::vector<std::string_view>& given) {
    std::erase_if(keywords, [&](const Candidate& keyword) {
      const std::string_view name = std::string_view(keyword.text).substr(0, keyword.text.size() - 1);
      return std::find(given.begin(), given.end(), name) != given.end();
    });
    add(std::move(keywords));
  }

  // In the text "adam(lr=0.1, b" or "dce, gradient(wr": what the entry in front of the open bracket takes, or
  // behind one that is closed another entry.
  void entries() {
    const std::string_view inside = place_.word;
    std::vector<std::size_t> open;
    for (std::size_t at = 0; at < inside.size(); ++at) {
      if (inside[at] == '(') open.push_back(at);
      if (inside[at] == ')' && !open.empty()) open.pop_back();
    }
    place_.word = inside.substr(inside.find_last_of("(, ") + 1);
    if (open.empty())
      return add(place_.keyword == "passes" ? sources_.transforms() : sources_.catalog(place_.keyword));
    const std::string_view before = inside.substr(0, open.back());
    const std::string_view entry = before.substr(before.find_last_of("(, =") + 1);
    std::vector<std::string_view> given;
    for (const std::string_view part : split_at_commas(inside.substr(open.back() + 1)))
      if (const std::size_t sign = part.find('='); sign != std::string_view::npos)
        given.push_back(without_blanks(part.substr(0, sign)));
    const Command* transform = find_command(entry);
    add_but(sources_.catalog_options(entry), given);
    if (transform && transform->transforms) add_but(sources_.command_keywords(*transform), given);
  }

  void string() {
    const std::string callee(place_.callee);
    // In "adam(lr" the string holds a call itself.
    if (place_.word.find('(') != std::string_view::npos) return entries();
    if (!place_.subscripted.empty()) return add(sources_.keys(place_.subscripted));
    if (callee == "load" || callee == "save" || callee == "run" || callee == "open") return files();
    if (callee == "help" || callee == "doc") return add(sources_.pages());
    if (const Command* command = callee.empty() ? nullptr : find_command(callee)) {
      option_value(*command, place_.keyword, place_.subject);
      return;
    }
    add(sources_.catalog(place_.keyword));
    if (callee.starts_with("R.") || callee.starts_with("T.")) {
      const Param* param = parameter_here();
      if (param && param->type.find("dtype") == std::string_view::npos &&
          param->name.find("dtype") == std::string_view::npos) {
        add(sources_.choices(param->doc));
      } else if (param || callee == "R.Tensor" || callee == "T.Buffer" || callee == "R.const" ||
                 callee == "R.Prim") {
        add(sources_.dtypes());
      }
    } else if (place_.keyword == "dtype" || callee == "tensor" || callee.ends_with(".astype")) {
      add(sources_.dtypes());
    }
  }

  // The parameter of the operator that is called which the cursor is at; null when there is none.
  const Param* parameter_here() const {
    const Op* op = place_.callee.starts_with("R.") ? find_op(place_.callee.substr(2)) : nullptr;
    if (!op) return nullptr;
    if (!place_.keyword.empty()) {
      for (const Param& param : op->params)
        if (param.name == place_.keyword) return &param;
      return nullptr;
    }
    return place_.argument < op->params.size() ? &op->params[place_.argument] : nullptr;
  }

  // NAME of NAME@STATE.
  std::string_view name_in_front() const {
    std::size_t begin = place_.begin - 1;
    while (begin > 0 && is_name_part(text_[begin - 1])) --begin;
    return text_.substr(begin, place_.begin - 1 - begin);
  }

  bool begins_argument() const {
    std::size_t at = place_.begin;
    while (at > 0 && std::string_view(" \t\n").find(text_[at - 1]) != std::string_view::npos) --at;
    return at > 0 && (text_[at - 1] == '(' || text_[at - 1] == ',') && place_.keyword.empty();
  }

  void keywords_of_call() {
    const std::string callee(place_.callee);
    if (const Op* op = callee.starts_with("R.") ? find_op(callee.substr(2)) : nullptr) {
      add_not_given(sources_.operator_keywords(*op, place_.argument));
    } else if (const Command* command = sources_.is_bound(callee) ? nullptr : find_command(callee)) {
      add_not_given(sources_.command_keywords(*command));
    } else if (!catalog_options()) {
      // Those in front stand by place.
      std::vector<Candidate> parameters = sources_.parameters(callee, "=");
      const std::size_t placed = place_.argument - std::min(place_.argument, place_.given.size());
      parameters.erase(parameters.begin(),
                       parameters.begin() + static_cast<std::ptrdiff_t>(std::min(placed, parameters.size())));
      add_not_given(std::move(parameters));
      add_not_given(sources_.synopsis_keywords(callee, placed));
    }
  }

  void expression() {
    if (place_.word.empty() && place_.callee.empty() && !place_.behind_at && !place_.command_line &&
        !place_.wants_value)
      return;
    if (place_.behind_at) {
      add(sources_.states());
      const std::size_t dot = place_.word.rfind('.');
      if (dot != std::string_view::npos)
        add(sources_.members_at(name_in_front(), place_.word.substr(0, dot)));
    }
    if (place_.decorator) {
      add(sources_.decorators());
      return;
    }
    const std::size_t dot = place_.word.rfind('.');
    if (dot != std::string_view::npos) {
      add(sources_.members(std::string(place_.word.substr(0, dot))));
      return;
    }
    // An argument with a name may be wrt=["x, the string of which is open, or a bare word.
    if (!place_.callee.empty() && begins_argument() && !place_.word.empty()) keywords_of_call();
    if (!place_.callee.empty() && begins_argument() && place_.word.empty()) {
      keywords_of_call();
    }
    const Param* param = parameter_here();
    const bool tensor_of_function = wants_tensor_of_function();
    const bool wants_tensor = (param && param->kind == ParamKind::Tensor) || tensor_of_function;
    std::vector<Candidate> own;
    for (std::string& name : names_bound_in(text_.substr(0, place_.begin)))
      own.push_back({std::move(name), "in this input", ""});
    if (wants_tensor) add(sources_.tensors());
    add(std::move(own));
    if (place_.word.empty()) {
      // No module is a tensor; a name that is begun may go on to M.main(x), which gives one.
      const std::vector<Candidate> modules =
          tensor_of_function ? sources_.modules() : std::vector<Candidate>();
      std::vector<Candidate> names = sources_.names(false);
      std::erase_if(names, [&](const Candidate& name) {
        return std::any_of(modules.begin(), modules.end(),
                           [&](const Candidate& module) { return module.text == name.text; });
      });
      return add(std::move(names));
    }
    add(sources_.names(true));
  }

  // Whether the argument that is begun is a tensor's, of a function of a module.
  bool wants_tensor_of_function() const {
    if (place_.callee.empty()) return false;
    const std::vector<Candidate> parameters = sources_.tensor_parameters(place_.callee);
    if (!place_.keyword.empty())
      return std::any_of(parameters.begin(), parameters.end(),
                         [&](const Candidate& each) { return each.text == place_.keyword; });
    const std::vector<Candidate> all = sources_.parameters(place_.callee);
    return place_.given.empty() && place_.argument < all.size() &&
           std::any_of(
               parameters.begin(), parameters.end(),
               [&](const Candidate& each) { return each.text == all[place_.argument].text; });
  }

  CompletionSources sources_;
  std::string_view text_;
  CursorPlace place_;
  std::vector<Candidate> found_;
  std::optional<Candidate> whole_;
  std::unordered_set<std::string> seen_;
};

}  // namespace

Completions complete(const Workspace& workspace, std::string_view text) {
  return Completer(workspace, text).run();
}

}  // namespace relish
