#!/usr/bin/env python3
"""Count the tests of the last `meson test` in a build folder, each single one of a program.

usage: count_tests.py BUILD_FOLDER

Prints `N passed, N failed`, and `, N skipped` if any was. Exits with 1 when one failed or
none ran."""

import json
import re
import sys
from pathlib import Path

TAP_LINE = re.compile(r"(not )?ok\b(.*)", re.IGNORECASE)


def count(test):
    """The (passed, failed, skipped) of one entry of meson's log."""
    passed = failed = skipped = 0
    for line in test.get("stdout", "").splitlines():
        match = TAP_LINE.match(line)
        if match and re.search(r"#\s*skip", match[2], re.IGNORECASE):
            skipped += 1
        elif match and match[1]:
            failed += 1
        elif match:
            passed += 1
    if test["result"] == "SKIP":
        skipped = max(skipped, 1)
    elif test["result"] in ("OK", "EXPECTEDFAIL"):
        passed = passed or int(skipped == 0)
    else:  # a program may fail though none of its single tests did
        failed = max(failed, 1)
    return passed, failed, skipped


def main():
    logs = Path(sys.argv[1], "meson-logs").glob("testlog*.json")
    log = max(logs, key=lambda path: path.stat().st_mtime)
    tests = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    passed, failed, skipped = (sum(column) for column in zip(*map(count, tests)))
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 0 if failed == 0 and passed > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
