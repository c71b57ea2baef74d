// A walk forwards finds how each name was bound last, one backwards which names are read later. Loops are
// summed up first, so that each statement is walked over once.
#include "shell/script/unread_changes.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "frontend/text/ast_walk.h"
#include "shell/script/methods.h"

namespace relish {
namespace {

using ast::UnreadChange;
using Bound = UnreadChange::Bound;

// The name in front of subscripts; null when something else stands there.
const ast::Name* root_of(const ast::Expr& place) {
  const ast::Expr* root = &place;
  while (const auto* subscript = root->as<ast::Subscript>()) root = subscript->object.get();
  return root->as<ast::Name>();
}

// What a statement does with names, in the order of its text.
struct NameVisitor {
  std::function<void(const ast::Name&)> read = [](const ast::Name&) {};
  std::function<void(const ast::Name&)> change = [](const ast::Name&) {};
  // Of a comprehension.
  std::function<void(const ast::Expr& target, const ast::Expr& source)> bind = [](const auto&, const auto&) {
  };

  void indices(const ast::Expr& place) const {
    for (const auto* each = place.as<ast::Subscript>(); each; each = each->object->as<ast::Subscript>())
      for (const ast::ExprPtr& item : each->items) expression(*item);
  }

  void expression(const ast::Expr& expr) const {
    if (const auto* name = expr.as<ast::Name>()) return read(*name);
    if (const auto* lambda = expr.as<ast::Lambda>()) {
      // Its body has names of its own; those of the script that it sees are noted with their places.
      for (const ast::Parameter& parameter : lambda->parameters)
        if (parameter.default_value) expression(*parameter.default_value);
      return;
    }
    if (const auto* comprehension = expr.as<ast::Comprehension>()) {
      for (const ast::ComprehensionClause& clause : comprehension->clauses) {
        expression(*clause.value);
        if (clause.target) bind(*clause.target, *clause.value);
      }
      if (comprehension->key) expression(*comprehension->key);
      return expression(*comprehension->value);
    }
    const auto* call = expr.as<ast::Call>();
    const auto* method = call ? call->callee->as<ast::Attribute>() : nullptr;
    const ast::Name* changed = method && is_change(method->name) ? root_of(*method->object) : nullptr;
    if (changed) {
      change(*changed);
      indices(*method->object);
      for (const ast::Argument& argument : call->arguments) expression(*argument.value);
      return;
    }
    ast::for_each_child(expr, [&](const ast::Expr& inner) { expression(inner); });
  }

  // `bound` is called with the names that the target binds.
  void target(const ast::Expr& expr, const std::function<void(const ast::Name&)>& bound) const {
    if (const auto* name = expr.as<ast::Name>()) return bound(*name);
    if (expr.as<ast::Subscript>()) {
      if (const ast::Name* changed = root_of(expr)) {
        change(*changed);
        return indices(expr);
      }
      return expression(expr);
    }
    ast::for_each_child(expr, [&](const ast::Expr& inner) { target(inner, bound); });
  }
};

// Calls that give a list, dict or tensor of their own, as Python's do.
bool makes_new(const ast::Call& call) {
  constexpr std::array<std::string_view, 13> made = {"list",  "dict",      "sorted", "tuple",  "reversed",
                                                     "zip",   "enumerate", "map",    "filter", "tensor",
                                                     "zeros", "ones",      "range"};
  if (const auto* method = call.callee->as<ast::Attribute>())
    return method->name == "copy" || method->name == "astype" || method->name == "tolist" ||
           method->name == "split";
  const auto* name = call.callee->as<ast::Name>();
  return name && std::find(made.begin(), made.end(), name->id) != made.end();
}

Bound bound_by(const ast::Expr& source) {
  if (source.as<ast::Name>()) return Bound::Place;
  if (const auto* subscript = source.as<ast::Subscript>()) {
    const bool slice = std::any_of(subscript->items.begin(), subscript->items.end(),
                                   [](const auto& item) { return item->template as<ast::Slice>(); });
    return slice ? Bound::Slice : Bound::Place;
  }
  const auto* call = source.as<ast::Call>();
  const bool other = call ? !makes_new(*call)
                          : source.as<ast::Attribute>() || source.as<ast::StateName>() ||
                                source.as<ast::Conditional>() || source.as<ast::Logic>();
  return other ? Bound::Other : Bound::Fresh;
}

// Names by their numbers.
class Names {
 public:
  explicit Names(std::size_t count, bool all = false)
      : words_((count + 63) / 64, all ? ~std::uint64_t{0} : std::uint64_t{0}) {}
  bool has(std::size_t name) const { return (words_[name / 64] >> (name % 64) & 1) != 0; }
  void add(std::size_t name) { words_[name / 64] |= std::uint64_t{1} << (name % 64); }
  void remove(std::size_t name) { words_[name / 64] &= ~(std::uint64_t{1} << (name % 64)); }
  void join(const Names& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
  }
  void meet(const Names& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] &= other.words_[i];
  }
  void leave_out(const Names& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] &= ~other.words_[i];
  }
  std::vector<std::uint32_t> list() const {
    std::vector<std::uint32_t> names;
    for (std::size_t i = 0; i < words_.size(); ++i)
      for (std::uint64_t rest = words_[i]; rest != 0; rest &= rest - 1)
        names.push_back(
            static_cast<std::uint32_t>(i * 64 + static_cast<std::size_t>(std::countr_zero(rest))));
    return names;
  }

