package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.spring.autoconfigure.Applications.provider;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.boot.http.client.autoconfigure.HttpClientAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.core.env.Environment;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.core.io.support.SpringFactoriesLoader.ArgumentResolver;
import tern.rpc.spring.autoconfigure.pool.HttpPoolAutoConfiguration;
import tern.rpc.spring.autoconfigure.pool.JedisAutoConfiguration;

/**
 * Tests that every invalid property value prevents startup, and that the message contains the property, the value and
 * the valid values (promise R24 in docs/figures/promises.md).
 */
class WrongConfigurationTest {

    /** Properties that accept every string, or whose values only the peer can check. */
    private static final Set<String> ANYTHING_GOES = Set.of(
            "rpc.client.services.*.group",
            "rpc.client.services.*.version",
            "rpc.client.services.*.provided-by",
            // Only references read this property, and this test creates no references. RegistryTest tests this
            // property.
            "rpc.client.services.*.registry",
            "rpc.server.cors.allowed-headers",
            "rpc.client.zone",
            "rpc.client.services.*.tag",
            // Only references can check whether a method has a parameter with this name.
            "rpc.client.services.*.hash-key",
            "rpc.client.services.*.methods.*.hash-key");

    /** An invalid value for each type, with a substring of the expected message. */
    private static final Map<String, List<String>> WRONG = Map.of(
            "java.lang.Integer", List.of("many", "a whole number"),
            "java.lang.Boolean", List.of("maybe", "true or false"),
            "java.time.Duration", List.of("soon", "duration"),
            "org.springframework.util.unit.DataSize", List.of("huge", "data size"),
            "tern.rpc.transport.Tls$ClientAuth", List.of("sometimes", "none, want or need"),
            "tern.rpc.spring.autoconfigure.RpcPoolsProperties$Rejection", List.of("sometimes", "abort or caller-runs"));

