package tern.rpc.load.peer;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.util.List;

/**
 * A client that consists only of a socket and a few bytes. Thousands of such clients need little memory. Not
 * thread-safe.
 */
abstract class BareConnection implements AutoCloseable {

    /** The names of the compared frameworks whose servers a bare connection can call. */
    static final List<String> PEERS = List.of(
            "tern-dubbo",
            "dubbo-hessian2",
            "tern-tri",
            "dubbo-tri",
            "tern-proto",
            "dubbo-proto",
            "grpc-java",
            "armeria");

    private static final int PATIENCE_MILLIS = 30_000;
    private static final int BUFFER_BYTES = 256;

    private final Socket socket;
    final DataInputStream in;
    final OutputStream out;

    BareConnection(int port) throws IOException {
        socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setSoTimeout(PATIENCE_MILLIS);
        socket.setTcpNoDelay(true);
        in = new DataInputStream(new BufferedInputStream(socket.getInputStream(), BUFFER_BYTES));
        out = socket.getOutputStream();
    }

    static BareConnection to(String peer, int port) throws IOException {
        return switch (peer) {
            case "tern-dubbo", "dubbo-hessian2" -> new BareDubbo(port);
            case "tern-tri", "dubbo-tri" -> BareHttp2.withJavaValues(port);
            case "tern-proto", "dubbo-proto" -> BareHttp2.withProtobuf(port, ProtobufBenchmark.class.getName());
            case "grpc-java", "armeria" -> BareHttp2.withProtobuf(port, "tern.load.Benchmark");
            default ->
                throw new IllegalArgumentException(
                        "peer '" + peer + "' has no bare client; the peers with a bare client are " + PEERS);
        };
    }

    /** Performs the handshake before the first call, including a ping and the server's response. */
    abstract void open() throws IOException;

    /** Calls {@code existUser} and waits for the answer. */
    abstract void call() throws IOException;

    /** Sends a heartbeat and waits for the response. */
    abstract void ping() throws IOException;

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
