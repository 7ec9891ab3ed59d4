package tern.rpc.netty.streams;

import com.example.ledger.Entry;
import com.example.ledger.Receipt;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;
import reactor.adapter.JdkFlowAdapter;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import tern.rpc.CallOptions;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tern.rpc.StreamObserver;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.metrics.RpcMeter;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.metrics.Slo;
import tern.rpc.netty.ClientTransportSettings;
import tern.rpc.netty.EventLoops;
import tern.rpc.netty.NettyClientTransport;
import tern.rpc.netty.triple.TripleClientProtocol;
import tern.rpc.netty.triple.TripleCodecs;
import tern.rpc.transport.ClientTransport;

/**
 * Tern's client, which calls a proxy of the service interface. For each kind of stream, the interface has methods with
 * several Java signatures. The id in the stream's {@link FeedPlan} selects one of them.
 */
final class TernCaller implements FeedCaller {

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final ExecutorService writers = Executors.newCachedThreadPool();
    private final RpcClient client;
    private final Feeds feeds;
    private final Misfits misfits;

    TernCaller(EventLoops loops, TripleCodecs codecs, int port, FeedsSettings chosen) {
        this(
                new NettyClientTransport(settings(chosen), loops, new TripleClientProtocol(codecs)),
                new Endpoint("127.0.0.1", port),
                chosen);
    }

    TernCaller(ClientTransport transport, Endpoint endpoint, FeedsSettings chosen) {
        RpcClient.Builder builder = RpcClient.builder()
                .transport(transport)
                .timeout(Duration.ofSeconds(60))
                .meters(new RpcMeters(registry, Slo.DEFAULT));
        if (chosen.threads() != null) {
            builder.threads(chosen.threads(), Duration.ZERO);
        }
        client = builder.build();
        feeds = proxy(Feeds.class, transport, endpoint);
        misfits = proxy(Misfits.class, transport, endpoint);
    }

    private static ClientTransportSettings settings(FeedsSettings chosen) {
        ClientTransportSettings usual = ClientTransportSettings.named("streams");
        ClientTransportSettings settings =
                usual.withMaxInFlight(FeedsSides.MAX_STREAMS).withMaxQueuedBytes(usual.maxQueuedBytes() * 4);
        return chosen.tls() ? settings.withTls(FeedsSettings::clientTls) : settings;
    }

    private <T> T proxy(Class<T> service, ClientTransport transport, Endpoint endpoint) {
        return client.refer(ServiceReference.to(service, new StaticEndpoints(List.of(endpoint)))
                .protocol(transport.protocol())
                .build());
    }

    /** Returns the service whose methods use streams incorrectly. */
    Misfits misfits() {
        return misfits;
    }

    /** Returns the service whose methods use streams correctly. */
    Feeds feeds() {
        return feeds;
    }

    private double gauge(RpcMeter meter) {
        return registry.get(meter.key()).gauges().stream()
                .mapToDouble(gauge -> gauge.value())
                .sum();
    }

    @Override
    public int inFlight() {
        return (int) gauge(RpcMeter.CLIENT_IN_FLIGHT);
    }

    @Override
    public long queuedBytes() {
        return (long) gauge(RpcMeter.CLIENT_WRITE_QUEUE);
    }

    /** Makes a unary call. */
    CompletableFuture<Entry> echo(Entry entry) {
        return feeds.echo(entry).toCompletableFuture();
    }

    @Override
    public void begin(Feed feed) {
        FeedPlan plan = feed.plan;
        Feeds to = plan.deadline() == null
                ? feeds
                : CallOptions.none().timeout(plan.deadline()).on(feeds);
        int shape = plan.id() & 3;
        switch (plan.way()) {
            case DOWN -> down(to, feed, shape);
            case UP -> up(to, feed, shape);
            case BOTH -> both(to, feed, shape);
        }
    }

    private static void down(Feeds to, Feed feed, int shape) {
        switch (shape) {
            case 0 -> to.publish(feed.plan.period()).subscribe(new Taker(feed));
            case 1 ->
                JdkFlowAdapter.publisherToFlowPublisher(to.flux(feed.plan.period()))
                        .subscribe(new Taker(feed));
            case 2 -> to.observe(feed.plan.period(), new Observing(feed));
            default -> to.observeReady(feed.plan.period(), new Observing(feed));
        }
    }

