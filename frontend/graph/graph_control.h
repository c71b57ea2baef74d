// Ifs and loops of Relax functions: their regions, and the names that come out of them.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "frontend/graph/graph_bindings.h"
#include "frontend/names/liveness.h"

namespace relish {

class GraphControl : public GraphBindings {
 protected:
  using GraphBindings::GraphBindings;

  // What a statement stands in.
  enum class Place : std::uint8_t { Function, Dataflow, Branch, Loop };
  virtual void read_block(const ast::Block& body, Place place) = 0;

  // graph_control.cpp
  void read_if(const ast::Statement& statement, const ast::If& branches);
  void bind_results(const ast::Statement& statement, const std::vector<std::string>& names,
                    const std::vector<Type>& types, const Expr& value, CommentsPtr comments);
  const Liveness& liveness();
  std::optional<Expr> value_before(const std::string& name, Span at);

  // graph_loops.cpp
  std::string instead_of_loop(const ast::For& loop);
  void read_for(const ast::Statement& statement, const ast::For& loop);
  void read_while(const ast::Statement& statement, const ast::While& loop);

 private:
  // A name that comes out of an if.
  struct BranchResult {
    std::uint64_t order;  // of the results, as the branches bind them
    std::string name;
    Expr then_value, else_value;
  };
  void read_branches(const ast::Statement& statement, const ast::If& branches, std::size_t at);
  std::optional<Expr> value_in(const Arm& arm, const std::string& name, Span at);
  std::vector<BranchResult> branch_results(const ast::Statement& statement, const ast::If& branches,
                                           std::size_t at, const Arm& then_arm, const Arm& else_arm);
  std::optional<Type> branch_type(const ast::Statement& statement, const BranchResult& result, bool& failed);

  struct LoopText;
  void read_loop(const ast::Statement& statement, LoopText text);
  bool read_loop_body(const ast::Statement& statement, const LoopText& text,
                      const std::vector<std::string>& names, std::vector<Type>& types, Loop& loop);
  Expr range_bound(const ast::Expr& expr);

  std::unique_ptr<Liveness> liveness_;
  // Of carried variables, from earlier rounds.
  std::map<const ast::Statement*, std::vector<Type>> loop_types_;
};

}  // namespace relish
