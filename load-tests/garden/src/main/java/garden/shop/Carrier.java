package garden.shop;

import org.springframework.core.env.Environment;
import org.springframework.stereotype.Component;
import org.springframework.web.client.RestClient;

@Component
class Carrier {

    private final RestClient http;

    Carrier(RestClient.Builder builder, Environment environment) {
        this.http = builder.baseUrl("http://127.0.0.1:" + environment.getRequiredProperty("garden.http-port"))
                .build();
    }

    String quote(int id) {
        return String.valueOf(http.get().uri("/quote/{id}", id).retrieve().body(String.class));
    }
}
