package tern.rpc.spring.autoconfigure;

import java.time.Duration;
import java.util.Map;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.core.env.Environment;
import tern.rpc.settings.PropertyCheck;

/** The properties under {@code rpc.server} that can be changed while the application runs. */
record ChangeableLimits(
        @DefaultValue("adaptive") String maxConcurrency,
        @DefaultValue("50ms") Duration maxQueueWait,
        @DefaultValue Map<String, RpcServerProperties.Service> services) {

    /**
     * Reads the current values of the properties.
     *
     * @throws tern.rpc.settings.InvalidPropertyException if a value is invalid
     */
    static ChangeableLimits in(Environment environment) {
        ChangeableLimits read = Binder.get(environment).bindOrCreate("rpc.server", Bindable.of(ChangeableLimits.class));
        PropertyCheck.moreThanZero("rpc.server.max-queue-wait", read.maxQueueWait());
        return read;
    }
}
