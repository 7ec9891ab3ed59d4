package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.spring.autoconfigure.Applications.application;

import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Tests Tern properties under a wrong prefix, and properties of other frameworks that the application no longer contains. */
@ExtendWith(OutputCaptureExtension.class)
class MisplacedPrefixesTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "tern.rpc.",
                "tern-rpc.",
                "spring.rpc.",
                "spring.tern.rpc.",
                "spring.application.rpc.",
                "server.rpc.",
                "management.rpc."
            })
    void propertyBelowAWrongPrefixStopsTheStart(String prefix) {
        application()
                .withPropertyValues(prefix + "server.port=20990", prefix + "client.services.user-service.url=h:1")
                .run(here -> assertThat(StartFailures.causeOf(here.getStartupFailure()))
                        .hasMessageContaining("property " + prefix + "server.port (set in ")
                        .hasMessageContaining(" is not read; the name is rpc.server.port")
                        .hasMessageContaining("the name is rpc.client.services.user-service.url"));
    }

    @Test
    void propertyThatMayBelongToTheApplicationOnlyCausesAWarning(CapturedOutput output) {
        application()
                .withPropertyValues("tern.client.zone=a", "tern.colour=grey")
                .run(here -> assertThat(here).hasNotFailed());

        assertThat(output).contains("is not read; the name is rpc.client.zone").doesNotContain("tern.colour");
    }

    @Test
    void namesThatTheApplicationChoosesBelowPrefixesOfSpringBootAreLeftAlone(CapturedOutput output) {
        application()
                .withPropertyValues(
                        "logging.level.rpc.client.url=debug",
                        "management.metrics.enable.rpc.server.reflection=false",
                        "shop.rpc.client.url=h:1")
                .run(here -> assertThat(here).hasNotFailed());

        assertThat(output).doesNotContain("is not read");
    }

    @Test
    void propertyFromWhichTheRightOneIsMadeIsLeftAlone(CapturedOutput output) {
        application()
                .withPropertyValues("tern.rpc.client.zone=a", "rpc.client.zone=${tern.rpc.client.zone}")
                .run(here -> assertThat(here).hasNotFailed());

        assertThat(output).doesNotContain("is not read");
    }

    @ParameterizedTest
    @CsvSource({
        "rcp.server.port, rpc.server.port",
        "prc.client.services.user-service.url, rpc.client.services.user-service.url",
        "rpcc.limits.max-depth, rpc.limits.max-depth",
        "rpc-server.port, rpc.server.port",
        "rpcclient.zone, rpc.client.zone",
        "rpc-client-zone, rpc.client.zone"
    })
    void typingErrorInTheFirstElementIsNamedWithTheRightName(String written, String meant, CapturedOutput output) {
        application()
                .withPropertyValues(written + "=1")
                .run(here -> assertThat(here).hasNotFailed());

        assertThat(output.getOut().lines().filter(line -> line.contains("is not read; the name is " + meant)))
                .singleElement()
                .asString()
                .contains("property " + written + " (set in ");
    }

    @Test
    void prefixesOfOtherFrameworksAreLeftAlone(CapturedOutput output) {
        application()
                .withPropertyValues(
                        "grpc.server.port=1",
                        "trpc.server.port=1",
                        "ipc.client.url=h:1",
                        "rpc2.client.url=h:1",
                        "rp.client.url=h:1",
                        "rcp.window.title=shop",
                        "rpc-shop.orders.port=1")
                .run(here -> assertThat(here).hasNotFailed());

        assertThat(output).doesNotContain("is not read");
    }

    @Test
    void propertiesOfDubboWithoutDubboAreNamedOnce(CapturedOutput output) {
        application()
                .withPropertyValues("dubbo.protocol.port=20990", "dubbo.consumer.timeout=10000", "dubbo.scan.x=y")
                .run(here -> assertThat(here).hasNotFailed());

        assertThat(output.getOut().lines().filter(line -> line.contains("Properties of Dubbo have no effect")))
                .singleElement()
                .asString()
                .contains(
                        "dubbo.protocol.port (here rpc.server.port)",
                        "dubbo.consumer.timeout (here rpc.client.timeout)",
                        "dubbo.scan.x",
                        "docs/from-dubbo.md");
    }

    @Test
    void fileOfDubboOnTheClassPathIsNamed(@TempDir Path folder, CapturedOutput output) throws Exception {
        Files.writeString(folder.resolve("dubbo.properties"), "dubbo.protocol.port=20990");

        try (URLClassLoader loader = new URLClassLoader(
                new URL[] {folder.toUri().toURL()}, getClass().getClassLoader())) {
            application().withClassLoader(loader).run(here -> assertThat(here).hasNotFailed());
        }

        assertThat(output).contains("The file dubbo.properties on the class path has no effect");
    }

    @Test
    void propertiesOfAStarterForGrpcWithoutItAreNamedOnce(CapturedOutput output) {
        application()
                .withClassLoader(new FilteredClassLoader("io.grpc.netty"))
                .withPropertyValues(
                        "spring.grpc.server.port=9090",
                        "grpc.server.reflection-service-enabled=true",
                        "spring.grpc.client.channels.stock.address=static://h:9090",
                        "grpc.client.GLOBAL.negotiation-type=plaintext")
                .run(here -> assertThat(here).hasNotFailed());

        assertThat(output.getOut().lines().filter(line -> line.contains("Properties of a starter for gRPC have no")))
                .singleElement()
                .asString()
                .contains(
                        "spring.grpc.server.port (here rpc.server.port)",
                        "grpc.server.reflection-service-enabled (here rpc.server.reflection)",
                        "spring.grpc.client.channels.stock.address (here rpc.client.services.<name>.url)",
                        "negotiation-type",
                        "docs/grpc.md");
    }

    @Test
    void propertiesOfAnApplicationWithGrpcsOwnServerAreLeftAlone(CapturedOutput output) {
        application()
                .withPropertyValues("grpc.server.port=9090")
                .run(here -> assertThat(here).hasNotFailed());

        assertThat(output).doesNotContain("Properties of a starter for gRPC");
    }

    @Test
    void propertiesOfFeignWithoutFeignAreNamedOnce(CapturedOutput output) {
        application()
                .withPropertyValues(
                        "spring.cloud.openfeign.client.config.default.read-timeout=5000",
                        "spring.cloud.openfeign.client.config.orders.readTimeout=2000",
                        "feign.client.config.orders.url=http://h:8080",
                        "feign.okhttp.enabled=true")
                .run(here -> assertThat(here).hasNotFailed());

        assertThat(output.getOut().lines().filter(line -> line.contains("Properties of Feign have no effect")))
                .singleElement()
                .asString()
                .containsIgnoringCase("client.config.orders.readTimeout (here rpc.client.services.<name>.timeout)")
                .contains(
                        "client.config.default.read-timeout (here rpc.client.timeout)",
                        "feign.client.config.orders.url (here rpc.client.services.<name>.url)",
                        "feign.okhttp.enabled",
                        "docs/http.md");
    }

    @Test
    void tableOfFeignEqualsTheDocumentation() throws Exception {
        List<String> rows = Files.readAllLines(Path.of("..", "docs", "http.md"));

        Stream.of(FeignProperties.OF_CLIENTS, FeignProperties.OF_ALL)
                .forEach(table -> assertThat(table)
                        .allSatisfy((theirs, ours) -> assertThat(rows)
                                .anySatisfy(row -> assertThat(row)
                                        .startsWith("| `")
                                        .contains("." + theirs + "`")
                                        .contains("`" + ours + "`"))));
    }

    @Test
    void tableOfGrpcStartersEqualsTheDocumentation() throws Exception {
        List<String> rows = Files.readAllLines(Path.of("..", "docs", "grpc.md"));

        Stream.of(GrpcStarterProperties.OF_SERVERS, GrpcStarterProperties.OF_CHANNELS)
                .forEach(table -> assertThat(table)
                        .allSatisfy((theirs, ours) -> assertThat(rows)
                                .anySatisfy(row -> assertThat(row)
                                        .startsWith("| `")
                                        .contains(theirs)
                                        .contains("`" + ours + "`"))));
    }

    @Test
    void tableOfDubboEqualsTheDocumentation() throws Exception {
        List<String> rows = Files.readAllLines(Path.of("..", "docs", "from-dubbo.md"));

        assertThat(MisplacedPrefixes.INSTEAD_OF_DUBBO)
                .allSatisfy((theirs, ours) -> assertThat(rows)
                        .anySatisfy(row -> assertThat(row)
                                .startsWith("| `dubbo.")
                                .contains(theirs.substring(theirs.lastIndexOf('.') + 1))
                                .contains(ours.split(" or ")[0])));
    }
}
