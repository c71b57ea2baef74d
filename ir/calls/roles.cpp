// Reading, printing and checking of signatures of roles. The table below says of each kind of function which
// roles it has; the types of the roles stand in `type_fault`.
#include "ir/calls/roles.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "ir/calls/own_keys.h"
#include "ir/printer/printer.h"
#include "ir/printer/reserved_names.h"
#include "support/render.h"

namespace relish {
namespace {

struct RoleName {
  Role role;
  std::string_view name;
};
constexpr std::array<RoleName, 23> role_names{{{Role::Parameters, "parameters"},
                                               {Role::Buffers, "buffers"},
                                               {Role::Averages, "averages"},
                                               {Role::Gradients, "gradients"},
                                               {Role::States, "states"},
                                               {Role::LearningRate, "learning_rate"},
                                               {Role::Weight, "weight"},
                                               {Role::Key, "key"},
                                               {Role::Step, "step"},
                                               {Role::Steps, "steps"},
                                               {Role::Input, "input"},
                                               {Role::Target, "target"},
                                               {Role::Buffer, "buffer"},
                                               {Role::Loss, "loss"},
                                               {Role::Output, "output"},
                                               {Role::LearningRates, "learning_rates"},
                                               {Role::Order, "order"},
                                               {Role::LossScale, "loss_scale"},
                                               {Role::Losses, "losses"},
                                               {Role::Faults, "faults"},
                                               {Role::GradientNorm, "gradient_norm"},
                                               {Role::GradientNorms, "gradient_norms"},
                                               {Role::Metrics, "metrics"}}};

// Which roles a kind has: "?" may be missing, "*" may stand any number of times; in any order.
struct RoleKind {
  std::string_view name;
  std::string_view params;
  std::string_view results;
};
constexpr std::array<RoleKind, 14> known_kinds{{
    {"train_step", "parameters buffers? averages? states learning_rate key? input* target*",
     "loss metrics? gradient_norm? parameters buffers? averages? states"},
    {"train_epoch", "parameters buffers? averages? states learning_rate key? step? input* target* order",
     "loss parameters buffers? averages? states"},
    {"train_steps",
     "parameters buffers? averages? states learning_rates weight? key? step? input* target* order",
     "losses faults gradient_norms? metrics? parameters buffers? averages? states"},
    {"add_gradients", "parameters buffers? gradients weight loss_scale? key? input* target*",
     "loss metrics? gradients buffers?"},
    {"apply_gradients", "parameters averages? gradients states learning_rate weight",
     "gradient_norm? parameters averages? states"},
    {"optimizer", "parameters gradients states learning_rate", "parameters states"},
    {"optimizer_init", "parameters", "states"},
    {"learning_rate", "learning_rate step steps", "learning_rate"},
    {"initial_params", "key", "parameters"},
    {"training_form", "input* buffer* key?", "output* buffers?"},
    {"inference_form", "input*", "output*"},
    {"loss", "input* buffer* key? target* loss_scale?", "loss metrics? output* buffers?"},
    {"adjoint", "input*", "output gradients"},
    {"loss_adjoint", "input* buffer* key? target* loss_scale?", "output gradients"},
}};

// The words of a line of the table.
std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

std::optional<Role> role_named(std::string_view name) {
  for (const RoleName& each : role_names)
    if (each.name == name) return each.role;
  return std::nullopt;
}

const RoleKind* kind_named(std::string_view name) {
  const auto found = std::find_if(known_kinds.begin(), known_kinds.end(),
                                  [&](const RoleKind& kind) { return kind.name == name; });
  return found == known_kinds.end() ? nullptr : &*found;
}

// Reads a signature from left to right; `fault` says where it stopped.
class SignatureReader {
 public:
  explicit SignatureReader(std::string_view text) : text_(text) {}

