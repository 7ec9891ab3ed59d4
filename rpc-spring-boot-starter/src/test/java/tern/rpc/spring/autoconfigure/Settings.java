package tern.rpc.spring.autoconfigure;

import java.util.Map;
import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import org.springframework.boot.ssl.SslBundles;

/** Creates property objects with default values. */
final class Settings {

    static final RpcLimitsProperties LIMITS = new Binder(new MapConfigurationPropertySource(Map.of()))
            .bindOrCreate("rpc.limits", RpcLimitsProperties.class);

    static final TlsBundles NO_BUNDLES =
            new TlsBundles(new StaticListableBeanFactory().getBeanProvider(SslBundles.class));

    private Settings() {}
}
