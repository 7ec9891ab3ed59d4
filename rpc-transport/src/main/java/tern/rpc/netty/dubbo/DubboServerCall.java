package tern.rpc.netty.dubbo;

import io.netty.buffer.ByteBuf;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.CallHead;
import tern.rpc.Invocation;
import tern.rpc.Metadata;
import tern.rpc.MethodDescriptor;
import tern.rpc.NanoClock;
import tern.rpc.Response;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.SeldomWarning;
import tern.rpc.StatusCode;
import tern.rpc.Thrown;
import tern.rpc.netty.InboundAccount;
import tern.rpc.netty.NettyServerCall;
import tern.rpc.netty.ServerConnection;
import tern.rpc.serialization.Coder;
import tern.rpc.serialization.LargeMessages;
import tern.rpc.serialization.MessageKind;
import tern.rpc.serialization.MessageTooLargeException;
import tern.rpc.serialization.ObjectWriter;
import tern.rpc.serialization.OutputBuffer;
import tern.rpc.serialization.SerializationException;
import tern.rpc.transport.ServiceLookup;
import tern.rpc.transport.UntypedExceptions;

/** A request on a dubbo connection, and its answer. Thread-safe. */
final class DubboServerCall extends NettyServerCall {

    /**
     * An answer of at least {@value} bytes may be encoded only with a permit, because only a few threads may encode
     * large answers at the same time.
     */
    private static final int LARGE_BYTES = 256 << 10;

    private static final Logger LOG = LoggerFactory.getLogger(DubboServerCall.class);

    /** Limits how many stack traces are logged for answers that cannot be written, because callers can cause any number
     * of such answers. */
    private static final SeldomWarning UNWRITTEN = new SeldomWarning(LOG, NanoClock.SYSTEM, Duration.ofMillis(250));

    /** The maximum number of characters in an error answer (docs/limits.md). */
    private static final int MAX_TEXT = 8 << 10;

    private static final VarHandle BODY;

