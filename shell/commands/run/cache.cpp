// The command `cache`: what is kept of compiled code between processes.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "jit/jit.h"
#include "jit/object_store.h"
#include "shell/commands/subject.h"
#include "support/render.h"

namespace relish::commands_cache {
namespace {

constexpr Option options[] = {
    {"clear", OptionKind::Flag, "", "removes all that is kept", 0, in_shell | in_session},
    {"json", OptionKind::Flag, "", "one JSON object", 0, in_shell},
};
constexpr Example examples[] = {{"relish cache", "print(cache()[\"entries\"])"},
                                {"relish cache --clear", ""}};

std::string text_of(const ObjectStore& store, const ObjectStore::Contents& contents) {
  const std::string why = contents.unusable.empty() ? "" : fmt::format(" (not used: {})", contents.unusable);
  return fmt::format("folder   {}{}\nentries  {}\nbytes    {} of at most {}", printable(store.folder(), 4096),
                     why, contents.entries, contents.bytes, store.limit());
}

ScriptValue run(Invocation& invocation) {
  const std::shared_ptr<ObjectStore>& store = invocation.session.objects();
  std::uint64_t removed = 0;
  if (invocation.flag("clear") && store) removed = store->clear();
  const ObjectStore::Contents contents = store ? store->contents() : ObjectStore::Contents();
  const CodeCounts counts = code_counts();
  const auto number = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
  if (invocation.surface == Surface::Script) {
    return ScriptValue::dict({{"folder", store ? ScriptValue(store->folder()) : ScriptValue()},
                              {"entries", number(contents.entries)},
                              {"bytes", number(contents.bytes)},
                              {"limit", store ? number(store->limit()) : 0},
                              {"compiled", number(counts.compiled)},
                              {"found", number(counts.found)}});
  }
  if (invocation.flag("json")) {
    nlohmann::ordered_json json;
    json["folder"] = store ? nlohmann::ordered_json(store->folder()) : nlohmann::ordered_json();
    json["entries"] = contents.entries;
    json["bytes"] = contents.bytes;
    json["limit"] = store ? store->limit() : 0;
    if (!contents.unusable.empty()) json["unusable"] = contents.unusable;
    if (invocation.flag("clear")) json["removed"] = removed;
    return json.dump();
  }
  if (!store) return "folder   none: compiled code is not kept";
  return text_of(*store, contents);
}

}  // namespace

extern const Command command_cache;
const Command command_cache{
    .name = "cache",
    .summary = "shows what is kept of compiled code between processes, or clears it",
    .subject = Subject::None,
    .options = options,
    .run = run,
    .examples = examples,
    .doc =
        "Code is kept in relish/objects below XDG_CACHE_HOME, or in the folder of --cache; --cache off keeps "
        "none. Kept are units of code and, of a program as a whole, how it is linked of them. An entry is found "
        "again by all that decides it: the text and the constants, the processor, and this build of Relish "
        "with its LLVM. So no result depends on the cache, and a program that ran before is neither compiled "
        "nor lowered again. What is damaged, of another build or user counts as nothing; "
        "entries that were not used for long make room for new ones. In scripts `compiled` and `found` count "
        "the units of code that this process has made and taken from the cache.",
};

}  // namespace relish::commands_cache
