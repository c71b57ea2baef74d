"""Relish beside PyTorch and NumPy, row by row in turn: A B A B. `./dev bench` calls it.

Usage: compare.py [--quick] [--threads N] [--json FILE] [ROW...]. A ROW is a name, or the beginning of one: `product`.
RELISH names the program, PEER_PYTHON the Python that has PyTorch."""

import argparse
import json
import math
import os
import pty
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
LIBRARIES = Path("/usr/lib/x86_64-linux-gnu")
# What PyTorch may be linked with, and the kernels that each library is told to take: one that does not know the
# processor takes its slowest.
BLAS = [(folder, {variable: kernels} if kernels else {})
        for folder, variable, choices in (("blis-openmp", "BLIS_ARCH_TYPE", ("", "zen3", "skx", "haswell")),
                                          ("openblas-openmp", "OPENBLAS_CORETYPE", ("", "SkylakeX", "Haswell")))
        for kernels in choices]
SHAPES = ["64_64_64", "128_128_128", "256_256_256", "512_512_512", "1024_1024_1024", "2048_2048_2048", "64_784_128",
          "64_128_10", "1_784_128", "512_512_2048"]
# So many seconds for all alternations of a row, of which there are five at least.
LONGEST_ROW = 20
CLASSIFIER = ["x=rand", "w0=rand", "b0=rand", "w1=rand", "b1=rand"]


class Session:
    """An interactive session of Relish with the text of a file, which measures a call whenever it is asked to. It stays
    between two turns, so that these can be short: nothing is compiled or read anew."""

    def __init__(self, relish, threads, text, expression):
        self.expression, self.runs, self.seen = expression, None, b""
        self.folder = tempfile.TemporaryDirectory()
        file = Path(self.folder.name) / "row.relish"
        file.write_text(text)
        self.terminal, other = pty.openpty()
        self.process = subprocess.Popen([relish, "repl", str(file), "--threads", str(threads)], stdin=other,
                                        stdout=other, stderr=other, env=dict(os.environ, TERM="dumb"),
                                        start_new_session=True)
        os.close(other)

    def measure(self, seconds):
        if self.runs is None:  # compiles, too
            first = self.ask(self.expression.format(more=""))
            if "error" in first:
                return first
            self.runs = min(10000, max(5, round(seconds * 1e3 / first["median_ms"])))
        return self.ask(self.expression.format(more=f", runs={self.runs}"))

    def ask(self, expression):
        """The answer is the line that begins with the mark: what the terminal repeats of the question does not."""
        os.write(self.terminal, f"t = {expression}\nprint('@', t['median_ms'], t['min_ms'])\n".encode())
        while True:
            answer = re.search(rb"^@ (\S+) (\S+)\r?\n", self.seen, re.M)
            error = re.search(rb"^.*error\[.*\n", self.seen, re.M)
            if answer or error:
                self.seen = b""
                return ({"median_ms": float(answer[1]), "min_ms": float(answer[2])} if answer
                        else {"error": error[0].decode().strip()})
            if not (read := self.read()):
                return {"error": "the session has ended: " + self.seen.decode(errors="replace").strip()[-200:]}
            self.seen += read

    def read(self):
        try:
            return os.read(self.terminal, 65536)
        except OSError:  # the other end is closed
            return b""

    def close(self):
        os.close(self.terminal)
        self.process.wait()
        self.folder.cleanup()


class Job:
    """A row that a process of its own measures, each time anew."""

    def __init__(self, measure):
        self.measure = measure

    def close(self):
        pass


def call(file, function, arguments, sizes=()):
    """A row that `time` measures."""
    name = re.search(r"^class (\w+):", (HERE / file).read_text(), re.M)[1]
    given = f"arg={json.dumps(arguments)}" + (f", dim={json.dumps(sizes)}" if sizes else "")
    return lambda options: Session(options.relish, options.threads, (HERE / file).read_text(),
                                   f"time({name}.{function}, {given}{{more}})")


def script(file, optimizer):
    """A row whose file measures itself when it runs, in its last lines: a step of training."""
    text, _ = (HERE / file).read_text().split("t = time(")
    text, found = re.subn(r'arg\("optimizer", "[^"]*"\)', json.dumps(optimizer), text)
    assert found == 1, f"{file} must have one optimizer"
    return lambda options: Session(options.relish, options.threads, text,
                                   "time(S.train_step, arg=args, carry=carry{more})")


