package tern.rpc.netty.triple;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.example.wire.PbServer;
import com.example.wire.PbService;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.netty.EmbeddedServer;
import tern.rpc.netty.triple.Http2Model.Block;
import tern.rpc.netty.triple.Http2Script.Frame;
import tern.rpc.server.ServiceExport;

/**
 * Sends random sequences of valid and invalid frames to a server. {@link Http2Model} checks every response from the
 * server. {@code -Dtern.http2.seeds=100000} sets the number of sequences, and {@code -Dtern.http2.seed=N} runs only one
 * of them.
 */
@Timeout(3_600)
class Http2ModelTest {

    private static final byte[] PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(ISO_8859_1);
    private static final String[] REQUEST = {
        ":method",
        "POST",
        ":scheme",
        "http",
        ":path",
        "/" + PbService.class.getName() + "/hello",
        ":authority",
        "localhost",
        "content-type",
        "application/grpc",
        "te",
        "trailers"
    };
    private static final int EVERY_BUILD = 400;
    private static final int MAX_FRAMES = 30;

    private final TripleSides sides = new TripleSides();
    private final EmbeddedServer server = new EmbeddedServer(
            sides.protocols(), exports -> exports.export(ServiceExport.of(PbService.class, new PbServer())));

    @AfterEach
    void close() throws Exception {
        server.close();
        sides.close();
    }

    @Test
    void everyFrameHasAnOutcomeThatTheStandardAllows() {
        Long one = Long.getLong("tern.http2.seed");
        if (one != null) {
            new Sequence(one, UnaryOperator.identity()).run();
            return;
        }
        long answers = 0;
        Set<Integer> codes = new HashSet<>();
        int seeds = Integer.getInteger("tern.http2.seeds", EVERY_BUILD);
        for (long seed = 0; seed < seeds; seed++) {
            Sequence sequence = new Sequence(seed, UnaryOperator.identity());
            sequence.run();
            answers += sequence.model.answers();
            Integer code = sequence.model.goAwayCode();
            if (code != null) {
                codes.add(code);
            }
        }

        assertThat(server.replies()).as("calls that succeeded").isGreaterThan(seeds / 10);
        assertThat(answers).as("streams that were answered").isGreaterThan(seeds / 2);
        assertThat(codes)
                .contains(Http2Model.PROTOCOL_ERROR, Http2Model.FRAME_SIZE_ERROR, Http2Model.COMPRESSION_ERROR);
    }

    /** Checks that the model detects a stream ended twice by the server, a lost answer, and a wrong error code. */
    @Test
    void modelDetectsViolationsOfAServer() {
        assertSeen("not open", frames -> {
            List<Frame> more = new ArrayList<>();
            for (Frame frame : frames) {
                more.add(frame);
                if (frame.isEnd()) {
                    more.add(frame);
                }
            }
            return more;
        });
        assertSeen(
                "no end",
                frames -> frames.stream().filter(frame -> !frame.isEnd()).toList());
        assertSeen(
                "error was due",
                frames -> frames.stream()
                        .filter(frame -> frame.type() != Http2Script.RST_STREAM)
                        .toList());
        assertSeen(
                "GOAWAY has a code",
                frames -> frames.stream()
                        .map(frame -> frame.type() == Http2Script.GOAWAY
                                ? new Frame(Http2Script.GOAWAY, 0, 0, new byte[] {0, 0, 0, 0, 0, 0, 0, 2})
                                : frame)
                        .toList());
        assertSeen(
                "not acknowledged",
                frames -> frames.stream()
                        .filter(frame -> frame.type() != Http2Script.SETTINGS)
                        .toList());
    }

    /**
     * The server resets each stream with malformed headers. The server must count these resets towards the limit
     * against rapid-reset attacks.
     */
    @Test
    void floodOfMalformedHeadersEndsTheConnection() {
        byte[] malformed = HttpFuzzTest.joined(Http2Script.block(REQUEST), Http2Script.block("X-Upper", "1"));
        try (EmbeddedServer.Peer peer = server.connect()) {
            peer.send(PREFACE, 0, PREFACE.length);
            List<Frame> came = new ArrayList<>();
            send(peer, new Frame(Http2Script.SETTINGS, 0, 0, new byte[0]), came);
            for (int stream = 1; stream < 2_000 && peer.isOpen(); stream += 2) {
                send(peer, new Frame(Http2Script.HEADERS, Http2Script.END_HEADERS, stream, malformed), came);
            }

            assertThat(peer.isOpen()).isFalse();
            Frame last = came.get(came.size() - 1);
            assertThat(last.type()).isEqualTo(Http2Script.GOAWAY);
            assertThat(last.payload()[7]).isEqualTo((byte) Http2Model.ENHANCE_YOUR_CALM);
        }
    }

