// The graph of states as lines, and the archive around them.
#include "shell/workspace/saved/archive_writer.h"

#include <set>

#include "ir/printer/printer.h"
#include "runtime/files/safetensors.h"
#include "runtime/files/zip_write.h"
#include "shell/script/libraries.h"
#include "shell/script/unread_value.h"
#include "shell/workspace/saved/archive_lines.h"
#include "shell/workspace/saved/value_encoder.h"
#include "shell/workspace/value_words.h"
#include "support/atomic_file.h"
#include "support/interrupt.h"
#include "support/value_text.h"

namespace relish {
namespace {

// What is written without looking into the file again.
bool is_immediate(const Json& value) {
  return !value.is_object() || value.contains("bits") || value.contains("bytes") || value.contains("shape") ||
         value.contains("range");
}

class ArchiveWriter {
 public:
  explicit ArchiveWriter(Workspace& workspace) : workspace_(workspace), log_(workspace.log()) {}

  SavedArchive run(const std::string& path, std::string_view heading) {
    for (std::size_t id = 0; id < log_.size(); ++id) add_node(id);
    add_names();
    add_shown();
    const std::string script = script_text(heading);
    add_origins();
    add_modules();
    add_tensors(path);
    write(path, script);
    result_.states = log_.size() - 1;
    return std::move(result_);
  }

 private:
  void add_line(std::string_view kind, std::size_t number, const Json& json) {
    lines_ += line_text(kind, number, json.dump(-1, ' ', false, Json::error_handler_t::replace));
  }

  // The nearest state above it that is held; null above the root.
  const State* base_of(std::size_t id) const {
    while (id != Log::root) {
      id = log_.node(id).parent;
      if (log_.node(id).state) return &*log_.node(id).state;
    }
    return nullptr;
  }

  // With what is said of it before it is read; nothing for what has no form in a file.
  std::optional<Json> encoded_entry(const ScriptValue& held) {
    auto value = values_.encode(held);
    if (!value) return std::nullopt;
    if (is_immediate(*value)) return Json::array({std::move(*value)});
    return Json::array({std::move(*value), kind_name(held), overview_of(held)});
  }

  Json encoded_names(const State& state, const State* base) {
    Json set = Json::object(), unset = Json::array();
    state.names.for_each_difference(
        base ? base->names : NameMap(),
        [&](const std::string& name, const ScriptValue* here, const ScriptValue*) {
          auto entry = here ? encoded_entry(value_in(state, name, *here)) : std::nullopt;
          if (here && !entry) result_.left_out.insert(name);
          if (entry) {
            set[name] = std::move(*entry);
          } else {
            unset.push_back(name);
          }
        });
    return {{"set", std::move(set)}, {"unset", std::move(unset)}};
  }

  Json encoded_state(const State& held, const State* base) {
    State state = held;
    if (const auto unread = std::exchange(state.unread, nullptr)) unread->complete(state);
    Json json = encoded_names(state, base);
    if (state.free_functions) json["free"] = values_.module_number(state.free_functions);
    if (state.around) json["around"] = around_number(state.around);
    return json;
  }

  std::size_t around_number(const std::shared_ptr<const Surroundings>& around) {
    const auto [known, fresh] = arounds_.emplace(around, arounds_.size());
    if (!fresh) return known->second;
    Json namespaces = Json::object();
    std::map<std::string, std::string> aliases(around->namespaces.aliases().begin(),
                                               around->namespaces.aliases().end());
    for (const auto& [name, target] : aliases) namespaces[name] = target;
    add_line("around", known->second,
             {{"namespaces", namespaces}, {"linked", around->linked}, {"constants", around->constants}});
    return known->second;
  }

  Json encoded_text(const SessionText& text) {
    Json pieces = Json::array();
    for (const SessionPiece& piece : text.pieces()) {
      const auto* words = std::get_if<std::string>(&piece);
      const auto value = values_.encode(words ? ScriptValue(*words) : std::get<ScriptValue>(piece));
      if (value) pieces.push_back(words ? Json{{"words", *value}} : *value);
    }
    return {{"pieces", std::move(pieces)},
            {"inputs", text.inputs()},
            {"stopped", text.has_stopped()},
            {"unwritten", text.unwritten()}};
  }

