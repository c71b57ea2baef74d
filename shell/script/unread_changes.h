// Which changes of a text are lost: `for row in rows: row.append(1)` changes `row`, which the next round
// binds anew, and not `rows` as in Python. Found from the text alone, before anything runs; whether somebody
// else holds what is changed is seen when it runs (lost_changes.h).
#pragma once

#include "frontend/text/ast.h"

namespace relish {

// Notes at the names in front of changes that nobody reads them behind the change (ast::Name::unread), in the
// statements and the functions among them. The places of names are known. `visible`: somebody may read the
// names of the text when it is done, as in a session.
void find_unread_changes(const ast::Block& statements, bool visible);

}  // namespace relish
