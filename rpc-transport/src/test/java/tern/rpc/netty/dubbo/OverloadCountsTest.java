package tern.rpc.netty.dubbo;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.RpcMethod;
import tern.rpc.StatusCode;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.limit.FixedLimit;
import tern.rpc.netty.ClientTransportSettings;
import tern.rpc.netty.EventLoops;
import tern.rpc.netty.NettyClientTransport;
import tern.rpc.netty.NettyServerTransport;
import tern.rpc.netty.ServerTransportSettings;
import tern.rpc.netty.peer.ResourceLedger;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;

/**
 * Counts the executions of calls when providers refuse them, fail or answer late (promises R10 and R11 in
 * docs/figures/promises.md).
 */
class OverloadCountsTest {

    private static final int EVERY_BUILD = 10_000;
    private static final int CALLS = Integer.getInteger("tern.calls", EVERY_BUILD);
    private static final long MAX_SECONDS = 120L * Math.max(1, CALLS / EVERY_BUILD);
    private static final int CALLERS = 16;

    public interface Orders {

        /** A method that must not run twice for the same call. */
        int place(int id);

        /** A method that is allowed to run twice for the same call. */
        @RpcMethod(idempotent = true)
        int find(int id);
    }

    private static final class Provider implements Orders {

        private final Map<Integer, AtomicInteger> runs;

        Provider(Map<Integer, AtomicInteger> runs) {
            this.runs = runs;
        }

        @Override
        public int place(int id) {
            runs.computeIfAbsent(id, unseen -> new AtomicInteger()).incrementAndGet();
            if (id % 100 == 0) {
                // the method runs until after the deadline
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(60));
            } else if (id % 7 == 0) {
                throw new RpcException(StatusCode.UNAVAILABLE, "a service of its own refused");
            } else {
                LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(200));
            }
            return id;
        }

        @Override
        public int find(int id) {
            return id;
        }
    }

    private final EventLoops loops = EventLoops.start(2);
    private final DubboProtocol protocol =
            new DubboProtocol(HessianSerializer.builder().build(), 0);
    private final List<AutoCloseable> open = new ArrayList<>();
    private final Map<Integer, AtomicInteger> runs = new ConcurrentHashMap<>();
    private final ExecutorService callers = Executors.newFixedThreadPool(CALLERS);

    @AfterEach
    void close() throws Exception {
        callers.shutdownNow();
        for (int i = open.size() - 1; i >= 0; i--) {
            open.get(i).close();
        }
        loops.close();
    }

    private Endpoint serve(Provider provider, boolean refusing) {
        RpcServer.Builder builder = RpcServer.builder(ResourceLedger.watch(
                        new NettyServerTransport(ServerTransportSettings.onPort(0), loops, List.of(protocol))))
                .export(ServiceExport.of(Orders.class, provider));
        if (refusing) {
            builder.limit(() -> new FixedLimit(3));
        }
        RpcServer server = builder.build();
        open.add(server);
        server.start();
        return new Endpoint("127.0.0.1", server.port());
    }

    private Orders refer(Duration timeout, Endpoint... providers) {
        RpcClient client = RpcClient.builder()
                .transport(new NettyClientTransport(ClientTransportSettings.named("orders"), loops, protocol))
                .timeout(timeout)
                .build();
        open.add(client);
        return client.refer(ServiceReference.to(Orders.class, new StaticEndpoints(List.of(providers)))
                .build());
    }

    private interface Call {
        void with(int id);
    }

    /** @return the number of calls that failed */
    private int call(Call call) throws Exception {
        AtomicInteger failed = new AtomicInteger();
        AtomicInteger next = new AtomicInteger();
        List<Future<?>> all = new ArrayList<>();
        for (int i = 0; i < CALLERS; i++) {
            all.add(callers.submit(() -> {
                for (int id = next.incrementAndGet(); id <= CALLS; id = next.incrementAndGet()) {
                    try {
                        call.with(id);
                    } catch (RpcException e) {
                        failed.incrementAndGet();
                    }
                }
            }));
        }
        for (Future<?> one : all) {
            one.get(MAX_SECONDS, TimeUnit.SECONDS);
        }
        return failed.get();
    }

    @Test
    void noCallThatMustNotRunTwiceDoes() throws Exception {
        Orders orders = refer(Duration.ofMillis(40), serve(new Provider(runs), true), serve(new Provider(runs), true));

        int failed = call(orders::place);

        long twice = runs.values().stream().filter(count -> count.get() > 1).count();
        System.out.printf(
                "R11 duplicates of non-idempotent calls: %d of %,d (%,d failed, %,d ran)%n",
                twice, CALLS, failed, runs.size());
        assertThat(failed).as("calls that were refused, late or failing").isPositive();
        assertThat(twice).isZero();
    }

    @Test
    void retriesAddATenthAtTheMostWhenAllFails() throws Exception {
        AtomicInteger attempts = new AtomicInteger();
        long began = System.nanoTime();
        Orders orders = refer(Duration.ofSeconds(3), failing(attempts), failing(attempts));

        int failed = call(orders::find);

        long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - began) + 1;
        double added = attempts.get() / (double) CALLS;
        System.out.printf("R10 load with retries when all fail: %.3f of that without%n", added);
        assertThat(failed).isEqualTo(CALLS);
        assertThat(attempts.get())
                // The maximum number of attempts: one for each call, retries for 10 % of the calls, 30 additional
                // retries per 10 seconds, and one probe per second for each of the two providers.
                .isLessThanOrEqualTo((int) (CALLS * 1.1 + 30 * (seconds / 10) + 2 * (seconds + 1)));
    }

    /** Starts a server that fails each call with a status that makes clients retry idempotent calls. */
    private Endpoint failing(AtomicInteger attempts) {
        RpcServer server = RpcServer.builder(ResourceLedger.watch(
                        new NettyServerTransport(ServerTransportSettings.onPort(0), loops, List.of(protocol))))
                .export(ServiceExport.of(Orders.class, new Provider(runs)))
                .filter((call, next) -> {
                    attempts.incrementAndGet();
                    throw new RpcException(StatusCode.UNAVAILABLE, "down", Executed.MAYBE, null);
                })
                .build();
        open.add(server);
        server.start();
        return new Endpoint("127.0.0.1", server.port());
    }
}
