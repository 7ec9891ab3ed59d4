package tern.rpc.reflection;

import com.google.protobuf.CodedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Collection;
import tern.rpc.StatusCode;

/** Encodes the answer to one reflection request: a ServerReflectionResponse (grpc/reflection/v1/reflection.proto). */
final class ReflectionAnswer {

    private static final int VALID_HOST = 1;
    private static final int ORIGINAL_REQUEST = 2;
    private static final int FILE_DESCRIPTOR_RESPONSE = 4;
    private static final int ALL_EXTENSION_NUMBERS_RESPONSE = 5;
    private static final int LIST_SERVICES_RESPONSE = 6;
    private static final int ERROR_RESPONSE = 7;

    private final ReflectionRequest request;

    ReflectionAnswer(ReflectionRequest request) {
        this.request = request;
    }

    /** @param files the encoded FileDescriptorProtos, the requested file first */
    byte[] files(Collection<byte[]> files) {
        return answer(FILE_DESCRIPTOR_RESPONSE, out -> {
            for (byte[] file : files) {
                out.writeByteArray(1, file);
            }
        });
    }

    byte[] extensionNumbers(String type, Collection<Integer> numbers) {
        return answer(ALL_EXTENSION_NUMBERS_RESPONSE, out -> {
            out.writeString(1, type);
            for (int number : numbers) {
                out.writeInt32(2, number);
            }
        });
    }

    byte[] services(Collection<String> names) {
        return answer(LIST_SERVICES_RESPONSE, out -> {
            for (String name : names) {
                out.writeByteArray(1, message(service -> service.writeString(1, name)));
            }
        });
    }

    byte[] error(StatusCode code, String text) {
        return answer(ERROR_RESPONSE, out -> {
            out.writeInt32(1, code.ordinal());
            out.writeString(2, text);
        });
    }

    private byte[] answer(int field, Content content) {
        return message(out -> {
            if (!request.host().isEmpty()) {
                out.writeString(VALID_HOST, request.host());
            }
            out.writeByteArray(ORIGINAL_REQUEST, request.bytes());
            out.writeByteArray(field, message(content));
        });
    }

    private interface Content {
        void writeTo(CodedOutputStream out) throws IOException;
    }

    private static byte[] message(Content content) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        CodedOutputStream out = CodedOutputStream.newInstance(bytes);
        try {
            content.writeTo(out);
            out.flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e); // This exception never occurs, because writing to memory cannot fail.
        }
        return bytes.toByteArray();
    }
}
