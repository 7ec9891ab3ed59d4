package tern.rpc.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.channel.EventLoop;
import io.netty.channel.embedded.EmbeddedChannel;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests how often the open calls of a connection are checked. */
class UnansweredCallsTest {

    private static final class Call implements UnansweredCalls.Unanswered {
        private final boolean keeps;
        private boolean mayRest;
        private boolean oneWay;
        private boolean over;
        private int checks;
        private int disconnects;

        Call(boolean keeps, boolean mayRest) {
            this.keeps = keeps;
            this.mayRest = mayRest;
        }

        @Override
        public boolean isOverOrExpires(long now) {
            checks++;
            return over;
        }

        @Override
        public boolean isOpen() {
            return !over;
        }

        @Override
        public boolean mayRest(long now) {
            return mayRest;
        }

        @Override
        public boolean keepsConnection() {
            return keeps;
        }

        @Override
        public void disconnected() {
            disconnects++;
            over |= !oneWay;
        }
    }

    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final UnansweredCalls calls = new UnansweredCalls(channel);

    @BeforeEach
    void freeze() {
        channel.freezeTime();
    }

    @AfterEach
    void close() {
        channel.finishAndReleaseAll();
    }

    private Call add(boolean keeps, boolean mayRest) {
        Call call = new Call(keeps, mayRest);
        calls.add(call);
        return call;
    }

    private void pass(long millis) {
        for (long passed = 0; passed < millis; passed += 20) {
            channel.advanceTimeBy(20, TimeUnit.MILLISECONDS);
            channel.runPendingTasks();
        }
    }

    /** Returns a channel that schedules no task while {@code full} is true, as if memory were exhausted. */
    private static EmbeddedChannel unscheduled(AtomicBoolean full) {
        return new EmbeddedChannel() {
            @Override
            public EventLoop eventLoop() {
                EventLoop loop = super.eventLoop();
                return (EventLoop) Proxy.newProxyInstance(
                        EventLoop.class.getClassLoader(), new Class<?>[] {EventLoop.class}, (proxy, method, values) -> {
                            if (full.get() && method.getName().equals("schedule")) {
                                throw new OutOfMemoryError("the heap of the test is full");
                            }
                            return method.invoke(loop, values);
                        });
            }
        };
    }

    @Test
    void callsAreCheckedAgainAfterACheckCouldNotBeScheduled() {
        AtomicBoolean full = new AtomicBoolean(true);
        EmbeddedChannel exhausted = unscheduled(full);
        UnansweredCalls unanswered = new UnansweredCalls(exhausted);
        exhausted.freezeTime();
        Call first = new Call(true, false);
        assertThatThrownBy(() -> unanswered.add(first)).isInstanceOf(OutOfMemoryError.class);

        full.set(false);
        unanswered.add(new Call(true, false));
        exhausted.advanceTimeBy(20, TimeUnit.MILLISECONDS);
        exhausted.runScheduledPendingTasks();

        assertThat(first.checks).isEqualTo(1);
        exhausted.finishAndReleaseAll();
    }

    @Test
    void restingCallsAreCheckedOnceASecond() {
        List<Call> streams = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            streams.add(add(true, true));
        }
        Call quick = add(true, false);

        pass(10_000);

        assertThat(quick.checks).isEqualTo(500);
        // after the first check of its deadline, each stream is checked only once per second
        assertThat(streams).allMatch(stream -> stream.checks <= 11 && stream.checks >= 10);
    }

    @Test
    void callWhoseTimeLimitComesNearIsCheckedOftenAgain() {
        Call call = add(true, true);
        pass(2_020);
        int before = call.checks;
        call.mayRest = false;

        pass(2_000);

        assertThat(call.checks - before).isGreaterThanOrEqualTo(50);
    }

    @Test
    void callThatIsWokenIsCheckedOftenAgain() {
        Call resting = add(true, true);
        Call other = add(true, true);
        pass(2_020);
        int before = resting.checks;
        resting.mayRest = false;

        calls.wake(resting);
        pass(200);

        assertThat(resting.checks - before).isGreaterThanOrEqualTo(9);
        assertThat(other.checks).isLessThanOrEqualTo(4);
        assertThat(calls.mayKeepConnection()).isTrue();
    }

    @Test
    void callThatDoesNotRestIsNotAddedAgainByAWake() {
        Call quick = add(true, false);

        calls.wake(quick);
        pass(200);

        assertThat(quick.checks).isEqualTo(10);
    }

    @Test
    void endOfARestingCallIsNoticed() {
        Call call = add(true, true);
        pass(2_020);
        assertThat(calls.mayKeepConnection()).isTrue();
        assertThat(calls.haveEnded()).isFalse();
        call.over = true;

        assertThat(calls.keepConnection()).isFalse();
        pass(1_000);

        assertThat(calls.mayKeepConnection()).isFalse();
        assertThat(calls.haveEnded()).isTrue();
    }

    @Test
    void watchesDoNotKeepTheConnection() {
        Call watch = add(false, false);
        add(false, true);
        pass(1_000);
        assertThat(calls.mayKeepConnection()).isFalse();
        assertThat(calls.keepConnection()).isFalse();

        watch.over = true;
        pass(1_000);
        assertThat(calls.haveEnded()).isFalse();

        Call other = add(true, true);
        assertThat(calls.mayKeepConnection()).isTrue();
        pass(3_000);
        assertThat(calls.mayKeepConnection()).isTrue();
        other.over = true;
        pass(1_000);
        assertThat(calls.mayKeepConnection()).isFalse();
    }

    @Test
    void everyCallLearnsThatTheClientIsGone() {
        Call resting = add(true, true);
        pass(1_000);
        Call quick = add(true, false);

        calls.disconnected();
        pass(2_000);

        assertThat(resting.disconnects).isEqualTo(1);
        assertThat(quick.disconnects).isEqualTo(1);
        assertThat(calls.mayKeepConnection()).isFalse();
    }

    @Test
    void callsThatContinueWithoutTheClientAreStillChecked() {
        Call resting = add(true, true);
        pass(1_000);
        Call quick = add(true, false);
        resting.oneWay = true;
        quick.oneWay = true;
        calls.disconnected();
        int restingBefore = resting.checks;
        int quickBefore = quick.checks;

        pass(2_000);

        assertThat(resting.checks).isGreaterThan(restingBefore);
        assertThat(quick.checks).isGreaterThan(quickBefore);
    }
}