def epoch(file, optimizer, sizes="known"):
    """A row whose file trains for some epochs: how long each behind the first took, by the job's log."""
    def measure(options):
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / "run" / "metrics.jsonl"
            done = subprocess.run([options.relish, "run", str(HERE / file), "--set", f"optimizer={optimizer}", "--set",
                                   f"sizes={sizes}", "--threads", str(options.threads), "--run-dir", str(log.parent)],
                                  capture_output=True, text=True, check=False)
            if done.returncode != 0:
                return {"error": done.stderr.strip().splitlines()[0] if done.stderr.strip() else "it failed"}
            ends = [line["wall_s"] for line in map(json.loads, log.read_text().splitlines()) if "epoch_loss" in line]
        return {"median_ms": statistics.median(b - a for a, b in zip(ends, ends[1:])) * 1e3}
    return lambda options: Job(lambda seconds: measure(options))


def all_random(file, function):
    """Every parameter of the function drawn: read from its text."""
    text = (HERE / file).read_text()
    header = re.search(rf"    def {function}\((.*?)\):?\n? *(?:with|return|for)", text, re.S).group(1)
    names = re.findall(r"(\w+): R\.Tensor", header)
    return call(file, function, [f"{name}=rand" for name in names])


def rows():
    found = {}
    for shape in SHAPES:
        found[f"product_{shape}"] = call("w1.relish", f"product_{shape}", ["x=rand", "w=rand"])
    for n in (512, 1024):
        found[f"naive_{n}"] = call("w1.relish", f"naive_{n}", ["A=rand", "B=rand"])
    found["mlp_1"] = call("w2.relish", "one", CLASSIFIER)
    found["mlp_64"] = call("w2.relish", "many", CLASSIFIER)
    found["mlp_sgd"] = script("w3.relish", "sgd(lr=0.1)")
    found["mlp_adam"] = script("w3.relish", "adam(lr=0.001)")
    found["mlp_epoch_sgd"] = epoch("w3_epoch.relish", "sgd(lr=0.1)")
    found["mlp_epoch_adam"] = epoch("w3_epoch.relish", "adam(lr=0.001)")
    found["lenet"] = all_random("w4.relish", "main")
    found["lenet_sgd"] = script("w4.relish", "sgd(lr=0.1)")
    found["resnet18"] = all_random("w5.relish", "infer")
    found["resnet18_momentum"] = script("w5.relish", "momentum(lr=0.1, momentum=0.9)")
    found["encoder"] = all_random("w6.relish", "main")
    found["encoder_adam"] = script("w6.relish", "adam(lr=0.001)")
    for name in ("chain", "softmax", "layer_norm", "sum_columns", "sum_rows", "transpose"):
        found[name] = all_random("w7.relish", name)
    found["logistic"] = call("w8.relish", "main", ["x=rand", "y=zeros"])
    return found


def open_rows():
    """Sizes that only the run knows, and the row of the same sizes in the text, which is the peer."""
    found = {}
    for shape in SHAPES:
        sizes = [f"{name}={size}" for name, size in zip("mkn", shape.split("_"))]
        found[f"open_{shape}"] = (call("w1.relish", "product", ["x=rand", "w=rand"], sizes), f"product_{shape}")
    for rows_given in ("1", "64"):
        found[f"open_mlp_{rows_given}"] = (call("w2.relish", "any_rows", CLASSIFIER, [f"n={rows_given}"]),
                                           f"mlp_{rows_given}")
    found["open_mlp_epoch_sgd"] = (epoch("w3_epoch.relish", "sgd(lr=0.1)", "open"), "mlp_epoch_sgd")
    return found


class Same:
    """Relish as its own peer: with its sizes in the text for a row of open ones, or on one thread."""

    def __init__(self, same, options):
        self.same = same(options)
        self.libraries = [f"Relish, {options.threads} thread(s)"]

    def measure(self, name, seconds):
        return self.same.measure(seconds)


