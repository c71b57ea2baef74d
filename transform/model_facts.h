// What the functions of a model have that training and inference treat differently: dropout, and batch_norm
// with its running statistics. Found once for all functions that the model reaches.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/nodes/module.h"

namespace relish {

struct ModelFacts {
  bool drops = false;                // it, or what it calls, has a dropout
  bool trains = false;               // … or a batch_norm in training
  std::vector<std::size_t> buffers;  // parameters that are running statistics, rising

  bool needs_training_form() const { return drops || !buffers.empty(); }
  bool needs_inference_form() const { return drops || trains; }
};

// The function that a call of the module's calls by name; null for other callees.
const GlobalRef* called_function(const Expr& value);
// Whether it is nn.dropout.
bool is_dropout(const Expr& value);
// Whether it is a batch_norm that uses the statistics of its batch.
bool is_training_batch_norm(const Expr& value);
// Its operands that are running statistics.
inline constexpr std::size_t first_statistic = 3, statistics_count = 2;

// Parameters of a function by the variables that stand for them: themselves, and names given to them anew.
class ParameterAliases {
 public:
  explicit ParameterAliases(const Function& function);
  // To be asked for each binding in order.
  void note(const Binding& binding);
  std::optional<std::size_t> parameter_of(const Expr& operand) const;

 private:
  std::unordered_map<std::uint64_t, std::size_t> places_;
};

class FactsOfModel {
 public:
  FactsOfModel(const Module& module, const Function& root);

  // No facts for functions that the root does not reach.
  const ModelFacts* find(const std::string& function) const;
  const ModelFacts& of_root() const { return facts_.at(order_.front()); }
  // The functions reached, the root first.
  const std::vector<std::string>& order() const { return order_; }

 private:
  bool update(const Function& function);

  const Module& module_;
  std::vector<std::string> order_;
  std::unordered_map<std::string, ModelFacts> facts_;
};

}  // namespace relish
