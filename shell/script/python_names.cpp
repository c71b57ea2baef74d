// What is written in the place of Python's names.
#include "shell/script/python_names.h"

#include <fmt/format.h>

namespace relish {
namespace {

struct PythonName {
  std::string_view name, write;
};

constexpr PythonName python_names[] = {
    {"bin", "; write f\"{n:#b}\""},
    {"bytearray", "; a tensor of uint8 holds bytes: load(path, bytes=True)"},
    {"bytes", "; a tensor of uint8 holds bytes: load(path, bytes=True)"},
    {"callable", "; write type(x) == \"function\""},
    {"complex", "; there are no complex numbers"},
    {"eval", "; a text is no program here; run(path) runs one, load(path) gives its functions"},
    {"exec", "; a text is no program here; run(path) runs one, load(path) gives its functions"},
    {"format", "; write f\"{x:.2f}\""},
    {"frozenset", "; a dict holds names once: {name: True for name in names}"},
    {"globals", "; :vars lists the names of a session"},
    {"hex", "; write f\"{n:#x}\""},
    {"id", "; values have no identity here; == compares them"},
    {"input", "; arg(name, default) is given on the command line as --set name=value"},
    {"isinstance", "; write type(x) == int"},
    {"issubclass", "; there are no classes of values; type(x) is a str"},
    {"iter", "; write for x in values, or values[i]"},
    {"locals", "; :vars lists the names of a session"},
    {"next", "; write for x in values, or values[i]"},
    {"object", "; a dict holds values by name"},
    {"oct", "; write f\"{n:#o}\""},
    {"open", "; write load(path) and save(value, path)"},
    {"set", "; a dict holds names once: {name: True for name in names}"},
    {"setattr", "; a dict holds values by name: d[name] = value"},
    {"slice", "; write values[a:b]"},
    {"super", "; there are no classes of values"},
};

}  // namespace

std::string python_name_advice(std::string_view name) {
  for (const PythonName& each : python_names)
    if (each.name == name) return std::string(each.write);
  return "";
}

}  // namespace relish
