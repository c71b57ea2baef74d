// A state of a session: everything that its statements can see or change, as one immutable value. A copy
// costs some handles; what two states have in common they share.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "frontend/names/namespaces.h"
#include "ir/nodes/module.h"
#include "shell/workspace/name_map.h"
#include "shell/workspace/origins.h"

namespace relish {

// Options that affect numbers, and how often numbers were drawn without a seed.
struct StateOptions {
  std::string tier = "jit";
  int threads = 0;
  std::uint64_t seed = 0;
  std::uint64_t draws = 0;

  friend bool operator==(const StateOptions&, const StateOptions&) = default;
};

// What imports and links to other modules have bound for later texts.
struct Surroundings {
  Namespaces namespaces;
  std::map<std::string, std::string>
      linked;                            // functions of other modules among the free ones: lib_f -> lib.f
  std::set<std::string> constants = {};  // names that functions of later texts see

  friend bool operator==(const Surroundings&, const Surroundings&) = default;
};

struct State;

// What a restored state holds in a file: its free functions and what was loaded. They are read
// before anybody goes there.
class KeptState {
 public:
  virtual ~KeptState() = default;
  // The state, whose values are read when they are wanted.
  virtual State state() const = 0;
  // Reads what such a state lacks.
  virtual void complete(State& state) const = 0;
};

struct State {
  NameMap names;
  ModulePtr free_functions;
  std::shared_ptr<const Surroundings> around;
  StateOptions options;
  std::shared_ptr<const KeptState> unread = nullptr;  // where what is missing of it stands
};

// The value that a state holds of a name as statements see it there. Under its own name a free function stays
// bound as it was for as long as it is the same, though others were declared since; it means the one among
// the state's functions.
ScriptValue value_in(const State& state, std::string_view name, const ScriptValue& held);
// Whether both refer to the same function, each among the free functions that it is in.
bool is_same_free_function(const ScriptValue& a, const ScriptValue& b);

// Whether nothing was bound, declared, loaded, drawn or set between the two.
bool is_same_state(const State& a, const State& b);

}  // namespace relish
