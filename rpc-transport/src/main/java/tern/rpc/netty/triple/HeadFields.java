package tern.rpc.netty.triple;

import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;

/** Reads request headers that all protocols use. */
final class HeadFields {

    static final AsciiString REST_GROUP = AsciiString.cached("rest-service-group");
    static final AsciiString REST_VERSION = AsciiString.cached("rest-service-version");

    private static final AsciiString EXPECT = AsciiString.cached("expect");
    private static final AsciiString CONTINUE = AsciiString.cached("100-continue");

    private HeadFields() {}

    /** Returns the content type without parameters; an empty string if the request has no content type. */
    static AsciiString mediaType(Http2Headers head) {
        CharSequence value = head.get("content-type");
        if (value == null) {
            return AsciiString.EMPTY_STRING;
        }
        AsciiString text = AsciiString.of(value);
        int end = text.indexOf(';', 0);
        return (end < 0 ? text : text.subSequence(0, end)).trim().toLowerCase();
    }

    /** Returns whether the client might wait for the interim answer 100 (Continue) before it sends the body. */
    static boolean expectsContinue(Http2Headers head) {
        CharSequence expectation = head.get(EXPECT);
        return expectation != null && CONTINUE.contentEqualsIgnoreCase(expectation);
    }
}
