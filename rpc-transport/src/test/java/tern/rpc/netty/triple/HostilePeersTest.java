package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.netty.peer.Await;
import tern.rpc.serialization.OutputBuffer;
import tern.rpc.serialization.ProtoWriter;
import tern.rpc.serialization.hessian.Bombs;
import tern.rpc.server.RpcServer;

/**
 * Verifies promises R2, R6 and R7 in docs/figures/promises.md over sockets: attackers that use HTTP/2 are disconnected,
 * decompression bombs are refused, and well-behaved clients that cancel calls are served.
 */
@Timeout(1_200)
class HostilePeersTest {

    private static final String GREET = "/com.example.wire.GreetService/";
    private static final long ENHANCE_YOUR_CALM = 0xB;

    /**
     * The maximum number of frames that an attacker may send before the server must disconnect it. Every limit of the
     * server is lower.
     */
    private static final int MAX_FRAMES = 3_000;

    /** The maximum number of concurrent calls of the well-behaved client: half of the server's limit. */
    private static final int MAX_OPEN = 512;

    /**
     * Sends one frame of an attack. When the attack begins, the connection is open and a request on stream 1 is waiting
     * for its body.
     */
    private interface Attack {
        void frame(Http2Wire wire, int number);
    }

    /** The number of bytes in one write. Large writes make the attack cheap for the attacker. */
    private static final int PIECE_BYTES = 16 << 10;

    /** The bytes of each attack, by name. */
    private static final Map<String, byte[]> ATTACKS = attacks();

    private static final int CALLS_OF_A_MINUTE = 120_000;

    private final TripleSides sides = new TripleSides();
    private RpcServer server;
    private Http2Wire wellBehaved;
    private int stream = 1;

    @BeforeEach
    void start() {
        server = sides.serve(limits -> limits, settings -> {});
        wellBehaved = Http2Wire.open(server.port());
        assertStillServed();
    }

    @AfterEach
    void close() throws Exception {
        assertStillServed();
        wellBehaved.close();
        Await.until("every connection is gone", () -> server.connections() == 0);
        sides.close();
    }

    private void assertStillServed() {
        call(wellBehaved, stream, "echo", hello("hello"));
        assertThat(wellBehaved.answer(stream).header("grpc-status")).isEqualTo("0");
        stream += 2;
    }

    private static void call(Http2Wire wire, int stream, String method, byte[] wrapper) {
        wire.request(stream, GREET + method, false);
        // The loop splits the message into frames of a permitted size.
        for (int done = 0; done < wrapper.length + 5; ) {
            byte[] framed = Http2Script.framed(0, wrapper);
            int length = Math.min(16 << 10, framed.length - done);
            boolean last = done + length == framed.length;
            wire.frame(Http2Wire.DATA, last ? 1 : 0, stream, Arrays.copyOfRange(framed, done, done + length));
            done += length;
        }
    }

    private static byte[] hello(String text) {
        byte[] ascii = text.getBytes(StandardCharsets.US_ASCII);
        return wrapper(
                ByteBuffer.allocate(1 + ascii.length)
                        .put((byte) ascii.length)
                        .put(ascii)
                        .array(),
                "java.lang.String");
    }

    private static byte[] wrapper(byte[] value, String type) {
        OutputBuffer out = new OutputBuffer();
        ProtoWriter.text(out, 1, "hessian4");
        ProtoWriter.bytes(out, 2, value);
        ProtoWriter.text(out, 3, type);
        return out.toByteArray();
    }

