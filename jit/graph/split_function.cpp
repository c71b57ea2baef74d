// Cutting a function into parts that are called one after the other.
#include "jit/graph/split_function.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <vector>

#include "support/failure.h"
#include "support/interrupt.h"

namespace relish::jit {
namespace {

// Larger frames are taken from the scratch stack.
constexpr std::uint64_t most_stack_bytes = 1 << 12;
constexpr std::uint64_t frame_alignment = 64;

class Splitter {
 public:
  Splitter(llvm::Function& whole, RuntimeCalls& runtime)
      : whole_(whole), runtime_(runtime), layout_(whole.getParent()->getDataLayout()) {}

  void run(std::span<llvm::BasicBlock* const> cuts, std::size_t least) {
    assign(cuts, least);
    if (begins_.size() < 2) return;
    copy_shared_ends();
    move_blocks();
    cut_edges();
    place_allocas();
    carry_values();
    write_calls();
  }

 private:
  struct Part {
    llvm::Function* function = nullptr;
    llvm::BasicBlock* entry = nullptr;                   // loads what was made before
    llvm::DenseMap<llvm::Value*, llvm::Value*> carried;  // values of other parts, here
  };

  static bool only_returns(const llvm::BasicBlock& block) {
    return block.size() == 1 && llvm::isa<llvm::ReturnInst>(block.getTerminator());
  }

  // Which part each block belongs to.
  void assign(std::span<llvm::BasicBlock* const> cuts, std::size_t least) {
    begins_ = {&whole_.getEntryBlock()};
    std::size_t instructions = 0, next = 0;
    for (llvm::BasicBlock& block : whole_) {
      while (next < cuts.size() && cuts[next] != &block && part_of_.contains(cuts[next])) ++next;
      if (next < cuts.size() && cuts[next] == &block) {
        ++next;
        if (instructions >= least) {
          begins_.push_back(&block);
          instructions = 0;
        }
      }
      part_of_[&block] = begins_.size() - 1;
      instructions += block.size();
    }
  }

  // The block behind all polls, for each part.
  void copy_shared_ends() {
    std::vector<llvm::BasicBlock*> shared;
    for (llvm::BasicBlock& block : whole_)
      if (only_returns(block)) shared.push_back(&block);
    for (llvm::BasicBlock* block : shared) {
      llvm::DenseMap<std::size_t, llvm::BasicBlock*> copies;
      const std::size_t own = part_of_[block];
      std::vector<llvm::Instruction*> jumps;
      for (llvm::User* user : block->users())
        if (auto* jump = llvm::dyn_cast<llvm::Instruction>(user)) jumps.push_back(jump);
      for (llvm::Instruction* jump : jumps) {
        const std::size_t part = part_of_[jump->getParent()];
        if (part == own) continue;
        llvm::BasicBlock*& copy = copies[part];
        if (!copy) {
          copy = llvm::BasicBlock::Create(whole_.getContext(), block->getName(), &whole_);
          block->getTerminator()->clone()->insertInto(copy, copy->end());
          part_of_[copy] = part;
        }
        jump->replaceSuccessorWith(block, copy);
      }
    }
  }

  void move_blocks() {
    llvm::LLVMContext& context = whole_.getContext();
    std::vector<llvm::Type*> types;
    for (llvm::Argument& argument : whole_.args()) types.push_back(argument.getType());
    types.push_back(llvm::PointerType::getUnqual(context));
    auto* type = llvm::FunctionType::get(whole_.getReturnType(), types, false);
    for (std::size_t i = 0; i < begins_.size(); ++i) {
      Part part;
      part.function = llvm::Function::Create(type, llvm::Function::InternalLinkage,
                                             whole_.getName() + "." + std::to_string(i), whole_.getParent());
      finish_function(*part.function);
      if (whole_.hasFnAttribute(llvm::Attribute::OptimizeNone)) translate_as_it_stands(*part.function);
      part.entry = llvm::BasicBlock::Create(context, "carried", part.function);
      llvm::BranchInst::Create(begins_[i], part.entry);
      parts_.push_back(std::move(part));
    }
    std::vector<llvm::BasicBlock*> blocks;
    for (llvm::BasicBlock& block : whole_) blocks.push_back(&block);
    for (llvm::BasicBlock* block : blocks) {
      block->removeFromParent();
      block->insertInto(parts_[part_of_[block]].function);
    }
  }

