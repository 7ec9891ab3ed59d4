package tern.rpc.load.attack;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.Arrays;

/** Attacks that send tiny valid requests, frames or chunks as fast as the server reads them. */
final class Floods {

    /** The number of requests, frames or chunks that are written at once. */
    private static final int PIECES = 2_000;

    private Floods() {}

    /** Sends HTTP/1.1 requests without waiting for answers. */
    static void pipelined(Attacker attacker) {
        byte[] request = request(Target.class, "large", "content-length: 3\r\n\r\n\"a\"");
        attacker.together(20, () -> {
            try (Socket socket = Sockets.silent(2, attacker.port)) {
                while (attacker.goesOn()) {
                    socket.getOutputStream().write(request);
                }
            }
        });
    }

    /** Sends dubbo calls that the event loop refuses. */
    static void tinyCalls(Attacker attacker) {
        byte[] body = {5, '2', '.', '0', '.', '2', 1, 'x', 'N', 'N', 0, 'N'};
        ByteBuffer calls = ByteBuffer.allocate(PIECES * (16 + body.length));
        for (int i = 0; i < PIECES; i++) {
            calls.putShort((short) 0xdabb)
                    .put((byte) 0xc2)
                    .put((byte) 0)
                    .putLong(i)
                    .putInt(body.length)
                    .put(body);
        }
        attacker.together(60, () -> {
            try (Socket socket = Sockets.silent(2, attacker.port)) {
                Attacker.inBackground(() -> readAll(socket));
                while (attacker.goesOn()) {
                    socket.getOutputStream().write(calls.array());
                }
            }
        });
    }

    /** Reads and discards all answers until the connection is closed. */
    static void readAll(Socket socket) {
        byte[] answers = new byte[1 << 16];
        try {
            while (socket.getInputStream().read(answers) >= 0) {
                // The attack drops the answers that it reads.
            }
        } catch (IOException e) {
            // The server has closed the connection. The thread that writes the requests fails, too, and handles the
            // failure.
        }
    }

    /** Sends large messages over HTTP/2 in frames of one byte. */
    static void tinyData(Attacker attacker) {
        byte[] head = Arrays.copyOf(RawHttp2.message(0, new byte[8_000_000]), 5);
        attacker.together(6, () -> {
            try (RawHttp2 connection = attacker.connect(2, -1)) {
                attacker.watch(connection);
                byte[][] frames = new byte[10][];
                for (int i = 0; i < frames.length; i++) {
                    int stream = connection.begin("quick");
                    connection.write(RawHttp2.DATA, 0, stream, head);
                    frames[i] = RawHttp2.frames(PIECES, RawHttp2.DATA, stream, new byte[] {'x'});
                }
                for (int i = 0; attacker.goesOn(); i++) {
                    connection.write(frames[i % frames.length]);
                }
            }
        });
    }

    /** Sends large bodies over HTTP/1.1 in chunks of one byte. */
    static void tinyChunks(Attacker attacker) {
        byte[] head = request(Target.class, "large", "transfer-encoding: chunked\r\n\r\n1\r\n\"\r\n");
        byte[] chunks = "1\r\nx\r\n".repeat(PIECES).getBytes(US_ASCII);
        attacker.together(10, () -> {
            try (Socket socket = Sockets.silent(2, attacker.port)) {
                socket.getOutputStream().write(head);
                while (attacker.goesOn()) {
                    socket.getOutputStream().write(chunks);
                }
            }
        });
    }

    /** Encodes an HTTP/1.1 request with JSON. */
    static byte[] request(Class<?> service, String method, String rest) {
        return ("POST /" + service.getName() + "/" + method + " HTTP/1.1\r\nhost: localhost\r\n"
                        + "content-type: application/json\r\n" + rest)
                .getBytes(US_ASCII);
    }
}
