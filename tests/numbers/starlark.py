#!/usr/bin/env python3
"""Starlark's conformance texts, run by this program.

    starlark.py PROGRAM FOLDER      FOLDER: test_suite/testdata of Starlark's public repository

Each text is cut into parts by lines of '---'; a line with '###' says that its part must fail there. A part is run, each
statement that fails is left out and the part run again, so that every assert is counted that passes. What differs is
held against the table below, which says why, and the counts against docs/statements.md. Exit 1 where something differs
that has no reason, has one and does not differ, or the page tells other numbers.
"""
import collections
import pathlib
import re
import subprocess
import sys
import tempfile

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "statements.md"
PASSED, FAILED = "assert passes", "assert fails:"

ASSERTS = f"""\
def assert_eq(x, y, msg=""):
    if x != y:
        print("{FAILED} %r != %r" % (x, y))
    else:
        print("{PASSED}")
def assert_ne(x, y):
    if x == y:
        print("{FAILED} %r == %r" % (x, y))
    else:
        print("{PASSED}")
def assert_(cond, msg="assertion failed"):
    if not cond:
        print("{FAILED}", msg)
    else:
        print("{PASSED}")
"""
LINES_BEFORE = ASSERTS.count("\n")

NAMES = "two names for one list or dict"
LOOPS = "a change in a loop over what is changed"
QUOTES = "quotes of `repr`"
TEXTS = "iteration over a str"
NUMBERS = "a bool is an int, an int is read with blanks"
OTHERS = "what Python's methods and targets do"

# The parts that differ, by file and first line, and the first reason why.
REASONS = {
    ("go/assign.star", 110): NAMES, ("go/assign.star", 126): NAMES, ("go/builtins.star", 227): NAMES,
    ("go/function.star", 1): NAMES, ("go/function.star", 60): NAMES, ("go/function.star", 86): NAMES,
    ("go/function.star", 107): NAMES, ("go/function.star", 251): NAMES, ("go/list.star", 131): NAMES,
    ("go/dict.star", 160): LOOPS, ("go/dict.star", 168): LOOPS, ("go/list.star", 254): LOOPS,
    ("go/list.star", 263): LOOPS, ("go/list.star", 271): LOOPS, ("go/list.star", 279): LOOPS,
    ("go/dict.star", 17): QUOTES, ("go/dict.star", 183): QUOTES, ("go/string.star", 167): QUOTES,
    ("java/string_format.star", 1): QUOTES,
    ("go/string.star", 433): TEXTS, ("go/string.star", 475): TEXTS, ("go/string.star", 481): TEXTS,
    ("go/string.star", 487): TEXTS, ("go/string.star", 490): TEXTS, ("go/string.star", 499): TEXTS,
    ("go/string.star", 505): TEXTS, ("go/string.star", 513): TEXTS, ("go/string.star", 516): TEXTS,
    ("go/string.star", 519): TEXTS, ("go/string.star", 522): TEXTS, ("go/string.star", 525): TEXTS,
    ("go/bool.star", 57): NUMBERS, ("rust/bool.star", 1): NUMBERS, ("rust/regression.star", 1): NUMBERS,
    ("java/int_function.star", 45): NUMBERS,
    ("go/builtins.star", 214): OTHERS, ("go/dict.star", 34): OTHERS, ("go/dict.star", 89): OTHERS,
    ("java/dict.star", 1): OTHERS, ("rust/string.star", 1): OTHERS,
}


def parts_of(path):
    """The lines of each part, the indices of those that must fail, and the number of its first line."""
    lines, marks, start = [], [], 1
    text = path.read_text(encoding="utf-8").split("\n")
    for number, line in enumerate(text + ["---"], 1):
        line = line.rstrip()
        if line != "---":
            mark = re.fullmatch(r"(.*?) *### *((go|java|rust):)? *(.*)", line)
            if mark:
                marks.append(len(lines))
            lines.append(mark.group(1) if mark else line)
            continue
        if any(each.strip() and not each.strip().startswith("#") for each in lines):
            yield lines, {code_at(lines, mark) for mark in marks}, start
        lines, marks, start = [], [], number + 1


def code_at(lines, index):
    """A mark behind a comment is of the next statement."""
    while index < len(lines) and (not lines[index].strip() or lines[index].strip().startswith("#")):
        index += 1
    return index


def statement_at(lines, index):
    """First and last line of the statement at top level that holds a line."""
    def is_inner(line):
        return not line.strip() or line.startswith((" ", "\t", ")", "]", "}"))
    begin, end = index, index + 1
    while begin > 0 and is_inner(lines[begin]):
        begin -= 1
    while end < len(lines) and is_inner(lines[end]):
        end += 1
    return begin, end


def outcome_of(program, lines, marks):
    """How many asserts pass, what is wrong, and whether a statement failed that must."""
    lines, wrong, as_meant = list(lines), [], False
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "part.relish"
        while True:
            file.write_text(ASSERTS + "\n".join(lines) + "\n", encoding="utf-8")
            ran = subprocess.run([program, "run", "--tier", "interp", str(file)], capture_output=True, text=True,
                                 check=False)
            if ran.returncode == 0:
                break
            told = re.search(r"part\.relish:(\d+):\d+: error\[(\w+)\]: (.*)", ran.stderr)
            calls = re.findall(r"part\.relish:(\d+):\d+: note: in the call", ran.stderr)
            places = [int(at) - LINES_BEFORE - 1 for at in ([told.group(1)] if told else []) + calls]
            places = [at for at in places if at >= 0]
            if not places:
                wrong.append(ran.stderr)
                break
            begin, end = statement_at(lines, places[-1])
            if any(begin <= mark < end or mark in places for mark in marks):
                as_meant = True
            else:
                wrong.append(f"{lines[places[-1]].strip()}: {told.group(2)}: {told.group(3)}")
            lines[begin:end] = [""] * (end - begin)
    printed = ran.stdout.splitlines()
    wrong += [line for line in printed if line.startswith(FAILED)]
    if marks and not as_meant:
        wrong.append("nothing fails at " + ", ".join(lines[mark].strip() for mark in marks if mark < len(lines)))
    return printed.count(PASSED), wrong


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    asserts, parts, must_fail, fail, whole = 0, 0, 0, 0, 0
    reasons, faults = collections.Counter(), []
    for path in sorted(folder.glob("*/*.star")):
        for lines, marks, start in parts_of(path):
            place = (str(path.relative_to(folder)), start)
            passing, wrong = outcome_of(program, lines, marks)
            asserts, parts = asserts + passing, parts + 1
            must_fail += bool(marks)
            fail += bool(marks) and not wrong
            whole += not marks and not wrong
            reason = REASONS.get(place)
            if wrong and reason:
                reasons[reason] += 1
            if bool(wrong) != bool(reason):
                faults.append(f"{place[0]}:{place[1]}: " + (f"differs: {wrong}" if wrong else "does not differ"))
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    sentences = [f"{parts} parts that are not empty", f"{asserts:,} asserts pass", f"{whole} parts all",
                 f"{fail} of the {must_fail} parts that must fail", f"other {parts - whole - fail} parts"]
    sentences += [f"| {reason} | {count} |" for reason, count in reasons.items()]
    faults += [f"{PAGE.name} does not say '{sentence}'" for sentence in sentences if sentence not in page]
    print("\n".join(sentences + faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
