package tern.rpc.spring.autoconfigure.pool;

import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.util.ClassUtils;

/**
 * Matches if the application uses Druid as its pool. The application uses Druid if {@code spring.datasource.type} names
 * Druid, or if no other pool is on the class path. If HikariCP is on the class path as well, HikariCP is the default,
 * because some applications use only Druid's SQL parser.
 */
final class DruidChosen extends SpringBootCondition {

    static final String DRUID = "com.alibaba.druid.pool.DruidDataSource";
    static final String TYPE = "spring.datasource.type";
    private static final String HIKARI = "com.zaxxer.hikari.HikariDataSource";

    @Override
    public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
        ConditionMessage.Builder message = ConditionMessage.forCondition("Druid pool");
        String type = context.getEnvironment().getProperty(TYPE);
        if (type != null) {
            return new ConditionOutcome(type.equals(DRUID), message.because(TYPE + " is " + type));
        }
        if (ClassUtils.isPresent(HIKARI, context.getClassLoader())) {
            return ConditionOutcome.noMatch(
                    message.because("HikariCP is also on the class path; " + TYPE + "=" + DRUID + " chooses Druid"));
        }
        return ConditionOutcome.match(message.because("there is no other pool"));
    }
}
