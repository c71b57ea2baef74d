// The graph of states from its lines.
#include "shell/workspace/saved/archive_reader.h"

#include <algorithm>

#include "shell/workspace/saved/archive_lines.h"
#include "support/counted.h"
#include "support/render.h"

namespace relish {
namespace {

using nlohmann::json;

// What all states of the file share.
struct SavedGraph {
  std::shared_ptr<ArchiveValues> values;
  std::map<std::size_t, json> states;  // the part of a node that tells its state
  std::vector<std::size_t> parents;
  std::map<std::size_t, std::shared_ptr<const Surroundings>> arounds = {};

  // The state whose names those of this one are told from; nothing above the root.
  std::optional<std::size_t> base_of(std::size_t id) const {
    while (id != Log::root) {
      id = parents[id];
      if (id == Log::root || states.contains(id)) return id;
    }
    return std::nullopt;
  }

  NameMap names_from(NameMap names, std::size_t id) const {
    const auto found = states.find(id);
    if (found == states.end()) return names;
    for (const json& name : found->second.at("unset")) names = names.without(name.get<std::string>());
    for (const auto& [name, entry] : found->second.at("set").items())
      names = names.with(name, values->value_of(name, entry));
    return names;
  }
};

class StateInFile final : public KeptState, public std::enable_shared_from_this<StateInFile> {
 public:
  StateInFile(std::shared_ptr<SavedGraph> graph, std::size_t id, StateOptions options)
      : graph_(std::move(graph)), id_(id), options_(std::move(options)) {}

  State state_of(NameMap names) const {
    State state;
    state.names = std::move(names);
    state.options = options_;
    state.unread = shared_from_this();
    return state;
  }

  State state() const override {
    std::vector<std::size_t> way;
    for (std::optional<std::size_t> at = id_; at; at = graph_->base_of(*at)) way.push_back(*at);
    NameMap names;
    for (auto id = way.rbegin(); id != way.rend(); ++id) names = graph_->names_from(std::move(names), *id);
    return state_of(std::move(names));
  }

  // A damaged part is missing afterwards, and what needs it says so.
  void complete(State& state) const override {
    const auto found = graph_->states.find(id_);
    state.around = std::make_shared<const Surroundings>();
    if (found == graph_->states.end()) return;
    const json& told = found->second;
    if (told.contains("around")) state.around = around(told["around"]);
    if (told.contains("free")) attempt([&] { state.free_functions = graph_->values->module(told["free"]); });
  }

 private:
  template <class Work>
  static void attempt(const Work& work) {
    try {
      work();
    } catch (const json::exception&) {
      return;
    } catch (const Failure& failure) {
      if (failure.error_class() == ErrorClass::Interrupted) throw;
    }
  }

  std::shared_ptr<const Surroundings> around(std::size_t number) const {
    std::shared_ptr<const Surroundings>& known = graph_->arounds[number];
    if (known) return known;
    Surroundings around;
    attempt([&] {
      const json line = graph_->values->line("around", number);
      for (const auto& [name, target] : line.at("namespaces").items())
        around.namespaces.bind(name, target.get<std::string>());
      for (const auto& [name, source] : line.at("linked").items()) around.linked[name] = source;
      for (const json& name : line.at("constants")) around.constants.insert(name.get<std::string>());
    });
    return known = std::make_shared<const Surroundings>(std::move(around));
  }

  std::shared_ptr<SavedGraph> graph_;
  std::size_t id_;
  StateOptions options_;
};

class ArchiveReader {
 public:
  ArchiveReader(const std::string& path, ArchiveValues::Outside outside)
      : values_(std::make_shared<ArchiveValues>(path, std::move(outside))),
        graph_(std::make_shared<SavedGraph>(SavedGraph{values_, {}, {}})) {}

  RestoredSession run() {
    read_log();
    for (std::size_t id = 0; id < graph_->parents.size(); ++id) add_node(id);
    read_shown();
    if (values_->file().damaged_lines() > 0 && result_.lost.empty())
      result_.lost.push_back(fmt::format("{} of the graph: values that need them say so",
                                         counted(values_->file().damaged_lines(), "damaged line")));
    return std::move(result_);
  }

 private:
  json parsed(std::string_view kind, std::size_t number) const {
    const auto text = values_->file().line(kind, number);
    return text ? json::parse(*text, nullptr, false) : json();
  }

  // One whose line is damaged is not kept.
  void read_shown() {
    for (const auto& [input, text] : values_->file().lines("shown")) {
      const json told = json::parse(text, nullptr, false);
      if (!told.is_object() || !told.contains("value")) continue;
      try {
        result_.shown.emplace(input, values_->value_of(fmt::format("_{}", input), told["value"]));
      } catch (const json::exception&) {
        continue;
      }
    }
  }

  void read_log() {
    LogContent& content = result_.content;
    const auto& nodes = values_->file().lines("node");
    try {
      const json log = parsed("log", 0);
      const auto version = log.at("version").get<std::int64_t>();
      if (version > archive_version) {
        data_failure(values_->file().path(), "session.version",
                     fmt::format("the session is of version {} of its format; this program reads up to {}",
                                 version, archive_version));
      }
      graph_->parents = log.at("parents").get<std::vector<std::size_t>>();
      content.present = log.at("present");
      content.branch = log.at("branch");
      content.branches = log.at("branches").get<std::map<std::string, std::size_t>>();
      content.snapshots = log.at("snapshots").get<std::map<std::string, std::size_t>>();
      for (const json& pair : log.at("behind")) content.behind[pair.at(0)] = pair.at(1);
      result_.last_input = log.at("input");
      content.undone = log.value("undone", std::vector<std::size_t>());
    } catch (const json::exception&) {
      take_bare_log(nodes.rbegin()->first + 1);
    }
    check_numbers();
  }

