package tern.rpc.netty.triple;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;

/** Compresses and decompresses with the JDK's gzip classes, for tests. */
final class Gzipped {

    private Gzipped() {}

    static byte[] of(byte[] bytes) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
            gzip.write(bytes);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return out.toByteArray();
    }

    static byte[] undone(byte[] gzipped) {
        try (GZIPInputStream gzip = new GZIPInputStream(new ByteArrayInputStream(gzipped))) {
            return gzip.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the body of an answer. Decompresses the body if the headers state that it is compressed. */
    static byte[] undoneIfMarked(WebAnswer answer) {
        return answer.header("content-encoding").equals("gzip") ? undone(answer.body()) : answer.body();
    }
}
