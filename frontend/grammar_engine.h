// Runs the ANTLR grammar over a slice of a source: its own character stream (bytes of the source, a long
// number list as one character), SLL prediction first and LL on failure, errors in our words. Internal to
// frontend/: ANTLR types.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "antlr4-runtime.h"
#include "frontend/scanner.h"
#include "grammar/RelishLexer.h"
#include "grammar/RelishParser.h"
#include "support/diagnostic.h"

namespace relish {

// A slice of a source to parse.
struct Slice {
  std::uint32_t file = 0;
  std::string_view text;  // of the whole source: token positions are offsets into it
  std::size_t begin = 0, end = 0;
  std::span<const NumberRange> number_lists;
};

using EntryRule = antlr4::ParserRuleContext* (*)(grammar::RelishParser&);

// Parses the slice and passes the tree to `use` while it lives. False after reporting a syntax error. One
// parser serves the process (its prediction cache is worth keeping and is bounded); callers take turns.
bool parse_slice(const Slice& slice, EntryRule rule, Diagnostics& diagnostics,
                 const std::function<void(antlr4::ParserRuleContext&)>& use);

}  // namespace relish
