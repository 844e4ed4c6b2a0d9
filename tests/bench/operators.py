#!/usr/bin/env python3
"""Measures each operator on an input of middle size against ONNX Runtime, alternating in one run.

    tests/bench/operators.py [--only TEXT[,TEXT]] [--threads 1,2] [--rounds 3] [--seconds 0.05] [--again 2] [--slow] [--json FILE]
                             [--markdown FILE]

A case is a model of one node (`operator_cases.py`); calls go through Python in both engines, so that very short ones show the cost of
a call. A row in which an engine was slower by a quarter with more threads than with one is measured again, in fresh processes, up to
`--again` times: the threads may have been in each other's way, or lain on cores far from each other. `--only` takes the cases whose name contains one of the texts, `--slow` prints only those slower than half of ONNX Runtime's
speed. Outputs are compared, apart from those of random operators: the exit code is 1 when they differ or pyasc fails.
"""

import argparse
import json
import math
import pathlib
import statistics
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

import numpy as np

from tests.bench import report
from tests.bench.operator_cases import cases
from tests.bench.worker import Worker, WorkerError

ENGINES = ("pyasc", "onnxruntime")
SLOW = 0.5  # of ONNX Runtime's speed: what is below is listed as a missed target
_PAUSE_S = 0.01


def differ(operator, got, want):
    """Whether outputs by name are not those of ONNX Runtime; random operators only have the same shapes and types."""
    random = operator.startswith("Random") or operator in ("Bernoulli", "Multinomial")
    for name, array in want.items():
        other = np.asarray(got[name])
        if other.shape != array.shape or other.dtype != array.dtype:
            return True
        if random:
            continue
        if array.dtype.kind == "f":
            scale = float(np.max(np.abs(array), initial=0, where=np.isfinite(array)))
            tolerance = 1e-2 if array.dtype == np.float16 else 1e-4
            if not np.allclose(other, array, rtol=tolerance, atol=0.1 * tolerance * scale, equal_nan=True):
                return True
        elif array.dtype == np.uint8 or array.dtype == np.int8:  # quantised: a tie may round either way
            if np.max(np.abs(other.astype(int) - array), initial=0) > 1:
                return True
        elif not np.array_equal(other, array):
            return True
    return False


def measure(case, file, threads, workers, rounds, seconds):
    """A row of the table: times by engine, or an error in their place."""
    row = {"case": case.name, "operator": case.operator, "threads": threads, "engines": {}}
    outputs, times = {}, {}
    file.write_bytes(case.model())
    for engine, worker in workers.items():
        try:
            worker.load(file, threads, case.inputs, False)
            outputs[engine] = worker.outputs()
            times[engine] = []
        except WorkerError as error:
            row["engines"][engine] = {"error": str(error).splitlines()[0]}
    for number in range(rounds):
        for engine in list(times)[:: 1 if number % 2 else -1]:
            time.sleep(_PAUSE_S)
            times[engine] += workers[engine].measure(seconds)
    row["engines"] |= {engine: report.summarise(runs) for engine, runs in times.items()}
    if len(outputs) == len(ENGINES):
        row["differ"] = differ(case.operator, outputs["pyasc"], outputs["onnxruntime"])
        _compare(row)
    return row


def _compare(row):
    mine, peer = (row["engines"][engine]["min_ms"] for engine in ENGINES)
    row["ratio"] = peer / mine


def hindered(rows):
    """The numbers of rows where an engine took longer by a quarter than with the fewest threads."""
    least = min(row["threads"] for row in rows)
    alone = {row["case"]: row["engines"] for row in rows if row["threads"] == least}

    def slower(row, engine):
        times = [engines[engine].get("min_ms") for engines in (row["engines"], alone[row["case"]])]
        return None not in times and times[0] > 1.25 * times[1]

    return [i for i, row in enumerate(rows) if any(slower(row, engine) for engine in ENGINES)]


def measure_again(rows, by_name, file, rounds, seconds):
    """Puts new rows in the place of hindered ones; of each engine's times the faster ones stay."""
    with Worker("pyasc") as own, Worker("onnxruntime") as peer:
        workers = dict(zip(ENGINES, (own, peer), strict=True))
        for i in hindered(rows):
            before = rows[i]["engines"]
            rows[i] = row = measure(by_name[rows[i]["case"]], file, rows[i]["threads"], workers, rounds, seconds)
            for engine, result in before.items():
                if result.get("min_ms", math.inf) < row["engines"][engine].get("min_ms", math.inf):
                    row["engines"][engine] = result
            if "ratio" in row:
                _compare(row)


