package tern.rpc.load.attack;

import java.util.concurrent.atomic.AtomicInteger;

/** Attacks from 20 addresses, 127.0.0.20 to 127.0.0.39. Each address alone uses few resources. */
final class Crowds {

    private static final int FIRST = 20;
    private static final int ADDRESSES = 20;
    private static final int CONNECTIONS = 40;
    private static final int STREAMS = 20;
    private static final int LOOKS = 10;
    private static final int BETWEEN_LOOKS_MILLIS = 500;
    private static final int LARGE_CALLS = 4;
    private static final int BEFORE_LEAVING_MILLIS = 300;

    private Crowds() {}

    /** Opens server streams and reads none of their messages. Reconnects every 5 s. */
    static void unreadStreams(Attacker attacker) {
        AtomicInteger next = new AtomicInteger();
        attacker.together(CONNECTIONS, () -> {
            try (RawHttp2 connection = attacker.connect(address(next), 0)) {
                for (int i = 0; i < STREAMS; i++) {
                    connection.call("feed", "a");
                }
                for (int i = 0; i < LOOKS && attacker.goesOn(); i++) {
                    attacker.pause(BETWEEN_LOOKS_MILLIS);
                    connection.credit(0, 1); // The write fails after the server has closed the connection.
                }
            }
        });
    }

    /**
     * Requests large answers and reads none of them. Closes its side of the connection first, and the whole connection
     * after a pause.
     */
    static void leavingReaders(Attacker attacker) {
        AtomicInteger next = new AtomicInteger();
        byte[] text = RawDubbo.text("a");
        attacker.together(CONNECTIONS, () -> {
            try (RawDubbo connection = attacker.connectDubbo(address(next))) {
                for (int i = 0; i < LARGE_CALLS; i++) {
                    connection.call(false, "large", "Ljava/lang/String;", text);
                }
                attacker.pause(BEFORE_LEAVING_MILLIS);
                connection.endOutput();
                attacker.pause(BEFORE_LEAVING_MILLIS);
            }
        });
    }

    /** Returns the last byte of the local address of the next connection. */
    static int address(AtomicInteger next) {
        return FIRST + Math.floorMod(next.getAndIncrement(), ADDRESSES);
    }
}
