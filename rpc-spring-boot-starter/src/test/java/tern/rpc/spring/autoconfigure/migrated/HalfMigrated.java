package tern.rpc.spring.autoconfigure.migrated;

import org.apache.dubbo.config.annotation.DubboReference;
import org.apache.dubbo.config.annotation.DubboService;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.AutoConfigurationPackage;
import org.springframework.context.annotation.Configuration;

/** An application that still contains Dubbo annotations. */
@Configuration(proxyBeanMethods = false)
@AutoConfigurationPackage
public class HalfMigrated {

    @DubboReference
    @Nullable
    Runnable reference;

    /** A service that is not exported. */
    @DubboService
    public static class Left implements Runnable {
        @Override
        public void run() {}
    }
}
