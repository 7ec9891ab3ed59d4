package tern.rpc.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.beans.factory.annotation.Autowired;

/**
 * Injects a proxy of a remote service into a field, a setter, or a parameter of a constructor or a {@code @Bean}
 * method. References with the same settings share a proxy. The injection point can also be an {@code Optional}, {@code
 * ObjectProvider} or {@code Provider} of the service interface. A record component is injected as a parameter of the
 * record's constructor. On a method, this annotation applies to all parameters of the method.
 *
 * <p>A local bean of the interface does not replace the proxy; {@code @Autowired} still injects that bean. There are
 * two exceptions: beans that a test overrides ({@code @MockitoBean}, {@code @TestBean}), and {@code @Primary} beans
 * that are not an {@link RpcService} and do not contain the reference themselves. A named override in a test replaces
 * only references with that name. The name of a reference is {@link #name()}, or the name of its field or parameter.
 *
 * <p>All string attributes can contain placeholders. The {@code rpc.client.services.<name>.*} properties take
 * precedence over the annotation.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.FIELD, ElementType.METHOD, ElementType.PARAMETER, ElementType.ANNOTATION_TYPE})
@Autowired
public @interface RpcReference {

    /**
     * The {@code <name>} in the {@code rpc.client.services.<name>.*} properties. If empty, the interface's simple name
     * is used. Case and dashes are ignored: {@code user-service}, {@code userService} and {@code UserService} are the
     * same name.
     */
    String name() default "";

    /** The group of the export to call. Empty for an export without a group. */
    String group() default "";

    /** The version of the export to call. Empty for an export without a version. */
    String version() default "";

    /**
     * The timeout of a call, including all attempts, as a number with a unit, such as {@code 500ms}. If empty, the
     * timeout in {@code @RpcMethod} applies. If that is not set either, {@code rpc.client.timeout} applies.
     */
    String timeout() default "";

    /**
     * The addresses of providers, separated by commas: {@code host:port}, {@code dubbo://host:port}, {@code
     * tri://host:port} or {@code http://host:port}, each optionally with {@code ?weight=50}. The default port is 20880.
     * {@code local} means the server in the same application. Such calls stay in the process and use no network. If
     * empty, {@code rpc.client.url} applies.
     */
    String url() default "";

    /**
     * The protocol for addresses that do not contain a protocol: {@code dubbo}, {@code tri} for Triple and gRPC, or
     * {@code http} for JSON over HTTP/1.1. If empty, {@code dubbo} is used.
     */
    String protocol() default "";

    /** Whether the application fails to start if no provider can be reached. */
    boolean check() default false;

    /**
     * The number of dedicated connections from this reference to each provider; 0 to share one connection with other
     * references.
     */
    int connections() default 0;
}
