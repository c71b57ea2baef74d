// Runs the ANTLR grammar over a slice of a source: our own tokens, a first run that stops at the first fault,
// a second one to find words for it. Internal to frontend/: ANTLR types.
#pragma once

#include <functional>

#include "antlr4-runtime.h"
#include "frontend/text/line_tokens.h"
#include "grammar/RelishParser.h"
#include "support/diagnostic.h"

namespace relish {

using EntryRule = antlr4::ParserRuleContext* (*)(grammar::RelishParser&);

// Parses the slice and passes the tree to `use` while it lives. False after reporting a syntax error. One
// parser serves the process (its prediction cache is worth keeping and is bounded); callers take turns.
bool parse_slice(const Slice& slice, EntryRule rule, Diagnostics& diagnostics,
                 const std::function<void(antlr4::ParserRuleContext&)>& use);

}  // namespace relish
