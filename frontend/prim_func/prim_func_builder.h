// Builds a prim_func from its definition: parameters, loops, blocks, buffers, scalars, in the spellings of
// all versions. What the IR has no node for (vectors, pointers, scopes that last to the end of a body) is
// written out in its terms here.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "frontend/context.h"
#include "frontend/module/decorators.h"
#include "frontend/prim_func/prim_func_module.h"
#include "frontend/types/scalar_reader.h"
#include "frontend/types/type_reader.h"
#include "ir/nodes/stmt.h"

namespace relish {

class PrimFuncBuilder : public ScalarScope {
 public:
  PrimFuncBuilder(ReadContext& context, const PrimFuncModule& module)
      : context_(context), module_(module), reader_(context, *this, DType::Int32) {}

  // Reports what is wrong, statement by statement; null when something was.
  PrimFuncPtr build(const ast::FunctionDefinition& definition, CommentsPtr comments,
                    const FunctionOptions& options);

  ScalarMeaning find(const std::string& name, Span use) override;
  std::vector<std::string> names() const override;
  std::vector<std::string> index_names() const override;
  std::optional<PrimFuncHeader> prim_func(const ast::Expr& callee) override;

 private:
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

  // prim_func_params.cpp
  void declare_symbols(const ast::FunctionDefinition& definition);
  void read_params(const ast::FunctionDefinition& definition);
  void read_param(const ast::FunctionDefinition& definition, const ast::Parameter& parameter);
  struct BufferArgument {
    std::string name;
    Span name_span;
    const ast::Expr* value;
  };
  std::vector<BufferArgument> buffer_arguments(const std::vector<ast::Argument>& arguments,
                                               std::size_t first) const;
  // `data`, when not null, receives the argument data=; `implied` is the shape when none is written.
  Buffer read_buffer(const std::string& name, Span at, const std::vector<BufferArgument>& arguments,
                     const ast::Expr** data = nullptr, const std::vector<Scalar>* implied = nullptr);
  void match_buffer(const std::string& name, const ast::Expr& target, const ast::Call& call);
  void check_params(const ast::FunctionDefinition& definition);
  void read_result(const ast::FunctionDefinition& definition);

  // prim_func_builder.cpp
  Stmt read_body(const ast::Block& body, BlockStmt* block);
  void read_statement(const ast::Statement& statement, BlockStmt* block, std::vector<Stmt>& into);
  void read_expression(const ast::Statement& statement, const ast::Expr& expr, BlockStmt* block,
                       std::vector<Stmt>& into);
  void read_assignment(const ast::Statement& statement, const ast::Assignment& assignment, BlockStmt* block,
                       std::vector<Stmt>& into);
  bool read_declaration(const ast::Expr& target, const ast::Expr& value);
  void read_return(const ast::Statement& statement, const ast::Expr& value, std::vector<Stmt>& into);
  void read_assert(const ast::Statement& statement, const ast::Expr& condition, const ast::Expr* message,
                   std::vector<Stmt>& into);
  void add_attribute(Attributes& attributes, const std::string& key, Attribute value, Span at) const;
  void read_jump(bool leaves, const ast::Statement& statement, std::vector<Stmt>& into);
  void check_result();
  void check_device();
  void note_ignored(Span at, std::string_view what);
  void read_buffer_advice(std::string_view name, const ast::Expr& value);
  void allocate_strided(const std::string& name, const ast::Statement& statement, Span at, Buffer buffer,
                        BlockStmt* block, std::vector<Stmt>& into);
  // A statement whose effect lasts to the end of the body that it stands in: `wrap` receives what follows.
  struct OpenScope {
    std::size_t first;  // position among the statements of the body
    std::function<Stmt(Stmt)> wrap;
  };

