package tern.rpc.load.attack;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.ByteArrayOutputStream;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

/** Attacks that send requests with unusual content or an unusual form. Most of the attacks come from 20 addresses. */
final class Contents {

    private static final int REFERENCES = 1_000_000;
    private static final int CLASSES = 200;
    private static final int LARGE_TEXT = 4 << 20;

    private Contents() {}

    /** Sends maps whose keys all have the same hash code. */
    static void equalHashes(Attacker attacker) {
        byte[] map = RawDubbo.mapOfEqualHashes(40_000);
        attacker.together(4, () -> {
            try (RawDubbo connection = attacker.connectDubbo(2)) {
                while (attacker.goesOn()) {
                    connection.call(false, "count", "Ljava/lang/Object;", map);
                    if (connection.status() == 20) {
                        attacker.ended();
                    } else {
                        attacker.refused();
                    }
                }
            }
        });
    }

    /** Sends small messages that decompress to large messages. */
    static void gzip(Attacker attacker) {
        byte[] bomb = RawHttp2.message(1, Payloads.gzip(Payloads.largeText()));
        attacker.together(
                4,
                () -> Sleepers.callAgain(
                        attacker,
                        2,
                        50,
                        (connection, stream) -> {
                            // The headers of the request have already been sent by begin().
                            connection.write(RawHttp2.DATA, RawHttp2.END_STREAM, stream, bomb);
                        },
                        "quick",
                        "grpc-encoding",
                        "gzip"));
    }

    /** Sends a list of a million references, which point to the list itself and to one map. */
    static void references(Attacker attacker) {
        ByteArrayOutputStream list = new ByteArrayOutputStream();
        list.write(0x57); // the tag of a hessian2 list without a type and without a length
        list.write('H');
        list.write('Z');
        for (int i = 0; i < REFERENCES; i++) {
            list.write('Q');
            list.write(0x90 + i % 2); // the references alternate between the list and the map
        }
        list.write('Z');
        dubbo(attacker, () -> list.toByteArray());
    }

    /** Sends objects of classes that do not exist. Each object has a new class name. */
    static void unknownClasses(Attacker attacker) {
        AtomicInteger name = new AtomicInteger();
        dubbo(attacker, () -> {
            ByteArrayOutputStream list = new ByteArrayOutputStream();
            list.write(0x57);
            for (int i = 0; i < CLASSES; i++) {
                list.write('C');
                list.writeBytes(RawDubbo.text(Target.class.getPackageName() + ".Unknown" + name.getAndIncrement()));
                list.write(0x91); // the class definition names one field
                list.writeBytes(RawDubbo.text("a"));
                list.write('O');
                list.writeBytes(RawDubbo.number(i));
                list.write('N');
            }
            list.write('Z');
            return list.toByteArray();
        });
    }

    /** Sends calls to {@code count} with the given argument, and waits for each answer. */
    private static void dubbo(Attacker attacker, java.util.function.Supplier<byte[]> argument) {
        AtomicInteger next = new AtomicInteger();
        attacker.together(20, () -> {
            try (RawDubbo connection = attacker.connectDubbo(Crowds.address(next))) {
                while (attacker.goesOn()) {
                    connection.call(false, "count", "Ljava/lang/Object;", argument.get());
                    if (connection.status() == 20) {
                        attacker.ended();
                    } else {
                        attacker.refused();
                    }
                }
            }
        });
    }

    /** Sends gRPC-Web bodies in base64: one small message, followed by 4 MiB of empty trailer frames. */
    static void base64(Attacker attacker) {
        String body = "AAAAAAMKAWE=" + "gAAAAAA=".repeat(LARGE_TEXT / 8);
        byte[] request = ("POST /" + Target.class.getName() + "/quick HTTP/1.1\r\nhost: localhost\r\n"
                        + "content-type: application/grpc-web-text\r\ncontent-length: " + body.length() + "\r\n\r\n"
                        + body)
                .getBytes(US_ASCII);
        repeat(attacker, request);
    }

