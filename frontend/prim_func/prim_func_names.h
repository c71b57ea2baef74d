// What names mean while a prim_func is read: the lowest of the layers that PrimFuncBuilder is made of (names,
// buffers, loops, scalars, blocks, the function). Each is a page that needs those below only.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "frontend/context.h"
#include "frontend/prim_func/prim_func_module.h"
#include "frontend/types/scalar_reader.h"
#include "frontend/types/type_reader.h"
#include "ir/nodes/stmt.h"
#include "ir/printer/reserved_names.h"

namespace relish {

class PrimFuncNames : public ScalarScope {
 public:
  ScalarMeaning find(const std::string& name, Span use) override;
  std::vector<std::string> names() const override;
  std::vector<std::string> index_names() const override;
  std::optional<PrimFuncHeader> prim_func(const ast::Expr& callee) override;

 protected:
  PrimFuncNames(ReadContext& context, const PrimFuncModule& module)
      : context_(context), module_(module), reader_(context, *this, DType::Int32) {}

  struct Local {
    ScalarVar var;
  };  // may be assigned
  struct Handle {
    std::size_t param;
    std::string type;  // as in the text: T.handle, T.handle("float32")
    std::optional<DType> element;
  };  // a parameter that match_buffer makes a buffer of; else it is a pointer
  struct Pointer {
    Buffer buffer;
    Scalar offset = {};   // of the element that is pointed to; undefined: the first
    Scalar address = {};  // how the text says that; undefined: by the buffer's name
  };  // the elements of a buffer, for data=
  struct Several {
    std::vector<Scalar> variables;
  };  // `it` of `for it in T.grid(a, b)`
  struct EnvThread {
    std::string thread;
  };  // "blockIdx.x", until a launch makes a loop of it
  struct Refused {};  // its declaration was wrong: silent
  using Meaning = std::variant<Buffer, Scalar, Local, Handle, Pointer, Several, EnvThread, Refused>;
  struct Entry {
    Meaning meaning;
    Span span;
  };

  void bind(const std::string& name, Meaning meaning, Span at) {
    frames_.back().insert_or_assign(name, Entry{std::move(meaning), at});
  }
  Entry* look_up(const std::string& name);
  void refuse_names(const ast::Statement& statement);
  const std::string& name_target(const ast::Expr& target) const;
  // The parameter as a pointer, unless it is a buffer by now.
  const Buffer& pointer_param(const std::string& name, const Handle& handle, Span at);
  Scalar value_of(const Pointer& pointer, Span at) const;
  void add_attribute(Attributes& attributes, const std::string& key, Attribute value, Span at) const;
  // Whether a value of an attribute is, or holds, the name of a buffer or pointer.
  bool names_memory(const ast::Expr& expr);
  Attributes read_attributes(const ast::Expr& call, NamePlace place);
  void note_ignored(Span at, std::string_view what);
  CommentsPtr take_comments(const CommentsPtr& own);
  [[noreturn]] void type_error(Span at, std::string_view id, std::string message) const {
    fail(ErrorClass::Type, at, id, std::move(message));
  }

  ReadContext& context_;
  const PrimFuncModule& module_;
  ScalarReader reader_;
  SymbolTable symbols_;
  std::vector<std::map<std::string, Entry>> frames_;
  std::unordered_map<std::uint64_t, Span> symbols_used_;  // where each symbolic variable was used first
  struct OpenLoop {
    std::string variable, thread;
  };
  std::vector<OpenLoop> open_loops_;                  // outer before inner
  std::vector<std::vector<std::string>> axis_names_;  // of each open block
  const ast::FunctionDefinition* definition_ = nullptr;
  PrimFunc function_;
  bool noted_ = false;
  Comments pending_;  // of lines that are no statements of the IR: kept for the next one
};

}  // namespace relish
