"""Headless Chromium for tests, spoken to over a pipe: no other package is needed.

The DevTools protocol, one JSON message after another with a zero byte between them; Chromium reads them from its
file descriptor 3 and writes to 4.
"""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from contextlib import contextmanager

import pytest

NEEDED = "GMCR_BROWSER_NEEDED"  # set where a browser that is not there is a failure, as in .ci/run
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
PACKAGE = "chromium"  # Debian's
PATIENCE = 300.0  # seconds for an answer on a busy machine
KEYS = {
    "Tab": 9,
    "Enter": 13,
    "Escape": 27,
    " ": 32,
    "ArrowLeft": 37,
    "ArrowUp": 38,
    "ArrowRight": 39,
    "ArrowDown": 40,
    "End": 35,
}


def find_chromium():
    return next((found for name in NAMES if (found := shutil.which(name))), None)


def need_chromium():
    """Skip the test, or fail it where it is said that there must be a browser."""
    if find_chromium() is not None:
        return
    told = f"no Chromium here; Debian's package is {PACKAGE}: apt-get install {PACKAGE}"
    if os.environ.get(NEEDED):
        pytest.fail(told)
    pytest.skip(told)


@contextmanager
def open_browser():
    """A browser that ends with the block."""
    to_read, to_write = os.pipe(), os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        options = [
            "--headless",
            "--disable-gpu",
            "--no-first-run",
            "--disable-dev-shm-usage",
            "--hide-scrollbars",
        ]
        options += ["--no-sandbox", f"--user-data-dir={folder}", "--remote-debugging-pipe", "about:blank"]
        shell = f'exec "$0" "$@" 3<&{to_read[0]} 4>&{to_write[1]}'
        process = subprocess.Popen(
            ["/bin/bash", "-c", shell, find_chromium(), *options],
            pass_fds=(to_read[0], to_write[1]),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_read[0])
        os.close(to_write[1])
        try:
            yield Browser(Wire(to_read[1], to_write[0]))
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            os.close(to_read[1])
            os.close(to_write[0])


class Wire:
    """The pipe to Chromium. `events` holds what it told unasked, by tab."""

    def __init__(self, to_write, to_read):
        self.to_write, self.to_read = to_write, to_read
        self.rest, self.count, self.events = b"", 0, {}

    def call(self, session, method, **parameters):
        """The answer to a call; events that come before it are kept."""
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.to_write, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + PATIENCE
        while True:
            answer = self._next(until)
            if answer.get("id") == self.count:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]
            self.events.setdefault(answer.get("sessionId"), []).append(answer)

    def _next(self, until):
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.to_read], [], [], max(0.0, until - time.monotonic()))
            assert ready, "Chromium does not answer"
            part = os.read(self.to_read, 1 << 20)
            assert part, "Chromium has ended"
            self.rest += part
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)


class Browser:
    """One tab."""

    def __init__(self, wire):
        self.wire = wire
        self.target = wire.call(None, "Target.createTarget", url="about:blank")["targetId"]
        self.session = wire.call(None, "Target.attachToTarget", targetId=self.target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setFocusEmulationEnabled", enabled=True)  # several tabs, each as if in front

    @property
    def events(self):
        return self.wire.events.setdefault(self.session, [])

    def call(self, method, **parameters):
        return self.wire.call(self.session, method, **parameters)

    def tab(self):
        """Another one of the same browser."""
        return Browser(self.wire)

    def close(self):
        self.wire.call(None, "Target.closeTarget", targetId=self.target)

    def size(self, width, height=900):
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def open(self, place, width=1280, height=900):
        """Load a file or an address, and wait until its script has run."""
        self.size(width, height)
        self.events.clear()
        address = place if isinstance(place, str) else place.as_uri()
        self.call("Page.navigate", url=address)
        begins = address.split(":")[0]
        self.wait(f"document.readyState == 'complete' && location.href.startsWith('{begins}')")
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def wait(self, script, patience=PATIENCE):
        """Until a script's value is true."""
        until = time.monotonic() + patience
        while True:
            try:
                if self.run(f"Boolean({script})"):
                    return
            except AssertionError as error:  # while another page is being loaded
                if "context" not in str(error):
                    raise
            assert time.monotonic() < until, f"in vain: {script}"
            time.sleep(0.03)

    def run(self, script):
        """The value of a script, waited for if it is a promise."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def press(self, key):
        text = "\r" if key == "Enter" else key if len(key) == 1 else ""
        code = {"windowsVirtualKeyCode": KEYS.get(key, ord(key[0])), "key": key}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **code)
        self.call("Input.dispatchKeyEvent", type="keyUp", **code)

    def move(self, x, y, kind="mouseMoved", button="none"):
        clicks = 0 if kind == "mouseMoved" else 1
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, clickCount=clicks)

    def click(self, selector):
        """As a pointer does, in the middle of what a selector finds."""
        place = f"document.querySelector({json.dumps(selector)})"
        self.run(f"{place}.scrollIntoView({{block: 'center'}})")
        box = self.run(f"(({place}).getBoundingClientRect()).toJSON()")
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        self.move(x, y)
        self.move(x, y, "mousePressed", "left")
        self.move(x, y, "mouseReleased", "left")

    def choose(self, selector, *paths):
        """Files for a file input."""
        root = self.call("DOM.getDocument", depth=0)["root"]["nodeId"]
        node = self.call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.call("DOM.setFileInputFiles", nodeId=node, files=[str(path) for path in paths])

    def wait_for_frame(self):
        """What a frame with a report shows, and whether a script in it reaches the page around it."""
        script = """(() => {
          let reached = "nothing";
          try { reached = parent.document.title; } catch {}
          try { reached = localStorage.length + " of the storage"; } catch {}
          try { reached = document.cookie ? "cookies" : reached; } catch {}
          return { heading: document.querySelector("h1")?.textContent, reached };
        })()"""
        until = time.monotonic() + PATIENCE
        while True:
            try:
                answer = self._in_frame(script)
                if answer.get("heading"):
                    return answer
            except AssertionError as error:  # it went on to its report meanwhile
                if not any(word in str(error) for word in ("context", "session", "target", "frame")):
                    raise
            assert time.monotonic() < until
            time.sleep(0.05)

    def _in_frame(self, script):
        """The value of a script in the page's frame, wherever Chromium keeps that; {} where there is none yet."""
        asked = {"expression": script, "returnByValue": True}
        targets = self.wire.call(None, "Target.getTargets")["targetInfos"]
        for one in targets:
            if one["type"] == "iframe":
                session = self.wire.call(
                    None, "Target.attachToTarget", targetId=one["targetId"], flatten=True
                )
                return self.wire.call(session["sessionId"], "Runtime.evaluate", **asked)["result"]["value"]
        for one in self.call("Page.getFrameTree")["frameTree"].get("childFrames", []):
            made = self.call("Page.createIsolatedWorld", frameId=one["frame"]["id"])
            world = made["executionContextId"]
            return self.call("Runtime.evaluate", contextId=world, **asked)["result"]["value"]
        return {}

    def type(self, text):
        self.call("Input.insertText", text=text)

    def told(self, *methods):
        return [event["params"] for event in self.events if event.get("method") in methods]

    def screenshot_of_screen(self, path):
        """What a reader sees without scrolling further, as a PNG file."""
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))

    def screenshot(self, path, width=None, height=None):
        """The page as a PNG file: the whole, or as much as a screen shows."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {
            "x": 0,
            "y": 0,
            "width": width or size["width"],
            "height": height or size["height"],
            "scale": 1,
        }
        picture = self.call("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
        path.write_bytes(base64.b64decode(picture["data"]))
