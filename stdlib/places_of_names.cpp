// The two tables.
#include "stdlib/places_of_names.h"

#include <span>

namespace relish {
namespace {

struct Place {
  std::string_view name, elsewhere;
};

constexpr std::string_view no_text = "a function has no texts to compute with; call it in a statement";
constexpr std::string_view no_list =
    "a function has no lists to compute with; compute it in a statement and make it a constant";
constexpr std::string_view no_call = "call it in a statement, and give what it makes to the function";

constexpr Place function_places[] = {
    {"abs", "write R.abs(x)"},
    {"all", "write R.min(R.astype(x, \"int8\")) > 0"},
    {"allclose", "call it in a statement, or write R.max(R.abs(x - y)) < 1e-5"},
    {"any", "write R.max(R.astype(x, \"int8\")) > 0"},
    {"arange", "write R.arange(0, 10)"},
    {"arg", "write name = arg(\"name\", 0.1) above it: a constant that functions see"},
    {"bool", "write R.astype(x, \"bool\")"},
    {"chr", no_text},
    {"clock", no_call},
    {"dict", "a tuple holds values: return (x, y)"},
    {"dir", no_call},
    {"divmod", "write R.floor_divide(x, y) and R.floor_mod(x, y)"},
    {"donate", no_call},
    {"enumerate", "write for i in range(n) with R.take(x, i, axis=0)"},
    {"exit", "write R.assert_op(condition) in a function with pure=False"},
    {"fail", "write R.assert_op(condition) in a function with pure=False"},
    {"filter", no_list},
    {"float", "write R.astype(x, \"float32\"), or T.float32(n) of a dimension"},
    {"full", "write R.full((2, 3), R.const(1.0), \"float32\")"},
    {"getattr", no_call},
    {"hasattr", no_call},
    {"hash", no_call},
    {"int", "write R.astype(x, \"int64\")"},
    {"key", "make it a parameter, key: R.Tensor((2,), \"uint32\"), and give it key(0)"},
    {"len", "write x.shape[0]"},
    {"list", "a tuple holds values: (x, y)"},
    {"load", no_call},
    {"map", no_list},
    {"max", "write R.max(x), or R.maximum(x, y) of two tensors"},
    {"min", "write R.min(x), or R.minimum(x, y) of two tensors"},
    {"ones", "write R.ones((2, 3), \"float32\")"},
    {"ord", no_text},
    {"pow", "write R.power(x, y), or x ** y"},
    {"print", "write R.print(x) in a function with pure=False"},
    {"rand", "write R.random.uniform(key, (2, 3)), with a parameter key: R.Tensor((2,), \"uint32\")"},
    {"randn", "write R.random.normal(key, (2, 3)), with a parameter key: R.Tensor((2,), \"uint32\")"},
    {"range", "for i in range(n) is a loop of the function; its numbers as a tensor are R.arange(0, n)"},
    {"repr", no_text},
    {"reversed", "write R.flip(x, axis=0)"},
    {"round", "write R.round(x)"},
    {"save", no_call},
    {"sorted", "write R.sort(x)"},
    {"str", no_text},
    {"sum", "write R.sum(x)"},
    {"tensor", "write R.const([1.0, 2.0], \"float32\")"},
    {"tuple", "write (x, y)"},
    {"zeros", "write R.zeros((2, 3), \"float32\")"},
    {"zip", "write for i in range(n) with R.take(x, i, axis=0)"},
};

constexpr std::string_view a_type =
    "it is a type, which stands in functions; tensor([1.0, 2.0]), zeros((2, 3)) and their like make values";
constexpr std::string_view of_bodies = "it stands in the body of an R.function";
constexpr std::string_view calls =
    "it stands in functions; a statement calls a prim_func by its name, f(x), and gets what it writes";
constexpr std::string_view native_calls =
    "it stands in functions: write an R.function with this call, and call that";

constexpr Place statement_places[] = {
    {"R.Any", a_type},
    {"R.Callable", a_type},
    {"R.Object", a_type},
    {"R.Prim", a_type},
    {"R.Shape", a_type},
    {"R.Stack", a_type},
    {"R.Tensor", a_type},
    {"R.Tuple", a_type},
    {"R.call_dps_packed", native_calls},
    {"R.call_inplace_packed", native_calls},
    {"R.call_packed", native_calls},
    {"R.call_pure_packed", native_calls},
    {"R.call_tir", calls},
    {"R.call_tir_inplace", calls},
    {"R.call_tir_with_grad", calls},
    {"R.dataflow", of_bodies},
    {"R.func_attr", of_bodies},
    {"R.func_ret_value", of_bodies},
    {"R.match_cast",
     "it stands in functions; a statement reads x.shape and x.dtype: assert x.shape == (2, 3)"},
    {"R.output", of_bodies},
    {"T.bool", "it stands in functions; write tensor(x, \"bool\"), or bool(x)"},
    {"T.float16", "it stands in functions; write tensor(x, \"float16\")"},
    {"T.float32", "it stands in functions; write tensor(x, \"float32\"), or float(x)"},
    {"T.float64", "it stands in functions; write tensor(x, \"float64\"), or float(x)"},
    {"T.grid", "it stands in a prim_func; for i in range(n) is the loop of statements"},
    {"T.int32", "it stands in functions; write tensor(x, \"int32\"), or int(x)"},
    {"T.int64", "it stands in functions; write tensor(x, \"int64\"), or int(x)"},
    {"T.parallel", "it stands in a prim_func; for i in range(n) is the loop of statements"},
    {"T.serial", "it stands in a prim_func; for i in range(n) is the loop of statements"},
    {"T.uint8", "it stands in functions; write tensor(x, \"uint8\")"},
    {"T.unroll", "it stands in a prim_func; for i in range(n) is the loop of statements"},
    {"T.vectorized", "it stands in a prim_func; for i in range(n) is the loop of statements"},
};

std::string_view look_up(std::span<const Place> table, std::string_view name) {
  for (const Place& place : table)
    if (place.name == name) return place.elsewhere;
  return {};
}

}  // namespace

std::string_view written_in_functions(std::string_view builtin) { return look_up(function_places, builtin); }
std::string_view written_in_statements(std::string_view name) { return look_up(statement_places, name); }

}  // namespace relish
