package tern.rpc.spring.autoconfigure;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.util.ClassUtils;
import tern.rpc.serialization.Serializer;
import tern.rpc.serialization.hessian.HessianLimits;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.settings.InvalidPropertyException;
import tern.rpc.settings.PropertyCheck;
import tern.rpc.transport.GenericException;

/** Creates the Hessian serializer with the configured limits. Used only if tern-rpc-hessian is on the class path. */
final class HessianSettings {

    private static final Logger LOG = LoggerFactory.getLogger(HessianSettings.class);

    private HessianSettings() {}

    static Serializer serializer(RpcLimitsProperties limits, boolean exceptionTexts) {
        HessianSerializer.Builder hessian = HessianSerializer.builder()
                .limits(limits(limits))
                .exceptionTexts(exceptionTexts)
                .alias(GenericException.class, GenericException.WIRE_NAME)
                .allow(limits.allowedClasses().toArray(String[]::new));
        if (limits.auditClasses()) {
            hessian.audit();
        }
        try {
            Serializer built = hessian.build();
            limits.allowedClasses().forEach(HessianSettings::warnOfMissing);
            return built;
        } catch (IllegalArgumentException e) {
            throw new InvalidPropertyException(
                    "rpc.limits.allowed-classes",
                    limits.allowedClasses(),
                    "class names, or packages that end in .* or .**");
        }
    }

    /**
     * Warns about an entry that names neither a class nor a package. The entry is often a package name without its
     * ending {@code .*}.
     */
    private static void warnOfMissing(String entry) {
        String name = entry.trim();
        if (!name.endsWith("*") && !ClassUtils.isPresent(name, HessianSettings.class.getClassLoader())) {
            LOG.warn(
                    "rpc.limits.allowed-classes contains {}, which is not a class on the class path; for the classes of a"
                            + " package, write {}.*",
                    name,
                    name);
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
