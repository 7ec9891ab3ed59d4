package garden.shop;

import java.net.http.HttpClient;
import java.time.Duration;
import org.springframework.core.env.Environment;
import org.springframework.http.client.JdkClientHttpRequestFactory;
import org.springframework.stereotype.Component;
import org.springframework.web.client.RestClient;

/** Calls two parcel companies: one with Apache's HTTP client, the other with the JDK's HTTP client. */
@Component
public class Carriers {

    private final RestClient express;
    private final RestClient parcel;

    Carriers(RestClient.Builder builder, Environment environment) {
        this.express = builder.clone()
                .baseUrl("http://127.0.0.1:" + environment.getRequiredProperty("garden.express-port"))
                .build();
        JdkClientHttpRequestFactory jdk = new JdkClientHttpRequestFactory(HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(Duration.ofSeconds(1))
                .build());
        jdk.setReadTimeout(Duration.ofSeconds(5));
        this.parcel = builder.clone()
                .requestFactory(jdk)
                .baseUrl("http://127.0.0.1:" + environment.getRequiredProperty("garden.parcel-port"))
                .build();
    }

    public String quote(int id) {
        return text(express, "/quote/{id}", id);
    }

    public String track(int id) {
        return text(parcel, "/track/{id}", id);
    }

    /** Returns the HTTP client that has a connection pool. */
    public RestClient express() {
        return express;
    }

    private static String text(RestClient client, String path, int id) {
        return String.valueOf(client.get().uri(path, id).retrieve().body(String.class));
    }
}
