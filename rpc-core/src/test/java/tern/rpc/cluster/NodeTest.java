package tern.rpc.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.Outcome;
import tern.rpc.transport.IdleConnection;

class NodeTest {

    private static final long ONE_MS = 1_000_000;

    private final Peer peer = new Peer();
    private final UsualTime usual = new UsualTime();
    private final NodeCounts counts = new NodeCounts();
    private final ScheduledExecutorService timer = new ScheduledThreadPoolExecutor(0); // This timer runs no tasks.
    private long now = -5_000; // The clock starts below zero, because System.nanoTime() can also be negative.
    private final Node node = node();

    private Node node() {
        ChangeLog log = new ChangeLog(LoggerFactory.getLogger(NodeTest.class), () -> now, timer);
        Node made = new Node(peer.endpoint(), () -> peer, peer.endpoint()::toString, log, counts, now);
        made.link().connection();
        return made;
    }

    /** A connection. The test sets the time when bytes last arrived. */
    private static final class Peer extends IdleConnection {
        int probes;
        long times = 1;
        long heardNanos = Long.MIN_VALUE / 2;

        Peer() {
            super(new Endpoint("127.0.0.1", 20880));
        }

        @Override
        public boolean isHeardAfter(long nanos) {
            return heardNanos > nanos;
        }

        @Override
        public long timesAvailable() {
            return times;
        }

        @Override
        public void probe() {
            probes++;
        }
    }

    private boolean isAvoided() {
        return node.isStalled(now) || node.isEjected(now);
    }

    private void call(double millis) {
        node.begin(now);
        now += (long) (millis * ONE_MS);
        node.end(Outcome.ANSWERED, (long) (millis * ONE_MS), now, usual);
    }

    private void fail(StatusCode code) {
        node.begin(now);
        node.end(Outcomes.of(RpcException.refusal(code, "a test", Executed.MAYBE)), 1_000_000, now, usual);
    }

    @Test
    void answeringNodeIsGood() {
        for (int i = 0; i < 100; i++) {
            call(5);
        }

        assertThat(isAvoided()).isFalse();
        assertThat(node.cost(now)).isLessThan(1.01);
        assertThat(peer.probes).isZero();
    }

    @Test
    void nodeThatSendsNothingDuringACallFor100MillisecondsIsAvoided() {
        call(5);
        node.begin(now);
        now += 99 * ONE_MS;
        assertThat(isAvoided()).isFalse();

        now += ONE_MS;
        assertThat(isAvoided()).isTrue();
        assertThat(peer.probes).isOne();
    }

    @Test
    void nodeWithSlowMethodsIsAvoidedAfterTenOfItsResponseTimes() {
        for (int i = 0; i < 50; i++) {
            call(50);
        }
        node.begin(now);
        now += 490 * ONE_MS;
        assertThat(isAvoided()).isFalse();

        now += 20 * ONE_MS;
        assertThat(isAvoided()).isTrue();
    }

    @Test
    void silentNodeStaysAvoidedAfterItsCallsHaveTimedOut() {
        call(5);
        node.begin(now);
        now += 200 * ONE_MS;
        assertThat(isAvoided()).isTrue();
        node.end(Outcome.FAILED, 200 * ONE_MS, now, usual);
        now += TimeUnit.MINUTES.toNanos(1);

        assertThat(isAvoided()).isTrue();
    }

    @Test
    void anyDataAfterTheSilenceEndsTheAvoidance() {
        call(5);
        node.begin(now);
        now += 200 * ONE_MS;
        assertThat(isAvoided()).isTrue();
        now += ONE_MS;
        peer.heardNanos = now;

        assertThat(isAvoided()).isFalse();
    }

    @Test
    void longCallsOfALivingNodeCostOneProbeInFiveSeconds() {
        call(5);
        node.begin(now);
        for (int i = 0; i < 49; i++) {
            now += 100 * ONE_MS;
            isAvoided();
            now += ONE_MS;
            peer.heardNanos = now;
            isAvoided();
        }

        assertThat(peer.probes).isOne();
    }

