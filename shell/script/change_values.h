// Changes of values in place: items of lists, dicts and tensors that nobody else holds. Each checks all that
// can go wrong before it changes anything.
#pragma once

#include <vector>

#include "shell/script/environment.h"
#include "shell/script/indexing.h"

namespace relish {

// The item itself, of a list or dict, which becomes the holder's own; `levels` of nesting will stand in it.
// TypeError for what has no items that change.
ScriptValue& item_to_change(ScriptValue& holder, const std::vector<SubscriptItem>& items,
                            std::uint32_t levels, Span span);
// holder[items] = value.
void set_item_of(ScriptValue& holder, const std::vector<SubscriptItem>& items, ScriptValue value,
                 Environment* undo, Span span);
// del holder[items].
void remove_item_of(ScriptValue& holder, const std::vector<SubscriptItem>& items, Environment* undo,
                    Span span);
// `value += operand` of a text or a list that nobody else holds; false, with nothing changed, for others.
bool grow_in_place(ScriptValue& value, const ScriptValue& operand, Span span);

// Entries of the dict that `holder` holds.
void set_entry(ScriptValue& holder, ScriptValue key, ScriptValue value, Environment* undo);
ScriptValue take_entry(ScriptValue& holder, std::size_t position, Environment* undo);
// Items of the list that `holder` holds.
void insert_items(ScriptValue& holder, std::size_t position, std::vector<ScriptValue> items,
                  Environment* undo, Span span);
std::vector<ScriptValue> take_items(ScriptValue& holder, std::size_t position, std::size_t count,
                                    Environment* undo);

}  // namespace relish
