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

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
PACKAGE = "chromium"  # Debian's
PATIENCE = 60.0  # seconds for an answer on a busy machine
KEYS = {"Tab": 9, "Enter": 13, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "End": 35}


def find_chromium():
    return next((found for name in NAMES if (found := shutil.which(name))), None)


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
            yield Browser(to_read[1], to_write[0])
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            os.close(to_read[1])
            os.close(to_write[0])


class Browser:
    """One tab. `events` holds everything that Chromium told unasked."""

    def __init__(self, to_write, to_read):
        self.to_write, self.to_read = to_write, to_read
        self.rest, self.count, self.session, self.events = b"", 0, None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method, **parameters):
        """The answer to a call; events that come before it are kept."""
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to_write, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + PATIENCE
        while True:
            answer = self._next(until)
            if answer.get("id") == self.count:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]
            self.events.append(answer)

    def _next(self, until):
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.to_read], [], [], max(0.0, until - time.monotonic()))
            assert ready, "Chromium does not answer"
            part = os.read(self.to_read, 1 << 20)
            assert part, "Chromium has ended"
            self.rest += part
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def open(self, path, width=1280, height=900):
        """Load a file and wait until its script has run."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        self.events.clear()
        self.call("Page.navigate", url=path.as_uri())
        until = time.monotonic() + PATIENCE
        while not self.run("document.readyState == 'complete' && location.href.startsWith('file')"):
            assert time.monotonic() < until, "the page does not load"
            time.sleep(0.02)
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

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

    def told(self, *methods):
        return [event["params"] for event in self.events if event.get("method") in methods]

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
