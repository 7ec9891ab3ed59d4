package tern.rpc.spring.autoconfigure.pool;

import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import tern.rpc.metrics.Slo;
import tern.rpc.settings.PropertyCheck;

/**
 * The properties under {@code rpc.slo}.
 *
 * @param qps Target rate of the application in calls per second.
 * @param latency Target latency of a call at the rate rpc.slo.qps.
 */
@ConfigurationProperties("rpc.slo")
record SloProperties(
        @DefaultValue("500") int qps, @DefaultValue("100ms") Duration latency) {

    Slo target() {
        PropertyCheck.atLeast("rpc.slo.qps", qps, 1);
        PropertyCheck.moreThanZero("rpc.slo.latency", latency);
        return new Slo(qps, latency);
    }
}
