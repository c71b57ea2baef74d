#!/usr/bin/env python3
"""Statements with Python's own answers.

Makes some hundred statements that mean the same in Python and in a script, runs them in Python, and writes them with
what Python printed as golden files: tests/golden/run/python-<theme>.relish. `--check` only says whether these are as
this script makes them.

    python3 tests/numbers/statements.py [--check]
"""
import contextlib
import io
import os
import random
import sys

FOLDER = os.path.join(os.path.dirname(__file__), "..", "golden", "run")
random.seed(20)


def ints(count, low=-50, high=50):
    return [random.randint(low, high) for _ in range(count)]


def reals(count):
    return [round(random.uniform(-100, 100), random.randint(0, 4)) for _ in range(count)]


def words(count):
    letters = "abcdefghij XYZ,.-_09"
    return ["".join(random.choice(letters) for _ in range(random.randint(0, 9))) for _ in range(count)]


def numbers():
    for _ in range(34):
        a, b = ints(2)
        b = b or 7
        op = random.choice(["+", "-", "*", "//", "%", "/", "&", "|", "^"])
        yield f"print({a} {op} {b}, ({a} - 1) {op} {b}, divmod({a}, {b}), {a} < {b}, {a} == {b})"
    for _ in range(26):
        x, y = reals(2)
        y = y or 0.5
        yield f"print({x} * {y}, {x} // {y}, {x} % {y}, {x} / {y}, {x} ** 2, round({x}, 1), int({x}))"
    for a, e, m in [(3, 20, 7), (-5, 3, 11), (2, 62, 1000007), (7, 0, 5)]:
        yield f"print(pow({a}, {e}, {m}), pow({a}, 2), {a} ** 3, -{abs(a)} ** 2)"
    yield "print(abs(-7), abs(-2.5), round(2.5), round(3.5), round(-0.5), round(1234, -2), round(2.675, 2))"
    yield "print(1e16, 1e15, 123456789.0, 1e-4, 1e-5, 0.1 + 0.2, 1e22, 5e-324, 1.0, -0.0)"
    yield "print(int('  42 '), int('-0x1f', 16), int('0b101', 0), int('1_000'), float(' 1e3 '), float('inf'), float('-Infinity'))"
    yield "print(int(-3.9), int(True), bool(0), bool(0.0), bool('a'), bool([]), bool({1: 2}), bool(None))"
    yield "print(1 < 2 < 3, 1 < 3 < 2, 3 > 2 >= 2, 1 == 1.0 == True, not 0, not [], 'x' != None, None is None)"
    yield "print(0 or 'x', '' or [], 3 and 4, 0 and 4, None or 0 or 'last', [] and 1, not (1 and 0))"
    yield "print(min(3, 1, 2), max([4, 9, 2]), min('b', 'a'), max([1, 2.5]), min([], default=7), sum([1, 2, 3], 10), sum([[1], [2]], []))"
    yield "print(max(['aa', 'b', 'cccc'], key=len), min([-3, 2, -1], key=abs), sorted(['b', 'A', 'c'], key=lambda s: s.lower()))"
    yield "print(5 if 2 > 1 else 6, (lambda x: x + 1)(2), 7 if [] else 8 if '' else 9)"
    yield "print(1_000_000, 0xff, 0b1010, 0o17, .5, 5., 1e3, 3 // 2 * 2 + 3 % 2)"
    yield "print(-7 // 2, -7 % 2, 7 // -2, 7 % -2, -7.5 // 2, -7.5 % 2, 7.5 % -2, ~5, 5 << 3, -5 >> 1)"


