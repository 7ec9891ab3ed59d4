package tern.rpc.advice;

import java.time.Duration;
import java.util.stream.Stream;
import tern.rpc.pool.PoolSetting;

/** More attempts than there is time for: the last are cut off, and their load is for nothing. */
final class AttemptsBeyondTimeout implements Rule {

    @Override
    public Stream<Finding> check(Situation situation) {
        return situation.called().stream().flatMap(AttemptsBeyondTimeout::check);
    }

    private static Stream<Finding> check(CallSnapshot call) {
        CallSnapshot.Limits limits = call.limits();
        Duration all = call.p99().multipliedBy(limits.attempts());
        if (limits.attempts() < 2 || limits.timeout().isZero() || all.compareTo(limits.timeout()) <= 0) {
            return Stream.empty();
        }
        return Stream.of(new Finding(
                "attempts-beyond-timeout",
                call.retries() > 0 ? Severity.RISKS : Severity.HINTS,
                "attempts of " + call.name(),
                limits.attempts() + " attempts of " + Advisor.millis(call.p99()) + " take " + Advisor.millis(all) + ", "
                        + Advisor.millis(limits.timeout()) + " are allowed for all together, "
                        + Advisor.number(call.retries())
                        + " repeated a second",
                limits.property() + "=" + PoolSetting.wholeMillis(all) + "ms",
                "a second attempt has the time to succeed; or declare the method not idempotent, and it is not tried again",
                Duration.ZERO));
    }
}
