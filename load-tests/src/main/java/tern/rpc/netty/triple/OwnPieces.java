package tern.rpc.netty.triple;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import tern.rpc.serialization.OutputBuffer;
import tern.rpc.serialization.SerializationException;

/**
 * Parts of the transport that a library could replace. Each part is paired with the equivalent part of a library, for
 * {@code LibraryComparison}.
 */
public final class OwnPieces {

    private static final int LIMIT = 64 << 20;

    private final Gzip gzip = new Gzip(TripleCodecs.UNPACKED_RATIO);
    private final OutputBuffer out = new OutputBuffer();

    private OutputBuffer emptied() {
        out.reset(LIMIT);
        return out;
    }

    public byte[] compress(byte[] bytes) {
        OutputBuffer emptied = emptied();
        gzip.compress(bytes, 0, bytes.length, emptied);
        return emptied.toByteArray();
    }

    public byte[] decompress(byte[] bytes) {
        OutputBuffer emptied = emptied();
        gzip.decompress(bytes, 0, bytes.length, emptied);
        return emptied.toByteArray();
    }

    public static byte[] compressByStream(byte[] bytes) {
        ByteArrayOutputStream compressed = new ByteArrayOutputStream(bytes.length / 2 + 64);
        try (GZIPOutputStream stream = new GZIPOutputStream(compressed)) {
            stream.write(bytes, 0, bytes.length);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
        return compressed.toByteArray();
    }

    /**
     * Decompresses with the JDK's stream and the limits of {@link Gzip}: the maximum message size and the maximum
     * compression ratio.
     */
    public static byte[] decompressByStream(byte[] bytes) {
        long most = Math.min(LIMIT, Math.max(1 << 20, (long) TripleCodecs.UNPACKED_RATIO * bytes.length));
        ByteArrayOutputStream plain = new ByteArrayOutputStream(4 * bytes.length + 64);
        byte[] piece = new byte[4 << 10];
        try (GZIPInputStream stream = new GZIPInputStream(new ByteArrayInputStream(bytes), piece.length)) {
            for (int read = stream.read(piece); read >= 0; read = stream.read(piece)) {
                if (plain.size() + read > most) {
                    throw new SerializationException("a message of more than " + most + " bytes");
                }
                plain.write(piece, 0, read);
            }
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
        return plain.toByteArray();
    }

    /** Encodes JSON as a {@code google.protobuf.Value} with Tern's own parser. */
    public byte[] value(byte[] json) {
        OutputBuffer emptied = emptied();
        ValueMessages.jsonToValue(json, json.length, emptied);
        return emptied.toByteArray();
    }

    /** Encodes JSON as a {@code google.protobuf.Value} with Jackson's streaming parser. */
    public byte[] valueByParser(byte[] json) {
        OutputBuffer emptied = emptied();
        ParsedValue.write(json, json.length, emptied);
        return emptied.toByteArray();
    }

    /** Returns whether {@link #value} and {@link #valueByParser} encode the JSON as the same bytes. */
    public boolean agree(byte[] json) {
        return Arrays.equals(value(json), valueByParser(json));
    }
}
