// What the parts of the printer share: the state of one text, the writer of one function, names. Internal to
// ir/.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/nodes/module.h"
#include "ir/printer/constant_section.h"
#include "ir/printer/printer.h"
#include "support/flat_names.h"

namespace relish::printing {

// Names of one function's variables: hints made into identifiers that are unique where they are visible.
// Names given inside a scope become free when it ends, so that loop nests in a row may all use `i`.
class NameTable {
 public:
  enum class Kind : std::uint8_t { Graph, Scalar, Buffer };

  NameTable();
  // Keeps a name from being given to a variable.
  void reserve(const std::string& name) { records_[name].used = true; }
  // Those that the text of a Relax function or a prim_func uses itself.
  void reserve_loop_names();
  // The variable's name; given now if it has none yet.
  const std::string& of(Kind kind, std::uint64_t id, std::string_view hint);
  // Lets a variable share a name that is already given.
  void alias(Kind kind, std::uint64_t id, const std::string& name);
  // Makes a name a graph variable's, whoever had it: the text rebinds it.
  void take(std::uint64_t id, const std::string& name);
  // The graph variable that a name means at this place of the text.
  std::optional<std::uint64_t> holder(const std::string& name) const;
  void set_holder(const std::string& name, std::optional<std::uint64_t> id);
  bool used(const std::string& name) const;
  // Frees the name of a scalar variable whose scope has ended.
  void forget(const ScalarVar& var);
  // A name for what is no variable of the IR.
  std::string fresh(std::string_view hint);

  std::size_t mark() const { return given_.size(); }
  void release(std::size_t mark);

 private:
  struct Given {
    std::uint64_t key;
    std::string base;
    std::string name;
  };
  // What is known of a name.
  struct Record {
    bool used = false;
    bool held = false;  // a graph variable is called so: `holder`
    int next_suffix = 1;
    std::uint64_t holder = 0;
  };
  std::string unique(const std::string& base);
  bool take_name(const std::string& name);
  void free_name(const std::string& name);

  std::unordered_map<std::uint64_t, std::string> names_;
  FlatNames<Record> records_;
  std::vector<Given> given_;
};

// The hint with characters outside [A-Za-z0-9_] replaced; never empty, never starting with a digit.
std::string identifier(std::string_view hint);

// One text: options, what it uses (for its heading), its large constants.
struct TextState {
  const PrintOptions& options;
  ConstantSection& constants;
  std::string class_name;   // empty: functions stand outside a class
  bool uses_loops = false;  // "T."
  bool uses_graph = false;  // "R."
  bool uses_constants = false;
  bool uses_extensions = false;  // of the language, which TVM does not read

  bool dialect(Dialect which) const { return options.dialect == which; }
};

// Writes one function, or a loose node.
struct Writer {
  explicit Writer(TextState& state) : text(state) {}

  TextState& text;
  std::string out;
  int indent = 0;
  NameTable names;
  bool graph_level = false;   // integers are int64 by default (in loops int32)
  bool signature = false;     // symbolic dims stand in quotes
  bool uses_globals = false;  // a global was referred to through the class by `module_alias`
  // What stands for the class: "cls", or its own name where a parameter is called that.
  std::string module_alias = "cls";
  // Words with a meaning that are parameters here, since the text does without what they mean.
  std::unordered_set<std::string> kept_words;
  // Functions whose plain names mean a parameter here.
  std::unordered_set<std::string> hidden_globals;
  std::vector<ScalarVar> symbols;  // used outside the signature, in order of first use
  std::unordered_set<std::uint64_t> symbol_ids;
  std::unordered_set<std::uint64_t> declared;           // scalar variables that need no declaration
  std::unordered_set<std::uint64_t> parameters;         // of these, those that scalar parameters name
  std::unordered_map<std::uint64_t, Expr> inlined;      // variables whose value stands in their place
  std::unordered_map<std::uint64_t, const For*> loops;  // loop variables in scope, for T.axis.remap

  void begin_line() { out.append(static_cast<std::size_t>(indent) * 4, ' '); }
  void end_line() { out += '\n'; }
  void line(std::string_view content) {
    begin_line();
    out += content;
    end_line();
  }
  void comments_before(const CommentsPtr& comments);
  // The comment behind a line, then the line end.
  void end_line(const CommentsPtr& comments);
  void comment_lines(std::string_view text);  // one or more lines

  const std::string& name(const Var& var) { return names.of(NameTable::Kind::Graph, var.id(), var.name()); }
  const std::string& name(const ScalarVar& var) {
    return names.of(NameTable::Kind::Scalar, var.id(), var.name());
  }
  const std::string& name(const Buffer& buffer) {
    return names.of(NameTable::Kind::Buffer, buffer.id(), buffer.name());
  }
};

// Whether the scalar is that of a parameter alone, whose plain name would be read as the parameter itself.
inline bool is_named_by_parameter(const Writer& w, const Scalar& scalar) {
  const auto var = scalar.as_var();
  return var && w.parameters.contains(var->id());
}

// Names that a text of a graph function may need for what they mean: namespaces, float("inf"), the class.
std::vector<std::string> words_with_a_meaning(const TextState& text);
// Whether the word stands in the text with a point or a bracket behind it.
bool means_something(std::string_view text, std::string_view word);

// True for comments that the printer itself writes (headings, the root block).
bool is_printed_comment(std::string_view text);

// Calls `item` for each element with ", " between.
template <class Range, class F>
void write_list(Writer& w, const Range& range, F&& item) {
  bool first = true;
  for (const auto& element : range) {
    if (!first) w.out += ", ";
    first = false;
    item(element);
  }
}
// "(a, b)", "(a,)", "()".
template <class Range, class F>
void write_tuple(Writer& w, const Range& range, F&& item) {
  w.out += '(';
  write_list(w, range, item);
  w.out += range.size() == 1 ? ",)" : ")";
}

// printer_scalar.cpp. `precedence` is that of the place: weaker operators are put in parentheses.
void write_scalar(Writer& w, const Scalar& scalar, int precedence = 0);
void write_float(Writer& w, DType dtype, double value);
void write_indices(Writer& w, const std::vector<Scalar>& indices);
// begin + extent, written so that reading it gives the extent again.
Scalar range_end(const Scalar& begin, const Scalar& extent);

// printer_type.cpp
void write_type(Writer& w, const Type& type);
void write_dims(Writer& w, const std::vector<Scalar>& dims);  // without brackets
// False for types that have no spelling of their own (string, dtype).
bool has_spelling(const Type& type);
void write_string(Writer& w, std::string_view text);
void write_attribute(Writer& w, const Attribute& attribute);
// {"a": 1, "b": 2}, sorted by key. Of a prim_func: "noalias" gets the namespace of loops ("tirx.noalias").
void write_dictionary(Writer& w, const Attributes& attributes, bool prim_func = false);

// printer_graph.cpp
void write_expr(Writer& w, const Expr& expr);
void write_extern_function(Writer& w, const ExternFunction& function);

// printer_function.cpp
void write_function(Writer& w, const Function& function);

// printer_loop.cpp
void write_stmt(Writer& w, const Stmt& stmt);
void write_prim_func(Writer& w, const PrimFunc& function);

}  // namespace relish::printing
