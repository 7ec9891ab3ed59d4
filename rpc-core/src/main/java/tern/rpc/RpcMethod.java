package tern.rpc;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Properties of an interface method that its signature does not show. Read once, on both sides. */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface RpcMethod {

    /** Whether a repeated call does no harm. The client may repeat such a call even if it may have run. */
    boolean idempotent() default false;

    /** Whether the method changes nothing. It is then idempotent too. */
    boolean readOnly() default false;

    /**
     * For {@code default} methods only: whether the method is a local helper. It then runs at the caller and is not
     * served, so its parameters need not be serializable. Otherwise a default method is called at the provider, as with
     * Dubbo. Its body runs at the caller only if an older provider does not have the method.
     */
    boolean local() default false;

    /**
     * For {@code void} methods only: whether the call ends as soon as it is passed to the socket. The caller then gets
     * no answer and no error.
     */
    boolean oneWay() default false;

    /**
     * The timeout of a call, including all attempts: a number with a unit such as {@code 500ms} or {@code 2s}. Empty
     * means the default of the client. Methods with a stream of requests or answers have no default timeout, because a
     * stream may last for any time. They are limited only by this value, a setting of the method, {@link
     * CallOptions#timeout(java.time.Duration)} and the deadline of the call being served.
     */
    String timeout() default "";
}
