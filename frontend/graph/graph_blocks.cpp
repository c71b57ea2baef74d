// Blocks and regions of a Relax function in the making, and the comments of their lines.
#include "frontend/graph/graph_blocks.h"

#include <fmt/format.h>

#include "frontend/names/suggestions.h"
#include "support/fix.h"
#include "support/render.h"

namespace relish {

CommentsPtr GraphBlocks::take_comments(const CommentsPtr& own) {
  if (pending_.before.empty()) return own;
  Comments all = std::move(pending_);
  pending_ = {};
  if (own) {
    all.before.insert(all.before.end(), own->before.begin(), own->before.end());
    all.after = own->after;
  }
  return std::make_shared<const Comments>(std::move(all));
}

void GraphBlocks::hand_on(const CommentsPtr& comments) {
  if (!comments) return;
  pending_.before.insert(pending_.before.end(), comments->before.begin(), comments->before.end());
  if (!comments->after.empty()) pending_.before.push_back(comments->after);
}

void GraphBlocks::open_plain_block() {
  if (block_open_) return;
  builder_.begin_block(false);
  block_open_ = true;
}

// The finished blocks; plain ones in a row become one.
std::vector<BindingBlock> GraphBlocks::take_blocks() {
  for (BindingBlock& block : builder_.take_blocks()) {
    for (const BlockComments& comments : block_comments_) {
      if (!block.dataflow || block.span != comments.header) continue;
      block.comments = comments.own;
      block.end_comments = comments.end;
    }
    if (!block.dataflow && !blocks_.empty() && !blocks_.back().dataflow) {
      std::vector<Binding>& before = blocks_.back().bindings;
      before.insert(before.end(), std::make_move_iterator(block.bindings.begin()),
                    std::make_move_iterator(block.bindings.end()));
    } else {
      blocks_.push_back(std::move(block));
    }
  }
  block_open_ = false;
  return std::exchange(blocks_, {});
}

GraphBlocks::OpenRegion GraphBlocks::open_region() {
  OpenRegion outer{take_blocks(), determined_.size()};
  frames_.emplace_back();
  return outer;
}

GraphBlocks::Arm GraphBlocks::close_region(OpenRegion outer) {
  Arm arm;
  arm.region.blocks = take_blocks();
  arm.region.end_comments = take_comments(nullptr);
  arm.names = std::move(frames_.back());
  frames_.pop_back();
  blocks_ = std::move(outer.outer);
  determined_.erase(determined_.begin() + static_cast<std::ptrdiff_t>(outer.determined), determined_.end());
  // Declarations are the function's.
  for (const auto& [name, entry] : arm.names) {
    if (std::get_if<Scalar>(&entry.meaning) || std::get_if<ModuleAlias>(&entry.meaning))
      frames_.back().emplace(name, entry);
  }
  return arm;
}

// What a dataflow block binds means the same without it: its header and its R.output go.
void GraphBlocks::refuse_in_dataflow(Span at, std::string_view id, std::string_view what) {
  const auto& with = *dataflow_->as<ast::With>();
  std::vector<DiagnosticNote> notes;
  if (!std::exchange(unwrapping_proposed_, true))
    notes = without_header(context_.text, *dataflow_, with.body);
  for (const ast::Statement& inner : with.body) {
    auto* expression = notes.empty() ? nullptr : inner.as<ast::ExpressionStatement>();
    auto* call = expression ? expression->value->as<ast::Call>() : nullptr;
    if (call && context_.namespaces.canonical(*call->callee) == "R.output")
      notes.push_back(remove_this(inner.span));
  }
  fail(ErrorClass::Type, at, id, fmt::format("found {} inside a dataflow block; expected it outside", what),
       std::move(notes));
}

}  // namespace relish