  // What ran on into the next part returns to the caller of both.
  void cut_edges() {
    for (std::size_t i = 1; i < begins_.size(); ++i) {
      std::vector<llvm::Instruction*> jumps;
      for (llvm::User* user : begins_[i]->users())
        if (auto* jump = llvm::dyn_cast<llvm::Instruction>(user);
            jump && jump->getParent() != parts_[i].entry)
          jumps.push_back(jump);
      for (llvm::Instruction* jump : jumps) {
        llvm::Function* from = jump->getFunction();
        RELISH_CHECK(from == parts_[i - 1].function, "a jump over a cut");
        auto* end = llvm::BasicBlock::Create(whole_.getContext(), "cut", from);
        llvm::ReturnInst::Create(whole_.getContext(), llvm::ConstantInt::get(whole_.getReturnType(), 0), end);
        jump->replaceSuccessorWith(begins_[i], end);
      }
    }
  }

  Part& part_with(llvm::Instruction* instruction) {
    return parts_[part_of_.lookup(instruction->getParent())];
  }

  std::uint64_t take(std::uint64_t bytes, std::uint64_t alignment) {
    const std::uint64_t at = llvm::alignTo(frame_bytes_, alignment);
    frame_bytes_ = at + bytes;
    return at;
  }

  llvm::Value* in_frame(llvm::IRBuilder<>& at, const Part& part, std::uint64_t offset) {
    llvm::Argument* frame = part.function->getArg(static_cast<unsigned>(whole_.arg_size()));
    return at.CreateConstInBoundsGEP1_64(at.getInt8Ty(), frame, offset);
  }

  // Memory of one part alone is that part's; other memory lies in the frame.
  void place_allocas() {
    std::vector<llvm::AllocaInst*> allocas;
    for (Part& part : parts_)
      for (llvm::BasicBlock& block : *part.function)
        for (llvm::Instruction& instruction : block)
          if (auto* alloca = llvm::dyn_cast<llvm::AllocaInst>(&instruction)) allocas.push_back(alloca);
    for (llvm::AllocaInst* alloca : allocas) {
      llvm::SmallVector<std::size_t, 2> users;
      for (llvm::User* user : alloca->users()) {
        const std::size_t part = part_of_.lookup(llvm::cast<llvm::Instruction>(user)->getParent());
        if (std::find(users.begin(), users.end(), part) == users.end()) users.push_back(part);
      }
      if (users.empty()) {
        alloca->eraseFromParent();
        continue;
      }
      if (users.size() == 1) {
        alloca->moveBefore(parts_[users[0]].entry->getTerminator());
        continue;
      }
      const std::uint64_t offset =
          take(layout_.getTypeAllocSize(alloca->getAllocatedType()), alloca->getAlign().value());
      for (const std::size_t user : users) {
        Part& part = parts_[user];
        llvm::IRBuilder<> at(part.entry->getTerminator());
        part.carried[alloca] = in_frame(at, part, offset);
      }
      shared_allocas_.push_back(alloca);
    }
    for (std::size_t i = 0; i < parts_.size(); ++i) part_of_[parts_[i].entry] = i;
  }

