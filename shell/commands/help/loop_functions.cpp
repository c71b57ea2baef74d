// One table for what has no other; the intrinsics say their operands in theirs.
#include "shell/commands/help/loop_functions.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "ir/nodes/intrinsic.h"
#include "runtime/dtype.h"

namespace relish {
namespace {

struct LoopFunction {
  std::string_view names;     // between blanks, each a spelling of it
  std::string_view synopsis;  // behind "T." and the name that was asked for
  std::string_view does;
};

constexpr LoopFunction functions[] = {
    {"add Add", "(a, b)", "a + b."},
    {"Sub", "(a, b)", "a - b."},
    {"Mul", "(a, b)", "a * b."},
    {"div Div truncdiv", "(a, b)", "The quotient; of integers cut toward zero, as in C. a // b rounds down."},
    {"truncmod Mod", "(a, b)", "The remainder of truncdiv, with the sign of a. a % b has the sign of b."},
    {"floordiv FloorDiv indexdiv", "(a, b)", "a // b of integers, rounded down."},
    {"floormod FloorMod indexmod", "(a, b)", "a % b of integers, with the sign of b."},
    {"ceildiv", "(a, b)", "The quotient of integers, rounded up."},
    {"fmod", "(a, b)", "The remainder of floats, with the sign of a."},
    {"min Min", "(a, b)", "a < b ? a : b."},
    {"max Max", "(a, b)", "a > b ? a : b."},
    {"bitwise_and", "(a, b)", "a & b."},
    {"bitwise_or", "(a, b)", "a | b."},
    {"bitwise_xor", "(a, b)", "a ^ b."},
    {"bitwise_not", "(a)", "~a."},
    {"shift_left", "(a, b)", "a << b."},
    {"shift_right", "(a, b)", "a >> b; of signed integers the sign comes in."},
    {"LT", "(a, b)", "a < b."},
    {"LE", "(a, b)", "a <= b."},
    {"GT", "(a, b)", "a > b."},
    {"GE", "(a, b)", "a >= b."},
    {"EQ", "(a, b)", "a == b."},
    {"NE", "(a, b)", "a != b."},
    {"And", "(a, b)", "a and b: b is computed only where a is true."},
    {"Or", "(a, b)", "a or b: b is computed only where a is false."},
    {"Not", "(a)", "not a."},
    {"if_then_else", "(condition, a, b)",
     "a where the condition is true, else b. Only the one that is taken is computed, so a load in the other may "
     "be out of range."},
    {"Select", "(condition, a, b)",
     "a where the condition is true, else b. Both are computed: a load that may be out of range wants "
     "T.if_then_else."},
    {"Cast", "(dtype, a)", "a as the dtype: T.Cast(\"float32\", a)."},
    {"cast", "(a, dtype)", "a as the dtype: T.cast(a, \"float32\")."},
    {"reinterpret", "(dtype, a)", "The bits of a as a dtype of the same width."},
    {"min_value", "(dtype)", "The least value of the dtype: T.min_value(\"float32\")."},
    {"max_value", "(dtype)", "The greatest value of the dtype: T.max_value(\"int8\")."},
    {"infinity", "(dtype)", "Infinity of a float dtype."},
    {"nan", "(dtype)", "No number, of a float dtype."},
    {"FloatImm", "(dtype, value)", "A literal: T.float32(0.5) says the same."},
    {"IntImm", "(dtype, value)", "A literal: T.int32(3) says the same."},
    {"likely", "(condition)", "The condition; that it is mostly true is a hint which nothing needs."},
    {"ignore_loop_partition", "(condition)", "The condition; a hint which nothing needs."},
    {"Let", "(body, where={v: value})", "The body with the variable v standing for the value."},
    {"Broadcast", "(value, lanes)", "A vector of the same value."},
    {"Ramp", "(base, stride, lanes)", "A vector: base, base + stride, …"},
    {"Shuffle", "(vectors, indices)", "A vector of those elements of the vectors."},
    {"q_multiply_shift", "(x, y, q, s)", "x * y / 2^q * 2^s of int32 numbers in fixed point, rounded once."},
    {"q_multiply_shift_per_axis", "(x, y, left, right, q, is_left, is_right)",
     "The product of int32 numbers in fixed point with shifts of its own."},
    {"reads", "(A[i, 0:4], …)",
     "A line of a block: what it reads. Found from its statements where it is left out."},
    {"writes", "(B[i], …)",
     "A line of a block: what it writes. Found from its statements where it is left out."},
    {"where", "(condition)",
     "A line of a block: it runs only where the condition is true. T.if_then_else chooses one of two values."},
    {"func_attr", "({\"tirx.noalias\": True})", "The first line of a prim_func: its attributes."},
    {"sblock_attr block_attr", "({…})", "A line of a block: its attributes."},
    {"init", "()",
     "with T.init(): of a block: what it stores before the first round of its reduce variables."},
    {"Buffer buffer", "(shape, dtype=\"float32\")",
     "A: T.Buffer((n, 4), \"float32\"), a parameter: its elements are A[i, j]. A size that is no number is a T.int32() "
     "or T.int64() of the function."},
    {"handle", "", "a: T.handle, a parameter: T.match_buffer says which buffer it is."},
    {"thread_binding", "(extent, thread=\"threadIdx.x\")",
     "for i in T.thread_binding(…): a loop over threads, run one after the other."},
    {"LetStmt let bind", "(value)",
     "with T.LetStmt(value) as v:, or v: T.let = value: a name for the value, computed once."},
    {"allocate", "(shape, dtype=\"float32\", scope=\"global\")",
     "Memory of the lines below; T.alloc_buffer says the same of a buffer."},
    {"alloc_local", "(shape, dtype=\"float32\")", "T.alloc_buffer in the scope \"local\"."},
    {"allocate_const", "(values, dtype, shape)", "Memory that holds these values."},
    {"BufferLoad buffer_load", "(A, indices)", "A[i]."},
    {"buffer_store", "(A, value, indices)", "A statement: A[i] = value."},
    {"Assert", "(condition, message)",
     "A statement, or the head of lines below: the run ends with the message where the condition is false."},
    {"ret", "(value)", "A statement: the function ends with the value."},
    {"break_loop", "()", "A statement: the loop ends. break says the same."},
    {"continue_loop", "()", "A statement: the next round begins. continue says the same."},
    {"alloc_buffer sblock_alloc_buffer", "(shape, dtype=\"float32\", scope=\"global\")",
     "A = T.alloc_buffer((4,)): memory of the function or of the block that it stands in."},
    {"match_buffer", "(handle, shape, dtype=\"float32\")",
     "A = T.match_buffer(a, (n,)): the buffer of a parameter that is a T.handle, or of a region of another buffer."},
    {"decl_buffer buffer_decl", "(shape, dtype, data=A.data)", "A view over the elements of another buffer."},
    {"evaluate", "(value)", "A statement: computes the value and drops it; T.evaluate(0) does nothing."},
    {"attr", "(node, key, value)",
     "with T.attr(…): what TVM notes of the lines below; kept as far as it has a meaning."},
    {"meta_var", "(value)", "A name for the value itself, put in its place by the reader."},
    {"axis", ".spatial(extent, i) · T.axis.reduce(extent, k) · T.axis.remap(\"SR\", [i, k])",
     "v = T.axis.…: a variable of a block, with its range and its value. A spatial one is of an element of the result, a "
     "reduce one of a sum over it."},
    {"launch_thread", "(\"threadIdx.x\", extent)",
     "with T.launch_thread(…): a loop over threads, run one after the other."},
    {"env_thread", "(\"threadIdx.x\")", "A thread that T.launch_thread starts later."},
};

struct IntrinsicWords {
  Intrinsic which;
  std::string_view does;
};

constexpr IntrinsicWords intrinsic_words[] = {
    {Intrinsic::Exp, "e to the power a."},
    {Intrinsic::Log, "The natural logarithm."},
    {Intrinsic::Sqrt, "The square root."},
    {Intrinsic::Rsqrt, "1 / sqrt(a)."},
    {Intrinsic::Tanh, "The hyperbolic tangent."},
    {Intrinsic::Sigmoid, "1 / (1 + exp(-a))."},
    {Intrinsic::Erf, "The error function."},
    {Intrinsic::Sin, "The sine."},
    {Intrinsic::Cos, "The cosine."},
    {Intrinsic::Tan, "The tangent."},
    {Intrinsic::Floor, "The next integer below."},
    {Intrinsic::Ceil, "The next integer above."},
    {Intrinsic::Round, "The nearest integer, ties to even."},
    {Intrinsic::Trunc, "The integer without the fraction."},
    {Intrinsic::Abs, "The value without its sign."},
    {Intrinsic::Pow, "a to the power b."},
    {Intrinsic::IsNan, "Whether it is no number."},
    {Intrinsic::IsInf, "Whether it is infinite."},
    {Intrinsic::IsFinite, "Whether it is neither infinite nor no number."},
    {Intrinsic::Exp2, "2 to the power a."},
    {Intrinsic::Log2, "The logarithm to the base 2."},
    {Intrinsic::Log1p, "log(1 + a), exact near 0."},
    {Intrinsic::Expm1, "exp(a) - 1, exact near 0."},
    {Intrinsic::Acos, "The inverse of the cosine."},
    {Intrinsic::Acosh, "The inverse of the hyperbolic cosine."},
    {Intrinsic::Asin, "The inverse of the sine."},
    {Intrinsic::Asinh, "The inverse of the hyperbolic sine."},
    {Intrinsic::Atan, "The inverse of the tangent."},
    {Intrinsic::Atanh, "The inverse of the hyperbolic tangent."},
    {Intrinsic::Cosh, "The hyperbolic cosine."},
    {Intrinsic::Sinh, "The hyperbolic sine."},
    {Intrinsic::Exp10, "10 to the power a."},
    {Intrinsic::Log10, "The logarithm to the base 10."},
    {Intrinsic::Atan2, "The angle of the point (b, a)."},
    {Intrinsic::Copysign, "a with the sign of b."},
    {Intrinsic::Hypot, "sqrt(a * a + b * b)."},
    {Intrinsic::Nextafter, "The number next to a on the way to b."},
    {Intrinsic::Fma, "a * b + c, rounded once."},
    {Intrinsic::Ldexp, "a * 2^b, b an int32."},
    {Intrinsic::Clz, "How many of the first bits are 0."},
    {Intrinsic::Popcount, "How many of the bits are 1."},
};

std::vector<std::string_view> spellings_of(std::string_view names) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < names.size();) {
    const std::size_t end = std::min(names.find(' ', at), names.size());
    words.push_back(names.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

std::string_view operands_of(IntrinsicOperands operands) {
  switch (operands) {
    case IntrinsicOperands::Floats:
      return "floats";
    case IntrinsicOperands::WideFloats:
      return "float32 and float64";
    case IntrinsicOperands::Numbers:
      return "floats and integers";
    case IntrinsicOperands::Integers:
      return "integers";
    case IntrinsicOperands::FloatAndInt32:
      return "a float and an int32";
  }
  return "";
}

std::string intrinsic_page(const IntrinsicInfo& info, std::string_view name) {
  constexpr std::string_view arguments[] = {"()", "(a)", "(a, b)", "(a, b, c)"};
  std::string text = fmt::format("T.{}{}\n  ", name, arguments[info.arity]);
  for (const IntrinsicWords& words : intrinsic_words)
    if (words.which == info.which) text += fmt::format("{} ", words.does);
  const std::string_view result = info.result == IntrinsicResult::Bool    ? ", gives a bool"
                                  : info.result == IntrinsicResult::Int32 ? ", gives an int32"
                                                                          : "";
  return text + fmt::format("It takes {}{}.", operands_of(info.operands), result);
}

constexpr std::string_view manual = "\n  manual: docs/language.md, Loop nests";

bool is_lanes(std::string_view text) {
  return !text.empty() && text.size() <= 4 && text.front() != '0' &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

// T.float32, T.bool, and of several lanes T.float32x4.
std::optional<std::string> dtype_call_page(std::string_view name) {
  if (const auto dtype = dtype_from_name(std::string(name)); dtype && name_of(*dtype) == name)
    return fmt::format(
        "T.{0}(x)\n  In a function: x as a number of {0}, converted; of a literal the constant of that dtype.{1}\n"
        "  a: T.{0}, a parameter of a prim_func: a number.{2}",
        name, is_float(*dtype) ? fmt::format(" T.{}(\"inf\") and \"nan\" too.", name) : "",
        is_float(*dtype) || is_bool(*dtype)
            ? ""
            : fmt::format("\n  n = T.{}(), a statement: a size, which the types of parameters fix.", name));
  const std::size_t times = std::min(name.rfind('x'), name.size());
  const std::string_view lane = name.substr(0, times);
  const auto dtype = dtype_from_name(std::string(lane));
  if (!dtype || name_of(*dtype) != lane || !is_lanes(name.substr(std::min(times + 1, name.size()))))
    return std::nullopt;
  return fmt::format(
      "T.{0}(x)\n  In a prim_func: a vector of {1} lanes, each x as a number of {2}; of a vector of {1} lanes those, "
      "converted.\n  T.Broadcast(x, {1}) and T.Ramp(base, stride, {1}) make vectors too.",
      name, name.substr(times + 1), lane);
}

}  // namespace

std::optional<std::string> loop_function_page(std::string_view name) {
  if (!name.starts_with("T.")) return std::nullopt;
  name.remove_prefix(2);
  // T.axis.spatial is told with T.axis.
  constexpr std::string_view axis = "axis",
                             kinds[] = {"spatial", "reduce", "remap", "scan", "opaque", "S", "R"};
  if (name.starts_with("axis.") &&
      std::find(std::begin(kinds), std::end(kinds), name.substr(axis.size() + 1)) != std::end(kinds))
    name = axis;
  for (const LoopFunction& function : functions) {
    const std::vector<std::string_view> names = spellings_of(function.names);
    if (std::find(names.begin(), names.end(), name) == names.end()) continue;
    std::string text = fmt::format("T.{}{}\n  {}", name, function.synopsis, function.does);
    std::string others;
    for (const std::string_view other : names)
      if (other != name) others += fmt::format("{}T.{}", others.empty() ? "" : ", ", other);
    if (!others.empty()) text += fmt::format("\n  also written {}", others);
    return text.append(manual);
  }
  if (const auto page = dtype_call_page(name)) return *page + std::string(manual);
  if (const auto which = intrinsic_from_name(name))
    return intrinsic_page(info_of(*which), name).append(manual);
  return std::nullopt;
}

std::vector<std::string> loop_function_names() {
  std::vector<std::string> names;
  for (const LoopFunction& function : functions)
    for (const std::string_view name : spellings_of(function.names))
      names.push_back("T." + std::string(name));
  for (const IntrinsicInfo& info : intrinsics()) {
    names.push_back("T." + std::string(info.name));
    if (!info.alias.empty()) names.push_back("T." + std::string(info.alias));
  }
  return names;
}

}  // namespace relish
