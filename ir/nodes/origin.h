// Where a function comes from that a command made of another one. Functions carry it; it is neither printed
// nor compared, and it says nothing about what a function means.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <variant>

namespace relish {

struct Function;
struct PrimFunc;
struct ExternFunction;

struct FunctionOrigin {
  std::string command;                 // gradient
  std::optional<std::string> options;  // wrt=["w"]; none: no text says them
  std::string source;                  // the name of what it was made from
  std::variant<std::shared_ptr<const Function>, std::shared_ptr<const PrimFunc>,
               std::shared_ptr<const ExternFunction>>
      source_function;
  std::size_t input = 0;  // of a session, that made it
};
using OriginPtr = std::shared_ptr<const FunctionOrigin>;

}  // namespace relish
