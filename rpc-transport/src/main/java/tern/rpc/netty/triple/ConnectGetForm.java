package tern.rpc.netty.triple;

import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http2.Http2Headers;
import org.jspecify.annotations.Nullable;
import tern.rpc.MethodDescriptor;
import tern.rpc.RpcException;
import tern.rpc.transport.ServiceLookup;

/** Connect by GET: the message is in the query. Only for methods that are marked read-only. Stateless. */
final class ConnectGetForm implements HttpForm {

    private final TripleCodecs codecs;

    ConnectGetForm(TripleCodecs codecs) {
        this.codecs = codecs;
    }

    /**
     * Whether a request is in this form: its query has a message and its encoding, and says that it is Connect's or means
     * a method with no parameters of these names.
     */
    static boolean isConnect(HttpExchange exchange) {
        Http2Headers head = exchange.head();
        if (!HttpMethod.GET.asciiName().contentEquals(head.method())) {
            return false;
        }
        ConnectQuery query = ConnectQuery.of(head.path());
        if (query == null || query.isMarked()) {
            return query != null;
        }
        try {
            MethodDescriptor only =
                    Route.of(exchange.connection().services(), head).only();
            return only != null
                    && !only.parameterNames().contains(ConnectQuery.ENCODING)
                    && !only.parameterNames().contains(ConnectQuery.MESSAGE);
        } catch (RpcException e) {
            return false;
        }
    }

    @Override
    public @Nullable HttpCall call(HttpExchange exchange, ServiceLookup services) {
        ConnectQuery query = ConnectQuery.of(exchange.head().path());
        Route route = query == null ? null : ConnectAnswers.route(exchange, services);
        if (query == null || route == null) {
            return null;
        }
        query.checkVersion();
        MethodDescriptor method = route.required();
        if (!method.isReadOnly()) {
            PlainAnswer.send(
                    exchange,
                    HttpResponseStatus.METHOD_NOT_ALLOWED,
                    method + " takes POST; GET is for methods marked readOnly",
                    "allow",
                    "POST");
            return null;
        }
        if (!ConnectAnswers.serves(exchange, method, codecs, query.encoding(), false)) {
            return null;
        }
        boolean gzip = ContentCoding.isGzip("compression", query.compression());
        boolean json = query.encoding().equals(ConnectAnswers.JSON);
        return new ConnectUnaryCall(codecs, exchange, route, json, new GivenBody(query.bytes(), gzip), gzip);
    }

    @Override
    public void refuse(HttpExchange exchange, RpcException reason) {
        ConnectAnswers.refuse(exchange, reason);
    }
}
