package tern.rpc.spring.autoconfigure;

import tern.rpc.serialization.Serializer;
import tern.rpc.serialization.hessian.HessianLimits;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.serialization.json.JsonLimits;
import tern.rpc.transport.GenericException;

/** Creates the serializers with the configured limits. */
final class Serializers {

    /** Deeper values would overflow the stack. */
    private static final int MAX_DEPTH = 512;

    private Serializers() {}

    static Serializer hessian(RpcLimitsProperties limits) {
        HessianSerializer.Builder hessian = HessianSerializer.builder()
                .limits(hessianLimits(limits))
                .alias(GenericException.class, GenericException.WIRE_NAME)
                .allow(limits.allowedClasses().toArray(String[]::new));
        if (limits.auditClasses()) {
            hessian.audit();
        }
        try {
            return hessian.build();
        } catch (IllegalArgumentException e) {
            throw new InvalidPropertyException(
                    "rpc.limits.allowed-classes",
                    limits.allowedClasses(),
                    "class names, or packages that end in .* or .**");
        }
    }

    private static HessianLimits hessianLimits(RpcLimitsProperties limits) {
        HessianLimits defaults = HessianLimits.defaults();
        return new HessianLimits(
                depth(limits),
                PropertyCheck.atLeast("rpc.limits.max-values", limits.maxValues(), 1),
                defaults.classDefinitions(),
                defaults.fields(),
                defaults.typeNameLength(),
                defaults.hashedNesting(),
                compositeKeys(limits),
                equalKeys(limits),
                keySteps(limits));
    }

    static JsonLimits jsonLimits(RpcLimitsProperties limits) {
        JsonLimits defaults = JsonLimits.defaults();
        return new JsonLimits(
                depth(limits),
                defaults.numberDigits(),
                defaults.nameLength(),
                compositeKeys(limits),
                equalKeys(limits),
                keySteps(limits));
    }

    private static int compositeKeys(RpcLimitsProperties limits) {
        return PropertyCheck.atLeast("rpc.limits.max-composite-keys", limits.maxCompositeKeys(), 1);
    }

    private static int equalKeys(RpcLimitsProperties limits) {
        return PropertyCheck.atLeast("rpc.limits.max-equal-keys", limits.maxEqualKeys(), 1);
    }

    private static long keySteps(RpcLimitsProperties limits) {
        if (limits.maxKeySteps() < 1) {
            throw new InvalidPropertyException("rpc.limits.max-key-steps", limits.maxKeySteps(), "1 or more");
        }
        return limits.maxKeySteps();
    }

    private static int depth(RpcLimitsProperties limits) {
        return PropertyCheck.between("rpc.limits.max-depth", limits.maxDepth(), 1, MAX_DEPTH);
    }
}
