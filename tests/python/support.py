"""What several tests use."""

import math
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np

ALPHAS = [1, np.nextafter(1, 2), 1 + 1e-8, 4 / 3, 1.5, 2, 5, 1e6]
"""Those from one on."""


def close(actual, desired, tolerance=1e-12):
    np.testing.assert_allclose(actual, desired, rtol=tolerance, atol=1e-14)


def difference(f, x, direction, h=1e-5):
    """The central difference quotient of f at x."""
    return (f(x + h * direction) - f(x - h * direction)) / (2 * h)


def at_once(count, f):
    """What f() gives in each of so many threads that run at once."""
    with ThreadPoolExecutor(count) as pool:
        return [future.result() for future in [pool.submit(f) for _ in range(count)]]


def hills(t):
    """A score with several hills."""
    return math.cos(3 * t) - t * t / 2


def is_interrupted(call, signals=3):
    """Whether Ctrl-C ends the call. No clock says so: a signal is sent when the one before has been handled, and only
    the last one raises. A call that does not look at signals ends by itself, after the first of them."""
    begin, handled = threading.Semaphore(0), threading.Semaphore(0)
    count, calling = 0, True

    def handle(number, frame):
        nonlocal count
        count += 1
        handled.release()
        if count == signals and calling:
            raise KeyboardInterrupt

    def send():
        begin.acquire()
        for _ in range(signals):
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
            handled.acquire()

    before = signal.signal(signal.SIGINT, handle)
    sender = threading.Thread(target=send)
    sender.start()
    try:
        begin.release()
        call()
    except KeyboardInterrupt:
        return True
    finally:
        calling = False
        while sender.is_alive():  # a signal may come just before the thread waits, and does not wake it
            sender.join(0.01)
        signal.signal(signal.SIGINT, before)
    return False
