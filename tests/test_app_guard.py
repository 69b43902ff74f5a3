"""Who may come in to the app: everything that is not its own page is refused, whatever it tries."""

import http.client
import json
import os
import socket
import stat
import subprocess
import sys
import threading

import pytest

from app_server import Client, Process, threaded, token_of
from gmcr.app.entrance import Entrance, new_token, write_opening
from gmcr.app.guard import Door
from gmcr.app.home import Home, usual_folder
from gmcr.app.routes.table import ROUTES
from gmcr.app.server import Opened, serve
from gmcr.errors import FileError

OTHER = "127.0.0.1:9"  # another port of this host
VALUES = {"project": "p", "place": "data", "name": "main.js", "ticket": "t"}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with threaded(tmp_path_factory.mktemp("home") / "gmcr") as running:
        yield running


@pytest.fixture
def client(server):
    return server[2]


def every(*doors):
    """Routes behind these doors, each with a path that it matches."""
    return [(route.method, route.path.format(**VALUES)) for route in ROUTES if route.door in doors]


CLOSED = every(Door.CLOSED)
WITH_COOKIE = every(Door.CLOSED, Door.PART, Door.PAGE)


def refused(client, method, path, **changes):
    """Whether a request is refused, before anything of its body was read."""
    status, headers, body = client.ask(method, path, **changes)
    return (
        status == 403 and headers["connection"] == "close" and (b"refused" in body or b"Not let in" in body)
    )


def test_nobody_gets_in_without_a_token(server):
    guess = f"gmcr-{server[1].split(':')[1]}=guessed"
    for method, path in WITH_COOKIE:
        assert refused(Client(server[1]), method, path), (method, path)
        assert refused(Client(server[1], cookie=guess, key="guessed"), method, path), (method, path)


def test_the_cookie_alone_is_not_enough(client):
    """Cookies do not know ports: the page of another port of this host is sent it, and could pass it on."""
    for method, path in CLOSED:
        for cookie, key in ((client.cookie, ""), (client.cookie, "x" * 43), ("", client.key)):
            assert refused(Client(client.address, cookie, key), method, path), (method, path)


@pytest.mark.parametrize(
    "changes",
    [
        {"host": "evil.example"},
        {"host": "localhost:80"},
        {"host": OTHER},
        {"host": ""},
        {"host": None},
        {"origin": "http://evil.example"},
        {"origin": f"http://{OTHER}"},
        {"origin": "null"},
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
        {"sec_fetch_site": None},
    ],
    ids=lambda changes: "-".join(map(str, *changes.items())),
)
def test_requests_of_other_pages_are_refused(client, changes):
    for method, path in WITH_COOKIE:
        if changes == {"host": None}:  # which is not even HTTP
            assert client.ask(method, path, **changes)[0] == 400
        else:
            assert refused(client, method, path, **changes), (method, path)


def test_what_changes_something_needs_an_origin(client):
    assert refused(client, "POST", "/api/projects", origin=None)
    assert not refused(client, "GET", "/api/projects", origin=None)


def test_headers_that_count_may_stand_once(client):
    """Two hosts or origins, of which another layer might believe the other one."""
    for name, value in (("host", "evil.example"), ("origin", "null"), ("cookie", "a=b"), ("x-gmcr-key", "b")):
        host, port = client.address.split(":")
        connection = http.client.HTTPConnection(host, int(port), timeout=60)
        connection.putrequest("GET", "/api/projects", skip_host=True, skip_accept_encoding=True)
        for own, told in (client.headers("GET") | {"origin": f"http://{client.address}"}).items():
            connection.putheader(own, told)
        connection.putheader(name, value)
        connection.endheaders()
        assert connection.getresponse().status in (400, 403), name
        connection.close()


def test_another_program_that_sets_our_cookie_locks_nobody_out(client):
    name = client.cookie.split("=")[0]
    for given in (f"{name}=evil; {client.cookie}", f"{client.cookie}; {name}=evil"):
        assert client.get("/api/projects", cookie=given)["projects"] == []


