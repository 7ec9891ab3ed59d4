package tern.rpc.netty.triple;

import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tern.rpc.PeerText;
import tern.rpc.RpcException;
import tern.rpc.netty.ServerConnection;
import tern.rpc.transport.AcceptedTokens;

/**
 * Selects the protocol of a request based on its HTTP method, content type and other headers (docs/wire-protocol.md
 * 7.2). Thread-safe.
 */
final class HttpDispatcher implements HttpRequests {

    private static final AsciiString TOKEN = AsciiString.cached(AcceptedTokens.ATTACHMENT);
    private static final AsciiString AUTHORIZATION = AsciiString.cached(AcceptedTokens.AUTHORIZATION);

    private static final Set<String> PROBES = AcceptedTokens.OPEN_METHODS.stream()
            .map(method -> '/' + AcceptedTokens.OPEN_SERVICE + '/' + method)
            .collect(Collectors.toUnmodifiableSet());

    private final Map<AsciiString, HttpForm> posted = new HashMap<>();
    private final ConnectGetForm connectGet;
    private final ConnectForm connectJson;
    private final JsonForm json;
    private final CorsGate cors;
    private final AllowedHosts hosts;
    private final String contentTypes;
    private final AnnouncedSettings announced = new AnnouncedSettings();

    HttpDispatcher(TripleCodecs codecs, HttpSettings settings) {
        posted.putAll(GrpcWebForm.all(codecs));
        posted.put(GrpcHeaders.GRPC, new GrpcForm(codecs, false));
        posted.put(GrpcHeaders.GRPC_PROTO, new GrpcForm(codecs, false));
        posted.put(GrpcHeaders.GRPC_HESSIAN2, new GrpcForm(codecs, false, GrpcHeaders.GRPC_HESSIAN2));
        posted.put(GrpcHeaders.GRPC_JSON, new GrpcForm(codecs, true));
        posted.put(ConnectStreamEncoding.JSON, new ConnectStreamForm(codecs, ConnectAnswers.JSON));
        posted.put(ConnectStreamEncoding.PROTO, new ConnectStreamForm(codecs, ConnectAnswers.PROTO));
        posted.put(ConnectForm.PROTO, new ConnectForm(codecs, ConnectAnswers.PROTO));
        connectJson = new ConnectForm(codecs, ConnectAnswers.JSON);
        connectGet = new ConnectGetForm(codecs);
        contentTypes = ConnectForm.JSON + ", " + String.join(", ", new TreeSet<>(posted.keySet()));
        json = new JsonForm(codecs, settings);
        cors = new CorsGate(settings.cors());
        hosts = new AllowedHosts(settings.allowedHosts());
    }

    @Override
    public AnnouncedSettings announced() {
        return announced;
    }

    @Override
    public void begin(HttpExchange exchange, boolean tooManyFields, @Nullable RpcException refused) {
        if (tooManyFields) {
            PlainAnswer.send(
                    exchange,
                    HttpResponseStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
                    exchange.head().size() + " header fields; at most 128 are accepted");
            return;
        }
        if (!hosts.allow(exchange.head(), exchange.connection().localAddress())) {
            PlainAnswer.send(
                    exchange,
                    HttpResponseStatus.MISDIRECTED_REQUEST,
                    "the host " + PeerText.name(AllowedHosts.written(exchange.head()))
                            + " in the request is not a name of this server (set by rpc.server.allowed-hosts)",
                    "tern-executed",
                    "no");
            return;
        }
        HttpForm form = json;
        try {
            if (!cors.pass(exchange)) {
                return;
            }
            HttpForm meant = form(exchange);
            if (meant == null) {
                return;
            }
            form = meant;
            if (refused != null) {
                throw refused;
            }
            checkToken(exchange);
            call(form, exchange).begin();
        } catch (RpcException e) {
            form.refuse(exchange, e);
        }
    }

    /**
     * Creates the call for a request. An error in the request is not reported until all authorizers have allowed the
     * call, because the error might reveal which services are exported.
     */
    private HttpCall call(HttpForm meant, HttpExchange exchange) {
        ServerConnection connection = exchange.connection();
        boolean connectUnsaid =
                meant == json && ConnectGetForm.queryOf(exchange.head()) != null && ConnectGetForm.isMeant(exchange);
        HttpForm form = connectUnsaid ? connectGet : meant;
        if (!connection.handler().hasAuthorizers()) {
            return form.call(exchange, connection.handler().services());
        }
        if (connectUnsaid) {
            JsonForm.timeoutNanos(exchange.head()); // checks the timeout headers of both Connect and JSON
        }
        HttpCall call;
        try {
            call = form.call(exchange, connection.handler().services());
        } catch (RpcException e) {
            call = form.callNowhere(exchange);
            hidden(call).set(e, form);
        }
        if (connectUnsaid) {
            // the protocol was selected by looking up the method, so an error in this protocol's format could reveal
            // that the method exists
            hidden(call).refusesStrangersLike(json);
        }
        return call;
    }

