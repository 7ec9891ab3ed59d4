package tern.rpc;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Declares properties of an interface method that its signature does not show. Client and server read this annotation
 * once, at startup. If a sub-interface redeclares the method without this annotation, the method keeps its properties.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface RpcMethod {

    /**
     * True if calls can be repeated without harm. The client may then retry a call even if the method may already have
     * run.
     */
    boolean idempotent() default false;

    /** True if the method has no side effects. A method without side effects is also idempotent. */
    boolean readOnly() default false;

    /**
     * True if a {@code default} method is a local helper that runs on the client. The provider does not serve local
     * methods, so their parameters need not be serializable. A default method that is not local runs on the provider,
     * as in Dubbo. The body of such a method runs on the client only if an older provider does not have the method.
     */
    boolean local() default false;

    /**
     * True if a call to a {@code void} method ends as soon as the request has been passed to the socket. The caller
     * then gets neither an answer nor an error.
     */
    boolean oneWay() default false;

    /**
     * The timeout of a call, including all attempts: a number with a unit such as {@code 500ms} or {@code 2s}. A number
     * without a unit is in milliseconds. The value may contain placeholders if the Spring Boot starter creates the
     * reference. If it is empty, the client's default applies. Streaming methods have no default timeout, because a
     * stream can last indefinitely. A stream is limited only by this value, by the method's settings, by {@link
     * CallOptions#timeout(java.time.Duration)}, and by the deadline of the call being served.
     */
    String timeout() default "";
}