 private:
  std::vector<std::uint64_t> words_;
};

// Names that are read later; `seen` of those that only whoever comes behind the text reads.
struct Live {
  Names read, seen;

  explicit Live(std::size_t count, bool visible = false) : read(count), seen(count, visible) {}
  bool has(std::size_t name) const { return read.has(name) || seen.has(name); }
  void kill(std::size_t name) {
    read.remove(name);
    seen.remove(name);
  }
  void join(const Live& other) {
    read.join(other.read);
    seen.join(other.seen);
  }
};

// A set of all names is kept for each block on the way in, and joined behind each: texts that are larger than
// any that is written by hand are not looked at.
constexpr std::size_t most_joined = std::size_t{1} << 32;

// The statements of a text, or of one function.
class UnreadFinder {
 public:
  UnreadFinder(const ast::Block& statements, bool visible) : statements_(statements), visible_(visible) {}

  void run(const std::vector<ast::Parameter>* parameters, const ast::Scope* scope) {
    if (parameters && scope) {
      for (std::size_t i = 0; i < parameters->size(); ++i)
        if (const auto key = key_of(scope->places[i])) last_[*key] = made(Bound::Given, nullptr, nullptr);
    }
    forwards(statements_);
    if (numbers_.empty()) return;  // most texts
    if (numbers_.size() > most_joined / (blocks_ + 1)) return forget_changes();
    summary(statements_);
    Live end(numbers_.size(), visible_);
    backwards(statements_, std::move(end), nullptr, nullptr);
  }

 private:
  using Key = std::uint64_t;
  struct Summary {
    Names read;  // before the block binds them
    Names killed;
    Names bound;  // somewhere inside
  };
  // Of a loop's body.
  struct Round {
    std::vector<std::uint32_t> read, bound;
  };

  static std::shared_ptr<const UnreadChange> made(Bound bound, const ast::Expr* target,
                                                  const ast::Expr* source) {
    return std::make_shared<const UnreadChange>(UnreadChange{bound, target, source});
  }

  // Names that inner functions share may be read by any call.
  static std::optional<Key> key_of(const ast::NamePlace& place) {
    using Kind = ast::NamePlace::Kind;
    if (place.kind != Kind::Script && place.kind != Kind::Local) return std::nullopt;
    return Key{place.kind == Kind::Local} << 32 | place.index;
  }

  // The number of a name that is changed somewhere; none: it does not matter.
  std::optional<std::size_t> number_of(const ast::Name& name) const {
    const auto key = key_of(name.place);
    const auto found = key ? numbers_.find(*key) : numbers_.end();
    return found == numbers_.end() ? std::nullopt : std::optional(found->second);
  }

  // --- Forwards: what is changed, and how it was bound.

  void note_bound(const ast::Expr& target, Bound bound, const ast::Expr* whole, const ast::Expr* source) {
    NameVisitor names;
    names.target(target, [&](const ast::Name& name) {
      if (const auto key = key_of(name.place)) last_[*key] = made(bound, whole, source);
    });
  }

