package tern.rpc.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.core.annotation.AliasFor;
import org.springframework.stereotype.Component;

/**
 * Marks a bean that answers calls of {@link RpcReference}s if no provider takes them: after UNAVAILABLE, and after
 * DEADLINE_EXCEEDED and RESOURCE_EXHAUSTED if the method certainly did not run. The bean implements the interface of
 * the service. It is never injected in place of the reference. On a class, the annotation makes it a component.
 *
 * <p>The meter {@code rpc.client.requests} still counts the failure of the call. {@code rpc.client.fallbacks} counts
 * the calls that a fallback answered. Streams have no fallback.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.METHOD})
@Component
public @interface RpcFallback {

    /** The interface of the service. */
    Class<?> forInterface();

    /** The group of the references. May contain placeholders. Empty for references without a group. */
    String group() default "";

    /** The version of the references. May contain placeholders. Empty for references without a version. */
    String version() default "";

    /** The name of the bean; derived from the class name if empty. */
    @AliasFor(annotation = Component.class, attribute = "value")
    String beanName() default "";
}
