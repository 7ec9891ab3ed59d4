package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.spring.autoconfigure.Applications.addressOf;
import static tern.rpc.spring.autoconfigure.Applications.application;
import static tern.rpc.spring.autoconfigure.Applications.provider;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.Principal;
import java.security.cert.Certificate;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.ssl.DefaultSslBundleRegistry;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.boot.ssl.pem.PemSslStoreBundle;
import org.springframework.boot.ssl.pem.PemSslStoreDetails;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import tern.rpc.RpcException;
import tern.rpc.ServerContext;
import tern.rpc.netty.ServerTransportSettings;
import tern.rpc.settings.RpcStartException;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;
import tern.rpc.transport.TestAuthority;
import tern.rpc.transport.TestAuthority.Identity;

/** Tests TLS with Spring's SSL bundles. */
class RpcTlsTest {

    private static final TestAuthority AUTHORITY = new TestAuthority("authority");
    private static final Identity SERVER = AUTHORITY.issue("server", "127.0.0.1");
    private static final Identity CLIENT = AUTHORITY.issue("client");

    @TempDir
    private Path folder;

    @BeforeEach
    void writeFiles() throws IOException {
        write("authority.crt", AUTHORITY.certificatePem());
        write("server.crt", SERVER.certificatePem());
        write("server.key", SERVER.keyPem());
        write("client.crt", CLIENT.certificatePem());
        write("client.key", CLIENT.keyPem());
    }

    private void write(String name, String text) throws IOException {
        Files.writeString(folder.resolve(name), text);
    }

    /** Adds the SSL bundles of the tests, such as {@code server}, {@code client} and {@code anonymous}. */
    private ApplicationContextRunner withBundles(ApplicationContextRunner runner) {
        return runner.withConfiguration(AutoConfigurations.of(SslAutoConfiguration.class))
                .withPropertyValues(
                        pem("server.keystore.certificate", "server.crt"),
                        pem("server.keystore.private-key", "server.key"),
                        pem("server.truststore.certificate", "authority.crt"),
                        pem("client.keystore.certificate", "client.crt"),
                        pem("client.keystore.private-key", "client.key"),
                        pem("client.truststore.certificate", "authority.crt"),
                        pem("anonymous.truststore.certificate", "authority.crt"),
                        pem("untrusting.keystore.certificate", "server.crt"),
                        pem("untrusting.keystore.private-key", "server.key"),
                        pem("old.truststore.certificate", "authority.crt"),
                        "spring.ssl.bundle.pem.old.options.enabled-protocols=TLSv1.1");
    }

    private String pem(String property, String file) {
        return "spring.ssl.bundle.pem." + property + "=" + folder.resolve(file).toUri();
    }

    private ApplicationContextRunner consumerOf(ApplicationContext provider) {
        return withBundles(application(Caller.class))
                .withPropertyValues("rpc.client.url=" + addressOf(provider), "rpc.client.timeout=20s");
    }

    private static String greet(ApplicationContext consumer) {
        return consumer.getBean(Caller.class).greetings.greet("Ada");
    }