    /**
     * The parts of each line are separated by {@code |}. The first part contains the properties, and the other parts
     * are substrings of the expected message.
     */
    private static final List<String> OUT_OF_RANGE = List.of(
            "rpc.server.port=-1 | rpc.server.port is -1; expected 0 to 65535",
            "rpc.client.registry=10.0.0.9:2181 | rpc.client.registry is 10.0.0.9:2181, which has no scheme |"
                    + " zookeeper://10.0.0.9:2181",
            "rpc.server.registry=a:1,b:2 | rpc.server.registry is a:1,b:2, which has no scheme | zookeeper://a:1,b:2",
            "rpc.client.url=20880 | rpc.client.url is '20880'; expected host:port",
            "rpc.client.url=1.2.3:20880 | rpc.client.url is '1.2.3:20880'; expected host:port",
            "rpc.client.url=1.2.3.256 | rpc.client.url is '1.2.3.256'; expected host:port",
            "rpc.client.registries.x=zookeper://a | rpc.client.registries.x has the scheme zookeper | zookeeper://host:2181",
            "rpc.client.registry=file:///none.json,rpc.client.registry-cache=pom.xml/lists |"
                    + " rpc.client.registry-cache is | a directory",
            "rpc.client.services.x.level=sometimes | rpc.client.services.x.level | sometimes | application",
            "rpc.client.registry=zookeeper://a:1,zookeeper://b:1 | rpc.client.registry names several registries |"
                    + " rpc.client.registries.<name>",
            "rpc.client.services.a.url=zookeeper://a:1,zookeeper://b:1 | rpc.client.services.a.url names several registries |"
                    + " rpc.client.registries.<name>",
            "rpc.client.registry=nacos://h:1 | rpc.client.registry has the scheme nacos | zookeeper and file",
            "rpc.server.registry=nacos | rpc.server.registry is of another form | file:///path.json",
            "rpc.server.registry=file:///none.json,rpc.server.registry.level=sometimes | rpc.server.registry.level |"
                    + " sometimes | application",
            "rpc.server.registry=file:///none.json,rpc.server.registry.metadata-type=sometimes |"
                    + " rpc.server.registry.metadata-type | sometimes | remote",
            "rpc.server.registry=file:///none.json | rpc.server.registry is set | Set spring.application.name",
            "spring.application.name=a,rpc.server.registry=file:///none.json,rpc.server.advertise.host=a b |"
                    + " rpc.server.advertise.host",
            "spring.application.name=a,rpc.server.registry=file:///none.json,rpc.server.advertise.network=10.1.0.0/99 |"
                    + " rpc.server.advertise.network",
            "spring.application.name=a,rpc.server.registry=file:///none.json,rpc.server.advertise.zone=a&b |"
                    + " rpc.server.advertise.zone is 'a&b'; expected up to 64 letters",
            "spring.application.name=a,rpc.server.registry=file:///none.json,rpc.server.advertise.tag=a=b |"
                    + " rpc.server.advertise.tag is 'a=b'; expected up to 64 letters",
            "rpc.server.port=65536 | rpc.server.port is 65536; expected 0 to 65535",
            "rpc.server.threads=0 | rpc.server.threads is 0; expected 1 to 10000",
            "rpc.server.threads=10001 | rpc.server.threads is 10001; expected 1 to 10000",
            "rpc.server.queue-capacity=-1 | rpc.server.queue-capacity is -1; expected 0 to 1000000",
            "rpc.server.max-queue-wait=0ms | rpc.server.max-queue-wait is 0s; expected more than 0",
            "rpc.server.max-concurrency=0 | rpc.server.max-concurrency is '0'; expected adaptive or a number from 1 to",
            "rpc.server.max-concurrency=much | rpc.server.max-concurrency is 'much'; expected adaptive or a number",
            "rpc.server.services.x.methods.y.max-concurrency=-1 |"
                    + " rpc.server.services.x.methods.y.max-concurrency is '-1'; expected adaptive or a number from 1 to",
            "rpc.server.services.x.methods.y.max-concurrency=5 |"
                    + " rpc.server.services.x.methods.y.max-concurrency is set | no exported service x",
            "rpc.limits.max-inbound-bytes=1MB | rpc.limits.max-inbound-bytes is 1MB; expected 8MB or more |"
                    + " because rpc.limits.max-message is 8MB",
            "rpc.limits.max-unsent-per-stream=1KB | rpc.limits.max-unsent-per-stream is 1KB; expected 64KB to",
            "rpc.limits.max-unsent-answers=512KB | rpc.limits.max-unsent-answers is 512KB; expected 1MB or"
                    + " more, because rpc.limits.max-unsent-per-stream is 1MB",
            "rpc.limits.max-stream-wait=-1s | rpc.limits.max-stream-wait is -1s; expected 0 or more",
            "rpc.server.io-threads=257 | rpc.server.io-threads is 257; expected 0 to 256",
            "rpc.server.exception-frames=65 | rpc.server.exception-frames is 65; expected 0 to 64",
            "rpc.server.idle-timeout=0s | rpc.server.idle-timeout is 0s; expected more than 0",
            "rpc.server.shutdown-timeout=-1s | rpc.server.shutdown-timeout is -1s; expected 0 or more",
            "rpc.client.timeout=9999999d | rpc.client.timeout is 863999913600s; expected at most 36500d (100 years)",
            "rpc.client.services.x.timeout=106752d | rpc.client.services.x.timeout is | at most 36500d",
            "rpc.client.services.x.methods.y.timeout=36501d | rpc.client.services.x.methods.y.timeout is | at most 36500d",
            "rpc.client.check-timeout=9999999d | rpc.client.check-timeout is | at most 36500d",
            "rpc.client.heartbeat=9999999d | rpc.client.heartbeat is | at most 36500d",
            "rpc.server.shutdown-timeout=106751991167300d | rpc.server.shutdown-timeout is | at most 36500d",
            "rpc.server.idle-timeout=9999999d | rpc.server.idle-timeout is | at most 36500d",
            "rpc.server.cors.max-age=9999999d | rpc.server.cors.max-age is | at most 36500d",
            "rpc.server.advertise.warmup=9999999d | rpc.server.advertise.warmup is | at most 36500d",
            "rpc.limits.first-bytes-timeout=9999999d | rpc.limits.first-bytes-timeout is | at most 36500d",
            "rpc.slo.latency=9999999d | rpc.slo.latency is | at most 36500d",
            "rpc.pools.http.max-wait=9999999d | rpc.pools.http.max-wait is | at most 36500d",
            "rpc.server.address=no.such.host.invalid | rpc.server.address | no.such.host.invalid",
            "rpc.server.address=0.0.0.0:20880 | rpc.server.address is '0.0.0.0:20880'; expected a host name or IP address"
                    + " of this machine without scheme and port; rpc.server.port is the port",
            "rpc.server.address=[::1]:20880 | rpc.server.address is '[::1]:20880'; expected | without scheme and port",
            "rpc.server.address=http://localhost | rpc.server.address is 'http://localhost'; expected | without scheme",
            "rpc.server.address= | rpc.server.address is empty; expected a host name or IP address of this machine",
            "rpc.server.port= | rpc.server.port is empty; expected a number",
            "rpc.server.threads=${MISSING:} | rpc.server.threads is empty; expected a number",
            "rpc.server.generic-calls= | rpc.server.generic-calls is empty; expected true or false",
            "rpc.server.allowed-hosts= | rpc.server.allowed-hosts is empty; expected one host name or more",
            "rpc.server.allowed-hosts=a, ,b | rpc.server.allowed-hosts is [a, , b]; expected names or addresses",
            "rpc.server.cors.allowed-headers= | rpc.server.cors.allowed-headers is empty; expected one header or more",
            "rpc.server.ssl.client-auth=${MISSING:} | rpc.server.ssl.client-auth is empty; expected none, want or need",
            "rpc.server.ssl.bundle= | rpc.server.ssl.bundle is ''; expected the name of a bundle",
            "rpc.client.ssl.bundle= | rpc.client.ssl.bundle is ''; expected the name of a bundle",
            "rpc.client.services.x.ssl.bundle= | rpc.client.services.x.ssl.bundle is ''; expected the name of a bundle",
            "rpc.server.token= | rpc.server.token is empty; expected one token or more",
            "rpc.server.token=ok,with space | rpc.server.token is a text with spaces | at entry 2 of 2",
            "rpc.server.token=a,,b | rpc.server.token is empty at entry 2 of 3; expected visible",
            "rpc.server.accepted-weaknesses=rpc.server.port | rpc.server.accepted-weaknesses is rpc.server.port |"
                    + " one or more of rpc.limits.audit-classes",
            "rpc.server.cors.max-age=-1s | rpc.server.cors.max-age is -1s; expected 0 or more",
            "rpc.server.cors.allowed-origins=shop | rpc.server.cors.allowed-origins is [shop]; expected sites",
            "rpc.server.cors.allowed-origins=https://a.example/path | rpc.server.cors.allowed-origins is | sites",
            "rpc.client.timeout=0s | rpc.client.timeout is 0s; expected more than 0 | 10m while you use a debugger",
            "rpc.client.connect-timeout=0s | rpc.client.connect-timeout is 0s; expected more than 0",
            "rpc.client.heartbeat=-1s | rpc.client.heartbeat is -1s; expected more than 0",
            "rpc.client.check-timeout=-1s | rpc.client.check-timeout is -1s; expected 0 or more",
            "rpc.client.reconnect-max=0s | rpc.client.reconnect-max is 0s; expected more than 0",
            "rpc.client.resolve-interval=0s | rpc.client.resolve-interval is 0s; expected more than 0",
            "rpc.client.url=host:99999 | rpc.client.url is 'host:99999'; expected host:port",
            "rpc.client.url=a b | rpc.client.url is 'a b'; expected host:port",
            "rpc.client.url=host:1?weight=heavy | rpc.client.url is 'host:1?weight=heavy'; expected host:port",
            "rpc.client.url=host:1?weight=-1 | rpc.client.url is 'host:1?weight=-1'; expected host:port | weight=50, zone",
            "rpc.client.url=host:1?zone= | rpc.client.url is 'host:1?zone='; expected host:port | weight=50, zone=<name>",
            "rpc.client.load-balancing=random | rpc.client.load-balancing is 'random'; expected consistent-hash, p2c,",
            "rpc.client.subset=-1 | rpc.client.subset is -1; expected 0 to 1000000",
            "rpc.client.services.x.load-balancing=leastactive |"
                    + " rpc.client.services.x.load-balancing is 'leastactive'; expected consistent-hash, p2c,",
            "rpc.client.token= | rpc.client.token is empty; expected visible characters",
            "rpc.client.token=grüße | rpc.client.token is a text with | visible characters of ASCII",
            "rpc.client.url=a:1, | rpc.client.url is 'a:1,'; expected an address before and after each comma",
            "rpc.client.url=a:0 | rpc.client.url is 'a:0'; expected host:port | a port from 1 to 65535",
            "rpc.client.services.x.url=:80 | rpc.client.services.x.url is ':80'; expected host:port",
            "rpc.client.services.x.timeout=-5ms | rpc.client.services.x.timeout is -5ms; expected more than 0",
            "rpc.client.services.x.connections=1025 | rpc.client.services.x.connections is 1025; expected 0 to 1024",
            "rpc.client.services.x.token=a b | rpc.client.services.x.token is a text with | visible characters of ASCII",
            "rpc.client.services.x.methods.y.timeout=0s | rpc.client.services.x.methods.y.timeout is 0s; expected more",
            "rpc.limits.max-message=1B | rpc.limits.max-message is 1B; expected 1KB to 1GB",
            "rpc.limits.max-message=2GB | rpc.limits.max-message is 2GB; expected 1KB to 1GB",
            "rpc.limits.max-connections=0 | rpc.limits.max-connections is 0; expected 1 or more",
            "rpc.limits.max-connections-per-host=0 | rpc.limits.max-connections-per-host is 0; expected 1 or more",
            "rpc.limits.max-calls-per-connection=65537 | rpc.limits.max-calls-per-connection is 65537; expected 1 to",
            "rpc.limits.first-bytes-timeout=0s | rpc.limits.first-bytes-timeout is 0s; expected more than 0",
            "rpc.limits.max-key-steps=0 | rpc.limits.max-key-steps is 0; expected 1 or more",
            "rpc.server.allowed-hosts=http://a.b/ | rpc.server.allowed-hosts is [http://a.b/]; expected names or addresses",
            "rpc.limits.max-depth=513 | rpc.limits.max-depth is 513; expected 1 to 512",
            "rpc.limits.max-values=0 | rpc.limits.max-values is 0; expected 1 or more",
            "rpc.limits.allowed-classes=a..b | rpc.limits.allowed-classes is [a..b]; expected class names",
            "rpc.slo.qps=0 | rpc.slo.qps is 0; expected 1 or more",
            "rpc.slo.latency=0ms | rpc.slo.latency is 0s; expected more than 0",
            "rpc.pools.executors.x.threads=0 | rpc.pools.executors.x.threads is 0; expected 1 to",
            "rpc.pools.executors.x.queue-capacity=-1 | rpc.pools.executors.x.queue-capacity is -1; expected 0 to",
            "rpc.pools.http.max-total=0 | rpc.pools.http.max-total is 0; expected 1 to",
            "rpc.pools.http.max-per-host=0 | rpc.pools.http.max-per-host is 0; expected 1 to",
            "rpc.pools.http.max-wait=0s | rpc.pools.http.max-wait is 0s; expected more than 0",
            "rpc.pools.jedis.url=nonsense | rpc.pools.jedis.url is no address | redis://user:password@host:6379/0",
            "rpc.pools.jedis.url=redis://h:1,rpc.pools.jedis.max-total=0 | rpc.pools.jedis.max-total is 0; expected 1 to",
            "rpc.pools.jedis.url=redis://h:1,rpc.pools.jedis.read-timeout=0s | rpc.pools.jedis.read-timeout is 0s; expected");

