package tern.rpc.netty.triple;

import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;
import tern.rpc.Metadata;
import tern.rpc.MethodDescriptor;
import tern.rpc.NanoClock;
import tern.rpc.PeerText;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.SeldomWarning;
import tern.rpc.StatusCode;
import tern.rpc.Thrown;
import tern.rpc.netty.triple.BodyReader.Frame;
import tern.rpc.serialization.JsonMethod;
import tern.rpc.serialization.SerializationException;
import tern.rpc.transport.RemoteFailures;
import tern.rpc.transport.ServiceLookup;

/**
 * A method's messages and answers in JSON. The client sends one request message. A single answer is the response
 * body; a stream of answers is sent as server-sent events. Application metadata is sent as plain headers. Stateless.
 */
final class JsonEncoding implements CallEncoding {

    /** The part of the request that contains the arguments. */
    enum Source {
        QUERY,
        /** The query of a DELETE request, which must have arguments if the method has parameters. */
        QUERY_OF_DELETE,
        JSON,
        TEXT,
        FORM
    }

    private static final AsciiString EVENTS = AsciiString.cached("text/event-stream");
    private static final byte[] NOTHING = {};
    private static final byte[] EMPTY_OBJECT = {'{', '}'};

    /** The query parameter that selects the format of the answer. */
    private static final String FORMAT = "format";

    private static final SeldomWarning UNDECLARED =
            new SeldomWarning(LoggerFactory.getLogger(JsonEncoding.class), NanoClock.SYSTEM);

    private final TripleCodecs codecs;
    private final MethodDescriptor called;
    private final JsonMethod json;
    private final JsonTarget target;
    private final Source source;
    private final JsonFormat format;

    /** @throws RpcException if the method cannot be called in JSON */
    JsonEncoding(TripleCodecs codecs, MethodDescriptor called, JsonTarget target, Source source, JsonFormat format) {
        this.codecs = codecs;
        this.called = called;
        this.json = codecs.json(called);
        this.target = target;
        this.source = source;
        this.format = format;
    }

    @Override
    public String protocol() {
        return "http";
    }

    /** Returns whether the answer is a stream of events. */
    boolean isStream() {
        return called.type().serverStreams();
    }

    // ---- request decoding

    @Override
    public Metadata metadata(Http2Headers head) {
        return TripleMetadata.read(head);
    }

    @Override
    public DecodedRequest readRequest(HttpExchange exchange, Route route, Frame frame, ServiceLookup services) {
        try {
            return new DecodedRequest(
                    called,
                    codecs.readRequest(
                            frame, exchange.maxRequestBytes(), exchange.connection(), (TripleCodecs.JsonReading<
                                            @Nullable Object[]>)
                                    this::arguments));
        } catch (RpcException e) {
            boolean tooLarge = e.code() == StatusCode.RESOURCE_EXHAUSTED && e.wasExecuted() != Executed.NO;
            // RESOURCE_EXHAUSTED with Executed.NO does not mean that the message is too large. The server has refused
            // the call, for example because its memory for requests is used up.
            throw tooLarge ? WholeBody.tooLarge(e.status().description()) : e;
        }
    }

    private @Nullable Object[] arguments(byte[] bytes, int length) {
        if (source == Source.QUERY || source == Source.QUERY_OF_DELETE) {
            checkNoBody(length);
            if (source == Source.QUERY_OF_DELETE) {
                checkHasArguments();
            }
            return json.readQuery(target.query());
        }
        if (length == 0 && hasArgumentsInQuery()) {
            return json.readQuery(target.query());
        }
        checkQuery();
        return switch (source) {
            case TEXT -> new Object[] {text(bytes, length)};
            case FORM -> length == 0 ? ofBody(bytes, 0) : json.readQuery(form(bytes, length));
            default -> ofBody(bytes, length);
        };
    }

    private @Nullable Object[] ofBody(byte[] bytes, int length) {
        return length == 0 && takesEmpty()
                ? json.readArguments(EMPTY_OBJECT, 0, EMPTY_OBJECT.length, false)
                : json.readArguments(bytes, 0, length, false);
    }

    /** Returns whether the only parameter is protobuf's Empty message, which needs no body. */
    private boolean takesEmpty() {
        return called.parameters().size() == 1
                && called.parameters().get(0).raw().getName().equals("com.google.protobuf.Empty");
    }

    /**
     * Rejects a request body if the arguments must be in the query. If the body were ignored, the method would run with
     * null instead of the arguments.
     */
    private void checkNoBody(int length) {
        if (length > 0) {
            throw new SerializationException(
                    called + ": the arguments of GET, HEAD and DELETE are in the query, but the"
                            + " request has a body; use POST, or put the arguments into the query");
        }
    }

    /** Rejects a DELETE request that contains no arguments although the method has parameters, because each argument
     * would be null. */
    private void checkHasArguments() {
        if (!called.parameters().isEmpty() && !takesEmpty() && !hasArgumentsInQuery()) {
            throw new SerializationException(called + ": the query of the DELETE request has no arguments; "
                    + called.name() + " has " + String.join(", ", called.parameterNames())
                    + "; to call it without arguments, use POST with the body "
                    // If the method has one parameter, the parameter can be a string or a list, which cannot be decoded
                    // from the JSON object {}.
                    + (called.parameters().size() == 1 ? "null" : "{}"));
        }
    }

