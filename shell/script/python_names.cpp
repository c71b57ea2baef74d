// What is written in the place of Python's names.
#include "shell/script/python_names.h"

#include <span>

#include <fmt/format.h>

#include "shell/script/dict_index.h"
#include "shell/script/methods.h"
#include "shell/script/script_function.h"

namespace relish {
namespace {

struct PythonName {
  std::string_view name, write;
};

constexpr PythonName python_names[] = {
    {"__file__", "; paths of load and save are relative to the file"},
    {"__name__", "; the statements of a script run when it is run: write them without the if"},
    {"ascii", "; write f\"{x!a}\""},
    {"bin", "; write f\"{n:#b}\""},
    {"bytearray", "; a tensor of uint8 holds bytes: load(path, bytes=True)"},
    {"bytes", "; a tensor of uint8 holds bytes: load(path, bytes=True)"},
    {"callable", "; write type(x) == \"function\""},
    {"complex", "; there are no complex numbers"},
    {"eval", "; a text is no program here; run(path) runs one, load(path) gives its functions"},
    {"exec", "; a text is no program here; run(path) runs one, load(path) gives its functions"},
    {"false", "; write False"},
    {"format", "; write f\"{x:.2f}\""},
    {"frozenset", "; a dict holds names once: {name: True for name in names}"},
    {"globals", "; :vars lists the names of a session"},
    {"hex", "; write f\"{n:#x}\""},
    {"id", "; values have no identity here; == compares them"},
    {"input", "; arg(name, default) is given on the command line as --set name=value"},
    {"isinstance", "; write type(x) == int; a tensor is told by hasattr(x, \"dtype\")"},
    {"issubclass", "; there are no classes of values; type(x) is a str"},
    {"iter", "; write for x in values, or values[i]"},
    {"locals", "; :vars lists the names of a session"},
    {"memoryview", "; a tensor of uint8 holds bytes: load(path, bytes=True)"},
    {"next", "; write for x in values, or values[i]"},
    {"nil", "; write None"},
    {"none", "; write None"},
    {"null", "; write None"},
    {"object", "; a dict holds values by name"},
    {"oct", "; write f\"{n:#o}\""},
    {"open", "; write load(path) and save(value, path)"},
    {"quit", "; write exit()"},
    {"raw_input", "; arg(name, default) is given on the command line as --set name=value"},
    {"reduce", "; write a loop: for x in xs: total = f(total, x)"},
    {"set", "; a dict holds names once: {name: True for name in names}"},
    {"setattr", "; a dict holds values by name: d[name] = value"},
    {"slice", "; write values[a:b]"},
    {"string", "; write str(x)"},
    {"super", "; there are no classes of values"},
    {"true", "; write True"},
    {"undefined", "; write None"},
    {"unicode", "; write str(x)"},
    {"xrange", "; write range(n)"},
};

// Members that lists, dicts and strs have in other languages, or in Python alone.
struct Member {
  std::string_view name, write;
};

constexpr Member members_of_lists[] = {
    {"add", "xs.append(x)"}, {"contains", "x in xs"},     {"forEach", "for x in xs"},
    {"includes", "x in xs"}, {"join", "\", \".join(xs)"}, {"len", "len(xs)"},
    {"length", "len(xs)"},   {"max", "max(xs)"},          {"mean", "sum(xs) / len(xs)"},
    {"min", "min(xs)"},      {"push", "xs.append(x)"},    {"shape", "tensor(xs).shape"},
    {"size", "len(xs)"},     {"sum", "sum(xs)"},
};
constexpr Member members_of_dicts[] = {
    {"contains", "key in d"},   {"has", "key in d"},      {"has_key", "key in d"},
    {"iteritems", "d.items()"}, {"iterkeys", "d.keys()"}, {"itervalues", "d.values()"},
    {"len", "len(d)"},          {"length", "len(d)"},     {"size", "len(d)"},
};
constexpr Member members_of_texts[] = {
    {"__name__", "type(x) alone, which is the name"},
    {"casefold", "s.lower()"},
    {"contains", "part in s"},
    {"encode", "s alone: files and tensors of bytes come from load(path, bytes=True)"},
    {"expandtabs", "s.replace(\"\\t\", \"    \")"},
    {"includes", "part in s"},
    {"format_map", "s.format(**d)"},
    {"isascii", "all(ord(c) < 128 for c in s)"},
    {"isdecimal", "s.isdigit()"},
    {"isnumeric", "s.isdigit()"},
    {"len", "len(s)"},
    {"length", "len(s)"},
    {"size", "len(s)"},
    {"toLowerCase", "s.lower()"},
    {"toUpperCase", "s.upper()"},
    {"translate", "\"\".join(table.get(c, c) for c in s)"},
    {"trim", "s.strip()"},
};

std::string member_in(std::span<const Member> members, std::string_view name) {
  for (const Member& each : members)
    if (each.name == name) return fmt::format("; write {}", each.write);
  return "";
}

// Methods taken from their type, as in key=str.lower, and those that make a value.
std::string advice_for_type(const ScriptFunction& type, std::string_view name) {
  if (type.name == "dict" && name == "fromkeys") return "; write {key: None for key in keys}";
  const ScriptValue sample = type.name == "str"    ? ScriptValue(std::string())
                             : type.name == "list" ? ScriptValue::list({})
                             : type.name == "dict" ? ScriptValue::dict({})
                                                   : ScriptValue();
  const ValueMethod* method = sample.is_none() ? nullptr : find_method(sample, name);
  if (!method || method->change) return "";
  return fmt::format("; write lambda x: x.{}()", name);
}

}  // namespace

std::string python_member_advice(const ScriptValue& value, std::string_view name) {
  if (const ScriptList* list = value.sequence()) {
    const bool grows = list->tuple && (name == "add" || name == "push");
    return grows ? "" : member_in(members_of_lists, name);
  }
  if (value.string()) return member_in(members_of_texts, name);
  const ScriptFunction* function = value.script_function();
  if (function && function->builtin) return advice_for_type(*function, name);
  const ScriptDict* dict = value.dictionary();
  if (!dict) return "";
  if (find_in(*dict, ScriptValue(std::string(name)))) return fmt::format("; write d[\"{}\"]", name);
  return member_in(members_of_dicts, name);
}

std::string python_name_advice(std::string_view name) {
  for (const PythonName& each : python_names)
    if (each.name == name) return std::string(each.write);
  return "";
}

}  // namespace relish
