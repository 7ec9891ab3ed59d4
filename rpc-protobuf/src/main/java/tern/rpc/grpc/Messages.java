package tern.rpc.grpc;

import io.grpc.MethodDescriptor.Marshaller;
import io.grpc.MethodDescriptor.ReflectableMarshaller;
import io.grpc.Status;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import tern.rpc.serialization.protobuf.ProtobufCodec;

/**
 * Converts a gRPC method's messages. Generated protobuf messages are passed on unchanged, so they can also be sent as
 * JSON. All other messages are converted to bytes.
 *
 * @param requestType the request message's class, or {@code byte[]}
 * @param responseType the response message's class, or {@code byte[]}; either both types are message classes or both
 *     are {@code byte[]}
 */
record Messages<Q, A>(Class<?> requestType, Class<?> responseType, Marshaller<Q> requests, Marshaller<A> responses) {

    static <Q, A> Messages<Q, A> of(io.grpc.MethodDescriptor<Q, A> method) {
        Marshaller<Q> requests = method.getRequestMarshaller();
        Marshaller<A> responses = method.getResponseMarshaller();
        Class<?> request = messageClass(requests);
        Class<?> response = messageClass(responses);
        boolean bytes = request == byte[].class || response == byte[].class;
        return new Messages<>(bytes ? byte[].class : request, bytes ? byte[].class : response, requests, responses);
    }

    /** Returns the class of a generated message; {@code byte[]} for other messages. */
    private static Class<?> messageClass(Marshaller<?> marshaller) {
        if (marshaller instanceof ReflectableMarshaller<?> reflectable) {
            Class<?> type = reflectable.getMessageClass();
            if (ProtobufCodec.isMessage(type) && isGenerated(type)) {
                return type;
            }
        }
        return byte[].class;
    }

    private static boolean isGenerated(Class<?> message) {
        try {
            return message.getMethod("getDefaultInstance").getReturnType() == message;
        } catch (NoSuchMethodException e) {
            return false; // The message is dynamic, so it has no generated class.
        }
    }

    private boolean areBytes() {
        return requestType == byte[].class;
    }

    @SuppressWarnings("unchecked")
    Q request(Object value) {
        return areBytes() ? requests.parse(new ByteArrayInputStream((byte[]) value)) : (Q) value;
    }

    Object response(A answer) {
        if (!areBytes()) {
            return answer;
        }
        try (InputStream bytes = responses.stream(answer)) {
            return bytes.readAllBytes();
        } catch (IOException e) {
            throw Status.INTERNAL
                    .withDescription("the answer cannot be written")
                    .withCause(e)
                    .asRuntimeException();
        }
    }
}
