#!/usr/bin/env python3
"""takt view: the file goes to who has the link, once and whole, and to nobody else."""

import http.client
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

TAKT = os.path.join(os.environ["TAKT_BIN"], "takt")
SPH = os.path.join(os.environ["TAKT_BIN"], "samples", "sph")
VIEWER = "https://ui.perfetto.dev"
PATIENCE = 600  # seconds, against a command that hangs


def until(condition, what):
    end = time.monotonic() + PATIENCE
    while not (result := condition()):
        assert time.monotonic() < end, what
        time.sleep(0.02)
    return result


class Link:
    """The address that a link leads to, in either of its forms."""

    def __init__(self, text, name):
        found = re.search(r"http://127\.0\.0\.1:(\d+)(/[0-9a-f]{32}/)(\S*)", text)
        assert found, text
        self.port, self.folder = int(found[1]), found[2]
        self.is_direct = self.port == 9001
        if self.is_direct:
            assert f"{VIEWER}/#!/?url={found[0]}" in text, text
        assert found[3] == (name if self.is_direct else ""), text
        self.path = self.folder + name

    def ask(self, path=None, method="GET", host=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        connection.putrequest(method, path or self.path, skip_host=True)
        if host != "":
            connection.putheader("Host", host or f"127.0.0.1:{self.port}")
        for key, value in headers.items():
            connection.putheader(key.replace("_", "-"), value)
        connection.endheaders()
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, answer.headers, body

    def is_closed(self):
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) != 0


class View:
    """A running `takt view`; it is ended in any case."""

    def __init__(self, file, *options):
        self.process = subprocess.Popen(
            [TAKT, "view", *options, file], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True)
        self.said = ""
        while "Waiting for it" not in self.said:
            line = self.process.stdout.readline()
            assert line, self.process.communicate()
            self.said += line
        self.link = Link(self.said, os.path.basename(file))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def end(self):
        out, err = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, out, err


def strangers_get_nothing(link, content):
    """Every request but the right one is refused, and tells nothing of the file."""
    port, path = link.port, link.path
    name = path.removeprefix(link.folder)
    other = link.folder[:-2] + ("1/" if link.folder[-2] == "0" else "0/")
    refused = [
        (404, "GET", path, {})
        for path in [
            "/", "//", "/" + name, other, other + name, path + "x", path[:-1], path + "/",
            link.folder + "x", link.folder + "../" + name, "/../" + name, "/%2e%2e/" + name,
            link.folder + "..%2f" + name, "/" + path, path.replace("/", "//"), "/etc/passwd",
            link.folder + "%2e%2e/%2e%2e/etc/passwd", link.folder + "../../../../../etc/passwd",
            path + "%00", path.upper(), "/status", "/websocket", "http://127.0.0.1/" + name,
            "/" + "a" * 5000]]
    refused += [(405, method, path, {}) for method in ["POST", "PUT", "DELETE", "TRACE", "get"]]
    refused += [
        (403, "GET", path, {"host": host})
        for host in ["example.org", f"example.org:{port}", "127.0.0.1", "localhost",
                     f"127.0.0.1:{port}.example.org", f"127.0.0.1:{port % 65535 + 1}",
                     f"127.0.0.1:{port}0", f"[::1]:{port}", f"localhost.:{port}"]]
    refused += [
        (403, method, path, {"Origin": origin})
        for origin in ["https://example.org", "null", "http://ui.perfetto.dev",
                       VIEWER + ".example.org", VIEWER + ":8443", "https://perfetto.dev"]
        for method in ["GET", "HEAD", "OPTIONS"]]
    for status, method, path, headers in refused:
        got, answered, body = link.ask(path, method, **headers)
        assert got == status, (got, method, path, headers)
        assert content not in body and "Access-Control-Allow-Origin" not in answered
    assert link.ask(host="")[0] in (400, 403)
    if link.is_direct:
        assert link.ask(link.folder)[0] == 404


def the_viewer_may_ask_first(link, content):
    status, headers, body = link.ask(method="OPTIONS", Origin=VIEWER,
                                     Access_Control_Request_Method="GET",
                                     Access_Control_Request_Private_Network="true")
    assert (status, body) == (204, b"")
    assert headers["Access-Control-Allow-Origin"] == VIEWER
    assert headers["Access-Control-Allow-Private-Network"] == "true"
    assert "Access-Control-Allow-Private-Network" not in link.ask(method="OPTIONS")[1]
    for _ in range(2):
        status, headers, body = link.ask(method="HEAD", Origin=VIEWER)
        assert (status, body) == (200, b"")
        assert headers["Content-Length"] == str(len(content))


