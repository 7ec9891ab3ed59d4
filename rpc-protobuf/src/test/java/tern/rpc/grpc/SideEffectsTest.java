package tern.rpc.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.DescriptorProtos.MethodDescriptorProto;
import com.google.protobuf.DescriptorProtos.MethodOptions;
import com.google.protobuf.DescriptorProtos.MethodOptions.IdempotencyLevel;
import com.google.protobuf.DescriptorProtos.ServiceDescriptorProto;
import com.google.protobuf.Descriptors;
import com.google.protobuf.Descriptors.FileDescriptor;
import io.grpc.MethodDescriptor;
import io.grpc.ServerServiceDefinition;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests how Tern determines which methods of a generated service are read-only or idempotent. */
class SideEffectsTest {

    private static final class Bytes implements MethodDescriptor.Marshaller<byte[]> {
        @Override
        public InputStream stream(byte[] value) {
            return new ByteArrayInputStream(value);
        }

        @Override
        public byte[] parse(InputStream stream) {
            return new byte[0];
        }
    }

    /** A class like the schema class in generated code, which is also private. */
    private record Schema(Descriptors.MethodDescriptor getMethodDescriptor) {}

    private static tern.rpc.MethodDescriptor exported(MethodDescriptor.Builder<byte[], byte[]> method) {
        MethodDescriptor<byte[], byte[]> built = method.setType(MethodDescriptor.MethodType.UNARY)
                .setFullMethodName("a.S/Get")
                .setRequestMarshaller(new Bytes())
                .setResponseMarshaller(new Bytes())
                .build();
        ServerServiceDefinition service = ServerServiceDefinition.builder("a.S")
                .addMethod(built, (call, headers) -> null)
                .build();
        return GrpcServices.export(service).service().overloads("Get").get(0);
    }

    @ParameterizedTest
    @CsvSource({"NO_SIDE_EFFECTS, true, true", "IDEMPOTENT, false, true", "IDEMPOTENCY_UNKNOWN, false, false"})
    void levelOfTheProtoFileIsKept(IdempotencyLevel level, boolean readOnly, boolean idempotent) throws Exception {
        FileDescriptor file = FileDescriptor.buildFrom(
                FileDescriptorProto.newBuilder()
                        .setName("s.proto")
                        .setPackage("a")
                        .addMessageType(DescriptorProto.newBuilder().setName("M"))
                        .addService(ServiceDescriptorProto.newBuilder()
                                .setName("S")
                                .addMethod(MethodDescriptorProto.newBuilder()
                                        .setName("Get")
                                        .setInputType(".a.M")
                                        .setOutputType(".a.M")
                                        .setOptions(MethodOptions.newBuilder().setIdempotencyLevel(level))))
                        .build(),
                new FileDescriptor[0]);
        Schema schema = new Schema(file.findServiceByName("S").findMethodByName("Get"));

        tern.rpc.MethodDescriptor method =
                exported(MethodDescriptor.<byte[], byte[]>newBuilder().setSchemaDescriptor(schema));

        assertThat(method.isReadOnly()).isEqualTo(readOnly);
        assertThat(method.isIdempotent()).isEqualTo(idempotent);
    }

    @Test
    void methodOfGrpcThatIsMarkedAsSafeIsReadOnly() {
        assertThat(exported(MethodDescriptor.<byte[], byte[]>newBuilder().setSafe(true))
                        .isReadOnly())
                .isTrue();
        assertThat(exported(MethodDescriptor.<byte[], byte[]>newBuilder().setIdempotent(true))
                        .isIdempotent())
                .isTrue();
        assertThat(exported(MethodDescriptor.newBuilder()).isIdempotent()).isFalse();
    }
}
