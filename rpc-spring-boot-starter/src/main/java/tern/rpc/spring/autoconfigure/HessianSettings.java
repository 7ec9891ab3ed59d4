package tern.rpc.spring.autoconfigure;

import tern.rpc.serialization.Serializer;
import tern.rpc.serialization.hessian.HessianLimits;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.settings.InvalidPropertyException;
import tern.rpc.settings.PropertyCheck;
import tern.rpc.transport.GenericException;

/** Creates the Hessian serializer with the configured limits. Used only if tern-rpc-hessian is on the class path. */
final class HessianSettings {

    private HessianSettings() {}

    static Serializer serializer(RpcLimitsProperties limits) {
        HessianSerializer.Builder hessian = HessianSerializer.builder()
                .limits(limits(limits))
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

    private static HessianLimits limits(RpcLimitsProperties limits) {
        HessianLimits defaults = HessianLimits.defaults();
        ReadingLimits reading = ReadingLimits.of(limits);
        return new HessianLimits(
                reading.depth(),
                PropertyCheck.atLeast("rpc.limits.max-values", limits.maxValues(), 1),
                defaults.classDefinitions(),
                defaults.fields(),
                defaults.typeNameLength(),
                defaults.hashedNesting(),
                reading.keys().nonScalarKeys(),
                reading.keys().equalKeys(),
                reading.keys().keySteps());
    }
}
