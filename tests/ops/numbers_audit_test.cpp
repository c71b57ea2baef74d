// What the outside numbers of every operator must reach: a dimension of 0 and of 1, a negative axis,
// broadcasts of every operand, optional arguments present and absent, and of every attribute the values that
// its samples take and that its type tells of; all that in float64 and again in float32, where the operator
// has those.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <optional>
#include <set>

#include "ir/printer/printer.h"
#include "tests/ops/operator_case.h"

namespace relish::testing {
namespace {

// What an operator's numbers need not reach, and why.
struct Unaudited {
  std::string_view op;
  std::string_view what;  // as the audit names it
  std::string_view reason;
};
constexpr Unaudited unaudited[] = {
    {"item", "a dimension 0", "the argument has no dimension"},
    {"item", "a dimension 1", "the argument has no dimension"},
    {"random.fold_in", "a dimension 0", "a key has two words"},
    {"random.fold_in", "a dimension 1", "a key has two words"},
    {"random.split", "a dimension 0", "the argument is a key, of two words"},
    {"random.split", "a dimension 1", "the argument is a key, of two words"},
    {"broadcast_to_like", "broadcast of broadcast_type", "the target keeps its shape"},
    {"bincount", "no weights", "without weights there are integers alone"},
    {"ewise_fma", "broadcast of x1", "takes equal shapes only"},
    {"ewise_fma", "broadcast of x2", "takes equal shapes only"},
    {"ewise_fma", "broadcast of x3", "takes equal shapes only"},
};

// The sizes of a tensor or of a shape among the arguments or results.
void collect_sizes(const nlohmann::json& value, std::set<std::int64_t>& into) {
  if (value.is_array() || value.contains("tuple")) {
    for (const nlohmann::json& field : value.is_array() ? value : value["tuple"]) collect_sizes(field, into);
    return;
  }
  for (const char* key : {"shape", "shape_value"})
    if (value.contains(key))
      for (const nlohmann::json& size : value[key]) into.insert(size.get<std::int64_t>());
}

bool has_negative(const nlohmann::json& value) {
  if (value.is_array()) return std::any_of(value.begin(), value.end(), has_negative);
  return value.is_number() && value.get<double>() < 0;
}

// Attributes whose values are open ended, though they are written as strings.
bool is_open_text(std::string_view name) {
  constexpr std::array open = {"dtype", "out_dtype", "subscripts", "index_map"};
  return std::find(open.begin(), open.end(), name) != open.end();
}

bool is_closed(std::string_view name, const Attribute& value) {
  if (is_open_text(name)) return false;
  return std::holds_alternative<std::monostate>(value.kind) || std::holds_alternative<bool>(value.kind) ||
         std::holds_alternative<std::string>(value.kind);
}

// Every attribute's values by their text, and which of them are of a closed set.
struct Values {
  std::map<std::string, std::set<std::string>> all, closed;

  void add(const OperatorCase& operator_case) {
    for (const auto& [name, value] : attributes_of(operator_case)) {
      all[name].insert(print(value));
      if (is_closed(name, value)) closed[name].insert(print(value));
    }
  }
};

// The shape that the shapes have together, or nothing when they do not broadcast.
std::optional<Shape> broadcast_of(const std::vector<Shape>& shapes) {
  Shape result;
  for (const Shape& shape : shapes) {
    if (shape.size() > result.size()) result.insert(result.begin(), shape.size() - result.size(), 1);
    for (std::size_t i = 0; i < shape.size(); ++i) {
      std::int64_t& size = result[result.size() - shape.size() + i];
      if (shape[i] == 1 || shape[i] == size) continue;
      if (size != 1) return std::nullopt;
      size = shape[i];
    }
  }
  return result;
}

// Whether a tensor of that dtype is given, or made where no tensor of a floating dtype is given.
bool has_dtype(const nlohmann::json& value, std::string_view dtype) {
  if (value.is_array()) {
    return std::any_of(value.begin(), value.end(),
                       [&](const nlohmann::json& field) { return has_dtype(field, dtype); });
  }
  if (!value.is_object()) return false;
  if (value.contains("tuple")) return has_dtype(value["tuple"], dtype);
  return value.value("dtype", "") == dtype;
}

nlohmann::json cases_in(const nlohmann::json& cases, std::string_view dtype) {
  nlohmann::json result = nlohmann::json::array();
  for (const nlohmann::json& json : cases) {
    const nlohmann::json& args = json.at("args");
    const bool floating =
        has_dtype(args, "float64") || has_dtype(args, "float32") || has_dtype(args, "float16");
    if (has_dtype(floating ? args : json.at("expect"), dtype)) result.push_back(json);
  }
  return result;
}

class Audit {
 public:
  // `all`: those of other dtypes too, for the attributes that are dtypes.
  Audit(const Op& op, const nlohmann::json& cases, const nlohmann::json& all)
      : op_(op), cases_(cases), all_(all) {}

