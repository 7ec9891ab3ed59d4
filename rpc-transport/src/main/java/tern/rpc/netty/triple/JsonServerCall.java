package tern.rpc.netty.triple;

import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.Metadata;
import tern.rpc.MethodDescriptor;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.Status;
import tern.rpc.StatusCode;
import tern.rpc.Thrown;
import tern.rpc.netty.triple.BodyReader.Frame;
import tern.rpc.serialization.JsonMethod;
import tern.rpc.serialization.MessageKind;
import tern.rpc.serialization.SerializationException;
import tern.rpc.transport.RemoteFailures;
import tern.rpc.transport.ServiceLookup;

/**
 * A JSON call: one request, and one answer in the response body or many as server-sent events. Metadata of the
 * application becomes plain headers.
 */
final class JsonServerCall extends MessageCall {

    /** The place of the arguments. */
    enum Source {
        QUERY,
        JSON,
        TEXT,
        FORM
    }

    private static final Logger LOG = LoggerFactory.getLogger(JsonServerCall.class);
    private static final AsciiString EVENTS = AsciiString.cached("text/event-stream");
    private static final byte[] NOTHING = {};

    private final MethodDescriptor called;
    private final JsonMethod json;
    private final Map<String, List<String>> query;
    private final Source source;
    private final JsonFormat format;
    private volatile @Nullable Metadata early; // headers that the method sent before the answer

    /** @param gzip whether the request is compressed */
    JsonServerCall(
            JsonForm form,
            HttpExchange exchange,
            Route route,
            JsonTarget target,
            Source source,
            JsonFormat format,
            boolean gzip) {
        super(
                form.codecs(),
                exchange,
                route,
                new WholeBody(exchange.connection().settings().maxRequestBytes(), gzip),
                JsonForm.timeoutNanos(exchange.head()),
                !route.required().type().serverStreams()
                        && ContentCoding.listsGzip(exchange.head(), ConnectHeaders.ACCEPT_ENCODING));
        this.called = route.required();
        this.json = codecs().json(called);
        this.query = target.query();
        this.source = source;
        this.format = format;
    }

    @Override
    public String protocol() {
        return "http";
    }

    // ---- requests

    @Override
    Metadata metadata() {
        return TripleMetadata.read(exchange().head());
    }

    @Override
    Request readRequest(Frame frame, ServiceLookup services) {
        try {
            return new Request(called, read(frame, this::arguments));
        } catch (RpcException e) {
            boolean tooLarge = e.code() == StatusCode.RESOURCE_EXHAUSTED && e.wasExecuted() != Executed.NO;
            throw tooLarge
                    ? WholeBody.tooLarge(e.status().description())
                    : e; // otherwise there is no memory for it now
        }
    }

    private @Nullable Object[] arguments(byte[] bytes, int length) {
        if (source == Source.QUERY || (length == 0 && !called.parameters().isEmpty())) {
            return json.readQuery(query);
        }
        return switch (source) {
            case TEXT -> new Object[] {text(bytes, length)};
            case FORM -> json.readQuery(JsonTarget.form(bytes, length));
            default -> json.readArguments(bytes, 0, length, false);
        };
    }

    private String text(byte[] bytes, int length) {
        if (called.parameters().size() != 1 || called.parameters().get(0).raw() != String.class) {
            throw new SerializationException(called + " does not take one text, which is all that text/plain can be");
        }
        return new String(bytes, 0, length, StandardCharsets.UTF_8);
    }

    // ---- answers

    private boolean isStream() {
        return called.type().serverStreams();
    }

    @Override
    public void sendHeaders(Metadata headers) {
        if (isStream()) {
            super.sendHeaders(headers);
        } else if (early == null) {
            TripleMetadata.write(headers, (name, value) -> {}); // fails now rather than at the end
            early = headers.copy();
        }
    }

    @Override
    byte[] message(MethodDescriptor method, @Nullable Object value, boolean compressed) {
        return codecs().bare(maxResponseBytes(), MessageKind.RESPONSE, compressed, out -> {
            if (isStream()) {
                ServerSentEvent.begin(out);
                json.writeResult(value, out);
                ServerSentEvent.end(out);
            } else if (format == JsonFormat.JSON) {
                json.writeResult(value, out);
            } else if (value != null) {
                byte[] bytes =
                        value instanceof byte[] raw ? raw : value.toString().getBytes(StandardCharsets.UTF_8);
                out.write(bytes, 0, bytes.length);
            }
        });
    }

    @Override
    Http2Headers head(Metadata headers, boolean compressed) {
        Http2Headers head = new DefaultHttp2Headers(false, 8).status(GrpcHeaders.OK);
        if (isStream()) {
            head.set(JsonForm.CONTENT_TYPE, EVENTS).set("cache-control", "no-cache");
        } else {
            head.set(JsonForm.CONTENT_TYPE, format.contentType());
        }
        if (compressed) {
            head.set(ConnectHeaders.CONTENT_ENCODING, ConnectHeaders.GZIP).add("vary", ConnectHeaders.ACCEPT_ENCODING);
        }
        Metadata sooner = early;
        TripleMetadata.write(sooner == null ? headers : sooner, head::add);
        return head;
    }

    @Override
    HttpWrite end(@Nullable Http2Headers head, byte @Nullable [] message, @Nullable Status failure, Metadata trailers) {
        if (head != null) {
            TripleMetadata.write(trailers, head::add);
        }
        if (isStream()) {
            byte[] last = failure == null ? NOTHING : ServerSentEvent.error(failure);
            return new HttpWrite(exchange(), head, last, null, true);
        }
        return JsonForm.whole(exchange(), head == null ? head(new Metadata(), false) : head, message);
    }

    @Override
    void answerFailure(Throwable failure, Metadata metadata) {
        RpcException told = failure instanceof RpcException rpc ? rpc : described(failure);
        HttpWrite whole;
        try {
            whole = JsonForm.error(exchange(), told, metadata);
        } catch (RpcException e) {
            LOG.warn("The metadata of a failed answer cannot be sent: {}", e.getMessage());
            whole = JsonForm.error(exchange(), told, new Metadata());
        }
        if (!sendWhole(whole)) {
            super.answerFailure(told, metadata); // as the last event
        }
    }

    /**
     * The failure for the caller. Only exceptions that callers know keep their message; others might reveal internals.
     */
    private RpcException described(Throwable failure) {
        boolean known = RemoteFailures.isForeign(failure)
                || called.declares(failure)
                || failure.getClass().getName().startsWith(called.service().packageName() + '.');
        String message = Thrown.message(failure);
        return RpcException.refusal(
                StatusCode.UNKNOWN,
                !known
                        ? "Internal Server Error"
                        : message == null ? failure.getClass().getSimpleName() : message,
                Executed.YES);
    }
}