    private static Map<String, byte[]> attacks() {
        Map<String, Attack> attacks = new LinkedHashMap<>();
        attacks.put("rapid reset", (wire, number) -> {
            wire.request(3 + 2 * number, GREET + "echo", false);
            wire.frame(Http2Wire.RST_STREAM, 0, 3 + 2 * number, Http2Script.fourBytes(8));
        });
        attacks.put("a server provoked to reset", (wire, number) -> {
            wire.request(3 + 2 * number, GREET + "echo", false);
            wire.frame(Http2Script.WINDOW_UPDATE, 0, 3 + 2 * number, Http2Script.fourBytes(0));
        });
        attacks.put("streams beyond the limit", (wire, number) -> {
            if (number == 0) {
                wire.frame(Http2Wire.SETTINGS, Http2Wire.ACK, 0);
            }
            wire.request(3 + 2 * number, GREET + "echo", false);
        });
        attacks.put("SETTINGS", (wire, number) -> wire.frame(Http2Wire.SETTINGS, 0, 0));
        attacks.put("acknowledged SETTINGS", (wire, number) -> wire.frame(Http2Wire.SETTINGS, 1, 0));
        attacks.put("PING", (wire, number) -> wire.frame(Http2Wire.PING, 0, 0, new byte[8]));
        attacks.put("acknowledged PING", (wire, number) -> wire.frame(Http2Wire.PING, 1, 0, new byte[8]));
        attacks.put("PRIORITY", (wire, number) -> wire.frame(2, 0, 101, new byte[] {0, 0, 0, 0, 1}));
        attacks.put(
                "WINDOW_UPDATE",
                (wire, number) -> wire.frame(Http2Script.WINDOW_UPDATE, 0, 0, Http2Script.fourBytes(1)));
        attacks.put("frames of no known type", (wire, number) -> wire.frame(0x77, 0, 0, new byte[8]));
        attacks.put("empty DATA", (wire, number) -> wire.frame(Http2Wire.DATA, 0, 1));
        attacks.put("CONTINUATION", (wire, number) -> {
            if (number == 0) {
                wire.frame(Http2Wire.HEADERS, 0, 3, Http2Wire.block(GREET + "echo"));
            } else {
                wire.frame(Http2Wire.CONTINUATION, 0, 3, Http2Script.block("a" + number, "b"));
            }
        });
        attacks.put(
                "empty CONTINUATION",
                (wire, number) -> wire.frame(number == 0 ? Http2Wire.HEADERS : Http2Wire.CONTINUATION, 0, 3));
        Map<String, byte[]> bytes = new LinkedHashMap<>();
        attacks.forEach((name, attack) -> bytes.put(name, Http2Wire.bytesOf(wire -> {
            wire.request(1, GREET + "echo", false);
            for (int number = 0; number < MAX_FRAMES; number++) {
                attack.frame(wire, number);
            }
        })));
        return bytes;
    }

    static Stream<String> attackNames() {
        return ATTACKS.keySet().stream();
    }

    /** @return the error code of the GOAWAY frame that ended the connection; null if there was no GOAWAY */
    private Long attack(byte[] bytes) {
        try (Http2Wire wire = Http2Wire.connect(server.port())) {
            try {
                for (int sent = 0; sent < bytes.length; sent += PIECE_BYTES) {
                    wire.send(bytes, sent, Math.min(PIECE_BYTES, bytes.length - sent));
                }
            } catch (UncheckedIOException closed) {
                // the server has closed the connection, but the frames that it sent earlier can still be read
            }
            return wire.endOfConnection();
        }
    }

