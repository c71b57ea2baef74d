// Reads and bindings of statements, summed up from the inside, then live names from the end backwards.
#include "frontend/names/liveness.h"

#include <type_traits>

#include "frontend/names/binding_names.h"
#include "frontend/text/scanner.h"

namespace relish {
namespace {

using Names = std::set<std::string>;

void read_expr(const ast::ExprPtr& expr, Names& into);

void read_all(const std::vector<ast::ExprPtr>& exprs, Names& into) {
  for (const ast::ExprPtr& expr : exprs) read_expr(expr, into);
}

// A dimension in a string is an expression; its names are enough.
void read_words(std::string_view text, Names& into) {
  for (std::size_t at = 0; at < text.size();) {
    if (!is_name_start(text[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && is_name_part(text[end])) ++end;
    into.emplace(text.substr(at, end - at));
    at = end;
  }
}

// The strings of shapes, anywhere in a type.
void read_dimensions(const ast::Expr& type, Names& into) {
  if (auto* text = type.as<ast::StringValue>()) read_words(text->value, into);
  if (auto* tuple = type.as<ast::TupleValue>()) {
    for (const ast::ExprPtr& item : tuple->items) read_dimensions(*item, into);
  }
  if (auto* list = type.as<ast::ListValue>()) {
    for (const ast::ExprPtr& item : list->items) read_dimensions(*item, into);
  }
  auto* call = type.as<ast::Call>();
  if (!call) return;
  for (const ast::Argument& argument : call->arguments) {
    if (argument.name != "dtype" && argument.name != "vdevice") read_dimensions(*argument.value, into);
  }
}

void read_links(const ast::ExprPtr& first, const std::vector<ast::Link>& links, Names& into) {
  read_expr(first, into);
  for (const ast::Link& link : links) read_expr(link.operand, into);
}

void read_expr(const ast::ExprPtr& expr, Names& into) {
  if (!expr) return;
  std::visit(
      [&](const auto& v) {
        using K = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<K, ast::Name>) {
          into.insert(v.id);
        } else if constexpr (std::is_same_v<K, ast::TupleValue> || std::is_same_v<K, ast::ListValue>) {
          read_all(v.items, into);
        } else if constexpr (std::is_same_v<K, ast::DictValue>) {
          for (const auto& [key, value] : v.items) {
            read_expr(key, into);
            read_expr(value, into);
          }
        } else if constexpr (std::is_same_v<K, ast::Attribute>) {
          read_expr(v.object, into);
        } else if constexpr (std::is_same_v<K, ast::Call>) {
          read_expr(v.callee, into);
          for (const ast::Argument& argument : v.arguments) read_expr(argument.value, into);
          auto* callee = v.callee->template as<ast::Attribute>();
          const std::string* bare = ast::name_of(*v.callee);
          const std::string& name = callee ? callee->name : bare ? *bare : std::string();
          if (name == "Tensor" || name == "Shape") {
            for (const ast::Argument& argument : v.arguments) {
              if (argument.name != "dtype" && argument.name != "vdevice")
                read_dimensions(*argument.value, into);
            }
          }
        } else if constexpr (std::is_same_v<K, ast::Slice>) {
          read_expr(v.begin, into);
          read_expr(v.end, into);
          read_expr(v.step, into);
        } else if constexpr (std::is_same_v<K, ast::Subscript>) {
          read_expr(v.object, into);
          read_all(v.items, into);
        } else if constexpr (std::is_same_v<K, ast::Starred>) {
          read_expr(v.value, into);
        } else if constexpr (std::is_same_v<K, ast::Prefix>) {
          read_expr(v.operand, into);
        } else if constexpr (std::is_same_v<K, ast::Chain> || std::is_same_v<K, ast::Comparison>) {
          read_links(v.first, v.links, into);
        } else if constexpr (std::is_same_v<K, ast::Logic>) {
          read_all(v.operands, into);
        } else if constexpr (std::is_same_v<K, ast::Conditional>) {
          read_expr(v.condition, into);
          read_expr(v.then_value, into);
          read_expr(v.else_value, into);
        } else if constexpr (std::is_same_v<K, ast::FormatString>) {
          for (const ast::FormatPart& part : v.parts) {
            read_expr(part.field, into);
            for (const ast::FormatPart& inner : part.spec_fields) read_expr(inner.field, into);
          }
        }
      },
      expr->kind);
}

void bind_target(const ast::ExprPtr& target, Names& binds, Names& reads) {
  if (const std::string* name = ast::name_of(*target)) {
    binds.insert(*name);
  } else if (auto* tuple = target->as<ast::TupleValue>()) {
    for (const ast::ExprPtr& item : tuple->items) bind_target(item, binds, reads);
  } else {
    read_expr(target, reads);
  }
}

}  // namespace

Liveness::Liveness(const ast::Block& body) { walk(body, {}); }

bool Liveness::read_after(const ast::Statement& statement, const std::string& name) const {
  auto found = after_.find(&statement);
  return found != after_.end() && found->second.count(name) > 0;
}

bool Liveness::read_first(const ast::Statement& loop, const std::string& name) const {
  auto found = effects_.find(&loop);
  return found != effects_.end() && found->second.reads.count(name) > 0;
}

Liveness::Effects Liveness::effects(const ast::Block& block) {
  Effects all;
  for (const ast::Statement& statement : block) {
    const Effects& own = effects(statement);
    for (const std::string& name : own.reads) {
      if (!all.binds.count(name)) all.reads.insert(name);
    }
    all.binds.insert(own.binds.begin(), own.binds.end());
  }
  return all;
}

const Liveness::Effects& Liveness::effects(const ast::Statement& statement) {
  auto known = effects_.find(&statement);
  if (known != effects_.end()) return known->second;
  Effects computed = compute(statement);
  return effects_.emplace(&statement, std::move(computed)).first->second;
}

Liveness::Effects Liveness::compute(const ast::Statement& statement) {
  Effects result;
  if (auto* s = statement.as<ast::ExpressionStatement>()) {
    read_expr(s->value, result.reads);
  } else if (auto* s = statement.as<ast::Assignment>()) {
    read_expr(s->value, result.reads);
    read_expr(s->annotation, result.reads);
    if (s->annotation) read_dimensions(*s->annotation, result.reads);
    for (const ast::ExprPtr& target : s->targets) bind_target(target, result.binds, result.reads);
  } else if (auto* s = statement.as<ast::AugmentedAssignment>()) {
    read_expr(s->target, result.reads);
    read_expr(s->value, result.reads);
    bind_target(s->target, result.binds, result.reads);
  } else if (auto* s = statement.as<ast::Return>()) {
    read_expr(s->value, result.reads);
  } else if (auto* s = statement.as<ast::With>()) {
    result = effects(s->body);
  } else if (auto* s = statement.as<ast::If>()) {
    std::vector<Effects> ways;
    for (const ast::Branch& branch : s->branches) {
      read_expr(branch.condition, result.reads);
      ways.push_back(effects(branch.body));
    }
    ways.push_back(effects(s->else_body));
    result.binds = ways.back().binds;
    for (const Effects& way : ways) {
      result.reads.insert(way.reads.begin(), way.reads.end());
      std::erase_if(result.binds, [&](const std::string& name) { return !way.binds.count(name); });
    }
  } else if (auto* s = statement.as<ast::For>()) {
    Effects body = effects(s->body);
    Names index;
    bind_target(s->target, index, body.reads);
    for (const std::string& name : body.reads) {
      if (!index.count(name)) result.reads.insert(name);
    }
    read_expr(s->iterable, result.reads);
  } else if (auto* s = statement.as<ast::While>()) {
    result.reads = effects(s->body).reads;
    read_expr(s->condition, result.reads);
  } else if (auto* s = statement.as<ast::FunctionDefinition>()) {
    Effects body = effects(s->body);
    body.reads.erase(s->name);
    for (const ast::Parameter& parameter : s->parameters) {
      body.reads.erase(parameter.name);
      read_expr(parameter.annotation, result.reads);
    }
    read_expr(s->result_annotation, result.reads);
    result.reads.insert(body.reads.begin(), body.reads.end());
    result.binds.insert(s->name);
  }
  return result;
}

void Liveness::walk(const ast::Block& block, Names live) {
  for (auto statement = block.rbegin(); statement != block.rend(); ++statement) {
    const Effects& own = effects(*statement);
    auto* branches = statement->as<ast::If>();
    auto* loop = statement->as<ast::For>();
    auto* repeated = statement->as<ast::While>();
    if (branches || loop || repeated) {
      Names& after = after_[&*statement];
      for_each_bound_name(*statement, [&](const std::string& name, Span) {
        if (live.count(name)) after.insert(name);
      });
    }
    if (branches) {
      for (const ast::Branch& branch : branches->branches) walk(branch.body, live);
      walk(branches->else_body, live);
    }
    if (auto* with = statement->as<ast::With>()) walk(with->body, live);
    if (loop || repeated) {
      Names inside = live;
      inside.insert(own.reads.begin(), own.reads.end());
      walk(loop ? loop->body : repeated->body, std::move(inside));
    }
    for (const std::string& name : own.binds) live.erase(name);
    live.insert(own.reads.begin(), own.reads.end());
  }
}

}  // namespace relish
