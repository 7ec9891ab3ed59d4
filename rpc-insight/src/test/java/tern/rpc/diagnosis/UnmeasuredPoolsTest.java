package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.stack.ThreadSnapshot;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;

/** Tests a pool that the application creates itself, beside a pool of the same kind that Tern measures. */
class UnmeasuredPoolsTest {

    /** Has the name of the exception that Jedis throws if a pool has no free connection in time. */
    private static final class JedisExhaustedPoolException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        JedisExhaustedPoolException() {
            super("Could not get a resource from the pool");
        }
    }

    private static Sample waiting() {
        StackTraceElement[] stack = {
            new StackTraceElement("java.util.concurrent.locks.LockSupport", "parkNanos", null, 1),
            new StackTraceElement("org.apache.commons.pool2.impl.GenericObjectPool", "borrowObject", null, 1),
            new StackTraceElement("redis.clients.jedis.util.Pool", "getResource", null, 1),
            new StackTraceElement("redis.clients.jedis.JedisPool", "getResource", null, 1),
            new StackTraceElement("depot.LegacyRates", "rate", "LegacyRates.java", 27)
        };
        return SampledCalls.sample(
                Phase.OWN, new ThreadSnapshot("rpc-1", 1, Thread.State.TIMED_WAITING, stack, null, null, -1, -1));
    }

    @Test
    void failuresAtAnUnmeasuredPoolAreNotChargedToAMeasuredPool() {
        PoolSnapshot measured = PoolSnapshot.builder("jedis", PoolKind.REDIS, 10)
                .now(0, 10, 0)
                .counts(100, 0)
                .sums(Duration.ZERO, Duration.ofMillis(100))
                .settings(List.of())
                .build();
        List<Cause> causes = new SampledCalls()
                .pool(measured)
                .usuallyOwn("RateDesk.quote", 3, 20)
                .failing(new JedisExhaustedPoolException())
                .calls("RateDesk.quote", Phase.OWN, 1_200, samples -> samples.add(waiting()))
                .causes();

        assertThat(causes)
                .extracting(DiagnosisText::title)
                .containsExactly("WAIT AT POOL: JedisPool in LegacyRates.rate");
    }
}
