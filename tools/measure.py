"""What a program costs: CPU time and memory, under limits."""

import functools
import os
import resource
import signal
import subprocess
import tempfile
import threading
from pathlib import Path

SOURCE_ROOT = Path(__file__).resolve().parent.parent


class Cost:
    """How a program ended, what it took, and what it wrote."""

    def __init__(self, status, usage, output, errors, is_over_time):
        self.cpu_s = usage.ru_utime + usage.ru_stime
        self.peak_mb = usage.ru_maxrss * 1024 / 1e6
        self.output = output
        self.is_over_time = is_over_time
        self.is_ok = status == 0
        self.failure = None
        if is_over_time:
            self.failure = "over the limit"
        elif not self.is_ok:
            self.failure = next((line for line in errors.splitlines() if "rror" in line),
                                f"ended with {status}")

    def memory(self):
        """The peak in MB as a text; "<= 12" where it is hidden by that of Python."""
        is_hidden = self.peak_mb <= 1.05 * least_mb()
        return f"{'<= ' if is_hidden else ''}{self.peak_mb:.0f}"


def run(command, limit_s, memory_gb=None):
    """Runs @command for at most @limit_s of CPU time, and ten times that by the clock."""

    def set_limits():
        resource.setrlimit(resource.RLIMIT_CPU, (limit_s, limit_s + 1))
        if memory_gb is not None:
            n_bytes = int(memory_gb * 1e9)
            resource.setrlimit(resource.RLIMIT_AS, (n_bytes, n_bytes))

    # Meson asks for memory to be filled when it is given and taken back, which costs time.
    environment = {**os.environ, "MALLOC_PERTURB_": "0"}
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        child = subprocess.Popen(
            [str(word) for word in command], stdin=subprocess.DEVNULL, stdout=output,
            stderr=errors, env=environment, preexec_fn=set_limits)
        clock = threading.Timer(10 * limit_s + 10, child.kill)
        clock.start()
        try:
            _, status, usage = os.wait4(child.pid, 0)
        except BaseException:
            child.kill()
            raise
        finally:
            clock.cancel()
        child.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        killers = (-signal.SIGXCPU, -signal.SIGKILL)
        return Cost(child.returncode, usage, output.read(), errors.read(),
                    child.returncode in killers)


@functools.cache
def least_mb():
    """What is measured of a program that needs nothing: a process also counts what it was before
    it became the program, a copy of this one."""
    return run(["true"], 10).peak_mb


def plain(number):
    """Three digits, or all before the point."""
    return f"{number:,.0f}" if number >= 1000 else f"{number:.3g}"


def markdown_row(cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def markdown_head(titles):
    """The two lines above the rows; titles that end in ':' are of columns of numbers."""
    marks = ["---:" if title.endswith(":") else "---" for title in titles]
    return markdown_row(title.rstrip(":") for title in titles) + "\n|" + "|".join(marks) + "|"


def default_program():
    """The ccsim of this source tree's build folder, unless the environment names another one."""
    return os.environ.get("CCSIM", str(SOURCE_ROOT / "build" / "src" / "ccsim"))
