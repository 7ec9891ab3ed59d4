"""Stands for a server that connectconformance would start: tells it the address of one that runs, and waits to be ended.

Speaks what the suite asks of such a program: a ServerCompatRequest on the standard input, a ServerCompatResponse on the
standard output, each after its length in four bytes.
"""

import signal
import sys


def varint(number):
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


host, port = sys.argv[1].encode(), int(sys.argv[2])
request_length = int.from_bytes(sys.stdin.buffer.read(4), "big")
sys.stdin.buffer.read(request_length)  # the same server handles every request
response = b"\x0a" + varint(len(host)) + host + b"\x10" + varint(port)  # field 1: host, field 2: port
sys.stdout.buffer.write(len(response).to_bytes(4, "big") + response)
sys.stdout.buffer.flush()
signal.pause()
