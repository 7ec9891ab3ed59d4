package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import tern.rpc.settings.RpcStartException;
import tern.rpc.spring.RpcReference;
import tern.rpc.transport.ServerTransport;

/** Tests the output that users see if an application fails to start. */
@ExtendWith(OutputCaptureExtension.class)
class RpcStartFailureTest {

    @Test
    void portInUseIsExplained(CapturedOutput output) throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            assertStartFails(
                    Provider.class, "--rpc.server.address=127.0.0.1", "--rpc.server.port=" + taken.getLocalPort());

            assertThat(output)
                    .contains("APPLICATION FAILED TO START")
                    .contains("The RPC server cannot listen on port " + taken.getLocalPort() + " of 127.0.0.1")
                    .contains("set rpc.server.port to another one");
        }
    }

    @Test
    void portThatNeedsAPermissionIsExplained() {
        ServerTransport refused = mock(ServerTransport.class);
        doThrow(new UncheckedIOException(new BindException("Permission denied")))
                .when(refused)
                .start(any());

        Applications.provider(Greeter.class)
                .withBean(ServerTransport.class, () -> refused)
                .withPropertyValues("rpc.server.port=443")
                .run(there -> {
                    RpcStartException failure = StartFailures.causeOf(there.getStartupFailure());
                    assertThat(failure)
                            .hasMessage("The RPC server cannot listen on port 443 of all addresses: Permission denied");
                    assertThat(failure.action())
                            .startsWith("Set rpc.server.port to 1024 or above")
                            .doesNotContain("Stop the process");
                });
    }

    @Test
    void addressOfAnotherMachineIsExplained(CapturedOutput output) {
        for (String address : new String[] {"no.such.host.invalid", "192.0.2.7"}) {
            assertStartFails(Provider.class, "--rpc.server.address=" + address, "--rpc.server.port=0");

            assertThat(output)
                    .contains("of " + address + ", which is not an address of this machine")
                    .contains("Set rpc.server.address to an address or a name of this machine");
        }
        assertThat(output).doesNotContain("Stop the process");
    }

    @Test
    void serverThatIsNeitherOnNorOffIsExplained(CapturedOutput output) {
        assertStartFails(Provider.class, "--rpc.server.enabled=maybe", "--rpc.server.port=0");

        assertThat(output).contains("rpc.server.enabled", "maybe", "APPLICATION FAILED TO START");
    }

    @Test
    void badValueIsExplainedWithItsOrigin(CapturedOutput output) {
        assertStartFails(Provider.class, "--rpc.server.port=99999");

        assertThat(output)
                .contains("rpc.server.port is 99999; expected 0 to 65535 (set in")
                .contains("from property source \"commandLineArgs\"")
                .contains("Correct the value of rpc.server.port, or leave the property out.");
    }

    @Test
    void unknownPropertyIsExplainedWithItsOrigin(CapturedOutput output) {
        assertStartFails(Provider.class, "--rpc.server.prot=1");

        assertThat(output)
                .contains("property rpc.server.prot (set in")
                .contains("does not exist; did you mean rpc.server.port?");
    }

    @Test
    void timeWithAnUnknownUnitIsExplainedWithTheExpectedForm(CapturedOutput output) {
        assertStartFails(Provider.class, "--rpc.client.services.x.methods.y.timeout=5 sec");

        assertThat(output)
                .contains("rpc.client.services.x.methods.y.timeout is '5 sec'; expected a duration: a whole number with"
                        + " one of the units ms, s, m, h and d, such as 500ms or 3s (set in")
                .contains("Correct the value of rpc.client.services.x.methods.y.timeout, or leave the property out.");
    }

    @Test
    void sizeWithAnUnknownUnitIsExplainedWithTheExpectedForm(CapturedOutput output) {
        assertStartFails(Provider.class, "--rpc.limits.max-message=8M");

        assertThat(output)
                .contains(
                        "rpc.limits.max-message is '8M'; expected a data size: a whole number with one of the units B,"
                                + " KB, MB and GB, such as 8MB (set in");
    }

    @Test
    void wordThatIsNotOneOfSeveralIsExplainedWithAllOfThem(CapturedOutput output) {
        assertStartFails(Provider.class, "--rpc.pools.executors.mail.rejection=block");

        assertThat(output)
                .contains("rpc.pools.executors.mail.rejection is 'block'; expected abort or caller-runs (set in")
                .doesNotContain("RpcPoolsProperties");
    }

    @Test
    void whiteSpaceAroundATimeIsExplained(CapturedOutput output) {
        assertStartFails(Provider.class, "--rpc.client.timeout=5s ");

        assertThat(output)
                .contains("rpc.client.timeout is '5s' with white space before or after it; expected a duration")
                .contains("Remove the white space. In a .properties file, it is part of the value.");
    }

    @Test
    void timeOfAnotherPrefixIsLeftToSpringBootsOwnDescription(CapturedOutput output) {
        assertStartFails(Provider.class, "--spring.lifecycle.timeout-per-shutdown-phase=5 sec");

        assertThat(output).contains("Failed to bind properties under 'spring.lifecycle.timeout-per-shutdown-phase'");
    }

    @Test
    void missingProviderOfTheApplicationsOwnServiceIsExplainedWithLocal(CapturedOutput output) {
        assertStartFails(Consumer.class);

        assertThat(output).contains("or to local for a service of this application");
    }

    @Test
    void warningNamesAnAllowedPackageWithoutItsEnding(CapturedOutput output) {
        try (var context = new SpringApplicationBuilder(Provider.class)
                .web(WebApplicationType.NONE)
                .run("--rpc.server.port=0", "--rpc.limits.allowed-classes=com.example,java.util.Optional,org.shop.*")) {
            assertThat(context.isActive()).isTrue();
        }

        assertThat(output)
                .contains("rpc.limits.allowed-classes contains com.example, which is not a class on the class path; for"
                        + " the"
                        + " classes of a package, write com.example.*")
                .doesNotContain("contains java.util.Optional")
                .doesNotContain("contains org.shop");
    }

    @Test
    void unknownProtocolIsExplainedWithThePropertyAndItsOrigin(CapturedOutput output) {
        assertStartFails(Consumer.class, "--rpc.client.url=grpc://127.0.0.1:1");

        assertThat(output)
                .contains("rpc.client.url: protocol 'grpc' of " + GreetingService.class.getName() + " is not known")
                .contains("tri is the protocol for gRPC, which uses HTTP/2 (set in")
                .contains("Write one of the known protocols in rpc.client.url.");
    }

    @Test
    void missingProviderIsExplained(CapturedOutput output) {
        assertStartFails(Consumer.class);

        assertThat(output)
                .contains("No provider of " + GreetingService.class.getName() + " is configured for the reference at "
                        + Consumer.class.getName() + ".greetings.")
                .contains("Set rpc.client.services.GreetingService.url");
    }

    private static void assertStartFails(Class<?> source, String... arguments) {
        assertThatThrownBy(() -> new SpringApplicationBuilder(source)
                        .web(WebApplicationType.NONE)
                        .run(arguments))
                .isNotNull();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Greeter.class)
    static class Provider {}

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Consumer {
        @RpcReference
        GreetingService greetings;
    }
}
