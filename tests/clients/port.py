"""Prints a port that nobody listens on, for a program whose configuration names one. It is below those that the system
gives to whoever asks for port 0, so that nobody takes it meanwhile."""

import random
import socket

while True:
    port = random.randrange(20_000, 32_000)
    with socket.socket() as listener:
        try:
            listener.bind(("0.0.0.0", port))
        except OSError:
            continue
    print(port)
    break
