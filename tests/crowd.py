"""gmcr called from many threads and processes at once, in a process of its own: what `test_threads.py` starts.

    cd tests; python -c "import crowd; crowd.main()"

Numba's threads, with the layer that the environment names, are at work in this process before gmcr is called, as
they are where others use them. Printed are the layer and, by crowd, how many of its answers differ from what one
caller gets alone.
"""

import hashlib
import json
import multiprocessing
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import cache

import numba
import numpy as np
from joblib import Parallel, delayed

from gmcr import decode, make_mixtures
from gmcr.threads import deal

TIMEOUT = 120  # seconds for an answer: a process that hangs is to be told from one that is slow
N_CALLS = 50  # of each thread
N_FITS = 2  # of these


@cache
def problem():
    """Samples, some with gaps; large enough for several threads."""
    mix = make_mixtures(16, 600, snr_db=30, n_features=48, active=(1, 3), random_state=0)
    D = mix.D.copy()
    D[::4, 5] = np.nan
    return D, mix.S, mix.sigma


def decoded(_=0):
    D, S, noise = problem()
    return digest(decode(D, S, noise=noise).concentrations)


def judged(_=0):
    D, S, noise = problem()
    out = decode(D[:40], S, noise=noise[:40])
    return digest(out.confidence, out.errors)


def fitted(_=0):
    from gmcr import GMCR  # not in every new process: it takes a second to load

    mix = make_mixtures(3, 40, snr_db=40, n_features=32, active=(1, 2), random_state=0)
    model = GMCR(n_components=3, n_jobs=3, random_state=0).fit(mix.D)
    return digest(model.components_, model.concentrations_)


def both(_=0):
    return decoded() + judged()


def all_three(_=0):
    return both() + fitted()


def digest(*arrays):
    """The same for the same numbers, to the last bit."""
    return hashlib.sha256(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)).hexdigest()


def in_threads():
    """Four threads, fifty calls each."""
    calls = [decoded, judged] * (N_CALLS // 2)
    calls[-N_FITS:] = [fitted] * N_FITS
    with ThreadPoolExecutor(4) as pool:
        answers = pool.map(lambda _: [call() for call in calls], range(4))
        return list(answers), [call() for call in calls]


def in_forked():
    """Four workers, forked after this process has called."""
    with ProcessPoolExecutor(4, multiprocessing.get_context("fork")) as pool:
        return list(pool.map(all_three, range(8), timeout=TIMEOUT)), all_three()


def forked_meanwhile():
    """Processes forked while other threads are in the middle of a call."""
    context = multiprocessing.get_context("fork")
    answers, done = context.SimpleQueue(), []

    def keep_calling(call):
        while not done:
            call()

    with ThreadPoolExecutor(3) as pool:
        busy = [pool.submit(keep_calling, call) for call in (decoded, judged, fitted)]
        try:
            for _ in range(10):
                child = context.Process(target=lambda: answers.put(both()))
                child.start()
                child.join(TIMEOUT)
                if child.exitcode != 0:
                    child.kill()
                    answers.put(f"exit code {child.exitcode}")
        finally:
            done.append(True)
        for one in busy:
            one.result()
    return [answers.get() for _ in range(10)], both()


def in_spawned():
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        return list(pool.map(both, range(4), timeout=TIMEOUT)), both()


def in_loky():
    return Parallel(2, backend="loky", timeout=TIMEOUT)(delayed(both)(i) for i in range(4)), both()


def nested():
    """Calls from within the threads that do our work."""
    found = []
    deal(lambda start, stop: found.extend(decoded() for _ in range(start, stop)), 24, 1)
    return found, decoded()


@numba.njit(parallel=True)
def somebody_elses(n):
    total = 0.0
    for i in numba.prange(n):
        total += i
    return total


def main():
    try:
        somebody_elses(10)
    except ValueError:  # no such layer here
        print(json.dumps({"layer": None}))
        return
    found = {"layer": numba.threading_layer()}
    for crowd in (in_threads, in_forked, forked_meanwhile, in_spawned, in_loky, nested):
        answers, alone = crowd()
        found[crowd.__name__] = [answer == alone for answer in answers].count(False)
    print(json.dumps(found))