    /** Sends chunked bodies with 7 KB of chunk extensions. */
    static void chunkExtensions(Attacker attacker) {
        String chunk = "1;" + "e".repeat(1_000) + "\r\n1\r\n";
        repeat(
                attacker,
                Floods.request(
                        Target.class, "quick", "transfer-encoding: chunked\r\n\r\n" + chunk.repeat(7) + "0\r\n\r\n"));
    }

    /** Requests an upgrade to h2c or WebSocket, or a tunnel. */
    static void upgrades(Attacker attacker) {
        byte[] upgrade = Floods.request(
                Target.class,
                "quick",
                "connection: upgrade, http2-settings\r\nupgrade: h2c, websocket\r\nhttp2-settings: AAMAAABkAAQAAP__\r\n"
                        + "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-version: 13\r\n"
                        + "content-length: 3\r\n\r\n\"a\"");
        byte[] connect = "CONNECT example.org:443 HTTP/1.1\r\nhost: example.org:443\r\n\r\n".getBytes(US_ASCII);
        AtomicInteger next = new AtomicInteger();
        attacker.together(20, () -> {
            int number = next.get();
            try (Socket socket = Sockets.silent(Crowds.address(next), attacker.port)) {
                socket.setSoTimeout(1_000);
                socket.getOutputStream().write(number % 2 == 0 ? upgrade : connect);
                socket.getInputStream().read();
            }
            attacker.ended();
        });
    }

    /**
     * Opens connections and sends random bytes. Closes some connections immediately, and waits for an answer on the
     * other connections.
     */
    static void garbage(Attacker attacker) {
        AtomicInteger next = new AtomicInteger();
        attacker.together(40, () -> {
            byte[] bytes = new byte[ThreadLocalRandom.current().nextInt(1, 200)];
            ThreadLocalRandom.current().nextBytes(bytes);
            try (Socket socket = Sockets.silent(Crowds.address(next), attacker.port)) {
                socket.setSoTimeout(100);
                socket.getOutputStream().write(bytes);
                if (bytes[0] > 0) {
                    socket.getInputStream().read();
                }
            }
        });
    }

    /** Sends request bodies one byte per second, over HTTP/1.1, HTTP/2 and the dubbo protocol. */
    static void slowBodies(Attacker attacker) {
        AtomicInteger next = new AtomicInteger();
        byte[] http1 = Floods.request(Target.class, "quick", "content-length: 8000000\r\n\r\n\"");
        byte[] dubbo = {(byte) 0xda, (byte) 0xbb, (byte) 0xc2, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0x7a, 0x12, 0};
        attacker.together(20, () -> {
            List<Socket> sockets = new ArrayList<>();
            try (RawHttp2 connection = attacker.connect(Crowds.address(next), -1)) {
                attacker.watch(connection);
                List<Integer> streams = new ArrayList<>();
                for (int i = 0; i < 80; i++) {
                    Socket socket = Sockets.silent(Crowds.address(next), attacker.port);
                    sockets.add(socket);
                    socket.getOutputStream().write(i % 2 == 0 ? http1 : dubbo);
                    streams.add(connection.begin("quick"));
                }
                while (attacker.goesOn()) {
                    for (Socket socket : sockets) {
                        socket.getOutputStream().write('5');
                    }
                    for (int stream : streams) {
                        connection.write(RawHttp2.DATA, 0, stream, new byte[] {0});
                    }
                    attacker.pause(1_000);
                }
            } finally {
                for (Socket socket : sockets) {
                    socket.close();
                }
            }
        });
    }

    /** Sends the same request repeatedly from 20 addresses, and reads all answers. */
    private static void repeat(Attacker attacker, byte[] request) {
        AtomicInteger next = new AtomicInteger();
        attacker.together(20, () -> {
            try (Socket socket = Sockets.silent(Crowds.address(next), attacker.port)) {
                Attacker.inBackground(() -> Floods.readAll(socket));
                while (attacker.goesOn()) {
                    socket.getOutputStream().write(request);
                }
            }
        });
    }

    /** Returns JSON lists that are nested 60 levels deep. */
    static String nested() {
        return "[".repeat(60) + "]".repeat(60);
    }
}
