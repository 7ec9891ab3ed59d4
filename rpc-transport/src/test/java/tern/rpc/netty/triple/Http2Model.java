package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tern.rpc.netty.triple.Http2Script.Frame;

/**
 * A model of the responses that RFC 9113 permits a server to send for each frame from a client. {@link #sent} records
 * the client's frames, {@link #came} records the server's frames, and {@link #settled} checks that no response is
 * missing. Each method throws an AssertionError if a response is not allowed.
 */
final class Http2Model {

    static final int NO_ERROR = 0;
    static final int PROTOCOL_ERROR = 1;
    static final int FLOW_CONTROL_ERROR = 3;
    static final int STREAM_CLOSED = 5;
    static final int FRAME_SIZE_ERROR = 6;
    static final int COMPRESSION_ERROR = 9;
    static final int ENHANCE_YOUR_CALM = 11;

    static final int PRIORITY = 2;
    static final int PUSH_PROMISE = 5;
    static final int PADDED = 8;
    static final int HAS_PRIORITY = 0x20;

    private static final int MAX_FRAME = 16 << 10;
    private static final long MAX_WINDOW = Integer.MAX_VALUE;

    /**
     * The server is allowed to close the connection if a client sends at least {@value} consecutive empty DATA frames,
     * or more than {@value} pings.
     */
    private static final int FEW = 3;

    /** The content of a header block that the test has written. */
    enum Block {
        REQUEST,
        TRAILERS,
        MALFORMED,
        BROKEN
    }

    /** The state of a stream since the frame that opened it. */
    private static final class Stream {
        private boolean peerEnded;
        private boolean peerReset;
        private boolean faulty; // true if the client violated a rule on this stream
        private boolean begun; // true if the server has sent headers on the stream
        private boolean ended;
        private boolean reset;
        private long window;

        boolean isOver() {
            return peerReset || reset || (ended && peerEnded);
        }
    }

    private final Map<Integer, Stream> streams = new TreeMap<>();
    private final Deque<byte[]> pings = new ArrayDeque<>();
    private final DefaultHttp2HeadersDecoder hpack = new DefaultHttp2HeadersDecoder(false, 1 << 20);
    private int newest;
    private long window = 65_535;
    private long initialWindow = 65_535;
    private int settingsToAcknowledge;
    private int pingsSent;
    private int emptyData;
    private long lastGoAway = MAX_WINDOW;
    // the stream whose header block the client continues in CONTINUATION frames; 0 if no header block is incomplete
    private int blockOf;
    private @Nullable Block block;
    private boolean blockEnds; // true if the client's current header block ends its stream

    // the stream whose header block the server continues in CONTINUATION frames; 0 if no header block is incomplete
    private int answerOf;
    private boolean answerEnds;
    private final ByteArrayOutputStream answer = new ByteArrayOutputStream();

    // the error codes that the server may use to reset the stream of the client's last frame
    private final Set<Integer> resets = new HashSet<>();
    private final Set<Integer> goAways = new HashSet<>();
    private boolean mustFail;
    private int stream;
    private boolean failed;
    private @Nullable Integer goAway;

    /** Returns whether the server has ended the connection. */
    boolean isOver() {
        return goAway != null;
    }

    int newest() {
        return newest;
    }

    boolean isInBlock() {
        return blockOf != 0;
    }

    int blockOf() {
        return blockOf;
    }

    /** @param headers the content of the header block that begins with this frame; null for other frames */
    void sent(Frame frame, @Nullable Block headers) {
        resets.clear();
        goAways.clear();
        mustFail = false;
        failed = false;
        stream = frame.stream();
        if (frame.type() == Http2Script.DATA && (frame.payload().length == 0 || (frame.flags() & PADDED) != 0)) {
            emptyData++;
        }
        if (emptyData >= FEW) {
            goAways.add(ENHANCE_YOUR_CALM);
        }
        if (frame.payload().length > MAX_FRAME) {
            connectionError(FRAME_SIZE_ERROR);
            return;
        }
        if (blockOf != 0 && (frame.type() != Http2Script.CONTINUATION || frame.stream() != blockOf)) {
            connectionError(PROTOCOL_ERROR);
            goAways.add(FRAME_SIZE_ERROR); // a single frame can violate several rules
            return;
        }
        switch (frame.type()) {
            case Http2Script.DATA -> data(frame);
            case Http2Script.HEADERS -> headers(frame, headers);
            case PRIORITY -> priority(frame);
            case Http2Script.RST_STREAM -> reset(frame);
            case Http2Script.SETTINGS -> settings(frame);
            case PUSH_PROMISE -> connectionError(PROTOCOL_ERROR, FRAME_SIZE_ERROR, COMPRESSION_ERROR);
            case Http2Script.PING -> ping(frame);
            case Http2Script.GOAWAY -> goAway(frame);
            case Http2Script.WINDOW_UPDATE -> windowUpdate(frame);
            case Http2Script.CONTINUATION -> continuation(frame);
            default -> {
                // frames of unknown types are ignored
            }
        }
    }

