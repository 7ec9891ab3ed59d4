package tern.rpc.reflection;

import com.google.protobuf.CodedInputStream;
import java.io.IOException;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;

/**
 * A decoded ServerReflectionRequest.
 *
 * @param bytes the encoded request, which is a part of the answer
 * @param name the name of the requested file, symbol or message; empty if the request asks for the list of services
 * @param number the number of the requested extension
 */
record ReflectionRequest(byte[] bytes, String host, Kind kind, String name, int number) {

    enum Kind {
        FILE_BY_NAME,
        FILE_OF_SYMBOL,
        FILE_OF_EXTENSION,
        EXTENSION_NUMBERS,
        SERVICES,
        NOTHING
    }

    // The tags of ServerReflectionRequest and ExtensionRequest (grpc/reflection/v1/reflection.proto).
    private static final int HOST = 1 << 3 | 2;
    private static final int FILE_BY_FILENAME = 3 << 3 | 2;
    private static final int FILE_CONTAINING_SYMBOL = 4 << 3 | 2;
    private static final int FILE_CONTAINING_EXTENSION = 5 << 3 | 2;
    private static final int ALL_EXTENSION_NUMBERS_OF_TYPE = 6 << 3 | 2;
    private static final int LIST_SERVICES = 7 << 3 | 2;
    private static final int CONTAINING_TYPE = 1 << 3 | 2;
    private static final int EXTENSION_NUMBER = 2 << 3;

    /**
     * Decodes a request.
     *
     * @throws RpcException INVALID_ARGUMENT if the bytes are not a ServerReflectionRequest
     */
    static ReflectionRequest read(byte[] bytes) {
        try {
            return parsed(bytes);
        } catch (IOException e) {
            throw new RpcException(
                    StatusCode.INVALID_ARGUMENT,
                    "the message of " + bytes.length + " bytes is not a ServerReflectionRequest",
                    Executed.NO,
                    e);
        }
    }

    private static ReflectionRequest parsed(byte[] bytes) throws IOException {
        String host = "";
        Kind kind = Kind.NOTHING;
        String name = "";
        int number = 0;
        CodedInputStream input = CodedInputStream.newInstance(bytes);
        for (int tag = input.readTag(); tag != 0; tag = input.readTag()) {
            switch (tag) {
                case HOST -> host = input.readStringRequireUtf8();
                case FILE_BY_FILENAME -> {
                    kind = Kind.FILE_BY_NAME;
                    name = input.readStringRequireUtf8();
                }
                case FILE_CONTAINING_SYMBOL -> {
                    kind = Kind.FILE_OF_SYMBOL;
                    name = input.readStringRequireUtf8();
                }
                case FILE_CONTAINING_EXTENSION -> {
                    kind = Kind.FILE_OF_EXTENSION;
                    int end = input.pushLimit(input.readRawVarint32());
                    for (int inner = input.readTag(); inner != 0; inner = input.readTag()) {
                        switch (inner) {
                            case CONTAINING_TYPE -> name = input.readStringRequireUtf8();
                            case EXTENSION_NUMBER -> number = input.readInt32();
                            default -> input.skipField(inner);
                        }
                    }
                    input.popLimit(end);
                }
                case ALL_EXTENSION_NUMBERS_OF_TYPE -> {
                    kind = Kind.EXTENSION_NUMBERS;
                    name = input.readStringRequireUtf8();
                }
                case LIST_SERVICES -> {
                    kind = Kind.SERVICES;
                    input.readStringRequireUtf8();
                }
                default -> input.skipField(tag);
            }
        }
        return new ReflectionRequest(bytes, host, kind, name, number);
    }
}
