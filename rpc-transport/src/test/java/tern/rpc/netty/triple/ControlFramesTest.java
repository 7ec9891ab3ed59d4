package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.StringValue;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tern.rpc.netty.triple.Http2Wire.Answer;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;

/**
 * Tests clients that send many control frames. The server must serve a client that also sends data, and must disconnect
 * any other client.
 */
@Timeout(120)
class ControlFramesTest {

    private static final String WORDS = "/" + Words.class.getName() + "/";
    private static final long ENHANCE_YOUR_CALM = 0xB;

    /** The size of a message, in bytes; slightly less than the maximum. */
    private static final int LARGE = 8_380_000;

    private static final int FRAME_BYTES = 16 << 10;

    /** A client's control frames for each DATA frame that the client sends or receives. */
    private interface Habit {
        void data(Http2Wire wire, int bytes);
    }

    private static final Map<String, Habit> HABITS = new LinkedHashMap<>();

    static {
        HABITS.put("WINDOW_UPDATE", (wire, bytes) -> {});
        HABITS.put("PING", (wire, bytes) -> wire.frame(Http2Wire.PING, 0, 0, new byte[8]));
        HABITS.put("two PING", (wire, bytes) -> {
            for (int i = 0; i < 2; i++) {
                wire.frame(Http2Wire.PING, 0, 0, new byte[8]);
            }
        });
        HABITS.put("SETTINGS", (wire, bytes) -> wire.frame(Http2Wire.SETTINGS, 0, 0));
        HABITS.put(
                "PRIORITY", (wire, bytes) -> wire.frame(2, 0, 101, (byte) 0, (byte) 0, (byte) 0, (byte) 0, (byte) 1));
        HABITS.put("unknown", (wire, bytes) -> wire.frame(0x77, 0, 0, new byte[8]));
        HABITS.put("single KiB", (wire, bytes) -> {
            // The calling test has already sent two WINDOW_UPDATE frames. This loop sends one for each KiB of the DATA
            // frame except the first two.
            for (int i = 2; i < bytes >> 10; i++) {
                wire.openWindow(0, 1);
            }
        });
    }

    static Stream<String> habits() {
        return HABITS.keySet().stream();
    }

    private final TripleSides sides = new TripleSides();
    private final RpcServer server = sides.serve(
            limits -> limits, settings -> settings.export(ServiceExport.of(Words.class, new WordsServer())));

    @AfterEach
    void close() throws Exception {
        sides.close();
    }

    @ParameterizedTest
    @MethodSource("habits")
    void clientThatReadsALargeAnswerMaySendThemForEachFrame(String name) {
        Habit habit = HABITS.get(name);
        try (Http2Wire wire = Http2Wire.open(server.port())) {
            int[] frames = {0};
            wire.onData((stream, bytes) -> {
                wire.openWindow(stream, bytes);
                wire.openWindow(0, bytes);
                habit.data(wire, bytes);
                frames[0]++;
            });
            wire.request(1, WORDS + "repeat", false);
            wire.message(1, true, 0, StringValue.of(String.valueOf(LARGE / 5)).toByteArray());

            Answer answer = wire.answer(1);

            assertThat(answer.header("grpc-status")).isEqualTo("0");
            assertThat(answer.data.size()).isGreaterThan(LARGE);
            assertThat(frames[0]).isGreaterThan(400);
        }
    }

    @ParameterizedTest
    @MethodSource("habits")
    void clientThatSendsALargeRequestMaySendThemForEachFrame(String name) throws Exception {
        Habit habit = HABITS.get(name);
        try (Http2Wire wire = Http2Wire.open(server.port())) {
            wire.openWindow(0, 1 << 30);
            wire.frame(Http2Wire.SETTINGS, 0, 0, Http2Script.settings(Http2Script.INITIAL_WINDOW_SIZE, 1 << 30));
            byte[] message = StringValue.of("x".repeat(LARGE)).toByteArray();
            byte[] framed = Http2Script.framed(0, message);
            // this thread reads the server's acknowledgements, because unread bytes would block the server
            Thread reader = new Thread(() -> wire.answer(1));
            wire.request(1, WORDS + "write", false);
            reader.start();
            for (int at = 0; at < framed.length; at += FRAME_BYTES) {
                int length = Math.min(FRAME_BYTES, framed.length - at);
                byte[] piece = new byte[length];
                System.arraycopy(framed, at, piece, 0, length);
                wire.frame(Http2Wire.DATA, at + length == framed.length ? Http2Wire.END_STREAM : 0, 1, piece);
                habit.data(wire, length);
            }
            reader.join();

            assertThat(wire.answer(1).header("grpc-status")).isEqualTo("0");
        }
    }

    @Test
    void controlFramesWhileALargeAnswerStandsStillAreAFlood() {
        Http2Wire.assertCutOff(
                server.port(),
                wire -> {
                    wire.request(1, WORDS + "repeat", false);
                    wire.message(
                            1,
                            true,
                            0,
                            StringValue.of(String.valueOf(LARGE / 5)).toByteArray());
                    // the initial flow-control windows permit only 65,535 bytes
                    wire.readUntil(() -> wire.begun(1).data.size() == 65_535);
                    for (int i = 0; i < 3_000; i++) {
                        // this frame enlarges only the stream's flow-control window, so the server still cannot send
                        // data
                        wire.openWindow(1, 1);
                    }
                },
                ENHANCE_YOUR_CALM);
    }

    @Test
    void clientThatReadsTinyFramesMayUpdateBothWindowsForEachOfThem() {
        try (Http2Wire wire = Http2Wire.open(server.port())) {
            int[] frames = {0};
            wire.onData((stream, bytes) -> {
                frames[0]++;
                wire.openWindow(stream, bytes);
                wire.openWindow(0, bytes);
            });
            wire.frame(Http2Wire.SETTINGS, 0, 0, Http2Script.settings(Http2Script.INITIAL_WINDOW_SIZE, 20));
            wire.request(1, WORDS + "repeat", false);
            wire.message(1, true, 0, StringValue.of("10000").toByteArray());

            Answer answer = wire.answer(1);

            assertThat(answer.header("grpc-status")).isEqualTo("0");
            assertThat(frames[0]).isGreaterThan(2_000);
        }
    }

    @Test
    void changesOfTheWindowOfManyStreamsAreAFloodDespiteData() {
        byte[] part = StringValue.of("a").toByteArray();

        Http2Wire.assertCutOff(
                server.port(),
                wire -> {
                    for (int call = 0; call < 100; call++) {
                        wire.request(2 * call + 1, WORDS + "join", false);
                    }
                    for (int i = 0; i < 1_000; i++) {
                        wire.frame(
                                Http2Wire.SETTINGS, 0, 0, Http2Script.settings(Http2Script.INITIAL_WINDOW_SIZE, i % 2));
                        wire.message(1, false, 0, part);
                    }
                },
                ENHANCE_YOUR_CALM);
    }

    @Test
    void goAwayFramesAreAFloodDespiteData() {
        byte[] part = StringValue.of("a").toByteArray();

        Http2Wire.assertCutOff(
                server.port(),
                wire -> {
                    for (int call = 0; call < 100; call++) {
                        wire.request(2 * call + 1, WORDS + "join", false);
                    }
                    for (int i = 0; i < 1_000; i++) {
                        wire.frame(Http2Wire.GOAWAY, 0, 0, new byte[8]);
                        wire.message(1, false, 0, part);
                    }
                },
                ENHANCE_YOUR_CALM);
    }
}
