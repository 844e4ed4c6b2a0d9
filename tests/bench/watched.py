"""A measured child process, and the most memory that it held while it worked.

The child prints "ready", waits for a line, works, prints one line with its answer and waits for the end of its input.
"""

import pathlib
import subprocess
import threading
import time

_INTERVAL_S = 0.001


def _memory(pid):
    """(resident, anonymous) bytes of a process."""
    found = {}
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        key, _, value = line.partition(":")
        if key in ("VmRSS", "RssAnon"):
            found[key] = int(value.split()[0]) << 10
    return found["VmRSS"], found["RssAnon"]


def run(command, watch=True):
    """(answer, resident, anonymous): the child's line, and the bytes of its peaks beyond what it held when it was ready.

    Watching takes time of its own: without it the peaks are 0. RuntimeError where the child ends early; what it said is on stderr.
    """
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        if process.stdout.readline() != "ready\n":
            raise RuntimeError("the child did not start")
        before = peak = _memory(process.pid)
        process.stdin.write("go\n")
        process.stdin.flush()
        answer = []
        reader = threading.Thread(target=lambda: answer.append(process.stdout.readline()))
        reader.start()
        while watch and reader.is_alive():
            peak = tuple(map(max, peak, _memory(process.pid)))
            time.sleep(_INTERVAL_S)
        reader.join()
        if not answer[0]:
            raise RuntimeError("the child failed")
        if watch:
            peak = tuple(map(max, peak, _memory(process.pid)))
    return answer[0], *(most - own for most, own in zip(peak, before, strict=True))
