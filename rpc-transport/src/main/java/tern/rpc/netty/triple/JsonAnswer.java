package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tern.rpc.Invocation;
import tern.rpc.Metadata;
import tern.rpc.PeerText;
import tern.rpc.Response;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.Status;
import tern.rpc.StatusCode;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.netty.http1.Http1Answer;
import tern.rpc.netty.triple.BodyReader.Frame;
import tern.rpc.serialization.JsonError;
import tern.rpc.serialization.JsonMethod;
import tern.rpc.serialization.MessageKind;
import tern.rpc.serialization.SerializationException;
import tern.rpc.transport.Answer;
import tern.rpc.transport.RemoteFailures;

/** The undecoded answer to a JSON call over HTTP/1.1 (docs/wire-protocol.md 4.3 and 4.5). */
final class JsonAnswer implements Answer {

    private static final int MAX_SHOWN_BODY = 200;

    private final TripleCodecs codecs;
    private final Endpoint endpoint;
    private final int maxBytes;
    private final Http1Answer answer;

    /** @param maxBytes the maximum size of a message */
    JsonAnswer(TripleCodecs codecs, Endpoint endpoint, int maxBytes, Http1Answer answer) {
        this.codecs = codecs;
        this.endpoint = endpoint;
        this.maxBytes = maxBytes;
        this.answer = answer;
    }

    @Override
    public Response decode(Invocation call) {
        Frame frame;
        Metadata metadata;
        try {
            frame = frame();
            metadata = TripleMetadata.read(answer.fields());
        } catch (RpcException e) {
            throw unreadable(call, e.code(), e.status().description(), e);
        }
        try {
            if (answer.status() / 100 != 2) {
                throw RemoteFailures.answered(call, endpoint, failure(call, frame, metadata));
            }
            Object value = value(call, frame);
            return new Response(value, metadata, metadata);
        } catch (SerializationException e) {
            throw unreadable(call, StatusCode.INTERNAL, e.getMessage(), e);
        }
    }

    private RpcException failure(Invocation call, Frame frame, Metadata metadata) {
        try {
            return codecs.read(
                    frame, maxBytes, MessageKind.RESPONSE, (bytes, length) -> failure(call, bytes, length, metadata));
        } catch (RpcException e) { // Decoding can fail, for example if the decompressed answer is too large.
            return unreadable(call, e.code(), e.status().description(), e);
        }
    }

    private @Nullable Object value(Invocation call, Frame frame) {
        JsonMethod json = codecs.json(call.method());
        try {
            return codecs.readAnswer(frame, maxBytes, (bytes, length) -> value(json, bytes, length));
        } catch (RpcException e) {
            throw unreadable(call, e.code(), e.status().description(), e);
        }
    }

    private Frame frame() {
        String coding = answer.field(ConnectHeaders.CONTENT_ENCODING);
        ByteBuf body = Unpooled.wrappedBuffer(answer.body(), 0, answer.bodyBytes());
        return new Frame(body, ContentCoding.isGzip("content-encoding", coding) ? MessageDeframer.COMPRESSED : 0);
    }

    private @Nullable Object value(JsonMethod json, byte[] bytes, int length) {
        if (length == 0) { // the answer has no body, for example because its status is 204
            return null;
        }
        String type = answer.field(JsonForm.CONTENT_TYPE);
        if (type == null || !type.startsWith("application/json")) {
            throw new SerializationException("its content type is " + type + "; expected application/json");
        }
        return json.readResult(bytes, 0, length);
    }

    private RpcException failure(Invocation call, byte[] bytes, int length, Metadata metadata) {
        Executed executed = GrpcHeaders.executed(answer::field);
        JsonError error = codecs.jsonError(bytes, length);
        return new RpcException(status(call, error, bytes, length, executed == Executed.NO), executed, metadata);
    }

    private Status status(Invocation call, @Nullable JsonError error, byte[] bytes, int length, boolean notRun) {
        int http = answer.status();
        if (error == null) { // the body is not a JSON error, so the answer might come from a proxy
            String body = new String(bytes, 0, Math.min(length, MAX_SHOWN_BODY), StandardCharsets.UTF_8);
            return new Status(
                    StatusTable.fromHttpStatus(http),
                    call + " at " + endpoint + ": it answered HTTP status " + http
                            + " without an RPC error; does the address belong to an RPC server? The body: "
                            + PeerText.text(body));
        }
        StatusCode code = StatusTable.fromConnectName(error.code());
        if (code == null) {
            return new Status(StatusTable.fromHttpStatus(http), error.message(), List.of());
        }
        // JsonForm reports an unknown method with status 404, so NOT_FOUND is converted back to UNIMPLEMENTED here
        StatusCode corrected = code == StatusCode.NOT_FOUND && notRun ? StatusCode.UNIMPLEMENTED : code;
        return new Status(corrected, error.message(), error.details());
    }

    private RpcException unreadable(Invocation call, StatusCode code, @Nullable String reason, RuntimeException cause) {
        return new RpcException(
                code, call + ": the answer of " + endpoint + " cannot be read: " + reason, Executed.YES, cause);
    }

    @Override
    public void discard() {
        // the body is a byte array, so there is no buffer to release
    }
}
