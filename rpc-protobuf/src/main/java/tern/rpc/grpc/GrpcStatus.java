package tern.rpc.grpc;

import io.grpc.Metadata;
import io.grpc.Metadata.Key;
import io.grpc.Status;
import io.grpc.StatusException;
import io.grpc.StatusRuntimeException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tern.rpc.StatusDetail;
import tern.rpc.serialization.ProtoReader;
import tern.rpc.serialization.SerializationException;

final class GrpcStatus {

    /** The trailer that contains an encoded google.rpc.Status (google/rpc/status.proto). */
    private static final Key<byte[]> DETAILS = Key.of("grpc-status-details-bin", Metadata.BINARY_BYTE_MARSHALLER);

    private static final int STATUS_DETAILS = 3;
    private static final int ANY_TYPE_URL = 1;
    private static final int ANY_VALUE = 2;

    private GrpcStatus() {}

    /** Returns the failure that represents a gRPC status. */
    static RpcException exception(Status status, Metadata trailers) {
        String description = status.getDescription();
        return new RpcException(new tern.rpc.Status(
                StatusCode.values()[status.getCode().value()],
                description == null ? "" : description,
                details(trailers.get(DETAILS))));
    }

    /**
     * Returns the failure for an exception thrown by a service. If the exception contains a gRPC status, the failure
     * has that status; otherwise the exception itself is returned.
     */
    static Throwable exception(Throwable thrown) {
        if (thrown instanceof StatusRuntimeException failure) {
            return exception(failure.getStatus(), orEmpty(failure.getTrailers()));
        }
        if (thrown instanceof StatusException failure) {
            return exception(failure.getStatus(), orEmpty(failure.getTrailers()));
        }
        return thrown;
    }

    private static Metadata orEmpty(@Nullable Metadata trailers) {
        return trailers == null ? new Metadata() : trailers;
    }

    private static List<StatusDetail> details(byte @Nullable [] status) {
        List<StatusDetail> details = new ArrayList<>();
        if (status == null) {
            return details;
        }
        try {
            ProtoReader fields = new ProtoReader(status, 0, status.length);
            while (fields.next()) {
                if (fields.is(STATUS_DETAILS, ProtoReader.BYTES)) {
                    int length = fields.bytes();
                    details.add(detail(status, fields.position() - length, length));
                } else {
                    fields.skip();
                }
            }
        } catch (SerializationException e) {
            // The service has used a trailer with this name for a value that is not a google.rpc.Status.
            return List.of();
        }
        return details;
    }

    private static StatusDetail detail(byte[] bytes, int offset, int length) {
        ProtoReader fields = new ProtoReader(bytes, offset, length);
        String typeUrl = "";
        byte[] value = {};
        while (fields.next()) {
            if (fields.is(ANY_TYPE_URL, ProtoReader.BYTES)) {
                typeUrl = fields.text();
            } else if (fields.is(ANY_VALUE, ProtoReader.BYTES)) {
                int size = fields.bytes();
                value = Arrays.copyOfRange(bytes, fields.position() - size, fields.position());
            } else {
                fields.skip();
            }
        }
        return new StatusDetail(typeUrl, value);
    }
}
