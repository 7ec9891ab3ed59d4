package tern.rpc.spring.autoconfigure.pool;

import java.net.http.HttpClient;

/** Measures beans of the JDK's HTTP client by wrapping each bean in a measuring client. */
final class JdkHttpClientWatch implements HeldWatch {

    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        return bean instanceof HttpClient client && !(client instanceof WatchedHttpClient)
                ? new WatchedHttpClient(client)
                : bean;
    }
}
