package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static tern.rpc.spring.autoconfigure.Applications.addressOf;
import static tern.rpc.spring.autoconfigure.Applications.application;
import static tern.rpc.spring.autoconfigure.Applications.consumerOf;
import static tern.rpc.spring.autoconfigure.Applications.provider;

import java.lang.reflect.Proxy;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import tern.rpc.client.RpcClient;
import tern.rpc.settings.RpcStartException;
import tern.rpc.spring.RpcReference;

/**
 * Tests where references can be declared and which proxies are injected. Also tests the error messages for invalid
 * references.
 */
class RpcReferenceTest {

    private static final String NOWHERE = "rpc.client.url=127.0.0.1:1";

    @Test
    void fieldGetsARemoteProxy() {
        provider(Greeter.class)
                .run(there -> consumerOf(there, FieldUser.class).run(here -> {
                    assertThat(here.getBean(FieldUser.class).greetings.greet("field"))
                            .isEqualTo("Hello field");
                }));
    }

    @Test
    void setterGetsARemoteProxy() {
        provider(Greeter.class)
                .run(there -> consumerOf(there, SetterUser.class).run(here -> {
                    assertThat(here.getBean(SetterUser.class).greetings.greet("setter"))
                            .isEqualTo("Hello setter");
                }));
    }

    @Test
    void constructorParameterGetsARemoteProxy() {
        provider(Greeter.class)
                .run(there -> consumerOf(there, ConstructorUser.class).run(here -> {
                    ConstructorUser user = here.getBean(ConstructorUser.class);

                    assertThat(user.greetings.greet("constructor")).isEqualTo("Hello constructor");
                }));
    }

    @Test
    void beanMethodParameterGetsARemoteProxy() {
        provider(Greeter.class)
                .run(there -> consumerOf(there, BeanMethodUser.class).run(here -> {
                    assertThat(here.getBean(String.class)).isEqualTo("Hello bean method");
                }));
    }