def texts():
    for word in words(14):
        yield (f"s = {word!r}\nprint(s.upper(), s.lower(), s.title(), s.capitalize(), s.swapcase(), "
               "s.strip(), s.strip('a,-'), len(s))")
        yield (f"s = {word!r}\nprint(s.split(), s.split('a'), s.rsplit(None, 1), s.split(',', 1), s.find('b'), s.rfind('a'), "
               "s.count('a'), s.replace('a', '<>'), s.partition('c'), s.rpartition('c'))")
        yield (f"s = {word!r}\nprint(s.isalpha(), s.isdigit(), s.isalnum(), s.isspace(), s.islower(), s.isupper(), s.istitle(), "
               "s.startswith(('a', 'b')), s.endswith('9'), s[::-1], s[1:4], s[-3:], s * 2, repr(s))")
    yield "print('a\\nb\\r\\nc\\n'.splitlines(), 'a\\nb'.splitlines(True), ''.splitlines(), ' a  b '.split(), 'a,b,,c'.split(','))"
    yield "print('-'.join(['a', 'b', 'c']), ''.join([]), ', '.join(str(i) for i in range(3)))".replace("(str(i) for i in range(3))", "([str(i) for i in range(3)])")
    yield "print('äöü€𝄞'[1], len('äöü€𝄞'), 'äöü€𝄞'[::-1], 'ä' in 'bär', ord('€'), chr(8364), 'äöü'.find('ü'))"
    yield "print('abc'.center(8, '*'), 'abc'.center(9), 'abc'.ljust(5, '.'), 'abc'.rjust(6), '-42'.zfill(6), 'x'.zfill(0))"
    yield "print('prefix-x'.removeprefix('prefix-'), 'x.py'.removesuffix('.py'), 'abc'.index('c'), 'banana'.replace('an', 'AN', 1), 'abc'.replace('', '-'))"
    yield "print([c for c in 'abc'], list('xyz'), sorted('hello'), 'l' in 'hello', 'ell' not in 'hello', 'abc' < 'abd', 'Z' < 'a')"
    yield "print(repr('it\\'s'), repr(\"q\\\"q\"), repr('both\\'\"'), repr('tab\\t'), str('x'), repr('\\x01'), 'a' 'b')"
    yield ("for a in [-9, -1, 0, 2, 3, 4, 9]:\n    for b in [-9, -1, 0, 2, 3, 9]:\n        print('abc'.find('', a, b), 'abc'.rfind('', a, b), "
           "'abc'.count('', a, b), 'abc'.startswith('', a, b), 'abc'.endswith('', a, b), 'abc'.find('c', a, b))")
    yield "print(repr('\\u200b \\x85 \\xad é \\u2028 \\U000e0001 \\ue000 \\U0001f600'), ['\\ufeff', '日本'], '%r %a' % ('\\u200b', '\\u200bé'))"
    yield "print(list(zip([1, 2], 'ab', strict=True)), list(zip(strict=True)), list(zip([1, 2], [3], strict=False)))"
    yield "print(r'\\n', '\\x41\\u00e9\\U0001d11e', '\\101', 'a\\\nb')"


def formats():
    specs = ["", "d", "5", "<6", ">6", "^7", "+", "+d", "06", ",", "_", "x", "#x", "#b", "o", "b", "X", "*^9", "=+7", "e", ".2f", "%", "g", "n", "c"]
    for spec in specs:
        value = random.choice([7, 42, 65, 1234567, 255])
        other = -value if spec != "c" else value
        yield f"print(f'|{{{value}:{spec}}}|', '|{{:{spec}}}|'.format({other}))"
    for spec in ["", ".2f", "8.3f", "<8.1f", "+.1e", "e", "g", ".3g", ".10g", "%", ".1%", ",.2f", "010.2f", ".0f", "E", "G", "_.1f", "^12.2f", "= 9.1f", ".3", ".1", "#.0f", "#g"]:
        x, y = random.choice([3.14159, 1234567.891, 0.00001234, 1e20]), -random.choice([2.5, 1e-7, 99.995])
        yield f"print(f'|{{{x}:{spec}}}|', '|{{:{spec}}}|'.format({y}))"
    for spec in ["", "5", ">5", "^6", "*<7", ".2", "-^9.3", "s"]:
        word = random.choice(["ab", "word", "ä€"])
        yield f"print(f'|{{\"{word}\":{spec}}}|', '|{{0:{spec}}}|'.format({word!r}))"
    for text, values in [("%d of %s", "(3, 'x')"), ("%5d|%-5d|%05d|%+d", "(42, 42, 42, 42)"), ("%x %X %o %#x", "(255, 255, 8, 255)"),
                         ("%.3f %8.2f %-8.1f| %e %g", "(1.5, 2.25, 3.75, 12345.678, 0.0001)"), ("%s %r %5s|%-5s|%.2s", "('a', 'a', 'b', 'c', 'long')"),
                         ("100%%", "()"), ("%(a)s-%(b)03d", "{'a': 1, 'b': 2}"), ("%c%c", "('x', 65)"), ("%s", "[1, 2]"), ("%*d|%.*f", "(5, 42, 2, 3.14159)"),
                         ("%d %i", "(3.99, True)"), ("%s %s", "(None, True)"), ("%.3d|%8.3d", "(5, -5)")]:
        yield f"print({text!r} % {values})"
    yield "print('{} {}'.format(1, 'b'), '{1} {0}'.format('a', 'b'), '{name!r:>6}'.format(name='x'), '{{}}'.format())"
    yield "print('{0[1]} {d[key]}'.format([1, 2], d={'key': 'v'}), '{:>{w}.{p}f}'.format(3.14159, w=8, p=2), '{!s}'.format(1.5))"
    yield "w = 10\np = 3\nx = 2.718281828\nprint(f'{x:{w}.{p}f}|{x:>{w}}|{x!r:{w + 10}}|{w=} {x = :.2f} {\"a\"!a}')"
    yield "d = {'k': [1, 2]}\nprint(f'{d[\"k\"][0]} {len(d)} {[i * 2 for i in d[\"k\"]]} {(lambda v: v + 1)(2)} {1 if d else 2}')"
    yield "print(f'{True} {True:d} {True:5} {None} {[1, 2.0]} {(1,)} {{}} {float(\"inf\"):6} {float(\"nan\"):.2f}')"


    yield from fields()