def _line(row):
    for engine in ENGINES:
        result = row["engines"][engine]
        yield "-" if "error" in result else f"{1e3 * result['min_ms']:.0f}"
    yield f"{row['ratio']:.2f}" + (" !" if row["differ"] else "") if "ratio" in row else "-"


_PAGE = """# Operators beside ONNX Runtime

Least microseconds of a call from Python of a model of one operator, on an input of middle size (`tests/bench/operator_cases.py`), and ONNX Runtime's time divided by pyasc's: above 1, pyasc is faster.
"-": ONNX Runtime lacks the operator, or refuses it.

- **CPU**: {cpu} (family/model {family}), {cores} cores, {instructions}
- **Command**: `tests/bench/operators.py --rounds {rounds} --seconds {seconds} --again {again} --markdown FILE`, which writes this page

"""


def as_markdown(results):
    """The page: a line a case, microseconds and ratio for each number of threads."""
    threads = results["threads"]
    titles = ["pyasc", "ONNX Runtime", "ratio"]
    header = ["case"] + [f"{title}, {n} thread{'s' * (n > 1)}" for n in threads for title in titles]
    by_case = {}
    for row in results["rows"]:
        by_case.setdefault(row["case"], {})[row["threads"]] = row
    lines = [[name, *(cell for n in threads for cell in _line(rows[n]))] for name, rows in by_case.items()]
    table = ["| " + " | ".join(line) + " |" for line in [header, ["---"] * len(header), *lines]]
    machine = results["machine"] | {"instructions": " ".join(results["machine"]["instructions"])}
    head = _PAGE.format(**machine, rounds=results["rounds"], seconds=results["seconds"], again=results["again"])
    return head + "\n".join([*table, "", *(f"- {line}" for line in summary(results))]) + "\n"


def summary(results):
    """Lines that say what the rows say together, and which rows miss the target."""
    for n in results["threads"]:
        ratios = [row["ratio"] for row in results["rows"] if row["threads"] == n and "ratio" in row]
        if ratios:
            mean = math.exp(statistics.fmean(map(math.log, ratios)))
            slow = sum(ratio < SLOW for ratio in ratios)
            yield f"{n} thread{'s' * (n > 1)}: geometric mean {mean:.2f} over {len(ratios)} cases, {slow} below {SLOW}"
    for row in results["rows"]:
        where = f"{row['case']}, {row['threads']} threads"
        error = row["engines"]["pyasc"].get("error")
        if error:
            yield f"{where}: {error}"
        elif row.get("ratio", 1) < SLOW:
            yield f"target missed: {where}: {row['ratio']:.2f}"
        if row.get("differ"):
            yield f"! {where}: the outputs differ from ONNX Runtime's"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", type=lambda text: text.split(","), default=[""])
    parser.add_argument("--threads", type=lambda text: [int(n) for n in text.split(",")], default=[1, 2])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.05, help="time of an engine's turn")
    parser.add_argument("--again", type=int, default=2, help="times that hindered rows are measured again at most")
    parser.add_argument("--slow", action="store_true", help="print only what is slower than half of ONNX Runtime's speed")
    parser.add_argument("--json", metavar="FILE", help="write all figures")
    parser.add_argument("--markdown", metavar="FILE", help="write the table")
    arguments = parser.parse_args()
    chosen = [case for case in cases() if any(text in case.name for text in arguments.only)]
    settings = {"threads": arguments.threads, "rounds": arguments.rounds, "seconds": arguments.seconds, "again": arguments.again}
    results = {"machine": report.machine(), **settings, "rows": []}
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "case.onnx")
        with Worker("pyasc") as own, Worker("onnxruntime") as peer:
            workers = dict(zip(ENGINES, (own, peer), strict=True))
            for case in chosen:
                for threads in arguments.threads:
                    row = measure(case, file, threads, workers, arguments.rounds, arguments.seconds)
                    results["rows"].append(row)
                    if not arguments.slow or row.get("ratio", 1) < SLOW:
                        print(f"{case.name:32} {threads} ", *(f"{cell:>10}" for cell in _line(row)), flush=True)
        for _ in range(arguments.again):
            if hindered(results["rows"]):
                measure_again(results["rows"], {case.name: case for case in chosen}, file, arguments.rounds, arguments.seconds)
    print(*summary(results), sep="\n")
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    if arguments.markdown:
        pathlib.Path(arguments.markdown).write_text(as_markdown(results), encoding="utf-8")
    return any(row.get("differ") or "error" in row["engines"]["pyasc"] for row in results["rows"])


if __name__ == "__main__":
    sys.exit(main())
