package tern.rpc.netty.triple;

import org.jspecify.annotations.Nullable;
import tern.rpc.MethodDescriptor;
import tern.rpc.netty.triple.BodyReader.Frame;
import tern.rpc.netty.triple.TripleCodecs.JsonReading;
import tern.rpc.netty.triple.TripleCodecs.Reading;

/**
 * A decoded request message.
 *
 * @param codec the codec that the message selected, which is also used for the answers; null if the encoding has only
 *     one codec
 */
record DecodedRequest(
        MethodDescriptor method,
        @Nullable Object[] arguments,
        @Nullable PayloadCodec codec) {

    DecodedRequest(MethodDescriptor method, @Nullable Object[] arguments) {
        this(method, arguments, null);
    }

    /** Decodes a request message for the method that the request's path names. Releases the frame. */
    static DecodedRequest named(TripleCodecs codecs, HttpExchange exchange, Route route, Frame frame, boolean json) {
        Reading<DecodedRequest> reading = (bytes, length) -> {
            MethodDescriptor method = route.required();
            return new DecodedRequest(method, codecs.readRequest(method, json, bytes, length));
        };
        JsonReading<DecodedRequest> jsonReading = reading::read;
        return codecs.readFirst(frame, exchange.maxRequestBytes(), exchange.connection(), json ? jsonReading : reading);
    }
}
