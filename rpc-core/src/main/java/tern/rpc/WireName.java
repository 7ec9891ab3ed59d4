package tern.rpc;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Sets the wire name of a service interface, a method, or a hessian2-encoded class. Needed only if the wire name
 * differs from the Java name. An example is the full name of a service in a {@code .proto} file:
 * {@code grpc.health.v1.Health}.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.METHOD})
public @interface WireName {
    /** Returns the name on the wire. Client and server must use the same name. */
    String value();
}
