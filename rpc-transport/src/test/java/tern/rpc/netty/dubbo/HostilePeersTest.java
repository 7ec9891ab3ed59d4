package tern.rpc.netty.dubbo;

import static org.assertj.core.api.Assertions.assertThat;

import com.example.wire.GreetService;
import io.netty.util.internal.PlatformDependent;
import java.io.ByteArrayOutputStream;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.netty.ServerTransportSettings;
import tern.rpc.netty.peer.Await;
import tern.rpc.netty.peer.RawFrame;
import tern.rpc.netty.peer.RawSocket;
import tern.rpc.serialization.hessian.Bombs;
import tern.rpc.server.RpcServer;
import tern.rpc.transport.Fuzz;

/** Verifies promises R2, R3 and R4 in docs/figures/promises.md for the dubbo protocol. */
@Timeout(3_600)
class HostilePeersTest {

    private static final int ATTACKERS = 200;
    private static final RawFrame GOOD = Fixtures.frame("dubbo-probe/ok.request.bin");

    private final Sides sides = new Sides();
    private RpcServer server;
    private RawSocket wellBehaved;

    @BeforeEach
    void start() {
        server = sides.serve();
        wellBehaved = RawSocket.connect(server.port());
        assertStillServed();
    }

    @AfterEach
    void close() {
        assertStillServed();
        wellBehaved.close();
        Await.until("every connection is gone", () -> server.connections() == 0);
        sides.close();
    }

    private void assertStillServed() {
        wellBehaved.send(GOOD);
        assertThat(wellBehaved.read(id -> id == GOOD.id()).status()).isEqualTo(20);
    }

    private static void text(ByteArrayOutputStream body, String ascii) {
        if (ascii.length() > 0x1f) {
            body.write(0x30 + (ascii.length() >> 8));
        }
        body.write(ascii.length());
        body.writeBytes(ascii.getBytes(StandardCharsets.US_ASCII));
    }

    /** Returns a request frame that calls {@code types} with an encoded argument. */
    private static RawFrame call(long id, byte[] argument) {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        for (String part : List.of("2.0.2", GreetService.class.getName(), "0.0.0", "types", "Ljava/lang/Object;")) {
            text(body, part);
        }
        body.writeBytes(argument);
        body.write('H');
        text(body, "path");
        text(body, GreetService.class.getName());
        body.write('Z');
        return new RawFrame(RawFrame.TWO_WAY, 0, id, body.toByteArray());
    }

    @ParameterizedTest
    @ValueSource(ints = {841, 1 << 16})
    void bombsAreRefusedOrAnswered(int size) {
        long id = 1;
        try (RawSocket socket = RawSocket.connect(server.port())) {
            for (Map.Entry<String, byte[]> bomb : Bombs.all(size).entrySet()) {
                socket.send(call(++id, bomb.getValue()));

                assertThat(socket.read().id()).as(bomb.getKey()).isEqualTo(id);
            }
        }
    }

    private static long usedBytes() {
        for (int i = 0; i < 3; i++) {
            System.gc();
        }
        long heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
        return heap + Math.max(0, PlatformDependent.usedDirectMemory());
    }

    /**
     * Verifies promise R3 in docs/figures/promises.md. A quarter of the connections announce a message of the maximum
     * size and send half a MiB of it. The other connections repeatedly send decompression bombs. The server may buffer
     * no more bytes than the connections have sent and, with many connections, no more than the memory budget for
     * requests. {@code -Dtern.attackers=2000} sets the number of connections.
     */
    @Test
    @Tag("figures")
    void memoryGrowsLittleUnderAttack() {
        int count = Integer.getInteger("tern.attackers", ATTACKERS);
        byte[] piece = new byte[512 << 10];
        byte[] bomb = Bombs.all(1 << 16).get("objects without their fields");
        List<RawSocket> attackers = new ArrayList<>();
        long before = usedBytes();
        long most = 0;
        try {
            for (int i = 0; i < count; i++) {
                RawSocket socket = RawSocket.connect(server.port(), 2 + i / ATTACKERS);
                attackers.add(socket);
                if (i % 4 == 0) {
                    socket.send(RawFrame.header(RawFrame.TWO_WAY, 0, i, 8 << 20))
                            .send(piece);
                } else {
                    socket.send(call(i, bomb));
                }
            }
            for (int i = 0; i < count; i++) {
                if (i % 4 != 0) {
                    attackers.get(i).read();
                }
            }
            most = usedBytes() - before;
        } finally {
            attackers.forEach(RawSocket::close);
        }
        System.out.printf("R3 memory under %d attacking connections: +%d MiB%n", count, most >> 20);
        long allowed = 128L << 20;
        if (count > ATTACKERS) {
            allowed += ServerTransportSettings.onPort(0).maxInboundBytes();
        }
        assertThat(most).isLessThanOrEqualTo(allowed);
    }

