package tern.rpc.serialization;

import org.jspecify.annotations.Nullable;
import tern.rpc.Metadata;
import tern.rpc.MethodDescriptor;
import tern.rpc.Payload;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServiceDescriptor;
import tern.rpc.StatusCode;
import tern.rpc.ValueType;

/**
 * The serializer of an application whose methods use only protobuf messages or bytes. Services that use Java values are
 * rejected when they are exported or referenced. Thread-safe.
 */
public final class NoSerializer implements Serializer {

    private static final String NEEDED =
            "Java values, which need io.github.tern-rpc:tern-rpc-hessian on the class path";

    @Override
    public String name() {
        return "none";
    }

    @Override
    public void prepare(ServiceDescriptor service) {
        for (MethodDescriptor method : service.methods()) {
            if (method.payload() == Payload.JAVA) {
                throw new IllegalArgumentException(method + " takes or returns " + NEEDED);
            }
        }
    }

    @Override
    public ObjectReader newReader() {
        return new Reader();
    }

    @Override
    public ObjectWriter newWriter() {
        return new Writer();
    }

    private static RpcException missing() {
        return RpcException.refusal(StatusCode.UNIMPLEMENTED, "the message has " + NEEDED, Executed.NO);
    }

    private static final class Reader implements ObjectReader {

        @Override
        public void start(byte[] array, int offset, int length) {}

        @Override
        public void trust(ServiceDescriptor service) {}

        @Override
        public String readString() {
            throw missing();
        }

        @Override
        public int readInt() {
            throw missing();
        }

        @Override
        public Object readObject(ValueType type) {
            throw missing();
        }

        @Override
        public Object readScalar() {
            throw missing();
        }

        @Override
        public void skip() {
            throw missing();
        }

        @Override
        public Throwable readThrowable() {
            throw missing();
        }

        @Override
        public void readMetadata(Metadata into) {
            throw missing();
        }

        @Override
        public int remaining() {
            return 0;
        }
    }

    private static final class Writer implements ObjectWriter {

        @Override
        public void start(OutputBuffer out) {}

        @Override
        public void writeString(@Nullable String value) {
            throw missing();
        }

        @Override
        public void writeInt(int value) {
            throw missing();
        }

        @Override
        public void writeObject(@Nullable Object value) {
            throw missing();
        }

        @Override
        public void writeThrowable(Throwable value, int frames) {
            throw missing();
        }

        @Override
        public void startMap() {
            throw missing();
        }

        @Override
        public void endMap() {
            throw missing();
        }

        @Override
        public void writeBytes(byte[] value) {
            throw missing();
        }

        @Override
        public void writeEncoded(byte[] encoded) {
            throw missing();
        }

        @Override
        public void finish() {}
    }
}
