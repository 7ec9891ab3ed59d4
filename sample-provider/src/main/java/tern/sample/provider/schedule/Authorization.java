package tern.sample.provider.schedule;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.web.server.context.WebServerInitializedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.stereotype.Component;
import org.springframework.web.client.ResourceAccessException;
import org.springframework.web.client.RestClient;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;

/**
 * Asks an authorization service over HTTP whether a tenant may schedule tasks. By default, this service is the stub in
 * the same application.
 */
@Component
class Authorization {

    record Decision(boolean allowed) {}

    private final RestClient http;
    // The URL is set before the first call, because the RPC server starts after the web server.
    private volatile @Nullable String url;

    Authorization(RestClient authorizationHttp, ScheduleProperties properties) {
        this.http = authorizationHttp;
        this.url = properties.authorization().url();
    }

    @EventListener
    void webServerStarted(WebServerInitializedEvent event) {
        if (url == null && event.getApplicationContext().getServerNamespace() == null) {
            url = "http://127.0.0.1:" + event.getWebServer().getPort() + AuthorizationStub.PATH;
        }
    }

    boolean allows(String tenant) {
        try {
            Decision decision =
                    http.get().uri(url + "?tenant={tenant}", tenant).retrieve().body(Decision.class);
            return decision != null && decision.allowed();
        } catch (ResourceAccessException e) {
            throw new RpcException(
                    StatusCode.UNAVAILABLE,
                    "authorization at " + url + " did not answer: " + e.getMessage(),
                    RpcException.Executed.YES,
                    e);
        }
    }
}