    /**
     * Verifies promise R4 in docs/figures/promises.md. If a frame is not a valid call, the server must immediately
     * either answer it or close the connection.
     */
    @Test
    @Tag("figures")
    void hostileFramesAreAnsweredOrClosedAtOnce() {
        List<byte[]> frames = new ArrayList<>();
        frames.add("GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        frames.add(new byte[] {(byte) 0xDA, 0});
        for (int length : new int[] {-1, Integer.MIN_VALUE, Integer.MAX_VALUE, (8 << 20) + 1}) {
            frames.add(RawFrame.header(RawFrame.TWO_WAY, 0, 1, length));
        }
        for (int serialization : new int[] {0, 1, 3, 6, 31}) {
            frames.add(GOOD.withFlags(0xC0 | serialization).bytes());
        }
        frames.add(new RawFrame(RawFrame.TWO_WAY, 0, 1, new byte[0]).bytes());
        frames.add(new RawFrame(RawFrame.TWO_WAY, 0, 1, new byte[100]).bytes());
        frames.add(new RawFrame(RawFrame.HEARTBEAT, 0, 1, new byte[100]).bytes());
        for (byte[] bomb : Bombs.all(1 << 12).values()) {
            frames.add(call(1, bomb).bytes());
        }
        // the first two rounds only warm up the JVM, so that the third round is fast
        for (int round = 0; round < 3; round++) {
            long worst =
                    frames.stream().mapToLong(this::nanosUntilAnswered).max().orElseThrow();
            if (round == 2) {
                System.out.printf(
                        "R4 hostile frames: %d kinds, answered or closed within %d ms%n",
                        frames.size(), TimeUnit.NANOSECONDS.toMillis(worst));
                assertThat(worst).isLessThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(100));
            }
        }
    }

    private long nanosUntilAnswered(byte[] bytes) {
        try (RawSocket socket = RawSocket.connect(server.port())) {
            long began = System.nanoTime();
            try {
                socket.send(bytes).readFully(1);
            } catch (UncheckedIOException closed) {
                // the server is allowed to close the connection instead of answering
            }
            return System.nanoTime() - began;
        }
    }

    /**
     * Verifies promise R4 in docs/figures/promises.md with random frames: the server must still serve calls afterwards.
     * {@code -Dtern.frames=1000000} sets the number of frames.
     */
    @Test
    @Tag("figures")
    void randomFramesAreSurvived() {
        int count = Integer.getInteger("tern.frames", 20_000);
        List<byte[]> honest = new ArrayList<>();
        Fixtures.names("dubbo", ".request.bin")
                .forEach(name -> honest.add(Fixtures.bytes("dubbo/" + name + ".request.bin")));
        honest.removeIf(bytes -> bytes.length > 4_000);
        Fuzz fuzz = new Fuzz("dubbo over a socket", honest, List.of(new byte[] {0}, GOOD.bytes()));
        RawSocket socket = RawSocket.connect(server.port());
        for (int number = 0; number < count; number++) {
            try {
                socket.send(fuzz.input(number));
                if (number % 20 == 19) {
                    socket.close();
                    socket = RawSocket.connect(server.port());
                }
            } catch (UncheckedIOException closed) {
                socket.close();
                socket = RawSocket.connect(server.port());
            }
            if (number % 10_000 == 9_999) {
                assertStillServed();
            }
        }
        socket.close();
        System.out.printf("R4 random frames: %d over sockets, the server serves%n", count);
    }
}
