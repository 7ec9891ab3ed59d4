package tern.rpc.spring.autoconfigure.pool;

import org.apache.logging.log4j.core.LoggerContext;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.util.ClassUtils;

/** Measures the time that calling threads spend on log lines, with Log4j 2 or Logback. */
@AutoConfiguration(after = RpcPoolsAutoConfiguration.class)
public final class RpcLoggingAutoConfiguration {

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(LoggerContext.class)
    @Conditional(Log4jActive.class)
    static class Log4jConfiguration {

        @Bean
        @ConditionalOnMissingBean
        LoggingWatch rpcLoggingWatch(PoolSources sources, SettingOrigins origins) {
            LoggerContext context = Log4jWatch.context();
            if (context == null) {
                throw new IllegalStateException("Log4j 2 stopped answering for its own API");
            }
            boolean disruptor = ClassUtils.isPresent(AsyncLogging.DISRUPTOR, LoggerContext.class.getClassLoader());
            return new Log4jWatch(context, sources, origins, disruptor);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(ch.qos.logback.classic.LoggerContext.class)
    @Conditional(LogbackActive.class)
    static class LogbackConfiguration {

        @Bean
        @ConditionalOnMissingBean
        LoggingWatch rpcLoggingWatch(PoolSources sources) {
            return LogbackWatch.ofContext(sources);
        }
    }

    /**
     * Matches if Log4j is active. A check for the jar is not enough, because another implementation can provide Log4j's
     * API.
     */
    static final class Log4jActive extends SpringBootCondition {

        @Override
        public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
            return new ConditionOutcome(Log4jWatch.context() != null, ConditionMessage.of("Log4j 2 is asked"));
        }
    }

    static final class LogbackActive extends SpringBootCondition {

        @Override
        public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
            return new ConditionOutcome(LogbackWatch.isActive(), ConditionMessage.of("Logback is asked"));
        }
    }
}
