package tern.rpc.grpc;

import io.grpc.MethodDescriptor.Marshaller;
import io.grpc.MethodDescriptor.ReflectableMarshaller;
import io.grpc.Status;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import tern.rpc.serialization.protobuf.ProtobufCodec;

/**
 * Between the messages of a gRPC method and what Tern carries: generated protobuf messages as they are, so that they can
 * be JSON as well, all others as bytes.
 *
 * @param requestType the message's class, or {@code byte[]}
 * @param responseType likewise; both are messages, or both bytes
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

    /** That of a generated message, else {@code byte[]}. */
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
            return false; // one that is made of its description at run time
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