def fields():
    """Formats put together from all that they may have; those that Python refuses are left out."""
    draw = random.Random(21)
    some = lambda share, make: make() if draw.random() < share else ""
    values = [0, 7, -42, 255, 1234567, 0.0, -0.0, 1.5, -2.5, 3.14159, 1e16, 1e15, 123456.789, 1e-7, 99.995, float("inf"), float("nan"),
              True, "abc", "ä€x"]
    written = lambda value: f"float('{value}')" if value in (float("inf"),) or value != value else repr(value)
    lines = []
    while len(lines) < 160:
        value = draw.choice(values)
        spec = (some(.4, lambda: some(.5, lambda: draw.choice("*0x")) + draw.choice("<>^=")) + some(.3, lambda: draw.choice("+- "))
                + some(.1, lambda: "z") + some(.2, lambda: "#") + some(.25, lambda: "0") + some(.5, lambda: str(draw.randint(1, 14)))
                + some(.2, lambda: draw.choice(",_")) + some(.4, lambda: f".{draw.randint(0, 12)}") + some(.6, lambda: draw.choice("bcdeEfFgGnosxX%")))
        try:
            if not format(value, spec).isprintable():
                continue
        except (ValueError, OverflowError):
            continue
        lines.append(f"print('|{{:{spec}}}|'.format({written(value)}))")
    while len(lines) < 280:
        value = draw.choice(values)
        spec = ("%" + "".join(draw.sample("-+ 0#", draw.choice([0, 1, 1, 2, 3]))) + some(.5, lambda: str(draw.randint(1, 12)))
                + some(.4, lambda: "." + draw.choice(["", "0", "1", "3", "8"])) + draw.choice("dixXoeEfgGcrsa%"))
        try:
            if not (f"|{spec}|" % (value,)).isprintable():
                continue
        except (TypeError, ValueError, OverflowError):
            continue
        lines.append(f"print('|{spec}|' % ({written(value)},))")
    for i in range(0, len(lines), 20):
        yield "\n".join(lines[i:i + 20])


