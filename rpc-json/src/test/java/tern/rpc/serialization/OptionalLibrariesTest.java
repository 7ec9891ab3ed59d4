package tern.rpc.serialization;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.StringValue;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import tern.rpc.MethodDescriptor;
import tern.rpc.ServiceDescriptor;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.serialization.json.JsonCodec;
import tern.rpc.serialization.protobuf.ProtobufCodec;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;
import tern.rpc.transport.InMemoryTransport;
import tools.jackson.databind.json.JsonMapper;

/** Tests that all features that need neither Jackson nor protobuf work without these optional libraries. */
class OptionalLibrariesTest {

    private static final String JACKSON = "tools.jackson.";
    private static final String ANNOTATIONS = "com.fasterxml.jackson.";
    private static final String PROTOBUF = "com.google.protobuf.";
    private static final String JSON_FORM = "com.google.protobuf.util.";

    interface Greetings {
        String hello(String name);
    }

    interface Messages {
        StringValue hello(StringValue name);
    }

    /** A class loader that loads Tern's classes itself and hides some libraries. */
    private static final class Without extends ClassLoader {
        private final List<String> hidden;

        Without(String... hidden) {
            super(OptionalLibrariesTest.class.getClassLoader());
            this.hidden = List.of(hidden);
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (hidden.stream().anyMatch(name::startsWith)) {
                throw new ClassNotFoundException(name + " is hidden");
            }
            if (!name.startsWith("tern.rpc.")) {
                return super.loadClass(name, resolve);
            }
            synchronized (getClassLoadingLock(name)) {
                Class<?> known = findLoadedClass(name);
                return known != null ? known : define(name);
            }
        }

        private Class<?> define(String name) throws ClassNotFoundException {
            try (InputStream file = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
                byte[] bytes = file.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException failure) {
                throw new ClassNotFoundException(name, failure);
            }
        }

        Object run(Class<? extends Callable<?>> task) throws Exception {
            var constructor = loadClass(task.getName()).getDeclaredConstructor();
            constructor.setAccessible(true);
            return ((Callable<?>) constructor.newInstance()).call();
        }
    }

    /** Makes a call through a client and a server, which both check for protobuf. */
    private static final class PlainCall implements Callable<String> {
        @Override
        public String call() {
            MethodDescriptor method =
                    ServiceDescriptor.of(Greetings.class).methods().get(0);
            InMemoryTransport transport =
                    new InMemoryTransport(HessianSerializer.builder().build());
            Greetings served = name -> "hello " + name;
            ServiceReference<Greetings> reference = ServiceReference.to(
                            Greetings.class, new StaticEndpoints(List.of(new Endpoint("memory", 0))))
                    .protocol(transport.protocol())
                    .build();
            try (RpcServer server = RpcServer.builder(transport)
                            .export(ServiceExport.of(Greetings.class, served))
                            .build();
                    RpcClient client = RpcClient.builder()
                            .transport(transport)
                            .timeout(Duration.ofSeconds(20))
                            .build()) {
                server.start();
                return client.refer(reference).hello("Ann") + ", " + ProtobufCodec.isMessage(Greetings.class) + ", "
                        + method.payload();
            }
        }
    }

    private static final class JsonCall implements Callable<String> {
        @Override
        public String call() {
            MethodDescriptor method =
                    ServiceDescriptor.of(Greetings.class).methods().get(0);
            JsonMethod json = new JsonCodec(new JsonMapper()).method(method);
            OutputBuffer out = new OutputBuffer();
            json.writeResult("hello " + json.readArguments(new byte[] {'"', 'A', '"'}, 0, 3, false)[0], out);
            return new String(out.toByteArray(), java.nio.charset.StandardCharsets.UTF_8);
        }
    }

    private static final class BinaryMessageCall implements Callable<Object> {
        @Override
        public Object call() {
            ProtobufCodec codec = new ProtobufCodec();
            OutputBuffer out = new OutputBuffer();
            codec.write(StringValue.of("Ann"), out);
            return codec.parse(StringValue.class, out.array(), 0, out.position());
        }
    }

    private static final class JsonMessageCall implements Callable<List<String>> {
        @Override
        public List<String> call() {
            MethodDescriptor method =
                    ServiceDescriptor.of(Messages.class).methods().get(0);
            JsonMethod json = new JsonCodec(new JsonMapper()).method(method);
            try {
                json.writeResult(StringValue.of("x"), new OutputBuffer());
                return List.of("written");
            } catch (SerializationException e) {
                return List.of(json.warnings().get(0), e.getMessage());
            }
        }
    }

    @Test
    void callsWorkWithoutJacksonAndProtobuf() throws Exception {
        assertThat(new Without(JACKSON, ANNOTATIONS, PROTOBUF).run(PlainCall.class))
                .isEqualTo("hello Ann, false, JAVA");
    }

    @Test
    void jsonWorksWithoutProtobuf() throws Exception {
        assertThat(new Without(PROTOBUF).run(JsonCall.class)).isEqualTo("\"hello A\"");
    }

    @Test
    void messagesWorkWithoutJackson() throws Exception {
        assertThat(new Without(JACKSON, ANNOTATIONS, JSON_FORM).run(BinaryMessageCall.class))
                .isEqualTo(StringValue.of("Ann"));
    }

    @Test
    void theJarForMessagesInJsonIsNamedWhenMissing() throws Exception {
        String missing = "the JSON form of message com.google.protobuf.StringValue needs"
                + " com.google.protobuf:protobuf-java-util, which is not on the class path";

        assertThat(new Without(JSON_FORM).run(JsonMessageCall.class))
                .asInstanceOf(org.assertj.core.api.InstanceOfAssertFactories.LIST)
                .containsExactly(
                        "Methods on protobuf messages cannot be called with JSON, which needs"
                                + " com.google.protobuf:protobuf-java-util on the class path",
                        "Messages/hello, result: " + missing);
        assertThat(new Without("none").run(JsonMessageCall.class)).isEqualTo(List.of("written"));
    }

    @Test
    void loaderOfThisTestHidesTheLibraries() {
        assertThatThrownBy(() -> new Without(JACKSON).run(JsonCall.class)).isInstanceOf(NoClassDefFoundError.class);
    }
}
