"""The app for tests: a server in a thread of this process, or a process of its own, and a browser's requests."""

import asyncio
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from urllib.parse import quote, unquote

from gmcr.app.entrance import Entrance
from gmcr.app.home import Home
from gmcr.app.server import Server
from gmcr.app.state import State

PATIENCE = 900.0  # seconds for what a busy machine does
ENDED = ("done", "failed", "stopped", "lost")


class Client:
    """Asks as the page does; `headers` given to a call are put over the page's, None takes one away."""

    def __init__(self, address, cookie="", key=""):
        self.address, self.cookie, self.key = address, cookie, key

    @classmethod
    def entered(cls, address, token):
        client = cls(address)
        status, headers, body = client.ask("POST", "/enter", {"token": token})
        assert status == 200, body
        client.cookie = re.match(r"[^;]+", headers["set-cookie"])[0]
        client.key = json.loads(body)["key"]
        return client

    def headers(self, method, **changes):
        given = {"host": self.address, "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors"}
        given |= {"sec-fetch-dest": "empty"}
        given |= {"cookie": self.cookie} if self.cookie else {}
        given |= {"x-gmcr-key": self.key} if self.key else {}
        if method not in ("GET", "HEAD"):
            given["origin"] = f"http://{self.address}"
        given |= {name.replace("_", "-"): value for name, value in changes.items()}
        return {name: value for name, value in given.items() if value is not None}

    def ask(self, method, path, body=None, **changes):
        """Status, headers and content."""
        if isinstance(body, bytes):
            changes = {"content_type": "application/octet-stream"} | changes
        elif body is not None:
            body = json.dumps(body).encode()
            changes = {"content_type": "application/json"} | changes
        host, port = self.address.split(":")
        connection = http.client.HTTPConnection(host, int(port), timeout=PATIENCE)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in self.headers(method, **changes).items():
                connection.putheader(name, value)
            if body is not None and not {"transfer_encoding", "content_length"} & set(changes):
                connection.putheader("content-length", str(len(body)))
            connection.endheaders(body)
            answer = connection.getresponse()
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
        finally:
            connection.close()

    def get(self, path, **changes):
        return self.told("GET", path, None, **changes)

    def told(self, method, path, body=None, **changes):
        """The JSON of an answer that must be there."""
        status, _, content = self.ask(method, path, body, **changes)
        assert status == 200, (method, path, status, content[:500])
        return json.loads(content)

    # What the page does

    def create(self, title="Mixtures"):
        return self.told("POST", "/api/projects", {"title": title})["project"]

    def give(self, project, name, content, place="data", folder=None):
        more = "" if folder is None else f"&folder={quote(folder, safe='')}"
        path = f"/api/projects/{quote(project, safe='')}/files/{place}?name={quote(name, safe='')}{more}"
        return self.told("PUT", path, content)

    def project(self, project):
        return self.get(f"/api/projects/{quote(project, safe='')}")

    def settle(self, project, **settings):
        self.told("PUT", f"/api/projects/{project}/settings", settings)

    def begin(self, project, what, **body):
        return self.told("POST", f"/api/projects/{quote(project, safe='')}/{what}", body)["job"]

    def job(self, project, number):
        return next((job for job in self.project(project)["jobs"] if job["job"] == number), None)

    def wait(self, project, number, states=ENDED):
        """The job once it is in one of these states."""
        until = time.monotonic() + PATIENCE
        while True:
            job = self.job(project, number)
            if job is not None and job["state"] in states:
                return job
            assert time.monotonic() < until, job
            time.sleep(0.05)

    def do(self, project, what, **body):
        job = self.wait(project, self.begin(project, what, **body))
        assert job["state"] == "done", job
        return job


def token_of(opening):
    """The token in a file that leads in."""
    return unquote(re.search(r'href="http://[^#"]+#([^"]+)"', opening.read_text())[1])


@contextmanager
def threaded(folder):
    """A server in a thread: its state, its address, and a client that came in."""
    from gmcr.app.entrance import new_token

    home, _ = Home.opened(folder)
    listener = socket.create_server(("127.0.0.1", 0))
    address = f"127.0.0.1:{listener.getsockname()[1]}"
    state = State(home, Entrance(home.private))
    state.begin()
    server, ready = Server(state, address), threading.Event()
    thread = threading.Thread(
        target=lambda: asyncio.run(server.serve_until_ended(listener, ready.set)), daemon=True
    )
    thread.start()
    assert ready.wait(PATIENCE)
    try:
        yield state, address, Client.entered(address, new_token(home.private))
    finally:
        state.ending.set()
        server.should_exit = True
        thread.join(PATIENCE)
        for job in state.queue.jobs():
            job.ask_to_end(keep=False)


class Process:
    """`gmcr app` as a process of its own."""

    def __init__(self, folder, *options):
        self.folder = folder
        words = [sys.executable, "-m", "gmcr", "app", str(folder), "--no-browser", "--json", *options]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        told = ""
        while not told.endswith("}\n"):
            line = self.process.stdout.readline()
            assert line, "the server has ended"
            told += line
        self.told = json.loads(told)
        self.address = self.told["address"]

    @property
    def opening(self):
        return self.folder.resolve() / ".gmcr-app" / "open.html"

    def client(self):
        return Client.entered(self.address, token_of(self.opening))

    def kill(self):
        self.process.kill()
        self.process.wait(PATIENCE)

    def end(self):
        """As Ctrl+C does; its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        code = self.process.wait(PATIENCE)
        self.process.stdout.close()
        return code


def end_jobs(folder):
    """End what jobs of a folder still run."""
    for path in (folder / ".gmcr-app" / "jobs").glob("*/process.json"):
        number = json.loads(path.read_bytes())["process"]
        if not (path.parent / "result.json").exists():
            try:
                os.kill(number, signal.SIGTERM)
            except ProcessLookupError:
                continue