    private void connectionError(Integer... codes) {
        mustFail = true;
        goAways.addAll(Arrays.asList(codes));
    }

    private void streamError(Integer... codes) {
        mustFail = true;
        resets.addAll(Arrays.asList(codes));
    }

    /**
     * Handles a frame on a closed stream. The allowed responses depend on which side closed the stream (RFC 9113, 5.1,
     * "closed").
     */
    private void late(Stream over) {
        if (over.reset) {
            // a reset with STREAM_CLOSED is also allowed if the client sent the frame before the server's reset arrived
            resets.add(STREAM_CLOSED);
        } else {
            streamError(STREAM_CLOSED);
            goAways.add(STREAM_CLOSED);
            mustFail = !over.peerReset;
        }
    }

    private static boolean hasBadPadding(Frame frame, int before) {
        return (frame.flags() & PADDED) != 0
                && frame.payload().length > 0
                && (frame.payload()[0] & 0xff) + 1 + before > frame.payload().length;
    }

    private void data(Frame frame) {
        Stream on = streams.get(frame.stream());
        if (frame.stream() == 0 || on == null) {
            connectionError(PROTOCOL_ERROR);
            goAways.add(FRAME_SIZE_ERROR);
            if (frame.stream() != 0 && frame.stream() < newest) {
                goAways.add(STREAM_CLOSED); // a stream whose id was skipped is closed
                resets.add(STREAM_CLOSED);
            }
        } else if ((frame.flags() & PADDED) != 0 && frame.payload().length == 0) {
            connectionError(FRAME_SIZE_ERROR, PROTOCOL_ERROR);
        } else if (hasBadPadding(frame, 0)) {
            connectionError(PROTOCOL_ERROR);
        } else if (on.isOver()) {
            late(on);
        } else if (on.peerEnded) {
            on.faulty = true;
            streamError(STREAM_CLOSED);
        } else if ((frame.flags() & Http2Script.END_STREAM) != 0) {
            on.peerEnded = true;
        }
    }

    private void headers(Frame frame, @Nullable Block headers) {
        int before = (frame.flags() & HAS_PRIORITY) != 0 ? 5 : 0;
        if (frame.stream() == 0) {
            connectionError(PROTOCOL_ERROR, FRAME_SIZE_ERROR);
        } else if (hasBadPadding(frame, before) || frame.payload().length < before) {
            connectionError(PROTOCOL_ERROR, FRAME_SIZE_ERROR);
        } else {
            block = headers;
            blockOf = frame.stream();
            blockEnds = (frame.flags() & Http2Script.END_STREAM) != 0;
            if ((frame.flags() & Http2Script.END_HEADERS) != 0) {
                endOfBlock();
            } else if (blockOf % 2 == 0) {
                // the server may send the GOAWAY immediately or at the end of the header block
                goAways.add(PROTOCOL_ERROR);
            }
        }
    }

    private void continuation(Frame frame) {
        if (blockOf == 0) {
            connectionError(PROTOCOL_ERROR);
        } else if ((frame.flags() & Http2Script.END_HEADERS) != 0) {
            endOfBlock();
        }
    }

