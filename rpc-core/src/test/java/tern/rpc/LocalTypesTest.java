package tern.rpc;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests that a service is rejected if it uses a library type that cannot be sent, such as Spring's MultipartFile. The
 * error message must name the type and a replacement.
 */
class LocalTypesTest {

    private static final String MULTIPART_FILE = "org.springframework.web.multipart.MultipartFile";
    private static final String PAGE = "org.springframework.data.domain.Page";

    @TempDir
    static Path folder;

    private static CompiledTypes types;

    @BeforeAll
    static void compile() {
        Map<String, String> sources = new HashMap<>();
        sources.put("org.springframework.core.io.InputStreamSource", "public interface InputStreamSource {}");
        sources.put("org.springframework.core.io.Resource", "public interface Resource extends InputStreamSource {}");
        sources.put(
                MULTIPART_FILE,
                "public interface MultipartFile extends org.springframework.core.io.InputStreamSource {}");
        sources.put(
                "org.springframework.data.util.Streamable",
                "public interface Streamable<T> extends java.util.function.Supplier<java.util.stream.Stream<T>> {}");
        sources.put(
                "org.springframework.data.domain.Slice",
                "public interface Slice<T> extends org.springframework.data.util.Streamable<T> {}");
        sources.put(PAGE, "public interface Page<T> extends Slice<T> {}");
        sources.put(
                "org.springframework.data.domain.PageImpl",
                "public abstract class PageImpl<T> implements Page<T>, java.io.Serializable {}");
        sources.put(
                "org.springframework.data.domain.Sort",
                "public abstract class Sort implements org.springframework.data.util.Streamable<String>,"
                        + " java.io.Serializable {}");
        sources.put(
                "org.springframework.http.HttpHeaders", "public class HttpHeaders implements java.io.Serializable {}");
        sources.put("kotlin.Function", "public interface Function<R> {}");
        sources.put("kotlin.coroutines.Continuation", "public interface Continuation<T> {}");
        sources.put("kotlin.jvm.functions.Function0", "public interface Function0<R> extends kotlin.Function<R> {}");
        sources.put("kotlinx.coroutines.Job", "public interface Job {}");
        sources.put("kotlinx.coroutines.Deferred", "public interface Deferred<T> extends Job {}");
        sources.put("kotlinx.coroutines.flow.Flow", "public interface Flow<T> {}");
        sources.put(
                "io.smallrye.mutiny.Multi",
                "public interface Multi<T> extends java.util.concurrent.Flow.Publisher<T> {}");
        for (String jackson : new String[] {"com.fasterxml.jackson.databind", "tools.jackson.databind"}) {
            sources.put(jackson + ".JsonNode", "public abstract class JsonNode implements java.io.Serializable {}");
            sources.put(jackson + ".node.ObjectNode", "public class ObjectNode extends " + jackson + ".JsonNode {}");
        }
        sources.put("io.grpc.stub.StreamObserver", "public interface StreamObserver<V> {}");
        sources.put(
                "shop.PayGrpc",
                "public final class PayGrpc { public static String getServiceDescriptor() { return null; }"
                        + " public interface AsyncService { default void pay(String what,"
                        + " io.grpc.stub.StreamObserver<String> answers) {} } }");
        sources.put("shop.Bytes", "public class Bytes implements " + MULTIPART_FILE + ", java.io.Serializable {}");
        sources.put("shop.Upload", "public interface Upload { void put(Bytes bytes); }");
        sources.put(
                "shop.Uploads", "public interface Uploads { void put(java.util.List<" + MULTIPART_FILE + "> all); }");
        sources.put(
                "shop.Orders",
                "public interface Orders {"
                        + " Object find(long id, kotlin.coroutines.Continuation<? super String> next); }");
        for (String type : new String[] {
            "org.springframework.core.io.Resource",
            MULTIPART_FILE,
            PAGE + "<String>",
            "org.springframework.data.domain.Slice<String>",
            "org.springframework.data.domain.PageImpl<String>",
            "org.springframework.data.domain.Sort",
            "kotlin.jvm.functions.Function0<String>",
            "kotlinx.coroutines.Deferred<String>",
            "kotlinx.coroutines.flow.Flow<String>",
            "io.smallrye.mutiny.Multi<String>",
            "com.fasterxml.jackson.databind.JsonNode",
            "tools.jackson.databind.node.ObjectNode",
            "org.springframework.http.HttpHeaders",
            "org.w3c.dom.Document",
            "org.slf4j.Logger"
        }) {
            String name = serviceOf(type.replaceFirst("<.*", ""));
            sources.put("shop." + name, "public interface " + name + " { " + type + " get(); }");
        }
        types = new CompiledTypes(folder, sources);
    }

