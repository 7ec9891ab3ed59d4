package shop;

import java.net.http.HttpClient;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadPoolExecutor;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.RestTemplate;
import org.springframework.web.reactive.function.client.WebClient;

/** A bean of an application that creates its executors and HTTP clients itself, also in a helper object. */
public class Prices {

    private final ThreadPoolExecutor loaders = (ThreadPoolExecutor) Executors.newFixedThreadPool(2);
    private final Helper helper = new Helper(loaders);
    private final Executor given;

    public Prices(Executor given) {
        this.given = given;
    }

    /** An object that is not a bean. */
    private static final class Helper {
        private final ExecutorService single = Executors.newSingleThreadExecutor();
        private final Executor shared;
        private final RestTemplate template = new RestTemplate();
        private final RestClient rest = RestClient.create();
        private final HttpClient jdk = HttpClient.newHttpClient();
        private final WebClient reactive = WebClient.create();

        Helper(Executor shared) {
            this.shared = shared;
        }
    }

    public Executor executor(String field) {
        return switch (field) {
            case "loaders" -> loaders;
            case "single" -> helper.single;
            case "shared" -> helper.shared;
            default -> given;
        };
    }

    public <T> Future<T> load(Callable<T> task) {
        return loaders.submit(task);
    }

    public RestTemplate template() {
        return helper.template;
    }

    public RestClient rest() {
        return helper.rest;
    }

    public WebClient reactive() {
        return helper.reactive;
    }

    public HttpClient jdk() {
        return helper.jdk;
    }

    public void close() {
        loaders.shutdownNow();
        helper.single.shutdownNow();
    }
}
