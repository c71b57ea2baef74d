// The builder of graph code: fresh names, blocks, bindings.
#include "ir/nodes/builder.h"

#include <algorithm>
#include <utility>

#include "ir/operators/op.h"
#include "support/failure.h"
#include "support/interrupt.h"

namespace relish {

bool is_leaf(const Expr& expr) {
  if (const auto* fields = expr.as<TupleExpr>()) {
    return std::all_of(fields->fields.begin(), fields->fields.end(), is_leaf);
  }
  return !expr.as<TupleGet>() && !expr.as<OpCall>() && !expr.as<FunctionCall>() && !expr.as<CallTir>() &&
         !expr.as<PackedCall>() && !expr.as<FunctionExpr>() && !expr.as<If>() && !expr.as<Loop>();
}

void FunctionBuilder::reserve_name(std::string_view name) { take_name(std::string(name)); }

// False: it was taken before.
bool FunctionBuilder::take_name(const std::string& name) {
  auto found = names_.find(name);
  if (found != names_.end() && found->second.taken) return false;
  change_name(name).taken = true;
  return true;
}

FunctionBuilder::Name& FunctionBuilder::change_name(const std::string& name) {
  Name& state = names_[name];
  if (marks_) changed_.push_back({name, state});
  return state;
}

std::size_t FunctionBuilder::mark_names() {
  ++marks_;
  return changed_.size();
}

void FunctionBuilder::free_names(std::size_t mark) {
  RELISH_CHECK(marks_ && mark <= changed_.size(), "no mark of names is open");
  for (; changed_.size() > mark; changed_.pop_back()) names_[changed_.back().name] = changed_.back().state;
}

void FunctionBuilder::drop_mark() {
  RELISH_CHECK(marks_, "no mark of names is open");
  if (!--marks_) changed_.clear();
}

namespace {

// The names that builders give: lv, lv1, ... and gv, gv1, ...
bool is_temporary(std::string_view name) {
  return (name.starts_with("lv") || name.starts_with("gv")) &&
         std::all_of(name.begin() + 2, name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::string FunctionBuilder::fresh_name(std::string_view hint) {
  std::string name(hint);
  if (take_name(name)) return name;
  if (is_temporary(name)) name.resize(2);  // lv1 is counted on as lv2, not as lv11
  int suffix = names_[name].last_suffix;
  std::string candidate;
  do candidate = name + std::to_string(++suffix);
  while (!take_name(candidate));
  change_name(name).last_suffix = suffix;
  return candidate;
}

void FunctionBuilder::swap_names(FunctionBuilder& other) {
  std::swap(names_, other.names_);
  std::swap(marks_, other.marks_);
  std::swap(changed_, other.changed_);
}

void FunctionBuilder::begin_block(bool dataflow) {
  if (in_block_) end_block();
  in_block_ = true;
  current_ = BindingBlock{.dataflow = dataflow, .bindings = {}, .span = origin_};
}

void FunctionBuilder::end_block() {
  if (!in_block_) return;
  in_block_ = false;
  if (!current_.bindings.empty()) blocks_.push_back(std::move(current_));
  current_ = {};
}

Var FunctionBuilder::bind(Expr value, std::string_view hint, bool output, CommentsPtr comments) {
  RELISH_CHECK(value.defined());
  poll_interrupt(origin_);
  if (!in_block_) begin_block(false);
  const bool dataflow = current_.dataflow && !output;
  if (hint.empty()) hint = dataflow ? "lv" : "gv";
  const Span span = value.span().known() ? value.span() : origin_;
  Var var(fresh_name(hint), value.type(), dataflow, span);
  current_.bindings.push_back(
      Binding{.kind = VarBinding{var, std::move(value)}, .span = span, .comments = std::move(comments)});
  return var;
}

void FunctionBuilder::append(Binding binding) {
  poll_interrupt(binding.span);
  if (!in_block_) begin_block(false);
  reserve_name(binding.var().name());
  current_.bindings.push_back(std::move(binding));
}

Expr FunctionBuilder::emit(Expr value, std::string_view hint) {
  RELISH_CHECK(value.defined());
  if (is_leaf(value)) return value;
  const Span span = value.span();
  if (const auto* fields = value.as<TupleExpr>()) {
    std::vector<Expr> leaves;
    for (const Expr& field : fields->fields) leaves.push_back(emit(field));
    return tuple(std::move(leaves), span);
  }
  return var_ref(bind(std::move(value), hint), span);
}

Expr FunctionBuilder::call(std::string_view op_name, std::vector<Expr> args, Attributes attributes,
                           std::string_view hint) {
  for (Expr& arg : args) {
    if (arg.defined()) arg = emit(std::move(arg));
  }
  return emit(op_call(op_name, std::move(args), std::move(attributes), origin_), hint);
}

void FunctionBuilder::begin_region(std::vector<Var> params) {
  end_block();
  for (const Var& param : params) reserve_name(param.name());
  regions_.push_back({std::move(params), std::exchange(blocks_, {})});
}

Region FunctionBuilder::end_region(std::vector<Expr> results) {
  RELISH_CHECK(!regions_.empty(), "no region is open");
  Region region;
  region.blocks = take_blocks();
  region.params = std::move(regions_.back().params);
  region.results = std::move(results);
  blocks_ = std::move(regions_.back().around);
  regions_.pop_back();
  return region;
}

std::vector<BindingBlock> FunctionBuilder::take_blocks() {
  end_block();
  return std::exchange(blocks_, {});
}

std::vector<Binding> FunctionBuilder::take_bindings() {
  std::vector<Binding> bindings;
  for (BindingBlock& block : take_blocks())
    bindings.insert(bindings.end(), std::make_move_iterator(block.bindings.begin()),
                    std::make_move_iterator(block.bindings.end()));
  return bindings;
}

}  // namespace relish
