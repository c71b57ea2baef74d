// The standard library's entry: installs its operators. Texts (bodies, losses, optimizers) are read at first
// use.
#pragma once

namespace relish {

// Installs the table of all operators of stdlib/ops; cheap, and idempotent.
void install_stdlib();

}  // namespace relish
