package tern.rpc.netty.triple;

import static java.nio.charset.StandardCharsets.US_ASCII;

import tern.rpc.Status;
import tern.rpc.serialization.OutputBuffer;

/**
 * Encodes the items of a stream as server-sent events for browsers, {@code text/event-stream} (docs/wire-protocol.md
 * 4.6).
 */
final class ServerSentEvent {

    private static final byte[] DATA = "data:".getBytes(US_ASCII);
    private static final byte[] ERROR = "event:error\n".getBytes(US_ASCII);
    private static final byte[] END = "\n\n".getBytes(US_ASCII);

    private ServerSentEvent() {}

    /** Writes the bytes that precede the JSON of an item. The JSON must be a single line. */
    static void begin(OutputBuffer out) {
        out.write(DATA, 0, DATA.length);
    }

    static void end(OutputBuffer out) {
        out.write(END, 0, END.length);
    }

    /** Returns the last event of a failed stream. The event type distinguishes this event from items. */
    static byte[] error(Status failure) {
        byte[] body = ErrorBody.of(failure, StatusTable.httpStatus(failure.code()));
        OutputBuffer out = new OutputBuffer();
        out.write(ERROR, 0, ERROR.length);
        begin(out);
        out.write(body, 0, body.length);
        end(out);
        return out.toByteArray();
    }
}