    private static void send(EmbeddedServer.Peer peer, Frame frame, List<Frame> came) {
        byte[] bytes = frame.bytes();
        peer.send(bytes, 0, bytes.length);
        peer.run();
        came.addAll(Http2Script.frames(peer.received()));
    }

    private void assertSeen(String what, UnaryOperator<List<Frame>> wrong) {
        assertThatThrownBy(() -> {
                    for (long seed = 0; seed < 200; seed++) {
                        Sequence sequence = new Sequence(seed, wrong);
                        sequence.run();
                    }
                })
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("tern.http2.seed")
                .hasStackTraceContaining(what);
    }

    /** One connection with a random sequence of frames. */
    private final class Sequence {
        private final long seed;
        private final UnaryOperator<List<Frame>> wire;
        private final Random random;
        private final Http2Model model = new Http2Model();
        private final List<Frame> frames = new ArrayList<>();
        private byte[] rest = {}; // the part of a header block that is still to be sent in CONTINUATION frames
        private int remembered; // the number of fields that the test has added to the server's dynamic table

        // true if violations in the sequence can end only their stream and not the connection
        private final boolean calm;

        /** @param wire modifies the server's frames before the model checks them */
        Sequence(long seed, UnaryOperator<List<Frame>> wire) {
            this.seed = seed;
            this.wire = wire;
            this.random = new Random(seed * 0x9E3779B97F4A7C15L);
            this.calm = random.nextInt(3) > 0;
        }

        void run() {
            try {
                converse();
            } catch (AssertionError | RuntimeException e) {
                StringBuilder shown = new StringBuilder("repeat it by -Dtern.http2.seed=" + seed + "; its frames:");
                frames.forEach(frame -> shown.append("\n  ").append(frame));
                throw new AssertionError(shown + "\n" + e.getMessage(), e);
            }
        }

        private void converse() {
            try (EmbeddedServer.Peer peer = server.connect()) {
                peer.send(PREFACE, 0, PREFACE.length);
                send(peer, new Frame(Http2Script.SETTINGS, 0, 0, new byte[0]), null);
                int count = 1 + random.nextInt(MAX_FRAMES);
                for (int i = 0; i < count && !model.isOver(); i++) {
                    next(peer);
                }
                while (!model.isOver() && model.isInBlock()) {
                    continuation(peer, Http2Script.END_HEADERS);
                }
                for (Frame credit = model.nextCredit(); credit != null && !model.isOver(); ) {
                    send(peer, credit, null);
                    credit = model.nextCredit();
                }
                if (!model.isOver()) {
                    model.finished();
                }
            }
        }

        private void send(EmbeddedServer.Peer peer, Frame frame, @Nullable Block block) {
            frames.add(frame);
            model.sent(frame, block);
            byte[] bytes = frame.bytes();
            int cut = random.nextInt(bytes.length + 1);
            peer.send(bytes, 0, cut);
            peer.send(bytes, cut, bytes.length);
            peer.run();
            wire.apply(Http2Script.frames(peer.received())).forEach(model::came);
            model.settled(peer.isOpen());
        }

        private boolean oneIn(int n) {
            return random.nextInt(n) == 0;
        }

        /** Returns the id of a stream in any state, in most cases the id of an existing stream. */
        private int anyStream() {
            if (calm || !oneIn(12)) {
                return Math.max(1, model.newest() - 2 * random.nextInt(4));
            }
            return switch (random.nextInt(4)) {
                case 0 -> 0;
                case 1 -> 2 + 2 * random.nextInt(4);
                case 2 -> 1 + 2 * random.nextInt(12);
                default -> model.newest() + 2;
            };
        }

