package tern.rpc.spring.autoconfigure;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.env.Environment;
import tern.rpc.metrics.RpcMeter;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.settings.InvalidPropertyException;
import tern.rpc.settings.RpcStartException;

/**
 * Finds settings that weaken a server's protection. One warning at startup lists these settings, and each setting has a
 * gauge. In production, the application must accept these settings explicitly.
 */
final class WeakenedSettings {

    private static final Logger LOG = LoggerFactory.getLogger(WeakenedSettings.class);
    private static final String ACCEPTED = "rpc.server.accepted-weaknesses";

    /**
     * A setting that can weaken the server's protection.
     *
     * @param inForce whether the current value weakens the server's protection
     * @param means the consequence of the setting
     */
    private record Weakness(String property, String value, boolean inForce, String means) {

        @Override
        public String toString() {
            return property + "=" + value + " (" + means + ")";
        }
    }

    private final List<Weakness> inForce;

    private WeakenedSettings(List<Weakness> inForce) {
        this.inForce = inForce;
    }

    /**
     * Finds the settings that weaken the server's protection.
     *
     * @throws RpcStartException if a production profile is active and one of these settings is not accepted
     * @throws InvalidPropertyException if a property that is listed as accepted cannot weaken the server
     */
    static WeakenedSettings of(RpcServerProperties server, RpcLimitsProperties limits, Environment environment) {
        List<Weakness> known = known(server, limits);
        List<String> names = known.stream().map(Weakness::property).toList();
        for (String accepted : server.acceptedWeaknesses()) {
            if (!names.contains(accepted)) {
                throw new InvalidPropertyException(ACCEPTED, accepted, "one or more of " + String.join(", ", names));
            }
        }
        List<Weakness> inForce = known.stream().filter(Weakness::inForce).toList();
        String profile = ProductionProfiles.activeIn(environment);
        if (profile != null) {
            List<Weakness> surprising = new ArrayList<>(inForce);
            surprising.removeIf(weakness -> server.acceptedWeaknesses().contains(weakness.property()));
            refuse(surprising, profile);
        }
        return new WeakenedSettings(inForce);
    }

    private static List<Weakness> known(RpcServerProperties server, RpcLimitsProperties limits) {
        return List.of(
                weakness("rpc.limits.audit-classes", limits.auditClasses(), "any class may be read"),
                weakness("rpc.server.generic-calls", server.genericCalls(), "callers need no interface"),
                weakness("rpc.server.reflection", server.reflection(), "callers see all services and types"),
                weakness("rpc.server.ssl.optional", server.ssl().optional(), "clear text is served in addition to TLS"),
                weakness(
                        "rpc.server.exception-texts",
                        server.exceptionTexts(),
                        "callers see texts of exceptions, for example with SQL"),
                new Weakness(
                        "rpc.server.exception-frames",
                        String.valueOf(server.exceptionFrames()),
                        server.exceptionFrames() > 0,
                        "callers see stack traces of the server"),
                weakness("rpc.server.http.form-bodies", server.http().formBodies(), "pages of any site can send forms"),
                weakness("rpc.server.http.text-bodies", server.http().textBodies(), "pages of any site can send text"),
                new Weakness(
                        "rpc.server.cors.allowed-origins",
                        "*",
                        server.cors().allowedOrigins().contains("*"),
                        "pages of any site can call"));
    }

    private static Weakness weakness(String property, boolean inForce, String means) {
        return new Weakness(property, "true", inForce, means);
    }

    private static void refuse(List<Weakness> surprising, String profile) {
        if (!surprising.isEmpty()) {
            throw new RpcStartException(
                    "the profile " + profile + " is active, and " + ACCEPTED + " does not list these"
                            + " settings, which make the server less safe: " + joined(surprising),
                    "Remove the settings that are not intended, or set " + ACCEPTED + "="
                            + surprising.stream().map(Weakness::property).collect(Collectors.joining(",")) + ".",
                    null);
        }
    }

    private static String joined(List<Weakness> weaknesses) {
        return weaknesses.stream().map(Weakness::toString).collect(Collectors.joining(", "));
    }

    /** Reports the settings in one log line, and registers a gauge for each of them. */
    WeakenedSettings report(RpcMeters meters) {
        if (!inForce.isEmpty()) {
            LOG.warn("These settings make the server less safe: {}", joined(inForce));
        }
        for (Weakness weakness : inForce) {
            meters.gauge(RpcMeter.WEAKENED, this, settings -> 1, RpcMeter.SETTING, weakness.property());
        }
        return this;
    }
}
