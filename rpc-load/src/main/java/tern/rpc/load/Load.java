package tern.rpc.load;

import java.time.Duration;

/**
 * A rate of calls over time. The rate rises evenly from 0 during the first half of the warm-up and then stays constant.
 *
 * @param rate calls a second
 * @param warmUp time before the measurement; its calls are not counted
 * @param duration time of the measurement
 * @param users threads that call; if all threads wait for answers, calls start late, and the delay counts as latency
 */
public record Load(double rate, Duration warmUp, Duration duration, int users) {

    public Load {
        require(rate > 0 && rate <= 1_000_000, "rate", rate, "more than 0 and at most 1000000 calls a second");
        require(!warmUp.isNegative(), "warm-up", warmUp, "0 or more");
        require(duration.compareTo(Duration.ZERO) > 0, "duration", duration, "more than 0");
        require(users > 0, "users", users, "1 or more");
    }

    private static void require(boolean valid, String name, Object value, String expected) {
        if (!valid) {
            throw new IllegalArgumentException(name + " is " + value + "; expected " + expected);
        }
    }

    long calls() {
        return warmUpCalls() + Math.round(rate * duration.toNanos() / 1e9);
    }

    /** Returns the number of calls that belong to the warm-up. */
    long warmUpCalls() {
        return rampCalls() + Math.round(rate * rampNanos() / 1e9);
    }

    private long rampCalls() {
        return Math.round(rate * rampNanos() / 1e9 / 2);
    }

    private long rampNanos() {
        return warmUp.toNanos() / 2;
    }

    /** Returns the intended start of a call, relative to the beginning of the warm-up. */
    long startNanos(long call) {
        long rampCalls = rampCalls();
        if (call < rampCalls) {
            return Math.round(rampNanos() * Math.sqrt((double) call / rampCalls));
        }
        return rampNanos() + Math.round((call - rampCalls) * 1e9 / rate);
    }
}
