// The loader of standard library texts of this process.
#include "ir/operators/evaluator.h"

namespace relish {
namespace {

BodyLoader* installed = nullptr;

}  // namespace

void install_body_loader(BodyLoader& loader) { installed = &loader; }

BodyLoader& body_loader() {
  RELISH_CHECK(installed != nullptr, "no loader of standard library texts is installed");
  return *installed;
}

}  // namespace relish
