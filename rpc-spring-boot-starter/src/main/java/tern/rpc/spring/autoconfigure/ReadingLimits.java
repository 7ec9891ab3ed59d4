package tern.rpc.spring.autoconfigure;

import tern.rpc.serialization.KeyLimits;
import tern.rpc.settings.InvalidPropertyException;
import tern.rpc.settings.PropertyCheck;

/** The validated limits that all formats share when they decode a message. */
record ReadingLimits(int depth, KeyLimits keys) {

    /** The maximum value of the depth limit. Decoding values that are nested more deeply would overflow the stack. */
    private static final int MAX_DEPTH = 512;

    static ReadingLimits of(RpcLimitsProperties limits) {
        if (limits.maxKeySteps() < 1) {
            throw new InvalidPropertyException("rpc.limits.max-key-steps", limits.maxKeySteps(), "1 or more");
        }
        return new ReadingLimits(
                PropertyCheck.between("rpc.limits.max-depth", limits.maxDepth(), 1, MAX_DEPTH),
                new KeyLimits(
                        PropertyCheck.atLeast("rpc.limits.max-composite-keys", limits.maxCompositeKeys(), 1),
                        PropertyCheck.atLeast("rpc.limits.max-equal-keys", limits.maxEqualKeys(), 1),
                        limits.maxKeySteps()));
    }
}
