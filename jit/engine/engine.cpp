// Linking with ORC. Symbols come from the runtime table alone: no generator looks into this process, so
// compiled code cannot name anything else.
#include "jit/engine/engine.h"

#include <llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h>
#include <llvm/ExecutionEngine/Orc/Core.h>
#include <llvm/ExecutionEngine/Orc/ExecutorProcessControl.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <llvm/IR/DiagnosticHandler.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

#include "jit/engine/lack_of_memory.h"
#include "jit/engine/object_key.h"
#include "jit/jit.h"
#include "jit/object_store.h"
#include "jit/runtime/runtime.h"
#include "support/failure.h"
#include "support/work_queue.h"

namespace relish::jit {
namespace {

// A failure inside LLVM on code that we made is a defect of ours, but where it got no memory.
void check(llvm::Error error, const char* what) {
  if (!error) return;
  const std::string text = llvm::toString(std::move(error));
  if (memory_lacked())
    fail(ErrorClass::ResourceLimit, {}, "limit.memory",
         "the system gives no memory for compiled code; raise the limit of the process");
  RELISH_CHECK(false, std::string(what) + ": " + text);
}
template <class T>
T checked(llvm::Expected<T> value, const char* what) {
  if (!value) check(value.takeError(), what);
  return std::move(*value);
}

class LinkedCode final : public Code {
 public:
  explicit LinkedCode(llvm::orc::ExecutionSession& session, llvm::orc::JITDylib& library)
      : session_(session), library_(library) {}

  ~LinkedCode() override {
    llvm::consumeError(session_.removeJITDylib(library_));
    session_.getSymbolStringPool()->clearDeadEntries();
  }
  LinkedCode(const LinkedCode&) = delete;
  LinkedCode& operator=(const LinkedCode&) = delete;

  void find(const std::string& symbol) {
    auto found = checked(session_.lookup({&library_}, session_.intern(symbol)), "lookup");
    addresses_.emplace_back(symbol, found.getAddress().toPtr<void*>());
  }

  void* address(std::string_view symbol) const override {
    for (const auto& [name, address] : addresses_)
      if (name == symbol) return address;
    RELISH_CHECK(false, "no symbol '" + std::string(symbol) + "' in compiled code");
  }

 private:
  llvm::orc::ExecutionSession& session_;
  llvm::orc::JITDylib& library_;  // of this code alone
  std::vector<std::pair<std::string, void*>> addresses_;
};

// More threads than that wait for each other.
constexpr unsigned most_threads = 8;

int compile_threads() {
  return static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1U, most_threads));
}

std::atomic<std::uint64_t> units_made{0}, units_found{0}, programs_found{0};

// What the optimizer says of loops that it leaves as they are is nobody's to read: by itself it goes to the
// standard error of the program.
class Unheard final : public llvm::DiagnosticHandler {
 public:
  bool handleDiagnostics(const llvm::DiagnosticInfo& told) override {
    return told.getSeverity() != llvm::DS_Error;
  }
};

// What makes objects, as jobs hold it.
struct Maker {
  std::shared_ptr<const Machine> machine;
  std::shared_ptr<ObjectStore> store;  // or null

  static std::vector<Site> emit(const Machine& machine, const UnitSource& source, CodeUnit& unit) {
    return source.emit(*unit.module, machine.traits());
  }

  CodeUnit new_unit() const { return CodeUnit(*machine, "kernels", Effort::Optimize); }

  // The sites of code of the source, of which nothing is compiled.
  UnitSites::Emit sites_of(std::shared_ptr<const UnitSource> source) const {
    return [maker = *this, source = std::move(source)] {
      CodeUnit again = maker.new_unit();
      return emit(*maker.machine, *source, again);
    };
  }

  std::optional<std::string> find(const std::optional<std::string>& key) const {
    std::optional<std::string> kept = key ? store->find(*key) : std::nullopt;
    ++(kept ? units_found : units_made);
    return kept;
  }