def test_a_token_opens_once(server):
    state, address, _ = server
    token = new_token(state.home.private)
    stranger = Client(address)
    wrong = ("B" if token[0] == "A" else "A") + token[1:]
    assert stranger.ask("POST", "/enter", {"token": wrong})[0] == 403
    assert Client.entered(address, token).get("/api/projects")["projects"] == []
    assert stranger.ask("POST", "/enter", {"token": token})[0] == 403
    assert stranger.ask("POST", "/enter", {"token": ""})[0] == 403
    assert stranger.ask("POST", "/enter", {"token": "../tokens"})[0] == 403
    assert stranger.ask("POST", "/enter", {"token": 3})[0] == 400


def test_a_token_that_two_use_at_once_lets_in_one(server):
    state, address, _ = server
    token, answers, together = new_token(state.home.private), [], threading.Barrier(8)

    def enter():
        together.wait()
        answers.append(Client(address).ask("POST", "/enter", {"token": token})[0])

    threads = [threading.Thread(target=enter) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [200] + [403] * 7


def test_a_foreign_page_cannot_use_a_token(server):
    state, address, _ = server
    token = new_token(state.home.private)
    for changes in (
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": None},
        {"sec_fetch_site": "same-site", "origin": f"http://{OTHER}"},
        {"sec_fetch_site": "cross-site"},
        {"host": "evil.example"},
    ):
        assert refused(Client(address), "POST", "/enter", body={"token": token}, **changes)
    assert Client.entered(address, token)


def test_the_way_in_is_a_page_of_its_own(server):
    """It can be reached from the redirect file, and not from within another page."""
    client = Client(server[1])
    page = {"sec_fetch_mode": "navigate", "sec_fetch_dest": "document"}
    status, headers, content = client.ask("GET", "/enter", sec_fetch_site="cross-site", **page)
    assert (status, headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert str(server[0].home.path).encode() not in content
    for changes in (page | {"sec_fetch_dest": "iframe"}, page | {"sec_fetch_mode": "cors"}, {}):
        assert refused(client, "GET", "/enter", sec_fetch_site="cross-site", **changes)
    assert client.ask("GET", "/enter/enter.js")[0] == 200
    assert client.ask("GET", "/enter/main.js")[0] == 404
    assert client.ask("GET", "/enter/..%2Findex.html")[0] == 404
    assert refused(client, "GET", "/enter/enter.js", sec_fetch_site="cross-site")


def test_the_page_opens_by_hand_and_not_by_a_link(client):
    page = {"sec_fetch_mode": "navigate", "sec_fetch_dest": "document", "x_gmcr_key": None}
    assert client.ask("GET", "/", sec_fetch_site="none", **page)[0] == 200
    assert client.ask("GET", "/", sec_fetch_site="same-origin", **page)[0] == 200
    status, headers, content = client.ask("GET", "/", sec_fetch_site="cross-site", **page)
    assert (status, headers["content-type"]) == (403, "text/html; charset=utf-8")
    assert b"gmcr app" in content
    assert refused(client, "GET", "/", sec_fetch_site="none")  # by no navigation


@pytest.mark.parametrize(
    "path", ["/nowhere", "/api", "/api/nothing", "/static", "//", "/docs", "/openapi.json"]
)
def test_what_is_not_known_is_closed(server, client, path):
    assert refused(Client(server[1]), "GET", path)
    assert client.ask("GET", path)[0] == 404


@pytest.mark.parametrize("method", ["HEAD", "OPTIONS", "PATCH", "TRACE", "DELETE", "PUT", "X"])
def test_methods_that_are_not_there_are_refused(server, client, method):
    assert Client(server[1]).ask(method, "/api/projects")[0] in (400, 403)
    assert client.ask(method, "/api/projects")[0] in (400, 403, 404)
    assert refused(Client(server[1]), "OPTIONS", "/api/projects", access_control_request_method="POST")


def test_a_form_of_another_site_is_refused(client):
    """Its cookie would come along, were it not strict; and it cannot send JSON."""
    form = {"content_type": "application/x-www-form-urlencoded", "x_gmcr_key": None}
    foreign = {"origin": "http://evil.example", "sec_fetch_site": "cross-site"}
    for path in ("/api/projects", "/api/quit", "/api/projects/p/fit"):
        assert refused(client, "POST", path, **form, **foreign)
        assert refused(client, "POST", path, **form)
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=b", ""):
        assert client.ask("POST", "/api/projects", {"title": "x"}, content_type=kind)[0] == 400
    assert client.get("/api/projects")["projects"] == []


def test_a_stream_needs_the_cookie_and_the_key(server, client):
    assert refused(Client(server[1]), "GET", "/api/stream")
    assert refused(Client(server[1], cookie=client.cookie), "GET", "/api/stream")
    assert refused(client, "GET", "/api/stream", sec_fetch_site="same-site")
    upgrade = {"connection": "Upgrade", "upgrade": "websocket", "sec_websocket_version": "13"}
    upgrade |= {"sec_websocket_key": "dGhlIHNhbXBsZSBub25jZQ=="}
    assert Client(server[1]).ask("GET", "/api/stream", **upgrade)[0] in (400, 403, 426)


def test_bodies_of_strangers_are_not_read(server):
    """The answer comes while the body is still to come, and the connection ends."""
    host, port = server[1].split(":")
    with socket.create_connection((host, int(port)), timeout=60) as wire:
        head = f"PUT /api/projects/p/files/data?name=a.csv HTTP/1.1\r\nhost: {server[1]}\r\n"
        head += "content-type: application/octet-stream\r\ncontent-length: 5000000000\r\n\r\n"
        wire.sendall(head.encode())
        got = b""
        while part := wire.recv(1 << 16):
            got += part
    assert got.startswith(b"HTTP/1.1 403")


def test_every_answer_says_what_a_browser_may_do(server, client):
    page = {"sec_fetch_mode": "navigate", "sec_fetch_dest": "document", "x_gmcr_key": None}
    asked = [client.ask("GET", "/", sec_fetch_site="none", **page), client.ask("GET", "/api/projects")]
    asked += [client.ask("GET", "/nowhere"), Client(server[1]).ask("GET", "/api/projects")]
    asked += [client.ask("GET", "/static/charts.js"), client.ask("POST", "/api/projects", {"title": 3})]
    for _, headers, _ in asked:
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert headers["cross-origin-opener-policy"] == "same-origin"
        assert headers["cache-control"] == "no-store"
        assert "server" not in headers
        assert "access-control-allow-origin" not in headers


def test_the_cookie_is_strict(server):
    state, address, _ = server
    _, headers, _ = Client(address).ask("POST", "/enter", {"token": new_token(state.home.private)})
    told = headers["set-cookie"].lower()
    assert "httponly" in told
    assert "samesite=strict" in told
    assert "path=/" in told
    assert "domain" not in told


# The folder, the redirect file, the process


def test_what_leads_in_is_for_its_user_alone(tmp_path):
    home, told = Home.opened(tmp_path / "new" / "gmcr")
    assert told == []
    opening = write_opening(home.private, "127.0.0.1:1")
    for path in (home.path, home.private, home.private / "tokens"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700, path
    assert stat.S_IMODE(opening.stat().st_mode) == 0o600
    assert "http://127.0.0.1:1/enter#" in opening.read_text()
    assert "no-referrer" in opening.read_text()
    entrance = Entrance(home.private)
    assert entrance.enter(token_of(opening)) is not None
    assert not opening.exists()
    assert not list((home.private / "tokens").iterdir())


def test_a_folder_that_others_can_read_is_closed_and_that_is_said(tmp_path):
    (tmp_path / "open").mkdir(mode=0o755)
    (tmp_path / "open").chmod(0o755)
    home, told = Home.opened(tmp_path / "open")
    assert "Others could read" in told[0]
    assert stat.S_IMODE(home.path.stat().st_mode) == 0o700
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="not a folder"):
        Home.opened(tmp_path / "file")
    (home.private / "x").touch()
    home.private.rename(tmp_path / "elsewhere")
    home.private.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FileError, match="is a link"):
        Home.opened(home.path)


def test_the_usual_folder_is_in_the_documents(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert usual_folder() == tmp_path / "gmcr"
    (tmp_path / "Dokumente").mkdir()
    (tmp_path / ".config").mkdir()
    (tmp_path / ".config" / "user-dirs.dirs").write_text('XDG_DOCUMENTS_DIR="$HOME/Dokumente"\n')
    assert usual_folder() == tmp_path / "Dokumente" / "gmcr"


def test_the_command_leads_in_and_ends(tmp_path):
    """Nothing secret is in what it prints, in its arguments or in its log; a second one leads to the first."""
    first = Process(tmp_path / "gmcr")
    try:
        token = token_of(first.opening)
        arguments = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout
        client = first.client()
        assert client.get("/api/projects")["folder"] == str((tmp_path / "gmcr").resolve())
        listening = subprocess.run(["ss", "-Hltn"], capture_output=True, text=True).stdout
        assert not listening or first.address in listening
        second = Process(tmp_path / "gmcr")
        assert second.told["running"] is True
        assert second.told["address"] == first.address
        assert second.process.wait(60) == 0
        other = second.client()
        assert other.cookie != client.cookie
        assert other.get("/api/projects")["projects"] == []
        client.ask("POST", "/enter", {"token": token})
        log = tmp_path / "gmcr" / ".gmcr-app" / "server.log"
        written = log.read_text() if log.exists() else ""
        for secret in (token, client.key, client.cookie.split("=")[1]):
            assert secret not in arguments + json.dumps(first.told) + written
    finally:
        assert first.end() == 0
    again = Process(tmp_path / "gmcr")  # at the same port: a page that is still open finds it
    try:
        assert again.address == first.address
        assert refused(client, "GET", "/api/projects")  # what opened the first one does not open this one
        assert again.client().told("POST", "/api/quit", {}) == {}
        assert again.process.wait(60) == 0
    finally:
        again.end()


def test_two_people_on_a_machine_do_not_see_each_other(tmp_path):
    with threaded(tmp_path / "one") as (_, _, one), threaded(tmp_path / "two") as (_, _, two):
        one.create("Secret")
        assert two.get("/api/projects")["projects"] == []
        assert refused(Client(two.address, one.cookie, one.key), "GET", "/api/projects")
        renamed = one.cookie.replace(one.address.split(":")[1], two.address.split(":")[1])
        assert refused(Client(two.address, renamed, one.key), "GET", "/api/projects")


def test_a_port_that_is_taken_is_told(tmp_path, run):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, _, err = run("app", tmp_path / "gmcr", "--port", port, "--no-browser")
    assert code == 1
    assert f"port {port} cannot be had" in err
    assert run("app", tmp_path / "gmcr", "--port", "70000")[0] == 2
    assert run("app", tmp_path / "gmcr", "--memory", "much")[0] == 2


def test_without_its_packages_it_says_what_to_install(run, monkeypatch):
    import gmcr.cli.app_command as command

    monkeypatch.setattr(command, "find_spec", lambda name: None)
    code, _, err = run("app")
    assert code == 1
    assert "pip install 'gmcr[app]'" in err


def test_the_server_is_light():
    """Neither numpy nor anything that computes is loaded into the process that answers."""
    code = "import sys, gmcr.app.server; print([n for n in ('numpy', 'pandas', 'numba') if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_browser_is_led_by_a_file(tmp_path, monkeypatch):
    """Its address has no token in it: everybody on the machine can read a browser's arguments."""
    import webbrowser

    led = []
    monkeypatch.setattr(webbrowser, "open", led.append)
    from gmcr.cli.app import main

    with threaded(tmp_path / "gmcr") as (state, address, _):
        lock = os.open(state.home.private / "lock", os.O_RDWR | os.O_CREAT)
        import fcntl

        fcntl.flock(lock, fcntl.LOCK_EX)
        (state.home.private / "server.json").write_text(json.dumps({"address": address}))
        found: list[Opened] = []
        before = os.umask(0o022)
        try:
            serve(tmp_path / "gmcr", None, None, found.append)
            assert main(["app", str(tmp_path / "gmcr")]) == 0
        finally:
            os.umask(before)
        os.close(lock)
        assert found[0].runs
        assert led == [(tmp_path / "gmcr").resolve().joinpath(".gmcr-app", "open.html").as_uri()]
        assert Client.entered(address, token_of(found[0].opening))
