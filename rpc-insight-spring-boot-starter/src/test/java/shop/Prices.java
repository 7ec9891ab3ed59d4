package shop;

import java.net.http.HttpClient;
import java.util.List;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.RestTemplate;
import org.springframework.web.reactive.function.client.WebClient;

/** A bean that creates its executors and HTTP clients itself, and also keeps some of them in a helper object. */
public class Prices {

    private final ThreadPoolExecutor loaders = (ThreadPoolExecutor) Executors.newFixedThreadPool(2);
    private final Helper helper = new Helper(loaders);
    private final Executor given;
    private final ExecutorService own = new Own();
    private final ThreadPoolTaskExecutor lazy;

    public Prices(Executor given, ThreadPoolTaskExecutor lazy) {
        this.given = given;
        this.lazy = lazy;
    }

    /** An executor class of the application. The application casts the executor to this class. */
    private static final class Own extends AbstractExecutorService {
        private final ExecutorService executor = Executors.newSingleThreadExecutor();

        @Override
        public void execute(Runnable task) {
            executor.execute(task);
        }

        @Override
        public void shutdown() {
            executor.shutdown();
        }

        @Override
        public List<Runnable> shutdownNow() {
            return executor.shutdownNow();
        }

        @Override
        public boolean isShutdown() {
            return executor.isShutdown();
        }

        @Override
        public boolean isTerminated() {
            return executor.isTerminated();
        }

        @Override
        public boolean awaitTermination(long timeout, TimeUnit unit) throws InterruptedException {
            return executor.awaitTermination(timeout, unit);
        }
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
            case "own" -> (Own) own;
            case "lazy" -> lazy;
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
        own.shutdownNow();
        helper.single.shutdownNow();
    }
}
