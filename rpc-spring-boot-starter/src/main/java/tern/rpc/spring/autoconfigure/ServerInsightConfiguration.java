package tern.rpc.spring.autoconfigure;

import java.util.List;
import java.util.Map;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import tern.rpc.RunningCall;
import tern.rpc.diagnosis.CallSource;
import tern.rpc.server.RpcServer;
import tern.rpc.spring.autoconfigure.pool.SettingOrigins;

/** Provides the server's calls and workers to the insight starter, if the application uses that starter. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(SettingOrigins.class)
class ServerInsightConfiguration {

    @Bean
    WorkerPoolSource rpcWorkerPoolSource(RpcServer server, ServerSettings settings, Environment environment) {
        return new WorkerPoolSource(server, settings, new SettingOrigins(environment));
    }

    @Bean
    CallSource rpcServerCalls(RpcServer server) {
        return new CallSource() {
            @Override
            public List<RunningCall> runningCalls() {
                return server.runningCalls();
            }

            @Override
            public Map<String, Long> refusals() {
                return server.refusals();
            }
        };
    }
}