    /**
     * Returns whether the query has a parameter other than the format of the answer. If a request has neither a body
     * nor such a parameter, it contains no arguments.
     */
    private boolean hasArgumentsInQuery() {
        return target.query().keySet().stream()
                .anyMatch(
                        name -> !name.equals(FORMAT) || called.parameterNames().contains(name));
    }

    /**
     * Rejects query arguments in a request that also has a body, because the body would silently replace these
     * arguments.
     */
    private void checkQuery() {
        for (String name : called.parameterNames()) {
            if (target.query().containsKey(name)) {
                throw new SerializationException(called + ": the argument '" + name
                        + "' is in the query, but the request has a body; put all arguments into one of the two");
            }
        }
    }

    private static Map<String, List<String>> form(byte[] bytes, int length) {
        // An HTML form encodes the characters { and [, so a body that begins with one of them is JSON.
        if (length > 0 && (bytes[0] == '{' || bytes[0] == '[')) {
            throw new SerializationException("the body is JSON, but its content type is for forms; add the header"
                    + " 'content-type: application/json'");
        }
        return JsonTarget.form(bytes, length);
    }

    private String text(byte[] bytes, int length) {
        if (called.parameters().size() != 1 || called.parameters().get(0).raw() != String.class) {
            throw new SerializationException(called
                    + " does not have a single parameter of type String, so it cannot be called with text/plain");
        }
        return new String(bytes, 0, length, StandardCharsets.UTF_8);
    }

    // ---- answer encoding

    @Override
    public boolean holdsHeaders(Metadata headers) {
        if (isStream()) {
            return false;
        }
        // the headers are checked here, so that invalid headers fail in the method that sends them and not at the end
        // of the call
        TripleMetadata.write(headers, (name, value) -> {});
        return true;
    }

    @Override
    public byte[] message(
            HttpExchange exchange,
            MethodDescriptor method,
            @Nullable PayloadCodec codec,
            @Nullable Object value,
            boolean compressed) {
        return codecs.bareAnswer(exchange, compressed, out -> {
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
    public Http2Headers head(HttpExchange exchange, Metadata headers, boolean compressed) {
        Http2Headers head = new DefaultHttp2Headers(false, 8).status(GrpcHeaders.OK);
        if (isStream()) {
            head.set(JsonForm.CONTENT_TYPE, EVENTS).set("cache-control", "no-cache");
        } else {
            head.set(JsonForm.CONTENT_TYPE, format.contentType());
        }
        if (compressed) {
            head.set(ConnectHeaders.CONTENT_ENCODING, ConnectHeaders.GZIP).add("vary", ConnectHeaders.ACCEPT_ENCODING);
        }
        TripleMetadata.write(headers, head::add);
        return head;
    }

    @Override
    public HttpWrite end(
            HttpExchange exchange,
            @Nullable Http2Headers head,
            byte @Nullable [] message,
            @Nullable Failure failure,
            Metadata trailers) {
        if (head != null) {
            TripleMetadata.write(trailers, head::add);
        }
        if (isStream()) {
            byte[] last = failure == null ? NOTHING : ServerSentEvent.error(failure.status());
            return new HttpWrite(exchange, head, last, null, true);
        }
        return JsonForm.whole(exchange, head == null ? head(exchange, new Metadata(), false) : head, message);
    }

    // ---- failure encoding

    /**
     * Returns the failure to send to the caller. Callers get the message of an exception only if they have the
     * exception's class. The messages of other exceptions might reveal internals, so they are logged under an id, and
     * callers get only the class name and the id.
     */
    @Override
    public Throwable forCaller(Throwable failure) {
        if (failure instanceof RpcException) {
            return failure;
        }
        boolean known = RemoteFailures.isForeign(failure)
                || called.declares(failure)
                || failure.getClass().getName().startsWith(called.service().packageName() + '.');
        String message = Thrown.message(failure);
        String text = known
                ? message == null ? failure.getClass().getSimpleName() : message
                : logged(failure.getClass().getName(), message);
        return RpcException.refusal(StatusCode.UNKNOWN, text, Executed.YES);
    }

    private String logged(String type, @Nullable String message) {
        String text =
                RemoteFailures.foreignText(type, ThreadLocalRandom.current().nextInt());
        UNDECLARED.warn(() -> called + " failed with an exception that it does not declare, and callers of JSON get"
                + " only " + text + ": " + PeerText.name(String.valueOf(message))
                + ". To send a text, throw an RpcException such as new"
                + " RpcException(StatusCode.INVALID_ARGUMENT, text), or declare the exception");
        return text;
    }

    /**
     * Returns a complete answer that reports the failure. If a part of the answer has already been sent, this answer is
     * not used, and {@link #end} reports the failure in a last event.
     */
    @Override
    public HttpWrite wholeFailure(
            HttpExchange exchange,
            @Nullable MethodDescriptor method,
            @Nullable PayloadCodec codec,
            Throwable failure,
            Metadata metadata) {
        RpcException refusal = (RpcException) failure;
        try {
            return JsonForm.error(exchange, refusal, metadata);
        } catch (RpcException e) {
            HttpAnswer.UNSENT_METADATA.warn(() -> "The metadata of a failed answer cannot be sent: " + e.getMessage());
            return JsonForm.error(exchange, refusal, new Metadata());
        }
    }
}
