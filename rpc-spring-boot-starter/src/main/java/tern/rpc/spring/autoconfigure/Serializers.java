package tern.rpc.spring.autoconfigure;

import tern.rpc.serialization.Serializer;
import tern.rpc.serialization.hessian.HessianLimits;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.transport.GenericException;

/** Serializers as the limits describe them. */
final class Serializers {

    /** Deeper values would overflow the stack. */
    private static final int MOST_DEPTH = 512;

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
                PropertyCheck.between("rpc.limits.max-depth", limits.maxDepth(), 1, MOST_DEPTH),
                PropertyCheck.atLeast("rpc.limits.max-values", limits.maxValues(), 1),
                defaults.classDefinitions(),
                defaults.fields(),
                defaults.typeNameLength(),
                defaults.hashedNesting(),
                defaults.nonScalarKeys());
    }
}