    @Test
    void fiveFailuresInARowEjectTheNodeForTenSeconds() {
        for (int i = 0; i < 4; i++) {
            fail(StatusCode.UNAVAILABLE);
        }
        assertThat(isAvoided()).isFalse();

        fail(StatusCode.UNAVAILABLE);
        assertThat(isAvoided()).isTrue();
        now += TimeUnit.SECONDS.toNanos(10);
        assertThat(isAvoided()).isFalse();
    }

    @Test
    void ejectionThatAnotherThreadBeganLaterHasLastedNoTime() {
        long earlier = now - ONE_MS; // as if another thread had read the clock before the node was ejected

        for (int i = 0; i < 5; i++) {
            fail(StatusCode.UNAVAILABLE);
        }

        assertThat(node.ejection().sinceNanos(earlier)).isZero();
    }

    @Test
    void nodeThatFailsAgainIsEjectedForLonger() {
        for (int i = 0; i < 5; i++) {
            fail(StatusCode.UNAVAILABLE);
        }
        now += TimeUnit.SECONDS.toNanos(10);
        for (int i = 0; i < 5; i++) {
            fail(StatusCode.UNAVAILABLE);
        }

        now += TimeUnit.SECONDS.toNanos(19);
        assertThat(isAvoided()).isTrue();
        now += TimeUnit.SECONDS.toNanos(1);
        assertThat(isAvoided()).isFalse();
    }

    @Test
    void refusalsAndExceptionsOfTheMethodAreAnswers() {
        for (int i = 0; i < 20; i++) {
            fail(StatusCode.RESOURCE_EXHAUSTED);
            fail(StatusCode.UNKNOWN);
            fail(StatusCode.CANCELLED);
        }

        assertThat(isAvoided()).isFalse();
    }

    @Test
    void slowNodeScoresWorseAndIsForgivenWithTime() {
        Node healthy = node();
        for (int i = 0; i < 100; i++) {
            healthy.begin(now);
            healthy.end(Outcome.ANSWERED, 5 * ONE_MS, now, usual);
        }
        call(50);

        double slow = node.cost(now);
        assertThat(slow).isGreaterThan(5 * healthy.cost(now));
        now += TimeUnit.SECONDS.toNanos(60);
        assertThat(node.cost(now)).isLessThan(1.1);
    }

    @Test
    void twoGoodAnswersInARowCureASlowNode() {
        for (int i = 0; i < 20; i++) {
            call(5);
        }
        call(80);
        assertThat(node.cost(now)).isGreaterThan(5);

        call(5);
        assertThat(node.cost(now)).isGreaterThan(5);
        call(5);
        assertThat(node.cost(now)).isLessThan(1.5);
    }

    @Test
    void failuresAreForgottenWhenTheProcessIsReplaced() {
        for (int i = 0; i < 5; i++) {
            fail(StatusCode.UNAVAILABLE);
        }
        peer.available = false;
        node.look(now);
        assertThat(isAvoided()).isTrue();

        peer.available = true;
        node.look(now);
        assertThat(isAvoided()).isFalse();
        assertThat(node.cost(now)).isEqualTo(1);
    }

    private void loseConnectionWithACall() {
        node.begin(now);
        peer.available = false;
        node.end(Outcome.FAILED, ONE_MS, now, usual);
        node.look(now);
        now += 300 * ONE_MS;
        peer.available = true;
        peer.times++;
        node.look(now);
    }

    @Test
    void providerThatSoonLosesEachConnectionWithItsCallsIsFailing() {
        node.look(now);
        now += TimeUnit.SECONDS.toNanos(30);
        loseConnectionWithACall();
        assertThat(node.cost(now)).isEqualTo(1);

        now += TimeUnit.SECONDS.toNanos(1);
        loseConnectionWithACall();
        assertThat(node.isFailing(now)).isTrue();
        assertThat(node.cost(now)).isGreaterThan(50);

        call(5);
        call(5);
        assertThat(node.isFailing(now)).isFalse();
        assertThat(node.cost(now)).isLessThan(1.5);
    }

