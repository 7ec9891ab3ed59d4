package tern.rpc.netty.peer;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.function.LongPredicate;

/** A socket that sends given bytes and reads frames. Only one thread at a time uses it. Reads fail after 30 seconds. */
public final class RawSocket implements AutoCloseable {

    private static final int PATIENCE_MILLIS = 30_000;

    private final Socket socket;
    private final InputStream in;
    private final OutputStream out;

    RawSocket(Socket socket) throws IOException {
        this.socket = socket;
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(PATIENCE_MILLIS);
        this.in = socket.getInputStream();
        this.out = socket.getOutputStream();
    }

    public static RawSocket connect(int port) {
        try {
            return new RawSocket(new Socket(InetAddress.getLoopbackAddress(), port));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Connects with 127.0.0.{@code host} as the client's address. Tests use several addresses, because a server limits
     * the number of connections from one address.
     */
    public static RawSocket connect(int port, int host) {
        try {
            InetAddress from = InetAddress.getByAddress(new byte[] {127, 0, 0, (byte) host});
            return new RawSocket(new Socket(InetAddress.getLoopbackAddress(), port, from, 0));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public RawSocket send(byte[] bytes) {
        try {
            out.write(bytes);
            out.flush();
            return this;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public RawSocket send(RawFrame frame) {
        return send(frame.bytes());
    }

    /** Sends every byte in a separate packet. Stops if the peer has closed the connection. */
    public RawSocket sendByteByByte(byte[] bytes) {
        try {
            for (byte one : bytes) {
                out.write(one);
                out.flush();
            }
        } catch (IOException closed) {
            return this; // the peer has closed the connection, but the answers that it sent earlier can still be read
        }
        return this;
    }

    /** Reads and answers the heartbeat that a client sends first on a replacement connection. */
    public RawSocket greet() {
        RawFrame asked = read();
        if (!asked.equals(RawFrame.heartbeat(asked.id()))) {
            throw new AssertionError("no heartbeat: " + asked);
        }
        return send(RawFrame.heartbeatAnswer(asked.id()));
    }

    public RawFrame read() {
        byte[] header = readFully(RawFrame.HEADER_BYTES);
        int length = ByteBuffer.wrap(header).getInt(12);
        byte[] body = readFully(length);
        byte[] whole = Arrays.copyOf(header, header.length + length);
        System.arraycopy(body, 0, whole, header.length, length);
        return RawFrame.of(whole);
    }

    /** Returns the next frame whose id meets the condition. Drops all frames before it. */
    public RawFrame read(LongPredicate id) {
        RawFrame frame = read();
        while (!id.test(frame.id())) {
            frame = read();
        }
        return frame;
    }

    public byte[] readFully(int length) {
        try {
            byte[] bytes = in.readNBytes(length);
            if (bytes.length < length) {
                throw new EOFException("closed after " + bytes.length + " of " + length + " bytes");
            }
            return bytes;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Blocks until the peer has closed the connection.
     *
     * @return whether the peer closed the connection without sending more bytes
     */
    public boolean isClosedByPeer() {
        try {
            return in.read() < 0;
        } catch (SocketException reset) {
            return true;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Closes the socket's output. Its input can still be read. */
    public void endOutput() {
        try {
            socket.shutdownOutput();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