  std::optional<RoleSignature> read() {
    RoleSignature signature;
    signature.kind = word();
    if (!kind_named(signature.kind)) {
      fault_ = fmt::format("found '{}'; expected one of {}", printable(signature.kind),
                           fmt::join(role_kinds(), ", "));
      return std::nullopt;
    }
    if (!expect("(") || !read_slots(signature.params) || !expect("->")) return std::nullopt;
    signature.tuple_result = take("(");
    if (signature.tuple_result ? !read_slots(signature.results) : !read_slot(signature.results))
      return std::nullopt;
    if (!rest().empty()) {
      fault_ = fmt::format("found '{}' behind the roles", printable(rest()));
      return std::nullopt;
    }
    return signature;
  }

  const std::string& fault() const { return fault_; }

 private:
  std::string_view rest() {
    while (!text_.empty() && text_.front() == ' ') text_.remove_prefix(1);
    return text_;
  }

  bool take(std::string_view token) {
    if (!rest().starts_with(token)) return false;
    text_.remove_prefix(token.size());
    return true;
  }

  bool expect(std::string_view token) {
    if (take(token)) return true;
    const std::string_view found = rest();
    fault_ = fmt::format("found {}; expected '{}'",
                         found.empty() ? "the end" : fmt::format("'{}'", printable(found)), token);
    return false;
  }

  // Up to a mark of punctuation.
  std::string word() {
    const std::string_view all = rest();
    const std::size_t end = std::min(all.find_first_of(" ()[]{},"), all.size());
    text_.remove_prefix(end);
    return std::string(all.substr(0, end));
  }

  // Roles up to the closing bracket.
  bool read_slots(std::vector<RoleSlot>& into) {
    if (take(")")) return true;
    do {
      if (!read_slot(into)) return false;
    } while (take(","));
    return expect(")");
  }

  bool read_slot(std::vector<RoleSlot>& into) {
    const std::string name = word();
    const std::optional<Role> role = role_named(name);
    if (!role) {
      fault_ = fmt::format("found '{}'; expected a role", printable(name));
      return false;
    }
    RoleSlot slot{*role, {}};
    slot.by_name = rest().starts_with('{');
    if (take("[") || take("{")) {
      do {
        slot.names.push_back(word());
      } while (take(","));
      if (!expect(slot.by_name ? "}" : "]")) return false;
    }
    into.push_back(std::move(slot));
    return true;
  }

