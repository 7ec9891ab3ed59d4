package tern.rpc.interop;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Descriptors;
import com.google.protobuf.Message;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import tern.rpc.MethodDescriptor;
import tern.rpc.Payload;
import tern.rpc.ServiceDescriptor;
import tern.rpc.interop.conformance.ConformanceServiceProto;
import tern.rpc.interop.testing.TestServiceProto;

class ServiceInterfacesTest {

    @Test
    void testServiceHasTheMethodsOfItsProtoFileExceptTheUnimplementedOne() {
        Map<String, String> wanted = methods(TestServiceProto.getDescriptor());
        assertThat(wanted.remove("UnimplementedCall")).isNotNull();

        assertThat(ServiceDescriptor.of(TestService.class).name()).isEqualTo("grpc.testing.TestService");
        assertThat(methods(ServiceDescriptor.of(TestService.class))).isEqualTo(wanted);
    }

    @Test
    void conformanceServiceHasTheMethodsOfItsProtoFileExceptTheUnimplementedOne() {
        Map<String, String> wanted = methods(ConformanceServiceProto.getDescriptor());
        assertThat(wanted.remove("Unimplemented")).isNotNull();

        assertThat(ServiceDescriptor.of(ConformanceService.class).name())
                .isEqualTo("connectrpc.conformance.v1.ConformanceService");
        assertThat(methods(ServiceDescriptor.of(ConformanceService.class))).isEqualTo(wanted);
    }

    private static Map<String, String> methods(Descriptors.FileDescriptor file) {
        Map<String, String> methods = new TreeMap<>();
        for (Descriptors.MethodDescriptor method : file.getServices().get(0).getMethods()) {
            methods.put(
                    method.getName(),
                    signature(
                            method.isClientStreaming(),
                            method.getInputType(),
                            method.isServerStreaming(),
                            method.getOutputType()));
        }
        return methods;
    }

    private static Map<String, String> methods(ServiceDescriptor service) {
        Map<String, String> methods = new TreeMap<>();
        for (MethodDescriptor method : service.methods()) {
            if (method.payload() == Payload.PROTOBUF) {
                methods.put(
                        method.name(),
                        signature(
                                method.type().clientStreams(),
                                messageOf(method.parameters().get(0).raw()),
                                method.type().serverStreams(),
                                messageOf(method.result().raw())));
            }
        }
        return methods;
    }

    private static Descriptors.Descriptor messageOf(Class<?> type) {
        return com.google.protobuf.Internal.getDefaultInstance(type.asSubclass(Message.class))
                .getDescriptorForType();
    }

    private static String signature(
            boolean manyRequests,
            Descriptors.Descriptor request,
            boolean manyResponses,
            Descriptors.Descriptor response) {
        return (manyRequests ? "stream " : "") + request.getFullName() + " -> " + (manyResponses ? "stream " : "")
                + response.getFullName();
    }
}