  // prim_func_scalars.cpp
  void read_scalar(const ast::Statement& statement, const ast::Expr& target, const ast::Expr* annotation,
                   const ast::Expr* value, std::vector<Stmt>& into);
  bool read_special_value(const ast::Statement& statement, const ast::Expr& target, const ast::Expr& value,
                          std::vector<Stmt>& into);
  // What an annotation of a scalar says: T.int32, T.let, T.let[T.int32], T.float32[4].
  struct ScalarAnnotation {
    std::optional<DType> dtype;
    bool let = false;
    std::optional<std::int64_t> length;
    std::optional<Handle> pointer;  // T.handle("float32")
  };
  ScalarAnnotation read_annotation(const ast::Expr& annotation);
  [[noreturn]] void refuse_constant(const std::string& name, Span at, Span bound) const;
  void define_let(const ast::Statement& statement, const std::string& name, Span at, Scalar value,
                  std::vector<Stmt>& into);
  // T.LetStmt(e, var=v), T.bind(e, var=v), T.let(v, e) as a statement or in a with: false for other calls.
  bool read_let(const std::string& name, const ast::Statement& statement, const ast::Call& call,
                const ast::Expr* target, std::vector<Stmt>& into);
  void read_augmented(const ast::Statement& statement, const ast::AugmentedAssignment& assignment,
                      std::vector<Stmt>& into);

  // prim_func_buffers.cpp
  void store(const ast::Statement& statement, const ast::Expr& target, const ast::Subscript& subscript,
             const ast::Expr& value, std::vector<Stmt>& into);
  // `predicate`: the lanes that are stored; undefined: all.
  void store_lanes(const Buffer& buffer, const std::vector<Scalar>& indices, const Scalar& value, int lanes,
                   Span at, CommentsPtr comments, std::vector<Stmt>& into, const Scalar& predicate = {});
  bool read_vector_store(const ast::Statement& statement, const ast::Call& call, std::vector<Stmt>& into);
  int stored_lanes(const std::vector<Scalar>& indices, const ScalarOperand& value, Span at) const;
  // Whether what is declared here belongs to the whole function.
  bool at_function_level() const { return frames_.size() - flat_scopes_ == 1; }
  Buffer allocate(const std::string& name, Span at, Buffer buffer, BlockStmt* block,
                  const ast::Statement& statement, std::vector<Stmt>& into);
  void allocate_local(const Buffer& buffer, Span at, std::vector<Stmt>& into);
  bool read_constant(const ast::Statement& statement, const ast::Expr& target, const ast::Call& call,
                     std::vector<Stmt>& into);

  // prim_func_pointers.cpp
  // T.handle and T.handle("float32") as a type; nothing for any other expression.
  std::optional<Handle> pointer_type(const ast::Expr& expr) const;
  // The parameter as a pointer, unless it is a buffer by now.
  const Buffer& pointer_param(const std::string& name, const Handle& handle, Span at);
  // The elements that an expression points to: p, A.data, T.address_of(A[1, 0]).
  Pointer pointed_to(const ast::Expr& expr, std::vector<Stmt>& into);
  Scalar value_of(const Pointer& pointer, Span at) const;
  void define_pointer(const std::string& name, const ast::Statement& statement, Span at, const Handle& type,
                      const ast::Expr* value, std::vector<Stmt>& into);
  std::optional<Pointer> address_of(const ast::Expr& expr);
  void declare_view(const std::string& name, const ast::Statement& statement, BufferView view,
                    BlockStmt* block, std::vector<Stmt>& into);
  void declare_view_of(const std::string& name, const ast::Statement& statement, Buffer buffer,
                       const ast::Expr& data, BlockStmt* block, std::vector<Stmt>& into);
  bool read_view_method(const ast::Statement& statement, const ast::Expr& target, const ast::Call& call,
                        BlockStmt* block, std::vector<Stmt>& into);
  void match_region(const ast::Statement& statement, const ast::Expr& target, const ast::Call& call,
                    BlockStmt* block, std::vector<Stmt>& into);
  Stmt read_if(const ast::Statement& statement, const ast::If& branches);

  // prim_func_loops.cpp
  struct LoopRange {
    Scalar begin, extent;
  };
  struct LoopHeader {
    std::vector<LoopRange> dimensions;
    LoopKind kind = LoopKind::Serial;
    Attributes annotations;
    Scalar step;
    std::string thread;
    // Of a loop that counts down: its variable in terms of the one that counts up.
    std::function<Scalar(const Scalar&)> counted_down;
    std::optional<DType> dtype;  // of the variables
  };
  void count_down(const Scalar& first, const Scalar& last, std::int64_t step, Span at, LoopHeader& header);
  LoopHeader read_loop_header(const ast::Expr& iterable);
  void read_bounds(const std::string& name, const ast::Expr& iterable, LoopHeader& header);
  void refuse_dependent(const For& loop, const ast::Expr& iterable);
  Stmt read_for(const ast::Statement& statement, const ast::For& loop);
  // T.launch_thread and T.attr(…, "thread_extent", n): the loop over the threads around `body`.
  std::optional<For> read_launch(const std::string& name, const ast::Call& call, const ast::Expr* target);