  std::vector<std::string> missing() {
    sizes();
    axes();
    broadcasts();
    attributes();
    optional_arguments();
    std::erase_if(missing_, [&](const std::string& what) {
      return std::any_of(std::begin(unaudited), std::end(unaudited), [&](const Unaudited& each) {
        const bool covers = each.op == op_.name && each.what == what;
        if (covers) used_.insert(&each);
        return covers;
      });
    });
    return missing_;
  }
  const std::set<const Unaudited*>& used() const { return used_; }

 private:
  void sizes() {
    std::set<std::int64_t> sizes;
    for (const nlohmann::json& json : cases_)
      for (const char* part : {"args", "expect"}) collect_sizes(json.at(part), sizes);
    std::set<std::int64_t> of_arguments;
    for (const nlohmann::json& json : cases_) collect_sizes(json.at("args"), of_arguments);
    // What is made of scalars has the sizes of its results.
    const std::set<std::int64_t>& seen = of_arguments.empty() ? sizes : of_arguments;
    for (std::int64_t size : {0, 1})
      if (!seen.contains(size)) missing_.push_back(fmt::format("a dimension {}", size));
  }

  void axes() {
    for (const Param& param : op_.params) {
      const bool axis = param.name == "axis" || param.name == "axes" || param.name.ends_with("_axis");
      if (param.kind != ParamKind::Attribute || !axis) continue;
      const bool negative = std::any_of(cases_.begin(), cases_.end(), [&](const nlohmann::json& json) {
        const auto found = json.at("attributes").find(param.name);
        return found != json.at("attributes").end() && has_negative(*found);
      });
      if (!negative) missing_.push_back(fmt::format("a negative {}", param.name));
    }
  }

  // Of operators whose result always has the shape that their operands have together.
  void broadcasts() {
    const std::size_t count = op_.params.size();
    const bool only_tensors = std::all_of(op_.params.begin(), op_.params.end(),
                                          [](const Param& param) { return param.kind == ParamKind::Tensor; });
    if (count < 2 || !only_tensors) return;
    std::vector<bool> stretched(count);
    for (const nlohmann::json& json : cases_) {
      std::vector<Shape> shapes;
      for (const nlohmann::json& argument : json.at("args"))
        shapes.push_back(argument.value("shape", Shape()));
      const std::optional<Shape> together = broadcast_of(shapes);
      if (!json.at("expect").is_object() || !together ||
          *together != json.at("expect").at("shape").get<Shape>())
        return;
      for (std::size_t i = 0; i < count && i < shapes.size(); ++i)
        if (shapes[i] != *together) stretched[i] = true;
    }
    for (std::size_t i = 0; i < count; ++i)
      if (!stretched[i]) missing_.push_back(fmt::format("broadcast of {}", op_.params[i].name));
  }

  void attributes() {
    Values sampled, numbered, everywhere;
    int number = 0;
    for (const Sample& sample : op_.samples)
      sampled.add(case_of_sample(op_, sample.args, fmt::format("{} #{}", op_.name, ++number)));
    for (const nlohmann::json& json : all_) everywhere.add(case_of_json(op_, json));
    for (const nlohmann::json& json : cases_) numbered.add(case_of_json(op_, json));
    for (const char* name : {"dtype", "out_dtype"}) numbered.all[name] = everywhere.all[name];
    for (const auto& [name, values] : sampled.all) {
      if (values.size() < 2) continue;
      for (const std::string& value : sampled.closed[name])
        if (!numbered.closed[name].contains(value)) missing_.push_back(fmt::format("{}={}", name, value));
      if (numbered.all[name].size() < 2) missing_.push_back(fmt::format("a second value of {}", name));
    }
    for (const Param& param : op_.params)
      if (param.kind == ParamKind::Attribute) choices(param, numbered.all[std::string(param.name)]);
  }

