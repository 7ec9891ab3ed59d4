package tern.rpc;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * What a service interface, one of its methods, or an exception that is written in hessian2, is called on the wire when
 * that is not its Java name: for instance the full name of a service in a {@code .proto} file,
 * {@code grpc.health.v1.Health}.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.METHOD})
public @interface WireName {
    String value();
}
