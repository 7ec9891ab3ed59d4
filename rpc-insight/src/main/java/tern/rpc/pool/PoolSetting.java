package tern.rpc.pool;

import java.time.Duration;

/**
 * A pool setting that is in effect.
 *
 * @param property the property that changes the setting, without an equals sign; a description of the code to change if
 *     no property exists
 * @param value the value as written in a properties file
 * @param source the origin of the value
 * @param use the effect of the setting
 * @param accepted the values that both the library and Tern accept
 */
public record PoolSetting(String property, String value, Source source, Use use, Range accepted) {

    /** The origin of a setting's value. */
    public enum Source {
        /** The application has set the value, by a property or a bean. */
        USER,
        /** Tern has set the value, derived from the latency target or from a constant. */
        TUNED,
        /** The value is the library's default. */
        LIBRARY
    }

    /** The effect of a setting. The diagnosis uses the effect to find the setting that its advice must change. */
    public enum Use {
        MAX,
        MAX_PER_HOST,
        WAIT_LIMIT,
        QUEUE_CAPACITY,
        FAIRNESS,
        /** Whether and how the pool checks each connection before it lends it. */
        CHECK,
        OTHER
    }

    /**
     * The values that are accepted at startup. Times are in milliseconds.
     *
     * @param least the smallest value
     * @param most the largest value
     */
    public record Range(long least, long most) {

        /** Accepts every value. Used for a setting without a known range. */
        public static final Range ANY = new Range(Long.MIN_VALUE, Long.MAX_VALUE);

        /**
         * The range of times. Zero is excluded, because zero means an unlimited wait in some pools, and no wait in
         * others.
         */
        public static final Range TIME = new Range(1, Integer.MAX_VALUE);

        /** Returns the accepted value nearest to the given value. */
        public long nearest(long wanted) {
            return Math.max(least, Math.min(most, wanted));
        }
    }

    public PoolSetting(String property, String value, Source source) {
        this(property, value, source, Use.OTHER);
    }

    public PoolSetting(String property, String value, Source source, Use use) {
        this(property, value, source, use, use == Use.WAIT_LIMIT ? Range.TIME : Range.ANY);
    }

    /** Returns a copy of this setting with a different range. */
    public PoolSetting accepting(Range range) {
        return new PoolSetting(property, value, source, use, range);
    }

    /** Returns the accepted number nearest to the given number. */
    public int nearest(int wanted) {
        return Math.toIntExact(accepted.nearest(wanted));
    }

    /** Returns the accepted value nearest to the given time, in whole milliseconds. */
    public Duration nearest(Duration wanted) {
        return Duration.ofMillis(accepted.nearest(wholeMillis(wanted)));
    }

    /** Returns the line of a properties file that sets the given number. */
    public String line(int wanted) {
        return property + "=" + nearest(wanted);
    }

    /** Returns the line of a properties file that sets the given duration, with a unit if the current value has one. */
    public String line(Duration wanted) {
        return property + "=" + nearest(wanted).toMillis() + (value.endsWith("s") ? "ms" : "");
    }

    /** Returns the time in milliseconds, rounded up so that a short time does not become zero. */
    public static long wholeMillis(Duration time) {
        return Math.max(1, time.plusNanos(999_999).toMillis());
    }
}
