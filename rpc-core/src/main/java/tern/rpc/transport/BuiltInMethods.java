package tern.rpc.transport;

import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import tern.rpc.MethodDescriptor;
import tern.rpc.ServiceDescriptor;

/** The methods that every service has in addition to the methods of its interface (docs/wire-protocol.md 1.9). */
public interface BuiltInMethods {

    ServiceDescriptor DESCRIPTOR = ServiceDescriptor.of(BuiltInMethods.class);

    String ECHO = "$echo";

    /**
     * Returns whether the method is generic. A generic method calls another method, whose name is its first argument.
     */
    static boolean isGeneric(MethodDescriptor method) {
        return method.service() == DESCRIPTOR && !method.name().equals(ECHO);
    }

    /** Returns whether methods with the given name are {@linkplain #isGeneric generic}. */
    static boolean isGenericName(String name) {
        return !name.equals(ECHO) && !DESCRIPTOR.overloads(name).isEmpty();
    }

    /** The built-in echo method, which returns its argument unchanged. */
    @Nullable
    Object $echo(@Nullable Object value);

    /**
     * Calls a method by name. Beans are represented as maps.
     *
     * @param types the Java names of the parameter types, or null if the name is sufficient
     * @throws GenericException if the called method throws any exception
     */
    @Nullable
    Object $invoke(String method, String @Nullable [] types, Object[] arguments) throws GenericException;

    CompletionStage<@Nullable Object> $invokeAsync(String method, String @Nullable [] types, Object[] arguments)
            throws GenericException;
}