    private void endOfBlock() {
        int id = blockOf;
        blockOf = 0;
        Stream on = streams.get(id);
        if (block == Block.BROKEN) {
            connectionError(COMPRESSION_ERROR);
            if (id % 2 == 0 || (on == null && id < newest)) {
                goAways.add(PROTOCOL_ERROR);
            }
        } else if (id % 2 == 0) {
            connectionError(PROTOCOL_ERROR);
        } else if (on == null && id < newest) {
            connectionError(PROTOCOL_ERROR);
            if (block == Block.MALFORMED) {
                resets.add(PROTOCOL_ERROR);
            }
        } else if (on == null) {
            newest = id;
            Stream opened = new Stream();
            opened.window = initialWindow;
            opened.peerEnded = blockEnds;
            streams.put(id, opened);
            if (block != Block.REQUEST) {
                opened.faulty = true;
                streamError(PROTOCOL_ERROR);
            }
        } else if (on.isOver()) {
            late(on);
            if (block == Block.MALFORMED) {
                resets.add(PROTOCOL_ERROR);
            }
        } else if (on.peerEnded) {
            on.faulty = true;
            streamError(STREAM_CLOSED);
        } else if (block == Block.MALFORMED || !blockEnds) {
            on.faulty = true;
            streamError(PROTOCOL_ERROR);
        } else {
            on.peerEnded = true;
            if (block == Block.REQUEST) { // the trailers contain pseudo-headers, which is not allowed
                on.faulty = true;
                resets.add(PROTOCOL_ERROR);
            }
        }
    }

    private void priority(Frame frame) {
        if (frame.stream() == 0) {
            connectionError(PROTOCOL_ERROR, FRAME_SIZE_ERROR);
        } else if (frame.payload().length != 5) {
            Stream on = streams.get(frame.stream());
            streamError(FRAME_SIZE_ERROR);
            goAways.add(FRAME_SIZE_ERROR);
            mustFail = on == null || !on.isOver();
            if (on != null) {
                on.faulty = true;
            }
        }
    }

    private void reset(Frame frame) {
        Stream on = streams.get(frame.stream());
        if (frame.payload().length != 4) {
            connectionError(FRAME_SIZE_ERROR, PROTOCOL_ERROR);
        } else if (frame.stream() == 0 || frame.stream() > newest) {
            connectionError(PROTOCOL_ERROR);
        } else if (on == null) {
            goAways.add(PROTOCOL_ERROR); // the stream was never opened: its id is even or was skipped
        } else if (!on.isOver()) {
            on.peerReset = true;
        }
    }

    private void settings(Frame frame) {
        byte[] payload = frame.payload();
        if (frame.stream() != 0) {
            connectionError(PROTOCOL_ERROR, FRAME_SIZE_ERROR);
            return;
        }
        boolean ack = (frame.flags() & Http2Script.ACK) != 0;
        if ((ack && payload.length > 0) || payload.length % 6 != 0) {
            connectionError(FRAME_SIZE_ERROR);
            return;
        }
        ByteBuffer pairs = ByteBuffer.wrap(payload);
        while (pairs.hasRemaining()) {
            int id = pairs.getShort();
            long value = pairs.getInt() & 0xffff_ffffL;
            if ((id == 2 && value > 1) || (id == 5 && (value < MAX_FRAME || value > 0xff_ffff))) {
                connectionError(PROTOCOL_ERROR);
            } else if (id == Http2Script.INITIAL_WINDOW_SIZE) {
                initialWindow(value);
            }
        }
        settingsToAcknowledge += ack ? 0 : 1;
    }

    private void initialWindow(long value) {
        if (value > MAX_WINDOW) {
            connectionError(FLOW_CONTROL_ERROR, PROTOCOL_ERROR);
            return;
        }
        long change = value - initialWindow;
        initialWindow = value;
        for (Stream each : streams.values()) {
            each.window += change;
            if (each.window > MAX_WINDOW) {
                goAways.add(FLOW_CONTROL_ERROR);
                mustFail |= !each.ended && !each.isOver();
            }
        }
    }

    private void ping(Frame frame) {
        if (frame.stream() != 0) {
            connectionError(PROTOCOL_ERROR, FRAME_SIZE_ERROR);
        } else if (frame.payload().length != 8) {
            connectionError(FRAME_SIZE_ERROR);
        } else if ((frame.flags() & Http2Script.ACK) == 0) {
            pings.add(frame.payload());
            if (++pingsSent > FEW) {
                goAways.add(ENHANCE_YOUR_CALM);
            }
        }
    }

