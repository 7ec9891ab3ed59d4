package tern.rpc.advice;

/**
 * An effective setting of a pool.
 *
 * @param property the line to write in a file of properties, up to the equals sign
 * @param value as it would be written there
 * @param source where it comes from
 */
public record PoolSetting(String property, String value, Source source) {

    /** Where the value of a setting comes from. */
    public enum Source {
        /** The user's own property or bean. */
        USER,
        /** Set by Tern, from the target or a constant of its own. */
        TUNED,
        /** Left as the library has it. */
        LIBRARY
    }
}