  // Stored where it is made, loaded where the part begins that needs it.
  llvm::Value* carried(Part& part, llvm::Instruction* made) {
    auto [offset, first] = offsets_.try_emplace(made, 0);
    if (first) {
      llvm::Type* type = made->getType();
      offset->second = take(layout_.getTypeAllocSize(type), layout_.getABITypeAlign(type).value());
      RELISH_CHECK(!made->isTerminator(), "a value of a terminator crosses a cut");
      llvm::BasicBlock* block = made->getParent();
      llvm::IRBuilder<> at(block, llvm::isa<llvm::PHINode>(made) ? block->getFirstInsertionPt()
                                                                 : std::next(made->getIterator()));
      at.CreateStore(made, in_frame(at, part_with(made), offset->second));
    }
    llvm::IRBuilder<> at(part.entry->getTerminator());
    return at.CreateLoad(made->getType(), in_frame(at, part, offset->second));
  }

  void carry_values() {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      poll_interrupt();
      Part& part = parts_[i];
      std::vector<llvm::Use*> foreign;
      for (llvm::BasicBlock& block : *part.function)
        for (llvm::Instruction& instruction : block)
          for (llvm::Use& use : instruction.operands()) {
            auto* made = llvm::dyn_cast<llvm::Instruction>(use.get());
            auto* argument = llvm::dyn_cast<llvm::Argument>(use.get());
            if ((made && (part_of_.lookup(made->getParent()) != i || part.carried.contains(made))) ||
                (argument && argument->getParent() == &whole_))
              foreign.push_back(&use);
          }
      for (llvm::Use* use : foreign) {
        if (auto* argument = llvm::dyn_cast<llvm::Argument>(use->get())) {
          use->set(part.function->getArg(argument->getArgNo()));
          continue;
        }
        auto* made = llvm::cast<llvm::Instruction>(use->get());
        auto known = part.carried.find(made);
        llvm::Value* here = known != part.carried.end() ? known->second : carried(part, made);
        part.carried[made] = here;
        use->set(here);
      }
    }
    for (llvm::AllocaInst* alloca : shared_allocas_) alloca->eraseFromParent();
  }

  void write_calls() {
    llvm::IRBuilder<> at(llvm::BasicBlock::Create(whole_.getContext(), "entry", &whole_));
    llvm::Value* context = whole_.getArg(0);
    const bool on_stack = frame_bytes_ <= most_stack_bytes;
    llvm::Value* frame = nullptr;
    if (on_stack) {
      auto* memory =
          at.CreateAlloca(llvm::ArrayType::get(at.getInt8Ty(), std::max<std::uint64_t>(frame_bytes_, 1)));
      memory->setAlignment(llvm::Align(frame_alignment));
      frame = memory;
    } else {
      frame = runtime_.scratch(at, context, at.getInt64(frame_bytes_));
    }
    std::vector<llvm::Value*> arguments;
    for (llvm::Argument& argument : whole_.args()) arguments.push_back(&argument);
    arguments.push_back(frame);
    for (const Part& part : parts_) {
      llvm::Value* status = at.CreateCall(part.function, arguments);
      RuntimeCalls::return_unless(at, at.CreateIsNull(status), status);
    }
    if (!on_stack) runtime_.scratch_release(at, context, frame);
    at.CreateRet(llvm::ConstantInt::get(whole_.getReturnType(), 0));
  }

  llvm::Function& whole_;
  RuntimeCalls& runtime_;
  const llvm::DataLayout& layout_;
  std::vector<llvm::BasicBlock*> begins_;  // of the parts
  llvm::DenseMap<llvm::BasicBlock*, std::size_t> part_of_;
  std::vector<Part> parts_;
  llvm::DenseMap<llvm::Instruction*, std::uint64_t> offsets_;  // in the frame
  std::vector<llvm::AllocaInst*> shared_allocas_;
  std::uint64_t frame_bytes_ = 0;
};

}  // namespace

void split_function(llvm::Function& whole, std::span<llvm::BasicBlock* const> cuts, std::size_t least,
                    RuntimeCalls& runtime) {
  Splitter(whole, runtime).run(cuts, least);
}

}  // namespace relish::jit
