package tern.rpc.advice;

/**
 * An effective setting of a pool.
 *
 * @param property the line to write in a file of properties, up to the equals sign; for what only code can set, where
 * @param value as it would be written there
 * @param source where it comes from
 * @param use what it decides
 */
public record PoolSetting(String property, String value, Source source, Use use) {

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

    public PoolSetting(String property, String value, Source source) {
        this(property, value, source, Use.OTHER);
    }
}