    @Test
    void callPassesWithTlsOnBothSides() {
        withBundles(provider(Greeter.class))
                .withPropertyValues("rpc.server.ssl.bundle=server")
                .run(there -> consumerOf(there)
                        .withPropertyValues("rpc.client.ssl.bundle=anonymous")
                        .run(here -> assertThat(greet(here)).isEqualTo("Hello Ada")));
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void serverThatRequiresCertificatesNeedsNoWebSecurity(CapturedOutput output) {
        withBundles(provider(Greeter.class, WebSecurityTest.ServletChain.class))
                .withPropertyValues("rpc.server.ssl.bundle=server", "rpc.server.ssl.client-auth=need")
                .run(there -> assertThat(there).hasNotFailed());

        assertThat(output).doesNotContain(WebSecurityTest.WARNING);
    }

    @ParameterizedTest
    @ValueSource(strings = {"rpc.server.ssl.bundle", "rpc.client.ssl.bundle", "rpc.client.services.x.ssl.bundle"})
    void bundleWithoutSpringBootsAutoConfigurationIsExplained(String property) {
        provider(Greeter.class).withPropertyValues(property + "=shop").run(there -> {
            RpcStartException failure = StartFailures.causeOf(there.getStartupFailure());

            assertThat(failure)
                    .hasMessageStartingWith(property
                            + " names the SSL bundle 'shop', but this application has no bean of type SslBundles");
            assertThat(failure.action()).contains("SslAutoConfiguration");
        });
    }

    @Test
    void serviceLearnsWhoCallsIt() {
        withBundles(provider(Namer.class))
                .withPropertyValues("rpc.server.ssl.bundle=server", "rpc.server.ssl.client-auth=need")
                .run(there -> consumerOf(there)
                        .withPropertyValues("rpc.client.ssl.bundle=client")
                        .run(here -> assertThat(greet(here)).isEqualTo("CN=client")));
    }

    @Test
    void clientWithoutACertificateIsReportedWithItsBundle() {
        withBundles(provider(Greeter.class))
                .withPropertyValues("rpc.server.ssl.bundle=server", "rpc.server.ssl.client-auth=need")
                .run(there -> consumerOf(there)
                        .withPropertyValues("rpc.client.ssl.bundle=anonymous")
                        .run(here -> assertThat(failureOf(here))
                                .hasMessageContaining("bundle 'anonymous' (rpc.client.ssl.bundle)")));
    }

    private static Throwable failureOf(ApplicationContext consumer) {
        try {
            return new AssertionError("answered: " + greet(consumer));
        } catch (RpcException e) {
            return e;
        }
    }

    @Test
    void referenceMayHaveABundleOfItsOwn() {
        withBundles(provider(Greeter.class))
                .withPropertyValues("rpc.server.ssl.bundle=server", "rpc.server.ssl.client-auth=need")
                .run(there -> consumerOf(there)
                        .withPropertyValues(
                                "rpc.client.ssl.bundle=anonymous",
                                "rpc.client.services.greeting-service.ssl.bundle=client")
                        .run(here -> assertThat(greet(here)).isEqualTo("Hello Ada")));
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void optionalTlsServesClearTextTooAndSaysSo(CapturedOutput output) {
        withBundles(provider(Greeter.class))
                .withPropertyValues("rpc.server.ssl.bundle=server", "rpc.server.ssl.optional=true")
                .run(there -> {
                    consumerOf(there).run(here -> assertThat(greet(here)).isEqualTo("Hello Ada"));
                    consumerOf(there)
                            .withPropertyValues("rpc.client.ssl.bundle=anonymous")
                            .run(here -> assertThat(greet(here)).isEqualTo("Hello Ada"));
                });

        assertThat(output).contains("serves clear text in addition to TLS (set by rpc.server.ssl.optional)");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "rpc.server.ssl.bundle=sever | rpc.server.ssl.bundle is 'sever'; expected the name of a bundle under",
                "rpc.client.ssl.bundle=none | rpc.client.ssl.bundle is 'none'; expected the name of a bundle under",
                "rpc.client.services.x.ssl.bundle=none | rpc.client.services.x.ssl.bundle is 'none'",
                "rpc.server.ssl.optional=true | rpc.server.ssl.optional is true, but rpc.server.ssl.bundle is not set",
                "rpc.server.ssl.client-auth=want | rpc.server.ssl.client-auth is want, but rpc.server.ssl.bundle is"
                        + " not",
                "rpc.server.ssl.bundle=anonymous | bundle 'anonymous' (rpc.server.ssl.bundle) cannot be used: bundle"
                        + " 'anonymous' (rpc.server.ssl.bundle) has no key with a certificate, which a server needs",
                "rpc.server.ssl.bundle=server,rpc.server.ssl.client-auth=need,rpc.server.ssl.optional=true |"
                        + " rpc.server.ssl.client-auth is need, but rpc.server.ssl.optional=true serves clients in"
                        + " clear",
                "rpc.client.ssl.bundle=old | enables the protocols [TLSv1.1]; expected some of [TLSv1.3, TLSv1.2]",
                "rpc.server.ssl.bundle=untrusting,rpc.server.ssl.client-auth=need | bundle 'untrusting'"
                        + " (rpc.server.ssl.bundle) has no trust store",
            })
    void settingThatCannotWorkStopsTheStart(String properties, String message) {
        withBundles(provider(Greeter.class))
                .withPropertyValues(properties.trim().split(","))
                .run(there -> assertThat(StartFailures.causeOf(there.getStartupFailure()))
                        .hasMessageContaining(message.trim()));
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void changedBundleIsUsedAndOneThatCannotBeUsedIsNot(CapturedOutput output) {
        Identity next = AUTHORITY.issue("server", "127.0.0.1");
        DefaultSslBundleRegistry registry = new DefaultSslBundleRegistry("server", bundle(SERVER));
        provider(Greeter.class)
                .withBean(SslBundles.class, () -> registry)
                .withPropertyValues("rpc.server.ssl.bundle=server")
                .run(there -> {
                    ServerTransportSettings settings = there.getBean(ServerTransportSettings.class);

                    registry.updateBundle("server", bundle(next));
                    assertThat(shown(settings)).isEqualTo(next.certificate());

                    registry.updateBundle("server", bundle(new Identity(SERVER.key(), next.certificate())));
                    registry.updateBundle("server", bundle(AUTHORITY.issueExpired("server", "127.0.0.1")));
                    registry.updateBundle("server", SslBundle.of(new PemSslStoreBundle(pemStore("no", "pem"), null)));
                    assertThat(shown(settings)).isEqualTo(next.certificate());
                    consumerOf(there)
                            .withPropertyValues("rpc.client.ssl.bundle=anonymous")
                            .run(here -> assertThat(greet(here)).isEqualTo("Hello Ada"));
                });

        assertThat(output)
                .contains("private key that does not match its certificate")
                .contains("the certificate of bundle 'server' (rpc.server.ssl.bundle) for CN=server is valid from");
        assertThat(output.toString().split("was changed and cannot be used", -1))
                .hasSize(4);
    }

    @Test
    void renewedFilesAreFollowed() {
        Identity next = AUTHORITY.issue("server", "127.0.0.1");
        withBundles(provider(Greeter.class))
                .withPropertyValues(
                        "rpc.server.ssl.bundle=server",
                        "spring.ssl.bundle.pem.server.reload-on-update=true",
                        "spring.ssl.bundle.watch.file.quiet-period=20ms")
                .run(there -> {
                    ServerTransportSettings settings = there.getBean(ServerTransportSettings.class);
                    assertThat(shown(settings)).isEqualTo(SERVER.certificate());

                    write("server.crt", next.certificatePem());
                    write("server.key", next.keyPem());

                    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
                    while (!shown(settings).equals(next.certificate()) && System.nanoTime() - end < 0) {
                        LockSupport.parkNanos(1_000_000);
                    }
                    assertThat(shown(settings)).isEqualTo(next.certificate());
                });
    }

    private static Certificate shown(ServerTransportSettings settings) {
        return Objects.requireNonNull(settings.tls()).get().certificates().get(0);
    }

    private static SslBundle bundle(Identity identity) {
        return SslBundle.of(new PemSslStoreBundle(pemStore(identity.certificatePem(), identity.keyPem()), null));
    }

    private static PemSslStoreDetails pemStore(String certificate, String key) {
        return new PemSslStoreDetails("PKCS12", certificate, key);
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void certificateThatHasExpiredIsNamedAtTheStart(CapturedOutput output) throws IOException {
        Identity expired = AUTHORITY.issueExpired("server", "127.0.0.1");
        write("server.crt", expired.certificatePem());
        write("server.key", expired.keyPem());

        withBundles(provider(Greeter.class))
                .withPropertyValues("rpc.server.ssl.bundle=server")
                .run(there -> assertThat(there).hasNotFailed());

        assertThat(output)
                .contains("the certificate of bundle 'server' (rpc.server.ssl.bundle) for CN=server is valid from")
                .contains("peers will refuse it");
    }

    static class Caller {

        @RpcReference
        GreetingService greetings;
    }

    /** Returns the caller's name. */
    @RpcService
    static class Namer implements GreetingService {

        @Override
        public String greet(String name) {
            Principal peer = Objects.requireNonNull(ServerContext.current()).peerPrincipal();
            return peer == null ? "nobody" : peer.getName();
        }
    }
}
