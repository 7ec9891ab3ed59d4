package tern.rpc;

import java.lang.reflect.Method;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Recognizes the stubs and service interfaces that gRPC's compiler generates. Tern cannot use these types as service
 * interfaces.
 */
public final class GeneratedByGrpc {

    private static final String STUB = "io.grpc.stub.AbstractStub";
    private static final String SUFFIX = "Grpc";

    private GeneratedByGrpc() {}

    /**
     * Returns advice on what to use instead of a type that gRPC's compiler generates, as a sentence without the final
     * period. Returns null for any other type.
     */
    public static @Nullable String advice(Class<?> type) {
        Class<?> enclosing = type.getEnclosingClass();
        Class<?> outer = enclosing == null ? type : enclosing;
        if (!isStub(type) && !isGenerated(outer)) {
            return null;
        }
        String call = "Call the service through an interface of your own, with the names of the .proto file in"
                + " @WireName (docs/grpc.md, Calling a gRPC service)";
        if (!type.isInterface()) {
            return call;
        }
        String name = outer.getSimpleName();
        return call + "; to serve it, extend " + name + "." + name.substring(0, name.length() - SUFFIX.length())
                + "ImplBase";
    }

    private static boolean isStub(Class<?> type) {
        for (Class<?> of = type; of != null; of = of.getSuperclass()) {
            if (of.getName().equals(STUB)) {
                return true;
            }
        }
        return false;
    }

    private static boolean isGenerated(Class<?> outer) {
        return outer.getSimpleName().endsWith(SUFFIX)
                && Arrays.stream(outer.getDeclaredMethods())
                        .map(Method::getName)
                        .anyMatch("getServiceDescriptor"::equals);
    }
}
