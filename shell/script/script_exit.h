// What exit(n) throws: it unwinds the statement, the script and the session, and ends the program with its
// code. No Failure: nothing went wrong, and nothing is reported.
#pragma once

namespace relish {

struct ScriptExit {
  int code = 0;
};

}  // namespace relish
