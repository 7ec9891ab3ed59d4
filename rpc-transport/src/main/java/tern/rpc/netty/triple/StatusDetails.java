package tern.rpc.netty.triple;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import tern.rpc.Status;
import tern.rpc.StatusDetail;
import tern.rpc.serialization.OutputBuffer;
import tern.rpc.serialization.ProtoReader;
import tern.rpc.serialization.ProtoWriter;
import tern.rpc.serialization.SerializationException;

/**
 * Encodes and decodes the {@code grpc-status-details-bin} header:
 * {@code google.rpc.Status{int32 code = 1; string message = 2; repeated Any details = 3}} (docs/wire-protocol.md 3.6).
 */
final class StatusDetails {

    /** The encoding of binary headers: base64 with the standard alphabet, without padding. */
    static final Base64.Encoder BASE64 = Base64.getEncoder().withoutPadding();

    /** Decodes binary headers, with or without padding. */
    static final Base64.Decoder BASE64_DECODER = Base64.getDecoder();

    private static final int CODE = 1;
    private static final int MESSAGE = 2;
    private static final int DETAILS = 3;
    private static final int TYPE_URL = 1;
    private static final int VALUE = 2;
    private static final int MAX_DETAILS = 128;

    private StatusDetails() {}

    static byte[] encode(Status status) {
        OutputBuffer out = new OutputBuffer();
        ProtoWriter.number(out, CODE, status.code().ordinal());
        ProtoWriter.text(out, MESSAGE, status.description());
        for (StatusDetail detail : status.details()) {
            int begun = ProtoWriter.begin(out, DETAILS);
            ProtoWriter.text(out, TYPE_URL, detail.typeUrl());
            if (detail.value().length > 0) {
                ProtoWriter.bytes(out, VALUE, detail.value());
            }
            ProtoWriter.end(out, begun);
        }
        return out.toByteArray();
    }

    /**
     * Decodes the details.
     *
     * @throws SerializationException if the bytes are not a valid {@code google.rpc.Status} message
     */
    static Status decode(byte[] bytes) {
        ProtoReader reader = new ProtoReader(bytes, 0, bytes.length);
        long code = 0;
        String message = "";
        List<StatusDetail> details = new ArrayList<>();
        while (reader.next()) {
            if (reader.is(CODE, ProtoReader.VARINT)) {
                code = reader.varint();
            } else if (reader.is(MESSAGE, ProtoReader.BYTES)) {
                message = reader.text();
            } else if (reader.is(DETAILS, ProtoReader.BYTES) && details.size() < MAX_DETAILS) {
                int length = reader.bytes();
                details.add(detail(new ProtoReader(bytes, reader.position() - length, length), bytes));
            } else {
                reader.skip();
            }
        }
        return new Status(StatusTable.fromNumber((int) Math.max(-1, Math.min(code, 99))), message, details);
    }

    private static StatusDetail detail(ProtoReader reader, byte[] bytes) {
        String typeUrl = "";
        byte[] value = {};
        while (reader.next()) {
            if (reader.is(TYPE_URL, ProtoReader.BYTES)) {
                typeUrl = reader.text();
            } else if (reader.is(VALUE, ProtoReader.BYTES)) {
                int length = reader.bytes();
                value = Arrays.copyOfRange(bytes, reader.position() - length, reader.position());
            } else {
                reader.skip();
            }
        }
        return new StatusDetail(typeUrl, value);
    }
}
