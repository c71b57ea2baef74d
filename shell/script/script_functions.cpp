// Making and calling functions.
#include "shell/script/script_functions.h"

#include <algorithm>
#include <set>

#include "shell/script/dict_index.h"
#include "support/counted.h"
#include "support/interrupt.h"
#include "support/render.h"
#include "support/suggest.h"

namespace relish {
namespace {

// One inside the other.
constexpr std::size_t most_calls = 1000;
// Of a fault inside of calls, the notes that tell the way to it.
constexpr std::size_t most_notes = 6;

// A function among its own captured names would keep them, and itself, for ever. What only holds each other
// when the frame goes is let go.
void release_cells(const Frame& frame) {
  std::vector<const NameSlot*> own;
  bool functions = false;
  for (std::size_t i = 0; i < frame.own_cells; ++i) {
    own.push_back(frame.cells[i].get());
    const ScriptFunction* function = frame.cells[i]->value.script_function();
    functions |= function && !function->captured.empty();
  }
  if (!functions) return;
  const auto function_in = [&](std::size_t i) { return own[i]->value.as<ScriptFunctionPtr>(); };
  std::vector<bool> alive(own.size(), false);
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < own.size(); ++i) {
    // Holders that are neither the frame nor functions in these cells, and holders of the function that are
    // none of these cells.
    long known = 1, held = 0;
    const ScriptFunctionPtr* here = function_in(i);
    std::set<const ScriptFunction*> seen;
    for (std::size_t k = 0; k < own.size(); ++k) {
      const ScriptFunctionPtr* function = function_in(k);
      if (!function) continue;
      held += here && function->get() == here->get();
      if (!seen.insert(function->get()).second) continue;
      known += std::count(function->get()->captured.begin(), function->get()->captured.end(), frame.cells[i]);
    }
    alive[i] = frame.cells[i].use_count() > known || (here && here->use_count() > held);
    if (alive[i]) found.push_back(i);
  }
  while (!found.empty()) {
    const ScriptFunctionPtr* function = function_in(found.back());
    found.pop_back();
    if (!function) continue;
    for (const CellPtr& cell : (*function)->captured) {
      const auto at = static_cast<std::size_t>(std::find(own.begin(), own.end(), cell.get()) - own.begin());
      if (at == own.size() || alive[at]) continue;
      alive[at] = true;
      found.push_back(at);
    }
  }
  for (std::size_t i = 0; i < own.size(); ++i)
    if (!alive[i]) frame.cells[i]->value = {};
}

std::string parameter_words(const ScriptFunction& function) {
  std::string words;
  for (const ast::Parameter& parameter : *function.parameters) {
    words += words.empty() ? "" : ", ";
    words += std::string(parameter.name == "*" ? 0 : static_cast<std::size_t>(parameter.stars), '*') +
             parameter.name;
    if (parameter.default_value) words += "=…";
  }
  return words.empty() ? "takes none" : "takes " + words;
}

}  // namespace

CapturedCells::~CapturedCells() {
  static thread_local std::vector<CellPtr>* going = nullptr;
  if (empty()) return;
  if (going) {
    going->insert(going->end(), std::make_move_iterator(begin()), std::make_move_iterator(end()));
    return;
  }
  std::vector<CellPtr> all(std::make_move_iterator(begin()), std::make_move_iterator(end()));
  going = &all;
  while (!all.empty()) {
    const CellPtr last = std::move(all.back());
    all.pop_back();
  }
  going = nullptr;
}

ScriptFunctions::TextFrame::TextFrame(ScriptFunctions& script, std::shared_ptr<const void> text,
                                      const ast::Scope& scope)
    : script_(script), before_(script.frame_) {
  frame_.slots.resize(scope.slots.size());
  frame_.cells.resize(scope.cells.size());
  for (CellPtr& cell : frame_.cells) cell = std::make_shared<NameSlot>();
  frame_.own_cells = scope.own_cells;
  frame_.text = std::move(text);
  script.frame_ = &frame_;
}

ScriptFunction ScriptFunctions::made_function(const std::vector<ast::Parameter>& parameters,
                                              const ast::Scope& scope) {
  ScriptFunction function;
  function.text = frame_->text;
  function.home = inside_.library;
  function.parameters = &parameters;
  for (const ast::Parameter& parameter : parameters)
    if (parameter.default_value) function.defaults.push_back(value_of(*parameter.default_value));
  for (const ScriptValue& value : function.defaults)
    function.depth = std::max(function.depth, nesting_of(value) + 1);
  if (function.depth > most_value_nesting) {
    fail(ErrorClass::ResourceLimit, {}, "limit.value_nesting",
         fmt::format("functions hold each other as defaults deeper than {}", most_value_nesting));
  }
  for (const std::uint32_t cell : scope.captured) function.captured.push_back(frame_->cells[cell]);
  return function;
}