  // The object of the unit: from the store, or made now and kept there. `key`: by which the store has it.
  Object object_of(const CodeUnit& unit, std::optional<std::string>& key) const {
    if (store) key = object_key(*machine, *unit.module, unit.effort);
    if (const std::optional<std::string> kept = find(key)) return Object(kept->begin(), kept->end());
    Object made = machine->object_of(*unit.module, unit.effort);
    if (key) store->keep(*key, {made.data(), made.size()});
    return made;
  }

  // The same from the text of the source alone. Behind the object stands in the store how many sites it has.
  Object object_of(const std::shared_ptr<const UnitSource>& source, UnitSites& sites,
                   std::optional<std::string>& key) const {
    if (store) key = object_key(*machine, source->text(), Effort::Optimize);
    if (const std::optional<std::string> kept = find(key)) {
      sites.are_of(count_behind(*kept), sites_of(source));
      return object_before_count(*kept);
    }
    CodeUnit unit = new_unit();
    sites.are(emit(*machine, *source, unit));
    Object made = machine->object_of(*unit.module, Effort::Optimize);
    if (!key) return made;
    const std::uint64_t count = sites.count();
    std::string kept(made.data(), made.size());
    kept.append(reinterpret_cast<const char*>(&count), sizeof count);
    store->keep(*key, kept);
    return made;
  }

  static std::uint64_t count_behind(const std::string& kept) {
    std::uint64_t count = 0;
    std::memcpy(&count, kept.data() + kept.size() - sizeof count, sizeof count);
    return count;
  }
  static Object object_before_count(const std::string& kept) {
    return {kept.begin(), kept.end() - sizeof(std::uint64_t)};
  }
};

}  // namespace

CodeUnit::CodeUnit(const Machine& machine, std::string_view name, Effort effort)
    : effort(effort), context(std::make_unique<llvm::LLVMContext>()) {
  context->setDiagnosticHandler(std::make_unique<Unheard>());
  context->setDiscardValueNames(true);  // those of registers: nothing asks for them, and they make keys long
  module = std::make_unique<llvm::Module>(llvm::StringRef(name.data(), name.size()), *context);
  module->setTargetTriple(machine.module_triple());
  module->setDataLayout(machine.data_layout());
}

CodeUnit::~CodeUnit() = default;

struct Engine::Impl {
  std::shared_ptr<const Machine> machine = std::make_shared<const Machine>();
  std::unique_ptr<llvm::orc::ExecutionSession> session;
  std::unique_ptr<llvm::orc::ObjectLinkingLayer> linker;
  llvm::orc::JITDylib* runtime = nullptr;  // what all code may call
  std::uint64_t builds = 0;
  Target target;
  std::shared_ptr<ObjectStore> store;

