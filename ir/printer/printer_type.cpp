// Printing of types and attribute values.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ir/printer/printer_internal.h"
#include "runtime/format.h"

namespace relish::printing {
namespace {

// In a signature dimensions with variables stand in quotes: there the variables are not declared yet.
void write_dim(Writer& w, const Scalar& dim) {
  bool quoted = false;
  if (w.signature) {
    std::vector<ScalarVar> vars;
    collect_vars(dim, vars);
    quoted = !vars.empty();
  }
  if (quoted) w.out += '"';
  write_scalar(w, dim);
  if (quoted) w.out += '"';
}

void write_kind(Writer& w, const TensorType& tensor) {
  w.text.uses_graph = true;
  bool whole = tensor.shape && tensor.dtype;
  if (whole && tensor.vdevice.empty() && w.text.dialect(Dialect::D2022)) {
    w.out += "Tensor(";
    write_tuple(w, *tensor.shape, [&](const Scalar& dim) { write_dim(w, dim); });
    w.out += fmt::format(", \"{}\")", name_of(*tensor.dtype));
    return;
  }
  w.out += "R.Tensor";
  if (!tensor.shape && !tensor.dtype && tensor.rank < 0 && tensor.vdevice.empty()) return;
  w.out += '(';
  std::string_view separator = "";
  if (tensor.shape) {
    write_tuple(w, *tensor.shape, [&](const Scalar& dim) { write_dim(w, dim); });
    separator = ", ";
  }
  if (tensor.dtype) {
    w.out += fmt::format("{}dtype=\"{}\"", separator, name_of(*tensor.dtype));
    separator = ", ";
  }
  if (!tensor.shape && tensor.rank >= 0) {
    w.out += fmt::format("{}ndim={}", separator, tensor.rank);
    separator = ", ";
  }
  if (!tensor.vdevice.empty()) {
    w.out += fmt::format("{}vdevice=", separator);
    write_string(w, tensor.vdevice);
  }
  w.out += ')';
}

void write_kind(Writer& w, const TupleType& tuple) {
  w.text.uses_graph = true;
  w.out += "R.Tuple";
  if (tuple.fields.empty()) return;
  w.out += '(';
  write_list(w, tuple.fields, [&](const Type& field) { write_type(w, field); });
  w.out += ')';
}

void write_kind(Writer& w, const ShapeType& shape) {
  w.text.uses_graph = true;
  w.out += "R.Shape";
  if (shape.dims) {
    w.out += "([";
    write_dims(w, *shape.dims);
    w.out += "])";
  } else if (shape.rank >= 0) {
    w.out += fmt::format("(ndim={})", shape.rank);
  }
}

void write_kind(Writer& w, const ScalarType& scalar) {
  if (w.text.dialect(Dialect::D026)) {
    w.text.uses_loops = true;
    w.out += fmt::format("T.{}", name_of(scalar.dtype));
  } else {
    w.text.uses_graph = true;
    w.out += fmt::format("R.Prim(\"{}\")", name_of(scalar.dtype));
  }
}

void write_kind(Writer& w, const std::shared_ptr<const FunctionType>& function) {
  w.text.uses_graph = true;
  w.out += "R.Callable";
  if (function->opaque) {
    const bool bare = !function->pure && function->result.as<AnyType>();
    if (bare) return;
    w.out += "(ret=";
    write_type(w, function->result);
    w.out += function->pure ? ", purity=True)" : ", purity=False)";
    return;
  }
  w.out += '(';
  write_tuple(w, function->params, [&](const Type& param) { write_type(w, param); });
  w.out += ", ";
  write_type(w, function->result);
  w.out += function->pure ? ", True)" : ", False)";
}

void write_kind(Writer& w, const StackType& stack) {
  w.text.uses_graph = w.text.uses_extensions = true;
  w.out += "R.Stack(";
  write_type(w, *stack.element);
  w.out += ')';
}

void write_any(Writer& w) {
  w.text.uses_graph = true;
  w.out += w.text.dialect(Dialect::D026) ? "R.Any" : "R.Object";
}
void write_kind(Writer& w, const AnyType&) { write_any(w); }
void write_kind(Writer& w, const StringType&) { write_any(w); }
void write_kind(Writer& w, const DTypeType&) { write_any(w); }
void write_kind(Writer& w, const ErrorType&) { write_any(w); }

}  // namespace

void write_type(Writer& w, const Type& type) {
  std::visit([&](const auto& kind) { write_kind(w, kind); }, type.kind());
}

void write_dims(Writer& w, const std::vector<Scalar>& dims) {
  write_list(w, dims, [&](const Scalar& dim) { write_dim(w, dim); });
}

bool has_spelling(const Type& type) {
  if (type.as<StringType>() || type.as<DTypeType>() || type.is_error()) return false;
  if (const TupleType* tuple = type.tuple()) {
    return std::all_of(tuple->fields.begin(), tuple->fields.end(), has_spelling);
  }
  if (const FunctionType* function = type.function()) {
    return has_spelling(function->result) &&
           std::all_of(function->params.begin(), function->params.end(), has_spelling);
  }
  return true;
}

void write_string(Writer& w, std::string_view text) {
  w.out += '"';
  for (char c : text) {
    switch (c) {
      case '"':
        w.out += "\\\"";
        break;
      case '\\':
        w.out += "\\\\";
        break;
      case '\n':
        w.out += "\\n";
        break;
      case '\r':
        w.out += "\\r";
        break;
      case '\t':
        w.out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
          w.out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        } else {
          w.out += c;
        }
    }
  }
  w.out += '"';
}