  std::string_view text_;
  std::string fault_;
};

// Whether the roles are those of the line; what is missing, or too much.
std::optional<std::string> line_fault(std::string_view line, const std::vector<RoleSlot>& slots,
                                      std::string_view what) {
  std::vector<Role> known;
  for (std::string_view word : words_of(line)) {
    const char mark = word.back();
    const bool many = mark == '*', optional = many || mark == '?';
    if (optional) word.remove_suffix(1);
    const Role role = *role_named(word);
    known.push_back(role);
    const auto count =
        std::count_if(slots.begin(), slots.end(), [&](const RoleSlot& slot) { return slot.role == role; });
    if (count == 0 && !optional) return fmt::format("it has no {} '{}'", what, word);
    if (count > 1 && !many) return fmt::format("it has {} times the {} '{}'", count, what, word);
  }
  for (const RoleSlot& slot : slots) {
    if (std::find(known.begin(), known.end(), slot.role) == known.end())
      return fmt::format("found the {} '{}'; expected {}", what, name_of(slot.role), line);
  }
  return std::nullopt;
}

bool is_number_type(const Type& type, bool floating, int rank = 0) {
  const TensorType* tensor = type.tensor();
  return tensor && tensor->rank == rank && tensor->dtype &&
         (floating ? is_float(*tensor->dtype) : *tensor->dtype == DType::Int64);
}

// What a type lacks to have the role.
std::optional<std::string> type_fault(const RoleSlot& slot, const Type& type) {
  const auto expected = [&](std::string_view form) {
    return fmt::format("'{}' has type {}; expected {}", name_of(slot.role), print(type), form);
  };
  switch (slot.role) {
    case Role::Parameters:
    case Role::Buffers:
    case Role::Averages:
    case Role::Gradients: {
      const TupleType* fields = type.tuple();
      // Gradients are of whatever they are by.
      const bool tensors = slot.role != Role::Gradients;
      if (!fields || (tensors && std::any_of(fields->fields.begin(), fields->fields.end(),
                                             [](const Type& field) { return field.tensor() == nullptr; })))
        return expected(tensors ? "a tuple of tensors" : "a tuple");
      if (!slot.names.empty() && slot.names.size() != fields->fields.size())
        return fmt::format("'{}' has {} names and {} fields", name_of(slot.role), slot.names.size(),
                           fields->fields.size());
      return std::nullopt;
    }
    case Role::States:
      if (!type.tuple()) return expected("a tuple");
      break;
    case Role::Weight:
      // Of many steps over parts, of each step what its parts count, and then what they count together.
      if (!is_number_type(type, true) && !is_number_type(type, true, 2))
        return expected("a floating tensor of rank 0, or of rank 2 for many steps");
      break;
    case Role::LearningRate:
    case Role::LossScale:
    case Role::Loss:
    case Role::GradientNorm:
      if (!is_number_type(type, true)) return expected("a floating tensor of rank 0");
      break;
    case Role::Step:
    case Role::Steps:
      if (!is_number_type(type, false)) return expected("an int64 tensor of rank 0");
      break;
    case Role::LearningRates:
    case Role::Losses:
    case Role::Faults:
    case Role::GradientNorms:
      if (!is_number_type(type, true, 1)) return expected("a floating tensor of rank 1");
      break;
    case Role::Metrics:
      if (!is_number_type(type, true, 1) && !is_number_type(type, true, 2))
        return expected("a floating tensor of rank 1, or of rank 2 for many steps");
      break;
    case Role::Order:
      if (!is_number_type(type, false, 2) && !is_number_type(type, false, 3))
        return expected("an int64 tensor of rank 2, or of rank 3 for steps over parts");
      break;
    case Role::Key:
      if (!is_random_key(type)) return expected("R.Tensor((2,), \"uint32\")");
      break;
    case Role::Buffer:
      if (!type.tensor()) return expected("a tensor");
      break;
    case Role::Input:
    case Role::Target:
    case Role::Output:
      break;
  }
  if (!slot.names.empty())
    return fmt::format("'{}' has names; parameters and buffers have them", name_of(slot.role));
  return std::nullopt;
}

// What comes out must go in again at the next step, and averages and gradients are as the parameters are.
std::optional<std::string> carried_fault(const RoleSignature& signature, const Function& function,
                                         const std::vector<Type>& results) {
  const auto compare = [&](Role one, const Type& a, Role other, const Type& b) -> std::optional<std::string> {
    if (same_type(a, b)) return std::nullopt;
    return fmt::format("'{}' has type {} and '{}' {}; expected the same", name_of(one), print(a),
                       name_of(other), print(b));
  };
  const auto param_type = [&](Role role) -> const Type* {
    const auto at = signature.param(role);
    return at ? &function.params[*at].type() : nullptr;
  };
  const Type* parameters = param_type(Role::Parameters);
  for (const Role role : {Role::Averages, Role::Gradients})
    if (const Type* type = param_type(role); type && parameters)
      if (auto fault = compare(Role::Parameters, *parameters, role, *type)) return fault;
  const bool steps =
      signature.kind == "train_step" || signature.kind == "train_epoch" || signature.kind == "train_steps";
  for (const Role role : {Role::Parameters, Role::Buffers, Role::Averages, Role::Gradients, Role::States}) {
    const auto at = signature.result(role);
    const Type* before = param_type(role);
    if (steps && at.has_value() != (before != nullptr)) {
      return fmt::format("'{}' stands only among the {}; expected it in both", name_of(role),
                         at ? "results" : "parameters");
    }
    if (!at || !before) continue;
    const bool named = role == Role::Parameters || role == Role::Buffers;
    if (steps && named && signature.names(role).empty() && !before->tuple()->fields.empty())
      return fmt::format("'{}' has no names; expected one for each field, as {}[w, b]", name_of(role),
                         name_of(role));
    if (auto fault = compare(role, *before, role, results[*at])) return fault;
  }
  return std::nullopt;
}

std::string print(const RoleSlot& slot) {
  std::string text(name_of(slot.role));
  const std::string names = fmt::format("{}", fmt::join(slot.names, ", "));
  if (!slot.names.empty()) text += slot.by_name ? "{" + names + "}" : "[" + names + "]";
  return text;
}

std::string print(const std::vector<RoleSlot>& slots) {
  std::string text;
  for (const RoleSlot& slot : slots) text += (text.empty() ? "" : ", ") + print(slot);
  return text;
}

const std::string* role_text(const Function& function) {
  const Attribute* attribute = find_attribute(function.attributes, role_attribute);
  return attribute ? attribute->as<std::string>() : nullptr;
}

std::optional<std::size_t> place_of(const std::vector<RoleSlot>& slots, Role role) {
  for (std::size_t i = 0; i < slots.size(); ++i)
    if (slots[i].role == role) return i;
  return std::nullopt;
}

}  // namespace

std::optional<std::size_t> RoleSignature::param(Role role) const { return place_of(params, role); }
std::optional<std::size_t> RoleSignature::result(Role role) const { return place_of(results, role); }

std::vector<std::string> RoleSignature::names(Role role) const {
  if (const auto at = param(role)) return params[*at].names;
  const auto at = result(role);
  return at ? results[*at].names : std::vector<std::string>{};
}

std::string_view name_of(Role role) {
  return std::find_if(role_names.begin(), role_names.end(),
                      [&](const RoleName& each) { return each.role == role; })
      ->name;
}

std::vector<std::string_view> role_kinds() {
  std::vector<std::string_view> names;
  for (const RoleKind& kind : known_kinds) names.push_back(kind.name);
  return names;
}

std::string print(const RoleSignature& signature) {
  const std::string results = print(signature.results);
  return fmt::format("{}({}) -> {}", signature.kind, print(signature.params),
                     signature.tuple_result ? "(" + results + ")" : results);
}

std::optional<RoleSignature> roles_of(const Function& function) {
  const std::string* text = role_text(function);
  return text ? SignatureReader(*text).read() : std::nullopt;
}

std::optional<std::string> role_fault(const Function& function) {
  const std::string* text = role_text(function);
  if (!text) return std::nullopt;
  SignatureReader reader(*text);
  const std::optional<RoleSignature> signature = reader.read();
  if (!signature) return reader.fault();
  const RoleKind& kind = *kind_named(signature->kind);
  if (auto fault = line_fault(kind.params, signature->params, "parameter")) return fault;
  if (auto fault = line_fault(kind.results, signature->results, "result")) return fault;
  if (signature->params.size() != function.params.size()) {
    return fmt::format("it has roles for {} parameters; the function has {}", signature->params.size(),
                       function.params.size());
  }
  std::vector<Type> results = {function.result_type};
  if (signature->tuple_result) {
    const TupleType* fields = function.result_type.tuple();
    if (!fields || fields->fields.size() != signature->results.size()) {
      return fmt::format("it has roles for a tuple of {} results; the function returns {}",
                         signature->results.size(), print(function.result_type));
    }
    results = fields->fields;
  }
  for (std::size_t i = 0; i < signature->params.size(); ++i)
    if (auto fault = type_fault(signature->params[i], function.params[i].type())) return fault;
  for (std::size_t i = 0; i < results.size(); ++i)
    if (auto fault = type_fault(signature->results[i], results[i])) return fault;
  return carried_fault(*signature, function, results);
}

bool has_role(const Function& function, std::string_view kind) {
  const std::optional<RoleSignature> signature = roles_of(function);
  return signature && signature->kind == kind;
}

}  // namespace relish
