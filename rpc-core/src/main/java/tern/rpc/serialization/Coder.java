package tern.rpc.serialization;

/** A reader, a writer and the arrays that they use. Not thread-safe. */
public final class Coder {

    private static final int INITIAL_BYTES = 512;
    private static final int MAX_KEPT_BYTES = 1 << 20;

    private final ObjectReader reader;
    private final ObjectWriter writer;
    private final OutputBuffer output = new OutputBuffer();
    private byte[] input = new byte[INITIAL_BYTES];

    Coder(Serializer serializer) {
        this.reader = serializer.newReader();
        this.writer = serializer.newWriter();
    }

    public ObjectReader reader() {
        return reader;
    }

    public ObjectWriter writer() {
        return writer;
    }

    public OutputBuffer output() {
        return output;
    }

    /** Releases the objects of the last decoded message. */
    void forget() {
        reader.start(input, 0, 0);
    }

    /** Returns an array of at least the given size for a message to be decoded. The array is not cleared. */
    public byte[] input(int bytes) {
        if (bytes > MAX_KEPT_BYTES) {
            return new byte[bytes];
        }
        if (bytes > input.length) {
            input = new byte[Integer.highestOneBit(bytes * 2 - 1)];
        }
        return input;
    }
}