def lists():
    for _ in range(14):
        xs = ints(random.randint(3, 8), -9, 9)
        i, j, k = random.randint(-6, 6), random.randint(-6, 6), random.choice([-3, -2, -1, 1, 2, 3])
        yield f"xs = {xs}\nprint(xs[{i}:{j}], xs[{i}:{j}:{k}], xs[::{k}], xs[{i}:], xs[:{j}], {xs[0]} in xs, xs.count({xs[0]}), xs.index({xs[-1]}))"
        yield (f"xs = {xs}\nxs.append({i})\nxs.extend([1, 2])\nxs.insert({j} % 3 + 2, 99)\nlast = xs.pop()\nfirst = xs.pop(0)\nxs.remove(99)\nxs[1] = 'one'\n"
               f"xs[-1] += 10\ndel xs[0]\nprint(xs, last, first, len(xs), sorted({xs}), sorted({xs}, reverse=True), list(reversed({xs})))")
    yield "xs = list(range(10))\nxs[2:5] = ['a', 'b']\nprint(xs)\nxs[::3] = [0, 0, 0]\nprint(xs)\ndel xs[1:3]\nprint(xs)\ndel xs[::2]\nprint(xs)\nxs[1:1] = [7, 8]\nprint(xs)\nxs.clear()\nprint(xs)"
    yield "a, b = 1, 2\na, b = b, a\nc, *d = [1, 2, 3]\n*e, f = 'xyz'\ng, (h, *i) = 1, (2, 3, 4)\n[j, k] = (5, 6)\nprint(a, b, c, d, e, f, g, h, i, j, k)"
    yield "print([*range(3), *'ab'], (*[1], 2), {**{'a': 1}, 'b': 2}, [[i, j] for i in range(3) for j in range(i) if i != j])"
    yield "print([x * y for x in range(4) if x for y in (10, 20)], {k: v for k, v in zip('abc', range(3))}, [x for x in range(20) if x % 2 if x % 3])"
    yield "print([1, 2] < [1, 3], [1] < [1, 0], (1, 2) == (1, 2), [1, [2, 3]] == [1, [2, 3]], [] == (), [1] + [2] * 3, (1,) * 2 + (2,))"
    yield "print(list(enumerate('ab', 1)), list(zip([1, 2, 3], 'ab')), list(map(str, [1, 2])), list(filter(None, [0, 1, '', 'a'])), list(map(lambda a, b: a + b, [1, 2], [3, 4])))"
    yield "print(any([0, 1]), all([1, 0]), any([]), all([]), any([x > 2 for x in [1, 2, 3]]), sum([x * x for x in range(5)]))"
    yield "m = [[1, 2], [3, 4]]\nm[1][0] *= 10\nm[0].append(5)\nm += [[6]]\nprint(m, [row[:] for row in m], [list(r) for r in zip(*[[1, 2], [3, 4]])])"
    yield "xs = []\nfor i in range(3):\n    for j in range(3):\n        if j == i:\n            continue\n        if j + i > 3:\n            break\n        xs.append((i, j))\nprint(xs, i, j)"
    yield "n = 27\nsteps = 0\nwhile n != 1:\n    n = n // 2 if n % 2 == 0 else 3 * n + 1\n    steps += 1\nprint(steps, n)"
    yield "q = [1]\nseen = []\nwhile q:\n    n = q.pop(0)\n    seen.append(n)\n    if n < 8:\n        q += [2 * n, 2 * n + 1]\nprint(seen)"
    yield "xs = [3, 1, 2]\nfor x in xs[:]:\n    xs.append(x)\nprint(xs, tuple(xs), len(xs), max(xs), xs * 0)"
    yield "print(range(5), range(1, 10, 3), list(range(5, 0, -2)), range(10)[2:5], len(range(0, 10, 3)), 4 in range(0, 10, 2), range(3) == range(0, 3, 1))"


def dicts():
    for _ in range(16):
        keys = [random.choice(["'a'", "'b'", "3", "(1, 2)", "None", "2.5", "True"]) for _ in range(4)]
        d = ", ".join(f"{key}: {value}" for key, value in zip(keys, ints(4)))
        yield f"d = {{{d}}}\nprint(d, len(d), list(d), list(d.keys()), list(d.values()), list(d.items()), d.get('a'), d.get('zz', 5), 3 in d)"
        yield (f"d = {{{d}}}\nd['new'] = 1\nd['new'] += 5\nd.update({{'u': 2}}, v=3)\nd.setdefault('w', []).append(1)\nx = d.pop('u')\ny = d.pop('none', None)\n"
               "del d['v']\nprint(d, x, y, d == dict(d), {k: v for k, v in d.items() if k != 'new'})\nlast = d.popitem()\nprint(last, d)").replace(
                   "d.setdefault('w', []).append(1)", "w = d.setdefault('w', [])\nd['w'].append(1)")
    yield "d = {}\nfor w in 'the cat the dog the end'.split():\n    d[w] = d.get(w, 0) + 1\nprint(d, sorted(d.items(), key=lambda p: (-p[1], p[0])), max(d, key=d.get))"
    yield "d = {'a': {'b': [1, {'c': 2}]}}\nd['a']['b'][1]['c'] += 40\nd['a']['x'] = d['a']['b'][0]\nprint(d, d['a']['b'][1]['c'])"
    yield "print({1: 'a', 1.0: 'b', True: 'c'}, {'a': 1} == {'a': 1.0}, {'a': 1, 'b': 2} == {'b': 2, 'a': 1}, {} == {}, {'x': 1} | {'y': 2, 'x': 3})"
    yield "print(dict([('a', 1), ('b', 2)]), dict(a=1, b=2), dict({'x': 1}, y=2), {i: i * i for i in range(4)}, {c: 'abc'.index(c) for c in 'cab'})"
    yield "d = {i: str(i) for i in range(20)}\nfor k in list(d):\n    if k % 3:\n        del d[k]\nd[100] = 'z'\nprint(d, 3 in d, 4 in d, d[18], len(d))\nd.clear()\nprint(d, not d)"


