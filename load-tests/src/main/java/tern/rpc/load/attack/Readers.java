package tern.rpc.load.attack;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.concurrent.Semaphore;

/** Attacks by clients that read their answers late or not at all. */
final class Readers {

    private Readers() {}

    /** Keeps the maximum number of server streams open without enlarging their flow-control windows. */
    static void unreadStreams(Attacker attacker) {
        attacker.again(() -> {
            try (RawHttp2 connection = attacker.connect(2, 0)) {
                Semaphore places = new Semaphore(250);
                attacker.watch(connection, frame -> {
                    if (frame.type() == RawHttp2.RESET || frame.has(RawHttp2.END_STREAM)) {
                        places.release();
                    }
                });
                while (attacker.goesOn()) {
                    if (places.tryAcquire()) {
                        connection.call("feed", "a");
                    } else {
                        attacker.pause(5);
                        connection.credit(0, 1); // The write fails after the server has closed the connection.
                    }
                }
            }
        });
    }

    /** Behaves like a legitimate reader that enlarges the flow-control window after every frame. */
    static void eagerCredit(Attacker attacker) {
        attacker.again(() -> {
            try (RawHttp2 connection = attacker.connect(2, -1)) {
                connection.call("large", "a");
                attacker.readAll(connection, frame -> {
                    try {
                        if (frame.type() == RawHttp2.DATA && frame.payload().length > 0) {
                            connection.credit(0, frame.payload().length);
                            connection.credit(frame.stream(), frame.payload().length);
                        }
                        if (frame.type() == RawHttp2.HEADERS && frame.has(RawHttp2.END_STREAM)) {
                            connection.call("large", "a");
                        }
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                });
            } catch (UncheckedIOException e) {
                throw e.getCause();
            }
        });
    }

    /** Requests large answers and does not read them. */
    static void unreadAnswers(Attacker attacker) {
        attacker.together(20, () -> {
            try (RawHttp2 connection = attacker.connect(2, 1 << 24)) {
                connection.credit(0, 1 << 30);
                for (int i = 0; i < 50; i++) {
                    connection.call("large", "a");
                }
                while (attacker.goesOn()) {
                    attacker.pause(500);
                    connection.credit(0, 1); // The write fails after the server has closed the connection.
                }
            }
        });
    }

    /** Requests large answers over the dubbo protocol and does not read them. */
    static void unreadDubboAnswers(Attacker attacker) {
        attacker.together(20, () -> {
            try (RawDubbo connection = attacker.connectDubbo(2)) {
                byte[] text = RawDubbo.text("a");
                for (int i = 0; i < 50; i++) {
                    connection.call(false, "large", "Ljava/lang/String;", text);
                }
                while (attacker.goesOn()) {
                    attacker.pause(500);
                    connection.ping(); // The write fails after the server has closed the connection.
                }
            }
        });
    }

    /** Sends heartbeats over the dubbo protocol and does not read the responses. */
    static void unreadHeartbeats(Attacker attacker) {
        attacker.together(4, () -> {
            try (RawDubbo connection = attacker.connectDubbo(2)) {
                while (attacker.goesOn()) {
                    connection.ping();
                }
            }
        });
    }

    /** Makes calls with large requests and large answers, and reads all answers. */
    static void largeRequests(Attacker attacker) {
        byte[] request = RawHttp2.message(0, Payloads.largeText());
        attacker.together(20, () -> {
            try (RawHttp2 connection = attacker.connect(2, 1 << 24)) {
                connection.credit(0, 1 << 30);
                attacker.watch(connection, frame -> {
                    try {
                        if (frame.type() == RawHttp2.DATA && frame.payload().length > 0) {
                            connection.credit(0, frame.payload().length);
                        }
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                });
                while (attacker.goesOn()) {
                    int stream = connection.begin("quick");
                    for (int from = 0; from < request.length; from += 16_384) {
                        int to = Math.min(request.length, from + 16_384);
                        connection.write(
                                RawHttp2.DATA,
                                to == request.length ? RawHttp2.END_STREAM : 0,
                                stream,
                                Arrays.copyOfRange(request, from, to));
                    }
                }
            }
        });
    }
}