    private static String serviceOf(String type) {
        return "Returns" + type.substring(type.lastIndexOf('.') + 1);
    }

    @ParameterizedTest
    @CsvSource({
        "org.springframework.core.io.Resource, pass byte[]",
        MULTIPART_FILE + ", pass the content as byte[] and the name as a String",
        PAGE + ", return a record with the List and the total",
        "org.springframework.data.domain.PageImpl, return a record with the List and the total",
        "org.springframework.data.domain.Slice, return a record with the List and whether more elements exist",
        "org.springframework.data.domain.Sort, pass the names of the properties and the directions",
        "kotlin.jvm.functions.Function0, a function would be a callback; return a Flow.Publisher",
        "kotlinx.coroutines.Deferred, return a CompletableFuture",
        "kotlinx.coroutines.flow.Flow, return a java.util.concurrent.Flow.Publisher",
        "io.smallrye.mutiny.Multi, return a Flow.Publisher itself",
        "com.fasterxml.jackson.databind.JsonNode, 'declare a record, a Map<String, Object> or a String'",
        "tools.jackson.databind.node.ObjectNode, 'declare a record, a Map<String, Object> or a String'",
        "org.springframework.http.HttpHeaders, 'declare a Map<String, List<String>>'",
        "org.w3c.dom.Document, pass the XML as a String",
        "org.slf4j.Logger, leave it out"
    })
    void typeOfALibraryIsRefusedWithItsReplacement(String type, String advice) {
        Class<?> service = types.type("shop." + serviceOf(type));

        assertThatThrownBy(() -> ServiceDescriptor.of(service))
                .isInstanceOf(IllegalArgumentException.class)
                .message()
                .startsWith(service.getSimpleName() + ".get, result: " + type)
                .endsWith(" cannot be sent; " + advice);
    }

    @Test
    void typeOfALibraryInAListIsRefused() {
        assertThatThrownBy(() -> ServiceDescriptor.of(types.type("shop.Uploads")))
                .hasMessage("Uploads.put, parameter 1: java.util.List<" + MULTIPART_FILE
                        + "> cannot be sent, because it contains MultipartFile; pass the content as byte[] and the name as a"
                        + " String");
    }

    @Test
    void interfaceThatGrpcGeneratesIsRefused() {
        assertThatThrownBy(() -> ServiceDescriptor.of(types.type("shop.PayGrpc$AsyncService")))
                .hasMessage("shop.PayGrpc$AsyncService is generated by gRPC's compiler. Call the service through an"
                        + " interface of your own, with the names of the .proto file in @WireName (docs/grpc.md,"
                        + " Calling a gRPC service); to serve it, extend PayGrpc.PayImplBase");
    }

    @Test
    void suspendFunctionIsRefused() {
        assertThatThrownBy(() -> ServiceDescriptor.of(types.type("shop.Orders")))
                .hasMessage("Orders.find is a suspend function, which cannot be remote; return a CompletableFuture, and"
                        + " call await() of kotlinx.coroutines.future on it");
    }

    @Test
    void serializableClassOfTheApplicationMayImplementATypeOfALibrary() {
        assertThatCode(() -> ServiceDescriptor.of(types.type("shop.Upload"))).doesNotThrowAnyException();
    }
}
