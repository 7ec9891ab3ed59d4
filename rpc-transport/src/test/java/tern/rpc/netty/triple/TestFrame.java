package tern.rpc.netty.triple;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.StringValue;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A message with its prefix of flags and length, for tests. */
record TestFrame(int flags, byte[] content) {

    static byte[] of(int flags, byte[] content) {
        return ByteBuffer.allocate(5 + content.length)
                .put((byte) flags)
                .putInt(content.length)
                .put(content)
                .array();
    }

    /** Encodes each string as an uncompressed message. */
    static byte[] of(String... texts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (String text : texts) {
            all.writeBytes(of(0, StringValue.of(text).toByteArray()));
        }
        return all.toByteArray();
    }

    static List<TestFrame> parse(byte[] body) {
        List<TestFrame> frames = new ArrayList<>();
        int at = 0;
        while (at < body.length) {
            int length = ByteBuffer.wrap(body, at + 1, 4).getInt();
            frames.add(new TestFrame(body[at] & 0xFF, Arrays.copyOfRange(body, at + 5, at + 5 + length)));
            at += 5 + length;
        }
        return frames;
    }

    /** Returns the content of each message as a string. Decompresses compressed messages. */
    static List<String> texts(List<TestFrame> frames) {
        return frames.stream().map(TestFrame::message).toList();
    }

    String message() {
        try {
            return StringValue.parseFrom((flags & 1) == 1 ? Gzipped.undone(content) : content)
                    .getValue();
        } catch (InvalidProtocolBufferException e) {
            throw new AssertionError(e);
        }
    }

    String text() {
        return new String(content, UTF_8);
    }
}
