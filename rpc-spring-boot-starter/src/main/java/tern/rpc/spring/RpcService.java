package tern.rpc.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.core.annotation.AliasFor;
import org.springframework.stereotype.Component;
import tern.rpc.endpoint.Endpoint;

/**
 * Offers a bean to remote callers, under each interface that its class names, except those of the JDK and of Spring. On
 * a class it makes the class a component; on a {@code @Bean} method it exports what the method returns. The application
 * opens its port when there is at least one such bean. A lazy bean is created at its first call.
 *
 * <p>A class that extends what gRPC's generator made, an {@code io.grpc.BindableService}, is offered as that service, and
 * created at the start.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.METHOD})
@Component
public @interface RpcService {

    /** Name of the bean; made from the class name when empty. */
    @AliasFor(annotation = Component.class)
    String value() default "";

    /** The interfaces to offer, instead of all. */
    Class<?>[] interfaces() default {};

    /** Tells apart several exports of an interface. May contain placeholders. */
    String group() default "";

    /** Tells apart incompatible exports of an interface. May contain placeholders. */
    String version() default "";

    /** Announced to callers: the share of calls that this provider wants, relative to others; 0 or more. */
    int weight() default Endpoint.DEFAULT_WEIGHT;
}