  void note_assigned(const ast::Expr& target, const ast::Expr& source) {
    const auto* targets = ast::items_of(target);
    const auto* sources = ast::items_of(source);
    if (!targets) return note_bound(target, bound_by(source), nullptr, &source);
    const auto starred = [](const ast::ExprPtr& item) { return item->as<ast::Starred>() != nullptr; };
    const bool by_one = sources && sources->size() == targets->size() &&
                        std::none_of(targets->begin(), targets->end(), starred) &&
                        std::none_of(sources->begin(), sources->end(), starred);
    for (std::size_t i = 0; i < targets->size(); ++i) {
      const ast::Expr& each = *(*targets)[i];
      if (by_one) {
        note_assigned(each, *(*sources)[i]);
      } else if (const auto* rest = each.as<ast::Starred>()) {
        note_bound(*rest->value, Bound::Fresh, nullptr, &source);
      } else {
        note_bound(each, Bound::Part, nullptr, &source);
      }
    }
  }

  void note_change(const ast::Name& name) {
    name.unread = nullptr;
    const auto key = key_of(name.place);
    if (!key) return;
    const auto bound = last_.find(*key);
    if (bound == last_.end()) return;
    name.unread = bound->second;  // until it turns out to be read
    changes_.push_back(&name);
    numbers_.emplace(*key, numbers_.size());
  }

  void forwards(const ast::Block& block) {
    for (const ast::Statement& statement : block) {
      NameVisitor names;
      names.change = [&](const ast::Name& name) { note_change(name); };
      names.bind = [&](const ast::Expr& target, const ast::Expr& source) {
        note_bound(target, Bound::Item, &target, &source);
      };
      for (const ast::Expr* expr : ast::own_expressions(statement)) names.expression(*expr);
      if (const auto* node = statement.as<ast::Assignment>()) {
        for (const ast::ExprPtr& target : node->targets) {
          names.target(*target, [](const ast::Name&) {});
          if (node->value) note_assigned(*target, *node->value);
        }
      } else if (const auto* node = statement.as<ast::AugmentedAssignment>()) {
        names.target(*node->target, [&](const ast::Name& name) { note_change(name); });
      } else if (const auto* node = statement.as<ast::Delete>()) {
        names.target(*node->targets, [](const ast::Name&) {});
      } else if (const auto* node = statement.as<ast::For>()) {
        names.target(*node->target, [](const ast::Name&) {});
        note_bound(*node->target, Bound::Item, node->target.get(), node->iterable.get());
      } else if (const auto* node = statement.as<ast::FunctionDefinition>()) {
        UnreadFinder(node->body, false).run(&node->parameters, node->scope.get());
      }
      for (const ast::Block* inner : ast::inner_blocks(statement)) {
        ++blocks_;
        forwards(*inner);
      }
    }
  }

  void forget_changes() {
    for (const ast::Name* name : changes_) name->unread = nullptr;
  }

  // --- What blocks read before they bind it.

  NameVisitor reader(std::vector<std::size_t>& read) const {
    NameVisitor names;
    names.read = [&](const ast::Name& name) {
      if (const auto number = number_of(name)) read.push_back(*number);
    };
    return names;
  }

  // The names that a statement reads itself and those that it binds, without blocks inside it.
  struct OwnNames {
    std::vector<std::size_t> read, bound;
  };
  OwnNames own_names(const ast::Statement& statement) const {
    OwnNames own;
    const NameVisitor names = reader(own.read);
    const auto bind = [&](const ast::Name& name) {
      if (const auto number = number_of(name)) own.bound.push_back(*number);
    };
    for (const ast::Expr* expr : ast::own_expressions(statement)) names.expression(*expr);
    if (const auto* node = statement.as<ast::Assignment>()) {
      for (const ast::ExprPtr& target : node->targets) names.target(*target, bind);
    } else if (const auto* node = statement.as<ast::AugmentedAssignment>()) {
      names.target(*node->target, [](const ast::Name&) {});
    } else if (const auto* node = statement.as<ast::Delete>()) {
      names.target(*node->targets, bind);
    } else if (const auto* node = statement.as<ast::For>()) {
      names.target(*node->target, bind);
    } else if (const auto* node = statement.as<ast::FunctionDefinition>()) {
      bind(ast::Name{node->name, node->place});
    } else if (statement.as<ast::Deferred>()) {
      // Functions that are read here refer to what the script holds.
      for (std::size_t i = 0; i < numbers_.size(); ++i) own.read.push_back(i);
    }
    return own;
  }

