package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.MethodDescriptor;
import tern.rpc.Payload;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServiceDescriptor;
import tern.rpc.StatusCode;
import tern.rpc.netty.ServerConnection;
import tern.rpc.netty.triple.BodyReader.Frame;
import tern.rpc.serialization.Coder;
import tern.rpc.serialization.CoderPool;
import tern.rpc.serialization.JsonError;
import tern.rpc.serialization.JsonEstimate;
import tern.rpc.serialization.JsonFormat;
import tern.rpc.serialization.JsonMethod;
import tern.rpc.serialization.LargeMessages;
import tern.rpc.serialization.LargeWork;
import tern.rpc.serialization.MessageKind;
import tern.rpc.serialization.OutputBuffer;
import tern.rpc.serialization.SerializationException;
import tern.rpc.serialization.Serializer;

/** The codecs for the messages of Triple, gRPC, gRPC-Web, Connect and JSON calls. Thread-safe. */
public final class TripleCodecs {

    /** The number of bytes before each gRPC message: one byte of flags and four bytes of length. */
    private static final int PREFIX_BYTES = 5;

    /** The flag that marks a message as compressed. */
    private static final int COMPRESSED = 1;

    private static final Logger LOG = LoggerFactory.getLogger(TripleCodecs.class);

    private final CoderPool coders;
    private final PayloadCodecs payloads;
    /**
     * The default value of {@code rpc.limits.max-unpacked-ratio}, which is the maximum ratio of decompressed to
     * compressed bytes.
     */
    public static final int UNPACKED_RATIO = 100;

    private final Gzip gzip;
    private final @Nullable JsonFormat json;
    private final int exceptionFrames;

    /**
     * The lines about JSON that have been logged. The protocols that share these codecs prepare the same services, so
     * without this set each line would be logged once for each protocol.
     */
    private final Set<String> logged = ConcurrentHashMap.newKeySet();

    /**
     * @param serializer the serializer for the values in Triple's wrapper messages
     * @param json the JSON format; null to refuse JSON
     * @param exceptionFrames the number of stack frames to send with an exception
     */
    public TripleCodecs(Serializer serializer, @Nullable JsonFormat json, int exceptionFrames) {
        this(serializer, json, exceptionFrames, UNPACKED_RATIO);
    }

    /**
     * @param serializer the serializer for the values in Triple's wrapper messages
     * @param json the JSON format; null to refuse JSON
     * @param exceptionFrames the number of stack frames to send with an exception
     * @param unpackedRatio the maximum ratio of decompressed to compressed bytes of a request above 512
     *     KiB or an answer above 1 MiB
     */
    public TripleCodecs(Serializer serializer, @Nullable JsonFormat json, int exceptionFrames, int unpackedRatio) {
        this.gzip = new Gzip(unpackedRatio);
        this.coders = new CoderPool(serializer);
        this.payloads = new PayloadCodecs(coders);
        this.json = json;
        this.exceptionFrames = exceptionFrames;
    }

    void prepare(ServiceDescriptor service) {
        coders.serializer().prepare(service);
        for (MethodDescriptor method : service.methods()) {
            payloads.of(method);
            if (json != null && method.payload() != Payload.RAW) {
                // The warnings are logged at level INFO, because the application may have no callers that send JSON. A
                // JSON call fails with the same text.
                json(method).warnings().stream().filter(logged::add).forEach(LOG::info);
            }
        }
    }

    /** Prepares the codecs of a service for a client that does not send JSON. */
    void prepareReference(ServiceDescriptor service) {
        coders.serializer().prepare(service);
        service.methods().forEach(payloads::of);
    }

    PayloadCodecs payloads() {
        return payloads;
    }

    /** Returns the number of stack frames to send with an exception. */
    int exceptionFrames() {
        return exceptionFrames;
    }

    /**
     * Returns the JSON codec of a method.
     *
     * @throws RpcException UNIMPLEMENTED if JSON is not served, either for this method or in general
     */
    JsonMethod json(MethodDescriptor method) {
        JsonFormat codec = json;
        if (codec == null || method.payload() == Payload.RAW) {
            throw new HttpRefusal(
                    HttpResponseStatus.NOT_IMPLEMENTED,
                    method + " is not served as JSON"
                            + (codec == null
                                    ? "; that needs io.github.tern-rpc:tern-rpc-json and"
                                            + " tools.jackson.core:jackson-databind on the class path"
                                    : "; call it with gRPC"));
        }
        return codec.method(method);
    }

    /** Returns the error in the answer's body; null if the body is not a JSON error. */
    @Nullable
    JsonError jsonError(byte[] bytes, int length) {
        return json == null ? null : json.error(bytes, 0, length);
    }

    /**
     * Returns whether the method can be called with JSON messages or, if {@code asJson} is false, with protobuf or raw
     * messages.
     */
    boolean serves(MethodDescriptor method, boolean asJson) {
        return asJson ? json != null && method.payload() != Payload.RAW : method.payload() != Payload.JAVA;
    }

