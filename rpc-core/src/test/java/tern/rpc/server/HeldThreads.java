package tern.rpc.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import tern.rpc.StreamObserver;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.limit.Refusal;
import tern.rpc.metrics.RpcMeter;
import tern.rpc.transport.InMemoryTransport;

/** A server and its callers, for tests of methods that do not return. The test decides when the methods return. */
abstract class HeldThreads extends MeteredServer {

    static final int THREADS = 40;
    static final int QUEUE = 30;
    static final String SMALL = "small";

    public interface Work {

        String hold(String name);

        String quick(String name);

        CompletableFuture<String> later(String name);

        /** Blocks on each request until the test releases it. */
        StreamObserver<String> holdEach(StreamObserver<String> answers);

        StreamObserver<String> echoEach(StreamObserver<String> answers);
    }

    static final class Worker implements Work {

        final Semaphore holding = new Semaphore(0);
        final Semaphore streams = new Semaphore(0);
        final Semaphore release = new Semaphore(0);
        final Semaphore releaseSmall = new Semaphore(0);
        final CompletableFuture<String> answer = new CompletableFuture<>();

        @Override
        public String hold(String name) {
            holding.release();
            (name.equals(SMALL) ? releaseSmall : release).acquireUninterruptibly();
            return name;
        }

        @Override
        public String quick(String name) {
            return name;
        }

        @Override
        public CompletableFuture<String> later(String name) {
            holding.release();
            return answer;
        }

        @Override
        public StreamObserver<String> holdEach(StreamObserver<String> answers) {
            streams.release();
            return each(answers, this::hold);
        }

        @Override
        public StreamObserver<String> echoEach(StreamObserver<String> answers) {
            return each(answers, this::quick);
        }

        private static StreamObserver<String> each(
                StreamObserver<String> answers, java.util.function.UnaryOperator<String> answer) {
            return new StreamObserver<>() {
                @Override
                public void onNext(String value) {
                    answers.onNext(answer.apply(value));
                }

                @Override
                public void onError(Throwable failure) {
                    answers.onError(failure);
                }

                @Override
                public void onCompleted() {
                    answers.onCompleted();
                }
            };
        }
    }

    final Worker worker = new Worker();
    final ExecutorService callers = Executors.newCachedThreadPool();
    private final List<RpcClient> clients = new ArrayList<>();

    void serve(Consumer<RpcServer.Builder> settings) {
        start(ServiceExport.of(Work.class, worker), builder -> settings.accept(builder.workers(THREADS, QUEUE)));
    }

    /** Creates a client with its own connection, so that it is a separate tenant. */
    Work tenant() {
        RpcClient client = RpcClient.builder()
                .transport(transport)
                .clock(now::get)
                .timeout(Duration.ofHours(1))
                .build();
        clients.add(client);
        return client.refer(ServiceReference.to(Work.class, new StaticEndpoints(List.of(new Endpoint("memory", 0))))
                .protocol(InMemoryTransport.PROTOCOL)
                .build());
    }

    @AfterEach
    void stop() throws Exception {
        worker.release.release(1_000_000);
        worker.releaseSmall.release(1_000_000);
        worker.answer.complete("at last");
        await("nobody is inside", () -> inside() == 0);
        clients.forEach(RpcClient::close);
        server().close();
        callers.shutdownNow();
        assertThat(callers.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
    }

    /** Makes a call whose method does not return, and waits until the method is running. */
    Future<?> hold(Work tenant) throws InterruptedException {
        Future<?> call = callers.submit(() -> tenant.hold("held"));
        assertThat(worker.holding.tryAcquire(30, TimeUnit.SECONDS)).isTrue();
        return call;
    }

    Work tenantThatHoldsAllThreads() throws InterruptedException {
        Work tenant = tenant();
        for (int i = 0; i < THREADS; i++) {
            hold(tenant);
        }
        return tenant;
    }

    /** Makes calls while all threads are busy, and waits until the calls are queued. */
    List<Future<String>> queue(Work tenant, int calls) {
        List<Future<String>> made = new ArrayList<>();
        int before = server().workers().queued();
        for (int i = 1; i <= calls; i++) {
            made.add(callers.submit(() -> tenant.hold("queued")));
            int wanted = before + i;
            await("it waits", () -> server().workers().queued() == wanted);
        }
        return made;
    }

    <T> T inTime(Callable<T> call) throws Exception {
        return callers.submit(call).get(10, TimeUnit.SECONDS);
    }

    /** Advances the clock until the queued calls have waited longer than the server allows. */
    void waitInVain() {
        now.addAndGet(TimeUnit.MILLISECONDS.toNanos(60));
        transport.sweep();
        await("nobody waits", () -> refused(Refusal.WAIT) > 0 && inside() == THREADS);
    }

    double active() {
        return registry.get(RpcMeter.SERVER_WORKERS_ACTIVE.key()).gauge().value();
    }

    void allCallsOfAnotherSucceed() throws Exception {
        Work other = tenant();
        for (int i = 0; i < 100; i++) {
            assertThat(inTime(() -> other.quick("served"))).isEqualTo("served");
        }
    }
}
