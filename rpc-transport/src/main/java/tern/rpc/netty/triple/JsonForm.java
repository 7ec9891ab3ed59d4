package tern.rpc.netty.triple;

import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tern.rpc.Metadata;
import tern.rpc.MethodDescriptor;
import tern.rpc.Payload;
import tern.rpc.PeerText;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.Status;
import tern.rpc.StatusCode;
import tern.rpc.netty.triple.JsonEncoding.Source;
import tern.rpc.transport.ServiceLookup;

/**
 * Calls with arguments and results as plain JSON, for curl, browsers and Dubbo (docs/wire-protocol.md 4). Thread-safe.
 */
final class JsonForm implements HttpForm {

    static final AsciiString CONTENT_TYPE = AsciiString.cached("content-type");
    static final AsciiString CONTENT_LENGTH = AsciiString.cached("content-length");
    private static final AsciiString JSON = AsciiString.cached("application/json");
    private static final AsciiString TEXT = AsciiString.cached("text/plain");
    private static final AsciiString FORM = AsciiString.cached("application/x-www-form-urlencoded");
    private static final String ANY_METHOD = "POST, PUT, PATCH, DELETE, OPTIONS";
    private static final String ANY_METHOD_READING = "GET, HEAD, " + ANY_METHOD;

    /**
     * The parsed path of a request, the method that it leads to, and the encoding that most calls to this path use.
     * Thread-safe.
     */
    private static final class Aim {

        private final JsonTarget target;
        private final Route route;
        // the encoding that most calls use; created by the first call. Several threads may create it at the same time,
        // because the created objects are equal
        private @Nullable JsonEncoding usual;

        Aim(JsonTarget target, Route route) {
            this.target = target;
            this.route = route;
        }

        JsonEncoding encoding(TripleCodecs codecs, Source source, JsonFormat format) {
            if (source != Source.JSON || format != JsonFormat.JSON) {
                return new JsonEncoding(codecs, route.required(), target, source, format);
            }
            JsonEncoding known = usual;
            if (known == null) {
                known = new JsonEncoding(codecs, route.required(), target, source, format);
                usual = known;
            }
            return known;
        }
    }

    private final TripleCodecs codecs;
    private final HttpSettings settings;
    private final Routes<Aim> aims = new Routes<>(JsonForm::aim);

    JsonForm(TripleCodecs codecs, HttpSettings settings) {
        this.codecs = codecs;
        this.settings = settings;
    }

    @Override
    public HttpCall call(HttpExchange exchange, ServiceLookup services) {
        Http2Headers head = exchange.head();
        Aim aim = aims.of(services, head);
        JsonTarget target = aim.target;
        MethodDescriptor method = aim.route.required();
        Source source = source(head, method);
        checkStreams(exchange, method);
        checkLength(exchange);
        AsciiString type = HeadFields.mediaType(head);
        JsonFormat format = method.type().serverStreams()
                ? JsonFormat.JSON
                : JsonFormat.choose(
                        method, head, Arrays.asList(target.parameter("format"), target.format(), type.toString()));
        return call(exchange, aim, source, format, isGzip(head));
    }

    @Override
    public HttpCall callNowhere(HttpExchange exchange) {
        Http2Headers head = exchange.head();
        JsonTarget target = JsonTarget.of(head.path());
        Route route = Route.nowhere(
                target.path(),
                either(head, GrpcHeaders.GROUP, HeadFields.REST_GROUP),
                either(head, GrpcHeaders.VERSION, HeadFields.REST_VERSION));
        boolean gzip = ContentCoding.mayBeGzip(head.get(ConnectHeaders.CONTENT_ENCODING));
        return call(exchange, new Aim(target, route), Source.JSON, JsonFormat.JSON, gzip);
    }

    private HttpCall call(HttpExchange exchange, Aim aim, Source source, JsonFormat format, boolean gzip) {
        Http2Headers head = exchange.head();
        long timeoutNanos = timeoutNanos(head);
        JsonEncoding encoding = aim.encoding(codecs, source, format);
        return new HttpCall(
                encoding,
                exchange,
                aim.route,
                new WholeBody(exchange.maxRequestBytes(), gzip),
                timeoutNanos,
                !encoding.isStream() && ContentCoding.listsGzip(head, ConnectHeaders.ACCEPT_ENCODING));
    }