class Peer:
    """A worker of peer_torch.py with one choice of libraries."""

    def __init__(self, threads, folder, kernels):
        # What else the caller's environment says of these libraries would hold for some choices and not for others.
        own = {name: value for name, value in os.environ.items() if not name.startswith(("OPENBLAS_", "BLIS_"))}
        self.environment = dict(own, OMP_NUM_THREADS=str(threads), BLIS_NUM_THREADS=str(threads),
                                OPENBLAS_NUM_THREADS=str(threads), **kernels)
        self.libraries = ["PyTorch"]
        if folder:
            self.environment["LD_LIBRARY_PATH"] = str(LIBRARIES / folder)
            self.libraries.append(" ".join([folder, *kernels.values()]))
        malloc = LIBRARIES / "libtcmalloc_minimal.so.4"
        if malloc.exists():
            self.environment["LD_PRELOAD"] = str(malloc)
            self.libraries.append("tcmalloc")
        self.python = os.environ.get("PEER_PYTHON", "/usr/bin/python3")
        self.process = subprocess.Popen([self.python, "-W", "ignore", "-B", str(HERE / "peer_torch.py"), str(threads)],
                                        env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def measure(self, name, seconds):
        self.process.stdin.write(f"{name} {seconds}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        return json.loads(answer) if answer else {"error": "the peer has ended"}

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def best_peers(threads):
    """Of each library the choice whose product of 512 x 512 x 512 is quickest."""
    best = {}
    for folder, kernels in [choice for choice in BLAS if (LIBRARIES / choice[0]).is_dir()] or [("", {})]:
        peer = Peer(threads, folder, kernels)
        measured = peer.measure("product_512_512_512", 0.2).get("min_ms", math.inf)
        if folder not in best or measured < best[folder][1]:
            other = best.get(folder, (None,))[0]
            best[folder] = (peer, measured)
        else:
            other = peer
        if other:
            other.close()
    return [peer for peer, _ in best.values()]


def best_peer(peers, name):
    """The one that a row is compared with: libraries differ in what they are quick at."""
    if len(peers) == 1:
        return peers[0]
    return min(peers, key=lambda peer: peer.measure(name, 0.1).get("min_ms", math.inf))


def start_times(relish, python, environment, rounds, options=()):
    """W9: from the start of a process to the first result of the classifier of one row."""
    ours_command = [relish, "call", str(HERE / "w2.relish"), "one", *options,
                    *[part for argument in CLASSIFIER for part in ("--arg", argument)]]
    text = ("import torch\nfrom torch import nn\n"
            "m = nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10))\n"
            "print(float(m(torch.rand(1, 784)).sum()))")
    numpy = ("import numpy as np\nr = np.random.rand\n"
             "print(float((np.maximum(r(1, 784) @ r(784, 128) + r(128), 0) @ r(128, 10) + r(10)).sum()))")
    taken = {"relish": [], "torch": [], "numpy": []}
    for _ in range(rounds):
        for name, command, own in (("relish", ours_command, None), ("torch", [python, "-c", text], environment),
                                   ("numpy", [python, "-c", numpy], environment)):
            begin = time.perf_counter()
            subprocess.run(command, stdout=subprocess.DEVNULL, check=True, env=own)
            taken[name].append((time.perf_counter() - begin) * 1e3)
    medians = {name: statistics.median(values) for name, values in taken.items()}
    best = min(("torch", "numpy"), key=lambda name: medians[name])
    return medians["relish"], medians[best], best


def machine_of(relish):
    done = subprocess.run([relish, "machine", "--json"], capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else {}


def compare(name, ours, peer, options):
    """Both in turn, for a moment each. Each time of ours is held against the mean of the peer's before and behind it,
    since a machine that others use too is quicker in one second than in the next; of these ratios the median counts. The
    ratio of the least times is what is left when neither side had a neighbour."""
    mine, theirs, least = [], [], [math.inf, math.inf]
    seconds = options.seconds * 5 if isinstance(ours, Job) else options.seconds
    began = time.perf_counter()
    for turn in range(2 * options.rounds + 1):
        if turn % 2 and turn > 10 and time.perf_counter() - began > LONGEST_ROW:
            break
        measured = ours.measure(seconds) if turn % 2 else peer.measure(name, seconds)
        if "error" in measured:
            return {"row": name, "error": measured["error"]}
        (mine if turn % 2 else theirs).append(measured["median_ms"])
        least[turn % 2] = min(least[turn % 2], measured.get("min_ms", measured["median_ms"]))
    ratios = sorted((before + behind) / 2 / own for before, own, behind in zip(theirs, mine, theirs[1:]))
    return {"row": name, "relish_ms": statistics.median(mine), "peer_ms": statistics.median(theirs),
            "ratio": statistics.median(ratios), "low": ratios[0], "high": ratios[-1],
            "best": least[0] / least[1], "peer": " + ".join(peer.libraries)}


def compared(name, make, peer, options):
    ours = make(options)
    try:
        return compare(name, ours, peer, options)
    finally:
        ours.close()
        if isinstance(peer, Same):
            peer.same.close()


def whole_file(name, write):
    """The file appears when it is whole."""
    beside = Path(name).with_name(f".{os.getpid()}-{Path(name).name}")
    try:
        write(str(beside))
        os.replace(beside, name)
    finally:
        beside.unlink(missing_ok=True)


def draw(result, name):
    """A bar for each row: its ratio, and a line from the least to the most of it; right of 1, Relish is ahead."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    rows = [row for row in result["rows"] if "ratio" in row][::-1]
    figure, axes = pyplot.subplots(figsize=(8, 1 + 0.25 * len(rows)), layout="constrained")
    for place, row in enumerate(rows):
        axes.barh(place, row["ratio"], color="tab:green" if row["ratio"] >= 1 else "tab:red")
        axes.plot([row.get("low", row["ratio"]), row.get("high", row["ratio"])], [place, place], color="black", linewidth=1)
        axes.text(max(row["ratio"], row.get("high", 0)) * 1.03, place, f"{row['ratio']:.2f}", va="center", fontsize=8)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_yticks(range(len(rows)), [row["row"] for row in rows], fontsize=8)
    axes.set_xscale("log", base=2)
    axes.set_xlim(right=1.3 * max([row.get("high", row["ratio"]) for row in rows], default=1))
    axes.xaxis.set_major_formatter(matplotlib.ticker.FormatStrFormatter("%g"))
    axes.set_xlabel("time of the peer by that of Relish")
    axes.set_title(f"{result['machine'].get('processor', 'this machine')}, {result['threads']} thread(s); peer: "
                   f"{', '.join(result['peers'])}", fontsize=7)
    figure.savefig(name)


def main():
    parser = argparse.ArgumentParser(description="Relish beside PyTorch and NumPy")
    parser.add_argument("rows", nargs="*")
    parser.add_argument("--quick", action="store_true", help="three alternations, and none of the largest rows")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=15, help="alternations (15; fewer of long rows)")
    parser.add_argument("--scaling", action="store_true", help="the peer is Relish on one thread")
    parser.add_argument("--json", help="file for all figures")
    parser.add_argument("--chart", help="file for a picture of the ratios (.svg, .png, .pdf)")
    options = parser.parse_args()
    if options.scaling and options.threads < 2:
        sys.exit("bench: --scaling compares threads with one; write --threads 2 or more")
    if options.chart and not options.chart.endswith((".svg", ".png", ".pdf")):
        sys.exit(f"bench: {options.chart} ends with none of .svg, .png, .pdf")
    options.relish = os.environ.get("RELISH", "relish")
    options.rounds = 3 if options.quick else options.rounds
    options.seconds = 0.05 if options.quick else 0.1
    chosen, open_sizes = rows(), open_rows()
    starts = {"start": (), "start_compiling": ("--cache", "off")}
    known = [*chosen, *([] if options.scaling else [*open_sizes, *starts])]
    if options.rows:
        unknown = [row for row in options.rows if not any(name.startswith(row) for name in known)]
        if unknown:
            sys.exit(f"bench: there is no row {unknown[0]}; there are {', '.join(known)}")
        known = [name for name in known if any(name.startswith(row) for row in options.rows)]
    elif options.quick:
        known = [name for name in known if name not in ("product_2048_2048_2048", "resnet18", "resnet18_momentum", "open_2048_2048_2048")]

    peers = [] if options.scaling else best_peers(options.threads)
    one_thread = argparse.Namespace(**{**vars(options), "threads": 1})
    result = {"machine": machine_of(options.relish), "threads": options.threads, "rounds": options.rounds,
              "peers": [" + ".join(peer.libraries) for peer in peers] or ["Relish on one thread"], "load": os.getloadavg()[0], "rows": []}
    peer_told = ("Relish on one thread" if options.scaling else f"the quicker of {', '.join(result['peers'])} "
                 "(logistic: NumPy; start: NumPy too; open_…: Relish with its sizes in the text)")
    print(f"{options.threads} thread(s), {result['machine'].get('processor', 'this machine')}, load "
          f"{result['load']:.1f}; peer: {peer_told}")
    print(f"{'row':<24}{'relish ms':>12}{'peer ms':>12}{'ratio':>8}  least and most of it, of least times, peer")
    for name in known:
        if name in starts:
            mine, theirs, best = start_times(options.relish, peers[0].python, peers[0].environment,
                                             options.rounds * 2 + 1, starts[name])
            row = {"row": name, "relish_ms": mine, "peer_ms": theirs, "ratio": theirs / mine, "peer": best}
        elif options.scaling:
            row = compared(name, chosen[name], Same(chosen[name], one_thread), options)
        elif name in open_sizes:
            make, same = open_sizes[name]
            row = compared(name, make, Same(chosen[same], options), options)
        else:
            row = compared(name, chosen[name], best_peer(peers, name), options)
        result["rows"].append(row)
        if "error" in row:
            print(f"{name:<24}{row['error']}", flush=True)
        else:
            spread = f"  {row['low']:.2f} {row['high']:.2f}  {row['best']:.2f}  {row['peer']}" if "low" in row else ""
            print(f"{name:<24}{row['relish_ms']:>12.4f}{row['peer_ms']:>12.4f}{row['ratio']:>8.2f}{spread}", flush=True)
    for peer in peers:
        peer.close()
    ratios = [row["ratio"] for row in result["rows"] if row["row"].startswith("product") and "ratio" in row]
    if ratios:
        result["products"] = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"{'products, together':<24}{'':>24}{result['products']:>8.2f}")
    if options.json:
        whole_file(options.json, lambda name: Path(name).write_text(json.dumps(result, indent=1)))
    if options.chart:
        whole_file(options.chart, lambda name: draw(result, name))
    if any("error" in row for row in result["rows"]):
        sys.exit(1)


if __name__ == "__main__":
    main()
