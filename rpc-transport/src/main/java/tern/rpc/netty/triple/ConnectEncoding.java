package tern.rpc.netty.triple;

import io.netty.handler.codec.http2.Http2Headers;
import tern.rpc.Metadata;
import tern.rpc.netty.triple.BodyReader.Frame;
import tern.rpc.transport.ServiceLookup;

/** The common code of unary and streaming Connect calls. Stateless. */
sealed interface ConnectEncoding extends CallEncoding permits ConnectUnaryEncoding, ConnectStreamEncoding {

    TripleCodecs codecs();

    /** Returns whether messages are JSON; otherwise they are protobuf. */
    boolean json();

    @Override
    default String protocol() {
        return "connect";
    }

    @Override
    default Metadata metadata(Http2Headers head) {
        return ConnectHeaders.metadata(head);
    }

    @Override
    default DecodedRequest readRequest(HttpExchange exchange, Route route, Frame frame, ServiceLookup services) {
        return DecodedRequest.named(codecs(), exchange, route, frame, json());
    }
}
