#!/usr/bin/env python3
"""live.py [--browser] SORREL PROGRAM [OPTION...]: the page of `sorrel run --live`, for a job of 4 ranks of tests/behaviour/flight.c with these options.

Only the address that the job prints has a page and its state; other requests are refused, and the page ends with the job. --browser: a Chromium shows
the page, where one is installed (else exit status 77); with PICTURES=FOLDER also as pictures, wide and narrow.
"""
import http.client
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

LIMIT_S = 60
HEADLESS = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--virtual-time-budget=4000"]


class Job:
    def __init__(self, sorrel, program, options, folder):
        self.end_file = folder / "end"
        self.process = subprocess.Popen([sorrel, "run", "-n", "4", "--live", *options, program, self.end_file],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.process.stderr.readline()
        found = re.fullmatch(r"sorrel: live: (http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/)\n", line)
        assert found, f"the address is missing: {line!r}"
        self.url, self.port, self.token = found[1], int(found[2]), found[3]
        assert self.process.stdout.readline() == "ready\n"

    def ask(self, path, method="GET", host=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT_S)
        connection.request(method, path, headers={"Host": host or f"127.0.0.1:{self.port}"})
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read().decode()

    def state(self):
        status, _, text = self.ask(f"/{self.token}/state")
        assert status == 200, status
        return json.loads(text)

    def end(self):
        self.end_file.touch()
        assert self.process.wait(LIMIT_S) == 0, self.process.returncode
        rest = self.process.stderr.read()
        assert rest == "", rest


def wait_until(condition, what):
    end = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.1)


def check_requests(job):
    status, headers, page = job.ask(f"/{job.token}/")
    assert status == 200 and page.startswith("<!doctype html>"), (status, page[:100])
    assert "default-src 'none'; connect-src 'self'" in page and not re.search(r"(src|href)\s*=", page)
    assert headers["Cache-Control"] == "no-store" and headers["Referrer-Policy"] == "no-referrer", headers
    wrong = ("0" if job.token[0] != "0" else "1") + job.token[1:]
    for path in ("/", "/state", f"/{wrong}/", f"/{wrong}/state", f"/{job.token[:-1]}/", "/../../etc/passwd"):
        assert job.ask(path)[0] == 403, path
    for path in ("x", "../state", "..%2f..%2fetc/passwd", "state/"):
        assert job.ask(f"/{job.token}/{path}")[0] == 404, path
    assert job.ask(f"/{job.token}/", host="example.org")[0] == 403
    for method in ("POST", "HEAD", "DELETE"):
        assert job.ask(f"/{job.token}/", method)[0] == 405, method


def check_state(job):
    def has_barrier():
        state = job.state()
        if not state or state["counts"]["waiting"] + state["counts"]["blocked"] != 4:
            return False
        return any(row[2] == "MPI_Barrier" and "flight.c:" in row[3] for row in state["rows"])

    wait_until(has_barrier, "the state of the ranks")
    wait_until(lambda: all(worker["load_percent"] is not None for worker in job.state()["workers"]), "the load of workers")
    state = job.state()
    assert state["ranks"] == 4 and state["unexpected_messages"] == 1 and state["job"] == job.process.pid, state


def check_connections(job):
    """Connections that say nothing, or too much, end; more than the server takes wait for these."""
    silent = [socket.create_connection(("127.0.0.1", job.port), timeout=LIMIT_S) for _ in range(24)]
    assert job.state()["ranks"] == 4
    for one in silent[:16]:
        assert one.recv(1) == b"", "a silent connection is not closed"
    for one in silent:
        one.close()
    long = socket.create_connection(("127.0.0.1", job.port), timeout=LIMIT_S)
    try:
        long.sendall(b"GET / HTTP/1.1\r\nX: " + b"x" * 100000)
        answer = long.recv(100)
    except (BrokenPipeError, ConnectionResetError):
        answer = b""
    assert answer == b"" or answer.startswith(b"HTTP/1.1 400 "), answer
    # The server listens on the loopback alone.
    listening = [line.split()[1] for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:] if line.split()[3] == "0A"]
    assert f"0100007F:{job.port:04X}" in listening and f"00000000:{job.port:04X}" not in listening


def check_in_browser(job, browser, folder):
    def run(*words):
        words = [browser, *HEADLESS, f"--user-data-dir={folder}/profile", *words, job.url]
        return subprocess.run(words, capture_output=True, text=True, timeout=2 * LIMIT_S).stdout

    page = run("--dump-dom")
    for text in ("Job ", ">runs</span>", ">worker 0<", "MPI_Barrier", "flight.c:"):
        assert text in page, f"the page does not show {text}:\n{page[-6000:]}"
    pictures = os.environ.get("PICTURES")
    for name, size in (("wide", "1200,1000"), ("narrow", "500,1300")) if pictures else ():
        run(f"--window-size={size}", f"--screenshot={pictures}/live-{name}.png")


def main(words):
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    in_browser = words[0] == "--browser"
    if in_browser and not browser:
        print("skipped: Chromium is not installed")
        return 77
    sorrel, program, *options = words[1 if in_browser else 0 :]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        job = Job(sorrel, program, options, folder)
        try:
            if in_browser:
                check_in_browser(job, browser, folder)
            else:
                check_requests(job)
                check_state(job)
                check_connections(job)
            # An open connection does not keep the job.
            with socket.create_connection(("127.0.0.1", job.port), timeout=LIMIT_S):
                job.end()
            try:
                socket.create_connection(("127.0.0.1", job.port), timeout=LIMIT_S).close()
                raise AssertionError("the server has not ended with the job")
            except ConnectionRefusedError:
                pass
        finally:
            job.process.kill()
    return 0


sys.exit(main(sys.argv[1:]))