  Impl() {
    require_addresses();
    session = std::make_unique<llvm::orc::ExecutionSession>(
        checked(llvm::orc::SelfExecutorProcessControl::Create(), "process control"));
    meet_lack_of_memory(*session);
    // The default memory manager maps pages writable, links, and then makes code executable and not writable.
    linker = std::make_unique<llvm::orc::ObjectLinkingLayer>(*session);
    runtime = &session->createBareJITDylib("runtime");
    llvm::orc::SymbolMap symbols;
    for (const RuntimeSymbol& symbol : runtime_symbols()) {
      symbols[session->intern(llvm::StringRef(symbol.name.data(), symbol.name.size()))] = {
          llvm::orc::ExecutorAddr::fromPtr(symbol.address),
          llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
    }
    check(runtime->define(llvm::orc::absoluteSymbols(std::move(symbols))), "runtime symbols");
  }

  ~Impl() {
    if (session) llvm::consumeError(session->endSession());
  }
};

Engine::Engine(const std::optional<Target>& target, std::shared_ptr<ObjectStore> store)
    : impl_(std::make_unique<Impl>()) {
  impl_->target = target.value_or(impl_->machine->scheduled_for());
  impl_->store = std::move(store);
}
Engine::~Engine() = default;

const Target& Engine::target() const { return impl_->target; }

const Machine& Engine::machine() const { return *impl_->machine; }
const std::shared_ptr<ObjectStore>& Engine::store() const { return impl_->store; }

struct Build::Part {
  Object object;
  std::optional<std::string> key;
};

Build::Build(Engine& engine) : engine_(engine), queue_(std::make_unique<WorkQueue>(compile_threads())) {}
Build::~Build() = default;

std::unique_ptr<CodeUnit> Build::new_unit(std::string_view name, Effort effort) const {
  return std::make_unique<CodeUnit>(*engine_.impl_->machine, name, effort);
}

// A job is copied with what it holds. `made`(Maker, Part&) fills the part.
template <class F>
void Build::make(F made) {
  parts_.push_back(std::make_shared<Part>());
  queue_->add([made = std::move(made), part = parts_.back(),
               maker = Maker{engine_.impl_->machine, engine_.impl_->store}] { made(maker, *part); });
}

void Build::add(std::unique_ptr<CodeUnit> unit) {
  make([unit = std::shared_ptr<CodeUnit>(std::move(unit))](const Maker& maker, Part& part) {
    part.object = maker.object_of(*unit, part.key);
  });
}

void Build::add(std::shared_ptr<const UnitSource> source, std::shared_ptr<UnitSites> sites) {
  make([source = std::move(source), sites = std::move(sites)](const Maker& maker, Part& part) {
    part.object = maker.object_of(source, *sites, part.key);
  });
}

void Build::add_kept(const std::string& key, bool has_sites) {
  make([key, has_sites](const Maker& maker, Part& part) {
    const std::optional<std::string> kept = maker.store->find(key);
    if (!kept) return;
    part.key = key;
    part.object = has_sites ? Maker::object_before_count(*kept) : Object(kept->begin(), kept->end());
  });
}

bool Build::all_found(Span span) {
  queue_->wait(span);
  if (!std::all_of(parts_.begin(), parts_.end(), [](const auto& part) { return part->key.has_value(); }))
    return false;
  units_found += parts_.size();
  ++programs_found;
  return true;
}

std::vector<std::optional<std::string>> Build::keys() const {
  std::vector<std::optional<std::string>> keys;
  for (const auto& part : parts_) keys.push_back(part->key);
  return keys;
}

std::unique_ptr<Code> Build::finish(const std::vector<std::string>& exported, SiteTable& sites, Span span) {
  queue_->wait(span);
  Engine::Impl& engine = *engine_.impl_;
  const std::string name = "code" + std::to_string(++engine.builds);
  llvm::orc::JITDylib& library = engine.session->createBareJITDylib(name);
  auto code = std::make_unique<LinkedCode>(*engine.session, library);
  library.addToLinkOrder(*engine.runtime);
  llvm::orc::SymbolMap symbols;
  const auto define = [&](const std::string& symbol, llvm::orc::ExecutorAddr address) {
    symbols[engine.session->intern(symbol)] = {address, llvm::JITSymbolFlags::Exported};
  };
  const std::vector<const void*>& addresses = sites.addresses();
  for (std::size_t i = 0; i < addresses.size(); ++i)
    define(address_symbol(i), llvm::orc::ExecutorAddr::fromPtr(addresses[i]));
  for (const SiteTable::NumberedUnit& unit : sites.number_units())
    define(unit.sites->symbol(), llvm::orc::ExecutorAddr(unit.first));
  check(library.define(llvm::orc::absoluteSymbols(std::move(symbols))), "addresses");
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    auto buffer = std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(parts_[i]->object),
                                                                  name + "." + std::to_string(i));
    check(engine.linker->add(library, std::move(buffer)), "linking");
  }
  for (const std::string& symbol : exported) code->find(symbol);
  return code;
}

std::unique_ptr<CodeUnit> UncompiledUnits::new_unit(std::string_view name, Effort effort) const {
  return std::make_unique<CodeUnit>(*engine_.impl_->machine, name, effort);
}

void UncompiledUnits::add(std::unique_ptr<CodeUnit> /*unit*/) {}

void UncompiledUnits::add(std::shared_ptr<const UnitSource> source, std::shared_ptr<UnitSites> sites) {
  sites->are_found_by(Maker{engine_.impl_->machine, nullptr}.sites_of(std::move(source)));
}

}  // namespace relish::jit

namespace relish {

CodeCounts code_counts() {
  return {jit::units_made.load(), jit::units_found.load(), jit::programs_found.load(),
          jit::scratch_blocks_taken()};
}

}  // namespace relish