    private static final List<String> CONTRADICTORY = List.of(
            "rpc.client.url=dubbo://a,tri://b | rpc.client.url is dubbo://a,tri://b; expected one protocol for all",
            "rpc.client.url=a:1,tri://b:2 | rpc.client.url is a:1,tri://b:2; expected the same protocol | write tri://",
            "rpc.client.url=tri://a:1,b:2 | rpc.client.url is tri://a:1,b:2; expected the same protocol | write tri://",
            "rpc.limits.max-message=8MB,rpc.limits.max-unsent=1MB | rpc.limits.max-unsent is 1MB; expected 8MB or more",
            "rpc.server.cors.allowed-origins=*,rpc.server.cors.allow-credentials=true |"
                    + " rpc.server.cors.allow-credentials is true; expected false where",
            "rpc.pools.http.max-total=2,rpc.pools.http.max-per-host=3 | rpc.pools.http.max-per-host is 3; expected 1 to 2",
            "rpc.server.registry=file:///x.properties,spring.application.name=shop | rpc.server.registry is"
                    + " file:///x.properties; expected a file of JSON, such as file:///path.json",
            "rpc.server.ssl.optional=true | rpc.server.ssl.optional is true, but rpc.server.ssl.bundle is not set",
            "rpc.server.ssl.client-auth=need | rpc.server.ssl.client-auth is need, but rpc.server.ssl.bundle is not set",
            "rpc.server.ssl.bundle=missing | rpc.server.ssl.bundle is 'missing'; expected the name of a bundle | there is none",
            "rpc.client.ssl.bundle=missing | rpc.client.ssl.bundle is 'missing'; expected the name of a bundle",
            "rpc.client.services.x.ssl.bundle=missing | rpc.client.services.x.ssl.bundle is 'missing'; expected",
            "spring.profiles.active=prod,rpc.server.reflection=true | rpc.server.accepted-weaknesses |"
                    + " rpc.server.reflection=true",
            "rpc.client.retries=2 | property rpc.client.retries | does not exist; a call is repeated only if",
            "rpc.client.check=true | does not exist; rpc.client.services.<name>.check and @RpcReference(check = …)",
            "rpc.client.connections=4 | does not exist; rpc.client.services.<name>.connections",
            "rpc.client.loadbalance=random | does not exist; rpc.client.load-balancing",
            "rpc.client.services.x.retries=2 | property rpc.client.services.x.retries | a call is repeated only if",
            "rpc.server.executes=5 | does not exist; rpc.server.max-concurrency",
            "rpc.client.services.shop.methods.*.timeout=1s | did you mean rpc.client.services.shop.timeout?",
            "rpc.server.services.shop.timeout=1s | did you mean rpc.client.services.shop.timeout?",
            "rpc.client.port=1 | rpc.client.url=localhost:20880",
            "rpc.server.ssl.enabled=true | rpc.server.ssl.bundle names a bundle under spring.ssl.bundle",
            "rpc.server.ssl.key-store=a.p12 | rpc.server.ssl.bundle names a bundle under spring.ssl.bundle",
            "rpc.client.services.x.ssl.trust-store=a | rpc.client.services.x.ssl.bundle names a bundle",
            "rpc.server.ssl.bundel=web | did you mean rpc.server.ssl.bundle?",
            "rpc.server.prot=1 | property rpc.server.prot | did you mean rpc.server.port?",
            "rpc.client.services.x.tokn=1 | property rpc.client.services.x.tokn | did you mean rpc.client.services.x.token?",
            "rpc.server.token.secret=1 | property rpc.server.token.secret | does not exist",
            "rpc.server=20880 | property rpc.server | is a group of properties and has no value itself; did you mean"
                    + " rpc.server.port?",
            "rpc.client=localhost:20880 | property rpc.client | did you mean rpc.client.url?",
            "rpc.limits=8MB | property rpc.limits | did you mean rpc.limits.max-message?",
            "rpc.slo=100ms | property rpc.slo | did you mean rpc.slo.latency?",
            "rpc.client.services=orders | property rpc.client.services | the level below it is a name, as in"
                    + " rpc.client.services.<name>.url",
            "rpc.client.services[0].url=orders:20880 | property rpc.client.services[0].url | is not a list; write a name"
                    + " instead of the number, as in rpc.client.services.<name>.url");