        private void next(EmbeddedServer.Peer peer) {
            if (model.isInBlock() && (calm || !oneIn(6))) {
                continuation(peer, oneIn(3) ? 0 : Http2Script.END_HEADERS);
                return;
            }
            boolean known = model.newest() > 0;
            switch (known ? random.nextInt(calm ? 20 : 24) : random.nextInt(2)) {
                case 0, 1, 2, 3, 4 -> headers(peer, model.newest() + (known ? 2 + 2 * random.nextInt(2) : 1));
                case 5 -> headers(peer, anyStream());
                case 6, 7, 8, 9, 10 -> data(peer, anyStream());
                case 11 -> send(peer, new Frame(Http2Script.RST_STREAM, 0, anyStream(), length(4)), null);
                case 12 -> priority(peer);
                case 13, 14 -> windowUpdate(peer);
                case 15, 16 -> settings(peer);
                case 17 ->
                    send(
                            peer,
                            new Frame(
                                    Http2Script.PING, oneIn(3) ? 1 : 0, calm || !oneIn(8) ? 0 : anyStream(), length(8)),
                            null);
                case 18 ->
                    send(peer, new Frame(0x20 + random.nextInt(99), random.nextInt(128), anyStream(), length(3)), null);
                case 19 -> goAway(peer);
                case 20 ->
                    send(
                            peer,
                            new Frame(
                                    random.nextInt(10), random.nextInt(64), anyStream(), new byte[MAX_FRAME_BYTES + 1]),
                            Block.BROKEN);
                case 21 ->
                    send(
                            peer,
                            new Frame(
                                    oneIn(2) ? Http2Script.CONTINUATION : Http2Model.PUSH_PROMISE,
                                    4,
                                    anyStream(),
                                    length(8)),
                            null);
                default -> data(peer, anyStream());
            }
        }

        private static final int MAX_FRAME_BYTES = 16 << 10;

        /**
         * Returns random bytes. Usually returns as many bytes as the given length, and sometimes more or fewer.
         *
         * @param right the valid length
         */
        private byte[] length(int right) {
            byte[] bytes = new byte[calm || !oneIn(8) ? right : random.nextInt(2 * right)];
            random.nextBytes(bytes);
            return bytes;
        }

        private void headers(EmbeddedServer.Peer peer, int stream) {
            Block kind = Block.REQUEST;
            byte[] bytes = Http2Script.block(REQUEST);
            if (stream == model.newest() || oneIn(10)) {
                kind = stream <= model.newest() ? Block.TRAILERS : Block.MALFORMED;
                bytes = Http2Script.block("x-last", "1");
            }
            if (oneIn(10)) {
                kind = Block.MALFORMED;
                bytes = HttpFuzzTest.joined(bytes, Http2Script.block(oneIn(2) ? "X-Upper" : ":status", "1"));
            } else if (oneIn(3)) {
                bytes = HttpFuzzTest.joined(bytes, new byte[] {0x40, 1, 'a', 1, 'b'});
                remembered++;
            } else if (remembered > 0 && oneIn(3)) {
                bytes = HttpFuzzTest.joined(bytes, new byte[] {(byte) (0x80 | 62 + random.nextInt(remembered))});
            } else if (!calm && oneIn(10)) {
                kind = Block.BROKEN;
                byte[][] broken = {
                    {(byte) 0x80}, {(byte) (0x80 | 62 + remembered)}, {0, 5, 'a'}, {-1, -1, -1, -1, -1, -1}
                };
                bytes = HttpFuzzTest.joined(bytes, broken[random.nextInt(broken.length)]);
            }
            int flags = oneIn(3) ? Http2Script.END_STREAM : 0;
            rest = new byte[0];
            if (oneIn(4)) {
                int cut = random.nextInt(bytes.length + 1);
                rest = Arrays.copyOfRange(bytes, cut, bytes.length);
                bytes = Arrays.copyOf(bytes, cut);
            } else {
                flags |= Http2Script.END_HEADERS;
            }
            if (oneIn(6)) {
                flags |= Http2Model.HAS_PRIORITY;
                bytes = HttpFuzzTest.joined(new byte[] {0, 0, 0, 0, 1}, bytes);
            }
            if (oneIn(6)) {
                flags |= Http2Model.PADDED;
                bytes = padded(bytes);
            }
            send(peer, new Frame(Http2Script.HEADERS, flags, stream, bytes), kind);
        }

