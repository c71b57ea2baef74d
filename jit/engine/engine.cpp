// Linking with ORC. Symbols come from the runtime table alone: no generator looks into this process, so
// compiled code cannot name anything else.
#include "jit/engine/engine.h"

#include <llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h>
#include <llvm/ExecutionEngine/Orc/Core.h>
#include <llvm/ExecutionEngine/Orc/ExecutorProcessControl.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Target/TargetMachine.h>

#include <algorithm>
#include <thread>

#include "jit/engine/work_queue.h"
#include "jit/runtime/runtime.h"
#include "support/failure.h"

namespace relish::jit {
namespace {

// A failure inside LLVM on code that we made is a defect of ours.
void check(llvm::Error error, const char* what) {
  if (error) RELISH_CHECK(false, std::string(what) + ": " + llvm::toString(std::move(error)));
}
template <class T>
T checked(llvm::Expected<T> value, const char* what) {
  if (!value) check(value.takeError(), what);
  return std::move(*value);
}

class LinkedCode final : public Code {
 public:
  LinkedCode(llvm::orc::ExecutionSession& session, llvm::orc::ResourceTrackerSP tracker,
             std::vector<std::pair<std::string, void*>> addresses)
      : session_(session), tracker_(std::move(tracker)), addresses_(std::move(addresses)) {}

  ~LinkedCode() override {
    llvm::consumeError(tracker_->remove());
    tracker_ = nullptr;
    session_.getSymbolStringPool()->clearDeadEntries();
  }

  void* address(std::string_view symbol) const override {
    for (const auto& [name, address] : addresses_)
      if (name == symbol) return address;
    RELISH_CHECK(false, "no symbol '" + std::string(symbol) + "' in compiled code");
  }

 private:
  llvm::orc::ExecutionSession& session_;
  llvm::orc::ResourceTrackerSP tracker_;
  std::vector<std::pair<std::string, void*>> addresses_;
};

// More threads than that wait for each other.
constexpr unsigned most_threads = 8;

int compile_threads() {
  return static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1U, most_threads));
}

}  // namespace

CodeUnit::CodeUnit(const Machine& machine, std::string_view name, Effort effort)
    : effort(effort), context(std::make_unique<llvm::LLVMContext>()) {
  module = std::make_unique<llvm::Module>(llvm::StringRef(name.data(), name.size()), *context);
  const std::unique_ptr<llvm::TargetMachine> target = machine.target_machine(effort);
  module->setTargetTriple(target->getTargetTriple().str());
  module->setDataLayout(target->createDataLayout());
}

CodeUnit::~CodeUnit() = default;

struct Engine::Impl {
  std::shared_ptr<const Machine> machine = std::make_shared<const Machine>();
  std::unique_ptr<llvm::orc::ExecutionSession> session;
  std::unique_ptr<llvm::orc::ObjectLinkingLayer> linker;
  llvm::orc::JITDylib* library = nullptr;
  std::uint64_t builds = 0;
  Target target;

  Impl() {
    session = std::make_unique<llvm::orc::ExecutionSession>(
        checked(llvm::orc::SelfExecutorProcessControl::Create(), "process control"));
    // The default memory manager maps pages writable, links, and then makes code executable and not writable.
    linker = std::make_unique<llvm::orc::ObjectLinkingLayer>(*session);
    library = &session->createBareJITDylib("relish");
    llvm::orc::SymbolMap symbols;
    for (const RuntimeSymbol& symbol : runtime_symbols()) {
      symbols[session->intern(llvm::StringRef(symbol.name.data(), symbol.name.size()))] = {
          llvm::orc::ExecutorAddr::fromPtr(symbol.address),
          llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
    }
    check(library->define(llvm::orc::absoluteSymbols(std::move(symbols))), "runtime symbols");
  }

  ~Impl() {
    if (session) llvm::consumeError(session->endSession());
  }
};

Engine::Engine(const std::optional<Target>& target) : impl_(std::make_unique<Impl>()) {
  impl_->target = target.value_or(impl_->machine->scheduled_for());
}
Engine::~Engine() = default;

const TargetTraits& Engine::traits() const { return impl_->machine->traits(); }
const Target& Engine::target() const { return impl_->target; }

Build::Build(Engine& engine)
    : engine_(engine),
      suffix_("$" + std::to_string(++engine.impl_->builds)),
      queue_(std::make_unique<WorkQueue>(compile_threads())) {}
Build::~Build() = default;

std::unique_ptr<CodeUnit> Build::new_unit(std::string_view name, Effort effort) const {
  return std::make_unique<CodeUnit>(*engine_.impl_->machine, name, effort);
}

void Build::add(std::unique_ptr<CodeUnit> unit) {
  auto object = std::make_shared<Object>();
  objects_.push_back(object);
  // A job is copied with what it holds.
  queue_->add([unit = std::shared_ptr<CodeUnit>(std::move(unit)), object, machine = engine_.impl_->machine] {
    *object = machine->object_of(*unit->module, unit->effort);
  });
}

std::unique_ptr<Code> Build::finish(const std::vector<std::string>& exported, Span span) {
  queue_->wait(span);
  Engine::Impl& engine = *engine_.impl_;
  llvm::orc::ResourceTrackerSP tracker = engine.library->createResourceTracker();
  for (std::size_t i = 0; i < objects_.size(); ++i) {
    auto buffer = std::make_unique<llvm::SmallVectorMemoryBuffer>(
        std::move(*objects_[i]), "relish" + suffix_ + "." + std::to_string(i));
    check(engine.linker->add(tracker, std::move(buffer)), "linking");
  }
  std::vector<std::pair<std::string, void*>> addresses;
  for (const std::string& symbol : exported) {
    auto found = checked(engine.session->lookup({engine.library}, engine.session->intern(symbol)), "lookup");
    addresses.emplace_back(symbol, found.getAddress().toPtr<void*>());
  }
  return std::make_unique<LinkedCode>(*engine.session, std::move(tracker), std::move(addresses));
}

}  // namespace relish::jit
