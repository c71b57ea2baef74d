// The tapes of a reverse execution: one for the overwritten values of each buffer, one for the sides that an
// if took, one for the rounds of a while or of a loop whose bounds the run computes. Each is a buffer with a
// number of elements that are in use. How long it gets is known from the loops around its pushes, or counted
// in a run of its own where the text does not tell.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "ir/nodes/stmt.h"

namespace relish {

class Tapes {
 public:
  // Goes into a loop, or into a while, whose rounds nobody knows.
  void enter(const For& loop) { loops_.push_back(&loop); }
  void enter_while() { loops_.push_back(nullptr); }
  void leave() { loops_.pop_back(); }

  using Name = std::function<std::string()>;
  // The tape that goes by `key`, the identity of a buffer or statement; made at first use.
  const Buffer& of(const void* key, DType dtype, const Name& name, Span span);
  const Buffer* find(const void* key) const;

  // Statements, and the top value. A pop leaves the value to be looked at behind the end.
  Stmt push(const Buffer& tape, const Scalar& value, Span span);
  Stmt pop(const Buffer& tape, Span span) const;
  Scalar top_of(const Buffer& tape) const;

  // All tapes are empty.
  std::vector<Stmt> start(Span span) const;
  // The buffers to allocate; those with a length of `sizes`, by number, where a run counts.
  struct Sized {
    std::vector<Buffer> buffers;   // tapes with their lengths, and how much of each is in use
    BufferMap tapes;               // from the buffers that statements were made with
    std::vector<ScalarVar> sizes;  // lengths that a run counts
    std::vector<Buffer> counts;    // of those: how much is in use
  };
  Sized sized() const;

 private:
  struct Tape {
    Buffer place, top;
    std::vector<Scalar> pushes;  // how many each push makes
    bool counted = false;
  };
  const Tape& tape(const Buffer& place) const;

  std::vector<const For*> loops_;
  std::map<const void*, std::size_t> by_key_;
  std::vector<Tape> tapes_;
};

}  // namespace relish
