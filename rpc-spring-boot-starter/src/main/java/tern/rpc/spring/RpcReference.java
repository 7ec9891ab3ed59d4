package tern.rpc.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.beans.factory.annotation.Autowired;

/**
 * Injects a proxy of a remote service into a field, a setter, or a parameter of a constructor or a {@code @Bean}
 * method. References with the same settings share a proxy. {@code Optional}, {@code ObjectProvider} and {@code
 * Provider} of the interface also contain it.
 *
 * <p>A local bean of the interface does not replace the proxy and is still injected by {@code @Autowired}. There are
 * two exceptions: beans that a test overrides ({@code @MockitoBean}, {@code @TestBean}), and {@code @Primary} beans
 * that are not an {@link RpcService} and do not contain the reference themselves. An override with a name replaces only
 * references of this name: the name of the field or parameter, or {@link #name()}.
 *
 * <p>Every text may contain placeholders. Settings of {@code rpc.client.services.<name>.*} take precedence over the
 * annotation.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.FIELD, ElementType.METHOD, ElementType.PARAMETER, ElementType.ANNOTATION_TYPE})
@Autowired
public @interface RpcReference {

    /**
     * The {@code <name>} of {@code rpc.client.services.<name>.*}. If empty, it is the simple name of the interface. For
     * example, {@code user-service}, {@code userService} and {@code UserService} all stand for {@code UserService}.
     */
    String name() default "";

    /** Selects the export to call. Empty for none. */
    String group() default "";

    /** Selects the export to call. Empty for none. */
    String version() default "";

    /**
     * The timeout of a call, including all attempts, as a number with a unit such as {@code 500ms}. If empty, the
     * timeout of {@code @RpcMethod} applies, otherwise {@code rpc.client.timeout}.
     */
    String timeout() default "";

    /**
     * The addresses of providers, separated by commas: {@code host:port}, {@code dubbo://host:port}, {@code
     * tri://host:port} or {@code http://host:port}, each optionally with {@code ?weight=50}. The default port is 20880.
     * {@code local} is the server of the same application, called in memory. If empty, {@code rpc.client.url} applies.
     */
    String url() default "";

    /**
     * The protocol of addresses that name none: {@code dubbo}, {@code tri} for Triple and gRPC, or {@code http} for
     * JSON over HTTP/1.1. If empty, {@code dubbo}.
     */
    String protocol() default "";

    /** Whether the start fails if no provider can be reached. */
    boolean check() default false;

    /** The number of dedicated sockets to each provider; 0 to share one socket with other references. */
    int connections() default 0;
}
