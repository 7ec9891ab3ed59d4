package tern.rpc;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** What the signature of an interface method does not say. Read once, on both sides. */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface RpcMethod {

    /** Calling twice does no harm: a client may send the call again when it cannot know whether it ran. */
    boolean idempotent() default false;

    /** Changes nothing, which makes it idempotent too. */
    boolean readOnly() default false;

    /**
     * Only for {@code default} methods: the method is a helper that runs at the caller and is not served, so its
     * parameters need not travel. Without it a default method is called at the provider, as with Dubbo; its body then runs
     * at the caller only when the provider has no such method, as an older one has not.
     */
    boolean local() default false;

    /** Only for {@code void} methods: the call ends when it is handed to the socket; no answer, not even an error. */
    boolean oneWay() default false;

    /**
     * How long a call may take, all attempts together: a number with a unit such as {@code 500ms} or {@code 2s}. Empty
     * means the client's default; for a method with a stream of requests or answers it means no limit but that of the
     * call being served, since nobody can say how long a stream lasts. Defaults of a client or a service do not apply to
     * those: only this, a setting for the method, or {@link CallOptions#timeout(java.time.Duration)}.
     */
    String timeout() default "";
}
