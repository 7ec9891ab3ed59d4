package tern.rpc.load.attack;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** Attacks from 20 addresses, 127.0.0.20 to 127.0.0.39, that make the server hold as much memory as possible. */
final class Hoards {

    private static final int LARGE_WINDOW = 1 << 30;
    private static final int BETWEEN_LOOKS_MILLIS = 500;
    private static final int LOOKS = 10;
    private static final int BUILT_LENGTH = 6_000_000;
    private static final int LIST_SIZE = 250_000;
    private static final int ONE_WAY_CALLS = 2_000;
    private static final int MESSAGE_BYTES = 16_000;
    private static final int JSON_BYTES = 4 << 20;

    private Hoards() {}

    /**
     * Opens server streams on 40 connections and reads none of their messages.
     *
     * @param window whether to grant large flow-control windows to the streams and the connection; if false, the
     *     streams get no window
     */
    static void unread(Attacker attacker, String method, int streams, boolean window) {
        AtomicInteger next = new AtomicInteger();
        attacker.together(40, () -> {
            try (RawHttp2 connection = attacker.connect(Crowds.address(next), window ? LARGE_WINDOW : 0)) {
                if (window) {
                    connection.credit(0, LARGE_WINDOW);
                }
                for (int i = 0; i < streams; i++) {
                    connection.call(method, "a");
                }
                look(attacker, connection);
            }
        });
    }

    private static void look(Attacker attacker, RawHttp2 connection) throws IOException {
        for (int i = 0; i < LOOKS && attacker.goesOn(); i++) {
            attacker.pause(BETWEEN_LOOKS_MILLIS);
            connection.credit(0, 1); // The write fails after the server has closed the connection.
        }
    }

    /** Opens server streams whose flow-control windows grow by one byte per second. */
    static void oneByteReaders(Attacker attacker) {
        AtomicInteger next = new AtomicInteger();
        attacker.together(40, () -> {
            try (RawHttp2 connection = attacker.connect(Crowds.address(next), 0)) {
                attacker.watch(connection);
                List<Integer> streams = new ArrayList<>();
                for (int i = 0; i < 50; i++) {
                    streams.add(connection.call("feed", "a"));
                }
                while (attacker.goesOn()) {
                    for (int stream : streams) {
                        connection.credit(stream, 1);
                    }
                    attacker.pause(1_000);
                }
            }
        });
    }

    /** Requests server streams over HTTP/1.1 and reads none of their messages. */
    static void unreadEvents(Attacker attacker) {
        AtomicInteger next = new AtomicInteger();
        byte[] request = Floods.request(Target.class, "feed", "content-length: 3\r\n\r\n\"a\"");
        attacker.together(400, () -> {
            try (Socket socket = Sockets.silent(Crowds.address(next), attacker.port)) {
                socket.setReceiveBufferSize(4 << 10);
                OutputStream out = socket.getOutputStream();
                out.write(request);
                for (int i = 0; i < LOOKS && attacker.goesOn(); i++) {
                    attacker.pause(BETWEEN_LOOKS_MILLIS);
                    out.write('a'); // The write fails after the server has closed the connection.
                }
            }
        });
    }

    /** Sends client streams to a method that takes half a second for each message. */
    static void slowReceivers(Attacker attacker) {
        AtomicInteger next = new AtomicInteger();
        byte[] message = RawHttp2.message(0, Payloads.text(MESSAGE_BYTES));
        attacker.together(40, () -> {
            try (RawHttp2 connection = attacker.connect(Crowds.address(next), -1)) {
                attacker.watch(connection);
                List<Integer> streams = new ArrayList<>();
                for (int i = 0; i < 100; i++) {
                    streams.add(connection.begin("collect"));
                }
                // The server permits 1 MiB of unread data for each stream, and 8 MiB for the connection.
                for (int round = 0; round < 5; round++) {
                    for (int stream : streams) {
                        connection.write(RawHttp2.DATA, 0, stream, message);
                    }
                }
                look(attacker, connection);
            }
        });
    }

    /** Makes the server create long strings, and closes the connection without reading them. */
    static void leaving(Attacker attacker, boolean dubbo) {
        AtomicInteger next = new AtomicInteger();
        byte[] request = Floods.request(Target.Values.class, "built", "content-length: 7\r\n\r\n" + BUILT_LENGTH);
        attacker.together(80, () -> {
            int from = Crowds.address(next);
            if (dubbo) {
                try (RawDubbo connection = attacker.connectDubbo(from)) {
                    for (int i = 0; i < 4; i++) {
                        connection.call(false, "built", "I", RawDubbo.number(BUILT_LENGTH));
                    }
                    connection.endOutput();
                    attacker.pause(300);
                }
            } else {
                try (Socket socket = Sockets.silent(from, attacker.port)) {
                    socket.getOutputStream().write(request);
                    attacker.pause(100);
                    socket.shutdownOutput();
                    attacker.pause(300);
                }
            }
        });
    }

    /** Requests lists of many objects, four at a time on each of 20 connections, and reads all answers. */
    static void bigLists(Attacker attacker) {
        AtomicInteger next = new AtomicInteger();
        attacker.together(20, () -> {
            try (RawDubbo connection = attacker.connectDubbo(Crowds.address(next))) {
                for (int i = 0; i < 4; i++) {
                    connection.call(false, "list", "I", RawDubbo.number(LIST_SIZE));
                }
                while (attacker.goesOn()) {
                    if (connection.status() == 20) {
                        attacker.ended();
                    } else {
                        attacker.refused();
                    }
                    connection.call(false, "list", "I", RawDubbo.number(LIST_SIZE));
                }
            }
        });
    }

    /** Sends one-way calls as fast as possible, and closes each connection afterwards. */
    static void oneWayFlood(Attacker attacker) {
        AtomicInteger next = new AtomicInteger();
        byte[] text = RawDubbo.text("a".repeat(1_000));
        ByteArrayOutputStream calls = new ByteArrayOutputStream();
        for (int i = 0; i < ONE_WAY_CALLS; i++) {
            calls.writeBytes(RawDubbo.frame(i, true, "sleepUnanswered", "Ljava/lang/String;", text));
        }
        byte[] all = calls.toByteArray();
        attacker.together(40, () -> {
            try (RawDubbo connection = attacker.connectDubbo(Crowds.address(next))) {
                // The calls are encoded in advance. Encoding them during the attack would use processor time that the
                // server needs.
                connection.write(all);
            }
        });
    }

    /**
     * Sends large JSON documents from 20 addresses.
     *
     * @param item the text that the document repeats
     */
    static void json(Attacker attacker, String item) {
        AtomicInteger next = new AtomicInteger();
        String body = "[" + (item + ",").repeat(JSON_BYTES / (item.length() + 1)) + item + "]";
        byte[] request =
                Floods.request(Target.Values.class, "count", "content-length: " + body.length() + "\r\n\r\n" + body);
        attacker.together(20, () -> {
            try (Socket socket = Sockets.silent(Crowds.address(next), attacker.port)) {
                Attacker.inBackground(() -> Floods.readAll(socket));
                while (attacker.goesOn()) {
                    socket.getOutputStream().write(request);
                }
            }
        });
    }
}
