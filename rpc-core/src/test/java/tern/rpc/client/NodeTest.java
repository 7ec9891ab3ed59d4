package tern.rpc.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.transport.ClientConnection;
import tern.rpc.transport.ClientStream;
import tern.rpc.transport.PendingCall;

class NodeTest {

    private static final long ONE_MS = 1_000_000; // ns

    private final Peer peer = new Peer();
    private final UsualTime usual = new UsualTime();
    private long now = -5_000; // a monotonic clock may start below zero
    private final Node node = new Node(peer, now);

    /** A connection whose last received frame the test sets. */
    private static final class Peer implements ClientConnection {
        boolean canProbe = true;
        int probes;
        long heardNanos = Long.MIN_VALUE / 2;

        @Override
        public Endpoint endpoint() {
            return new Endpoint("127.0.0.1", 20880);
        }

        @Override
        public boolean isAvailable() {
            return true;
        }

        @Override
        public boolean isConnecting() {
            return false;
        }

        @Override
        public String lastFailure() {
            return "";
        }

        @Override
        public int inFlight() {
            return 0;
        }

        @Override
        public long queuedBytes() {
            return 0;
        }

        @Override
        public long lateAnswers() {
            return 0;
        }

        @Override
        public boolean isHeardAfter(long nanos) {
            return heardNanos > nanos;
        }

        @Override
        public boolean canProbe() {
            return canProbe;
        }

        @Override
        public void probe() {
            probes++;
        }

        @Override
        public void send(PendingCall call) {
            throw new UnsupportedOperationException();
        }

        @Override
        public ClientStream open(PendingCall call, ClientStream.Receiver receiver) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void close() {
            // nothing is open
        }
    }

    private void call(double millis) {
        node.begin(now);
        now += (long) (millis * ONE_MS);
        node.end(null, (long) (millis * ONE_MS), now, usual);
    }

    private void fail(StatusCode code) {
        node.begin(now);
        node.end(RpcException.refusal(code, "a test", Executed.MAYBE), 1_000_000, now, usual);
    }

    @Test
    void answeringNodeIsGood() {
        for (int i = 0; i < 100; i++) {
            call(5);
        }

        assertThat(node.isAvoided(now)).isFalse();
        assertThat(node.score(now)).isEqualTo(1);
        assertThat(peer.probes).isZero();
    }

    @Test
    void oneCallWithoutASignFor100MillisecondsIsEnoughToBeAvoided() {
        call(5);
        node.begin(now);
        now += 99 * ONE_MS;
        assertThat(node.isAvoided(now)).isFalse();

        now += ONE_MS;
        assertThat(node.isAvoided(now)).isTrue();
        assertThat(peer.probes).isOne();
    }

    @Test
    void silenceOfANodeWithSlowMethodsIsTenOfItsResponseTimes() {
        for (int i = 0; i < 50; i++) {
            call(50);
        }
        node.begin(now);
        now += 490 * ONE_MS;
        assertThat(node.isAvoided(now)).isFalse();

        now += 20 * ONE_MS;
        assertThat(node.isAvoided(now)).isTrue();
    }

    @Test
    void silentNodeStaysAvoidedAfterItsCallsHaveTimedOut() {
        call(5);
        node.begin(now);
        now += 200 * ONE_MS;
        assertThat(node.isAvoided(now)).isTrue();
        node.end(RpcException.refusal(StatusCode.DEADLINE_EXCEEDED, "late", Executed.MAYBE), 200 * ONE_MS, now, usual);
        now += TimeUnit.MINUTES.toNanos(1);

        assertThat(node.isAvoided(now)).isTrue();
        assertThat(peer.probes).isOne();
    }

    @Test
    void anySignOfLifeAfterTheSilenceBringsTheNodeBack() {
        call(5);
        node.begin(now);
        now += 200 * ONE_MS;
        assertThat(node.isAvoided(now)).isTrue();
        now += ONE_MS;
        peer.heardNanos = now;

        assertThat(node.isAvoided(now)).isFalse();
    }

    @Test
    void longCallsOfALivingNodeCostOneProbeInFiveSeconds() {
        call(5);
        node.begin(now);
        for (int i = 0; i < 49; i++) {
            now += 100 * ONE_MS;
            node.isAvoided(now);
            now += ONE_MS;
            peer.heardNanos = now;
            node.isAvoided(now);
        }

        assertThat(peer.probes).isOne();
    }

    @Test
    void nodeThatCannotBeProbedGetsATrialCallAfterFiveSeconds() {
        peer.canProbe = false;
        call(5);
        node.begin(now);
        now += 200 * ONE_MS;
        assertThat(node.isAvoided(now)).isTrue();
        now += TimeUnit.SECONDS.toNanos(5);

        assertThat(node.isAvoided(now)).as("the trial").isFalse();
        assertThat(node.isAvoided(now)).as("the next call").isTrue();
    }

    @Test
    void fiveFailuresInARowEjectTheNodeForTenSeconds() {
        for (int i = 0; i < 4; i++) {
            fail(StatusCode.UNAVAILABLE);
        }
        assertThat(node.isAvoided(now)).isFalse();

        fail(StatusCode.UNAVAILABLE);
        assertThat(node.isAvoided(now)).isTrue();
        now += TimeUnit.SECONDS.toNanos(10);
        assertThat(node.isAvoided(now)).isFalse();
    }

    @Test
    void nodeThatFailsAgainIsEjectedForLonger() {
        for (int i = 0; i < 10; i++) {
            fail(StatusCode.UNAVAILABLE);
        }
        now += TimeUnit.SECONDS.toNanos(19);

        assertThat(node.isAvoided(now)).isTrue();
    }

    @Test
    void refusalsAndExceptionsOfTheMethodAreAnswers() {
        for (int i = 0; i < 20; i++) {
            fail(StatusCode.RESOURCE_EXHAUSTED);
            fail(StatusCode.UNKNOWN);
            fail(StatusCode.CANCELLED);
        }

        assertThat(node.isAvoided(now)).isFalse();
    }

    @Test
    void slowNodeScoresWorseAndIsForgivenWithTime() {
        Node healthy = new Node(peer, now);
        for (int i = 0; i < 100; i++) {
            healthy.begin(now);
            healthy.end(null, 5 * ONE_MS, now, usual);
        }
        call(50);

        double slow = node.score(now);
        assertThat(slow).isGreaterThan(5 * healthy.score(now));
        now += TimeUnit.SECONDS.toNanos(15);
        assertThat(node.score(now)).isEqualTo(1);
    }

    @Test
    void silentStreamIsNoSilenceOfTheNode() {
        node.beginStream();
        now += TimeUnit.HOURS.toNanos(1);

        assertThat(node.isAvoided(now)).isFalse();
        assertThat(node.score(now)).isEqualTo(2);
    }
}