    private static Aim aim(ServiceLookup services, Http2Headers head) {
        JsonTarget target = JsonTarget.of(head.path());
        return new Aim(target, route(head, target, services));
    }

    private static Route route(Http2Headers head, JsonTarget target, ServiceLookup services) {
        Route route = Route.of(
                services,
                target.path(),
                either(head, GrpcHeaders.GROUP, HeadFields.REST_GROUP),
                either(head, GrpcHeaders.VERSION, HeadFields.REST_VERSION));
        List<MethodDescriptor> all = route.candidates();
        if (all.get(0).service() != route.service()) {
            throw unknown(route.methodName() + " has no form in JSON");
        }
        String overload = target.overload();
        List<MethodDescriptor> fitting = overload == null
                ? all
                : all.stream()
                        .filter(method -> JsonOverloads.letters(method).equals(overload))
                        .toList();
        if (fitting.isEmpty()) {
            throw unknown(route.methodName() + " has no parameters with the types '" + PeerText.name(overload)
                    + "'; there are " + JsonOverloads.paths(all));
        }
        if (fitting.size() > 1) {
            throw new HttpRefusal(HttpResponseStatus.BAD_REQUEST, JsonOverloads.choice(route.methodName(), fitting));
        }
        return new Route(route.key(), route.service(), route.methodName(), fitting);
    }

    private static RpcException unknown(String description) {
        return RpcException.refusal(StatusCode.UNIMPLEMENTED, description, Executed.NO);
    }

    private static @Nullable String either(Http2Headers head, CharSequence name, CharSequence other) {
        CharSequence value = head.get(name);
        CharSequence found = value != null ? value : head.get(other);
        return found == null ? null : found.toString();
    }

    /** Returns which part of the request contains the arguments. */
    private Source source(Http2Headers head, MethodDescriptor method) {
        String verb = String.valueOf(head.method());
        boolean reading = is(verb, HttpMethod.GET) || is(verb, HttpMethod.HEAD);
        if (is(verb, HttpMethod.DELETE)) {
            return Source.QUERY_OF_DELETE;
        }
        if (reading && method.isReadOnly()) {
            return Source.QUERY;
        }
        if (reading || !(is(verb, HttpMethod.POST) || is(verb, HttpMethod.PUT) || is(verb, HttpMethod.PATCH))) {
            throw new HttpRefusal(
                    HttpResponseStatus.METHOD_NOT_ALLOWED,
                    reading
                            ? method + " cannot be called by " + verb
                                    + (method.payload() == Payload.RAW
                                            ? ", but only with gRPC"
                                            : ", because it is not read-only; use POST, or mark it @RpcMethod(readOnly"
                                                    + " = true) in the interface")
                            : "the HTTP method " + PeerText.name(verb) + " is not served; use POST",
                    "allow",
                    method.isReadOnly() ? ANY_METHOD_READING : ANY_METHOD);
        }
        return bodySource(HeadFields.mediaType(head));
    }

    private static boolean is(String verb, HttpMethod method) {
        return verb.equals(method.name());
    }

    /**
     * Returns whether requests with this content type are treated as JSON calls. Such a call decodes the body, or fails
     * with an error that lists the accepted types.
     */
    static boolean takes(AsciiString type) {
        return type.isEmpty() || type.equals(JSON) || type.equals(TEXT) || type.equals(FORM);
    }

    private Source bodySource(AsciiString type) {
        if (type.isEmpty() || type.contentEquals(JSON)) {
            return Source.JSON;
        }
        if (type.contentEquals(TEXT) && settings.textBodies()) {
            return Source.TEXT;
        }
        if (type.contentEquals(FORM) && settings.formBodies()) {
            return Source.FORM;
        }
        String known = type.contentEquals(TEXT)
                ? ". fetch sends a text with this type unless the header 'content-type: application/json' is set"
                        + " (only for plain text: rpc.server.http.text-bodies=true)"
                : type.contentEquals(FORM)
                        ? ". curl -d sends this type unless -H 'content-type: application/json' is added"
                                + " (only for HTML forms: rpc.server.http.form-bodies=true)"
                        : "";
        throw new HttpRefusal(
                HttpResponseStatus.UNSUPPORTED_MEDIA_TYPE,
                "content type '" + type + "' is not served here; use application/json" + known,
                "accept-post",
                "application/json");
    }