        private byte[] padded(byte[] bytes) {
            int padding = random.nextInt(9);
            byte[] padded =
                    Arrays.copyOf(HttpFuzzTest.joined(new byte[] {(byte) padding}, bytes), 1 + bytes.length + padding);
            if (!calm && oneIn(6)) {
                padded[0] = (byte) (padded.length + random.nextInt(3));
            }
            return padded;
        }

        private void continuation(EmbeddedServer.Peer peer, int flags) {
            int cut = flags == 0 ? random.nextInt(rest.length + 1) : rest.length;
            byte[] bytes = Arrays.copyOf(rest, cut);
            rest = Arrays.copyOfRange(rest, cut, rest.length);
            send(peer, new Frame(Http2Script.CONTINUATION, flags, model.blockOf(), bytes), null);
        }

        private void data(EmbeddedServer.Peer peer, int stream) {
            byte[] bytes = HttpFuzzTest.framed(0, HttpFuzzTest.TEXT_MESSAGE);
            switch (random.nextInt(8)) {
                case 0 -> bytes = Arrays.copyOf(bytes, random.nextInt(bytes.length));
                case 1 -> bytes[0] = (byte) random.nextInt(4);
                case 2 ->
                    bytes = ByteBuffer.allocate(5)
                            .put((byte) 0)
                            .putInt(-1 >>> random.nextInt(16))
                            .array();
                default -> {
                    // In five of eight cases, the message is left unchanged, so it stays valid.
                }
            }
            int flags = oneIn(3) ? 0 : Http2Script.END_STREAM;
            if (oneIn(4)) {
                flags |= Http2Model.PADDED;
                bytes = padded(bytes);
            }
            send(peer, new Frame(Http2Script.DATA, flags, stream, bytes), null);
        }

        private void priority(EmbeddedServer.Peer peer) {
            byte[] bytes = length(5);
            // these bytes declare that the stream does not depend on another stream
            Arrays.fill(bytes, 0, Math.min(4, bytes.length), (byte) 0);
            send(peer, new Frame(Http2Model.PRIORITY, 0, anyStream(), bytes), null);
        }

        private void windowUpdate(EmbeddedServer.Peer peer) {
            int stream = oneIn(calm ? 100 : 3) ? 0 : anyStream();
            int[] increments = {
                1, 100, 100_000, stream == 0 && calm ? 1 : 0, stream == 0 && calm ? 1 : Integer.MAX_VALUE
            };
            byte[] increment = Http2Script.fourBytes(increments[random.nextInt(increments.length)]);
            send(
                    peer,
                    new Frame(Http2Script.WINDOW_UPDATE, 0, stream, Arrays.copyOf(increment, length(4).length)),
                    null);
        }

        private void settings(EmbeddedServer.Peer peer) {
            if (oneIn(4)) {
                send(peer, new Frame(Http2Script.SETTINGS, Http2Script.ACK, 0, calm ? new byte[0] : length(1)), null);
                return;
            }
            int[][] good = {{4, 0}, {4, 1}, {4, 65_535}, {2, 0}, {5, 1 << 20}, {3, 0}, {0x77, 5}, {}};
            int[][] bad = {{4, Integer.MIN_VALUE}, {4, Integer.MAX_VALUE}, {2, 2}, {5, 16_383}, {5, 1 << 24}};
            byte[] bytes = Http2Script.settings(
                    calm || !oneIn(4) ? good[random.nextInt(good.length)] : bad[random.nextInt(bad.length)]);
            if (!calm && oneIn(10)) {
                bytes = Arrays.copyOf(bytes, bytes.length + 1 + random.nextInt(5));
            }
            send(peer, new Frame(Http2Script.SETTINGS, 0, calm || !oneIn(10) ? 0 : anyStream(), bytes), null);
        }

        private void goAway(EmbeddedServer.Peer peer) {
            byte[] bytes = length(8);
            if (bytes.length >= 4) {
                bytes[0] = 0;
                bytes[1] = 0;
                bytes[2] = 0;
                bytes[3] = (byte) (calm ? 0 : random.nextInt(3));
            }
            send(peer, new Frame(Http2Script.GOAWAY, 0, calm || !oneIn(8) ? 0 : anyStream(), bytes), null);
        }
    }
}