    /**
     * Sends the bytes without decoding the server's frames, because decoding them would take more time than the
     * server's work.
     */
    private void flood(byte[] bytes) {
        byte[] answer = new byte[PIECE_BYTES];
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
            socket.setSoTimeout(30_000);
            OutputStream out = socket.getOutputStream();
            for (int sent = 0; sent < bytes.length; sent += PIECE_BYTES) {
                out.write(bytes, sent, Math.min(PIECE_BYTES, bytes.length - sent));
            }
            while (socket.getInputStream().read(answer) >= 0) {
                // The loop reads until the server closes the connection.
            }
        } catch (IOException over) {
            // either the server closed the connection with unread bytes, or the server sent nothing until the timeout;
            // the caller distinguishes the two cases by the measured time
        }
    }

    @ParameterizedTest
    @MethodSource("attackNames")
    void floodsEndTheConnection(String name) {
        Long code = attack(ATTACKS.get(name));

        assertThat(code == null || code == ENHANCE_YOUR_CALM || code != 0)
                .as(name + " ended with " + code)
                .isTrue();
    }

    /**
     * Sends a header block that adds a 4 KB field to the dynamic table and then refers to it repeatedly, using one byte
     * each time.
     */
    @Test
    void aTableOfHeadersIsNoBomb() {
        ByteArrayOutputStream block = new ByteArrayOutputStream();
        block.writeBytes(Http2Wire.block(GREET + "echo"));
        block.writeBytes(new byte[] {0x40, 1, 'a', 0x7f});
        int length = 3_900 - 127;
        for (; length > 127; length >>>= 7) {
            block.write((length & 127) | 128);
        }
        block.write(length);
        block.writeBytes(new byte[3_900]);
        byte[] references = new byte[10_000];
        Arrays.fill(references, (byte) 0xbe);
        block.writeBytes(references);

        try (Http2Wire wire = Http2Wire.open(server.port())) {
            wire.frame(Http2Wire.HEADERS, Http2Wire.END_HEADERS | Http2Wire.END_STREAM, 1, block.toByteArray());
            wire.frame(Http2Wire.PING, 0, 0, new byte[8]);

            assertThat(isRefused(wire)).isTrue();
        }
    }

    private static boolean isRefused(Http2Wire wire) {
        try {
            Http2Wire.Answer answer = wire.answer(1);
            return answer.reset != null || !answer.header("grpc-status").equals("0");
        } catch (AssertionError connectionEnded) {
            return true;
        }
    }

    /** Enlarges the flow-control windows to 1 GiB, because this client does not send window updates later. */
    private static void openWindows(Http2Wire wire) {
        wire.frame(Http2Wire.SETTINGS, 0, 0, Http2Script.settings(Http2Script.INITIAL_WINDOW_SIZE, 1 << 30));
        wire.frame(Http2Script.WINDOW_UPDATE, 0, 0, Http2Script.fourBytes(1 << 30));
    }

    @ParameterizedTest
    @ValueSource(ints = {841, 1 << 16})
    void bombsAreRefusedOrAnswered(int size) {
        try (Http2Wire wire = Http2Wire.open(server.port())) {
            openWindows(wire);
            int next = 1;
            for (Map.Entry<String, byte[]> bomb : Bombs.all(size).entrySet()) {
                call(wire, next, "types", wrapper(bomb.getValue(), "java.lang.Object"));

                assertThat(wire.answer(next).header("grpc-status"))
                        .as(bomb.getKey())
                        .isNotEmpty();
                next += 2;
            }
        }
    }

    /**
     * Verifies promise R6 in docs/figures/promises.md. Measures the time until the server disconnects an attacker.
     * {@code -Dtern.flooders=50 -Dtern.flood-seconds=60} starts 50 concurrent attackers, which reconnect for 60
     * seconds.
     */
    @Test
    @Tag("figures")
    void attacksAreCutOffWithinASecond() throws Exception {
        int connections = Integer.getInteger("tern.flooders", 1);
        long nanosForEach = TimeUnit.SECONDS.toNanos(Integer.getInteger("tern.flood-seconds", 0)) / ATTACKS.size();
        long worst = 0;
        String slowest = "";
        for (Map.Entry<String, byte[]> attack : ATTACKS.entrySet()) {
            List<Thread> threads = new ArrayList<>();
            List<Long> took = Collections.synchronizedList(new ArrayList<>());
            for (int i = 0; i < connections; i++) {
                Thread thread = new Thread(() -> {
                    long first = System.nanoTime();
                    do {
                        long began = System.nanoTime();
                        flood(attack.getValue());
                        took.add(System.nanoTime() - began);
                    } while (System.nanoTime() - first < nanosForEach);
                });
                threads.add(thread);
                thread.start();
            }
            for (Thread thread : threads) {
                thread.join();
            }
            long longest = took.stream().mapToLong(Long::longValue).max().orElseThrow();
            if (longest > worst) {
                worst = longest;
                slowest = attack.getKey();
            }
        }
        System.out.printf(
                "R6 attacks by HTTP/2: %d kinds, %d connections each, the slowest cut off after %d ms (%s)%n",
                ATTACKS.size(), connections, TimeUnit.NANOSECONDS.toMillis(worst), slowest);
        assertThat(worst).isLessThanOrEqualTo(TimeUnit.SECONDS.toNanos(1));
    }

    /**
     * Verifies promise R7 in docs/figures/promises.md. Makes 2,000 calls per second and cancels every fiftieth call.
     */
    @Test
    @Tag("figures")
    void honestCancellerIsNotCut() {
        int seconds = Integer.getInteger("tern.seconds", 60);
        AtomicBoolean ended = new AtomicBoolean();
        AtomicReference<String> code = new AtomicReference<>("");
        int calls = 0;
        int cancelled = 0;
        try (Http2Wire wire = Http2Wire.open(server.port())) {
            openWindows(wire);
            Thread reader = new Thread(() -> {
                code.set(String.valueOf(wire.endOfConnection()));
                ended.set(true);
            });
            reader.start();
            byte[] hello = hello("hello");
            long began = System.nanoTime();
            while (calls < 2_000 * seconds && !ended.get()) {
                long due = began + calls * 500_000L;
                LockSupport.parkNanos(due - System.nanoTime());
                int begun = calls - cancelled;
                while (begun - wire.finished() > MAX_OPEN && !ended.get()) {
                    // a well-behaved client waits, so that it does not exceed the server's limit for concurrent streams
                    LockSupport.parkNanos(100_000);
                }
                int id = 1 + 2 * calls;
                wire.request(id, GREET + "echo", false);
                if (calls % 50 == 0) {
                    wire.frame(Http2Wire.RST_STREAM, 0, id, Http2Script.fourBytes(8));
                    cancelled++;
                } else {
                    wire.message(id, true, 0, hello);
                }
                calls++;
                if (calls % CALLS_OF_A_MINUTE == 0) {
                    assertStillServed();
                }
            }
            assertThat(ended).as("cut after " + calls + " calls with " + code).isFalse();
        }
        System.out.printf("R7 honest canceller: %d calls, %d cancelled, in %d s: not cut%n", calls, cancelled, seconds);
    }
}