    private static void checkStreams(HttpExchange exchange, MethodDescriptor method) {
        if (!method.type().clientStreams()) {
            return;
        }
        throw exchange.isHttp2()
                ? new HttpRefusal(
                        HttpResponseStatus.NOT_IMPLEMENTED,
                        method + " takes a stream, which has no form in plain JSON; call it by gRPC or Connect")
                : new HttpRefusal(
                        HttpResponseStatus.HTTP_VERSION_NOT_SUPPORTED,
                        method + " takes a stream, which needs HTTP/2 and gRPC or Connect");
    }

    /** Refuses a request immediately if its content-length header exceeds the limit. */
    private static void checkLength(HttpExchange exchange) {
        Long length = exchange.head().getLong(CONTENT_LENGTH);
        int limit = exchange.connection().settings().maxRequestBytes();
        if (length != null && length > limit) {
            throw WholeBody.tooLarge(limit);
        }
    }

    /** Returns the shortest timeout in the headers of the request; negative if the request has no timeout. */
    static long timeoutNanos(Http2Headers head) {
        long grpc;
        try {
            grpc = GrpcHeaders.timeoutNanos(head);
        } catch (RpcException e) {
            throw new HttpRefusal(HttpResponseStatus.BAD_REQUEST, e.status().description());
        }
        long other = ConnectHeaders.timeoutNanos(head);
        return grpc < 0 || other < 0 ? Math.max(grpc, other) : Math.min(grpc, other);
    }

    private static boolean isGzip(Http2Headers head) {
        try {
            return ContentCoding.isGzip("content-encoding", head.get(ConnectHeaders.CONTENT_ENCODING));
        } catch (RpcException e) {
            throw new HttpRefusal(
                    HttpResponseStatus.NOT_IMPLEMENTED, e.status().description(), "accept-encoding", "gzip");
        }
    }

    @Override
    public void refuse(HttpExchange exchange, RpcException reason) {
        exchange.send(error(exchange, reason, new Metadata()));
    }

    /**
     * Returns an answer that contains an error.
     *
     * @throws RpcException if the metadata cannot be sent
     */
    static HttpWrite error(HttpExchange exchange, RpcException reason, Metadata metadata) {
        HttpResponseStatus status = httpStatus(reason);
        Http2Headers head = new DefaultHttp2Headers(false, 4);
        TripleMetadata.write(metadata, head::add);
        if (reason instanceof HttpRefusal refusal && !refusal.headerName().isEmpty()) {
            head.set(refusal.headerName(), refusal.headerValue());
        }
        GrpcHeaders.addExecuted(head, reason.wasExecuted());
        if (status.code() == HttpResponseStatus.UNAUTHORIZED.code()) {
            head.set("www-authenticate", "Bearer"); // RFC 9110, 15.5.2 requires www-authenticate for status 401
        }
        head.status(status.codeAsText()).set(CONTENT_TYPE, JSON);
        return whole(exchange, head, ErrorBody.of(forCaller(reason), status.code()));
    }

    /** Returns a complete answer with headers and body. */
    static HttpWrite whole(HttpExchange exchange, Http2Headers head, byte @Nullable [] body) {
        head.setInt(CONTENT_LENGTH, body == null ? 0 : body.length);
        return new HttpWrite(exchange, head, body, null, true);
    }

    private static HttpResponseStatus httpStatus(RpcException reason) {
        if (reason instanceof HttpRefusal refusal) {
            return refusal.httpStatus();
        }
        if (isUnknown(reason)) {
            return HttpResponseStatus.NOT_FOUND;
        }
        return reason.code() == StatusCode.OK // A failure must not be sent as a success, even if its code is OK.
                ? HttpResponseStatus.INTERNAL_SERVER_ERROR
                : HttpResponseStatus.valueOf(StatusTable.httpStatus(reason.code()));
    }

    /**
     * Returns whether the failure means that the service or method is unknown. A failure of a method that has run never
     * has this meaning.
     */
    private static boolean isUnknown(RpcException reason) {
        return reason.code() == StatusCode.UNIMPLEMENTED && reason.wasExecuted() == Executed.NO;
    }

    private static Status forCaller(RpcException reason) {
        return isUnknown(reason) && !(reason instanceof HttpRefusal)
                ? new Status(StatusCode.NOT_FOUND, reason.status().description())
                : reason.status();
    }
}
