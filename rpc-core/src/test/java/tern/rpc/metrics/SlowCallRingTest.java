package tern.rpc.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.security.Principal;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import tern.rpc.CallLedger;
import tern.rpc.Deadline;
import tern.rpc.Invocation;
import tern.rpc.Metadata;
import tern.rpc.Phase;
import tern.rpc.RpcException;
import tern.rpc.ServerContext;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;
import tern.rpc.StatusCode;

class SlowCallRingTest {

    interface Shop {
        void order();
    }

    private static final long TARGET = TimeUnit.MILLISECONDS.toNanos(100);

    private final SlowCallRing ring = new SlowCallRing(TARGET);
    private long now = TimeUnit.HOURS.toNanos(1);

    record Caller(String ip, Principal peerPrincipal) implements ServerContext.Exchange {

        @Override
        public String protocol() {
            return "tri";
        }

        @Override
        public SocketAddress remoteAddress() {
            try {
                return ip == null ? null : new InetSocketAddress(InetAddress.getByName(ip), 7);
            } catch (UnknownHostException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    static ServerContext call(ServerContext.Exchange from, Principal principal, Metadata headers, CallLedger ledger) {
        Invocation call = new Invocation(
                new ServiceKey(Shop.class.getName(), "", ""),
                ServiceDescriptor.of(Shop.class).methods().get(0),
                new Object[0],
                headers,
                Deadline.none(),
                Runnable::run);
        return new ServerContext(call, from, ledger, principal);
    }

    private ServerContext call(Metadata headers) {
        CallLedger ledger = new CallLedger(() -> now);
        Phase before = ledger.enter(Phase.SQL);
        now += TimeUnit.MILLISECONDS.toNanos(150);
        ledger.leave(before, "select " + "x".repeat(1_000));
        return call(new Caller("10.0.0.1", null), null, headers, ledger);
    }

    @Test
    void slowCallHasPhasesOperationsTraceAndCaller() {
        Metadata headers = new Metadata().put("traceparent", "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01");

        ring.ended(call(headers), TARGET + 1, now, new RpcException(StatusCode.UNAVAILABLE, "gone"));

        assertThat(ring.newestFirst()).singleElement().satisfies(slow -> {
            assertThat(slow.method()).isEqualTo("Shop.order");
            assertThat(slow.code()).isEqualTo("UNAVAILABLE");
            assertThat(slow.trace()).isEqualTo("0af7651916cd43dd8448eb211c80319c");
            assertThat(slow.caller()).isEqualTo("10.0.0.1");
            assertThat(slow.protocol()).isEqualTo("tri");
            assertThat(slow.phases())
                    .contains(new SlowCallRing.PhaseTime(Phase.SQL, TimeUnit.MILLISECONDS.toNanos(150), 1));
            assertThat(slow.operations())
                    .singleElement()
                    .satisfies(operation -> assertThat(operation.name()).hasSizeLessThan(240));
        });
    }

    @Test
    void callsWithinTheTargetAreNotKept() {
        ring.ended(call(new Metadata()), TARGET, now, null);

        assertThat(ring.newestFirst()).isEmpty();
    }

    @Test
    void lastHundredAreKeptNewestFirst() {
        for (int i = 0; i < 250; i++) {
            now += TimeUnit.SECONDS.toNanos(1);
            ring.ended(call(new Metadata()), TARGET + i + 1, now, null);
        }

        assertThat(ring.newestFirst()).hasSize(SlowCallRing.PLACES);
        assertThat(ring.newestFirst().get(0).tookNanos()).isEqualTo(TARGET + 250);
        assertThat(ring.newestFirst().get(99).tookNanos()).isEqualTo(TARGET + 151);
    }

    @Test
    void overloadedServerKeepsFewCallsOfEachSecond() {
        ServerContext one = call(new Metadata());
        for (int i = 0; i < 1_000; i++) {
            ring.ended(one, TARGET + 1, now, null);
        }

        assertThat(ring.newestFirst()).hasSize(SlowCallRing.MAX_PER_SECOND);
        now += TimeUnit.SECONDS.toNanos(1);
        ring.ended(one, TARGET + 1, now, null);
        assertThat(ring.newestFirst()).hasSize(SlowCallRing.MAX_PER_SECOND + 1);
    }

    @Test
    void traceIdIsReadFromB3HeadersAndInvalidIdsAreIgnored() {
        ring.ended(
                call(new Metadata().put("b3", "80f198ee56343ba864fe8b2a57d3eff7-e457b5a2e4d86bd1-1")),
                TARGET + 1,
                now,
                null);
        ring.ended(call(new Metadata().put("X-B3-TraceId", "463ac35c9f6413ad")), TARGET + 1, now, null);
        ring.ended(call(new Metadata().put("traceparent", "00-<script>-1-01")), TARGET + 1, now, null);

        assertThat(ring.newestFirst())
                .extracting(SlowCallRing.SlowCall::trace)
                .containsExactly("", "463ac35c9f6413ad", "80f198ee56343ba864fe8b2a57d3eff7");
    }
}