ScriptValue ScriptFunctions::value_of_lambda(const ast::Lambda& lambda, Span span) {
  ScriptFunction function = made_function(lambda.parameters, *lambda.scope);
  function.name = "<lambda>";
  function.span = function.whole = span;
  function.value = lambda.value.get();
  function.scope = lambda.scope;
  return std::make_shared<const ScriptFunction>(std::move(function));
}

void ScriptFunctions::define(const ast::FunctionDefinition& definition, Span span, Span whole) {
  ScriptFunction function = made_function(definition.parameters, *definition.scope);
  function.name = definition.name;
  function.span = span;
  function.whole = whole;
  function.body = &definition.body;
  function.scope = definition.scope;
  ScriptValue value = std::make_shared<const ScriptFunction>(std::move(function));
  const ast::Name name{definition.name, definition.place};
  if (NameSlot* slot = slot_of(name)) {
    slot->value = std::move(value);
    slot->bound = slot->own = true;
  } else {
    set_script_name(name, std::move(value), definition.name_span);
  }
}

void ScriptFunctions::take_arguments(const ScriptFunction& function, Frame& frame,
                                     std::vector<NamedValue> arguments, Span span) {
  const std::vector<ast::Parameter>& parameters = *function.parameters;
  const auto slot = [&](std::size_t i) -> NameSlot& {
    const ast::NamePlace& place = function.scope->places[i];
    return place.kind == ast::NamePlace::Kind::Cell ? *frame.cells[place.index] : frame.slots[place.index];
  };
  const auto give = [&](std::size_t i, ScriptValue value) {
    slot(i).value = std::move(value);
    slot(i).bound = true;
  };
  std::size_t by_place = 0;  // parameters that take arguments by place
  while (by_place < parameters.size() && parameters[by_place].stars == 0) ++by_place;
  std::vector<ScriptValue> rest;
  DictItems named;
  DictIndex index(span);
  const auto starred = [&](int stars) {
    return std::find_if(parameters.begin(), parameters.end(), [&](const ast::Parameter& parameter) {
      return parameter.stars == stars && parameter.name != "*";
    });
  };
  const auto rest_at = starred(1), named_at = starred(2);
  std::size_t next = 0;
  for (NamedValue& argument : arguments) {
    if (argument.name.empty()) {
      if (next < by_place) {
        give(next++, std::move(argument.value));
      } else if (rest_at != parameters.end()) {
        rest.push_back(std::move(argument.value));
      } else {
        fail(ErrorClass::Usage, argument.span, "call.arguments",
             fmt::format("{}: found more arguments than it takes; it {}", function.name,
                         parameter_words(function)));
      }
      continue;
    }
    std::size_t at = 0;
    while (at < parameters.size() && (parameters[at].stars > 0 || parameters[at].name != argument.name)) ++at;
    if (at == parameters.size() && named_at == parameters.end()) {
      std::vector<std::string> names;
      for (const ast::Parameter& parameter : parameters)
        if (parameter.stars == 0) names.push_back(parameter.name);
      fail(ErrorClass::Usage, argument.span, "call.arguments",
           fmt::format("{}: unknown argument '{}'{}; it {}", function.name, argument.name,
                       did_you_mean(argument.name, names), parameter_words(function)));
    }
    ScriptValue key(argument.name);
    if (at < parameters.size() ? slot(at).bound : index.find(named, key).has_value()) {
      fail(ErrorClass::Usage, argument.span, "call.arguments",
           fmt::format("{}: '{}' is given twice", function.name, argument.name));
    }
    if (at < parameters.size()) {
      give(at, std::move(argument.value));
    } else {
      index.add(key, named.size());
      named.emplace_back(std::move(key), std::move(argument.value));
    }
  }
  std::size_t default_at = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].stars > 0) continue;
    const bool has_default = parameters[i].default_value != nullptr;
    const std::size_t own_default = default_at;
    default_at += has_default;
    if (slot(i).bound) continue;
    if (!has_default) {
      fail(ErrorClass::Usage, span, "call.arguments",
           fmt::format("{}: the argument '{}' is missing; it {}", function.name, parameters[i].name,
                       parameter_words(function)));
    }
    give(i, function.defaults[own_default]);
  }
  if (rest_at != parameters.end())
    give(static_cast<std::size_t>(rest_at - parameters.begin()), ScriptValue::tuple(std::move(rest)));
  if (named_at != parameters.end()) {
    const auto at = static_cast<std::size_t>(named_at - parameters.begin());
    give(at, ScriptValue::dict(std::move(named)));
    slot(at).own = true;
  }
}

