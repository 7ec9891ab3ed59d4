package tern.rpc.netty;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tern.rpc.netty.peer.RawFrame;

/**
 * Checks the heap memory that a server needs for an idle connection. The limits are slightly higher than the measured
 * values.
 */
@Timeout(value = 2, unit = TimeUnit.MINUTES)
class IdleConnectionsTest {

    private static final int CONNECTIONS = Integer.getInteger("idle.connections", 500);
    // the first connections create shared objects, so they are opened before the objects are counted for the first time
    private static final int FIRST = 40;

    @ParameterizedTest
    @CsvSource({"DUBBO, 0, 2500", "HTTP2, 0, 5200", "HTTP2, 5, 6900", "HTTP1, 5, 4400"})
    void anIdleConnectionTakesLittleOfTheHeap(Peer peer, int calls, long mostBytes) throws IOException {
        List<Socket> open = new ArrayList<>();
        try (IdleServer server = IdleServer.start()) {
            connect(open, FIRST, server.port(), peer, calls);
            server.count();
            connect(open, CONNECTIONS, server.port(), peer, calls);

            IdleServer.Added added = server.added(CONNECTIONS);

            long bytes = added.bytes() / CONNECTIONS;
            String classes = String.join("\n", added.classes());
            if (Boolean.getBoolean("idle.print")) {
                System.out.println(peer + " " + calls + ": " + bytes + "\n" + classes);
            }
            assertThat(bytes).as("%s:%n%s", peer, classes).isLessThan(mostBytes);
        } finally {
            for (Socket one : open) {
                one.close();
            }
        }
    }

    private static void connect(List<Socket> open, int connections, int port, Peer peer, int calls) throws IOException {
        for (int i = 0; i < connections; i++) {
            open.add(peer.open(port, calls));
        }
    }

    /** The protocol of a client, which determines the bytes that the client sends. */
    enum Peer {
        DUBBO {
            @Override
            void talk(Socket socket, int calls) throws IOException {
                socket.getOutputStream().write(RawFrame.heartbeat(1).bytes());
                DataInputStream in = new DataInputStream(socket.getInputStream());
                byte[] header = in.readNBytes(RawFrame.HEADER_BYTES);
                in.readNBytes(ByteBuffer.wrap(header).getInt(12));
            }
        },

        HTTP1 {
            @Override
            void talk(Socket socket, int calls) throws IOException {
                for (int i = 0; i < calls; i++) {
                    socket.getOutputStream()
                            .write(("POST /" + IdleServer.Shout.class.getName() + "/shout HTTP/1.1\r\n"
                                            + "host: localhost\r\ncontent-type: application/json\r\n"
                                            + "content-length: 4\r\n\r\n\"ab\"")
                                    .getBytes(ISO_8859_1));
                    StringBuilder answer = new StringBuilder();
                    while (answer.indexOf("\r\n\r\n\"ab\"") < 0) {
                        int next = socket.getInputStream().read();
                        if (next < 0) {
                            throw new EOFException(answer.toString());
                        }
                        answer.append((char) next);
                    }
                }
            }
        },

        HTTP2 {
            @Override
            void talk(Socket socket, int calls) throws IOException {
                socket.getOutputStream().write(HELLO);
                for (int i = 0; i < calls; i++) {
                    int stream = 2 * i + 1;
                    ByteArrayOutputStream request = new ByteArrayOutputStream();
                    request.write(frame(HEADERS, 4, stream, i == 0 ? head() : HEAD_AGAIN));
                    request.write(frame(0, 1, stream, new byte[] {0, 0, 0, 0, 4, 10, 2, 'a', 'b'}));
                    socket.getOutputStream().write(request.toByteArray());
                    awaitFrame(socket, HEADERS, 5);
                }
                socket.getOutputStream().write(frame(PING, 0, 0, new byte[8]));
                awaitFrame(socket, PING, 1);
            }
        };

        private static final int HEADERS = 1;
        private static final int SETTINGS = 4;
        private static final int PING = 6;

        /** The connection preface, the settings of Tern's client, and the acknowledgement of the server's settings. */
        private static final byte[] HELLO = hello();

        /** A header block that refers to five fields in the dynamic table and two fields in the static table. */
        private static final byte[] HEAD_AGAIN = {
            (byte) 0x83,
            (byte) 0x86,
            (byte) (0x80 | 66),
            (byte) (0x80 | 65),
            (byte) (0x80 | 64),
            (byte) (0x80 | 63),
            (byte) (0x80 | 62)
        };

        abstract void talk(Socket socket, int calls) throws IOException;

        Socket open(int port, int calls) throws IOException {
            Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
            socket.setTcpNoDelay(true);
            talk(socket, calls);
            return socket;
        }

        private static byte[] hello() {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            bytes.writeBytes("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(ISO_8859_1));
            byte[] settings = {0, 2, 0, 0, 0, 0, 0, 4, 0, 16, 0, 0, 0, 6, 0, 0, (byte) 0x80, 0};
            bytes.writeBytes(frame(SETTINGS, 0, 0, settings));
            bytes.writeBytes(frame(SETTINGS, 1, 0, new byte[0]));
            return bytes.toByteArray();
        }

        /** Returns the headers of a gRPC request, whose fields the server adds to its dynamic table. */
        private static byte[] head() {
            ByteArrayOutputStream block = new ByteArrayOutputStream();
            block.write(0x83); // this byte encodes the header field :method: POST
            block.write(0x86); // this byte encodes the header field with the name :scheme and the value http
            remembered(block, 0x40 | 4, "", "/" + IdleServer.Shout.class.getName() + "/shout");
            remembered(block, 0x40 | 1, "", "localhost:50051");
            remembered(block, 0x40 | 31, "", "application/grpc");
            remembered(block, 0x40, "te", "trailers");
            remembered(block, 0x40 | 58, "", "grpc-java-netty/1.76.0");
            return block.toByteArray();
        }

        private static void remembered(ByteArrayOutputStream block, int first, String name, String value) {
            block.write(first);
            if (!name.isEmpty()) {
                block.write(name.length());
                block.writeBytes(name.getBytes(ISO_8859_1));
            }
            block.write(value.length());
            block.writeBytes(value.getBytes(ISO_8859_1));
        }

        private static byte[] frame(int type, int flags, int stream, byte[] payload) {
            return ByteBuffer.allocate(9 + payload.length)
                    .putShort((short) 0)
                    .put((byte) payload.length)
                    .put((byte) type)
                    .put((byte) flags)
                    .putInt(stream)
                    .put(payload)
                    .array();
        }

        private static void awaitFrame(Socket socket, int type, int flags) throws IOException {
            DataInputStream in = new DataInputStream(socket.getInputStream());
            while (true) {
                int length = in.readUnsignedShort() << 8 | in.readUnsignedByte();
                int cameType = in.readUnsignedByte();
                int cameFlags = in.readUnsignedByte();
                in.readInt();
                in.readNBytes(length);
                if (cameType == type && cameFlags == flags) {
                    return;
                }
                if (cameType == 7 || cameType == 3) {
                    throw new UncheckedIOException(new IOException("the server refused: frame " + cameType));
                }
            }
        }
    }
}
