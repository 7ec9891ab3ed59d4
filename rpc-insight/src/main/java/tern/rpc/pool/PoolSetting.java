package tern.rpc.pool;

import java.time.Duration;

/**
 * An effective setting of a pool.
 *
 * @param property the line to write in a file of properties, up to the equals sign; for what only code can set, where
 * @param value as it would be written there
 * @param source where it comes from
 * @param use what it decides
 * @param accepted values that the library and Tern accept
 */
public record PoolSetting(String property, String value, Source source, Use use, Range accepted) {

    /** Where the value of a setting comes from. */
    public enum Source {
        /** The user's own property or bean. */
        USER,
        /** Set by Tern, from the target or a constant of its own. */
        TUNED,
        /** Left as the library has it. */
        LIBRARY
    }

    /** What a setting decides, for advice that has to name it. */
    public enum Use {
        MAX,
        MAX_PER_HOST,
        WAIT_LIMIT,
        QUEUE_CAPACITY,
        FAIRNESS,
        OTHER
    }

    /**
     * Values that do not stop the start; milliseconds for a time.
     *
     * @param least smallest value
     * @param most largest value
     */
    public record Range(long least, long most) {

        /** For settings that are no numbers. */
        public static final Range ANY = new Range(Long.MIN_VALUE, Long.MAX_VALUE);

        /** For times: an advised time of zero would wait for ever in some pools and not at all in others. */
        public static final Range TIME = new Range(1, Integer.MAX_VALUE);

        /** The accepted value that is nearest. */
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

    /** The same, which only takes these values. */
    public PoolSetting accepting(Range range) {
        return new PoolSetting(property, value, source, use, range);
    }

    /** The accepted number that is nearest. */
    public int nearest(int wanted) {
        return Math.toIntExact(accepted.nearest(wanted));
    }

    /** The accepted time that is nearest, in whole milliseconds. */
    public Duration nearest(Duration wanted) {
        return Duration.ofMillis(accepted.nearest(wholeMillis(wanted)));
    }

    /** The line to paste for another number. */
    public String line(int wanted) {
        return property + "=" + nearest(wanted);
    }

    /** The line to paste for another time, in the unit in which the value is written. */
    public String line(Duration wanted) {
        return property + "=" + nearest(wanted).toMillis() + (value.endsWith("s") ? "ms" : "");
    }

    /** Rounded up, so that a short time does not become zero. */
    public static long wholeMillis(Duration time) {
        return Math.max(1, time.plusNanos(999_999).toMillis());
    }
}