    private void goAway(Frame frame) {
        if (frame.stream() != 0) {
            connectionError(PROTOCOL_ERROR, FRAME_SIZE_ERROR);
        } else if (frame.payload().length < 8) {
            connectionError(FRAME_SIZE_ERROR);
        } else {
            int last = ByteBuffer.wrap(frame.payload()).getInt() & Integer.MAX_VALUE;
            if (last > lastGoAway) {
                goAways.add(PROTOCOL_ERROR);
            }
            lastGoAway = last;
        }
    }

    private void windowUpdate(Frame frame) {
        Stream on = streams.get(frame.stream());
        if (frame.payload().length != 4) {
            connectionError(FRAME_SIZE_ERROR);
            return;
        }
        int increment = ByteBuffer.wrap(frame.payload()).getInt() & Integer.MAX_VALUE;
        if (frame.stream() > newest) {
            connectionError(PROTOCOL_ERROR);
        } else if (frame.stream() == 0) {
            window += increment;
            if (increment == 0) {
                connectionError(PROTOCOL_ERROR);
            } else if (window > MAX_WINDOW) {
                connectionError(FLOW_CONTROL_ERROR);
            }
        } else if (on == null) {
            goAways.add(PROTOCOL_ERROR); // the stream id is even or was skipped
            resets.add(PROTOCOL_ERROR);
        } else {
            on.window += increment;
            if (increment == 0 || on.window > MAX_WINDOW) {
                resets.add(increment == 0 ? PROTOCOL_ERROR : FLOW_CONTROL_ERROR);
                mustFail = !on.ended && !on.isOver();
                on.faulty = true;
            }
        }
    }

    /** Checks a frame that the server has sent, and updates the model. */
    void came(Frame frame) {
        check(goAway == null, "nothing comes after GOAWAY", frame);
        check(frame.payload().length <= MAX_FRAME, "no frame is too large", frame);
        check(
                answerOf == 0 || (frame.type() == Http2Script.CONTINUATION && frame.stream() == answerOf),
                "a block of headers is not interrupted",
                frame);
        Stream on = streams.get(frame.stream());
        switch (frame.type()) {
            case Http2Script.DATA -> {
                Stream open = open(on, frame);
                check(open.begun, "headers come first", frame);
                int length = frame.payload().length;
                open.window -= length;
                window -= length;
                check(length == 0 || (open.window >= 0 && window >= 0), "data keeps to the windows", frame);
                open.ended = (frame.flags() & Http2Script.END_STREAM) != 0;
            }
            case Http2Script.HEADERS -> {
                open(on, frame);
                answer.reset();
                answerOf = frame.stream();
                answerEnds = (frame.flags() & Http2Script.END_STREAM) != 0;
                check((frame.flags() & (PADDED | HAS_PRIORITY)) == 0, "headers are plain", frame);
                answered(frame);
            }
            case Http2Script.CONTINUATION -> {
                check(answerOf != 0, "CONTINUATION follows headers", frame);
                answered(frame);
            }
            case Http2Script.RST_STREAM -> resetCame(on, frame);
            case Http2Script.SETTINGS -> {
                check(frame.stream() == 0 && frame.payload().length % 6 == 0, "SETTINGS are well-formed", frame);
                if ((frame.flags() & Http2Script.ACK) != 0) {
                    check(frame.payload().length == 0, "an acknowledgement is empty", frame);
                    check(--settingsToAcknowledge >= 0, "only our SETTINGS are acknowledged", frame);
                }
            }
            case Http2Script.PING -> {
                check(frame.stream() == 0 && (frame.flags() & Http2Script.ACK) != 0, "PING is an answer", frame);
                check(Arrays.equals(pings.poll(), frame.payload()), "PING has the bytes of ours", frame);
            }
            case Http2Script.GOAWAY -> {
                check(frame.stream() == 0 && frame.payload().length >= 8, "GOAWAY is well-formed", frame);
                ByteBuffer payload = ByteBuffer.wrap(frame.payload());
                int last = payload.getInt();
                goAway = payload.getInt();
                check(goAways.contains(goAway), "GOAWAY has a code of " + goAways, frame);
                check(last >= 0 && (last <= newest || last == Integer.MAX_VALUE), "GOAWAY names a stream", frame);
                failed = true;
            }
            case Http2Script.WINDOW_UPDATE -> {
                check(frame.payload().length == 4, "WINDOW_UPDATE is well-formed", frame);
                check(ByteBuffer.wrap(frame.payload()).getInt() > 0, "the increment is positive", frame);
                check(frame.stream() == 0 || on != null, "the stream is known", frame);
            }
            default -> check(false, "the type is known", frame);
        }
    }

