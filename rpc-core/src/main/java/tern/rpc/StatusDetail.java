package tern.rpc;

/**
 * One machine-readable detail of an error: a {@code google.protobuf.Any} (google/rpc/status.proto).
 *
 * @param typeUrl the type, such as {@code type.googleapis.com/google.rpc.BadRequest}
 * @param value the encoded message; not copied
 */
public record StatusDetail(String typeUrl, byte[] value) {}
