// Short ways to a node's kind and children. Internal to frontend/: ANTLR types.
#pragma once

#include "frontend/text/grammar_engine.h"

namespace relish {

using Node = antlr4::tree::ParseTree;

// The generated accessors look through all children with casts that are checked at run time, so what occurs
// in every line goes by the place of a child in its rule. Each rule matches at least one token, so only
// tokens have no children.
inline bool is_token(const Node* node) { return node->children.empty(); }
inline antlr4::Token* token_of(Node* node) {
  return static_cast<antlr4::tree::TerminalNode*>(node)->getSymbol();
}
inline antlr4::ParserRuleContext* rule_of(Node* node) {
  return static_cast<antlr4::ParserRuleContext*>(node);
}
template <class Context>
Context* child(antlr4::ParserRuleContext* tree, std::size_t index) {
  return static_cast<Context*>(tree->children[index]);
}

}  // namespace relish
