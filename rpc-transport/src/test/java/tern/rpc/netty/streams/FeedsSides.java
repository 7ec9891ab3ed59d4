package tern.rpc.netty.streams;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.grpc.GrpcServices;
import tern.rpc.limit.FixedLimit;
import tern.rpc.metrics.RpcMeter;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.metrics.Slo;
import tern.rpc.netty.EventLoops;
import tern.rpc.netty.NettyServerTransport;
import tern.rpc.netty.ServerTransportSettings;
import tern.rpc.netty.peer.Await;
import tern.rpc.netty.peer.ResourceLedger;
import tern.rpc.netty.triple.Http1Protocol;
import tern.rpc.netty.triple.HttpSettings;
import tern.rpc.netty.triple.TripleCodecs;
import tern.rpc.netty.triple.TripleProtocol;
import tern.rpc.serialization.JdkSerializer;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.serialization.json.JsonCodec;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;
import tern.rpc.transport.InMemoryTransport;
import tools.jackson.databind.json.JsonMapper;

/** A Tern server with the services of this package, and the code that runs streams and checks their results. */
final class FeedsSides implements AutoCloseable {

    static final int MAX_STREAMS = 2_048;

    private static final long MAX_SECONDS = property("patience", 60);

    private final FeedsSettings chosen;
    private final EventLoops loops;
    private final TripleCodecs codecs = new TripleCodecs(
            HessianSerializer.builder().build(),
            new JsonCodec(JsonMapper.builder().build()),
            0);
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final FeedsServer feeds = new FeedsServer();
    private final List<InMemoryTransport> inMemory = new CopyOnWriteArrayList<>();
    private final RpcServer server;

    FeedsSides() {
        this(FeedsSettings.usual());
    }

    FeedsSides(FeedsSettings chosen) {
        this.chosen = chosen;
        this.loops = EventLoops.start(chosen.loops());
        ServerTransportSettings settings = ServerTransportSettings.onPort(0).withMaxInFlight(chosen.maxStreams());
        if (chosen.tls()) {
            settings = settings.withTls(FeedsSettings::serverTls, false);
        }
        HttpSettings http = HttpSettings.defaults();
        RpcServer.Builder builder = RpcServer.builder(ResourceLedger.watch(new NettyServerTransport(
                        settings, loops, List.of(new TripleProtocol(codecs, http), new Http1Protocol(codecs, http)))))
                .workers(chosen.workers(), MAX_STREAMS)
                .limit(() -> new FixedLimit(MAX_STREAMS))
                .maxQueueWait(Duration.ofSeconds(MAX_SECONDS))
                .maxStreamWait(chosen.streamWait())
                .meters(new RpcMeters(registry, Slo.DEFAULT))
                .export(ServiceExport.of(Feeds.class, feeds))
                .export(ServiceExport.of(Misfits.class, new MisfitsServer()))
                .export(GrpcServices.export(new LedgerFeeds()));
        if (chosen.threads() != null) {
            builder.threads(chosen.threads(), Duration.ZERO);
        }
        server = builder.build();
        server.start();
    }

    int port() {
        return server.port();
    }

    /** Creates a Tern client that calls a Tern server or a gRPC server. */
    TernCaller ternCaller(int port) {
        return new TernCaller(loops, codecs, port, chosen);
    }

    /** Creates a Tern client that calls the server in memory. Closing the client also closes the transport. */
    TernCaller memoryCaller() {
        InMemoryTransport memory = new InMemoryTransport(new JdkSerializer());
        inMemory.add(memory);
        server.serve(memory);
        return new TernCaller(memory, new Endpoint("memory", 0), chosen);
    }

    /** Creates a client of grpc-java that calls the server. */
    GrpcCaller grpcCaller(int window) {
        return new GrpcCaller(port(), GrpcMethods.FEEDS, window, chosen.tls());
    }

    /** Creates a client that calls the server with one of the web protocols. */
    WebCaller webCaller(WebCaller.Form form, int window) {
        return new WebCaller(port(), form, window, chosen.tls());
    }

    /** Starts a gRPC server and creates a Tern client that calls it. Closing the client also closes the server. */
    FeedCaller ternCallerOfGrpc(int window) {
        GrpcFeeds grpc = new GrpcFeeds(window);
        TernCaller caller = ternCaller(grpc.port());
        return new FeedCaller() {
            @Override
            public void begin(Feed feed) {
                caller.begin(feed);
            }

            @Override
            public int inFlight() {
                return caller.inFlight();
            }

            @Override
            public long queuedBytes() {
                return caller.queuedBytes();
            }

            @Override
            public void close() throws InterruptedException {
                caller.close();
                grpc.close();
            }
        };
    }

    /**
     * Runs all streams concurrently. Paused readers resume only after all other streams have ended. If paused readers
     * blocked other streams, this method would never return.
     */
    void run(FeedCaller caller, List<FeedPlan> plans) {
        List<Feed> all = plans.stream().map(Feed::new).toList();
        List<Feed> paused = new ArrayList<>();
        List<Feed> others = new ArrayList<>();
        all.forEach(feed -> (feed.plan.reading() == FeedPlan.Reading.PAUSED ? paused : others).add(feed));
        all.forEach(caller::begin);
        awaitEnds(others, all);
        paused.forEach(Feed::letGo);
        awaitEnds(paused, all);
        String wrong = all.stream()
                .map(Feed::wrong)
                .filter(text -> text != null)
                .limit(5)
                .collect(Collectors.joining("\n"));
        if (!wrong.isEmpty()) {
            throw new AssertionError(wrong);
        }
        awaitNothingLeft(caller);
    }

    private void awaitEnds(List<Feed> awaited, List<Feed> all) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(MAX_SECONDS);
        for (Feed feed : awaited) {
            try {
                feed.outcome.get(Math.max(1, end - System.nanoTime()), TimeUnit.NANOSECONDS);
            } catch (TimeoutException e) {
                throw new AssertionError(
                        all.stream().filter(other -> !other.outcome.isDone()).count() + " of " + all.size()
                                + " streams hang: "
                                + all.stream()
                                        .filter(other -> !other.outcome.isDone())
                                        .limit(8)
                                        .map(Feed::toString)
                                        .collect(Collectors.joining("; ")),
                        e);
            } catch (InterruptedException | ExecutionException e) {
                throw new AssertionError(e);
            }
        }
    }

    private double gauge(RpcMeter meter) {
        return registry.get(meter.key()).gauge().value();
    }

    private void awaitNothingLeft(FeedCaller caller) {
        Await.until(
                "no call is in flight at the server",
                () -> gauge(RpcMeter.SERVER_IN_FLIGHT) == 0 && gauge(RpcMeter.SERVER_CONCURRENCY) == 0);
        Await.until("every stream of the service was told its end", () -> feeds.running() == 0);
        Await.until("no answer waits for a socket", () -> gauge(RpcMeter.SERVER_WRITE_QUEUE) == 0);
        Await.until(
                "no message is kept in memory",
                () -> inMemory.stream().allMatch(transport -> transport.queuedBytes() == 0));
        Await.until("no request is kept", () -> gauge(RpcMeter.SERVER_INBOUND) == 0);
        Await.until("no call is in flight at the client", () -> caller.inFlight() == 0);
        Await.until("no request waits for a socket", () -> caller.queuedBytes() == 0);
    }

    @Override
    public void close() {
        server.close();
        loops.close();
    }

    /** Returns the value of a system property that configures the tests in this package. */
    static long property(String name, long otherwise) {
        @Nullable String text = System.getProperty("tern.streams." + name);
        return text == null ? otherwise : Long.parseLong(text);
    }
}
