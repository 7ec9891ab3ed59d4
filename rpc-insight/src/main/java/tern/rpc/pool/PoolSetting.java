package tern.rpc.pool;

import java.time.Duration;

/**
 * An effective setting of a pool.
 *
 * @param property the property to set, without an equals sign; for a setting that only code can change, the place in
 *     code
 * @param value the value in the form of a properties file
 * @param source the origin of the value
 * @param use the effect of the setting
 * @param accepted values that the library and Tern accept
 */
public record PoolSetting(String property, String value, Source source, Use use, Range accepted) {

    /** The origin of a value. */
    public enum Source {
        /** A property or bean of the application. */
        USER,
        /** Set by Tern, from the target or from a constant. */
        TUNED,
        /** The default of the library. */
        LIBRARY
    }

    /** The effect of a setting. Advice finds settings by it. */
    public enum Use {
        MAX,
        MAX_PER_HOST,
        WAIT_LIMIT,
        QUEUE_CAPACITY,
        FAIRNESS,
        OTHER
    }

    /**
     * Values that are accepted at the start. A time is in milliseconds.
     *
     * @param least smallest value
     * @param most largest value
     */
    public record Range(long least, long most) {

        /** For settings that are not numbers. */
        public static final Range ANY = new Range(Long.MIN_VALUE, Long.MAX_VALUE);

        /** For times. Zero is excluded, because in some pools it means to wait forever and in others not to wait. */
        public static final Range TIME = new Range(1, Integer.MAX_VALUE);

        /** Returns the nearest accepted value. */
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

    /** Returns this setting with another range. */
    public PoolSetting accepting(Range range) {
        return new PoolSetting(property, value, source, use, range);
    }

    /** Returns the nearest accepted number. */
    public int nearest(int wanted) {
        return Math.toIntExact(accepted.nearest(wanted));
    }

    /** Returns the nearest accepted time, in whole milliseconds. */
    public Duration nearest(Duration wanted) {
        return Duration.ofMillis(accepted.nearest(wholeMillis(wanted)));
    }

    /** Returns the line of a properties file that sets another number. */
    public String line(int wanted) {
        return property + "=" + nearest(wanted);
    }

    /** Returns the line of a properties file that sets another time, with a unit if the current value has one. */
    public String line(Duration wanted) {
        return property + "=" + nearest(wanted).toMillis() + (value.endsWith("s") ? "ms" : "");
    }

    /** Rounds up, so that a short time does not become zero. */
    public static long wholeMillis(Duration time) {
        return Math.max(1, time.plusNanos(999_999).toMillis());
    }
}