    static Stream<Arguments> wrong() throws Exception {
        List<Arguments> rows = new ArrayList<>();
        for (PropertyTableTest.Property property :
                PropertyTableTest.properties().values()) {
            List<String> wrong = WRONG.get(property.type());
            // The properties under rpc.diagnosis are excluded, because the insight starter binds them.
            if (wrong != null && !property.name().startsWith("rpc.diagnosis.")) {
                String name = property.name().replace("*", "x");
                rows.add(Arguments.of(
                        name + "=" + wrong.get(0), List.of(name, quoted(wrong.get(0), wrong.get(1)), wrong.get(1))));
            }
        }
        for (String row : concat(OUT_OF_RANGE, CONTRADICTORY)) {
            String[] parts = row.split("\\|");
            rows.add(Arguments.of(
                    parts[0].stripTrailing(),
                    Arrays.stream(parts).skip(1).map(String::trim).toList()));
        }
        return rows.stream();
    }

    /**
     * Returns the value that the message contains in quotes. The quotation marks in Spring's own messages differ from
     * the quotation marks in Tern's messages.
     */
    private static String quoted(String value, String type) {
        String quote = type.equals(type.toUpperCase(Locale.ROOT)) ? "\"" : "'";
        return quote + value + quote;
    }

    private static List<String> concat(List<String> some, List<String> more) {
        return Stream.concat(some.stream(), more.stream()).toList();
    }

