package tern.rpc.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.micrometer.core.instrument.FunctionCounter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.StreamObserver;
import tern.rpc.limit.Refusal;
import tern.rpc.metrics.RpcMeter;

/**
 * Tests that tenants whose methods do not return cannot occupy all method threads or all stream threads.
 */
class SlowTenantsTest extends HeldThreads {

    @ParameterizedTest
    @CsvSource({"true", "false"})
    void tenantThatHoldsNothingIsServedWhileAnotherHoldsAllThreads(boolean keepsThreads) throws Exception {
        serve(settings -> {
            if (!keepsThreads) { // A keep-alive time of zero makes the server behave as if it used virtual threads.
                settings.threads(Thread::new, Duration.ZERO);
            }
        });
        Work flooding = tenantThatHoldsAllThreads();
        queue(flooding, QUEUE);

        allCallsOfAnotherSucceed();
    }

    @ParameterizedTest
    @CsvSource({"2, 20", "4, 10", "8, 5"})
    void tenantThatHoldsNothingIsServedWhileSeveralHoldAllThreads(int tenants, int each) throws Exception {
        serve(settings -> {});
        List<Work> flooding = new ArrayList<>();
        for (int i = 0; i < tenants; i++) {
            Work tenant = tenant();
            flooding.add(tenant);
            for (int j = 0; j < each; j++) {
                hold(tenant);
            }
        }
        for (int i = 0; i < 3; i++) {
            flooding.forEach(tenant -> callers.submit(() -> tenant.hold("more")));
        }
        await("most of them wait", () -> inside() == THREADS + 3 * tenants || refused(Refusal.QUEUE) > 0);

        allCallsOfAnotherSucceed();
    }

    @Test
    void callsOfDisconnectedCallersCountUntilTheirMethodReturns() throws Exception {
        serve(settings -> {});
        Work flooding = tenantThatHoldsAllThreads();
        queue(flooding, 1);
        now.addAndGet(Duration.ofHours(2).toNanos());
        transport.sweep(); // sweep() fails calls after their deadline, although their methods are still running.
        await("nobody waits", () -> inside() == THREADS);

        callers.submit(() -> flooding.hold("one more"));
        await("it waits", () -> inside() == THREADS + 1);

        allCallsOfAnotherSucceed();
    }

    @Test
    void tenantAloneGetsNoSpareThreads() throws Exception {
        serve(settings -> {});
        Work alone = tenantThatHoldsAllThreads();

        List<Future<String>> waiting = queue(alone, QUEUE);

        assertThat(active()).isEqualTo(THREADS);
        worker.release.release(THREADS + QUEUE);
        for (Future<String> each : waiting) {
            assertThat(each.get(10, TimeUnit.SECONDS)).isEqualTo("queued");
        }
    }

    @Test
    void callsThatWaitWithoutAThreadLeaveTheirTenantItsSpareThreads() throws Exception {
        serve(settings -> {});
        Work flooding = tenant();
        Work asynchronous = tenant();
        for (int i = 0; i < 60; i++) {
            asynchronous.later("unanswered").isDone();
            assertThat(worker.holding.tryAcquire(30, TimeUnit.SECONDS)).isTrue();
        }
        await("their workers have left", () -> active() == 0);
        for (int i = 0; i < THREADS; i++) {
            hold(flooding);
        }

        assertThat(inTime(() -> asynchronous.quick("served"))).isEqualTo("served");
    }

    @Test
    void floodingTenantMayUseTheQueueWhileOtherCallsSucceed() throws Exception {
        serve(settings -> {});
        Work flooding = tenantThatHoldsAllThreads();
        allCallsOfAnotherSucceed();

        queue(flooding, 4);

        assertThat(refused(Refusal.SHARE)).isZero();
    }

