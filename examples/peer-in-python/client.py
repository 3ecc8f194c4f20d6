"""Sends readings to the service in Rust beside this file, `main.rs`, and checks what comes back.

    python client.py PORT
    python client.py PORT --other    # with another type, which the service does not take
"""

import socket
import sys

import dtype
import numpy as np

# The fields of the service's `Reading`, in its order. Alignment and padding of each side are its own matter.
READING = np.dtype([("station", "u4"), ("time", "M8[ms]"), ("temperature", "f4"), ("valid", "?")], align=True)
OTHER = np.dtype([("station", "u4"), ("time", "M8[ms]"), ("temperature", "f8"), ("valid", "?")])


def readings(count):
    """Readings in any order, some of them not valid."""
    random = np.random.default_rng(count)
    a = np.zeros(count, READING)
    a["station"] = random.integers(0, 100, count)
    a["time"] = np.datetime64("2026-01-01", "ms") + random.permutation(count)
    a["temperature"] = random.normal(15, 8, count)
    a["valid"] = random.random(count) < 0.9
    return a


def main():
    port = int(sys.argv[1])
    kind = OTHER if "--other" in sys.argv else READING
    with socket.create_connection(("127.0.0.1", port)) as sock, dtype.connect(sock, kind) as connection:
        for count in [5, 0, 300_000]:
            sent = readings(count).astype(kind)
            connection.send(sent)
            received = connection.recv()
            if received is None:
                sys.exit("the service has left")
            expected = sent[sent["valid"]]
            expected = expected[np.argsort(expected["time"])]
            assert np.array_equal(received, expected)
            print(f"{count} readings sent, {len(received)} of them came back in the order of time")


if __name__ == "__main__":
    main()
