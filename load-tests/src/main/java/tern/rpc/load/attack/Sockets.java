package tern.rpc.load.attack;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;

/** Attacks with connections that send little or nothing. */
final class Sockets {

    private Sockets() {}

    /** Sends HTTP/1.1 requests that never end. Each request sends one header per second. */
    static void slowHeads(Attacker attacker) {
        attacker.together(8, () -> {
            int from = 20 + (int) (Thread.currentThread().getId() % 8);
            List<Socket> sockets = new ArrayList<>();
            try {
                for (int i = 0; i < 250 && attacker.goesOn(); i++) {
                    Socket socket = silent(from, attacker.port);
                    sockets.add(socket);
                    socket.getOutputStream().write("POST /a/b HTTP/1.1\r\nhost: localhost\r\n".getBytes(US_ASCII));
                }
                while (attacker.goesOn()) {
                    for (Socket socket : sockets) {
                        socket.getOutputStream().write("a: b\r\n".getBytes(US_ASCII));
                    }
                    attacker.pause(1_000);
                }
            } finally {
                close(sockets);
            }
        });
    }

    /** Opens connections that send nothing, and replaces the connections that the server closes. */
    static void silentConnections(Attacker attacker) {
        List<Socket> sockets = new ArrayList<>();
        attacker.again(() -> {
            while (sockets.size() < 8_190 && attacker.goesOn()) {
                sockets.add(silent(20 + sockets.size() % 8, attacker.port));
            }
            attacker.pause(200);
            for (int i = sockets.size() - 1; i >= 0; i--) {
                if (isClosed(sockets.get(i))) {
                    sockets.remove(i).close();
                    attacker.refused();
                }
            }
        });
    }

    private static boolean isClosed(Socket socket) {
        try {
            return socket.getInputStream().available() == 0 && hasEnded(socket);
        } catch (IOException e) {
            return true;
        }
    }

    private static boolean hasEnded(Socket socket) throws IOException {
        try {
            socket.setSoTimeout(1);
            return socket.getInputStream().read() < 0;
        } catch (java.net.SocketTimeoutException open) {
            return false;
        }
    }

    /** Opens a connection from 127.0.0.{@code from}. */
    static Socket silent(int from, int port) throws IOException {
        Socket socket = new Socket();
        socket.bind(new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, (byte) from}), 0));
        socket.connect(new InetSocketAddress("127.0.0.1", port), 2_000);
        return socket;
    }

    private static void close(List<Socket> sockets) throws IOException {
        for (Socket socket : sockets) {
            socket.close();
        }
    }
}