    @ParameterizedTest
    @MethodSource("wrong")
    void startFailsAndSaysWhy(String properties, List<String> words) {
        application().withPropertyValues(split(properties)).run(there -> {
            assertThat(there).hasFailed();

            FailureAnalysis told = analysis(there.getStartupFailure(), environment(split(properties)));

            String text = told.getDescription() + "\n" + told.getAction();
            assertThat(words).allSatisfy(word -> assertThat(text).contains(word));
        });
    }

    /** Splits a list of properties at each comma that precedes a property. */
    private static String[] split(String properties) {
        return properties.split(",(?=(rpc|spring)\\.)");
    }

    private static ApplicationContextRunner application() {
        return provider(Greeter.class)
                .withConfiguration(AutoConfigurations.of(
                        SslAutoConfiguration.class,
                        HttpClientAutoConfiguration.class,
                        HttpPoolAutoConfiguration.class,
                        JedisAutoConfiguration.class));
    }

    /** Creates a new environment, because a context that failed to start does not expose its environment. */
    private static Environment environment(String... properties) {
        StandardEnvironment environment = new StandardEnvironment();
        TestPropertyValues.of(properties).applyTo(environment);
        return environment;
    }

    /** Returns the failure analysis that the application would print. */
    private static FailureAnalysis analysis(Throwable failure, Environment environment) {
        return SpringFactoriesLoader.forDefaultResourceLocation(WrongConfigurationTest.class.getClassLoader())
                .load(
                        FailureAnalyzer.class,
                        ArgumentResolver.of(Environment.class, environment)
                                .and(BeanFactory.class, new DefaultListableBeanFactory()))
                .stream()
                .map(analyzer -> analyzer.analyze(failure))
                .filter(Objects::nonNull)
                .findFirst()
                .orElseThrow(() -> new AssertionError("nobody explains it", failure));
    }

    @Test
    void everyPropertyHasAWrongValue() throws Exception {
        String all = wrong().map(row -> (String) row.get()[0]).collect(Collectors.joining("\n", "\n", "\n"));
        Set<String> missing = new TreeSet<>(new KnownProperties().names());
        missing.removeAll(ANYTHING_GOES);
        missing.removeIf(name -> name.startsWith("rpc.diagnosis."));
        missing.removeIf(name -> all.contains(name.replace("executors.*", "executors.x")
                                .replace("services.*", "services.x")
                                .replace("methods.*", "methods.y")
                        + "=")
                || all.contains(name.replace("*", "x") + "="));

        assertThat(missing).isEmpty();
        assertThat(wrong().count()).isGreaterThanOrEqualTo(100);
    }
}
