package tern.rpc.spring.autoconfigure.pool;

import java.util.Arrays;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import tern.rpc.pool.PoolSetting;
import tern.rpc.pool.PoolSnapshot;
import tern.rpc.pool.PoolSource;
import tern.rpc.spring.autoconfigure.RpcAutoConfiguration;
import tern.rpc.spring.autoconfigure.RpcMetricsAutoConfiguration;

/** Creates small applications that use the starter's pools. */
final class PoolApplications {

    private PoolApplications() {}

    static ApplicationContextRunner with(Class<?>... autoConfigurations) {
        Class<?>[] all = Stream.concat(
                        Stream.of(
                                RpcAutoConfiguration.class,
                                RpcMetricsAutoConfiguration.class,
                                RpcPoolsAutoConfiguration.class),
                        Arrays.stream(autoConfigurations))
                .toArray(Class<?>[]::new);
        return new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(all));
    }

    static PoolSnapshot pool(ApplicationContext application, String name) {
        return application.getBeanProvider(PoolSource.class).stream()
                .map(PoolSource::snapshot)
                .filter(pool -> pool.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no pool called " + name));
    }

    static Map<String, PoolSetting> settings(PoolSnapshot pool) {
        return pool.settings().stream().collect(Collectors.toMap(PoolSetting::property, Function.identity()));
    }

    /** Formats a setting as {@code value (SOURCE)}. */
    static String setting(PoolSnapshot pool, String property) {
        PoolSetting setting = settings(pool).get(property);
        return setting == null ? "missing" : setting.value() + " (" + setting.source() + ")";
    }
}
