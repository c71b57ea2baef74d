// Keys of objects. The code of a unit is hashed as the text that it is emitted from, or as LLVM's bitcode, in
// which everything stands that the optimizer sees; the build of this program as the linker's build-id note, a
// hash of all that it consists of.
#include "jit/engine/object_key.h"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>

#include <cstring>
#include <string_view>

#include "support/sha256.h"

namespace relish::jit {
namespace {

// The build-id among the notes of a segment; empty when it is not there.
std::string build_id_in(const char* notes, std::size_t size) {
  constexpr std::size_t alignment = 4;
  const auto padded = [](std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; };
  ElfW(Nhdr) head = {};
  for (std::size_t at = 0; at + sizeof head <= size;) {
    std::memcpy(&head, notes + at, sizeof head);
    const std::size_t name = at + sizeof head, text = name + padded(head.n_namesz);
    if (text + head.n_descsz > size) return {};
    if (head.n_type == NT_GNU_BUILD_ID && std::string_view(notes + name, head.n_namesz).starts_with("GNU"))
      return {notes + text, head.n_descsz};
    at = text + padded(head.n_descsz);
  }
  return {};
}

// Of the program itself, the first that the loader tells of.
int read_build_id(dl_phdr_info* program, std::size_t /*size*/, void* result) {
  auto& id = *static_cast<std::string*>(result);
  for (int i = 0; i < program->dlpi_phnum && id.empty(); ++i) {
    const ElfW(Phdr)& segment = program->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    // The loader tells addresses as numbers.
    const auto* notes = reinterpret_cast<const char*>(program->dlpi_addr + segment.p_vaddr);
    id = build_id_in(notes, segment.p_memsz);
  }
  return 1;
}

const std::string& build_of_program() {
  static const std::string build = [] {
    std::string id;
    ::dl_iterate_phdr(read_build_id, &id);
    return id;
  }();
  return build;
}

std::string key_of(const Machine& machine, std::string_view form, std::string_view code, Effort effort) {
  const std::string& build = build_of_program();
  Sha256 hash;
  hash.add(fmt::format("{} {} {}\n", RELISH_VERSION, LLVM_VERSION_STRING, form));
  hash.add(fmt::format("{}\n", build.size()));
  hash.add(build);
  hash.add(fmt::format("{}\n{}\n", machine.identity(), static_cast<int>(effort)));
  hash.add(code.data(), code.size());
  return hash.digits();
}

}  // namespace

std::optional<std::string> object_key(const Machine& machine, const llvm::Module& module, Effort effort) {
  if (build_of_program().empty()) return std::nullopt;
  llvm::SmallVector<char, 0> code;
  llvm::raw_svector_ostream stream(code);
  llvm::WriteBitcodeToFile(module, stream);
  return key_of(machine, "bitcode", {code.data(), code.size()}, effort);
}

std::optional<std::string> program_key(const Machine& machine, const std::string& text) {
  if (build_of_program().empty()) return std::nullopt;
  return key_of(machine, "program", text, Effort::Optimize);
}

std::optional<std::string> object_key(const Machine& machine, const std::string& text, Effort effort) {
  if (build_of_program().empty()) return std::nullopt;
  return key_of(machine, "text", text, effort);
}

}  // namespace relish::jit
