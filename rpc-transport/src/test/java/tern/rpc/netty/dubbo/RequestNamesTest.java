package tern.rpc.netty.dubbo;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.MethodDescriptor;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;
import tern.rpc.transport.ServiceLookup;

/** Tests that the method of a request is found without decoding the request. */
class RequestNamesTest {

    private static final String VERSION = "2.0.2";

    public interface Service {
        void call(String text);

        void call(int number);
    }

    private static final class Lookup implements ServiceLookup {
        private @Nullable String asked;

        @Override
        public @Nullable MethodDescriptor method(String interfaceName, String name) {
            asked = interfaceName + "/" + name;
            ServiceDescriptor service = ServiceDescriptor.of(Service.class);
            return interfaceName.equals(service.name()) && name.equals("call")
                    ? service.overloads(name).get(0)
                    : null;
        }

        @Override
        public ServiceDescriptor service(String interfaceName) {
            throw new AssertionError(interfaceName);
        }

        @Override
        public @Nullable MethodDescriptor builtIn(String name, String descriptor) {
            throw new AssertionError(name);
        }

        @Override
        public void require(ServiceKey key) {
            throw new AssertionError(key);
        }

        @Override
        public ServiceKey withoutGroupAndVersion(String interfaceName) {
            throw new AssertionError(interfaceName);
        }

        @Override
        public boolean genericCalls() {
            return false;
        }
    }

    private final Lookup services = new Lookup();

    /** Returns a request body that begins with the given strings; null becomes hessian2's null. */
    private static ByteBuf body(@Nullable String... texts) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (String text : texts) {
            if (text == null) {
                bytes.write('N');
                continue;
            }
            if (text.length() < 32) {
                bytes.write(text.length());
            } else {
                bytes.write(0x30 + (text.length() >> 8));
                bytes.write(text.length());
            }
            bytes.write(text.getBytes(StandardCharsets.US_ASCII));
        }
        return Unpooled.wrappedBuffer(bytes.toByteArray());
    }

    private static String serviceName() {
        return ServiceDescriptor.of(Service.class).name();
    }

    @Test
    void methodIsFoundWithoutMovingTheReader() throws IOException {
        ByteBuf body = body(VERSION, serviceName(), "1.0.0", "call", "I");

        MethodDescriptor found = RequestNames.method(body, services);

        assertThat(found)
                .isSameAs(ServiceDescriptor.of(Service.class).overloads("call").get(0));
        assertThat(body.readerIndex()).isZero();
    }

    @Test
    void serviceVersionMayBeNull() throws IOException {
        assertThat(RequestNames.method(body(VERSION, serviceName(), null, "call"), services))
                .isNotNull();
    }

    @Test
    void longNamesAreRead() throws IOException {
        String name = "a".repeat(1_023);

        assertThat(RequestNames.method(body(VERSION, name, "", name), services)).isNull();
        assertThat(services.asked).isEqualTo(name + "/" + name);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 5, 6, 7, 20, 90})
    void truncatedBodiesHaveNoMethod(int length) throws IOException {
        ByteBuf body = body(VERSION, serviceName(), "1.0.0", "call");

        assertThat(RequestNames.method(body.slice(0, Math.min(length, body.readableBytes() - 1)), services))
                .isNull();
    }

    @ParameterizedTest
    @ValueSource(ints = {0x20, 'R', 'S', 'Z', 0xff})
    void otherValuesHaveNoMethod(int code) {
        byte[] bytes = new byte[64];
        bytes[0] = (byte) code;

        assertThat(RequestNames.method(Unpooled.wrappedBuffer(bytes), services)).isNull();
        assertThat(services.asked).isNull();
    }
}
