package tern.rpc.spring.autoconfigure.pool;

import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * Matches unless {@code rpc.pools.tuned} is false. Every spelling of false that Boot accepts is recognized, such as
 * {@code off}. Boot's own condition accepts only the literals {@code true} and {@code false}.
 */
final class PoolTuningCondition implements Condition {

    @Override
    public boolean matches(ConditionContext context, AnnotatedTypeMetadata annotated) {
        return new SettingOrigins(context.getEnvironment()).isTuned();
    }
}