    /** Decodes the arguments of a method. {@link #serves} must have returned true for it. */
    @Nullable
    Object[] readRequest(MethodDescriptor method, boolean asJson, byte[] bytes, int length) {
        return asJson
                ? json(method).readArguments(bytes, 0, length, true)
                : payloads.of(method).readRequest(bytes, 0, length);
    }

    /**
     * Encodes the answer of a method, and appends it to the buffer. {@link #serves} must have returned true for the
     * method.
     */
    void writeResponse(MethodDescriptor method, boolean asJson, @Nullable Object value, OutputBuffer out) {
        if (asJson) {
            json(method).writeResult(value, out);
        } else {
            payloads.of(method).writeResponse(value, out);
        }
    }

    /** Decodes the bytes of a message. */
    interface Reading<T> {
        T read(byte[] bytes, int length);

        /** Returns the maximum memory of the message's objects, in bytes. */
        default long objectBytes(byte[] bytes, int length) {
            return LargeMessages.maxObjectBytes(length);
        }
    }

    /** Decodes a JSON text. The memory for its objects is estimated from the structure of the text. */
    interface JsonReading<T> extends Reading<T> {
        @Override
        default long objectBytes(byte[] bytes, int length) {
            return JsonEstimate.maxBytes(bytes, length);
        }
    }

    /**
     * Decompresses a message if necessary and decodes it. Releases the frame.
     *
     * @throws RpcException RESOURCE_EXHAUSTED if the message is too large; INVALID_ARGUMENT if it cannot be decoded
     */
    <T> T read(Frame frame, int limit, MessageKind kind, Reading<T> reading) {
        return read(frame, limit, kind, null, null, reading);
    }

    /**
     * Decodes a request on a server and counts its decompressed bytes. Only a few threads at a time may decompress more
     * than 256 KiB, or decompress and decode a message that becomes much larger than its compressed bytes ({@link
     * LargeWork#uncheckedBytes}). This method can therefore block for several seconds. Must not run on an event loop.
     */
    <T> T readRequest(Frame frame, int limit, ServerConnection connection, Reading<T> reading) {
        UnpackedRequest unpacked = frame.isCompressed()
                ? new UnpackedRequest(connection, frame.payload().readableBytes())
                : null;
        try {
            return read(frame, limit, MessageKind.REQUEST, connection, unpacked, reading);
        } finally {
            if (unpacked != null) {
                unpacked.gone();
            }
        }
    }

    /**
     * Decodes the first request of a call as {@link #readRequest} does. A refusal states that the call was not
     * executed, because the method runs only after its first request has been decoded.
     */
    <T> T readFirst(Frame frame, int limit, ServerConnection connection, Reading<T> reading) {
        try {
            return readRequest(frame, limit, connection, reading);
        } catch (RpcException e) {
            throw e.wasExecuted() == Executed.MAYBE
                    ? RpcException.refusal(e.code(), e.status().description(), Executed.NO)
                    : e;
        }
    }

    private <T> T read(
            Frame frame,
            int limit,
            MessageKind kind,
            @Nullable ServerConnection connection,
            @Nullable UnpackedRequest unpacked,
            Reading<T> reading) {
        try {
            return read(frame.payload(), frame.isCompressed(), limit, kind, connection, unpacked, reading);
        } catch (SerializationException e) {
            throw new RpcException(
                    StatusCode.INVALID_ARGUMENT, "the message cannot be read: " + e.getMessage(), Executed.NO, e);
        }
    }

    /** Decodes the bytes of a message. The decoded value can be null. */
    interface ValueReading {
        @Nullable
        Object read(byte[] bytes, int length);
    }

    /**
     * Decompresses an answer if necessary and decodes it. Releases the frame.
     *
     * @throws RpcException RESOURCE_EXHAUSTED if the answer is too large
     * @throws SerializationException if the answer cannot be decoded
     */
    @Nullable
    Object readAnswer(Frame frame, int limit, ValueReading reading) {
        @Nullable Object[] value = new Object[1];
        read(frame.payload(), frame.isCompressed(), limit, MessageKind.RESPONSE, null, null, (bytes, length) -> {
            value[0] = reading.read(bytes, length);
            return value;
        });
        return value[0];
    }

