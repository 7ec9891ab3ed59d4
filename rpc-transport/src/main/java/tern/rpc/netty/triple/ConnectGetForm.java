package tern.rpc.netty.triple;

import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http2.Http2Headers;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tern.rpc.MethodDescriptor;
import tern.rpc.RpcException;
import tern.rpc.transport.ServiceLookup;

/**
 * Connect calls by GET, with the message in the query. Supports only methods marked as read-only. Stateless.
 */
final class ConnectGetForm implements HttpForm {

    private final TripleCodecs codecs;
    private final ConnectUnaryEncoding proto;
    private final ConnectUnaryEncoding json;

    ConnectGetForm(TripleCodecs codecs) {
        this.codecs = codecs;
        this.proto = new ConnectUnaryEncoding(codecs, false);
        this.json = new ConnectUnaryEncoding(codecs, true);
    }

    /** Returns the query; null if it does not contain both a message and its encoding. */
    static @Nullable ConnectQuery queryOf(Http2Headers head) {
        CharSequence path = head.path();
        return path != null && HttpMethod.GET.asciiName().contentEquals(head.method()) ? ConnectQuery.of(path) : null;
    }

    /**
     * Distinguishes Connect calls from plain JSON calls among the GET requests whose query contains no Connect version.
     * Returns true for a Connect call. The request is a Connect call if the path matches a single method, and no
     * parameter of this method is named {@code encoding} or {@code message}.
     */
    static boolean isMeant(HttpExchange exchange) {
        Http2Headers head = exchange.head();
        try {
            MethodDescriptor only =
                    Route.of(exchange.connection().handler().services(), head).only();
            return only != null
                    && !only.parameterNames().contains(ConnectQuery.ENCODING)
                    && !only.parameterNames().contains(ConnectQuery.MESSAGE);
        } catch (RpcException e) {
            return false;
        }
    }

    @Override
    public HttpCall call(HttpExchange exchange, ServiceLookup services) {
        ConnectQuery query = query(exchange);
        Route route = ConnectAnswers.route(exchange, services);
        query.checkVersion();
        MethodDescriptor method = route.required();
        if (!method.isReadOnly()) {
            throw new PlainRefusal(
                    HttpResponseStatus.METHOD_NOT_ALLOWED,
                    method + " takes POST; GET is for methods marked readOnly",
                    "allow",
                    "POST");
        }
        ConnectAnswers.checkServes(method, codecs, query.encoding(), false);
        boolean gzip = ContentCoding.isGzip("compression", query.compression());
        return call(exchange, query, route, new QueryBody(query.bytes(), gzip), gzip);
    }

    /**
     * Creates a call with an empty message, for a request to an unknown method. The message in the query is not
     * decoded.
     */
    @Override
    public HttpCall callNowhere(HttpExchange exchange) {
        QueryBody nothing = new QueryBody(new byte[0], false);
        return call(exchange, query(exchange), Route.nowhere(exchange.head()), nothing, false);
    }

    private HttpCall call(HttpExchange exchange, ConnectQuery query, Route route, BodyReader body, boolean gzip) {
        boolean asJson = query.encoding().equals(ConnectAnswers.JSON);
        return ConnectForm.call(asJson ? json : proto, exchange, route, body, gzip);
    }

    private static ConnectQuery query(HttpExchange exchange) {
        return Objects.requireNonNull(queryOf(exchange.head()));
    }

    @Override
    public void refuse(HttpExchange exchange, RpcException reason) {
        ConnectAnswers.refuse(exchange, reason);
    }
}