    @Test
    void connectionThatIsSoonLostWithoutCallsIsNoFailure() {
        node.look(now);
        for (int i = 0; i < 3; i++) {
            now += TimeUnit.SECONDS.toNanos(1);
            call(5);
            peer.times++;
            node.look(now);
        }

        assertThat(node.cost(now)).isEqualTo(1);
    }

    @Test
    void callsThatFindNoConnectionDoNotEject() {
        peer.available = false;
        for (int i = 0; i < 20; i++) {
            fail(StatusCode.UNAVAILABLE);
        }

        assertThat(isAvoided()).isFalse();
    }

    @Test
    void halfOfTwentyFailedCallsEjectAlsoIfTheyAreNotInARow() {
        for (int i = 0; i < 10; i++) {
            call(1);
            fail(StatusCode.DEADLINE_EXCEEDED);
        }

        assertThat(isAvoided()).isTrue();
        assertThat(node.ejection().why()).isEqualTo("10 of 20 calls failed");
    }

    @Test
    void silentStreamIsNoSilenceOfTheNode() {
        node.beginStream();
        now += TimeUnit.HOURS.toNanos(1);

        assertThat(isAvoided()).isFalse();
        assertThat(node.inFlight()).isEqualTo(1);
    }

    @Test
    void reconnectionBetweenTwoChecksIsNoticed() {
        node.look(now);
        call(50);
        ServicePresence presence = new ServicePresence(node.link().usableSinceNanos());
        presence.missing(node.link().usableSinceNanos(), now);
        node.begin(now);
        now += TimeUnit.SECONDS.toNanos(1);
        assertThat(node.isStalled(now)).isTrue();
        assertThat(node.isKnown()).isTrue();
        assertThat(presence.isMissing(node.link().usableSinceNanos(), now)).isTrue();
        node.look(now);
        assertThat(node.isStalled(now)).isTrue();

        peer.times++;
        node.look(now);

        assertThat(node.isStalled(now)).isFalse();
        assertThat(node.isKnown()).isFalse();
        assertThat(presence.isMissing(node.link().usableSinceNanos(), now)).isFalse();
        assertThat(node.link().usableSinceNanos()).isEqualTo(now);
    }

    @Test
    void nodeThatAnswersThePingIsAvoidedButNotLogged() {
        call(5);
        try (LoggedLines lines = new LoggedLines()) {
            node.begin(now);
            for (int i = 0; i < 100; i++) {
                now += 200 * ONE_MS;
                isAvoided();
                now += 300 * ONE_MS;
                peer.heardNanos = now;
                assertThat(isAvoided()).isFalse();
            }

            assertThat(peer.probes).isPositive();
            assertThat(lines.all()).isEmpty();
        }
    }

    @Test
    void nodeThatDoesNotAnswerThePingIsLogged() {
        call(5);
        try (LoggedLines lines = new LoggedLines()) {
            node.begin(now);
            now += 100 * ONE_MS;
            assertThat(isAvoided()).isTrue();
            assertThat(lines.all()).isEmpty();
            now += 500 * ONE_MS;
            assertThat(isAvoided()).isTrue();
            assertThat(lines.all())
                    .singleElement()
                    .asString()
                    .contains("is silent: nothing arrived from it for 600 ms although 1 calls wait");

            peer.heardNanos = now + ONE_MS;
            assertThat(isAvoided()).isFalse();
            assertThat(lines.all()).hasSize(2);
        }
    }

    @Test
    void answerToAPingDoesNotHideThatACallHasWaitedForLong() {
        call(5);
        call(5);
        node.begin(now);
        now += 200 * ONE_MS;
        assertThat(isAvoided()).isTrue();
        now += ONE_MS;
        peer.heardNanos = now;

        assertThat(isAvoided()).isFalse();
        assertThat(node.judgedCost(now)).isGreaterThan(3);
    }

    private void copy(double millis, Outcome outcome) {
        node.beginCopy();
        now += (long) (millis * ONE_MS);
        node.endCopy(outcome, (long) (millis * ONE_MS), TimeUnit.SECONDS.toNanos(1), now, usual);
    }