    static {
        try {
            BODY = MethodHandles.lookup().findVarHandle(DubboServerCall.class, "body", ByteBuf.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final DubboProtocol protocol;
    private final int flags;
    private final long id;
    // the undecoded body of the request; read and cleared atomically by the VarHandle BODY
    private volatile @Nullable ByteBuf body;
    private final int countedBytes;
    private volatile boolean takesAttachments;

    /** @param body the undecoded body of the request; the call must release it */
    DubboServerCall(DubboProtocol protocol, ServerConnection connection, int flags, long id, ByteBuf body) {
        super(connection);
        this.protocol = protocol;
        this.flags = flags;
        this.id = id;
        this.body = body;
        this.countedBytes = InboundAccount.counted(body.readableBytes());
        connection.memory().kept(countedBytes);
    }

    @Override
    public String protocol() {
        return protocol.name();
    }

    @Override
    public @Nullable MethodDescriptor peekMethod(ServiceLookup services) {
        ByteBuf bytes = body;
        return bytes == null ? null : RequestNames.method(bytes, services);
    }

    @Override
    public int requestBytes() {
        return countedBytes;
    }

    @Override
    public Invocation decode(ServiceLookup services, Admission admission) {
        ByteBuf bytes = takeBody();
        if (bytes == null) {
            throw RpcException.refusal(StatusCode.CANCELLED, "the call ended before its request was read", Executed.NO);
        }
        int permits = 0;
        try {
            int length = bytes.readableBytes();
            if (LargeMessages.isChecked(length) && !admission.isOpen()) {
                admitLarge(bytes, admission);
            }
            permits = LargeMessages.startReading(length, connection().network());
            Coder coder = protocol.coders().take();
            try {
                return decode(bytes, coder, services, admission);
            } catch (RpcException e) {
                protocol.coders().giveBack(coder);
                throw e;
            }
        } catch (SerializationException e) {
            throw new RpcException(
                    StatusCode.INVALID_ARGUMENT, "the request cannot be read: " + e.getMessage(), Executed.NO, e);
        } finally {
            LargeMessages.release(permits);
            release(bytes);
        }
    }

    /**
     * Authorizes the caller of a large request before memory is reserved for the objects of its arguments, because
     * unauthorized callers could otherwise use up this memory.
     */
    private void admitLarge(ByteBuf bytes, Admission admission) {
        int permits =
                LargeMessages.startSkipping(bytes.readableBytes(), connection().network());
        try {
            Coder coder = protocol.coders().take();
            start(coder, bytes);
            CallHead head = DubboRequestBody.readHead(coder.reader(), receivedNanos(), this);
            protocol.coders().giveBack(coder);
            admission.admit(head);
        } finally {
            LargeMessages.release(permits);
        }
    }

    private Invocation decode(ByteBuf bytes, Coder coder, ServiceLookup services, Admission admission) {
        int length = bytes.readableBytes();
        byte[] array = start(coder, bytes);
        if (!LargeMessages.isChecked(length) && !admission.isOpen()) {
            // the request contains the token after the arguments; the arguments are skipped until the caller is
            // authorized
            admission.admit(DubboRequestBody.readHead(coder.reader(), receivedNanos(), this));
            coder.reader().start(array, 0, length, connection().network());
        }
        DubboRequestBody.Read read = DubboRequestBody.read(coder.reader(), services, receivedNanos(), Runnable::run);
        takesAttachments = read.takesResponseAttachments();
        protocol.coders().giveBack(coder);
        return read.call();
    }

    /** Copies the bytes into the coder's array, and moves the coder's reader to the first byte. */
    private byte[] start(Coder coder, ByteBuf bytes) {
        int length = bytes.readableBytes();
        byte[] array = coder.input(length);
        bytes.getBytes(bytes.readerIndex(), array, 0, length);
        coder.reader().start(array, 0, length, connection().network());
        return array;
    }

    /** Returns the undecoded body to the first caller of this method, and null to later callers. */
    private @Nullable ByteBuf takeBody() {
        return body == null ? null : (ByteBuf) BODY.getAndSet(this, null);
    }

    private void release(ByteBuf bytes) {
        bytes.release();
        connection().memory().kept(-countedBytes);
    }

    @Override
    protected boolean isOneWay() {
        return !DubboHeader.isTwoWay(flags);
    }

    @Override
    protected void discardRequest() {
        ByteBuf bytes = takeBody();
        if (bytes != null) {
            release(bytes);
        }
    }

    @Override
    public void reply(Response response) {
        if (!claimResult() || !DubboHeader.isTwoWay(flags)) {
            return;
        }
        if (!isRefused()) {
            send(writer -> {
                if (!response.headers().isEmpty()) {
                    // the dubbo protocol does not distinguish headers from trailers
                    response.metadata().addAll(response.headers());
                }
                DubboResponseBody.writeValue(writer, response, takesAttachments);
            });
        }
    }

    /**
     * Sends an error instead of the answer if the caller reads too slowly and unread answers occupy too much memory.
     * Returns whether the error was sent.
     */
    private boolean isRefused() {
        String refusal = connection().unread().refusal();
        if (refusal == null) {
            return false;
        }
        answerFailure(
                RpcException.refusal(StatusCode.RESOURCE_EXHAUSTED, "the answer is not sent: " + refusal, Executed.YES),
                new Metadata());
        return true;
    }

    @Override
    public void fail(Throwable failure, Metadata metadata) {
        if (claimResult()) {
            answerFailure(failure, metadata);
        }
    }

    /** Sends an error for a request that is refused before it becomes a call. */
    void refuse(RpcException failure) {
        discardRequest();
        answerFailure(failure, new Metadata());
    }

    /**
     * Refuses a request above the size limit, with the status that Dubbo's callers expect (docs/wire-protocol.md 1.11).
     */
    void refuseTooLarge(RpcException failure) {
        discardRequest();
        if (DubboHeader.isTwoWay(flags)) {
            sendText(DubboStatus.BAD_REQUEST, failure.status().toString());
        }
    }

    private void answerFailure(Throwable failure, Metadata metadata) {
        if (!DubboHeader.isTwoWay(flags)) {
            Thrown.log(failure, shown -> LOG.debug("A one-way call failed", shown));
        } else if (failure instanceof RpcException rpc) {
            sendText(DubboStatus.of(rpc), rpc.status().toString());
        } else {
            sendException(failure, metadata);
        }
    }

    private void sendException(Throwable failure, Metadata metadata) {
        try {
            enqueue(DubboStatus.OK, writer -> writeException(writer, failure, metadata));
        } catch (Throwable e) {
            UntypedExceptions.warn(failure, e);
            Throwable plain = new RuntimeException(Thrown.text(failure));
            plain.setStackTrace(Thrown.trace(failure));
            send(writer -> writeException(writer, plain, metadata));
        }
    }

    private void writeException(ObjectWriter writer, Throwable failure, Metadata metadata) {
        DubboResponseBody.writeException(writer, failure, protocol.exceptionFrames(), metadata, takesAttachments);
    }

    /** Writes the content of an answer body. */
    private interface Content {
        void write(ObjectWriter writer);
    }

    /** Sends an answer. If the answer cannot be encoded, sends an error, so that every call gets an answer. */
    private void send(Content content) {
        try {
            enqueue(DubboStatus.OK, content);
        } catch (MessageTooLargeException e) {
            sendText(DubboStatus.SERIALIZATION_ERROR, DubboStatus.ANSWER_TOO_LARGE + e.getMessage());
        } catch (RpcException e) { // too many other threads are encoding large answers, so this answer fails
            answerFailure(e, new Metadata());
        } catch (Throwable e) {
            UNWRITTEN.warn(() -> "An answer cannot be written", e);
            sendText(DubboStatus.BAD_RESPONSE, "the answer cannot be written: " + Thrown.message(e));
        }
    }

    private void sendText(int status, String text) {
        String bounded = text.length() <= MAX_TEXT ? text : text.substring(0, MAX_TEXT);
        try {
            enqueue(status, writer -> writer.writeString(bounded));
        } catch (Throwable e) {
            connection().unanswerable(e);
        }
    }

    private void enqueue(int status, Content content) {
        Coder coder = protocol.coders().take();
        OutputBuffer out = coder.output();
        out.reset(connection().settings().maxResponseBytes(), DubboHeader.BYTES, MessageKind.RESPONSE);
        out.takeTurns(connection().network());
        DubboFrame frame;
        try {
            ObjectWriter writer = coder.writer();
            writer.start(out);
            content.write(writer);
            writer.finish();
            frame = new DubboFrame(DubboFrame.finish(out, DubboHeader.HESSIAN2, status, id));
        } finally {
            out.release();
        }
        protocol.coders().giveBack(coder);
        if (frame.bytes() > LARGE_BYTES && isRefused()) {
            return; // other answers might have used up the memory budget while this answer waited to be encoded
        }
        connection().queue().add(frame);
    }
}
