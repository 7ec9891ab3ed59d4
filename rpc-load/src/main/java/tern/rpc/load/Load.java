package tern.rpc.load;

import java.time.Duration;

/**
 * A rate of calls over time. The rate rises linearly from 0 during the first half of the warm-up and then stays
 * constant.
 *
 * @param rate the number of calls per second
 * @param warmUp the time before the measurement; calls started during this time are not counted
 * @param duration the duration of the measurement
 * @param users the number of threads that make calls; if all threads are waiting for answers, the next calls start
 *     late, and the delay is part of their latency
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

    /** Returns the number of calls that start during the warm-up and are therefore not counted. */
    long warmUpCalls() {
        return rampCalls() + Math.round(rate * rampNanos() / 1e9);
    }

    private long rampCalls() {
        return Math.round(rate * rampNanos() / 1e9 / 2);
    }

    private long rampNanos() {
        return warmUp.toNanos() / 2;
    }

    /** Returns the intended start time of a call, relative to the beginning of the warm-up. */
    long startNanos(long call) {
        long rampCalls = rampCalls();
        if (call < rampCalls) {
            return Math.round(rampNanos() * Math.sqrt((double) call / rampCalls));
        }
        return rampNanos() + Math.round((call - rampCalls) * 1e9 / rate);
    }
}
