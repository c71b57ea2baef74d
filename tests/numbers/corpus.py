"""Numbers for the programs of tests/golden/corpus, from NumPy alone.

    corpus.py            compares the committed expectations with NumPy
    corpus.py --write    writes those anew that NumPy does not confirm

Each program has an opinion in corpus_opinions/: functions of the names that its statements call, which take and give arrays.
The statements of a program are run by Python itself, with these functions in the place of the program's own, and what
they print is what the program must print. Nothing of Relish takes part. Floats are compared to 1e-5, the rest exactly.
"""

import ast
import pathlib
import re
import sys
import types

import numpy as np

import corpus_opinions.of_2022
import corpus_opinions.of_2023
import corpus_opinions.of_today
from corpus_opinions.registry import opinions
from digits import philox

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "golden" / "corpus"
RTOL, ATOL = 1e-5, 1e-6


def as_tensor(values, dtype=None):
    array = np.array(values)
    if dtype is None:
        dtype = {"f": "float32", "i": "int64", "b": "bool"}[array.dtype.kind]
    return array.astype(dtype)


def as_constant(values, dtype=None):
    array = np.array(values)
    return array.astype(dtype or {"f": "float32", "i": "int32", "b": "bool"}[array.dtype.kind])


def as_random(shape, dtype="float32", seed=0):
    count = int(np.prod(shape))
    words = [word for i in range((count + 3) // 4) for word in philox((seed, 0), i)][:count]
    uniform = (np.array(words, np.uint64) >> np.uint64(8)).astype(np.float64) * 2.0**-24
    return uniform.astype(dtype).reshape(shape)


def element_text(value):
    if isinstance(value, np.bool_):
        return str(bool(value))
    if isinstance(value, np.integer):
        return str(int(value))
    return f"{float(value):.6g}"


def rows_text(array):
    if array.ndim == 0:  # exact to the bit, as float64 is compared
        exact = array.dtype.kind == "f"
        return str(array[()]).removesuffix(".0") if exact else element_text(array[()])
    if array.ndim == 1:
        return "[" + ", ".join(element_text(value) for value in array) + "]"
    return "[" + (",\n" + " " * array.ndim).join(rows_text(row) for row in array) + "]"


def text_of(value):
    """A value as the program prints it, but for the blanks that align columns."""
    if isinstance(value, tuple):
        return "(" + ", ".join(text_of(field) for field in value) + ("," if len(value) == 1 else "") + ")"
    if isinstance(value, (np.ndarray, np.generic)):
        value = np.asarray(value)
        shape = "(" + ", ".join(map(str, value.shape)) + ("," if value.ndim == 1 else "") + ")"
        separator = "\n" if value.ndim else " "
        return f"{value.dtype} {shape}{separator}{rows_text(value)}"
    return str(value)


def printed(value):
    """A value as print writes it: without dimensions it is its number."""
    if isinstance(value, (np.ndarray, np.generic)) and np.ndim(value) == 0:
        value = np.asarray(value)[()]
        return str(value) if value.dtype.kind == "f" else element_text(value)
    return text_of(value)


def printed_by(name, source):
    """What the statements of a program print when NumPy's functions stand for those of the program."""
    lines = []
    scope = {
        "tensor": as_tensor,
        "rand": as_random,
        "ones": lambda shape, dtype="float32": np.ones(shape, dtype),
        "zeros": lambda shape, dtype="float32": np.zeros(shape, dtype),
        "TypeVar": str,
        "R": types.SimpleNamespace(shape=tuple, const=as_constant),
        "print": lambda *values: lines.append(" ".join(map(printed, values))),
    }
    own = opinions[name]
    scope.update(own)
    statements = []
    # Type parameters, `def f[n](…)`, are younger than the oldest Python that runs this.
    older = re.sub(r"^( *def \w+)\[[^\]]*\]", r"\1", source, flags=re.M)
    for statement in ast.parse(older).body:
        if isinstance(statement, ast.ClassDef):
            scope[statement.name] = types.SimpleNamespace(**own)
        elif not isinstance(statement, (ast.FunctionDef, ast.Import, ast.ImportFrom)):
            statements.append(statement)
    exec(compile(ast.Module(statements, []), name, "exec"), scope)
    if not lines:
        raise ValueError("prints nothing")
    return "\n".join(lines) + "\n"


NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|inf|nan)(?![\w.])")


def difference(found, wanted):
    """The first place where two outputs differ, or nothing."""
    if re.sub(r"\s+", "", NUMBER.sub("#", found)) != re.sub(r"\s+", "", NUMBER.sub("#", wanted)):
        return f"found {found!r}, NumPy {wanted!r}"
    for a, b in zip(NUMBER.findall(found), NUMBER.findall(wanted)):
        if a != b and not np.isclose(float(a), float(b), RTOL, ATOL, equal_nan=True):
            return f"found {a}, NumPy {b}"
        if a != b and a.lstrip("-").isdigit() and b.lstrip("-").isdigit() and len(a) < 7:
            return f"found {a}, NumPy {b}"
    return None


def expectation(text):
    """The lines of a golden file that expect `text`."""
    return "# expect\n" + "".join(f"#| {line}\n" if line else "#|\n" for line in text.splitlines())


def main():
    failures = 0
    names = {str(path.relative_to(FOLDER))[: -len(".relish")]: path for path in sorted(FOLDER.rglob("*.relish"))}
    for name in sorted(opinions.keys() - names.keys()):
        print(f"{name}: an opinion about no program")
        failures += 1
    for name, path in names.items():
        text = path.read_text()
        body, mark, block = text.partition("\n# expect\n")
        try:
            wanted = printed_by(name, body)
        except Exception as error:
            print(f"{name}: {type(error).__name__}: {error}")
            failures += 1
            continue
        found = "".join(line[3:] + "\n" for line in block.splitlines())
        problem = difference(found, wanted) if mark else "has no expectation"
        if problem and "--write" in sys.argv[1:]:
            path.write_text(body.rstrip("\n") + "\n" + expectation(wanted))
        elif problem:
            print(f"{name}: {problem}")
            failures += 1
    print(f"corpus: {len(names)} programs, {failures} against NumPy")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