ScriptValue ScriptFunctions::call_script(const ScriptFunctionPtr& function, std::vector<NamedValue> arguments,
                                         Span span) {
  if (inside_.calls >= most_calls) {
    fail(ErrorClass::ResourceLimit, span, "limit.script_calls",
         fmt::format("calls of script functions go deeper than {}", most_calls));
  }
  poll_interrupt(span);
  const ast::Scope& scope = *function->scope;
  Frame frame;
  frame.slots.resize(scope.slots.size());
  frame.own_cells = scope.own_cells;
  frame.cells.reserve(scope.cells.size());
  for (std::size_t i = 0; i < scope.own_cells; ++i) frame.cells.push_back(std::make_shared<NameSlot>());
  frame.cells.insert(frame.cells.end(), function->captured.begin(), function->captured.end());
  frame.text = function->text;
  frame.function = function.get();
  take_arguments(*function, frame, std::move(arguments), span);
  struct Running {
    Frame*& place;
    std::size_t& calls;
    Frame& frame;
    Frame* before;
    Library*& library;
    Library* library_before;
    ~Running() {
      place = before;
      library = library_before;
      --calls;
      if (frame.own_cells > 0) release_cells(frame);
    }
  } running{frame_,          ++inside_.calls,
            frame,           std::exchange(frame_, &frame),
            inside_.library, std::exchange(inside_.library, function->home)};
  try {
    if (function->value) return value_of(*function->value);
    run_body(*function->body);
  } catch (Failure& failure) {
    failure.at(function->span);
    Diagnostic& first = failure.diagnostics().front();
    const auto told = static_cast<std::size_t>(
        std::count_if(first.notes.begin(), first.notes.end(),
                      [](const DiagnosticNote& note) { return note.text.starts_with("in the call of "); }));
    if (failure.error_class() != ErrorClass::Interrupted && told < most_notes) {
      failure.note(span, told + 1 < most_notes
                             ? fmt::format("in the call of '{}' made here", printable(function->name))
                             : fmt::format("in the call of '{}' made here, and in calls around it",
                                           printable(function->name)));
    }
    throw;
  }
  return std::move(frame.result);
}

ScriptValue ScriptFunctions::value_of_comprehension(const ast::Comprehension& comprehension, Span span) {
  std::vector<ScriptValue> items, keys;
  run_comprehension(comprehension, [&] {
    check_item_count(static_cast<std::int64_t>(items.size()) + 1, span);
    if (items.size() == items.capacity() && items.size() >= 4096) {
      // Room is asked for before it is taken; the list that is made counts it for good.
      HeldMemory(2 * items.size() * sizeof(ScriptValue), "a list", span);
    }
    if (comprehension.key) {
      keys.push_back(value_of(*comprehension.key));
      check_key(keys.back(), comprehension.key->span);
    }
    items.push_back(value_of(*comprehension.value));
    return true;
  });
  if (!comprehension.key) return ScriptValue::list(std::move(items));
  DictItems entries;
  DictIndex index(span);
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (const auto found = index.find(entries, keys[i])) {
      entries[*found].second = std::move(items[i]);
      continue;
    }
    index.add(keys[i], entries.size());
    entries.emplace_back(std::move(keys[i]), std::move(items[i]));
  }
  return ScriptValue::dict(std::move(entries));
}

bool ScriptFunctions::truth_in_generator(const ast::Comprehension& generator, bool all) {
  bool result = all;
  run_comprehension(generator, [&] {
    result = truth(value_of(*generator.value), generator.value->span, all ? "all" : "any");
    return result == all;
  });
  return result;
}

// `each` reads the value where the names of the clauses have the next items; false ends it.
void ScriptFunctions::run_comprehension(const ast::Comprehension& comprehension,
                                        const std::function<bool()>& each) {
  const auto slot = [&](const ast::NamePlace& place) -> NameSlot* {
    return place.kind == ast::NamePlace::Kind::Local ? &frame_->slots[place.index] : nullptr;
  };
  // Each one has names of its own; a lambda inside keeps them.
  for (const ast::NamePlace& place : comprehension.scope->places)
    if (!slot(place)) frame_->cells[place.index] = std::make_shared<NameSlot>();
  run_clauses(comprehension, 0, each);
  for (const ast::NamePlace& place : comprehension.scope->places) {
    if (NameSlot* own = slot(place)) {
      *own = {};
    } else {
      frame_->cells[place.index] = std::make_shared<NameSlot>();
    }
  }
}

bool ScriptFunctions::run_clauses(const ast::Comprehension& comprehension, std::size_t clause,
                                  const std::function<bool()>& each) {
  if (clause == comprehension.clauses.size()) return each();
  const ast::ComprehensionClause& here = comprehension.clauses[clause];
  if (!here.target) return !condition(*here.value, "if") || run_clauses(comprehension, clause + 1, each);
  const ScriptValue iterable = value_of(*here.value);
  bool goes_on = true;
  for_each_item(iterable, here.value->span, [&](const ScriptValue& item) {
    bind(*here.target, item);
    goes_on = run_clauses(comprehension, clause + 1, each);
    return goes_on;
  });
  return goes_on;
}

}  // namespace relish
