package tern.rpc;

import java.io.Serializable;
import java.lang.reflect.Modifier;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Recognizes types whose values cannot be sent. Values such as files and threads exist only within one process. Values
 * such as Jackson trees belong to a library that has its own format. Library types are recognized by name, because the
 * libraries are not dependencies.
 */
public final class LocalTypes {

    private static final String COLLECT = "pass a List or return a Flow.Publisher";
    private static final String COMPLETE = "return a CompletableFuture";
    private static final String PUBLISH = "return a java.util.concurrent.Flow.Publisher";
    private static final String BYTES = "pass byte[]";
    private static final String FILE = "pass the content as byte[] and the name as a String";
    private static final String OMIT = "leave it out";
    private static final String PAGE = "return a record with the List and the total";

    /**
     * The JDK types whose values cannot be sent, each with advice on what to use instead. The advice also applies to
     * subtypes.
     */
    private static final Map<String, String> OF_THE_JDK = Map.of(
            "java.io.Closeable", "pass byte[] or a String",
            "java.util.stream.BaseStream", COLLECT,
            "java.util.Iterator", COLLECT,
            "java.util.Optional", "pass the value itself, which may be null",
            "java.util.concurrent.Executor", OMIT,
            "java.lang.Thread", OMIT,
            "java.lang.ClassLoader", OMIT);

    private static final Map<String, String> OF_LIBRARIES = ofLibraries();

    private LocalTypes() {}

    private static Map<String, String> ofLibraries() {
        Map<String, String> types = new HashMap<>();
        String spring = "org.springframework.";
        types.put(spring + "core.io.InputStreamSource", BYTES);
        types.put(spring + "core.io.buffer.DataBuffer", BYTES);
        types.put(spring + "data.domain.Page", PAGE);
        types.put(spring + "data.domain.PageImpl", PAGE);
        types.put(spring + "data.domain.Slice", "return a record with the List and whether more elements exist");
        types.put(spring + "data.domain.SliceImpl", "return a record with the List and whether more elements exist");
        types.put(spring + "data.domain.Sort", "pass the names of the properties and the directions");
        types.put(spring + "http.HttpEntity", "return the body");
        types.put(spring + "http.HttpHeaders", "declare a Map<String, List<String>>");
        types.put(spring + "http.codec.multipart.Part", FILE);
        types.put(spring + "validation.Errors", OMIT);
        types.put(spring + "web.context.request.WebRequest", OMIT);
        types.put(spring + "web.context.request.async.DeferredResult", COMPLETE);
        types.put(spring + "web.multipart.MultipartFile", FILE);
        types.put(spring + "web.servlet.mvc.method.annotation.ResponseBodyEmitter", PUBLISH);
        types.put(spring + "web.servlet.mvc.method.annotation.StreamingResponseBody", BYTES);
        for (String jakarta : new String[] {"jakarta.", "javax."}) {
            types.put(jakarta + "activation.DataHandler", FILE);
            types.put(jakarta + "activation.DataSource", FILE);
            types.put(jakarta + "servlet.ServletRequest", OMIT);
            types.put(jakarta + "servlet.ServletResponse", OMIT);
            types.put(jakarta + "servlet.http.HttpSession", OMIT);
            types.put(jakarta + "servlet.http.Part", FILE);
        }
        types.put("kotlin.Function", "a function would be a callback; return a Flow.Publisher");
        types.put("kotlin.sequences.Sequence", COLLECT);
        types.put("kotlinx.coroutines.Job", COMPLETE);
        types.put("kotlinx.coroutines.channels.ReceiveChannel", PUBLISH);
        types.put("kotlinx.coroutines.channels.SendChannel", PUBLISH);
        types.put("kotlinx.coroutines.flow.Flow", PUBLISH);
        for (String reactive : new String[] {"io.reactivex.", "io.reactivex.rxjava3.core."}) {
            types.put(reactive + "Completable", COMPLETE);
            types.put(reactive + "Maybe", COMPLETE);
            types.put(reactive + "Observable", PUBLISH);
            types.put(reactive + "Single", COMPLETE);
        }
        types.put("io.smallrye.mutiny.Uni", COMPLETE);
        types.put("io.vertx.core.Future", COMPLETE);
        types.put("org.reactivestreams.Publisher", PUBLISH);
        types.put("java.util.concurrent.Flow$Publisher", "return a Flow.Publisher itself");
        for (String observer : new String[] {"io.grpc.stub.", "org.apache.dubbo.common.stream."}) {
            types.put(
                    observer + "StreamObserver", "import tern.rpc.StreamObserver instead, which has the same methods");
        }
        for (String jackson : new String[] {"com.fasterxml.jackson.", "tools.jackson."}) {
            for (String tree : new String[] {"JsonNode", "node.ArrayNode", "node.ObjectNode"}) {
                types.put(jackson + "databind." + tree, "declare a record, a Map<String, Object> or a String");
            }
        }
        types.put("org.w3c.dom.Node", "pass the XML as a String");
        types.put("org.slf4j.Logger", OMIT);
        types.put("com.google.common.io.ByteSource", BYTES);
        types.put("io.netty.buffer.ByteBuf", BYTES);
        return Map.copyOf(types);
    }

    /** Returns advice on what to use instead of a type whose values cannot be sent; null for any other type. */
    public static @Nullable String advice(Class<?> type) {
        String library = libraryAdvice(type);
        return library != null ? library : nearest(type, OF_THE_JDK);
    }

    /**
     * Returns advice on what to use instead of a library type whose values cannot be sent; null for any other type.
     * Also returns null for a concrete serializable subclass of such a type, because objects of the subclass can be
     * sent.
     */
    public static @Nullable String libraryAdvice(Class<?> type) {
        String own = OF_LIBRARIES.get(type.getName());
        boolean isData = Serializable.class.isAssignableFrom(type) && !Modifier.isAbstract(type.getModifiers());
        return own != null || isData ? own : nearest(type, OF_LIBRARIES);
    }

    private static @Nullable String nearest(Class<?> type, Map<String, String> advice) {
        String found = advice.get(type.getName());
        Class<?> superclass = type.getSuperclass();
        if (found == null && superclass != null) {
            found = nearest(superclass, advice);
        }
        for (Class<?> parent : type.getInterfaces()) {
            if (found == null) {
                found = nearest(parent, advice);
            }
        }
        return found;
    }
}
