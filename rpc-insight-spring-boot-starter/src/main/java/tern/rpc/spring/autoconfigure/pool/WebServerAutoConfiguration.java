package tern.rpc.spring.autoconfigure.pool;

import org.apache.catalina.connector.Connector;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.jetty.JettyWebServer;
import org.springframework.boot.tomcat.TomcatConnectorCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Measures the web server's threads. */
@AutoConfiguration(after = RpcPoolsAutoConfiguration.class)
@ConditionalOnWebApplication
public final class WebServerAutoConfiguration {

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({TomcatConnectorCustomizer.class, Connector.class})
    static class TomcatConfiguration {

        @Bean
        TomcatWatch rpcTomcatWatch(PoolSources sources, SettingOrigins origins) {
            return new TomcatWatch(sources, origins);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({JettyWebServer.class, QueuedThreadPool.class})
    static class JettyConfiguration {

        @Bean
        JettyWatch rpcJettyWatch(PoolSources sources, SettingOrigins origins) {
            return new JettyWatch(sources, origins);
        }
    }
}
