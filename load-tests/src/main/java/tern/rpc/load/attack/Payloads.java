package tern.rpc.load.attack;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.zip.GZIPOutputStream;

/** Contents of the messages that attacks send. */
final class Payloads {

    private static final int LARGE_BYTES = (8 << 20) - 1_024;

    private Payloads() {}

    /** Returns a gRPC message that contains an 8 MiB string. */
    static byte[] largeText() {
        return text(LARGE_BYTES);
    }

    /** Returns a protobuf message that contains a string of the given length. */
    static byte[] text(int bytes) {
        ByteArrayOutputStream message = new ByteArrayOutputStream();
        message.write(0x0a);
        int length = bytes;
        for (; length > 0x7f; length >>>= 7) {
            message.write((length & 0x7f) | 0x80);
        }
        message.write(length);
        message.writeBytes(new byte[bytes]);
        return message.toByteArray();
    }

    static byte[] gzip(byte[] bytes) {
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (GZIPOutputStream packing = new GZIPOutputStream(packed)) {
            packing.write(bytes);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return packed.toByteArray();
    }
}
