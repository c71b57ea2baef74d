// Memory that is used up while code is made: LLVM would abort the process, or call it a defect of ours.
#pragma once

namespace llvm::orc {
class ExecutionSession;
}

namespace relish::jit {

// Throws ResourceLimit under a limit of addresses with which threads might not even start.
void require_addresses();
// From here on the process ends with the exit code of ResourceLimit where LLVM finds no memory for itself,
// and memory_lacked() says, once, that the session found none for code.
void meet_lack_of_memory(llvm::orc::ExecutionSession& session);
bool memory_lacked();

}  // namespace relish::jit
