// Blocks and regions of a Relax function in the making, and the comments of its lines.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "frontend/graph/graph_names.h"
#include "ir/nodes/builder.h"

namespace relish {

class GraphBlocks : public GraphNames {
 protected:
  using GraphNames::GraphNames;

  CommentsPtr take_comments(const CommentsPtr& own);
  // Comments of a line that is no binding go to the next that is one.
  void hand_on(const CommentsPtr& comments);

  void open_plain_block();
  std::vector<BindingBlock> take_blocks();
  // The blocks around a region while it is read; what it is when it has been. These are not the regions of
  // FunctionBuilder: a loop's body is read again where its types turn out to be others, and parameters and
  // results are known only when the body, or the other branch, has been read.
  struct OpenRegion {
    std::vector<BindingBlock> outer;
    std::size_t determined;
  };
  struct Arm {
    Region region;
    Frame names;
  };
  OpenRegion open_region();
  Arm close_region(OpenRegion outer);

  bool is_output(const std::string& name, const ast::Statement& statement) const {
    auto output = outputs_.find(name);
    return output != outputs_.end() && output->second == &statement;
  }
  [[noreturn]] void refuse_in_dataflow(Span at, std::string_view id, std::string_view what);

  FunctionBuilder builder_;
  bool block_open_ = false;
  std::vector<BindingBlock> blocks_;  // of the region that is being read
  // In a dataflow block: for each output, the statement that binds it last.
  std::map<std::string, const ast::Statement*> outputs_;
  bool in_dataflow_ = false;
  const ast::Statement* dataflow_ = nullptr;  // the block that is being read, while in_dataflow_
  bool unwrapping_proposed_ = false;          // of that block

  const ast::Statement* commented_ = nullptr;  // whose comments a binding has
  Comments pending_;                           // of lines that are no bindings: kept for the next one
  struct BlockComments {
    Span header;  // the place of the block
    CommentsPtr own, end;
  };
  std::vector<BlockComments> block_comments_;  // of dataflow blocks
  CommentsPtr output_comments_;                // of R.output, of the block that is being read
};

}  // namespace relish
