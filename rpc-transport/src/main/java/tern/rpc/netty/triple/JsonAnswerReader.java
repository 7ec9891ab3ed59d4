package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.netty.AnswerReader;
import tern.rpc.netty.UnexpectedProtocols;
import tern.rpc.netty.http1.Http1Answer;
import tern.rpc.netty.http1.Http1AnswerReader;
import tern.rpc.netty.http1.Http1Violation;
import tern.rpc.transport.Answer;
import tern.rpc.transport.PendingCall;

/** Parses the answers to JSON calls on one HTTP/1.1 connection. Only one thread at a time uses a reader. */
final class JsonAnswerReader implements AnswerReader {

    private final TripleCodecs codecs;
    private final Endpoint endpoint;
    private final int maxBytes;
    private final UnfinishedAnswers.Account memory;
    private final Http1AnswerReader answers;
    private boolean begun; // true if the first byte of the connection's first answer has arrived

    /**
     * @param maxBytes the maximum size of a message
     */
    JsonAnswerReader(TripleCodecs codecs, Endpoint endpoint, int maxBytes) {
        this.codecs = codecs;
        this.endpoint = endpoint;
        this.maxBytes = maxBytes;
        this.memory = new UnfinishedAnswers.Account(UnfinishedAnswers.OF_PROCESS, endpoint);
        this.answers = new Http1AnswerReader(maxBytes, memory::holds);
    }

    @Override
    public @Nullable Answer read(ByteBuf in, PendingCall call) {
        if (!begun && in.isReadable()) {
            String peer = UnexpectedProtocols.protocol(in);
            if (peer != null && !peer.equals(UnexpectedProtocols.HTTP_1)) {
                throw RpcException.refusal(
                        StatusCode.UNAVAILABLE,
                        call + " at " + endpoint + ": " + UnexpectedProtocols.describe(in, Http1ClientProtocol.NAME),
                        Executed.NO);
            }
            begun = true;
        }
        try {
            Http1Answer answer = answers.read(in);
            return answer == null ? null : new JsonAnswer(codecs, endpoint, maxBytes, answer);
        } catch (Http1Violation e) {
            StatusCode code = HttpRefusal.code(e.status());
            boolean tooLarge = code == StatusCode.RESOURCE_EXHAUSTED;
            throw RpcException.refusal(
                    tooLarge ? code : StatusCode.INTERNAL,
                    call + " at " + endpoint + ": " + (tooLarge ? "" : "its answer cannot be read: ") + e.getMessage(),
                    Executed.YES);
        }
    }

    @Override
    public boolean keepsAlive() {
        return answers.keepsAlive();
    }

    @Override
    public void end() {
        memory.ended();
    }

    @Override
    public int missingBytes() {
        return answers.missingBytes();
    }
}
