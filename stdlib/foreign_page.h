// The manual's page of names of other libraries, generated from the tables.
#pragma once

#include <string>

namespace relish {

// docs/other-libraries.md: what each name of PyTorch, NumPy, JAX, Keras and TVM's other layers is here.
std::string foreign_markdown();

}  // namespace relish
