// Builds a module from the definitions of a class, or from the free functions of a text. All names are
// declared before any body is read; a function whose result type is inferred is built when its first caller
// is.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "frontend/graph/graph_builder.h"
#include "frontend/module/module_links.h"
#include "frontend/prim_func/prim_func_module.h"
#include "ir/nodes/module.h"

namespace relish {

using ConstantTable = std::unordered_map<std::string, Tensor>;

class ModuleBuilder : public Globals, public PrimFuncModule {
 public:
  // `session`: functions that are declared already (free functions only), or null. `modules`: names of all
  // modules. `links`: the modules of other files.
  ModuleBuilder(ReadContext& context, std::string name, const Module* session, const ConstantTable& constants,
                const std::vector<std::string>& modules, ModuleLinks& links);
  ~ModuleBuilder() override;

  const ast::FunctionDefinition* prim_func_definition(const std::string& name) const override;
  const std::string& module_name() const override { return module_.name; }

  // Functions are not checked for what only TVM's checker of forms refuses (before they are declared).
  void leave_unchecked() { checked_ = false; }
  // Of a class: the devices that its functions name are those of I.module_global_infos.
  void list_devices() { lists_devices_ = true; }
  // Reports duplicates and what is no function of a module. The body of a function goes away when it is
  // built.
  void declare(ast::Statement& statement);
  // Class-level statements other than functions: attributes, docstrings, type variables.
  void declare_class_statement(const ast::Statement& statement);
  // Functions that could not be built are missing; what is wrong has been reported.
  // Those that were linked in from other files stand behind its own.
  Module build();
  // The function of a definition after `build`; nothing when it could not be built.
  std::optional<GlobalFunction> built(const ast::FunctionDefinition& definition) const;

  std::optional<GlobalMeaning> find_global(const std::string& name, Span use) override;
  bool is_module(const std::string& name) const override { return name == module_.name; }
  bool is_other_module(const std::string& name) const override;
  std::optional<std::string> linked_function(const std::string& module, const std::string& function,
                                             Span use) override;
  std::vector<std::string> global_names() const override;
  const Tensor* find_constant(const std::string& name) override;

 private:
  struct Declaration;
  bool checked_ = true;
  bool lists_devices_ = false;
  void build_declaration(Declaration& declaration);
  std::optional<GlobalMeaning> meaning_of(const std::string& name, Span use);
  void read_global_infos(const ast::Call& call);
  void declare_extern(const ast::Statement& statement, const ast::Expr& target, const std::string& name,
                      const ast::Call& call);
  // Where the text defines the name, as a function or as a native one.
  std::optional<Span> declared_at(const std::string& name) const;
  // Whether nothing has the name yet; reports it otherwise.
  bool is_first(const std::string& name, Span at);
  void drop_callers_of_unread();
  void check_gradients();
  void ensure_header(Declaration& declaration);

  ReadContext& context_;
  const Module* session_;
  const ConstantTable& constants_;
  const std::vector<std::string>& modules_;  // sorted
  ModuleLinks& links_;
  Module linked_;  // copies that this module uses
  Declaration* building_ = nullptr;
  std::uint32_t inferring_ = 0;  // functions being built because another needs their result type
  Module module_;
  std::vector<std::unique_ptr<Declaration>> declarations_;
  std::unordered_map<std::string, Declaration*> by_name_;
  std::set<std::string>
      damaged_names_;  // of functions whose text was refused: uses are no errors of their own
  struct NativeFunctions {
    std::vector<ExternFunctionPtr> all;
    std::unordered_map<std::string, ExternFunctionPtr> by_name;
    std::vector<std::size_t> order;  // of each, how many functions stand before it
  } natives_;
};

}  // namespace relish
