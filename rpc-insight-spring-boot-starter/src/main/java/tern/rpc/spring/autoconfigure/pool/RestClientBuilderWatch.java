package tern.rpc.spring.autoconfigure.pool;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.core.NativeDetector;
import org.springframework.http.client.ClientHttpRequestFactory;
import org.springframework.web.client.RestClient;

/**
 * Measures all clients that a builder bean or its copies create, even if code sets a different request factory first.
 * The bean is replaced with a proxy, because a builder has no other hook for request factories.
 */
final class RestClientBuilderWatch implements BeanPostProcessor {

    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        return bean instanceof RestClient.Builder builder && !NativeDetector.inNativeImage() ? watched(builder) : bean;
    }

    private static RestClient.Builder watched(RestClient.Builder builder) {
        return Proxy.isProxyClass(builder.getClass())
                ? builder
                : (RestClient.Builder) Proxy.newProxyInstance(
                        RestClientBuilderWatch.class.getClassLoader(),
                        new Class<?>[] {RestClient.Builder.class},
                        new Watched(builder));
    }

    private record Watched(RestClient.Builder builder) implements InvocationHandler {

        @Override
        @SuppressWarnings("unchecked")
        public @Nullable Object invoke(Object proxy, Method method, @Nullable Object @Nullable [] arguments)
                throws Throwable {
            Object argument = arguments == null || arguments.length == 0 ? null : arguments[0];
            if (method.getName().equals("equals")) {
                return proxy == argument;
            }
            if (method.getName().equals("apply") && argument instanceof Consumer<?> configurer) {
                ((Consumer<RestClient.Builder>) configurer).accept((RestClient.Builder) proxy);
                return proxy;
            }
            Object[] passed = argument instanceof ClientHttpRequestFactory factory
                    ? new Object[] {WatchedRequestFactory.of(factory)}
                    : arguments;
            try {
                Object result = method.invoke(builder, passed);
                return result == builder ? proxy : result instanceof RestClient.Builder copy ? watched(copy) : result;
            } catch (InvocationTargetException e) {
                throw e.getCause() == null ? e : e.getCause();
            }
        }
    }
}
