package tern.rpc.serialization.json;

import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamWriteConstraints;
import tools.jackson.core.exc.StreamConstraintsException;

/** Applies {@link JsonLimits} to Jackson's parsers and generators, with Tern's error messages. */
final class StreamLimits {

    private StreamLimits() {}

    static StreamReadConstraints reading(JsonLimits limits) {
        return new Reading(limits);
    }

    static StreamWriteConstraints writing(JsonLimits limits) {
        return new Writing(limits.depth());
    }

    private static String tooDeep(int limit) {
        return "nested deeper than " + limit + " (set by rpc.limits.max-depth)";
    }

    private static final class Reading extends StreamReadConstraints {
        private static final long serialVersionUID = 1L;
        private static final long UNBOUNDED = -1;

        Reading(JsonLimits limits) {
            super(limits.depth(), UNBOUNDED, UNBOUNDED, limits.numberDigits(), Integer.MAX_VALUE, limits.nameLength());
        }

        @Override
        public void validateNestingDepth(int depth) {
            if (depth > _maxNestingDepth) {
                throw new StreamConstraintsException(tooDeep(_maxNestingDepth));
            }
        }

        @Override
        public void validateFPLength(int length) {
            validateIntegerLength(length);
        }

        @Override
        public void validateIntegerLength(int length) {
            if (length > _maxNumLen) {
                throw new StreamConstraintsException(
                        "a number of " + length + " characters; at most " + _maxNumLen + " are read");
            }
        }

        @Override
        public void validateNameLength(int length) {
            if (length > _maxNameLen) {
                throw new StreamConstraintsException(
                        "a name of " + length + " characters; at most " + _maxNameLen + " are read");
            }
        }

        /**
         * Limits a number's scale. Without the limit, an eight-character number could represent an integer with 100,000
         * digits.
         */
        @Override
        public void validateBigIntegerScale(int scale) {
            if (scale > _maxNumLen || scale < -_maxNumLen) {
                throw new StreamConstraintsException(
                        "a number with more than " + _maxNumLen + " digits when written without exponent");
            }
        }
    }

    private static final class Writing extends StreamWriteConstraints {
        private static final long serialVersionUID = 1L;

        Writing(int depth) {
            super(depth);
        }

        @Override
        public void validateNestingDepth(int depth) {
            if (depth > _maxNestingDepth) {
                throw new StreamConstraintsException(tooDeep(_maxNestingDepth)
                        + "; if the objects refer to each other, such as a parent and its children, put @JsonIgnore on"
                        + " the getter of one direction");
            }
        }
    }
}
