package tern.rpc.netty.triple;

import org.jspecify.annotations.Nullable;
import tern.rpc.MethodDescriptor;
import tern.rpc.netty.ServerTransportSettings;
import tern.rpc.serialization.JsonEstimate;
import tern.rpc.serialization.JsonMethod;
import tern.rpc.serialization.MessageKind;
import tern.rpc.serialization.OutputBuffer;

/**
 * Encodes Java values as {@code google.protobuf.Value}, using JSON as an intermediate format. Servers use this codec
 * for callers that know the method only from server reflection.
 *
 * @param limits the server settings, whose message limits apply to the JSON text
 */
record ValueCodec(MethodDescriptor method, JsonMethod json, ServerTransportSettings limits) implements PayloadCodec {

    @Override
    @SuppressWarnings("NullAway") // NullAway does not accept null as an element of this array
    public Object[] readRequest(byte[] bytes, int offset, int length) {
        OutputBuffer text = text(limits.maxRequestBytes(), MessageKind.REQUEST);
        ValueMessages.requestToJson(bytes, offset, length, method.parameters().size(), text);
        JsonEstimate.check(text.array(), 0, text.position());
        return json.readArguments(text.array(), 0, text.position(), false);
    }

    @Override
    public void writeResponse(@Nullable Object value, OutputBuffer out) {
        OutputBuffer text = text(limits.maxResponseBytes(), MessageKind.RESPONSE);
        json.writeResult(value, text);
        ValueMessages.jsonToValue(text.array(), text.position(), out);
    }

    private static OutputBuffer text(int limit, MessageKind kind) {
        OutputBuffer text = new OutputBuffer();
        text.reset(limit, 0, kind);
        return text;
    }

    @Override
    public void writeRequest(Object[] arguments, OutputBuffer out) {
        throw new UnsupportedOperationException("clients that know the interface send wrappers");
    }

    @Override
    public Object readResponse(byte[] bytes, int offset, int length, Object sender) {
        throw new UnsupportedOperationException("clients that know the interface get wrappers");
    }
}
