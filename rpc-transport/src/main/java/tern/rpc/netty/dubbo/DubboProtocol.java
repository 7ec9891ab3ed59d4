package tern.rpc.netty.dubbo;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandler;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tern.rpc.Invocation;
import tern.rpc.MethodDescriptor;
import tern.rpc.MethodType;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;
import tern.rpc.StatusCode;
import tern.rpc.netty.ClientProtocol;
import tern.rpc.netty.Connection;
import tern.rpc.netty.ServerConnection;
import tern.rpc.netty.ServerProtocol;
import tern.rpc.netty.WriteCommand;
import tern.rpc.serialization.Coder;
import tern.rpc.serialization.CoderPool;
import tern.rpc.serialization.LargeWork;
import tern.rpc.serialization.MessageKind;
import tern.rpc.serialization.ObjectWriter;
import tern.rpc.serialization.OutputBuffer;
import tern.rpc.serialization.Serializer;
import tern.rpc.transport.CallToken;
import tern.rpc.transport.ClientStream;
import tern.rpc.transport.PendingCall;
import tern.rpc.transport.Token;

/** The dubbo protocol with hessian2 bodies, compatible with Apache Dubbo. Thread-safe. */
public final class DubboProtocol implements ServerProtocol, ClientProtocol {

    /** The name of the protocol as the scheme of an address: {@code dubbo://host:port}. */
    public static final String NAME = "dubbo";

    /** The maximum number of stack frames sent with an exception (docs/limits.md). */
    public static final int MAX_EXCEPTION_FRAMES = 64;

    private final CoderPool coders;
    private final int exceptionFrames;
    private final ConcurrentMap<RequestKey, DubboRequestBody.Prepared> prepared = new ConcurrentHashMap<>();

    private record RequestKey(ServiceKey service, MethodDescriptor method, String application) {}

    /**
     * @param serializer the serializer of bodies; must write hessian2
     * @param exceptionFrames the number of stack frames to send with an exception, 0 to 64
     */
    public DubboProtocol(Serializer serializer, int exceptionFrames) {
        if (exceptionFrames < 0 || exceptionFrames > MAX_EXCEPTION_FRAMES) {
            throw new IllegalArgumentException(
                    "rpc.server.exception-frames is " + exceptionFrames + "; expected 0 to " + MAX_EXCEPTION_FRAMES);
        }
        this.coders = new CoderPool(serializer);
        this.exceptionFrames = exceptionFrames;
    }

    CoderPool coders() {
        return coders;
    }

    int exceptionFrames() {
        return exceptionFrames;
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public Match match(ByteBuf firstBytes) {
        int start = firstBytes.readerIndex();
        if (firstBytes.readableBytes() == 0) {
            return Match.MAYBE;
        }
        if (firstBytes.readableBytes() == 1) {
            return firstBytes.getByte(start) == (byte) (DubboHeader.MAGIC >>> 8) ? Match.MAYBE : Match.NO;
        }
        return firstBytes.getShort(start) == DubboHeader.MAGIC ? Match.YES : Match.NO;
    }

    @Override
    public void prepare(ServiceDescriptor service) {
        coders.serializer().prepare(service);
    }

    @Override
    public ChannelHandler serverHandler(ServerConnection connection) {
        return new DubboServerHandler(this, connection);
    }

    /** Checks for the magic number of the protocol at the start of an answer or request. */
    @Override
    public Match answersSo(ByteBuf first) {
        return match(first);
    }

    @Override
    public ChannelHandler clientHandler(Connection connection) {
        return new DubboClientHandler(this, connection);
    }

    @Override
    public WriteCommand request(PendingCall pending, Connection connection) {
        Invocation call = pending.call();
        DubboRequestBody.Prepared same = prepared(call, connection.settings().application());
        Coder coder = coders.take();
        OutputBuffer out = coder.output();
        out.reset(connection.settings().maxRequestBytes(), DubboHeader.BYTES, MessageKind.REQUEST);
        out.takeTurns(LargeWork.OWN_CALLS);
        byte[] frame;
        try {
            ObjectWriter writer = coder.writer();
            writer.start(out);
            DubboRequestBody.write(writer, same, call, System.nanoTime());
            writer.finish();
            int flags = DubboHeader.FLAG_REQUEST
                    | (pending.isOneWay() ? 0 : DubboHeader.FLAG_TWO_WAY)
                    | DubboHeader.HESSIAN2;
            frame = DubboFrame.finish(out, flags, 0, pending.id());
        } finally {
            out.release();
        }
        coders.giveBack(coder);
        return new DubboRequest(frame, pending, connection);
    }

    private DubboRequestBody.Prepared prepared(Invocation call, String application) {
        RequestKey key = new RequestKey(call.service(), call.method(), application);
        DubboRequestBody.Prepared known = prepared.get(key);
        return known != null
                ? known
                : prepared.computeIfAbsent(
                        key,
                        unknown -> new DubboRequestBody.Prepared(
                                encoded(writer -> DubboRequestBody.writeHead(writer, key.service(), key.method())),
                                encoded(writer ->
                                        DubboRequestBody.writeFixedAttachments(writer, key.service(), application))));
    }

    private byte[] encoded(Consumer<ObjectWriter> content) {
        OutputBuffer out = new OutputBuffer();
        ObjectWriter writer = coders.serializer().newWriter();
        writer.start(out);
        content.accept(writer);
        writer.finish();
        return out.toByteArray();
    }

    @Override
    public void prepareReference(ServiceDescriptor service) {
        for (MethodDescriptor method : service.methods()) {
            if (!DubboRequestBody.isCallable(method)) {
                String what =
                        method.type() == MethodType.UNARY ? " takes or returns protobuf messages" : " is a stream";
                throw new IllegalArgumentException(method + what + ", which the dubbo protocol cannot send; write the"
                        + " address as tri://host:port, or set the protocol of the reference to tri if a registry has"
                        + " the addresses, as with @RpcReference(protocol = \"tri\")");
            }
        }
        prepare(service);
    }

    @Override
    public CallToken carry(Token token) {
        return CallToken.attachment(token);
    }

    @Override
    public ClientStream open(PendingCall call, ClientStream.Receiver receiver, Connection connection) {
        throw RpcException.refusal(StatusCode.UNIMPLEMENTED, call + ": the dubbo protocol has no streams", Executed.NO);
    }

    @Override
    public @Nullable WriteCommand abandon(PendingCall call, Connection connection) {
        return null;
    }

    @Override
    public WriteCommand ping(Connection connection) {
        return DubboFrame.heartbeat(connection.calls().newId());
    }

    @Override
    public WriteCommand goAway(ServerConnection connection) {
        return DubboFrame.readOnly(connection.newId());
    }
}