    private static DeferredMistake hidden(HttpCall call) {
        return Objects.requireNonNull(call.hidden());
    }

    /**
     * Checks the token before the body arrives. An unauthenticated caller therefore cannot learn which services exist.
     * If there are no authorizers, the body of a caller with a valid token counts towards the full memory budget.
     */
    private static void checkToken(HttpExchange exchange) {
        ServerConnection connection = exchange.connection();
        AcceptedTokens tokens = connection.handler().tokens();
        Http2Headers head = exchange.head();
        if (connection.handler().asksWhoCalls() && isProbe(head)) {
            exchange.probes();
            return;
        }
        if (tokens.isEmpty()) {
            return;
        }
        String called = Route.nameIn(Route.pathOf(head));
        checkOnce(tokens, called, head, TOKEN);
        checkOnce(tokens, called, head, AUTHORIZATION);
        tokens.check(called, GrpcHeaders.text(head, TOKEN), GrpcHeaders.text(head, AUTHORIZATION));
        if (!connection.handler().hasAuthorizers()) {
            connection.callerIsKnown();
        }
    }

    private static void checkOnce(AcceptedTokens tokens, String called, Http2Headers head, AsciiString name) {
        Iterator<CharSequence> values = head.valueIterator(name);
        if (values.hasNext()) {
            values.next();
            if (values.hasNext()) {
                throw tokens.doubled(called, name.toString());
            }
        }
    }

    /**
     * Returns whether the request is a health probe. Accepts only the spelling that all protocols interpret in the same
     * way, so that the checked path is always the called path.
     */
    private static boolean isProbe(Http2Headers head) {
        return PROBES.contains(Route.pathOf(head))
                && !head.contains(GrpcHeaders.GROUP)
                && !head.contains(GrpcHeaders.VERSION)
                && !head.contains(HeadFields.REST_GROUP)
                && !head.contains(HeadFields.REST_VERSION);
    }

    /**
     * Returns the protocol of the request.
     *
     * @return null if the request was answered
     */
    private @Nullable HttpForm form(HttpExchange exchange) {
        Http2Headers head = exchange.head();
        ConnectQuery query = ConnectGetForm.queryOf(head);
        if (query != null) {
            // the query is checked again after the caller has been authenticated
            return query.isMarked() ? connectGet : json;
        }
        AsciiString type = HeadFields.mediaType(head);
        HttpForm form = posted.get(type);
        if (form != null || isReserved(type)) {
            return posted(exchange, type, form);
        }
        if (type.equals(ConnectForm.JSON) && head.contains(ConnectHeaders.PROTOCOL_VERSION) && isPost(head)) {
            return connectJson;
        }
        if (isPost(head) && !JsonForm.takes(type)) {
            unsupported(exchange, type);
            return null;
        }
        return json;
    }

    private static boolean isPost(Http2Headers head) {
        return HttpMethod.POST.asciiName().contentEquals(head.method());
    }

    /** Returns whether the content type belongs to an RPC protocol, even if the server does not serve that protocol. */
    private static boolean isReserved(AsciiString type) {
        return type.startsWith("application/grpc") || type.startsWith("application/connect+");
    }

    private @Nullable HttpForm posted(HttpExchange exchange, AsciiString type, @Nullable HttpForm form) {
        if (form == null) {
            unsupported(exchange, type);
            return null;
        }
        if (!isPost(exchange.head())) {
            PlainAnswer.send(exchange, HttpResponseStatus.METHOD_NOT_ALLOWED, type + " takes POST", "allow", "POST");
            return null;
        }
        if (form instanceof GrpcForm && !exchange.isHttp2()) {
            PlainAnswer.send(exchange, HttpResponseStatus.HTTP_VERSION_NOT_SUPPORTED, "gRPC needs HTTP/2");
            return null;
        }
        return form;
    }

    /**
     * Rejects an unsupported content type. The error is sent as plain text, because Connect clients would interpret a
     * JSON error body as the result of the call.
     */
    private void unsupported(HttpExchange exchange, AsciiString type) {
        PlainAnswer.send(
                exchange,
                HttpResponseStatus.UNSUPPORTED_MEDIA_TYPE,
                "content type '" + PeerText.name(type.toString()) + "' is not served; expected one of " + contentTypes,
                "accept-post",
                contentTypes);
    }
}