    private static void up(Feeds to, Feed feed, int shape) {
        if (shape % 2 == 0) {
            CompletableFuture<CompletableFuture<Receipt>> begun = new CompletableFuture<>();
            feed.cancelledBy(() -> begun.thenAccept(call -> call.cancel(false)));
            CompletableFuture<Receipt> call = to.collect(requests(feed)).toCompletableFuture();
            call.whenComplete((receipt, failure) -> ended(feed, receipt, failure));
            begun.complete(call);
            return;
        }
        CompletableFuture<Disposable> begun = new CompletableFuture<>();
        feed.cancelledBy(() -> begun.thenAccept(call -> {
            call.dispose();
            // a caller that cancels its own call is not notified, so the end is recorded here
            feed.endedIfOpen(StatusCode.CANCELLED);
        }));
        begun.complete(to.collectFlux(JdkFlowAdapter.flowPublisherToFlux(requests(feed)))
                .subscribe(receipt -> ended(feed, receipt, null), failure -> ended(feed, null, failure)));
    }

    private static void ended(Feed feed, @Nullable Receipt receipt, @Nullable Throwable failure) {
        if (failure != null) {
            feed.failed(failure);
        } else {
            feed.take(Objects.requireNonNull(receipt));
            feed.ended(StatusCode.OK);
        }
    }

    private static Flow.Publisher<Entry> requests(Feed feed) {
        return new Entries(() -> feed.hasMore() ? feed.give() : null, null, () -> {});
    }

    private void both(Feeds to, Feed feed, int shape) {
        switch (shape) {
            case 0 -> to.exchange(requests(feed)).subscribe(new Taker(feed));
            case 1 -> {
                Flux<Entry> answers = to.exchangeFlux(JdkFlowAdapter.flowPublisherToFlux(requests(feed)));
                JdkFlowAdapter.publisherToFlowPublisher(answers).subscribe(new Taker(feed));
            }
            case 2 -> {
                StreamObserver<Entry> requests = to.exchangeObserved(new Observing(feed));
                writers.execute(() -> write(feed, requests));
            }
            default -> {
                StreamObserver<Entry> requests = to.exchangeObserved(new Observing(feed));
                requests.onReady(() -> writeWhileReady(feed, requests));
            }
        }
    }

    private static void write(Feed feed, StreamObserver<Entry> requests) {
        try {
            while (feed.hasMore()) {
                requests.onNext(feed.give());
            }
            requests.onCompleted();
        } catch (RpcException | IllegalStateException e) {
            // the call has ended, and the receiver of the answers is notified of the reason, so the exception is
            // ignored here
        }
    }

    private static void writeWhileReady(Feed feed, StreamObserver<Entry> requests) {
        while (feed.hasMore() && requests.isReady()) {
            requests.onNext(feed.give());
        }
        if (!feed.hasMore()) {
            requests.onCompleted();
        }
    }

    @Override
    public void close() {
        client.close();
        writers.shutdownNow();
    }

    @Override
    public String toString() {
        return "our client";
    }

    /** Receives answers as a subscriber. */
    private static final class Taker implements Flow.Subscriber<Entry> {

        private final Feed feed;
        private Flow.@Nullable Subscription subscription;

        Taker(Feed feed) {
            this.feed = feed;
        }

        @Override
        public void onSubscribe(Flow.Subscription given) {
            subscription = given;
            feed.askFirst(() -> given.request(Long.MAX_VALUE), () -> given.request(1));
        }

        @Override
        public void onNext(Entry entry) {
            Flow.Subscription current = Objects.requireNonNull(subscription);
            if (feed.take(entry)) {
                current.cancel();
                // a subscriber that cancels its own subscription is not notified, so the end is recorded here
                feed.ended(StatusCode.CANCELLED);
            } else {
                feed.askNext(() -> current.request(1));
            }
        }

        @Override
        public void onError(Throwable failure) {
            feed.failed(failure);
        }

        @Override
        public void onComplete() {
            feed.ended(StatusCode.OK);
        }
    }

    /**
     * Receives answers as an observer. While the observer blocks, the peer's flow-control window fills and the peer
     * cannot send more.
     */
    private static final class Observing implements StreamObserver<Entry> {

        private final Feed feed;

        Observing(Feed feed) {
            this.feed = feed;
        }

        @Override
        public void onNext(Entry entry) {
            feed.awaitLetGo();
            if (feed.take(entry)) {
                throw new IllegalStateException("cancelled by plan");
            }
        }

        @Override
        public void onError(Throwable failure) {
            feed.failed(failure);
        }

        @Override
        public void onCompleted() {
            feed.ended(StatusCode.OK);
        }
    }
}