    @Test
    void nextProbeIsLaterAfterALongFailureAndSoonAfterAGoodAnswer() {
        call(5);
        assertThat(node.probes().take(now)).isTrue();
        assertThat(node.probes().take(now)).isFalse();
        copy(1_000, Outcome.FAILED);

        now += 1_999 * ONE_MS;
        assertThat(node.probes().isOver(now)).isFalse();
        now += 4_000 * ONE_MS;
        assertThat(node.probes().take(now)).isTrue();
        copy(5, Outcome.ANSWERED);
        now += 99 * ONE_MS;
        assertThat(node.probes().isOver(now)).isFalse();
        now += ONE_MS;
        assertThat(node.probes().isOver(now)).isTrue();
    }

    @Test
    void copyThatIsAnsweredTooLateCountsAsAFailureAndIsSoonFollowedByAnother() {
        call(5);
        node.probes().take(now);
        copy(9_000, Outcome.ANSWERED);

        assertThat(node.isFailing(now)).isTrue();
        assertThat(node.cost(now)).isGreaterThan(50);
        assertThat(node.probes().isOver(now + 700 * ONE_MS)).isFalse();
        assertThat(node.probes().isOver(now + 2_250 * ONE_MS)).isTrue();
    }

    @Test
    void oneQuickAnswerIsEnoughAfterAMuchSlowerOne() {
        for (int i = 0; i < 20; i++) {
            call(5);
        }
        copy(9_000, Outcome.ANSWERED);
        copy(15, Outcome.ANSWERED);

        assertThat(node.isSlow(now)).isFalse();
        assertThat(node.cost(now)).isLessThan(4);
    }

    @Test
    void lostCopyIsNotAFailureOfANodeThatHasAnsweredSince() {
        call(5);
        node.beginCopy();
        now += TimeUnit.SECONDS.toNanos(15);
        call(5);
        long tookNanos = TimeUnit.SECONDS.toNanos(15) + 5 * ONE_MS;
        node.endCopy(Outcome.FAILED, tookNanos, TimeUnit.SECONDS.toNanos(1), now, usual);

        assertThat(node.isFailing(now)).isFalse();
        assertThat(node.cost(now)).isLessThan(1.5);
        assertThat(node.probes().isUnanswered()).isFalse();
    }

    @Test
    void lostCopyIsAFailureOfANodeThatHasOnlyGotANewCallSince() {
        call(5);
        node.beginCopy();
        now += TimeUnit.SECONDS.toNanos(15);
        node.begin(now);
        now += 500 * ONE_MS;
        long tookNanos = TimeUnit.MILLISECONDS.toNanos(15_500);
        node.endCopy(Outcome.FAILED, tookNanos, TimeUnit.SECONDS.toNanos(1), now, usual);

        assertThat(node.isFailing(now)).isTrue();
        assertThat(node.cost(now)).isGreaterThan(50);
    }

    @Test
    void copiesAreNotCallsInFlight() {
        call(5);
        node.beginCopy();
        now += TimeUnit.SECONDS.toNanos(10);

        assertThat(node.inFlight()).isZero();
        assertThat(node.probes().isUnanswered()).isTrue();
        assertThat(node.judgedCost(now)).isEqualTo(1);
        assertThat(isAvoided()).isFalse();
    }

    @Test
    void nodeThatFailsSoonAfterItsRecoveryNeedsMoreGoodAnswers() {
        call(5);
        fail(StatusCode.UNAVAILABLE);
        call(5);
        call(5);
        assertThat(node.cost(now)).isLessThan(1.5);

        fail(StatusCode.UNAVAILABLE);
        call(5);
        call(5);
        assertThat(node.cost(now)).isGreaterThan(5);
        call(5);
        call(5);
        assertThat(node.cost(now)).isLessThan(1.5);

        now += TimeUnit.SECONDS.toNanos(30);
        fail(StatusCode.UNAVAILABLE);
        call(5);
        call(5);
        assertThat(node.cost(now)).isLessThan(1.5);
    }
}