  Summary summary(const ast::Block& block) {
    const std::size_t count = numbers_.size();
    Summary all{Names(count), Names(count), Names(count)};
    for (const ast::Statement& statement : block) {
      const OwnNames own = own_names(statement);
      for (const std::size_t name : own.read)
        if (!all.killed.has(name)) all.read.add(name);
      const std::vector<const ast::Block*> inner = ast::inner_blocks(statement);
      if (inner.empty()) {
        for (const std::size_t name : own.bound) {
          all.killed.add(name);
          all.bound.add(name);
        }
        continue;
      }
      const bool branches = statement.as<ast::If>() != nullptr;
      Names killed(count, branches);
      for (const ast::Block* each : inner) {
        Summary part = summary(*each);
        if (branches) {
          killed.meet(part.killed);
        } else {
          for (const std::size_t name : own.bound) part.bound.add(name);
          loops_.emplace(&statement, Round{part.read.list(), part.bound.list()});
          for (const std::size_t name : own.bound) part.read.remove(name);
        }
        all.bound.join(part.bound);
        part.read.leave_out(all.killed);
        all.read.join(part.read);
      }
      if (branches) all.killed.join(killed);
    }
    return all;
  }

  // --- Backwards: what is read later.

  // The changes that the visitor finds are unread unless their name is live, or read in the same statement.
  NameVisitor judge(const Live& behind, const OwnNames& own) const {
    NameVisitor names;
    names.change = [&](const ast::Name& name) {
      const auto number = number_of(name);
      if (!number || behind.has(*number) ||
          std::find(own.read.begin(), own.read.end(), *number) != own.read.end())
        name.unread = nullptr;
    };
    return names;
  }

  Live backwards(const ast::Block& block, Live live, const Live* at_break, const Live* at_continue) {
    for (auto each = block.rbegin(); each != block.rend(); ++each) {
      const ast::Statement& statement = *each;
      if (statement.as<ast::Break>()) {
        live = *at_break;
        continue;
      }
      if (statement.as<ast::Continue>()) {
        live = *at_continue;
        continue;
      }
      if (statement.as<ast::Return>()) live = Live(numbers_.size());
      const OwnNames own = own_names(statement);
      const std::vector<const ast::Block*> inner = ast::inner_blocks(statement);
      if (inner.empty()) {
        // Targets are bound when all values are there.
        const NameVisitor at_targets = judge(live, own);
        if (const auto* node = statement.as<ast::Assignment>()) {
          for (const ast::ExprPtr& target : node->targets) at_targets.target(*target, [](const auto&) {});
        } else if (const auto* node = statement.as<ast::AugmentedAssignment>()) {
          at_targets.target(*node->target, at_targets.change);
        } else if (const auto* node = statement.as<ast::Delete>()) {
          at_targets.target(*node->targets, [](const auto&) {});
        }
        for (const std::size_t name : own.bound) live.kill(name);
      } else if (statement.as<ast::If>()) {
        Live all(numbers_.size());
        // Without an `else` its block is empty, and what is live behind is live before.
        for (const ast::Block* part : inner) all.join(backwards(*part, live, at_break, at_continue));
        live = std::move(all);
      } else {
        const Live behind = live;
        const Round& loop = loops_.at(&statement);
        Live round = behind;
        for (const std::size_t name : loop.read) round.read.add(name);
        // The header of a `while` is read again in each round.
        if (statement.as<ast::While>())
          for (const std::size_t name : own.read) round.read.add(name);
        live = round;
        // A name that the loop binds is its own, although it stays visible behind the last round.
        for (const std::size_t name : loop.bound) round.seen.remove(name);
        for (const std::size_t name : own.bound) round.kill(name);
        if (const auto* node = statement.as<ast::For>()) {
          judge(behind, own).target(*node->target, [](const auto&) {});
          for (const std::size_t name : own.bound)
            if (!behind.read.has(name)) live.read.remove(name);
        }
        backwards(*inner[0], round, &behind, &round);
      }
      const NameVisitor at_values = judge(live, own);
      for (const ast::Expr* expr : ast::own_expressions(statement)) at_values.expression(*expr);
      for (const std::size_t name : own.read) live.read.add(name);
    }
    return live;
  }

  const ast::Block& statements_;
  bool visible_;
  std::unordered_map<Key, std::shared_ptr<const UnreadChange>> last_;
  std::unordered_map<Key, std::size_t> numbers_;
  std::unordered_map<const ast::Statement*, Round> loops_;
  std::vector<const ast::Name*> changes_;
  std::size_t blocks_ = 0;
};

}  // namespace

void find_unread_changes(const ast::Block& statements, bool visible) {
  UnreadFinder(statements, visible).run(nullptr, nullptr);
}

}  // namespace relish
