// An evaluation without values: which names' values are held at each place of an expression.
#include "shell/script/earlier_reads.h"

#include <string_view>
#include <unordered_map>
#include <vector>

#include "frontend/text/ast_walk.h"
#include "shell/script/methods.h"
#include "support/fix.h"

namespace relish {
namespace {

class HeldNames {
 public:
  // What the value of the expression is made of stays held: the name itself, the items of a list.
  void evaluate(const ast::Expr& expr) {
    if (const auto* name = expr.as<ast::Name>()) {
      hold(name->id, expr.span);
    } else if (const auto* call = expr.as<ast::Call>()) {
      this->call(*call);
    } else if (const auto* list = expr.as<ast::ListValue>()) {
      for (const ast::ExprPtr& item : list->items) evaluate(*item);
    } else if (const auto* tuple = expr.as<ast::TupleValue>()) {
      for (const ast::ExprPtr& item : tuple->items) evaluate(*item);
    } else if (const auto* dict = expr.as<ast::DictValue>()) {
      for (const auto& [key, value] : dict->items) {
        if (key) drop(*key);
        evaluate(*value);
      }
    } else if (const auto* conditional = expr.as<ast::Conditional>()) {
      drop(*conditional->condition);
      one_of({conditional->then_value.get(), conditional->else_value.get()});
    } else if (const auto* logic = expr.as<ast::Logic>()) {
      std::vector<const ast::Expr*> operands;
      for (const ast::ExprPtr& operand : logic->operands) operands.push_back(operand.get());
      one_of(operands);
    } else if (const auto* chain = expr.as<ast::Chain>()) {
      operation(*chain->first, chain->links);
    } else if (const auto* comparison = expr.as<ast::Comparison>()) {
      operation(*comparison->first, comparison->links);
    } else if (const auto* subscript = expr.as<ast::Subscript>()) {
      const std::size_t before = held_.size();
      evaluate(*subscript->object);
      for (const ast::ExprPtr& item : subscript->items) evaluate(*item);
      let_go(before, held_.size());
      // An item may be a list, too: d["k"], by its text.
      if (root_of(expr)) hold(written_at(expr.span), expr.span);
    } else if (const auto* lambda = expr.as<ast::Lambda>()) {
      HeldNames().evaluate(*lambda->value);
    } else {
      // Texts, fields of objects, comprehensions: of each part a value of its own is made at once.
      ast::for_each_child(expr, [&](const ast::Expr& part) { drop(part); });
    }
  }

 private:
  struct Held {
    std::string_view name;
    Span at;
  };
  struct Reads {
    std::size_t count = 0;  // that hold the value
    Span first;
  };

  void hold(std::string_view name, Span at) {
    held_.push_back({name, at});
    Reads& reads = reads_[name];
    if (reads.count++ == 0) reads.first = at;
  }

  // Those of these places.
  void let_go(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) --reads_[held_[i].name].count;
    held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(begin),
                held_.begin() + static_cast<std::ptrdiff_t>(end));
  }

  void drop(const ast::Expr& expr) {
    const std::size_t before = held_.size();
    evaluate(expr);
    let_go(before, held_.size());
  }

  // One of them is the value; none is held while another is evaluated.
  void one_of(const std::vector<const ast::Expr*>& values) {
    const std::size_t before = held_.size();
    std::vector<Held> all;
    for (const ast::Expr* value : values) {
      evaluate(*value);
      all.insert(all.end(), held_.begin() + static_cast<std::ptrdiff_t>(before), held_.end());
      let_go(before, held_.size());
    }
    for (const Held& each : all) hold(each.name, each.at);
  }

  void operation(const ast::Expr& first, const std::vector<ast::Link>& links) {
    const std::size_t before = held_.size();
    evaluate(first);
    for (const ast::Link& link : links) {
      const std::size_t left = held_.size();
      evaluate(*link.operand);
      // The result so far is a value of its own; of `a < b < c` b is held.
      let_go(before, left);
    }
    let_go(before, held_.size());
  }

  void call(const ast::Call& call) {
    const std::size_t before = held_.size();
    const auto* method = call.callee->as<ast::Attribute>();
    const ast::Name* changed = method && is_change(method->name) ? root_of(*method->object) : nullptr;
    if (changed) {
      drop_subscripts(*method->object);
    } else {
      evaluate(method ? *method->object : *call.callee);
    }
    for (const ast::Argument& argument : call.arguments) evaluate(*argument.value);
    // Its own arguments are taken before it changes anything, as in xs.extend(xs).
    let_go(before, held_.size());
    if (!changed) return;
    // What is changed, and what it is a part of.
    const ast::Expr* place = method->object.get();
    for (; place; place = part_of(*place)) {
      const auto* name = place->as<ast::Name>();
      const auto read = reads_.find(name ? std::string_view(name->id) : written_at(place->span));
      if (read != reads_.end() && read->second.count > 0) changed->read_before = read->second.first;
    }
  }

  // Of the place that is changed only these are evaluated.
  void drop_subscripts(const ast::Expr& place) {
    const auto* subscript = place.as<ast::Subscript>();
    if (!subscript) return;
    drop_subscripts(*subscript->object);
    for (const ast::ExprPtr& item : subscript->items) drop(*item);
  }

  static const ast::Expr* part_of(const ast::Expr& place) {
    const auto* subscript = place.as<ast::Subscript>();
    return subscript ? subscript->object.get() : nullptr;
  }

  static const ast::Name* root_of(const ast::Expr& place) {
    const ast::Expr* root = &place;
    while (const auto* subscript = root->as<ast::Subscript>()) root = subscript->object.get();
    return root->as<ast::Name>();
  }

  std::vector<Held> held_;
  std::unordered_map<std::string_view, Reads> reads_;
};

}  // namespace

void find_earlier_reads(const ast::Block& statements) {
  for (const ast::Statement& statement : statements) {
    for (const ast::Expr* expr : ast::own_expressions(statement)) HeldNames().evaluate(*expr);
    for (const ast::Block* inner : ast::inner_blocks(statement)) find_earlier_reads(*inner);
    if (const auto* function = statement.as<ast::FunctionDefinition>()) find_earlier_reads(function->body);
  }
}

}  // namespace relish
