"""Calls grpc.testing.TestService through grpcio and prints "ok CASE" or "failed CASE REASON" for each case.

Usage: client.py host:port folder-of-the-proto-files
"""

import os
import queue
import sys
import tempfile

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from grpc_tools import protoc

SERVICE = "grpc.testing.TestService"
SECONDS = 20


def message_types(folder):
    """The messages of the proto file by their names; no generated code, which would call itself grpc.testing."""
    with tempfile.TemporaryDirectory() as scratch:
        compiled = os.path.join(scratch, "descriptors")
        if protoc.main(["protoc", f"-I{folder}", "--include_imports", f"--descriptor_set_out={compiled}",
                        "grpc/testing/test.proto"]):
            sys.exit("protoc failed")
        with open(compiled, "rb") as file:
            files = descriptor_pb2.FileDescriptorSet.FromString(file.read())
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)
    return lambda name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"grpc.testing.{name}"))


class Client:
    def __init__(self, channel, types):
        self.channel = channel
        self.types = types

    def method(self, kind, name, request, response):
        return getattr(self.channel, kind)(
            f"/{SERVICE}/{name}",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=self.types(response).FromString,
        )

    def empty(self):
        return self.method("unary_unary", "EmptyCall", "Empty", "Empty")

    def unary(self):
        return self.method("unary_unary", "UnaryCall", "SimpleRequest", "SimpleResponse")

    def download(self):
        return self.method(
            "unary_stream", "StreamingOutputCall", "StreamingOutputCallRequest", "StreamingOutputCallResponse")

    def upload(self):
        return self.method(
            "stream_unary", "StreamingInputCall", "StreamingInputCallRequest", "StreamingInputCallResponse")

    def duplex(self):
        return self.method(
            "stream_stream", "FullDuplexCall", "StreamingOutputCallRequest", "StreamingOutputCallResponse")

    def simple(self, size=0, body=b"", **fields):
        return self.types("SimpleRequest")(
            response_size=size, payload=self.types("Payload")(body=body), **fields)

    def outputs(self, *sizes, interval_us=0):
        parameters = self.types("ResponseParameters")
        return self.types("StreamingOutputCallRequest")(
            response_parameters=[parameters(size=size, interval_us=interval_us) for size in sizes])


def check(actual, expected):
    if actual != expected:
        raise AssertionError(f"expected {expected!r}, was {actual!r}")


def fails_with(code, call):
    try:
        call()
    except grpc.RpcError as error:
        check(error.code(), code)
        return error
    raise AssertionError(f"expected {code}, succeeded")


def empty_unary(client):
    check(client.empty()(client.types("Empty")(), timeout=SECONDS).ByteSize(), 0)


def large_unary(client):
    response = client.unary()(client.simple(314159, bytes(271828)), timeout=SECONDS)
    check(len(response.payload.body), 314159)


def gzip_unary(client):
    response = client.unary()(
        client.simple(314159, bytes(271828)), timeout=SECONDS, compression=grpc.Compression.Gzip)
    check(len(response.payload.body), 314159)


def server_stream(client):
    sizes = [31415, 9, 2653, 58979]
    check([len(m.payload.body) for m in client.download()(client.outputs(*sizes), timeout=SECONDS)], sizes)


def client_stream(client):
    request, payload = client.types("StreamingInputCallRequest"), client.types("Payload")
    requests = (request(payload=payload(body=bytes(size))) for size in (27182, 8, 1828, 45904))
    check(client.upload()(requests, timeout=SECONDS).aggregated_payload_size, 74922)


def ping_pong(client):
    sizes = [31415, 9, 2653, 58979]
    turn = queue.Queue()  # grpcio reads this iterator on a separate thread.
    answers = client.duplex()((client.outputs(size) for size in iter(turn.get, None)), timeout=SECONDS)
    for size in sizes:
        turn.put(size)
        check(len(next(answers).payload.body), size)
    turn.put(None)
    check(list(answers), [])


def empty_stream(client):
    check(list(client.duplex()(iter(()), timeout=SECONDS)), [])


def status_code_and_message(client):
    text = "no such order: \t\u00e4\u2764\U0001f600\n100 %"
    status = client.types("EchoStatus")(code=grpc.StatusCode.NOT_FOUND.value[0], message=text)
    error = fails_with(
        grpc.StatusCode.NOT_FOUND, lambda: client.unary()(client.simple(response_status=status), timeout=SECONDS))
    check(error.details(), text)


def custom_metadata(client):
    sent = (("x-grpc-test-echo-initial", "first"), ("x-grpc-test-echo-trailing-bin", b"\x00\xab\xff"))
    _, call = client.unary().with_call(client.simple(1), timeout=SECONDS, metadata=sent)
    check(dict(call.initial_metadata())["x-grpc-test-echo-initial"], "first")
    check(dict(call.trailing_metadata())["x-grpc-test-echo-trailing-bin"], b"\x00\xab\xff")


def deadline(client):
    request = client.outputs(1, interval_us=30_000_000)
    fails_with(grpc.StatusCode.DEADLINE_EXCEEDED, lambda: list(client.download()(request, timeout=0.2)))


def cancel_after_first_response(client):
    turn = queue.Queue()
    answers = client.duplex()((client.outputs(size) for size in iter(turn.get, None)), timeout=SECONDS)
    turn.put(31415)
    check(len(next(answers).payload.body), 31415)
    answers.cancel()
    fails_with(grpc.StatusCode.CANCELLED, lambda: next(answers))
    turn.put(None)


def unimplemented_method(client):
    call = client.method("unary_unary", "UnimplementedCall", "Empty", "Empty")
    fails_with(grpc.StatusCode.UNIMPLEMENTED, lambda: call(client.types("Empty")(), timeout=SECONDS))


def many_at_once(client):
    calls = [client.unary().future(client.simple(1000), timeout=SECONDS) for _ in range(200)]
    check({len(call.result().payload.body) for call in calls}, {1000})


def health(client):
    check_health = client.channel.unary_unary("/grpc.health.v1.Health/Check")  # without a serializer, messages are bytes
    check(check_health(b"", timeout=SECONDS), b"\x08\x01")  # field 1 is SERVING


CASES = [
    empty_unary, large_unary, gzip_unary, server_stream, client_stream, ping_pong, empty_stream,
    status_code_and_message, custom_metadata, deadline, cancel_after_first_response, unimplemented_method,
    many_at_once, health,
]


def main():
    address, folder = sys.argv[1:]
    types = message_types(folder)
    with grpc.insecure_channel(address) as channel:
        client = Client(channel, types)
        for case in CASES:
            try:
                case(client)
                print("ok", case.__name__)
            except Exception as failure:  # after any failure, the next case must run
                print("failed", case.__name__, " ".join(repr(failure).split()))


main()
