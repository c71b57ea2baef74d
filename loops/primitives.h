// What can be done to a loop without changing what it computes. Each primitive makes a new statement; the
// order in which one element sees its updates stays.
#pragma once

#include <cstdint>
#include <functional>

#include "ir/nodes/stmt.h"

namespace relish {

// The statement with variables and buffers of its own, where `scalars` and `buffers` stand for what it uses
// of outside: for a second place in the same function.
Stmt fresh_copy(const Stmt& stmt, ScalarMap scalars = {}, BufferMap buffers = {});
// Adds a variable or buffer of its own for each that the statement binds.
void rename_bound(const Stmt& stmt, ScalarMap& scalars, BufferMap& buffers);
// A buffer of its own for one that is made, in terms of what stands for the variables of its sizes.
Buffer remade(const Buffer& buffer, const ScalarMap& scalars, BufferMap& buffers);

// The loop in two, the inner one over at most `factor` iterations (of what remains, in the last round).
// `round` makes the body of the outer one from the inner one. Begin 0, no step.
Stmt split(const For& loop, Span span, std::int64_t factor,
           const std::function<Stmt(const For& inner)>& round);

// Unroll and jam: the loop holds just one loop, of which each sweep does `factor` iterations of it, one
// behind the other; what remains is a loop of its own. One of fewer iterations, such as that, stays as it is.
// Begin 0, no step, an extent that is not negative.
Stmt unroll_and_jam(const For& loop, Span span, std::int64_t factor);

}  // namespace relish
