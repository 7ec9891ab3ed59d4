package tern.rpc.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.core.annotation.AliasFor;
import org.springframework.stereotype.Component;

/**
 * Declares a bean that answers calls made through {@link RpcReference}s when no provider answers them. The fallback
 * applies if a call fails with UNAVAILABLE, unless the method itself has reported this code. The fallback also applies
 * if a call fails with DEADLINE_EXCEEDED or RESOURCE_EXHAUSTED and the method has certainly not run. The bean
 * implements the service interface. The fallback is never injected instead of the reference. If this annotation is on a
 * class, the class becomes a component.
 *
 * <p>The {@code rpc.client.requests} meter still counts the call as failed. {@code rpc.client.fallbacks} counts the
 * calls answered by a fallback. Fallbacks do not apply to streams.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.METHOD})
@Component
public @interface RpcFallback {

    /** The service interface that the fallback implements. */
    Class<?> forInterface();

    /**
     * The group of the references whose calls the fallback answers. May contain placeholders. Empty for references
     * without a group.
     */
    String group() default "";

    /**
     * The version of the references whose calls the fallback answers. May contain placeholders. Empty for references
     * without a version.
     */
    String version() default "";

    /** The bean name. If empty, the name is derived from the class name. */
    @AliasFor(annotation = Component.class, attribute = "value")
    String beanName() default "";
}
