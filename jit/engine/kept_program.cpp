// Keeping programs, and linking those that were kept.
#include "jit/engine/kept_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <nlohmann/json.hpp>
#include <span>
#include <unordered_map>

#include "ir/printer/constant_section.h"
#include "ir/printer/printer.h"
#include "jit/object_store.h"
#include "support/big_stack.h"
#include "support/failure.h"
#include "support/sha256.h"

namespace relish::jit {
namespace {

using Json = nlohmann::json;

// More bytes of constants than that are not hashed: it would take milliseconds of every start.
constexpr std::size_t most_constant_bytes = std::size_t{4} << 20;

// The constants of the source by the addresses of their elements.
class ConstantNumbers {
 public:
  explicit ConstantNumbers(const std::vector<Tensor>& constants) : constants_(constants) {
    for (std::size_t i = 0; i < constants.size(); ++i) by_address_[constants[i].data()].push_back(i);
  }

  std::optional<std::size_t> of(const void* data) const {
    const auto found = by_address_.find(data);
    return found == by_address_.end() ? std::nullopt : std::optional(found->second.front());
  }
  std::optional<std::size_t> of(const Tensor& tensor) const {
    const auto found = by_address_.find(tensor.data());
    if (found == by_address_.end()) return std::nullopt;
    for (const std::size_t number : found->second) {
      const Tensor& constant = constants_[number];
      if (constant.dtype() == tensor.dtype() && constant.shape() == tensor.shape()) return number;
    }
    return std::nullopt;
  }

 private:
  const std::vector<Tensor>& constants_;
  std::unordered_map<const void*, std::vector<std::size_t>> by_address_;
};

// Of the leaves of arguments and results, what calls look at. Throws std::out_of_range for a constant that
// the source does not have.
class LayoutWriter {
 public:
  LayoutWriter(const FunctionLayout& layout, const ConstantNumbers& constants)
      : layout_(layout), constants_(constants) {}

  Json whole() const {
    Json params = Json::array();
    for (const ValueTree& param : layout_.params) params.push_back(tree(param));
    return {{"params", params}, {"result", tree(layout_.result)}, {"donated", layout_.donated}};
  }

 private:
  Json tree(const ValueTree& tree) const {
    Json made{{"kind", tree.kind}};
    if (tree.kind == ValueTree::Tuple) {
      made["fields"] = Json::array();
      for (const ValueTree& field : tree.fields) made["fields"].push_back(this->tree(field));
      return made;
    }
    made["dtype"] = tree.dtype;
    made["rank"] = tree.rank;
    made["text"] = tree.text;
    if (tree.kind != ValueTree::TextLeaf) made["place"] = place(layout_.places.at(tree.place));
    return made;
  }

  Json place(const Place& place) const {
    Json made{{"origin", place.origin}, {"leaf", place.leaf}, {"donated", place.donated}};
    if (place.origin != Place::Constant) return made;
    const std::optional<std::size_t> constant = constants_.of(place.constant);
    if (!constant) throw std::out_of_range("constant");
    made["constant"] = *constant;
    return made;
  }

  const FunctionLayout& layout_;
  const ConstantNumbers& constants_;
};

class LayoutReader {
 public:
  explicit LayoutReader(const std::vector<Tensor>& constants) : constants_(constants) {}

  FunctionLayout whole(const Json& kept) {
    for (const Json& param : kept.at("params")) layout_.params.push_back(tree(param));
    layout_.result = tree(kept.at("result"));
    layout_.donated = kept.at("donated").get<step::Donated>();
    return std::move(layout_);
  }

 private:
  ValueTree tree(const Json& kept) {
    ValueTree made;
    made.kind = kept.at("kind").get<ValueTree::Kind>();
    if (made.kind == ValueTree::Tuple) {
      for (const Json& field : kept.at("fields")) made.fields.push_back(tree(field));
      return made;
    }
    made.dtype = kept.at("dtype").get<DType>();
    made.rank = kept.at("rank").get<int>();
    made.text = kept.at("text").get<std::string>();
    if (made.kind == ValueTree::TextLeaf) return made;
    made.place = layout_.places.size();
    const Json& from = kept.at("place");
    Place place;
    place.origin = from.at("origin").get<Place::Origin>();
    place.kind = made.kind;
    place.dtype = made.dtype;
    place.rank = made.rank;
    place.leaf = from.at("leaf").get<std::size_t>();
    place.donated = from.at("donated").get<bool>();
    if (place.origin == Place::Constant)
      place.constant = constants_.at(from.at("constant").get<std::size_t>());
    layout_.places.push_back(std::move(place));
    return made;
  }

  const std::vector<Tensor>& constants_;
  FunctionLayout layout_;
};

// What emitting the program once more tells of it. It keeps no function alive: who asks is a call, and calls
// hold their module.
class EmittedAgain {
 public:
  EmittedAgain(Engine& engine, const ProgramSource& source)
      : engine_(engine),
        unknown_(source.unknown),
        given_(source.given),
        name_(source.module.name),
        checked_(source.module.check_well_formed) {
    for (const GlobalFunction& function : source.functions)
      functions_.push_back(
          std::visit([](const auto& held) -> Weak { return std::weak_ptr(held); }, function));
  }

  const EmittedProgram& program() {
    const std::lock_guard lock(mutex_);
    if (program_) return *program_;
    std::vector<GlobalFunction> functions;
    for (const Weak& function : functions_) {
      functions.push_back(std::visit(
          [](const auto& held) -> GlobalFunction {
            auto alive = held.lock();
            RELISH_CHECK(alive != nullptr, "compiled code runs without its module");
            return alive;
          },
          function));
    }
    Module module;
    module.name = name_;
    module.check_well_formed = checked_;
    module.functions = functions;
    UncompiledUnits units(engine_);
    with_big_stack([&] {
      program_ = emit_program(units, engine_.target(), {module, functions, unknown_, given_}, false);
    });
    return *program_;
  }

