package tern.rpc.advice;

import java.time.Duration;
import java.util.stream.Stream;
import tern.rpc.pool.PoolSetting;

/** A timeout that calls run into, or one that lets them hang far beyond what they are meant to take. */
final class TimeoutAgainstTarget implements Rule {

    /** Patience beyond this keeps threads busy for calls that nobody counts on any more. */
    private static final int PATIENCE = 30;

    /** Of the timeout. */
    private static final double CLOSE = 0.8;

    @Override
    public Stream<Finding> check(Situation situation) {
        return situation.called().stream()
                .filter(call -> !call.limits().timeout().isZero())
                .flatMap(call -> Stream.concat(tight(call), loose(situation, call)));
    }

    private static Stream<Finding> tight(CallSnapshot call) {
        Duration timeout = call.limits().timeout();
        if (call.p99().toNanos() < CLOSE * timeout.toNanos()) {
            return Stream.empty();
        }
        return Stream.of(new Finding(
                "timeout-below-latency",
                Severity.RISKS,
                "timeout of " + call.name(),
                "one call in a hundred takes " + Advisor.millis(call.p99()) + ", " + Advisor.millis(timeout)
                        + " are allowed, " + Advisor.number(call.timeouts()) + " a second run out of time",
                call.limits().property() + "="
                        + PoolSetting.wholeMillis(call.p99().multipliedBy(2)) + "ms",
                "slow calls end with an answer; make them faster first",
                Duration.ZERO));
    }

    private static Stream<Finding> loose(Situation situation, CallSnapshot call) {
        Duration target = situation.goal().latency();
        Duration timeout = call.limits().timeout();
        boolean chosen = call.limits().source() == PoolSetting.Source.USER;
        if (!chosen || timeout.compareTo(target.multipliedBy(PATIENCE)) <= 0) {
            return Stream.empty();
        }
        return Stream.of(new Finding(
                "timeout-beyond-target",
                Severity.HINTS,
                "timeout of " + call.name(),
                "a call may take " + Advisor.millis(timeout) + ", served calls are meant to end within "
                        + Advisor.millis(target),
                call.limits().property() + "=" + PoolSetting.wholeMillis(target.multipliedBy(PATIENCE / 3)) + "ms",
                "when the other side hangs, threads come back sooner",
                Duration.ZERO));
    }
}
