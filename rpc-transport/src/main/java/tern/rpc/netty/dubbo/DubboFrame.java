package tern.rpc.netty.dubbo;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.Arrays;
import tern.rpc.netty.WriteBatch;
import tern.rpc.netty.WriteCommand;
import tern.rpc.serialization.OutputBuffer;

/** A complete frame, ready to be sent. */
class DubboFrame extends WriteCommand {

    private static final byte[] NULL_EVENT = {'N'};

    /** The encoded hessian2 string "R" (docs/wire-protocol.md 1.6). */
    private static final byte[] READ_ONLY_EVENT = {1, 'R'};

    private final byte[] bytes;

    DubboFrame(byte[] bytes) {
        this.bytes = bytes;
    }

    /** @param out the body, after {@link DubboHeader#BYTES} bytes that are reserved for the header */
    static byte[] finish(OutputBuffer out, int flags, int status, long id) {
        DubboHeader.write(out.array(), flags, status, id, out.position() - DubboHeader.BYTES);
        return Arrays.copyOf(out.array(), out.position());
    }

    static DubboFrame heartbeat(long id) {
        return event(
                DubboHeader.FLAG_REQUEST | DubboHeader.FLAG_TWO_WAY | DubboHeader.FLAG_EVENT | DubboHeader.HESSIAN2,
                0,
                id,
                NULL_EVENT);
    }

    static DubboFrame heartbeatAnswer(long id) {
        return event(DubboHeader.FLAG_EVENT | DubboHeader.HESSIAN2, DubboStatus.OK, id, NULL_EVENT);
    }

    static DubboFrame readOnly(long id) {
        return event(DubboHeader.FLAG_REQUEST | DubboHeader.FLAG_EVENT | DubboHeader.HESSIAN2, 0, id, READ_ONLY_EVENT);
    }

    private static DubboFrame event(int flags, int status, long id, byte[] body) {
        byte[] frame = new byte[DubboHeader.BYTES + body.length];
        DubboHeader.write(frame, flags, status, id, body.length);
        System.arraycopy(body, 0, frame, DubboHeader.BYTES, body.length);
        return new DubboFrame(frame);
    }

    ByteBuf buffer() {
        return Unpooled.wrappedBuffer(bytes);
    }

    @Override
    public int bytes() {
        return bytes.length;
    }

    @Override
    protected void write(WriteBatch batch) {
        batch.append(bytes, bytes.length);
    }
}
