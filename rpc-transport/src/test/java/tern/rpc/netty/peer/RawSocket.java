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

/** A socket that sends what it is told and reads frames. Used by one thread at a time; waits at most 30 seconds. */
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

    /** Connects from 127.0.0.{@code host}, as a server allows one address so many connections only. */
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

    /** Every byte in a packet of its own; stops when the peer has closed. */
    public RawSocket sendByteByByte(byte[] bytes) {
        try {
            for (byte one : bytes) {
                out.write(one);
                out.flush();
            }
        } catch (IOException closed) {
            return this; // what was answered before can still be read
        }
        return this;
    }

    /** Reads the heartbeat with which a connection begins that takes another's place, and answers it. */
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

    /** The next frame with such an id; those before it are dropped. */
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

    /** Waits until the peer has closed; true if it sent nothing more before. */
    public boolean isClosedByPeer() {
        try {
            return in.read() < 0;
        } catch (SocketException reset) {
            return true;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Sends no more; still reads. */
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
