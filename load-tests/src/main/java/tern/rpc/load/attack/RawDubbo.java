package tern.rpc.load.attack;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** A connection that uses the dubbo protocol with hessian2 (docs/wire-protocol.md). Not thread-safe. */
final class RawDubbo implements AutoCloseable {

    private static final short MAGIC = (short) 0xdabb;
    private static final int REQUEST = 0x82; // the flags of a hessian2-encoded request
    private static final int TWO_WAY = 0x40;
    private static final int EVENT = 0x20;
    private static final int HEAD_BYTES = 16;
    private static final int SHORT_TEXT = 32;

    private final Socket socket = new Socket();
    private final DataInputStream in;
    private final OutputStream out;
    private long nextId;

    RawDubbo(int from, int port, int patienceMillis) throws IOException {
        socket.bind(new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, (byte) from}), 0));
        socket.connect(new InetSocketAddress("127.0.0.1", port), patienceMillis);
        socket.setSoTimeout(patienceMillis);
        in = new DataInputStream(socket.getInputStream());
        out = socket.getOutputStream();
    }

    /**
     * Sends a call.
     *
     * @param argument the encoded argument
     */
    void call(boolean oneWay, String method, String descriptor, byte[] argument) throws IOException {
        out.write(frame(++nextId, oneWay, method, descriptor, argument));
    }

    void write(byte[] frames) throws IOException {
        out.write(frames);
    }

    /** Encodes a call, with the same parameters as {@link #call}. */
    static byte[] frame(long id, boolean oneWay, String method, String descriptor, byte[] argument) {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        String service = Target.Values.class.getName();
        for (String leading : new String[] {"2.0.2", service, "0.0.0", method, descriptor}) {
            text(body, leading);
        }
        body.writeBytes(argument);
        body.write('H');
        for (String attachment : new String[] {"path", service, "interface", service}) {
            text(body, attachment);
        }
        body.write('Z');
        byte[] bytes = body.toByteArray();
        return ByteBuffer.allocate(HEAD_BYTES + bytes.length)
                .putShort(MAGIC)
                .put((byte) (oneWay ? REQUEST : REQUEST | TWO_WAY))
                .put((byte) 0)
                .putLong(id)
                .putInt(bytes.length)
                .put(bytes)
                .array();
    }

    /** Closes this side of the connection. Answers can still be read. */
    void endOutput() throws IOException {
        socket.shutdownOutput();
    }

    /** Sends a heartbeat that requires a response. */
    void ping() throws IOException {
        out.write(ByteBuffer.allocate(HEAD_BYTES + 1)
                .putShort(MAGIC)
                .put((byte) (REQUEST | TWO_WAY | EVENT))
                .put((byte) 0)
                .putLong(++nextId)
                .putInt(1)
                .put((byte) 'N')
                .array());
    }

    /**
     * Waits for an answer.
     *
     * @return the answer's status
     */
    int status() throws IOException {
        byte[] head = new byte[HEAD_BYTES];
        in.readFully(head);
        in.readFully(new byte[ByteBuffer.wrap(head).getInt(HEAD_BYTES - 4)]);
        return head[3];
    }

    static byte[] text(String text) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        text(bytes, text);
        return bytes.toByteArray();
    }

    static byte[] number(int number) {
        return ByteBuffer.allocate(5).put((byte) 'I').putInt(number).array();
    }

    /**
     * Returns an encoded map. Half of its keys are strings and half are integers. All keys have the same hash code.
     *
     * @param entries the number of entries, at most 131,072
     */
    static byte[] mapOfEqualHashes(int entries) {
        ByteArrayOutputStream map = new ByteArrayOutputStream();
        map.write('H');
        int hash = equalText(0).hashCode();
        for (int i = 0; i < entries / 2; i++) {
            text(map, equalText(i));
            map.write(0x90);
            map.write('L');
            map.writeBytes(
                    ByteBuffer.allocate(8).putInt(i + 1).putInt((i + 1) ^ hash).array());
            map.write(0x90);
        }
        map.write('Z');
        return map.toByteArray();
    }

    /**
     * Returns a string that consists of the parts "Aa" and "BB". All these strings have the same hash code, and each
     * {@code number} gives a different string.
     */
    private static String equalText(int number) {
        StringBuilder text = new StringBuilder();
        for (int bit = 0; bit < 16; bit++) {
            text.append((number >>> bit & 1) == 0 ? "Aa" : "BB");
        }
        return text.toString();
    }

    /** @param text a string of fewer than 1,024 characters */
    private static void text(ByteArrayOutputStream bytes, String text) {
        if (text.length() < SHORT_TEXT) {
            bytes.write(text.length());
        } else {
            bytes.write(0x30 + (text.length() >> 8));
            bytes.write(text.length());
        }
        bytes.writeBytes(text.getBytes(StandardCharsets.US_ASCII));
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
