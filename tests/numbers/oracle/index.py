"""The index of the files of numbers, tests/numbers/operators/index.txt: how many cases every operator has with float64
arguments, with float32 ones, and others (by the result where no argument is floating). `relish ops --coverage` shows
it; the unit tests of operators compare it with the files."""
import glob
import json
import os

from oracle.cases import FOLDER


def dtypes(argument):
    if "tuple" in argument:
        return {field["dtype"] for field in argument["tuple"]}
    return {argument["dtype"]} if "dtype" in argument else set()


def write():
    with open(os.path.join(FOLDER, "index.txt"), "w", encoding="utf-8") as out:
        for path in sorted(glob.glob(os.path.join(FOLDER, "*.json"))):
            with open(path, encoding="utf-8") as file:
                cases = json.load(file)["cases"]
            counts = [0, 0, 0]
            for case in cases:
                found = set().union(*(dtypes(argument) for argument in case["args"]))
                if not any(dtype.startswith("float") for dtype in found):
                    found |= dtypes(case["expect"]) if isinstance(case["expect"], dict) else set()
                counts[0 if "float64" in found else 1 if "float32" in found else 2] += 1
            out.write("%s %d %d %d\n" % (os.path.basename(path)[: -len(".json")], *counts))
