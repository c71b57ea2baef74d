// The copies of parts of both factors into their panels.
#pragma once

#include "schedule/blocks/panels.h"
#include "schedule/blocks/scope.h"

namespace relish {

// Of the block and the part of terms that the scope stands at.
Stmt copied_right(ContractionScope& scope, const Panel& panel);
Stmt copied_left(ContractionScope& scope, const Panel& panel);
// The same of whole tiles of rows, by vectors of terms, where these lie side by side and their number allows
// it. Behind the last row that one is copied again.
Stmt copied_rows(ContractionScope& scope, const Panel& panel);
// Every place that columns of the block and terms of the part see, in the order of the panel. Padding is
// written once, before all parts.
Stmt copied_windows(ContractionScope& scope, const WindowPanel& panel);
// The same of places where rows and terms meet; padding whose places change from part to part is written in
// each.
Stmt copied_meetings(ContractionScope& scope, const MeetingPanel& panel);

}  // namespace relish
