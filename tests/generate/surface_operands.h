// Writes operands and expressions of a given type, with the bindings that they need before them.
#pragma once

#include "tests/generate/surface_scope.h"

namespace relish::generate {

class GraphOperands {
 public:
  GraphOperands(TextWriter& writer, GraphScope& known) : w_(writer), scope_(known) {}

  std::string element(const std::string& dtype);
  std::string constant(const Shown& type);
  // An operand of exactly this type; may write bindings before.
  std::string provide(const Shown& type, const GraphPlace& place);
  // An expression of exactly this type that computes something.
  std::string expression(const Shown& type, const GraphPlace& place);
  std::string condition(const GraphPlace& place);
  // `name = value` or with the type, as the spelling has it.
  void bind(const std::string& name, const std::string& value, const Shown& type, const GraphPlace& place);
  // The value of a call always with the type: what is inferred may say less.
  void bind_called(const std::string& value, const Shown& type, const GraphPlace& place);

 private:
  TextWriter& w_;
  GraphScope& scope_;
};

}  // namespace relish::generate
