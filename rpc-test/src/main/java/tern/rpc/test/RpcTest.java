package tern.rpc.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.core.annotation.AliasFor;

/**
 * Configures a test of a few services and components. Spring Boot's auto-configuration is limited to Tern. All
 * references call the test's server in memory ({@code rpc.client.url=local}). Addresses that the application sets for
 * its services are ignored. The server also listens on a free port, and does not register with any registry. Missing
 * beans can be replaced, for example with {@code @MockitoBean}.
 *
 * <pre>{@code
 * @RpcTest({PoliteGreetings.class, Visitor.class})
 * class VisitorTest {
 *
 *     @Test
 *     void isGreeted(@Autowired Visitor visitor) { … }
 * }
 * }</pre>
 */
@Documented
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
@SpringBootTest(
        webEnvironment = WebEnvironment.NONE,
        properties = {
            "rpc.client.url=local",
            "rpc.client.registry=",
            "rpc.server.port=0",
            "rpc.server.registry=",
            "rpc.server.shutdown-timeout=1s"
        })
@ImportAutoConfiguration
public @interface RpcTest {

    /** The classes of the services and components to test. There is no component scan. */
    @AliasFor(annotation = SpringBootTest.class, attribute = "classes")
    Class<?>[] value();
}
