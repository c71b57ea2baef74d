#!/usr/bin/env python3
"""Letters beyond ASCII, as Python knows them.

Writes shell/script/letter_tables.cpp, which characters are letters, numbers, of upper and of lower case, and what case
makes of them, and shell/script/letters_unprintable.cpp, which nobody sees. `--check` only says whether the files are as
this script makes them.

    python3 tests/numbers/letters.py [--check]
"""
import os
import sys
import unicodedata

FOLDER = os.path.join(os.path.dirname(__file__), "..", "..", "shell", "script")
ALL = [c for c in range(0x80, 0x110000) if not 0xD800 <= c < 0xE000]


def ranges(holds, begin=0x80):
    """[first, last, step] of the characters that `holds` takes; capitals and small letters often take turns."""
    found = []
    for c in list(range(begin, 0x80)) + ALL:
        if not holds(chr(c)):
            continue
        gap = c - found[-1][1] if found else 0
        if found and gap in (1, 2) and found[-1][2] in (0, gap):
            found[-1][1:] = [c, gap]
        else:
            found.append([c, c, 0])
    return [(first, last, max(step, 1)) for first, last, step in found]


def shifts(change, differs):
    """[first, last, step, distance] of the characters that one character takes the place of, and the others."""
    found, others = [], []
    for c in ALL:
        if not differs(chr(c)):
            continue
        to = change(chr(c))
        if len(to) > 1:
            others.append((c, to))
            continue
        distance = ord(to) - c
        gap = c - found[-1][1] if found else 0
        if found and gap in (1, 2) and found[-1][2] in (0, gap) and found[-1][3] == distance:
            found[-1][1:3] = [c, gap]
        else:
            found.append([c, c, 0, distance])
    return [(first, last, max(step, 1), distance) for first, last, step, distance in found], others


def rows(items):
    text, line = "", "   "
    for item in items:
        if len(line) + len(item) + 2 > 110:
            text, line = text + line + "\n", "   "
        line += " " + item + ","
    return text + line + "\n"


def table(kind, name, items):
    return f"constexpr {kind} {name}_rows[] = {{\n{rows(items)}}};\nconst std::span<const {kind}> {name} = {name}_rows;\n\n"


def ranges_of(name, holds, begin=0x80):
    items = [f"{{{first:#x}, {last:#x}, {step}}}" for first, last, step in ranges(holds, begin)]
    return table("LetterRange", name, items)


def shifts_of(name, change, differs=None):
    same, others = shifts(change, differs or (lambda c: change(c) != c))
    text = table("LetterShift", name, [f"{{{first:#x}, {last:#x}, {step}, {d}}}" for first, last, step, d in same])
    written = lambda to: "".join(f"\\u{ord(c):04x}" if ord(c) > 0x7F else c for c in to)
    if others:
        text += table("LetterSpelling", name + "_spelt", [f'{{{c:#x}, "{written(to)}"}}' for c, to in others])
    return text


def write(name, tables):
    """Whether the file is, or now is, as it should be."""
    path = os.path.join(FOLDER, name)
    text = f"""// Made by tests/numbers/letters.py from Python's tables of Unicode {unicodedata.unidata_version}.
#include "shell/script/letters.h"

// clang-format off
namespace relish::letters {{

{tables}}}  // namespace relish::letters
"""
    before = open(path, encoding="utf-8").read() if os.path.exists(path) else None
    if before == text:
        print(f"{name} as before")
        return True
    print(f"changed: {name}")
    if "--check" in sys.argv:
        return False
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return True


def main():
    tables = ranges_of("alphabetic", str.isalpha)
    tables += ranges_of("numeric", lambda c: c.isalnum() and not c.isalpha())
    tables += ranges_of("digits", str.isdigit)
    tables += ranges_of("capitals", lambda c: unicodedata.category(c) != "Lt" and c.isupper())
    tables += ranges_of("small", str.islower)
    tables += ranges_of("titles", lambda c: unicodedata.category(c) == "Lt")
    tables += shifts_of("to_upper", str.upper)
    tables += shifts_of("to_lower", str.lower)
    # At the beginning of a word, where that is another character than among capitals.
    tables += shifts_of("to_title", str.title, lambda c: c.title() != c.upper())
    # What does not end a word: a sigma is the final one where only these stand between it and the end.
    tables += ranges_of("ignored", lambda c: ("A" + c + "\u03a3").lower()[-1] == "\u03c2"
                        and (c + "\u03a3").lower()[-1] == "\u03c3", 0)
    same = write("letter_tables.cpp", tables)
    same = write("letters_unprintable.cpp", ranges_of("unprintable", lambda c: not c.isprintable())) and same
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
