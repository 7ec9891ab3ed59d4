package tern.rpc.spring.autoconfigure.pool;

import java.lang.reflect.Field;
import org.jspecify.annotations.Nullable;
import org.springframework.http.client.ClientHttpRequestFactory;
import org.springframework.http.client.support.HttpAccessor;
import org.springframework.util.ReflectionUtils;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.RestTemplate;

/**
 * Measures Spring HTTP clients that are beans, but were not created by Boot. Wraps the request factory of each client
 * in a measuring factory. This class must not use {@code java.net.http}, which some Java runtimes lack.
 */
final class HttpClientWatch implements HeldWatch {

    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        if (bean instanceof RestTemplate template) {
            watch(template);
        } else if (bean instanceof RestClient client) {
            watch(client.getClass(), "clientRequestFactory", client);
        }
        return bean;
    }

    static void watch(RestTemplate template) {
        watch(HttpAccessor.class, "requestFactory", template);
    }

    private static void watch(Class<?> type, String name, Object client) {
        Field field = ReflectionUtils.findField(type, name, ClientHttpRequestFactory.class);
        if (field != null) {
            ReflectionUtils.makeAccessible(field);
            replace(field, client);
        }
    }

    private static void replace(Field field, Object client) {
        ClientHttpRequestFactory own = present(field, client);
        if (own != null) {
            ClientHttpRequestFactory watched = WatchedRequestFactory.of(own);
            if (watched != own) {
                ReflectionUtils.setField(field, client, watched);
            }
        }
    }

    private static @Nullable ClientHttpRequestFactory present(Field field, Object client) {
        return (ClientHttpRequestFactory) ReflectionUtils.getField(field, client);
    }
}