 private:
  using Weak = std::variant<std::weak_ptr<const Function>, std::weak_ptr<const PrimFunc>,
                            std::weak_ptr<const ExternFunction>>;
  Engine& engine_;
  const UnknownShapes unknown_;
  const GivenParams given_;
  const std::string name_;
  const bool checked_;
  std::vector<Weak> functions_;
  std::mutex mutex_;  // guards what follows
  std::optional<EmittedProgram> program_;
};

// Sites of the program, of its graph functions and of the units of kernels.
void find_later(Compiled& compiled, const Json& kept, const std::shared_ptr<EmittedAgain>& again) {
  auto first = std::make_shared<UnitSites>("");
  first->are_of(kept.at("sites").get<std::size_t>(), [again] { return again->program().sites.first(); });
  compiled.sites.add_first(std::move(first));
  std::size_t number = 0;
  for (const Json& part : kept.at("parts")) {
    if (!part.contains("symbol")) continue;
    auto sites = std::make_shared<UnitSites>(part.at("symbol").get<std::string>());
    sites->are_of(part.at("sites").get<std::size_t>(),
                  [again, number] { return again->program().sites.units().at(number).sites->all(); });
    compiled.sites.add(std::move(sites));
    ++number;
  }
  compiled.host_calls.are_found_by([again] { return again->program().host_calls; });
}

}  // namespace

std::optional<std::string> program_text(const ProgramSource& source, const Target& target) {
  const std::vector<Tensor> constants = constants_of(source.functions);
  std::size_t bytes = 0;
  for (const Tensor& constant : constants) bytes += static_cast<std::size_t>(constant.byte_size());
  if (bytes > most_constant_bytes) return std::nullopt;
  ConstantSection section;
  std::string text = fmt::format("{} {} {} {} {} {} {} {} {} {} {} [{}]\n", name_of(source.entry()),
                                 static_cast<int>(source.unknown), source.module.check_well_formed,
                                 target.vector_bytes, target.vector_registers, target.first_cache_bytes,
                                 target.private_cache_bytes, target.line_bytes, target.least_products,
                                 target.least_moved, source.functions.size(), fmt::join(source.given, " "));
  text += print_part(source.part(), section, {.comments = false});
  // Of most constants the text has no more than a name.
  Sha256 hash;
  for (const Tensor& constant : constants) {
    hash.add(fmt::format("{} ({}) {}\n", name_of(constant.dtype()), fmt::join(constant.shape(), ", "),
                         constant.byte_size()));
    hash.add(constant.data(), static_cast<std::size_t>(constant.byte_size()));
  }
  return text + hash.digits();
}

std::optional<std::string> kept_form(const EmittedProgram& emitted, const ProgramSource& source,
                                     const std::vector<std::optional<std::string>>& keys) {
  const std::vector<Tensor> held = constants_of(source.functions);
  const ConstantNumbers constants(held);
  if (emitted.sites.keeps_data()) return std::nullopt;
  for (const HostCall& host : emitted.host_calls)
    if (host.callable) return std::nullopt;
  Json addresses = Json::array();
  for (const void* address : emitted.sites.addresses()) {
    const std::optional<std::size_t> index = constants.of(address);
    if (!index) return std::nullopt;
    addresses.push_back(*index);
  }
  // The units of kernels are handed out in the order of their sites, what is between them last.
  const std::vector<SiteTable::NumberedUnit>& units = emitted.sites.units();
  RELISH_CHECK(keys.size() == units.size() + 1);
  Json parts = Json::array();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!keys[i]) return std::nullopt;
    Json part{{"key", *keys[i]}};
    if (i < units.size()) {
      part["symbol"] = units[i].sites->symbol();
      part["sites"] = units[i].sites->count();
    }
    parts.push_back(std::move(part));
  }
  Json kept{{"entry", emitted.symbol},
            {"recursive", emitted.recursive},
            {"parts", parts},
            {"addresses", addresses},
            {"sites", emitted.sites.count_of_first()}};
  try {
    if (emitted.layout) kept["layout"] = LayoutWriter(*emitted.layout, constants).whole();
  } catch (const std::out_of_range&) {
    return std::nullopt;
  }
  return kept.dump();
}

std::shared_ptr<Compiled> program_of_kept(Engine& engine, const std::string& text,
                                          const ProgramSource& source) {
  const Json kept = Json::parse(text);
  Build build(engine);
  for (const Json& part : kept.at("parts"))
    build.add_kept(part.at("key").get<std::string>(), part.contains("symbol"));
  if (!build.all_found(source.span())) return nullptr;
  auto compiled = std::make_shared<Compiled>();
  compiled->constants = constants_of(source.functions);
  compiled->recursive = kept.at("recursive").get<bool>();
  for (const Json& index : kept.at("addresses"))
    compiled->sites.add_address(compiled->constants.at(index.get<std::size_t>()).data());
  if (kept.contains("layout")) compiled->layout = LayoutReader(compiled->constants).whole(kept.at("layout"));
  find_later(*compiled, kept, std::make_shared<EmittedAgain>(engine, source));
  const std::string symbol = kept.at("entry").get<std::string>();
  compiled->code = build.finish({symbol}, compiled->sites, source.span());
  compiled->entry = reinterpret_cast<EntryFn>(compiled->code->address(symbol));
  return compiled;
}

}  // namespace relish::jit
