package tern.rpc.health;

import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.serialization.ProtoReader;
import tern.rpc.serialization.SerializationException;

/**
 * Encodes and decodes the two messages of {@code grpc.health.v1} without protobuf: a request with a service name, and a
 * response with a status number.
 */
final class HealthMessages {

    private static final int SERVICE = 1; // the field number of HealthCheckRequest.service
    private static final int STATUS = 1; // the field number of HealthCheckResponse.status

    private HealthMessages() {}

    /**
     * Returns the service name in a request. Unknown fields are skipped.
     *
     * @throws RpcException INVALID_ARGUMENT if the bytes are not a HealthCheckRequest
     */
    static String service(byte[] request) {
        String service = "";
        try {
            ProtoReader fields = new ProtoReader(request, 0, request.length);
            while (fields.next()) {
                if (fields.is(SERVICE, ProtoReader.BYTES)) {
                    service = fields.text();
                } else {
                    fields.skip();
                }
            }
        } catch (SerializationException e) {
            throw new RpcException(
                    StatusCode.INVALID_ARGUMENT,
                    "not a grpc.health.v1.HealthCheckRequest: " + e.getMessage(),
                    Executed.NO,
                    e);
        }
        return service;
    }

    static byte[] response(ServingStatus status) {
        return status == ServingStatus.UNKNOWN
                ? new byte[0]
                : new byte[] {STATUS << 3 | ProtoReader.VARINT, (byte) status.ordinal()};
    }
}
