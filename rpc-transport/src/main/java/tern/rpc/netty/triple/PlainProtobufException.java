package tern.rpc.netty.triple;

import tern.rpc.serialization.SerializationException;

/**
 * Thrown when a request to a method with Java values is neither Triple's wrapper message nor a {@code
 * google.protobuf.Value} or {@code ListValue}. Usually, a client with its own {@code .proto} file has sent a message of
 * that file.
 */
final class PlainProtobufException extends SerializationException {
    private static final long serialVersionUID = 1L;

    PlainProtobufException() {
        super("the request is neither Triple's wrapper message nor a google.protobuf.Value or ListValue");
    }
}
