package tern.rpc.client;

import java.lang.invoke.MethodHandles;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import org.jspecify.annotations.Nullable;

/** Runs the bodies of default methods on proxies. */
final class DefaultMethods {

    private DefaultMethods() {}

    /**
     * Runs a default method of the proxy's interface. The interface need not be public. The JDK's own
     * {@code invokeDefault} rejects interfaces that this class cannot access.
     *
     * @throws Throwable the exception that the method threw
     */
    static @Nullable Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
        Class<?> type = method.getDeclaringClass();
        if (Modifier.isPublic(type.getModifiers())) {
            return InvocationHandler.invokeDefault(proxy, method, arguments);
        }
        return MethodHandles.privateLookupIn(type, MethodHandles.lookup())
                .unreflectSpecial(method, type)
                .bindTo(proxy)
                .invokeWithArguments(arguments);
    }
}