  // prim_func_blocks.cpp
  void read_with(const ast::Statement& statement, const ast::With& with, BlockStmt* block,
                 std::vector<Stmt>& into);
  Stmt read_block(const ast::Statement& statement, const ast::With& with, const ast::Call& call);
  std::vector<RegionDim> read_region_dims(const Buffer& buffer, const ast::Subscript& subscript);
  bool read_axes(const ast::Expr& target, const ast::Expr& value, BlockStmt* block);
  void read_remap(const ast::Expr& target, const ast::Expr& value, const ast::Call& call, BlockStmt& block);
  [[noreturn]] void refuse_axis_letter(const std::string& letters, std::size_t i, Span at,
                                       const ast::Expr& target);
  void read_axis(const std::string& kind, const ast::Expr& target, const ast::Expr& value,
                 const ast::Call& call, BlockStmt& block);
  void add_axis(BlockStmt& block, const ast::Expr& target, IterKind kind, const Scalar& begin,
                const Scalar& extent, const Scalar& binding);
  std::vector<BufferRegion> read_regions(const ast::Call& call);
  bool read_allocation(const ast::Statement& statement, const ast::Expr& target, const ast::Expr& value,
                       BlockStmt* block, std::vector<Stmt>& into);
  bool read_block_call(const std::string& name, const ast::Expr& expr, BlockStmt* block);

  void bind(const std::string& name, Meaning meaning, Span at) {
    frames_.back().insert_or_assign(name, Entry{std::move(meaning), at});
  }
  Entry* look_up(const std::string& name);
  void refuse_names(const ast::Statement& statement);
  const std::string& name_target(const ast::Expr& target) const;
  Buffer buffer_target(const ast::Subscript& subscript);
  [[noreturn]] void type_error(Span at, std::string_view id, std::string message) const {
    fail(ErrorClass::Type, at, id, std::move(message));
  }
  CommentsPtr take_comments(const CommentsPtr& own);
  // For a value that names a buffer where an element of it is expected: the element at the place of the
  // store.
  void suggest_element(Failure& failure, const ast::Subscript& target);
  // For a store with too few indices: those with which its value reads the same buffer.
  void suggest_indices(Failure& failure, const Buffer& buffer, const ast::Subscript& target,
                       const ast::Expr& value);

  ReadContext& context_;
  const PrimFuncModule& module_;
  ScalarReader reader_;
  SymbolTable symbols_;
  std::vector<std::map<std::string, Entry>> frames_;
  std::unordered_map<std::uint64_t, LoopRange> loops_;
  std::vector<OpenScope> scopes_;                         // of the body that is being read
  std::unordered_map<std::uint64_t, Span> symbols_used_;  // where each symbolic variable was used first
  std::vector<Buffer> device_buffers_;                    // of scopes that threads share
  std::vector<Span> refused_;                             // statements of the body
  bool damaged_ = false;                                  // one of them is no statement at all
  std::vector<BufferView> declared_views_;
  bool threads_ = false, has_views_ = false, noted_ = false;
  int loop_depth_ = 0;
  const ast::FunctionDefinition* definition_ = nullptr;
  std::uint32_t indented_until_ = 0;      // to where a fix that indents is proposed already
  std::span<const ast::Statement> rest_;  // of the body that is being read: the statement and what follows
  struct OpenLoop {
    std::string variable, thread;
  };
  std::vector<OpenLoop> open_loops_;                  // outer before inner
  std::vector<std::vector<std::string>> axis_names_;  // of each open block
  std::size_t flat_scopes_ = 0;                       // open scopes whose statements join those around them
  bool checked_ = true;
  std::map<std::string, Span> bound_once_;  // declared variables that T.bind and its kin gave a value
  PrimFunc function_;
  // Of each name with T.let[T.int32], by its place: that annotation and the type inside it.
  std::map<std::uint32_t, std::pair<Span, Span>> lets_;
  Comments pending_;  // of lines that are no statements of the IR: kept for the next one
};

}  // namespace relish