    @Test
    void threadsThatATenantGivesBackGoToOthersWhileTheyAreInNeed() throws Exception {
        serve(settings -> {});
        Work flooding = tenantThatHoldsAllThreads();
        queue(flooding, 1);
        waitInVain();
        allCallsOfAnotherSucceed();

        int held = THREADS;
        for (; held > 0; held--) {
            RpcException refused = refusalOf(flooding, held);
            if (refused == null) {
                break; // The server has accepted the call.
            }
            assertThat(refused.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
            assertThat(refused.wasExecuted()).isEqualTo(Executed.NO);
            assertThat(refused).hasMessageContaining("holds " + held).hasMessageContaining("rpc.server.threads");
            worker.release.release();
            int left = held - 1;
            await("one has left", () -> inside() == left);
        }

        assertThat(held).as("two thirds of all threads").isBetween(30, 35);
        assertThat(refused(Refusal.SHARE)).isEqualTo(THREADS - held);
    }

    private @Nullable RpcException refusalOf(Work tenant, int held) throws Exception {
        Future<RpcException> call = callers.submit(
                () -> catchThrowableOfType(RpcException.class, () -> tenant.hold("one more than " + held)));
        await("it is refused or runs", () -> call.isDone() || worker.holding.availablePermits() > 0);
        return call.isDone() ? call.get() : null;
    }

    @Test
    void tenantThatHoldsFarLessThanAnotherIsNotRefusedForItsShare() throws Exception {
        serve(settings -> {});
        Work flooding = tenantThatHoldsAllThreads();
        queue(flooding, 1);
        waitInVain();
        allCallsOfAnotherSucceed();
        Work small = tenant();
        for (int i = 0; i < 5; i++) {
            hold(small);
        }
        // With the last of these calls, the small tenant holds more than twice as many calls as there are free threads.
        for (int i = 0; i < 6; i++) {
            callers.submit(() -> small.hold("waits"));
            int all = THREADS + 6 + i;
            await("it waits", () -> inside() == all);
        }

        assertThat(refused(Refusal.SHARE)).isZero();
        assertThat(refusalOf(flooding, THREADS))
                .hasMessageContaining("holds 40 of 51 calls of 2 tenants; one more call would");
    }

    @ParameterizedTest
    @CsvSource({"false", "true"})
    void burstOfATenantThatIsCrowdedOutWaitsForItsOwnSpareThreadsOrAnIdleThread(boolean othersEnd) throws Exception {
        serve(settings -> {});
        Work flooding = tenantThatHoldsAllThreads();
        queue(flooding, QUEUE);
        Work small = tenant();
        List<Future<String>> calls = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            calls.add(callers.submit(() -> small.hold(SMALL)));
            assertThat(worker.holding.tryAcquire(30, TimeUnit.SECONDS)).isTrue();
        }

        calls.add(callers.submit(() -> small.hold(SMALL)));
        await("it waits", () -> inside() == THREADS + QUEUE + 6);
        assertThat(active()).isEqualTo(THREADS + 5);

        if (othersEnd) {
            worker.release.release(THREADS + QUEUE);
            await("the regular threads are idle", () -> inside() == 6 && active() == 5);
            now.addAndGet(TimeUnit.MILLISECONDS.toNanos(60));
            transport.sweep();
            await("it runs", () -> active() == 6);
        } else {
            worker.releaseSmall.release();
            assertThat(worker.holding.tryAcquire(30, TimeUnit.SECONDS)).isTrue();
        }
        worker.releaseSmall.release(6);
        for (Future<String> each : calls) {
            assertThat(each.get(10, TimeUnit.SECONDS)).isEqualTo(SMALL);
        }
        assertThat(refused(Refusal.QUEUE)).isZero();
    }

    @Test
    void tenantMayHoldAllAgainASecondAfterOthersWereInNeed() throws Exception {
        serve(settings -> {});
        Work flooding = tenantThatHoldsAllThreads();
        queue(flooding, 1);
        waitInVain();
        allCallsOfAnotherSucceed();
        assertThat(refusalOf(flooding, THREADS)).isNotNull();

        now.addAndGet(Duration.ofSeconds(2).toNanos());

        queue(flooding, 1);
        assertThat(refused(Refusal.SHARE)).isEqualTo(1);
    }

    @Test
    void refusalsAndTheMeterNameAllTenantsOfAFlood() throws Exception {
        serve(settings -> {});
        Work one = tenant();
        Work two = tenant();
        for (int i = 0; i < THREADS / 2; i++) {
            hold(one);
            hold(two);
        }
        queue(one, 1);
        queue(two, 1);
        waitInVain();
        allCallsOfAnotherSucceed();

        RpcException refusedOne = refusalOf(one, THREADS / 2);
        RpcException refusedTwo = refusalOf(two, THREADS / 2);

        String both = "memory holds 20 and a connection in memory holds 20 of ";
        assertThat(refusalOf(one, THREADS / 2)).hasMessageContaining(both);
        assertThat(refusedOne).hasMessageContaining("its tenant a connection in memory");
        assertThat(refusedTwo).hasMessageContaining(both);
        FunctionCounter flooded = registry.get(RpcMeter.SERVER_FLOODED.key())
                .tag(RpcMeter.TENANT, "a connection in memory")
                .functionCounter();
        assertThat(flooded.count()).isEqualTo(3);
    }

    private static final class Answers implements StreamObserver<String> {
        private final CompletableFuture<String> first = new CompletableFuture<>();

        @Override
        public void onNext(String value) {
            first.complete(value);
        }

        @Override
        public void onError(Throwable failure) {
            first.completeExceptionally(failure);
        }

        @Override
        public void onCompleted() {
            first.cancel(false);
        }
    }

    @ParameterizedTest
    @CsvSource({"1, 40", "4, 10"})
    void streamsWhoseRequestsAreHeldLeaveThreadsToThoseOfOthers(int tenants, int each) throws Exception {
        serve(settings -> {});
        for (int i = 0; i < tenants; i++) {
            Work flooding = tenant();
            for (int j = 0; j < each; j++) {
                StreamObserver<String> requests = flooding.holdEach(new Answers());
                assertThat(worker.streams.tryAcquire(30, TimeUnit.SECONDS)).isTrue();
                await("its method has returned", () -> active() == 0);
                requests.onNext("held");
                assertThat(worker.holding.tryAcquire(30, TimeUnit.SECONDS)).isTrue();
            }
        }

        for (int i = 0; i < 20; i++) {
            Answers answers = new Answers();
            StreamObserver<String> requests = tenant().echoEach(answers);
            requests.onNext("served");
            assertThat(answers.first.get(10, TimeUnit.SECONDS)).isEqualTo("served");
            requests.onCompleted();
        }
    }
}
