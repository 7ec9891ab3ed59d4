package tern.rpc.netty.triple;

import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;

/** Reads the headers of a request that all protocols use. */
final class HeadFields {

    static final AsciiString REST_GROUP = AsciiString.cached("rest-service-group");
    static final AsciiString REST_VERSION = AsciiString.cached("rest-service-version");

    private HeadFields() {}

    /** The content type without parameters; empty if there is none. */
    static AsciiString mediaType(Http2Headers head) {
        CharSequence value = head.get("content-type");
        if (value == null) {
            return AsciiString.EMPTY_STRING;
        }
        AsciiString text = AsciiString.of(value);
        int end = text.indexOf(';', 0);
        return (end < 0 ? text : text.subSequence(0, end)).trim().toLowerCase();
    }
}
