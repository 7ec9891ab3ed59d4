package tern.rpc.spring.autoconfigure.pool;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.core.env.Environment;
import tern.rpc.pool.PoolSetting;
import tern.rpc.pool.PoolSetting.Source;
import tern.rpc.pool.PoolSetting.Use;

/** Finds the properties that the application has set. Recognizes every spelling of their names that Boot accepts. */
public final class SettingOrigins {

    private final Binder binder;

    // Caches for each pool setting whether the application has set it. Pools are read every second, and a lookup in the
    // environment would take longer than all other steps of reading a pool.
    private final Map<String, Boolean> setByUser = new ConcurrentHashMap<>();

    public SettingOrigins(Environment environment) {
        this.binder = Binder.get(environment);
    }

    /** Returns whether Tern may set pool properties that the application has not set. */
    public boolean isTuned() {
        return binder.bind("rpc.pools.tuned", Bindable.of(Boolean.class)).orElse(true);
    }

    public boolean isSet(String property) {
        return binder.bind(name(property), Bindable.of(Object.class)).isBound();
    }

    /** Returns the value of the property, or null if the property is not set. */
    public <T> @Nullable T value(String property, Class<T> type) {
        return binder.bind(name(property), Bindable.of(type)).orElse(null);
    }

    /**
     * Returns the property name in the form that the binder accepts. Pool names chosen by the application can contain
     * capitals and underscores.
     */
    private static ConfigurationPropertyName name(String property) {
        return ConfigurationPropertyName.adapt(property, '.');
    }

    /**
     * Returns the setting of a pool. Whether the application has set the property is looked up only once, because a
     * pool does not read its properties again.
     *
     * @param otherwise the origin of the value if the application has not set the property
     */
    public PoolSetting setting(String property, Object value, Source otherwise, Use use) {
        boolean user = setByUser.computeIfAbsent(property, this::isSet);
        return new PoolSetting(property, text(value), user ? Source.USER : otherwise, use);
    }

    public PoolSetting setting(String property, Object value, Source otherwise) {
        return setting(property, value, otherwise, Use.OTHER);
    }

    /** Returns the value in the form used in properties files, such as {@code 5s}. */
    static String text(Object value) {
        if (value instanceof Duration time) {
            return time.toMillis() % 1_000 == 0 ? time.toSeconds() + "s" : time.toMillis() + "ms";
        }
        return value.toString();
    }

    /** Binds the application's properties under a prefix to an object. */
    public void bind(String prefix, Object target) {
        binder.bind(prefix, Bindable.ofInstance(target));
    }
}
