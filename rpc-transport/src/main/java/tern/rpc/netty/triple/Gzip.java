package tern.rpc.netty.triple;

import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Supplier;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;
import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.serialization.MessageTooLargeException;
import tern.rpc.serialization.OutputBuffer;
import tern.rpc.serialization.SerializationException;

/**
 * Compresses and decompresses whole messages in the gzip format (RFC 1952). Reuses a limited number of deflaters and
 * inflaters. Thread-safe.
 */
final class Gzip {

    /** The value of {@code grpc-encoding} for gzip. */
    static final String NAME = "gzip";

    private static final int HEADER_BYTES = 10;
    private static final int TRAILER_BYTES = 8;
    private static final int PIECE_BYTES = 4 << 10;
    private static final byte[] HEADER = {0x1F, (byte) 0x8B, Deflater.DEFLATED, 0, 0, 0, 0, 0, 0, (byte) 0xFF};

    private static final int FLAG_HEADER_CHECK = 0x02;
    private static final int FLAG_EXTRA = 0x04;
    private static final int FLAG_NAME = 0x08;
    private static final int FLAG_COMMENT = 0x10;
    private static final int RESERVED_FLAGS = 0xE0;

    /** The decompressed size, in bytes, up to which the compression ratio of an answer is not limited. */
    private static final int FREE_ANSWER_BYTES = 1 << 20;

    /**
     * The decompressed size, in bytes, up to which the compression ratio of a request is not limited. The size is above
     * the 271,828 zero bytes that gRPC's interoperability tests send compressed.
     */
    private static final int FREE_REQUEST_BYTES = 512 << 10;

    private final int mostRatio;
    private final Pool<Deflating> deflaters = new Pool<>(Deflating::new);
    private final Pool<Inflating> inflaters = new Pool<>(Inflating::new);

    /** Creates a codec that does not limit the compression ratio. */
    Gzip() {
        this(Integer.MAX_VALUE);
    }

    /**
     * @param mostRatio the maximum ratio of decompressed to compressed bytes; applies to requests whose decompressed
     *     size exceeds 512 KiB, and to answers whose decompressed size exceeds 1 MiB
     */
    Gzip(int mostRatio) {
        this.mostRatio = mostRatio;
    }

    /** Compresses the bytes and appends the result to the buffer. */
    void compress(byte[] bytes, int offset, int length, OutputBuffer out) {
        out.write(HEADER, 0, HEADER_BYTES);
        Deflating deflating = deflaters.take();
        try {
            deflating.compress(bytes, offset, length, out);
        } finally {
            deflaters.giveBack(deflating);
        }
        CRC32 check = new CRC32();
        check.update(bytes, offset, length);
        int trailer = out.claim(TRAILER_BYTES);
        writeInt(out.array(), trailer, (int) check.getValue());
        writeInt(out.array(), trailer + 4, length);
    }

    /**
     * Decompresses the bytes and appends the result to the buffer.
     *
     * @param out the buffer, whose limit is the maximum size of the message
     * @throws RpcException RESOURCE_EXHAUSTED if the message is larger than the limit of the buffer, or if it exceeds
     *     the maximum compression ratio
     * @throws SerializationException if the bytes are not valid gzip
     */
    void decompress(byte[] bytes, int offset, int length, OutputBuffer out) {
        decompress(bytes, offset, length, out, null);
    }

    /** @param unpacked counts each piece of a request before it is decompressed; null for an answer */
    void decompress(byte[] bytes, int offset, int length, OutputBuffer out, @Nullable UnpackedRequest unpacked) {
        int end = offset + length;
        int position = offset;
        int before = out.position();
        int free = unpacked == null ? FREE_ANSWER_BYTES : FREE_REQUEST_BYTES;
        // the compressed size without gzip headers and trailers, which a sender can fill with any bytes
        int deflated = length;
        Inflating inflating = inflaters.take();
        try {
            do { // a gzip message usually has one member, but RFC 1952 permits several
                int first = out.position();
                int start = headerEnd(bytes, position, end);
                deflated -= start - position + TRAILER_BYTES;
                long most = before + Math.max(free, (long) mostRatio * deflated);
                position = end - inflating.decompress(bytes, start, end - start, out, most, unpacked);
                checkTrailer(bytes, position, end, out, first);
                position += TRAILER_BYTES;
            } while (position < end);
        } catch (DataFormatException e) {
            throw new SerializationException("a compressed message is broken: " + e.getMessage(), e);
        } catch (RatioException e) {
            throw RpcException.refusal(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "a compressed message of " + length + " bytes becomes more than " + mostRatio
                            + " times as large, and more than " + (free >> 10)
                            + " KiB (set by rpc.limits.max-unpacked-ratio; at most "
                            + out.limit()
                            + " bytes are read" + out.setBy() + ")",
                    Executed.MAYBE);
        } catch (MessageTooLargeException e) {
            throw RpcException.refusal(
                    StatusCode.RESOURCE_EXHAUSTED, "decompressed, it is a " + e.getMessage(), Executed.MAYBE);
        } finally {
            inflaters.giveBack(inflating);
        }
    }