    private void answered(Frame frame) {
        answer.writeBytes(frame.payload());
        if ((frame.flags() & Http2Script.END_HEADERS) == 0) {
            return;
        }
        Stream on = open(streams.get(answerOf), frame);
        ByteBuf bytes = Unpooled.wrappedBuffer(answer.toByteArray());
        try {
            Http2Headers headers = hpack.decodeHeaders(answerOf, bytes);
            check(on.begun == (headers.status() == null), "the first headers alone have a status", frame);
            check(!on.begun || answerEnds, "trailers end the stream", frame);
        } catch (Http2Exception e) {
            throw new AssertionError("headers can be read: " + frame, e);
        } finally {
            bytes.release();
        }
        on.begun = true;
        on.ended = answerEnds;
        answerOf = 0;
    }

    private static Stream open(@Nullable Stream on, Frame frame) {
        if (on == null || on.ended || on.reset || on.peerReset) {
            throw new AssertionError("the server did what it must not: a stream that is not open was used: " + frame);
        }
        return on;
    }

    private void resetCame(@Nullable Stream on, Frame frame) {
        check(frame.payload().length == 4, "RST_STREAM is well-formed", frame);
        int code = ByteBuffer.wrap(frame.payload()).getInt();
        if (frame.stream() == stream && resets.contains(code)) {
            check(!failed, "there is one RST_STREAM for a frame", frame);
            check(stream <= newest, "no idle stream is reset", frame);
            failed = true;
        } else {
            check(
                    on != null && code == NO_ERROR && on.ended && !on.peerEnded && !on.isOver(),
                    "RST_STREAM has a code of " + resets + ", or ends an unread request",
                    frame);
        }
        if (on != null && !(on.ended && on.peerEnded)) {
            on.reset = true;
        }
    }

    private static void check(boolean holds, String what, Frame frame) {
        if (!holds) {
            throw new AssertionError("the server did what it must not; expected: " + what + "; came: " + frame);
        }
    }

    /** Checks that every required response to the last frame has arrived. */
    void settled(boolean open) {
        if (mustFail && !failed) {
            throw new AssertionError("an error was due: RST_STREAM " + resets + " or GOAWAY " + goAways);
        }
        if (open == isOver()) {
            throw new AssertionError("the connection is " + (open ? "open" : "closed") + ", GOAWAY " + goAway);
        }
        if (open && settingsToAcknowledge > 0) {
            throw new AssertionError("SETTINGS were not acknowledged");
        }
        if (open && !pings.isEmpty()) {
            throw new AssertionError("PING was not answered");
        }
        if (answerOf != 0) {
            throw new AssertionError("headers without their end");
        }
    }

    /**
     * Returns a frame that enlarges a flow-control window; null if all windows are large enough for the answers of the
     * tests.
     */
    @Nullable
    Frame nextCredit() {
        if (window < 1_000) {
            return credit(0);
        }
        for (Map.Entry<Integer, Stream> each : streams.entrySet()) {
            Stream on = each.getValue();
            if (!on.ended && !on.isOver() && on.window < 1_000) {
                return credit(each.getKey());
            }
        }
        return null;
    }

    private static Frame credit(int id) {
        return new Frame(Http2Script.WINDOW_UPDATE, 0, id, Http2Script.fourBytes(100_000));
    }

    /**
     * Checks that the server has ended each complete request exactly once. The connection must be open, and its
     * flow-control windows must have room for all answers.
     */
    void finished() {
        streams.forEach((id, on) -> {
            if (on.peerEnded && !on.faulty && !on.peerReset && on.ended == on.reset) {
                throw new AssertionError("stream " + id + " was ended by the client and has "
                        + (on.ended ? "two ends" : "no end") + " of the server");
            }
        });
    }

    /** Returns the number of streams that the server ended without a reset. */
    long answers() {
        return streams.values().stream().filter(on -> on.ended).count();
    }

    @Nullable
    Integer goAwayCode() {
        return goAway;
    }
}