  void add_node(std::size_t id) {
    const LogNode& node = log_.node(id);
    Json json = {{"parent", node.parent},
                 {"input", node.input},
                 {"made_by", encoded_text(node.made_by)},
                 {"label", node.label},
                 {"seconds", node.seconds},
                 {"stopped", node.stopped},
                 {"shown", encoded_text(node.shown)}};
    json["options"] = {node.options.tier, node.options.threads, node.options.seed, node.options.draws};
    if (node.state) {
      json["state"] = encoded_state(*node.state, base_of(id));
    } else if (node.changes) {
      Json changes = Json::array();
      for (const NameChange& change : *node.changes) changes.push_back(change.sign + change.name);
      json["changes"] = std::move(changes);
    }
    add_line("node", id, json);
  }

  // By these a damaged node keeps its place.
  Json parents() const {
    Json all = Json::array();
    for (std::size_t id = 0; id < log_.size(); ++id) all.push_back(log_.node(id).parent);
    return all;
  }

  void add_names() {
    const LogContent names = log_.names();
    Json behind = Json::array();
    for (const auto& [input, node] : names.behind) behind.push_back({input, node});
    add_line("log", 0,
             {{"version", archive_version},
              {"parents", parents()},
              {"present", names.present},
              {"branch", names.branch},
              {"branches", names.branches},
              {"snapshots", names.snapshots},
              {"behind", std::move(behind)},
              {"undone", names.undone},
              {"input", workspace_.next_input() - 1}});
  }

  // What a damaged file lost is not kept; whoever asked for it was told.
  void add_shown() {
    for (const auto& [input, value] : workspace_.shown().all()) {
      try {
        if (auto entry = encoded_entry(value)) add_line("shown", input, {{"value", std::move(*entry)}});
      } catch (const Failure& failure) {
        if (failure.error_class() == ErrorClass::Interrupted) throw;
      }
    }
  }

  // The statements; the values among them stand in the archive's other entries.
  std::string script_text(std::string_view heading) {
    std::string text = std::string(heading) + "\n";
    const SessionText statements = workspace_.statements();
    for (const SessionPiece& piece : statements.pieces()) {
      if (const auto* words = std::get_if<std::string>(&piece)) {
        text += *words;
        continue;
      }
      const ScriptValue& value = read_value(std::get<ScriptValue>(piece));
      if (value.tensor()) {
        text += fmt::format("load(\"{}:{}\")", values_entry,
                            tensor_entry_name(values_.tensor_number(*value.tensor())));
      } else {
        const std::size_t number = values_.module_number(*value.as<ModulePtr>());
        whole_.insert(number);
        text += fmt::format("load(\"{}\")", module_entry(number));
      }
    }
    return text;
  }

  void add_origins() {
    std::size_t number = 0;
    for (std::size_t module = 0; module < values_.modules().size(); ++module) {
      // By handle, as the list grows by what an origin needs.
      const ModulePtr held = values_.modules()[module].module;
      for (const GlobalFunction& function : held->functions) {
        // Those that stand in the base are told there.
        const OriginPtr origin = stands_in_base(module, function) ? nullptr : origin_of(function);
        if (!origin) continue;
        const auto source = values_.module_of(origin->source_function);
        if (!source) continue;
        Json json = {{"of", module},
                     {"function", name_of(function)},
                     {"command", origin->command},
                     {"source", origin->source},
                     {"source_of", *source},
                     {"source_function", name_of(origin->source_function)},
                     {"input", origin->input}};
        if (origin->options) json["options"] = *origin->options;
        add_line("origin", number++, json);
      }
    }
  }

  bool stands_in_base(std::size_t number, const GlobalFunction& function) const {
    const auto base = values_.modules()[number].base;
    if (!base || whole_.contains(number)) return false;
    const GlobalFunction* there = values_.modules()[*base].module->find(name_of(function));
    return there && *there == function;
  }

  // A module that the statements load stands there whole.
  std::string module_text(std::size_t number) const {
    const ValueEncoder::WrittenModule& written = values_.modules()[number];
    return whole_.contains(number) ? print(*written.module) : written.text;
  }

