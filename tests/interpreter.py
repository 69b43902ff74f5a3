"""Code in a Python of its own."""

import os
import signal
import subprocess
import sys
from textwrap import dedent

PAUSE = """
def pause():
    print(flush=True)
    input()
"""


def python(code, *arguments, cwd=None, given=None, **environment):
    """What code prints in a new interpreter, where RuntimeWarnings are errors.

    given : text for its standard input; environment : variables beside the present ones
    """
    done = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-P", "-c", dedent(code), *map(str, arguments)],
        cwd=cwd,
        input=given,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def killed_at(step, code, *arguments):
    """Run code that calls `pause()` at every step, and kill it while it waits at this one."""
    command = [sys.executable, "-c", PAUSE + dedent(code), *map(str, arguments)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        for _ in range(step - 1):
            assert child.stdout.readline(), "it ended before the step"
            child.stdin.write(b"\n")
            child.stdin.flush()
        assert child.stdout.readline(), "it ended before the step"
        child.kill()
    assert child.returncode == -signal.SIGKILL
