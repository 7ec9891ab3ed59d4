package tern.rpc.load.attack;

import java.io.IOException;
import java.util.Arrays;

/** Attacks with requests that never end. */
final class PartialRequests {

    private PartialRequests() {}

    /** Sends the headers of requests, but never their messages. */
    static void openHeaders(Attacker attacker) {
        String header = "h".repeat(7_000);
        attacker.together(15, () -> {
            try (RawHttp2 connection = attacker.connect(2, -1)) {
                attacker.watch(connection);
                for (int i = 0; i < 900 && attacker.goesOn(); i++) {
                    connection.begin("quick", "a", header, "b", header, "c", header, "d", header);
                }
                hold(attacker, connection);
            }
        });
    }

    /** Sends only the first half of each message. */
    static void halfMessages(Attacker attacker) {
        byte[] half = Arrays.copyOf(RawHttp2.message(0, new byte[8_000]), 4_000);
        attacker.together(128, () -> {
            try (RawHttp2 connection = attacker.connect(2, -1)) {
                attacker.watch(connection);
                for (int i = 0; i < 1_000 && attacker.goesOn(); i++) {
                    connection.write(RawHttp2.DATA, 0, connection.begin("quick"), half);
                }
                hold(attacker, connection);
            }
        });
    }

    /** Sends a few large messages, each only in part. */
    static void largeHalfMessages(Attacker attacker) {
        byte[] half = Arrays.copyOf(RawHttp2.message(0, new byte[8_000_000]), 15_000);
        attacker.together(64, () -> {
            try (RawHttp2 connection = attacker.connect(2, -1)) {
                attacker.watch(connection);
                for (int i = 0; i < 100 && attacker.goesOn(); i++) {
                    int stream = connection.begin("quick");
                    for (int part = 0; part < 4; part++) {
                        connection.write(RawHttp2.DATA, 0, stream, half);
                    }
                }
                hold(attacker, connection);
            }
        });
    }

    private static void hold(Attacker attacker, RawHttp2 connection) throws IOException {
        while (attacker.goesOn()) {
            attacker.pause(500);
            // The write fails after the connection has been closed.
            connection.write(RawHttp2.SETTINGS, RawHttp2.ACK, 0, new byte[0]);
        }
    }
}
