// Builders: FunctionBuilder appends inferred bindings and gives fresh names; it is what the front end,
// gradient rules and passes use to make graph code. Values that are not leaves are bound to `lv`, `lv1`, ...
// (`gv` outside dataflow).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/nodes/module.h"
#include "support/flat_names.h"

namespace relish {

class FunctionBuilder {
 public:
  // Span given to nodes made from now on when the caller gives none ("origin rule": a pass sets it to the
  // node it works on).
  void set_origin(Span span) { origin_ = span; }
  Span origin() const { return origin_; }

  // Marks a name as taken, so that fresh names avoid it.
  void reserve_name(std::string_view name);
  // `hint` if free, else hint1, hint2, ...; the name becomes taken.
  std::string fresh_name(std::string_view hint);
  // Between mark_names and drop_mark, free_names gives back what was taken behind the mark, at a cost of just
  // that: what is read twice gets the names of the first time. Marks nest.
  std::size_t mark_names();
  void free_names(std::size_t mark);
  void drop_mark();
  // Gives the names to another builder, and takes that one's.
  void swap_names(FunctionBuilder& other);

  void begin_block(bool dataflow);
  // Ends the block; empty blocks vanish.
  void end_block();
  bool block_empty() const { return !in_block_ || current_.bindings.empty(); }
  bool in_dataflow() const { return in_block_ && current_.dataflow; }

  // Binds `value` to a new variable and returns it. `output`: in a dataflow block, visible outside it.
  Var bind(Expr value, std::string_view hint = "", bool output = false, CommentsPtr comments = nullptr);
  void append(Binding binding);
  // A leaf is returned as it is; anything else is bound.
  Expr emit(Expr value, std::string_view hint = "");
  // op_call + emit. Tuples among args stay; other non-leaf args are bound first.
  Expr call(std::string_view op_name, std::vector<Expr> args, Attributes attributes = {},
            std::string_view hint = "");

  // A region inside what is built: what follows goes into it until end_region gives it. Its blocks are its
  // own; the block around it is ended.
  void begin_region(std::vector<Var> params = {});
  Region end_region(std::vector<Expr> results);

  // Blocks built so far (of the region that is open), moved out.
  std::vector<BindingBlock> take_blocks();
  // The same without the blocks: their bindings, in order.
  std::vector<Binding> take_bindings();

 private:
  struct OpenRegion {
    std::vector<Var> params;
    std::vector<BindingBlock> around;
  };

  Span origin_;
  bool in_block_ = false;
  BindingBlock current_;
  std::vector<BindingBlock> blocks_;
  std::vector<OpenRegion> regions_;
  struct Name {
    bool taken = false;
    int last_suffix = 0;  // of the names made of this one, so that many fresh names stay cheap
  };
  struct NameBefore {
    std::string name;
    Name state;
  };
  bool take_name(const std::string& name);
  Name& change_name(const std::string& name);

  FlatNames<Name> names_;
  std::size_t marks_ = 0;            // that are open
  std::vector<NameBefore> changed_;  // behind the first of them, what each changed name was
};

bool is_leaf(const Expr& expr);  // a leaf or a tuple of leaves

// Loop nests for lowering rules. Collects parameters and allocations and wraps the body into a schedule-free
// prim_func.
class LoopBuilder {
 public:
  explicit LoopBuilder(Span origin = {}) : origin_(origin) {}

  Buffer input(std::string_view name, const Type& tensor);  // appends a parameter
  Buffer output(std::string_view name, const Type& tensor);
  Buffer temporary(std::string_view name, std::vector<Scalar> shape, DType dtype);
  ScalarVar scalar_input(std::string_view name, DType dtype);

  // for i0.. in T.grid(shape): with T.sblock(name): v_i0.. = remap("SS.."); body(v) -> the statement.
  template <class F>
  void spatial(std::string_view block, const std::vector<Scalar>& shape, F&& body) {
    spatial_reduce(block, shape, {},
                   [&](const std::vector<Scalar>& s, const std::vector<Scalar>&) { return body(s); });
  }
  // Spatial and reduce axes; `init` (when given) is run at the first reduce instance.
  using Body = std::function<Stmt(const std::vector<Scalar>& spatial, const std::vector<Scalar>& reduce)>;
  using Init = std::function<Stmt(const std::vector<Scalar>& spatial)>;
  void spatial_reduce(std::string_view block, const std::vector<Scalar>& spatial,
                      const std::vector<Scalar>& reduce, const Body& body, const Init& init = nullptr);
  Stmt store(const Buffer& buffer, std::vector<Scalar> indices, Scalar value) const;
  Scalar load(const Buffer& buffer, std::vector<Scalar> indices) const;

  // The finished function: params, then scalar params for symbolic variables that no buffer shape binds by
  // itself.
  PrimFunc finish(std::string name);

 private:
  Span origin_;
  std::vector<PrimParam> params_;
  std::vector<Buffer> allocations_;
  std::vector<Stmt> body_;
};

}  // namespace relish
