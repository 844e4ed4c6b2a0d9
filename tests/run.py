"""Runs the test suites of a build folder and counts what passed, failed and was skipped.

    tests/run.py BUILD_DIR [cpp|c|python|java|go ...]

Called by tests/run.sh, which sets up and builds first.
"""

import concurrent.futures
import dataclasses
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Small models and the cases that the tests of all hosts share.
TEST_DATA = ROOT / "tests/data"
# A hung program must not hang the run; the longest suite takes a few minutes.
TIMEOUT_SECONDS = 1800


@dataclasses.dataclass
class Counts:
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __iadd__(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        return self

    @property
    def ran(self):
        return self.passed + self.failed

    def __str__(self):
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        return f"{self.passed} passed, {self.failed} failed{skipped}"


def count_junit(path):
    """Counts a JUnit report: of cmocka, pytest or JUnit itself."""
    counts = Counts()
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            counts.failed += 1
        elif case.find("skipped") is not None:
            counts.skipped += 1
        else:
            counts.passed += 1
    return counts


def count_gtest(path):
    counts = Counts()
    for suite in json.loads(path.read_text())["testsuites"]:
        for case in suite["testsuite"]:
            if case.get("failures"):
                counts.failed += 1
            elif case["result"] == "SKIPPED":
                counts.skipped += 1
            elif case["result"] == "COMPLETED":
                counts.passed += 1
    return counts


def count_report(read, path, exit_code):
    """The report's counts; a program that died or left no whole report is a failure."""
    try:
        counts = read(path)
    except (OSError, ValueError, ElementTree.ParseError):
        return Counts(failed=1)
    if exit_code != 0 and counts.failed == 0:
        counts.failed = 1
    return counts


def run(command, env=None, cwd=ROOT):
    """Runs to the end; returns (exit code, output)."""
    try:
        done = subprocess.run(
            command,
            cwd=cwd,
            env={**os.environ, **(env or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
        return done.returncode, done.stdout.decode(errors="replace")
    except subprocess.TimeoutExpired as expired:
        output = (expired.stdout or b"").decode(errors="replace")
        return 1, output + f"\nstopped after {TIMEOUT_SECONDS} s"


def report_program(suite, name, counts, seconds, output):
    print(f"  {suite:6} {name}: {counts} ({seconds:.1f} s)", flush=True)
    if counts.failed:
        print("\n".join("    | " + line for line in output.splitlines()[-200:]), flush=True)


def run_programs(build, results, suite, run_one):
    """Runs the Meson tests of a suite side by side; one program is one test of Meson's."""
    listing = subprocess.check_output(["meson", "introspect", "--tests", str(build)])
    programs = [test for test in json.loads(listing) if f"pyasc:{suite}" in test["suite"]]
    total = Counts()

    def timed(test):
        start = time.monotonic()
        counts, output = run_one(test)
        return test["name"], counts, time.monotonic() - start, output

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for done in concurrent.futures.as_completed(pool.submit(timed, t) for t in programs):
            name, counts, seconds, output = done.result()
            report_program(suite, name, counts, seconds, output)
            total += counts
    return total


def run_cpp(build, results):
    def run_one(test):
        report = results / f"{test['name']}.json"
        code, output = run(test["cmd"] + [f"--gtest_output=json:{report}"], test["env"])
        return count_report(count_gtest, report, code), output

    return run_programs(build, results, "cpp", run_one)


def run_c(build, results):
    def run_one(test):
        report = results / f"{test['name']}.xml"
        env = {"CMOCKA_MESSAGE_OUTPUT": "xml", "CMOCKA_XML_FILE": str(report)}
        code, output = run(test["cmd"], {**test["env"], **env})
        if report.exists():
            output += report.read_text(errors="replace")
        return count_report(count_junit, report, code), output

    return run_programs(build, results, "c", run_one)


def run_whole(suite, command, results, env, cwd=ROOT):
    """Runs a suite that is one command, showing its output; returns its exit code."""
    log = results / "output.log"
    with log.open("wb") as file, subprocess.Popen(
        command,
        cwd=cwd,
        env={**os.environ, **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:
        for line in process.stdout:
            file.write(line)
            print(f"  {suite:6} {line.decode(errors='replace').rstrip()}", flush=True)
        return process.wait()


def run_python(build, results):
    report = results / "pytest.xml"
    workers = str(min(os.cpu_count() or 1, 4))
    code = run_whole(
        "python",
        [sys.executable, "-m", "pytest", "-q", "-n", workers, "--dist", "loadgroup", f"--junitxml={report}"],
        results,
        {"PYTHONPATH": str(build / "bindings/python"), "ASC_BUILD_DIR": str(build)},
    )
    return count_report(count_junit, report, code)


def run_java(build, results):
    junit = next((ROOT / ".deps/java").glob("junit-platform-console-standalone-*.jar"))
    classes = results / "classes"
    classes.mkdir()
    class_path = f"{build / 'bindings/java/pyasc.jar'}:{classes}"
    sources = sorted(map(str, (ROOT / "tests/java").rglob("*.java")))
    code = run_whole(
        "java", ["javac", "-cp", f"{class_path}:{junit}", "-d", str(classes), *sources], results, {}
    )
    if code:
        return Counts(failed=1)
    code = run_whole(
        "java",
        ["java", f"-Djava.library.path={build / 'bindings/java'}", "-jar", str(junit), "execute"]
        + ["--class-path", class_path, "--scan-class-path", str(classes), "--disable-banner"]
        + ["--details=tree", "--disable-ansi-colors", "--reports-dir", str(results)],
        results,
        {"ASC_TEST_DATA": str(TEST_DATA)},
    )
    total = Counts()
    for report in results.glob("TEST-*.xml"):
        total += count_junit(report)
    if code != 0 and total.failed == 0:
        total.failed = 1
    return total


def run_go(build, results):
    code, output = run(
        ["go", "test", "-json", "-count=1", "./..."],
        {
            "PKG_CONFIG_PATH": str(build / "meson-uninstalled"),
            "LD_LIBRARY_PATH": str(build / "capi"),
            "GOFLAGS": "-mod=mod",
            "GOTOOLCHAIN": "local",
            "ASC_TEST_DATA": str(TEST_DATA),
        },
        build / "bindings/go",
    )
    counts = Counts()
    for line in output.splitlines():
        try:
            event = json.loads(line)
        except ValueError:
            print(f"  go     {line}", flush=True)
            continue
        if "Output" in event:
            print(f"  go     {event['Output'].rstrip()}", flush=True)
        if "Test" in event:
            counts.passed += event["Action"] == "pass"
            counts.failed += event["Action"] == "fail"
            counts.skipped += event["Action"] == "skip"
    if code != 0 and counts.failed == 0:
        counts.failed = 1
    return counts


SUITES = {"cpp": run_cpp, "c": run_c, "python": run_python, "java": run_java, "go": run_go}
LABELS = {"cpp": "C++", "c": "C", "python": "Python", "java": "Java", "go": "Go"}


def main(arguments):
    build = ROOT / arguments[0]
    suites = arguments[1:] or list(SUITES)
    for suite in suites:
        if suite not in SUITES:
            sys.exit(f"no suite is called {suite}; there are {', '.join(SUITES)}")
    total = Counts()
    ran = []
    for suite in suites:
        print(f"running the {LABELS[suite]} tests", flush=True)
        results = build / "test-results" / suite
        shutil.rmtree(results, ignore_errors=True)
        results.mkdir(parents=True)
        counts = SUITES[suite](build, results)
        ran.append(f"{LABELS[suite]} {counts.ran}")
        total += counts
        if counts.ran == 0:
            print(f"  {suite}: no test ran, which counts as a failure")
            total.failed += 1
    print("ran: " + ", ".join(ran))
    print(total)
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