def only_loopback_listens(link):
    rows = pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]
    rows += pathlib.Path("/proc/net/tcp6").read_text().splitlines()[1:]
    listening = [row.split()[1] for row in rows if row.split()[3] == "0A"]
    assert [a for a in listening if a.endswith(f":{link.port:04X}")] == \
        [f"0100007F:{link.port:04X}"], listening


def a_trace_is_served_once(file):
    content = pathlib.Path(file).read_bytes()
    with View(file) as view:
        link = view.link
        only_loopback_listens(link)
        strangers_get_nothing(link, content)
        the_viewer_may_ask_first(link, content)
        status, headers, body = link.ask(Origin=VIEWER, host=f"localhost:{link.port}")
        assert status == 200 and body == content
        assert headers["Access-Control-Allow-Origin"] == VIEWER
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Cache-Control"] == "no-store"
        assert view.end() == (0, "Fetched; the link is used up.\n", "")
        until(link.is_closed, "the server has not ended")


def a_database_is_converted(folder):
    """The viewer does not know Nsight Systems' files: it gets the trace as Perfetto has it."""
    sys.path.insert(0, os.path.join(os.environ.get("TAKT_ROOT", "."), "test", "import"))
    import nsys_file
    import run_model
    file = os.path.join(folder, "run.sqlite")
    nsys_file.write(run_model.Run(1), file)
    with View(file) as view:
        status, _, body = view.link.ask()
        assert status == 200 and body.startswith(b"\x0a\x05\xa2\x7e"), body[:20]
        assert view.end()[0] == 0


def tokens_differ(file):
    links = []
    for _ in range(3):
        with View(file) as view:
            links.append(view.link.folder)
    assert len(set(links)) == 3, links


def another_port_has_a_page(file):
    """While one link waits, the next goes to another port, from where a page of Takt's posts it."""
    content = pathlib.Path(file).read_bytes()
    with View(file) as first:
        taken = subprocess.run([TAKT, "view", "--port", str(first.link.port), file], text=True,
                               capture_output=True, timeout=PATIENCE, check=False)
        assert taken.returncode == 1 and "Address already in use" in taken.stderr, taken
        with View(file) as second:
            link = second.link
            assert link.port not in (9001, first.link.port)
            status, headers, page = link.ask(link.folder)
            assert status == 200 and headers["Content-Type"].startswith("text/html")
            nonce = link.folder.strip("/")
            assert f"script-src 'nonce-{nonce}'" in headers["Content-Security-Policy"]
            assert f"<script nonce=\"{nonce}\">".encode() in page
            assert b"'" + os.path.basename(file).encode() + b"'" in page
            assert link.ask()[2] == content
            assert second.end()[0] == 0
        assert not first.link.is_closed()


def a_broken_transfer_may_be_repeated(folder):
    """One client at a time; the link is used up only when one has had all of it."""
    big = os.path.join(folder, "big.pftrace")
    with open(big, "wb") as file:
        file.truncate(64 << 20)  # more than two sockets hold
    with View(big) as view:
        link = view.link
        with socket.create_connection(("127.0.0.1", link.port), timeout=PATIENCE) as half:
            request = f"GET {link.path} HTTP/1.1\r\nHost: 127.0.0.1:{link.port}\r\n\r\n"
            half.sendall(request.encode())
            assert half.recv(12) == b"HTTP/1.1 200"
            assert link.ask()[0] == 410
        until(lambda: link.ask(method="HEAD")[0] == 200, "the server has ended")
        answers = []
        until(lambda: answers.append(link.ask()) or answers[-1][0] == 200, "still busy")
        assert len(answers[-1][2]) == 64 << 20
        assert view.end()[0] == 0


def crowd(link, count):
    """Connections that ask for nothing, for half of something, or for something else."""
    guests = []
    for i in range(count):
        guest = socket.create_connection(("127.0.0.1", link.port), timeout=PATIENCE)
        guest.sendall([b"", b"GET /x HTTP/1.1\r\nHost:", f"GET /x HTTP/1.1\r\nHost: 127.0.0.1:"
                       f"{link.port}\r\n\r\n".encode()][i % 3])
        guests.append(guest)
    return guests


def a_crowd_shuts_nobody_out(folder):
    """Three hundred connections that stay, before the viewer comes and while it takes its file."""
    big = os.path.join(folder, "big.pftrace")
    with View(big) as view:
        link = view.link
        guests = crowd(link, 300)
        assert link.ask(method="HEAD")[0] == 200
        with socket.create_connection(("127.0.0.1", link.port), timeout=PATIENCE) as viewer:
            request = f"GET {link.path} HTTP/1.1\r\nHost: 127.0.0.1:{link.port}\r\n\r\n"
            viewer.sendall(request.encode())
            answer = viewer.makefile("rb")
            assert answer.readline() == b"HTTP/1.1 200 OK\r\n"
            guests += crowd(link, 300)
            assert link.ask()[0] == 410
            while answer.readline() != b"\r\n":
                pass
            assert len(answer.read(64 << 20)) == 64 << 20
        for guest in guests:
            guest.close()
        assert view.end() == (0, "Fetched; the link is used up.\n", "")