  // Without its line the log is known by its nodes: those behind each other, at the last.
  void take_bare_log(std::size_t count) {
    LogContent& content = result_.content;
    content = {};
    graph_->parents.assign(count, 0);
    for (std::size_t id = 1; id < count; ++id) {
      const json node = parsed("node", id);
      const auto parent = node.is_object() ? node.value("parent", id - 1) : id - 1;
      graph_->parents[id] = parent;
      if (!node.is_object()) continue;
      const auto input = node.value("input", std::size_t{0});
      content.behind[input] = id;
      result_.last_input = std::max(result_.last_input, input);
    }
    content.behind[0] = Log::root;
    content.present = count - 1;
    content.branch = "main";
    content.branches["main"] = content.present;
    result_.lost.emplace_back(
        "names of branches and snapshots are damaged; the last state is the present one");
  }

  // What was written agrees with itself; a made up file need not.
  void check_numbers() const {
    const std::size_t count = graph_->parents.size();
    const LogContent& content = result_.content;
    bool good = count > 0 && content.present < count;
    for (std::size_t id = 1; id < count; ++id) good &= graph_->parents[id] < id;
    for (const auto* names : {&content.branches, &content.snapshots})
      for (const auto& [name, node] : *names) good &= node < count;
    for (const auto& [input, node] : content.behind) good &= node < count;
    // What was undone are nodes above each other, the lowest a child of the present one.
    std::size_t above = content.present;
    for (auto id = content.undone.rbegin(); good && id != content.undone.rend(); ++id) {
      good = *id > above && *id < count && graph_->parents[*id] == above;
      above = *id;
    }
    if (!good) values_->damaged("the graph of states");
  }

  SessionText text_of(const json& told) const {
    std::vector<SessionPiece> pieces;
    for (const json& piece : told.at("pieces")) {
      if (piece.is_object() && piece.contains("words")) {
        const ScriptValue words = values_->read(piece["words"]);
        if (words.string()) pieces.emplace_back(*words.string());
      } else {
        const bool module = piece.is_object() && piece.contains("module");
        pieces.emplace_back(values_->unread("a statement", piece, module ? "module" : "tensor", ""));
      }
    }
    return SessionText::of_pieces(std::move(pieces), told.at("inputs"), told.at("stopped"),
                                  told.at("unwritten").get<std::vector<std::string>>());
  }

  void add_node(std::size_t id) {
    LogNode node;
    node.parent = id == Log::root ? Log::root : graph_->parents[id];
    bool whole = false;
    try {
      const json told = parsed("node", id);
      node.input = told.at("input");
      node.label = told.at("label");
      node.seconds = told.at("seconds");
      node.stopped = told.at("stopped");
      const json& options = told.at("options");
      node.options = {options.at(0), options.at(1), options.at(2), options.at(3)};
      node.made_by = text_of(told.at("made_by"));
      node.shown = text_of(told.at("shown"));
      if (told.contains("state")) graph_->states.emplace(id, told.at("state"));
      if (told.contains("changes")) {
        auto& changes = node.changes.emplace();
        for (const json& each : told.at("changes"))
          if (const std::string text = each; !text.empty()) changes.push_back({text.front(), text.substr(1)});
      }
      whole = true;
    } catch (const json::exception&) {
      take_damaged(node, id);
    } catch (const Failure& failure) {
      if (failure.error_class() == ErrorClass::Interrupted) throw;
      take_damaged(node, id);
    }
    // One without a state is made again from its statements.
    if (id == Log::root || !whole || graph_->states.contains(id)) hold(node, id);
    result_.content.nodes.push_back(std::move(node));
  }

  void take_damaged(LogNode& node, std::size_t id) {
    const StateOptions options =
        id == Log::root ? StateOptions() : result_.content.nodes[node.parent].options;
    graph_->states.erase(id);
    const std::size_t parent = node.parent;
    node = {};
    node.parent = parent;
    node.options = options;
    node.label = "(damaged in the file)";
    for (const auto& [input, behind] : result_.content.behind)
      if (behind == id && node.input == 0) node.input = input;
    result_.lost.push_back(id == Log::root
                               ? std::string("the start is damaged")
                               : fmt::format("state {} is damaged: what it bound is missing", node.input));
  }

  void hold(LogNode& node, std::size_t id) {
    const auto kept = std::make_shared<const StateInFile>(graph_, id, node.options);
    NameMap names;
    if (const auto base = graph_->base_of(id)) {
      std::size_t held = *base;
      while (!result_.content.nodes[held].state) held = graph_->parents[held];
      names = result_.content.nodes[held].state->names;
    }
    try {
      node.state = kept->state_of(graph_->names_from(names, id));
    } catch (const json::exception&) {
      graph_->states.erase(id);
      node.state = kept->state_of(names);
      result_.lost.push_back(fmt::format("state {} is damaged: what it bound is missing", node.input));
    }
    node.kept = kept;
  }

  std::shared_ptr<ArchiveValues> values_;
  std::shared_ptr<SavedGraph> graph_;
  RestoredSession result_;
};

}  // namespace

RestoredSession read_archive(const std::string& path, ArchiveValues::Outside outside) {
  return ArchiveReader(path, std::move(outside)).run();
}

}  // namespace relish