  // What the declared type alone demands, whatever the samples are.
  void choices(const Param& param, const std::set<std::string>& values) {
    std::vector<std::string> wanted;
    if (param.type == "bool") wanted = {"True", "False"};
    if (param.type.ends_with(" or None")) {
      wanted = {"None"};
      const std::size_t others = values.size() - values.count("None");
      if (others == 0) missing_.push_back(fmt::format("{} that is not None", param.name));
    }
    // Of axes the two forms mean the same.
    const bool axes = param.name == "axis" || param.name == "axes";
    if (!axes && param.type.find(" or list[") != std::string_view::npos) {
      const auto is_list = [](const std::string& value) { return value.starts_with("["); };
      const auto lists = std::count_if(values.begin(), values.end(), is_list);
      const auto numbers = static_cast<std::ptrdiff_t>(values.size() - values.count("None")) - lists;
      if (lists == 0) missing_.push_back(fmt::format("a list as {}", param.name));
      if (numbers == 0 && !param.type.starts_with("list"))
        missing_.push_back(fmt::format("one number as {}", param.name));
    }
    for (const std::string& value : wanted) {
      const std::string what = fmt::format("{}={}", param.name, value);
      const bool known = std::find(missing_.begin(), missing_.end(), what) != missing_.end();
      if (!values.contains(value) && !known) missing_.push_back(what);
    }
  }

  // Arguments that may be absent are so in one case and present in another.
  void optional_arguments() {
    for (std::size_t i = 0; i < op_.params.size(); ++i) {
      if (op_.params[i].kind != ParamKind::OptionalTensor) continue;
      const auto present = static_cast<std::size_t>(
          std::count_if(cases_.begin(), cases_.end(),
                        [&](const nlohmann::json& json) { return json.at("args").size() > i; }));
      if (present == 0) missing_.push_back(fmt::format("{}", op_.params[i].name));
      if (present == cases_.size()) missing_.push_back(fmt::format("no {}", op_.params[i].name));
    }
  }

  const Op& op_;
  const nlohmann::json& cases_;
  const nlohmann::json& all_;
  std::vector<std::string> missing_;
  std::set<const Unaudited*> used_;
};

}  // namespace

TEST_CASE("outside numbers reach the edges of every operator", "[ops][numbers_audit]") {
  std::set<const Unaudited*> used;
  const std::vector<const Op*> operators = operators_under_test();
  for (const Op* op : operators) {
    std::ifstream file(fmt::format("{}/tests/numbers/operators/{}.json", RELISH_SOURCE_DIR, op->name));
    if (!file) continue;  // the test of completeness names it
    const nlohmann::json numbers = nlohmann::json::parse(file);
    const nlohmann::json& cases = numbers.at("cases");
    nlohmann::json wide = cases_in(cases, "float64"), single = cases_in(cases, "float32");
    const auto audit_cases = [&](const nlohmann::json& some, std::string_view where) {
      Audit audit(*op, some, cases);
      for (const std::string& what : audit.missing()) FAIL_CHECK(op->name << ": " << what << where);
      used.insert(audit.used().begin(), audit.used().end());
    };
    if (wide.empty() && single.empty()) {
      audit_cases(cases, "");
    } else {
      audit_cases(wide, " in float64");
      audit_cases(single, " in float32");
    }
  }
  for (const Unaudited& each : unaudited) {
    const bool here =
        std::any_of(operators.begin(), operators.end(), [&](const Op* op) { return op->name == each.op; });
    INFO(each.op << ": " << each.what << " is reached or unknown");
    CHECK((!here || used.contains(&each)));
  }
}

}  // namespace relish::testing
