package garden.open;

import garden.shop.Naps;
import garden.shop.Step;
import garden.shop.Switches;
import java.net.InetAddress;
import java.net.UnknownHostException;
import org.apache.hc.client5.http.SystemDefaultDnsResolver;
import org.apache.hc.client5.http.config.ConnectionConfig;
import org.apache.hc.client5.http.impl.classic.HttpClients;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManagerBuilder;
import org.apache.hc.core5.util.TimeValue;
import org.springframework.core.env.Environment;
import org.springframework.http.client.HttpComponentsClientHttpRequestFactory;
import org.springframework.stereotype.Component;
import org.springframework.web.client.RestClient;

/**
 * An HTTP client whose connections live for only 1 ms. The client therefore resolves the host name for almost every
 * request.
 */
@Component
class Directory implements Step {

    private final RestClient client;

    Directory(Environment environment) {
        var connections = PoolingHttpClientConnectionManagerBuilder.create()
                .setDnsResolver(new Resolver())
                .setDefaultConnectionConfig(ConnectionConfig.custom()
                        .setTimeToLive(TimeValue.ofMilliseconds(1))
                        .build())
                .build();
        var http = HttpClients.custom().setConnectionManager(connections).build();
        client = RestClient.builder()
                .requestFactory(new HttpComponentsClientHttpRequestFactory(http))
                .baseUrl("http://localhost:" + environment.getRequiredProperty("garden.parcel-port"))
                .build();
    }

    @Override
    public void place(int id) {
        if (Switches.on("resolver-1")) {
            client.get().uri("/route/{id}", id).retrieve().toBodilessEntity();
        }
    }

    private static final class Resolver extends SystemDefaultDnsResolver {

        @Override
        public InetAddress[] resolve(String host) throws UnknownHostException {
            Naps.millis((int) Switches.level("resolver-1"));
            return super.resolve(host);
        }
    }
}