void write_attribute(Writer& w, const Attribute& attribute) {
  struct Visitor {
    Writer& w;
    void operator()(std::monostate) { w.out += "None"; }
    void operator()(bool value) { w.out += value ? "True" : "False"; }
    void operator()(std::int64_t value) { w.out += std::to_string(value); }
    void operator()(double value) {
      w.out +=
          std::isfinite(value) ? format_double(value) : fmt::format("float(\"{}\")", format_double(value));
    }
    void operator()(const std::string& value) { write_string(w, value); }
    void operator()(DType value) { w.out += fmt::format("\"{}\"", name_of(value)); }
    void operator()(const AttributeList& list) {
      w.out += '[';
      write_list(w, list, [&](const Attribute& item) { write_attribute(w, item); });
      w.out += ']';
    }
    void operator()(const Attributes& dictionary) { write_dictionary(w, dictionary); }
    void operator()(const std::shared_ptr<const AttributeCall>& call) {
      if (call->function.starts_with("T.")) w.text.uses_loops = true;
      w.out += call->function;
      w.out += '(';
      write_list(w, call->arguments, [&](const Attribute& item) { write_attribute(w, item); });
      for (std::size_t i = 0; i < call->named.size(); ++i) {
        if (i > 0 || !call->arguments.empty()) w.out += ", ";
        w.out += call->named[i].first;
        w.out += '=';
        write_attribute(w, call->named[i].second);
      }
      w.out += ')';
    }
  };
  std::visit(Visitor{w}, attribute.kind);
}

void write_dictionary(Writer& w, const Attributes& attributes, bool prim_func) {
  std::vector<std::pair<std::string, const Attribute*>> entries;
  for (const auto& [key, value] : attributes) {
    bool prefixed = prim_func && key == "noalias";
    std::string_view prefix = !prefixed ? "" : w.text.dialect(Dialect::D026) ? "tirx." : "tir.";
    entries.emplace_back(std::string(prefix) + key, &value);
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  w.out += '{';
  write_list(w, entries, [&](const auto& entry) {
    write_string(w, entry.first);
    w.out += ": ";
    write_attribute(w, *entry.second);
  });
  w.out += '}';
}

}  // namespace relish::printing
