package tern.rpc.netty.dubbo;

import java.util.Set;
import org.jspecify.annotations.Nullable;
import tern.rpc.Metadata;
import tern.rpc.MethodDescriptor;
import tern.rpc.Response;
import tern.rpc.serialization.ObjectReader;
import tern.rpc.serialization.ObjectWriter;
import tern.rpc.serialization.SerializationException;

/**
 * The body of a response with status 20: a result type, a value or an exception, and attachments (docs/wire-protocol.md
 * 1.5).
 */
final class DubboResponseBody {

    private static final int EXCEPTION = 0;
    private static final int VALUE = 1;
    private static final int NULL = 2;
    private static final int EXCEPTION_WITH_ATTACHMENTS = 3;
    private static final int VALUE_WITH_ATTACHMENTS = 4;
    private static final int NULL_WITH_ATTACHMENTS = 5;

    /** The number that is added to a result type if attachments follow the result. */
    private static final int WITH_ATTACHMENTS = 3;

    /**
     * The name of the attachment with the protocol version. Every response contains it, as Dubbo's responses do.
     */
    private static final String PROTOCOL_VERSION = "dubbo";

    private static final Set<String> RESERVED = Set.of(PROTOCOL_VERSION);

    private DubboResponseBody() {}

    static void writeValue(ObjectWriter writer, Response response, boolean attachments) {
        Object value = response.value();
        writeType(writer, value == null ? NULL : VALUE, attachments);
        if (value != null) {
            writer.writeObject(value);
        }
        if (attachments) {
            writeAttachments(writer, response.metadata());
        }
    }

    static void writeException(
            ObjectWriter writer, Throwable failure, int frames, Metadata metadata, boolean attachments) {
        writeType(writer, EXCEPTION, attachments);
        writer.writeThrowable(failure, frames);
        if (attachments) {
            writeAttachments(writer, metadata);
        }
    }

    private static void writeType(ObjectWriter writer, int type, boolean attachments) {
        writer.writeInt(attachments ? type + WITH_ATTACHMENTS : type);
    }

    private static void writeAttachments(ObjectWriter writer, Metadata metadata) {
        writer.startMap();
        writer.writeString(PROTOCOL_VERSION);
        writer.writeString(DubboVersion.OURS);
        DubboRequestBody.writeMetadata(writer, metadata, RESERVED);
        writer.endMap();
    }

    /**
     * Decodes the whole response body.
     *
     * @return a {@link Response}, or the exception that the body contains
     */
    static Object read(ObjectReader reader, MethodDescriptor method) {
        int type = reader.readInt();
        @Nullable Object value = null;
        Throwable failure = null;
        switch (type) {
            case EXCEPTION, EXCEPTION_WITH_ATTACHMENTS -> failure = reader.readThrowable();
            case VALUE, VALUE_WITH_ATTACHMENTS -> value = reader.readObject(method.result());
            case NULL, NULL_WITH_ATTACHMENTS -> {}
            default -> throw new SerializationException("unknown result type " + type);
        }
        Metadata metadata = new Metadata();
        if (type >= WITH_ATTACHMENTS) {
            reader.readMetadata(metadata);
            metadata.remove(PROTOCOL_VERSION);
        }
        return failure != null ? failure : new Response(value, metadata, metadata);
    }
}
