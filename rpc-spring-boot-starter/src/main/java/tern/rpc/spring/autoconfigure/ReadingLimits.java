package tern.rpc.spring.autoconfigure;

import tern.rpc.serialization.KeyLimits;
import tern.rpc.settings.InvalidPropertyException;
import tern.rpc.settings.PropertyCheck;

/** The validated decoding limits shared by all formats. */
record ReadingLimits(int depth, KeyLimits keys) {

    /** The maximum value of the depth limit. Decoding more deeply nested values would overflow the stack. */
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