def nobody_comes(file):
    run = subprocess.run([TAKT, "view", "--timeout", "1", file], text=True, capture_output=True,
                         timeout=PATIENCE, check=False)
    assert run.returncode == 1 and run.stderr == f"takt: no browser fetched {file} within 1 s\n", run
    run = subprocess.run([TAKT, "view", "--json", "--timeout", "1", file], text=True,
                         capture_output=True, timeout=PATIENCE, check=False)
    said = json.loads(run.stdout)
    assert said["file"] == file and said["bytes"] == os.path.getsize(file), said
    assert f"127.0.0.1:{said['port']}/" in said["link"] and said["link"].startswith("http"), said
    run = subprocess.run([TAKT, "view", "--json", "--html", file], text=True, capture_output=True,
                         timeout=PATIENCE, check=False)
    assert run.returncode == 2 and "--html writes a page: leave out --json" in run.stderr, run
    for number in signal.SIGINT, signal.SIGTERM:
        before = sorted(os.listdir(os.path.dirname(file)))
        with View(file) as view:
            view.process.send_signal(number)
            assert view.end() == (-number, "", "")
            until(view.link.is_closed, "the server has not ended")
        assert sorted(os.listdir(os.path.dirname(file))) == before


def only_traces_are_served(folder, file):
    odd = os.path.join(folder, "odd name")
    pathlib.Path(odd).write_text("password: 1234\n")
    for path, why in [(odd, "not a trace"), ("/etc/passwd", "not a trace"), (folder, "5 traces: name one"),
                      ("/dev/null", "not a regular"), (os.path.join(folder, "none"), "No such file")]:
        run = subprocess.run([TAKT, "view", path], text=True, capture_output=True,
                             timeout=PATIENCE, check=False)
        assert run.returncode == 1 and run.stdout == "" and why in run.stderr, run
    os.replace(file, odd)  # a trace is one under any name
    run = subprocess.run([TAKT, "view", "--background", odd], text=True, capture_output=True,
                         timeout=PATIENCE, check=True)
    link = Link(run.stdout, "odd_name")
    assert link.ask()[2] == pathlib.Path(odd).read_bytes()
    until(link.is_closed, "the server in the background has not ended")


def the_profiler_prints_the_link(folder):
    """output.view: the program ends at once, also for who waits at the other end of its pipes."""
    path = f"{os.environ['TAKT_BIN']}:{os.environ['PATH']}"
    arguments = [SPH, "--quiet", "--steps", "12", "--particles", "200", "--profiling.wait", "1",
                 "--profiling.active", "2", "--output.view", "--output.traces", "perfetto",
                 "--reports", "steps", "--output.directory", folder]
    run = subprocess.run(arguments, text=True, capture_output=True, timeout=PATIENCE, check=True,
                         env={**os.environ, "PATH": path})
    file, = pathlib.Path(folder).glob("sph.*.pftrace")
    link = Link(run.stderr, file.name)
    assert "127.0.0.1" not in run.stdout
    assert link.ask()[2] == file.read_bytes()
    until(link.is_closed, "the server in the background has not ended")
    run = subprocess.run(arguments, text=True, capture_output=True, timeout=PATIENCE, check=True,
                         env={**os.environ, "PATH": folder})
    second, = set(pathlib.Path(folder).glob("sph.*.pftrace")) - {file}
    assert f"type: takt view {second}" in run.stderr, run


def main():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([os.path.join(os.environ["TAKT_BIN"], "samples", "steps"), folder],
                       stdout=subprocess.DEVNULL, check=True)
        file = str(sorted(pathlib.Path(folder).glob("*.pftrace"))[0])
        run = subprocess.run([TAKT, "view", "--timeout", "1", file], text=True,
                             capture_output=True, timeout=PATIENCE, check=False)
        if "built without libmicrohttpd" in run.stderr:
            assert run.returncode == 1 and "Open trace file" in run.stderr
            print("needs libmicrohttpd")
            sys.exit(77)
        a_trace_is_served_once(file)
        a_database_is_converted(folder)
        tokens_differ(file)
        another_port_has_a_page(file)
        a_broken_transfer_may_be_repeated(folder)
        a_crowd_shuts_nobody_out(folder)
        nobody_comes(file)
        the_profiler_prints_the_link(folder)
        only_traces_are_served(folder, file)
    print("the file goes to who has the link, once")


if __name__ == "__main__":
    main()