    private static int headerEnd(byte[] bytes, int offset, int end) {
        if (end - offset < HEADER_BYTES + TRAILER_BYTES
                || bytes[offset] != HEADER[0]
                || bytes[offset + 1] != HEADER[1]
                || bytes[offset + 2] != HEADER[2]
                || (bytes[offset + 3] & RESERVED_FLAGS) != 0) {
            throw new SerializationException("a message that is marked as compressed is not in the gzip format");
        }
        int flags = bytes[offset + 3];
        int position = offset + HEADER_BYTES;
        if ((flags & FLAG_EXTRA) != 0) {
            position += 2 + ((bytes[position] & 0xFF) | (bytes[position + 1] & 0xFF) << 8);
        }
        if ((flags & FLAG_NAME) != 0) {
            position = afterZero(bytes, position, end);
        }
        if ((flags & FLAG_COMMENT) != 0) {
            position = afterZero(bytes, position, end);
        }
        if ((flags & FLAG_HEADER_CHECK) != 0) {
            position += 2;
        }
        if (position > end) {
            throw new SerializationException("a compressed message ends within its header");
        }
        return position;
    }

    private static int afterZero(byte[] bytes, int offset, int end) {
        int position = offset;
        while (position < end && bytes[position] != 0) {
            position++;
        }
        return position + 1;
    }

    private static void checkTrailer(byte[] bytes, int offset, int end, OutputBuffer out, int first) {
        if (end - offset < TRAILER_BYTES) {
            throw new SerializationException("a compressed message ends too early");
        }
        CRC32 check = new CRC32();
        check.update(out.array(), first, out.position() - first);
        if (readInt(bytes, offset) != (int) check.getValue() || readInt(bytes, offset + 4) != out.position() - first) {
            throw new SerializationException("a compressed message is corrupt: its checksum differs");
        }
    }

    private static void writeInt(byte[] array, int offset, int value) {
        for (int i = 0; i < 4; i++) {
            array[offset + i] = (byte) (value >>> (8 * i));
        }
    }

    private static int readInt(byte[] array, int offset) {
        int value = 0;
        for (int i = 0; i < 4; i++) {
            value |= (array[offset + i] & 0xFF) << (8 * i);
        }
        return value;
    }

    private static final class Deflating implements Reusable {

        private final Deflater deflater = new Deflater(Deflater.DEFAULT_COMPRESSION, true);
        private final byte[] piece = new byte[PIECE_BYTES];

        void compress(byte[] bytes, int offset, int length, OutputBuffer out) {
            deflater.setInput(bytes, offset, length);
            deflater.finish();
            while (!deflater.finished()) {
                out.write(piece, 0, deflater.deflate(piece));
            }
        }

        @Override
        public void reset() {
            deflater.reset();
        }

        @Override
        public void end() {
            deflater.end();
        }
    }

    private static final class Inflating implements Reusable {

        private final Inflater inflater = new Inflater(true);
        private final byte[] piece = new byte[PIECE_BYTES];

        /** @return the number of compressed bytes that remain after the gzip member */
        int decompress(
                byte[] bytes, int offset, int length, OutputBuffer out, long most, @Nullable UnpackedRequest unpacked)
                throws DataFormatException, RatioException {
            inflater.reset();
            inflater.setInput(bytes, offset, length);
            while (!inflater.finished()) {
                if (unpacked != null) {
                    unpacked.reaches(out.position() + piece.length);
                }
                int written = inflater.inflate(piece);
                if (out.position() + (long) written > most) {
                    throw new RatioException();
                }
                out.write(piece, 0, written);
                if (written == 0 && (inflater.needsInput() || inflater.needsDictionary())) {
                    throw new SerializationException("a compressed message ends too early");
                }
            }
            return inflater.getRemaining();
        }

        @Override
        public void reset() {
            inflater.reset();
        }

        @Override
        public void end() {
            inflater.end();
        }
    }

    /** Thrown when a message exceeds the maximum ratio of decompressed to compressed bytes. */
    private static final class RatioException extends Exception {
        private static final long serialVersionUID = 1L;
    }

    /** An object that owns off-heap memory. */
    private interface Reusable {
        void reset();

        void end();
    }

    /** Keeps up to 16 unused objects for reuse, and releases the memory of additional unused objects. */
    private static final class Pool<T extends Reusable> {

        private static final int SLOTS = 16;

        private final AtomicReferenceArray<T> slots = new AtomicReferenceArray<>(SLOTS);
        private final Supplier<T> fresh;

        Pool(Supplier<T> fresh) {
            this.fresh = fresh;
        }

        T take() {
            for (int i = 0; i < SLOTS; i++) {
                if (slots.getPlain(i) != null) {
                    T coder = slots.getAndSet(i, null);
                    if (coder != null) {
                        return coder;
                    }
                }
            }
            return fresh.get();
        }

        void giveBack(T coder) {
            coder.reset();
            for (int i = 0; i < SLOTS; i++) {
                if (slots.getPlain(i) == null && slots.compareAndSet(i, null, coder)) {
                    return;
                }
            }
            coder.end();
        }
    }
}
