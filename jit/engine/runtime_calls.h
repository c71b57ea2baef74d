// Calls from generated code into the runtime and the parts of the contract that all emitters share.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "jit/runtime/context.h"

namespace relish::jit {

// What code generation must know of the machine.
struct TargetTraits {
  bool fma = false;            // fused multiply-add in hardware
  bool f16c = false;           // float16 conversions in hardware
  bool masked_memory = false;  // loads and stores under a mask at full speed
  bool masked_loads = false;   // the same of loads alone
};

class RuntimeCalls {
 public:
  // `first_site`: the symbol whose address is the number of the module's first site; empty: that is 0.
  explicit RuntimeCalls(llvm::Module& module, std::string first_site = {})
      : module_(module), first_site_(std::move(first_site)) {}

  // The declared runtime function; all of them neither unwind nor recurse into compiled code in a way that
  // matters here.
  llvm::Function* get(llvm::StringRef name, llvm::Type* result, llvm::ArrayRef<llvm::Type*> params);
  // A C math function of one or two arguments, "fmodf" or "fmod" by type; without memory effects.
  llvm::Function* math(llvm::StringRef name, llvm::Type* type, unsigned arity);

  llvm::Value* fault(llvm::IRBuilder<>& builder, llvm::Value* context, std::int32_t site, llvm::Value* a,
                     llvm::Value* b, llvm::Value* c);
  llvm::Value* scratch(llvm::IRBuilder<>& builder, llvm::Value* context, llvm::Value* bytes,
                       std::optional<std::int32_t> site = std::nullopt);
  // A zeroed or raw buffer on the scratch stack; `dims` is an int64 array in memory.
  llvm::Value* buffer(llvm::IRBuilder<>& builder, llvm::Value* context, std::int32_t dtype, std::size_t rank,
                      llvm::Value* dims, bool zero, std::int32_t site);
  // Bytes of a tensor in whole lines; code returns with the runtime's failure when there is no such tensor.
  llvm::Value* byte_size(llvm::IRBuilder<>& builder, llvm::Value* context, std::int32_t dtype,
                         std::size_t rank, llvm::Value* dims, std::int32_t site);
  // Ends the call with the fault of `site` when a dim is negative; `tell` may end it otherwise, from the
  // status of that.
  void refuse_negative(llvm::IRBuilder<>& builder, llvm::Value* context, std::int32_t site,
                       llvm::ArrayRef<llvm::Value*> dims,
                       const std::function<void(llvm::Value* status)>& tell = {});
  void scratch_release(llvm::IRBuilder<>& builder, llvm::Value* context, llvm::Value* pointer);

  // Loads the interrupt flag and branches to `interrupted` when it is set; the builder goes on in a new
  // block.
  static void poll(llvm::IRBuilder<>& builder, llvm::Value* flag, llvm::BasicBlock* interrupted);
  // Branches to a block that returns `status` unless `good`; the builder goes on in a new block.
  static void return_unless(llvm::IRBuilder<>& builder, llvm::Value* good, llvm::Value* status);
  // Like return_unless for a null pointer of a refused allocation.
  static void check_allocated(llvm::IRBuilder<>& builder, llvm::Value* pointer);
  // Ends the call unless `good` with the failure that the runtime keeps, at the place of `site`.
  void require_at(llvm::IRBuilder<>& builder, llvm::Value* context, llvm::Value* good,
                  std::optional<std::int32_t> site);
  // The values in an int64 array in the frame of the function.
  static llvm::Value* array_of(llvm::IRBuilder<>& builder, llvm::ArrayRef<llvm::Value*> values);
  // Room for `count` int64 in the frame of the function.
  static llvm::Value* stack_slots(llvm::IRBuilder<>& builder, std::size_t count);

 private:
  llvm::Value* number_of(llvm::IRBuilder<>& builder, std::int32_t site);

  llvm::Module& module_;
  std::string first_site_;
};

// Attributes of every generated function: no exceptions, the host's features.
void finish_function(llvm::Function& function);
// For code in which nothing is gained: LLVM selects instructions one by one and leaves their order.
void translate_as_it_stands(llvm::Function& function);
// Says of arguments, by number, that they are apart from all others and how they are aligned. All at once:
// LLVM keeps every list of attributes that it has seen, so one after another they would cost the square.
void mark_buffers(llvm::Function& function, std::span<const std::pair<unsigned, llvm::Align>> buffers);

}  // namespace relish::jit