  // Where the functions stand that the archive has of the module, in a file as it was read.
  void add_file(Json& json, std::size_t number) {
    auto file = workspace_.files().functions_of_file(*values_.modules()[number].module);
    if (!file) return;
    std::erase_if(file->names, [&](const std::string& name) {
      return stands_in_base(number, *values_.modules()[number].module->find(name));
    });
    const auto [known, fresh] = files_.emplace(file->text, Json());
    if (fresh) known->second = *values_.encode(ScriptValue(*file->text));
    json["from"] = {{"path", file->path}, {"text", known->second}, {"functions", file->names}};
  }

  void add_modules() {
    for (std::size_t number = 0; number < values_.modules().size(); ++number) {
      const ValueEncoder::WrittenModule& written = values_.modules()[number];
      const std::string text = module_text(number);
      Json json = {{"name", written.module->name},
                   {"functions", written.module->names()},
                   {"bytes", text.size()},
                   {"crc", checksum_of(text.data(), text.size())}};
      if (written.base && !whole_.contains(number)) json["base"] = *written.base;
      if (const Library* library = library_of(written.module)) json["file"] = library->file;
      add_file(json, number);
      add_line("module", number, json);
    }
  }

  void add_tensors(const std::string& path) {
    std::vector<TensorForm> forms;
    const std::vector<Tensor>& tensors = values_.tensors();
    for (std::size_t i = 0; i < tensors.size(); ++i)
      forms.push_back({tensor_entry_name(i), tensors[i].dtype(), tensors[i].shape()});
    header_ = safetensors_header(path, forms);
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      poll_interrupt();
      add_line("tensor", i,
               {{"dtype", name_of(tensors[i].dtype())},
                {"shape", tensors[i].shape()},
                {"at", header_.bytes.size() + header_.begins[i]},
                {"crc", checksum_of(tensors[i].data(), static_cast<std::size_t>(tensors[i].byte_size()))}});
    }
  }

  // Calls `put` for the parts of the entry with the tensors.
  template <class Put>
  void for_each_part_of_values(const Put& put) const {
    put(header_.bytes.data(), header_.bytes.size());
    for (const std::size_t i : header_.order) {
      const Tensor& tensor = values_.tensors()[i];
      poll_interrupt();
      put(tensor.data(), static_cast<std::size_t>(tensor.byte_size()));
    }
  }

  void write(const std::string& path, const std::string& script) const {
    write_file_atomically(path, [&](ByteSink& sink) {
      std::uint64_t offset = 0;
      std::vector<ZipRecord> written;
      const auto put = [&](const void* data, std::size_t size) {
        sink.write(data, size);
        offset += size;
      };
      const auto put_text = [&](const std::string& text) { put(text.data(), text.size()); };
      const auto begin = [&](std::string name, std::uint32_t crc, std::uint64_t bytes) {
        written.push_back({std::move(name), crc, bytes, offset});
        put_text(zip_local_record(written.back()));
      };
      const auto add_text = [&](std::string name, const std::string& text) {
        begin(std::move(name), checksum_of(text.data(), text.size()), text.size());
        put_text(text);
      };
      add_text(std::string(script_entry), script);
      add_text(std::string(graph_entry), lines_ + values_.lines());
      for (std::size_t number = 0; number < values_.modules().size(); ++number)
        add_text(module_entry(number), module_text(number));
      std::uint32_t crc = 0;
      for_each_part_of_values(
          [&](const void* data, std::size_t size) { crc = checksum_of(data, size, crc); });
      begin(std::string(values_entry), crc, header_.bytes.size() + header_.data_bytes);
      for_each_part_of_values(put);
      const std::uint64_t directory = offset;
      for (const ZipRecord& entry : written) put_text(zip_central_record(entry));
      put_text(zip_end_records(written.size(), directory, offset - directory, ""));
    });
  }

  Workspace& workspace_;
  const Log& log_;
  ValueEncoder values_;
  SafetensorsHeader header_;
  std::string lines_;
  std::map<std::shared_ptr<const Surroundings>, std::size_t> arounds_;
  std::set<std::size_t> whole_;                               // modules that the statements load
  std::map<std::shared_ptr<const std::string>, Json> files_;  // texts of files
  SavedArchive result_;
};

}  // namespace

SavedArchive write_archive(Workspace& workspace, const std::string& path, std::string_view heading) {
  return ArchiveWriter(workspace).run(path, heading);
}

}  // namespace relish
