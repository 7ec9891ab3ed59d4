package tern.rpc.spring.autoconfigure;

import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * A condition on a boolean property. The condition converts the value exactly as the property records do, so {@code
 * on}, {@code yes} and {@code 1} mean {@code true}. Spring Boot's own condition accepts only the literals {@code true}
 * and {@code false}.
 */
abstract class FlagCondition implements Condition {

    private final String property;
    private final boolean defaultValue;

    /** @param defaultValue the value if the property is not set */
    FlagCondition(String property, boolean defaultValue) {
        this.property = property;
        this.defaultValue = defaultValue;
    }

    @Override
    public final boolean matches(ConditionContext context, AnnotatedTypeMetadata annotated) {
        return Binder.get(context.getEnvironment())
                .bind(property, Boolean.class)
                .orElse(defaultValue);
    }
}