    private <T> T read(
            ByteBuf payload,
            boolean markedCompressed,
            int limit,
            MessageKind kind,
            @Nullable ServerConnection connection,
            @Nullable UnpackedRequest unpacked,
            Reading<T> reading) {
        // An empty message can be marked as compressed. The Connect protocol forbids the decompression of an empty
        // body.
        boolean compressed = markedCompressed && payload.isReadable();
        Coder coder = coders.take();
        boolean reuse = false;
        int permits = 0;
        try {
            int length = payload.readableBytes();
            byte[] bytes;
            if (payload.hasArray() && payload.arrayOffset() + payload.readerIndex() == 0) {
                // the message begins at index 0 of this array, so it is decoded without a copy
                bytes = payload.array();
            } else {
                bytes = coder.input(length);
                payload.readBytes(bytes, 0, length);
            }
            if (compressed) {
                OutputBuffer inflated = coder.output();
                inflated.reset(limit, 0, kind);
                if (connection != null) {
                    inflated.takeTurnsToUnpack(connection.network());
                }
                gzip.decompress(bytes, 0, length, inflated, unpacked);
                // releases the permit to decompress, so that other threads can decompress while this thread is waiting
                // for memory
                inflated.endTurn();
                if (unpacked != null) {
                    unpacked.unpacked();
                }
                bytes = inflated.array();
                length = inflated.position();
            }
            if (connection != null) {
                permits = LargeMessages.startReading(length, reading.objectBytes(bytes, length), connection.network());
                if (unpacked != null) {
                    unpacked.startDecoding(length);
                }
            }
            T read = reading.read(bytes, length);
            reuse = true;
            return read;
        } finally {
            LargeMessages.release(permits);
            payload.release();
            if (reuse) {
                coders.giveBack(coder);
            } else {
                coder.output().release();
            }
        }
    }

    /**
     * Encodes a request with its prefix.
     *
     * @throws SerializationException if the message cannot be encoded or exceeds the limit
     */
    byte[] requestFrame(int limit, boolean compressed, Consumer<OutputBuffer> content) {
        return framed(limit, MessageKind.REQUEST, LargeWork.OWN_CALLS, compressed, content);
    }

    /** Encodes a request without a prefix. Throws the same exceptions as {@link #requestFrame}. */
    byte[] bareRequest(int limit, boolean compressed, Consumer<OutputBuffer> content) {
        return write(0, limit, MessageKind.REQUEST, LargeWork.OWN_CALLS, compressed, content);
    }

    /** Encodes an answer with its prefix. Throws the same exceptions as {@link #requestFrame}. */
    byte[] answerFrame(HttpExchange exchange, boolean compressed, Consumer<OutputBuffer> content) {
        Object caller = exchange.connection().network();
        return framed(exchange.maxResponseBytes(), MessageKind.RESPONSE, caller, compressed, content);
    }

    /** Encodes an answer without a prefix. Throws the same exceptions as {@link #requestFrame}. */
    byte[] bareAnswer(HttpExchange exchange, boolean compressed, Consumer<OutputBuffer> content) {
        Object caller = exchange.connection().network();
        return write(0, exchange.maxResponseBytes(), MessageKind.RESPONSE, caller, compressed, content);
    }

    private byte[] framed(
            int limit, MessageKind kind, Object caller, boolean compressed, Consumer<OutputBuffer> content) {
        byte[] message = write(PREFIX_BYTES, limit, kind, caller, compressed, content);
        writePrefix(message, compressed ? COMPRESSED : 0);
        return message;
    }

    private byte[] write(
            int prefixBytes,
            int limit,
            MessageKind kind,
            Object caller,
            boolean compressed,
            Consumer<OutputBuffer> content) {
        Coder coder = coders.take();
        OutputBuffer out = coder.output();
        out.reset(limit, prefixBytes, kind);
        out.takeTurns(caller);
        byte[] message;
        try {
            content.accept(out);
            message = compressed ? compress(prefixBytes, out) : out.toByteArray();
        } finally {
            out.release();
        }
        coders.giveBack(coder);
        return message;
    }

    private byte[] compress(int prefixBytes, OutputBuffer out) {
        OutputBuffer deflated = new OutputBuffer();
        deflated.claim(prefixBytes);
        gzip.compress(out.array(), prefixBytes, out.position() - prefixBytes, deflated);
        return deflated.toByteArray();
    }

    /** Encodes a frame that contains trailers or the end of a stream instead of a message. */
    static byte[] frame(int flags, byte[] content) {
        byte[] frame = new byte[PREFIX_BYTES + content.length];
        System.arraycopy(content, 0, frame, PREFIX_BYTES, content.length);
        writePrefix(frame, flags);
        return frame;
    }

    /** Appends the end of an answer to its last message. Returns a new array. */
    static byte[] joined(byte[] message, byte[] end) {
        byte[] joined = Arrays.copyOf(message, message.length + end.length);
        System.arraycopy(end, 0, joined, message.length, end.length);
        return joined;
    }

    private static void writePrefix(byte[] message, int flags) {
        int length = message.length - PREFIX_BYTES;
        message[0] = (byte) flags;
        message[1] = (byte) (length >>> 24);
        message[2] = (byte) (length >>> 16);
        message[3] = (byte) (length >>> 8);
        message[4] = (byte) length;
    }
}