def functions():
    yield "def f(a, b=2, *rest, **named):\n    return a, b, rest, named\n\nprint(f(1), f(1, 3), f(1, 2, 3, 4), f(1, x=5), f(b=1, a=0), f(*[1, 2, 3], **{'k': 4}))"
    yield "def f(a, *, key, other=1):\n    return a + key * other\n\nprint(f(1, key=2), f(1, other=5, key=3))"
    yield "def fact(n):\n    return 1 if n < 2 else n * fact(n - 1)\n\ndef fib(n):\n    if n < 2:\n        return n\n    return fib(n - 1) + fib(n - 2)\n\nprint(fact(15), fib(15), [fib(i) for i in range(8)])"
    yield "def counter(start):\n    def add(n):\n        return start + n\n    return add\n\na = counter(10)\nb = counter(20)\nprint(a(1), b(1), a(2))"
    yield "fs = [lambda: i for i in range(3)]\ngs = [lambda i=i: i for i in range(3)]\nprint([f() for f in fs], [g() for g in gs])"
    yield "def outer():\n    x = 1\n    def inner():\n        return x\n    x = 2\n    return inner()\n\nprint(outer())"
    yield "def compose(*fs):\n    def run(x):\n        for f in fs:\n            x = f(x)\n        return x\n    return run\n\nprint(compose(lambda x: x + 1, lambda x: x * 2, str)(3))"
    yield "def even(n):\n    return True if n == 0 else odd(n - 1)\n\ndef odd(n):\n    return False if n == 0 else even(n - 1)\n\nprint(even(100), odd(7), even(333))"
    yield "x = 5\ndef read():\n    return x\n\nx = 6\nprint(read())\ndef shadow(x):\n    x += 1\n    return x\n\nprint(shadow(1), x)"
    yield "def build(n):\n    xs = []\n    d = {}\n    for i in range(n):\n        xs.append(i * i)\n        d.setdefault(i % 3, 0)\n        d[i % 3] += i\n    return xs, d\n\nprint(build(7))"
    yield "def nothing():\n    pass\n\ndef early(xs):\n    for x in xs:\n        if x > 2:\n            return x\n    return None\n\nprint(nothing(), early([1, 5, 3]), early([]))"
    yield "def gcd(a, b):\n    while b:\n        a, b = b, a % b\n    return a\n\nprint(gcd(1071, 462), [gcd(i, 12) for i in range(1, 13)])"
    yield "def sieve(n):\n    flags = [True] * (n + 1)\n    for i in range(2, n + 1):\n        if flags[i]:\n            for j in range(i * i, n + 1, i):\n                flags[j] = False\n    return [i for i in range(2, n + 1) if flags[i]]\n\nprint(sieve(60))"
    yield "def sort(xs):\n    if len(xs) < 2:\n        return xs\n    pivot = xs[0]\n    return sort([x for x in xs[1:] if x < pivot]) + [pivot] + sort([x for x in xs[1:] if x >= pivot])\n\nprint(sort([3, 6, 1, 8, 2, 9, 2]))"
    yield "def hanoi(n, a, b, c, moves):\n    if n == 0:\n        return moves\n    moves = hanoi(n - 1, a, c, b, moves) + [a + b]\n    return hanoi(n - 1, c, b, a, moves)\n\nprint(len(hanoi(5, 'a', 'b', 'c', [])), hanoi(2, 'a', 'b', 'c', []))"
    yield "make = lambda k: (lambda x: x ** k)\nsquare, cube = make(2), make(3)\nprint(square(5), cube(2), list(map(square, range(4))))"
    yield "def flatten(x):\n    return [z for y in x for z in (flatten(y) if type(y) == type([]) else [y])]\n\nprint(flatten([1, [2, [3, [4, []]], 5]]))"
    yield "def apply(f, *args, **named):\n    return f(*args, **named)\n\nprint(apply(max, 3, 7), apply(sorted, [3, 1], reverse=True), apply(lambda a, b=1: a - b, 5), apply('{}-{x}'.format, 1, x=2))"
    yield "acc = ''\nfor i in range(5):\n    acc += str(i) * i\nprint(acc, len(acc), acc[::-1])"
    yield "total = 0\nfor i, (a, b) in enumerate([(1, 2), (3, 4)]):\n    total += i * a + b\nelse_ = total\nprint(total, else_)"
    yield "def matmul(a, b):\n    return [[sum([x * y for x, y in zip(row, col)]) for col in zip(*b)] for row in a]\n\nprint(matmul([[1, 2], [3, 4]], [[5, 6], [7, 8]]))"
    yield "def collatz(n):\n    steps = [n]\n    while n > 1:\n        n = 3 * n + 1 if n % 2 else n // 2\n        steps.append(n)\n    return steps\n\nprint(collatz(6), max(collatz(27)), len(collatz(27)))"
    yield "def partial(f, *first):\n    return lambda *more: f(*first, *more)\n\nprint(partial(max, 5)(3, 9), partial(lambda a, b, c: (a, b, c), 1, 2)(3))"
    yield "print(1, 'a', [2], sep='-', end='!\\n', flush=True)\nprint(*'abc', sep='')\nprint()\nprint(end='')"
    yield "d = {}\nd[1, 2] = 3\nd['k'] = {'n': 0}\nd['k']['n'] += 2\nd |= {'z': 1}\nprint(d, (1, 2) in d, d[1, 2], dict(zip('ab', (1, 2)), c=3))"
    yield "groups = {}\nfor w in ['a', 'bb', 'c']:\n    groups.setdefault(len(w), [])\n    groups[len(w)].append(w)\nprint(groups)"
    yield "table = {'add': lambda a, b: a + b, 'mul': lambda a, b: a * b}\nprint([f(3, 4) for f in table.values()], table['mul'](5, 6))"


