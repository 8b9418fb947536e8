"""A headless Chromium that is spoken to over its pipe, in the DevTools protocol."""
import itertools
import json
import os
import select
import shutil
import subprocess
import tempfile

SECONDS = 60


def find_chromium():
    return next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])), None)


class Browser:
    """One page. Its messages on the console and its uncaught exceptions gather in `complaints`."""

    def __init__(self):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        child_reads, self.writes = os.pipe()
        self.reads, child_writes = os.pipe()
        # The browser listens on descriptor 3 and answers on 4.
        command = [find_chromium(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                   "--no-first-run", "--remote-debugging-pipe", f"--user-data-dir={self.profile.name}", "about:blank"]
        self.process = subprocess.Popen(
            ["sh", "-c", f'exec "$@" 3<&{child_reads} 4>&{child_writes}', "sh", *command],
            pass_fds=[child_reads, child_writes], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(child_reads)
        os.close(child_writes)
        self.numbers, self.buffer, self.events, self.complaints, self.session = itertools.count(1), b"", [], [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "Log"]:
            self.call(domain + ".enable")

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.reads)
        os.close(self.writes)
        self.profile.cleanup()

    def receive(self):
        while b"\0" not in self.buffer:
            if not select.select([self.reads], [], [], SECONDS)[0]:
                raise TimeoutError("the browser does not answer")
            piece = os.read(self.reads, 1 << 20)
            if not piece:
                raise ConnectionError("the browser has gone")
            self.buffer += piece
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def note(self, event):
        self.events.append(event["method"])
        if event["method"] in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
            self.complaints.append(json.dumps(event["params"]))

    def call(self, method, **parameters):
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.writes, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            if "method" in answer:
                self.note(answer)

    def show(self, url, width, dark):
        """Loads a page as a window of that width sees it."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.events.clear()
        self.call("Page.navigate", url=url)
        while "Page.loadEventFired" not in self.events:
            self.note(self.receive())

    def evaluate(self, script):
        """The value of a JavaScript expression, through JSON."""
        done = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in done:
            raise RuntimeError(json.dumps(done["exceptionDetails"]))
        return done["result"]["value"]
