package tern.rpc.spring.autoconfigure;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.core.env.Environment;
import tern.rpc.settings.PropertyCheck;

/** The properties under {@code rpc.client} that can be changed while the application runs. */
record ChangeableSettings(
        @DefaultValue List<String> url,
        @DefaultValue("3s") Duration timeout,
        @DefaultValue("p2c") String loadBalancing,
        @DefaultValue Map<String, Service> services) {

    ChangeableSettings {
        loadBalancing = ProviderChoice.policyOf(loadBalancing);
    }

    record Service(
            @DefaultValue List<String> url,
            @Nullable Duration timeout,
            @Nullable String loadBalancing,
            @DefaultValue Map<String, Method> methods) {}

    record Method(@Nullable Duration timeout) {}

    /** Reads the current values of the changeable properties. */
    static ChangeableSettings in(Environment environment) {
        return Binder.get(environment).bindOrCreate("rpc.client", Bindable.of(ChangeableSettings.class));
    }

    /**
     * Returns a copy of the given settings with the values of this object. Checks the values in the same way as at
     * startup.
     */
    ClientSettings appliedTo(ClientSettings settings) {
        Map<String, RpcClientProperties.Service> changed = new HashMap<>();
        // All services keep their unchangeable properties, even services without changeable properties.
        settings.services().forEach((name, service) -> changed.put(name, without(service)));
        services.forEach((written, service) -> {
            // Names are compared in a uniform spelling, because a configuration server and the application's own file
            // might spell the name of a service differently.
            String name = changed.keySet().stream()
                    .filter(known -> ClientSettings.uniform(known).equals(ClientSettings.uniform(written)))
                    .findFirst()
                    .orElse(written);
            RpcClientProperties.Service before = changed.getOrDefault(name, RpcClientProperties.Service.NONE);
            Map<String, RpcClientProperties.Method> methods = new HashMap<>(before.methods());
            service.methods()
                    .forEach((method, values) -> methods.put(
                            method,
                            methods.getOrDefault(method, RpcClientProperties.Method.NONE)
                                    .with(values.timeout())));
            changed.put(name, before.with(service.url(), service.timeout(), service.loadBalancing(), methods));
        });
        return settings.with(PropertyCheck.callTimeout("rpc.client.timeout", timeout), loadBalancing, url, changed);
    }

    /** Returns the service's properties without the properties that can be changed. */
    private static RpcClientProperties.Service without(RpcClientProperties.Service service) {
        Map<String, RpcClientProperties.Method> methods = new HashMap<>(service.methods());
        methods.replaceAll((method, values) -> values.with(null));
        return service.with(List.of(), null, null, methods);
    }
}