def letters():
    """Every character whose kind or case is told by a table, in sums; and words of several scripts."""
    for word in ["grüße aus köln", "ÉTÉ à Noël", "straße", "ﬁne Ǆ ǅ ǆ", "ΑΣ ΌΔΟΣ ΑΣ.Σ 'ΑΣ'", "İstanbul ılık", "Привет, МИР", "naïve Ærø",
                 "ᾈΙ ᾳ ῼ", "ნინო", "日本語 ２３ ⅷ ²", "ªº ʰ ⅷ", "a\u0301b ó", "𐐀𐐨 Ⓐⓐ", "ß", "Ⅳ"]:
        yield f"s = {word!r}\nprint(s.upper(), s.lower(), s.title(), s.capitalize(), s.swapcase())"
        yield (f"for s in {word.split()!r}:\n    print(s.isalpha(), s.isalnum(), s.isdigit(), s.isupper(), s.islower(), "
               "s.istitle(), s.isspace())\n")
    counted = ("kinds = [0, 0, 0, 0, 0, 0, 0]\nfor code in range({0}, {1}):\n    s = chr(code)\n"
               "    for i, is_so in enumerate([s.isalpha(), s.isalnum(), s.isdigit(), s.isupper(), s.islower(), s.istitle(), "
               "s.isspace()]):\n        if is_so:\n            kinds[i] += code\nprint(kinds)")
    changed = ("total = 0\nfor code in range({0}, {1}):\n    s = chr(code)\n    for t in (s.upper(), s.lower() * 3, "
               "s.title() * 7, s.swapcase() * 5, ('A' + s + 'Σ').lower() * 2):\n        for c in t:\n"
               "            total += ord(c)\nprint(total)")
    for begin, end in [(0, 0x800), (0x800, 0x3000), (0xA000, 0xAC00), (0xF900, 0xFFFF), (0x10000, 0x12000),
                       (0x16A00, 0x17000), (0x1D000, 0x1F800)]:
        yield counted.format(begin, end)
        yield changed.format(begin, end)


THEMES = {"numbers": numbers, "texts": texts, "formats": formats, "lists": lists, "dicts": dicts,
          "functions": functions, "letters": letters}


def answer(statement):
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(statement, "<statement>", "exec"), {"__name__": "statements"})
    return output.getvalue()


def main():
    count = 0
    changed = []
    for theme, make in THEMES.items():
        statements = list(make())
        count += len(statements)
        text = "# test: run\n# Made by tests/numbers/statements.py; the output is Python's.\n"
        expected = ""
        for statement in statements:
            text += statement + "\n"
            expected += answer(statement)
        text += "# expect\n" + "".join(("#| " + line).rstrip() + "\n" for line in expected.splitlines())
        path = os.path.join(FOLDER, f"python-{theme}.relish")
        before = open(path, encoding="utf-8").read() if os.path.exists(path) else None
        if before == text:
            continue
        changed.append(path)
        if "--check" not in sys.argv:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
    print(f"{count} statements", "changed: " + ", ".join(changed) if changed else "as before")
    return 1 if changed and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
