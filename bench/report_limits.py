#!/usr/bin/env python3
"""A report of many events: how long `sorrel report` takes, how large the page is, and when a browser shows it first.

Makes the trace by a run of kneighbor. The browser is Chromium by Playwright (`./dev test --browser` installs both).

  .venv/bin/python bench/report_limits.py
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

BROWSERS = ["chromium", "chromium-browser", "google-chrome"]


def run(command):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{command[0]}: status {done.returncode}\n{done.stdout[-1000:]}")
    return done.stdout


def times_in_browser(page_file):
    """By the browser's own clock, and when the timeline is there; nothing without a browser."""
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    if program is None:
        return None
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1200, "height": 900})
        page.goto(page_file.as_uri())
        page.wait_for_selector("#legend li")
        paint = page.evaluate("() => performance.getEntriesByName('first-contentful-paint').map((entry) => entry.startTime)")
        shown = page.evaluate("() => performance.now()")
        browser.close()
    return paint[0], shown


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sorrel", type=pathlib.Path, default="build/release/bin/sorrel", metavar="FILE", help="the command of a build (%(default)s)")
    parser.add_argument("-n", dest="ranks", type=int, default=4096, metavar="N", help="ranks (%(default)s)")
    parser.add_argument("--samples", type=int, default=4, metavar="S", help="of 10 iterations: some 1.5 million events each with 4096 ranks (%(default)s)")
    arguments = parser.parse_args()
    program = arguments.sorrel.parent / "kneighbor"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        trace, page, numbers = folder / "job.trace", folder / "page.html", folder / "report.json"
        print("the job runs", file=sys.stderr)
        run([arguments.sorrel, "run", "-n", arguments.ranks, "--stack", "64K", "--trace", trace, program, "--samples", arguments.samples, "--iterations", 10])
        print("the report is made", file=sys.stderr)
        began = time.monotonic()
        run([arguments.sorrel, "report", trace, "-o", page, "--json", numbers])
        seconds = time.monotonic() - began
        events = json.loads(numbers.read_text(encoding="utf-8"))["event_count"]
        print(f"{arguments.ranks} ranks, {events / 1e6:.1f} million events, trace {trace.stat().st_size / 1e6:.0f} MB")
        print(f"report: {seconds:.1f} s, page {page.stat().st_size / 1e6:.1f} MB")
        shown = times_in_browser(page)
        print("no Chromium or no Playwright" if shown is None else f"first paint {shown[0]:.0f} ms, timeline drawn {shown[1]:.0f} ms")


if __name__ == "__main__":
    main()
