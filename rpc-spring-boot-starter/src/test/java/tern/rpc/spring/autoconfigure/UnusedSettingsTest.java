package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.spring.autoconfigure.Applications.provider;

import java.nio.file.Path;
import java.util.concurrent.Flow;
import net.bytebuddy.ByteBuddy;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import tern.rpc.RpcMethod;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;

/** Tests that startup logs each property that has no effect because of other properties. */
@ExtendWith(OutputCaptureExtension.class)
class UnusedSettingsTest {

    private static final String WARNING = "Settings without effect: ";
    private static final FilteredClassLoader WITHOUT_WEB =
            new FilteredClassLoader("org.springframework.web.servlet", "org.springframework.web.reactive");

    /** A class loader that finds a generated class with the name of Spring MVC's DispatcherServlet. */
    private static final ClassLoader WITH_WEB = new ByteBuddy()
            .subclass(Object.class)
            .name("org.springframework.web.servlet.DispatcherServlet")
            .make()
            .load(UnusedSettingsTest.class.getClassLoader())
            .getLoaded()
            .getClassLoader();

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            rpc.server.advertise.host=10.0.0.1    |                                     | needs rpc.server.registry
            rpc.server.advertise.warmup=1m        |                                     | needs rpc.server.registry
            rpc.server.registry.required=true     |                                     | needs rpc.server.registry
            rpc.server.registry.level=interface   |                                     | needs rpc.server.registry
            rpc.server.cors.max-age=1m            |                                     | needs rpc.server.cors.allowed-origins
            rpc.server.cors.allow-credentials=true|                                     | needs rpc.server.cors.allowed-origins
            rpc.limits.max-message=1MB            | rpc.limits.max-request=1MB,rpc.limits.max-response=1MB | max-request and max-response replace it
            rpc.client.registry=file:///a.json    | rpc.client.url=127.0.0.1:20880      | rpc.client.url takes precedence
            rpc.client.registries.east=file:///a.json |                                 | no rpc.client.services.<name>.registry names it
            rpc.client.services.orders.hash-key=id    |                                 | load balancing is p2c, and only consistent-hash or a bean uses a key
            rpc.client.services.orders.methods.find.hash-key=id | rpc.client.load-balancing=round-robin | load balancing is round-robin, and only consistent-hash or a bean uses a key
            rpc.client.services.orders.level=application  | rpc.client.services.orders.url=127.0.0.1:20880 | rpc.client.services.orders.url names providers, not a registry
            rpc.server.registry.metadata-type=local   |                                 | needs rpc.server.registry
            rpc.server.advertise.warmup=2m | spring.application.name=a,rpc.server.registry=file:///none.json | only a registry in ZooKeeper uses it
            rpc.server.registry.level=interface | spring.application.name=a,rpc.server.registry=file:///none.json | only a registry in ZooKeeper uses it
            rpc.server.registry.metadata-type=local | spring.application.name=a,rpc.server.registry=file:///none.json | only a registry in ZooKeeper uses it
            rpc.console.call-in-production=true       |                                 | needs tern-rpc-console
            rpc.pools.jedis.max-total=3               |                                 | needs rpc.pools.jedis.url
            rpc.pools.jedis.url=redis://localhost:1   |                                 | a bean of type UnifiedJedis exists already
            rpc.pools.http.max-per-host=3             |                                 | needs Apache HttpClient 5 and spring-boot-http-client on the class path
            rpc.logging.async=true                    |                                 | needs spring-boot-starter-log4j2
            rpc.pools.executors.rpcServer.threads=2   |                                 | a bean of this name exists already
            rpc.pools.executors.greeter.threads=2     |                                 | a bean of this name exists already
            """)
    void aPropertyWithoutEffectIsNamedWithTheReason(
            String property, String others, String reason, CapturedOutput output) {
        provider(Greeter.class)
                .withPropertyValues(property)
                .withPropertyValues(others == null ? new String[0] : others.split(","))
                .run(there -> assertThat(there).hasNotFailed());

        String name = property.substring(0, property.indexOf('='));
        assertThat(output).contains(WARNING).contains(name + " (" + reason + ")");
    }

    @Test
    void emptyRegistryNextToAnAddressIsNotNamed(CapturedOutput output) {
        provider(Greeter.class)
                .withPropertyValues("rpc.client.url=127.0.0.1:20880", "rpc.client.registry=")
                .run(there -> assertThat(there).hasNotFailed());

        assertThat(output).doesNotContain("rpc.client.registry");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            server.port=8081                      | server.port (the application has no web server; the port of the RPC server is rpc.server.port)
            server.address=localhost              | server.address (the application has no web server; the address of the RPC server is rpc.server.address)
            server.servlet.context-path=/api      | server.servlet.context-path (the application has no web server; paths of RPC calls have no prefix)
            server.shutdown=immediate             | server.shutdown (the application has no web server; the RPC server always drains, for at most rpc.server.shutdown-timeout)
            server.tomcat.threads.max=400         | server.tomcat.threads.max (the application has no web server; the number of threads for RPC calls is rpc.server.threads)
            """)
    void settingOfAWebServerIsNamedIfThereIsNone(String property, String message, CapturedOutput output) {
        provider(Greeter.class)
                .withClassLoader(WITHOUT_WEB)
                .withPropertyValues(property)
                .run(there -> assertThat(there).hasNotFailed());

        assertThat(output).contains(WARNING + message);
    }

    @Test
    void settingsOfAWebServerAreNotNamedIfThereMayBeOneOrATestSetsThem(CapturedOutput output) {
        provider(Greeter.class)
                .withClassLoader(WITH_WEB)
                .withPropertyValues("server.port=8081")
                .run(there -> assertThat(there).hasNotFailed());
        provider(Greeter.class)
                .withClassLoader(WITHOUT_WEB)
                .withPropertyValues("server.port=0")
                .run(there -> assertThat(there).hasNotFailed());

        assertThat(output).doesNotContain("no web server");
    }

    @ParameterizedTest
    @CsvSource({
        "server.port=${port.that.nobody.sets},",
        "server.servlet.context-path=/${path.that.nobody.sets},",
        "server.ssl.enabled=${tls.that.nobody.sets},server.ssl.bundle=web",
        "server.ssl.enabled=perhaps,server.ssl.bundle=web",
    })
    void settingOfAWebServerThatCannotBeReadDoesNotStopTheStart(String property, String other) {
        provider(Greeter.class)
                .withClassLoader(WITHOUT_WEB)
                .withPropertyValues(property)
                .withPropertyValues(other == null ? new String[0] : new String[] {other})
                .run(there -> assertThat(there).hasNotFailed());
    }

    @Test
    void aServiceThatIsNamedTwiceIsReported(CapturedOutput output) {
        provider(Greeter.class)
                .withPropertyValues(
                        "rpc.client.services.[OrderService].timeout=2s", "rpc.client.services.order-service.timeout=3s")
                .run(there -> assertThat(there).hasNotFailed());

        assertThat(output)
                .contains("Settings without effect: rpc.client.services.")
                .contains("is the same service, and only one of the two is used)");
    }

    @Test
    void aCacheOfRegistriesWithoutARegistryIsNamed(@TempDir Path folder, CapturedOutput output) {
        provider(Greeter.class)
                .withPropertyValues("rpc.client.registry-cache=" + folder)
                .run(there -> assertThat(there).hasNotFailed());

        assertThat(output).contains(WARNING + "rpc.client.registry-cache (no reference uses a registry)");
    }

    static class User {
        @RpcReference(name = "orders")
        GreetingService greetings;
    }

    interface Ticker {
        Flow.Publisher<String> watch();
    }

    interface Marked {
        @RpcMethod(idempotent = true)
        String get();
    }

    static class Twin {
        interface Marked {
            String get();
        }
    }

    static class Streamer {
        @RpcReference(protocol = "tri")
        Ticker ticker;

        @RpcReference(protocol = "tri")
        Marked marked;

        @RpcReference(protocol = "tri")
        Twin.Marked twin;

        @RpcReference(protocol = "tri")
        GreetingService greetings;
    }

    @Test
    void settingsOfAServiceThatReachNoMethodAreNamed(CapturedOutput output) {
        provider(Greeter.class, Streamer.class)
                .withPropertyValues(
                        "rpc.client.url=127.0.0.1:1",
                        "rpc.client.services.ticker.timeout=2s",
                        "rpc.client.services.greeting-service.timeout=2s",
                        "rpc.client.services.greeting-service.hedging=true",
                        "rpc.client.services.marked.hedging=true")
                .run(there -> assertThat(there).hasNotFailed());

        assertThat(output)
                .contains("rpc.client.services.ticker.timeout (all methods of Ticker are streams; set ")
                .contains("greeting-service.hedging (no method of GreetingService is marked as idempotent; ")
                .doesNotContain("greeting-service.timeout (", "marked.hedging (");
    }

    static class Annotated {
        @RpcReference(protocol = "tri", timeout = "2s")
        Ticker ticker;

        @RpcReference(protocol = "http", url = "127.0.0.1:1", connections = 3)
        Marked marked;

        @RpcReference(protocol = "tri", timeout = "2s", connections = 3)
        GreetingService greetings;
    }

    @RpcService(weight = 50)
    static class Heavy implements GreetingService {
        @Override
        public String greet(String name) {
            return name;
        }
    }

    @Test
    void attributesOfAnnotationsWithoutEffectAreNamed(CapturedOutput output) {
        provider(Heavy.class, Annotated.class)
                .withPropertyValues("rpc.client.url=127.0.0.1:1")
                .run(there -> assertThat(there).hasNotFailed());

        assertThat(output)
                .contains(WARNING + "@RpcService(weight) of bean '")
                .contains("Heavy' (needs rpc.server.registry; without a registry, callers write the weight")
                .contains("@RpcReference(timeout) at " + Annotated.class.getName()
                        + ".ticker (all methods of Ticker are streams; set @RpcMethod(timeout) on a method of the"
                        + " interface)")
                .contains("@RpcReference(connections) at " + Annotated.class.getName()
                        + ".marked (with http, each call that runs has a connection)")
                .doesNotContain("Annotated.greetings (");
    }

    @Test
    void settingsThatTwoInterfacesShareByTheirSimpleNameAreNamed(CapturedOutput output) {
        provider(Greeter.class, Streamer.class)
                .withPropertyValues("rpc.client.url=127.0.0.1:1", "rpc.client.services.marked.timeout=2s")
                .run(there -> assertThat(there).hasNotFailed());

        assertThat(output)
                .contains("rpc.client.services.marked applies to " + Marked.class.getName() + " and "
                        + Twin.Marked.class.getName() + ". To tell them apart, set name in @RpcReference");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            rpc.client.services.orders.level=interface     | 127.0.0.1:1       | no registry is used
            rpc.client.services.orders.provided-by=shop    | 127.0.0.1:1       | no registry is used
            rpc.client.services.orders.level=interface     | file:///none.json | only a registry in ZooKeeper uses it
            rpc.client.services.orders.provided-by=shop    | file:///none.json | only a registry in ZooKeeper uses it
            rpc.client.services.orders.connections=3       | local             | calls to local use no connection
            rpc.client.services.orders.connections=3       | http://127.0.0.1:1 | with http, each call that runs has a connection
            rpc.client.services.orders.check=true          | local             | calls to local use no connection
            rpc.client.services.orders.load-balancing=p2c  | local             | calls to local use no connection
            rpc.client.check-timeout=1s                    | 127.0.0.1:1       | no reference has check
            rpc.client.resolve-interval=1s                 | 127.0.0.1:1       | no reference uses a host name
            """)
    void aPropertyWithoutEffectOnTheReferencesIsNamedWithTheReason(
            String property, String address, String reason, CapturedOutput output) {
        provider(Greeter.class, User.class)
                .withPropertyValues(property, "rpc.client.url=" + address)
                .run(there -> assertThat(there).hasNotFailed());

        String name = property.substring(0, property.indexOf('='));
        assertThat(output).contains(WARNING).contains(name + " (" + reason + ")");
    }

    @ParameterizedTest
    @CsvSource({
        "rpc.client.services.orders.connections=3,127.0.0.1:1",
        "rpc.client.services.orders.load-balancing=p2c,127.0.0.1:1",
        "rpc.client.resolve-interval=1s,localhost:1",
    })
    void settingsWithAnEffectOnTheReferencesCauseNoWarning(String property, String address, CapturedOutput output) {
        provider(Greeter.class, User.class)
                .withPropertyValues(property, "rpc.client.url=" + address)
                .run(there -> assertThat(there).hasNotFailed());

        assertThat(output).doesNotContain(WARNING);
    }

    @ParameterizedTest
    @CsvSource({
        "rpc.server.threads=20,rpc.limits.max-message=1MB",
        "rpc.client.services.orders.hash-key=id,rpc.client.services.orders.load-balancing=consistent-hash",
        "rpc.server.cors.max-age=1m,rpc.server.cors.allowed-origins=https://shop.example",
    })
    void settingsWithAnEffectCauseNoWarning(String one, String other, CapturedOutput output) {
        provider(Greeter.class)
                .withPropertyValues(one, other)
                .run(there -> assertThat(there).hasNotFailed());

        assertThat(output).doesNotContain(WARNING);
    }
}
