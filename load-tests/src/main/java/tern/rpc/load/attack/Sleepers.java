package tern.rpc.load.attack;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Random;

/** Attacks that keep calls open. */
final class Sleepers {

    /** Sends the message of a request whose headers have been sent. */
    interface Sending {
        void send(RawHttp2 connection, int stream) throws IOException;
    }

    private Sleepers() {}

    /** Makes one-way calls to a method that sleeps. */
    static void oneWay(Attacker attacker) {
        attacker.again(() -> {
            try (RawDubbo connection = attacker.connectDubbo(2)) {
                byte[] text = RawDubbo.text("a");
                for (int i = 0; attacker.goesOn(); i++) {
                    connection.call(true, "sleepUnanswered", "Ljava/lang/String;", text);
                    if (i >= 200) {
                        attacker.pause(20);
                    }
                }
            }
        });
    }

    /** Makes calls to a method that sleeps, and resets the stream of each call after 5 ms. */
    static void reset(Attacker attacker) {
        attacker.again(() -> {
            try (RawHttp2 connection = attacker.connect(2, -1)) {
                attacker.watch(connection);
                while (attacker.goesOn()) {
                    int stream = connection.call("sleep", "a");
                    attacker.pause(5);
                    connection.reset(stream);
                }
            }
        });
    }

    /** Makes calls to a method that sleeps, with 50 calls at a time on each of several connections. */
    static void ofOneAddress(Attacker attacker) {
        attacker.together(20, () -> callAgain(attacker, 2, 50, Sleepers::sendText, "sleep"));
    }

    /** Makes calls to a method that sleeps, from several addresses. */
    static void ofAddresses(Attacker attacker) {
        Random addresses = new Random(1);
        attacker.together(8, () -> callAgain(attacker, 20 + addresses.nextInt(8), 50, Sleepers::sendText, "sleep"));
    }

    /** Opens a connection and keeps {@code atATime} calls open on it, until the server closes the connection. */
    static void callAgain(Attacker attacker, int from, int atATime, Sending sending, String method, String... headers)
            throws IOException {
        try (RawHttp2 connection = attacker.connect(from, -1)) {
            for (int i = 0; i < atATime; i++) {
                sending.send(connection, connection.begin(method, headers));
            }
            try {
                attacker.readAll(connection, frame -> {
                    if (frame.type() == RawHttp2.RESET
                            || (frame.type() == RawHttp2.HEADERS && frame.has(RawHttp2.END_STREAM))) {
                        try {
                            sending.send(connection, connection.begin(method, headers));
                        } catch (IOException e) {
                            throw new UncheckedIOException(e);
                        }
                    }
                });
            } catch (UncheckedIOException e) {
                throw e.getCause();
            }
        }
    }

    private static void sendText(RawHttp2 connection, int stream) throws IOException {
        connection.write(RawHttp2.DATA, RawHttp2.END_STREAM, stream, RawHttp2.message(0, new byte[] {0x0a, 1, 'a'}));
    }
}
