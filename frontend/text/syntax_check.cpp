// Scanning and parsing alone.
#include "frontend/text/syntax_check.h"

#include "frontend/context.h"
#include "frontend/text/scanner.h"
#include "frontend/text/statement_reader.h"
#include "support/big_stack.h"

namespace relish {

void check_syntax_of(std::uint32_t file, Diagnostics& diagnostics) {
  const SourceFile* source = Sources::instance().find(file);
  RELISH_CHECK(source != nullptr);
  with_big_stack([&] {
    ReadContext context(file, source->text(), diagnostics);
    const ScannedSource scanned = scan_source(file, source->text(), diagnostics);
    StatementReader(context).read(scanned.lines);
  });
}

}  // namespace relish
