package tern.rpc.load.peer;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import tern.sample.api.UserService;

/** A client that uses the dubbo protocol with hessian2 (docs/wire-protocol.md). */
final class BareDubbo extends BareConnection {

    private static final short MAGIC = (short) 0xdabb;
    private static final int REQUEST = 0xc2; // the flags of a two-way, hessian2-encoded request
    private static final int EVENT = 0x20;
    private static final int OK = 20;
    private static final int HEAD_BYTES = 16;
    private static final int ID_OFFSET = 4;
    private static final int SHORT_TEXT = 32;

    private static final byte[] HEARTBEAT = {'N'};
    private static final byte[] CALL = callOfExistUser();

    private long nextId;

    BareDubbo(int port) throws IOException {
        super(port);
    }

    private static byte[] callOfExistUser() {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        text(body, "2.0.2");
        text(body, UserService.class.getName());
        text(body, "0.0.0");
        text(body, "existUser");
        text(body, "Ljava/lang/String;");
        text(body, "1236");
        body.write('H');
        text(body, "path");
        text(body, UserService.class.getName());
        text(body, "interface");
        text(body, UserService.class.getName());
        text(body, "version");
        text(body, "0.0.0");
        text(body, "timeout");
        text(body, "10000");
        body.write('Z');
        return body.toByteArray();
    }

    /** @param text a string of fewer than 1,024 characters */
    private static void text(ByteArrayOutputStream body, String text) {
        int length = text.length();
        if (length >= SHORT_TEXT) {
            body.write(0x30 + (length >> 8));
        }
        body.write(length);
        body.writeBytes(text.getBytes(StandardCharsets.US_ASCII));
    }

    @Override
    void open() throws IOException {
        ping();
    }

    @Override
    void ping() throws IOException {
        exchange(REQUEST | EVENT, HEARTBEAT);
    }

    @Override
    void call() throws IOException {
        exchange(REQUEST, CALL);
    }

    private void exchange(int flags, byte[] body) throws IOException {
        long id = ++nextId;
        out.write(ByteBuffer.allocate(HEAD_BYTES + body.length)
                .putShort(MAGIC)
                .put((byte) flags)
                .put((byte) 0)
                .putLong(id)
                .putInt(body.length)
                .put(body)
                .array());
        while (answered() != id) {
            // The frame is a heartbeat from the server. The heartbeat needs no response, because the run is shorter
            // than the server's timeout.
        }
    }

    /** Reads a frame. Returns the id of the call that the frame answers, or -1 if the frame is not a response. */
    private long answered() throws IOException {
        byte[] head = in.readNBytes(HEAD_BYTES);
        if (head.length < HEAD_BYTES) {
            throw new IOException("the server closed the connection");
        }
        ByteBuffer fields = ByteBuffer.wrap(head);
        boolean request = (fields.get(2) & 0x80) != 0;
        int status = fields.get(3);
        byte[] body = in.readNBytes(fields.getInt(HEAD_BYTES - 4));
        if (request) {
            return -1;
        }
        if (status != OK || ((fields.get(2) & EVENT) == 0 && !isValue(body))) {
            throw new IOException("status " + status + ": " + new String(body, StandardCharsets.ISO_8859_1));
        }
        return fields.getLong(ID_OFFSET);
    }

    /** Returns whether the body contains the value true, with or without attachments. */
    private static boolean isValue(byte[] body) {
        return body.length > 1 && (body[0] == (byte) 0x91 || body[0] == (byte) 0x94) && body[1] == 'T';
    }
}