    @ParameterizedTest
    @ValueSource(strings = {"dubbo", "tri", "http"})
    void longestTimeoutLimitsNoCall(String protocol) {
        provider(Greeter.class)
                .run(there -> application(FieldUser.class)
                        .withPropertyValues(
                                "rpc.client.url=" + protocol + "://" + addressOf(there), "rpc.client.timeout=36500d")
                        .run(here -> assertThat(
                                        here.getBean(FieldUser.class).greetings.greet(protocol))
                                .isEqualTo("Hello " + protocol)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"dubbo", "tri", "http"})
    void addressNamesTheProtocol(String protocol) {
        provider(Greeter.class)
                .run(there -> application(FieldUser.class)
                        .withPropertyValues("rpc.client.url=" + protocol + "://" + addressOf(there))
                        .run(here -> assertThat(
                                        here.getBean(FieldUser.class).greetings.greet(protocol))
                                .isEqualTo("Hello " + protocol)));
    }

    @Test
    void missingProtocolIsReportedWithTheAvailableOnes() {
        application(FieldUser.class)
                .withPropertyValues("rpc.client.url=thrift://127.0.0.1:1")
                .run(here -> assertThat(StartFailures.causeOf(here.getStartupFailure()))
                        .hasMessageContaining("'thrift'")
                        .hasMessageContaining("dubbo")
                        .hasMessageContaining("http")
                        .hasMessageContaining("tri"));
    }

    @Test
    void hostNameIsResolvedBeforeTheFirstCall() {
        provider(Greeter.class)
                .run(there -> application(BeanMethodUser.class)
                        .withPropertyValues("rpc.client.url=localhost:"
                                + there.getEnvironment().getProperty("local.rpc.port"))
                        .run(here -> assertThat(here.getBean(String.class)).isEqualTo("Hello bean method")));
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void settingsThatNoReferenceUsesAreNamed(CapturedOutput output) {
        application(FieldUser.class)
                .withPropertyValues(
                        NOWHERE,
                        "rpc.client.services.greting-service.timeout=1s",
                        "rpc.client.services.greeting-service.timeout=1s")
                .run(here -> assertThat(here).hasNotFailed());

        assertThat(output)
                .contains("rpc.client.services.greting-service is set, but no reference has that name;"
                        + " there are greeting-service")
                .doesNotContain("rpc.client.services.greeting-service is set");
    }

    @Test
    void autowiredStillInjectsTheLocalBean() {
        provider(Greeter.class)
                .run(there -> consumerOf(there, MixedUser.class, LocalGreeter.class)
                        .run(here -> {
                            MixedUser user = here.getBean(MixedUser.class);

                            assertThat(user.local.greet("x")).isEqualTo("local x");
                            assertThat(user.remote.greet("x")).isEqualTo("Hello x");
                        }));
    }

    @Test
    void equalSettingsShareAProxyAndOthersDoNot() {
        application(FieldUser.class, SetterUser.class, GroupUser.class)
                .withPropertyValues(NOWHERE, "tenant=blue")
                .run(here -> {
                    GreetingService field = here.getBean(FieldUser.class).greetings;

                    assertThat(field).isSameAs(here.getBean(SetterUser.class).greetings);
                    assertThat(field).isNotSameAs(here.getBean(GroupUser.class).greetings);
                });
    }

    @Test
    void placeholdersInTheAnnotationAreReplaced() {
        application(GroupUser.class).withPropertyValues(NOWHERE, "tenant=blue").run(here -> {
            assertThat(here.getBean(GroupUser.class).greetings.toString()).contains("blue/");
        });
    }

    @Test
    void urlOfTheAnnotationIsUsed() {
        provider(Greeter.class)
                .run(there -> application(UrlUser.class)
                        .withPropertyValues("greeter=dubbo://" + Applications.addressOf(there) + "?weight=7")
                        .run(here -> {
                            assertThat(here.getBean(UrlUser.class).greetings.greet("url"))
                                    .isEqualTo("Hello url");
                            assertThat(here.getBean(RpcClient.class)
                                            .references()
                                            .get(0)
                                            .providers()
                                            .get(0)
                                            .attributes()
                                            .weight())
                                    .isEqualTo(7);
                        }));
    }

    @Test
    void nextAddressIsTriedWhileAProviderIsDown() {
        provider(Greeter.class)
                .run(there -> application(FieldUser.class)
                        .withPropertyValues("rpc.client.url=127.0.0.1:1," + Applications.addressOf(there))
                        .run(here -> {
                            GreetingService greetings = here.getBean(FieldUser.class).greetings;

                            assertThat(greetings.greet("1")).isEqualTo("Hello 1");
                            assertThat(greetings.greet("2")).isEqualTo("Hello 2");
                        }));
    }

    @Test
    void applicationStartsWhileItsProviderIsDown() {
        application(FieldUser.class)
                .withPropertyValues(NOWHERE)
                .run(here -> assertThat(here).hasNotFailed());
    }

    @Test
    void checkStopsTheStartWhileTheProviderIsDown() {
        application(FieldUser.class)
                .withPropertyValues(
                        NOWHERE, "rpc.client.check-timeout=10ms", "rpc.client.services.greeting-service.check=true")
                .run(here -> assertFailure(here.getStartupFailure())
                        .hasMessageContaining("FieldUser.greetings asks for a check at start")
                        .hasMessageContaining("127.0.0.1:1"));
    }

    /** A second service in addition to the greeting service. */
    public interface OtherService {
        String other();
    }

    @Test
    @Timeout(120)
    void referenceThatWaitsForItsProviderDelaysNoOther() {
        application()
                .withPropertyValues(
                        NOWHERE, "rpc.client.check-timeout=1h", "rpc.client.services.greeting-service.check=true")
                .run(here -> {
                    RpcReference annotation =
                            FieldUser.class.getDeclaredField("greetings").getAnnotation(RpcReference.class);
                    RpcReferences references = here.getBean(RpcReferences.class);
                    RpcClient client = here.getBean(RpcClient.class);
                    Supplier<Object> greetings = () -> references.proxy(GreetingService.class, annotation, "greetings");
                    CompletableFuture<Object> first = CompletableFuture.supplyAsync(greetings);
                    while (client.references().isEmpty()) {
                        Thread.onSpinWait();
                    }

                    Object other = references.proxy(OtherService.class, annotation, "other");
                    assertThat(references.proxy(OtherService.class, annotation, "again"))
                            .isSameAs(other);
                    assertThat(first).isNotDone();
                    assertThat(client.references()).hasSize(2);

                    client.close();
                    assertThatThrownBy(() -> first.get(60, TimeUnit.SECONDS))
                            .hasCauseInstanceOf(RpcStartException.class);
                });
    }

    @Test
    void proxyAnswersObjectMethodsItself() {
        application(FieldUser.class).withPropertyValues(NOWHERE).run(here -> {
            GreetingService greetings = here.getBean(FieldUser.class).greetings;

            assertThat(Set.of(greetings)).contains(greetings);
            assertThat(greetings.toString()).contains(GreetingService.class.getName());
            assertThat(Proxy.isProxyClass(greetings.getClass())).isTrue();
        });
    }

    @Test
    void referenceWithoutAnyAddressStopsTheStart() {
        application(FieldUser.class)
                .run(here -> assertFailure(here.getStartupFailure())
                        .hasMessageContaining("No provider of " + GreetingService.class.getName() + " is configured")
                        .hasMessageContaining("FieldUser.greetings")
                        .extracting(failure -> ((RpcStartException) failure).action())
                        .asString()
                        .contains("rpc.client.services.GreetingService.url", "rpc.client.url")
                        .contains("An empty value counts as not set."));
    }

    @Test
    void addressUnderAnotherNameIsNamedIfAReferenceHasNone() {
        application(FieldUser.class)
                .withPropertyValues(
                        "rpc.client.url=",
                        "rpc.client.services.greeting.url=127.0.0.1:1",
                        "rpc.client.services.greetings.timeout=1s")
                .run(here -> assertFailure(here.getStartupFailure())
                        .hasMessageContaining("; below rpc.client.services, only these names have addresses: greeting,"
                                + " and the name of this reference is GreetingService"));
    }

    @Test
    void interfaceThatCannotBeCalledStopsTheStartAndIsNamed() {
        application(BadSignatureUser.class)
                .withPropertyValues(NOWHERE)
                .run(here -> assertFailure(here.getStartupFailure())
                        .hasMessageContaining("BadSignatureUser.bad cannot refer to")
                        .hasMessageContaining("BadSignature.find, result"));
    }

    @Test
    void classInPlaceOfAnInterfaceStopsTheStart() {
        application(ClassUser.class)
                .withPropertyValues(NOWHERE)
                .run(here -> assertFailure(here.getStartupFailure()).hasMessageContaining("which is not an interface"));
    }

    @Test
    void settingsOfAMethodThatDoesNotExistStopTheStart() {
        application(FieldUser.class)
                .withPropertyValues(NOWHERE, "rpc.client.services.greeting-service.methods.gret.timeout=1s")
                .run(here -> assertFailure(here.getStartupFailure()).hasMessageContaining("no method 'gret'"));
    }

    @Test
    void badAddressStopsTheStartAndIsNamed() {
        application(UrlUser.class)
                .withPropertyValues("greeter=http//foo")
                .run(here -> assertFailure(here.getStartupFailure())
                        .hasMessageContaining("@RpcReference(url) at ")
                        .hasMessageContaining("UrlUser.greetings is 'http//foo'; expected host:port"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            dubbo://10.0.0.7:20880/com.example.Orders | ; an address has no path, so leave out '/com.example.Orders'
            http://10.0.0.7:20880/api | ; an address has no path, so leave out '/api'
            10.0.0.7:20880;10.0.0.8:20880 | , or local; a comma separates addresses
            10.0.0.7:20880?timeout=500 | ; timeout is the property rpc.client.services.<name>.timeout
            10.0.0.7:20880?retries=2 | ; about retries: a call is repeated only if
            TRI://10.0.0.7:20880 | , or local; a protocol is written in small letters
            Local | ; write local, in small letters and without a port
            local:20880 | ; write local, in small letters and without a port
            0.0.0.0:20880 | expected the address of one provider, such as localhost or a host name
            [::]:20880 | expected the address of one provider, such as localhost or a host name
            """)
    void commonMistakesInAnAddressAreNamed(String address, String problem) {
        application(UrlUser.class)
                .withPropertyValues("greeter=" + address)
                .run(here -> assertFailure(here.getStartupFailure())
                        .hasMessageContaining("UrlUser.greetings is '" + address + "'; expected ")
                        .hasMessageContaining(problem));
    }

    @Test
    void addressWithAUserIsExplainedWithoutThePassword() {
        application(UrlUser.class)
                .withPropertyValues("greeter=anna:secret@10.0.0.7:20880")
                .run(here -> assertFailure(here.getStartupFailure())
                        .hasMessageContaining("; an address has no user, and rpc.client.token sets a token")
                        .hasMessageNotContaining("secret"));
    }

    static class OddlyNamedUser {

        @RpcReference(name = "${odd}")
        GreetingService greetings;
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            my service | my-service
            orders/v1  | orders-v1
            Grüße      | Gr-e
            """)
    void nameThatNoPropertyCanContainStopsTheStart(String name, String suggestion) {
        application(OddlyNamedUser.class)
                .withPropertyValues("odd=" + name, "rpc.client.url=localhost:1")
                .run(here -> assertFailure(here.getStartupFailure())
                        .hasMessageContaining("@RpcReference(name) at ")
                        .hasMessageContaining(
                                "OddlyNamedUser.greetings is '" + name + "'; expected letters from A to Z")
                        .hasMessageEndingWith("rpc.client.services.<name>; for example " + suggestion));
    }

    @Test
    void clientIsMadeWithTheFirstReferenceOnly() {
        ApplicationContextRunner noReference = application();

        noReference.run(
                here -> assertThat(here.getBean(RpcReferences.class).client()).isNull());
        noReference.run(here ->
                assertThat(here.getBeanFactory().containsSingleton("rpcClient")).isFalse());
    }

    private static org.assertj.core.api.AbstractThrowableAssert<?, ?> assertFailure(Throwable failure) {
        return assertThat(StartFailures.causeOf(failure));
    }

    @Configuration(proxyBeanMethods = false)
    static class FieldUser {
        @RpcReference
        GreetingService greetings;
    }

    static class SetterUser {
        GreetingService greetings;

        @RpcReference
        void setGreetings(GreetingService greetings) {
            this.greetings = greetings;
        }
    }

    static class ConstructorUser {
        final GreetingService greetings;

        ConstructorUser(@RpcReference GreetingService greetings) {
            this.greetings = greetings;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class BeanMethodUser {
        @Bean
        String greeting(@RpcReference GreetingService greetings) {
            return greetings.greet("bean method");
        }
    }

    static class LocalGreeter implements GreetingService {
        @Override
        public String greet(String name) {
            return "local " + name;
        }
    }

    static class MixedUser {
        @Autowired
        GreetingService local;

        @RpcReference
        GreetingService remote;
    }

    static class GroupUser {
        @RpcReference(group = "${tenant}")
        GreetingService greetings;
    }

    static class UrlUser {
        @RpcReference(url = "${greeter}")
        GreetingService greetings;
    }

    interface BadSignature {
        Optional<String> find(String name);
    }

    static class BadSignatureUser {
        @RpcReference
        BadSignature bad;
    }

    static class ClassUser {
        @RpcReference
        Greeter greeter;
    }
}
