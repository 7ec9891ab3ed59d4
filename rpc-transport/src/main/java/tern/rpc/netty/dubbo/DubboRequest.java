package tern.rpc.netty.dubbo;

import tern.rpc.netty.Connection;
import tern.rpc.netty.WriteBatch;
import tern.rpc.transport.Answer;
import tern.rpc.transport.PendingCall;

/** A request frame. Notifies its call when the frame is sent. */
final class DubboRequest extends DubboFrame {

    private final PendingCall call;
    private final Connection connection;
    private boolean written;

    DubboRequest(byte[] bytes, PendingCall call, Connection connection) {
        super(bytes);
        this.call = call;
        this.connection = connection;
    }

    @Override
    protected void write(WriteBatch batch) {
        if (call.markSent()) {
            written = true;
            super.write(batch);
        }
    }

    @Override
    protected void written() {
        if (written && call.isOneWay()) {
            connection.answered(call.id(), Answer.NOTHING);
        }
    }
}
