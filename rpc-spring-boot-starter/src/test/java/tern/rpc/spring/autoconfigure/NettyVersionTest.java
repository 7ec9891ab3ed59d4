package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.settings.RpcStartException;

class NettyVersionTest {

    @ParameterizedTest
    @ValueSource(strings = {"4.2.16.Final", "4.1.130.Final", "4.2.9.Final", "3.10.6.Final"})
    void olderVersionIsReportedWithTheLineThatRaisesIt(String found) {
        assertThat(NettyVersion.warning(found))
                .contains(
                        "Netty " + found,
                        "4.2.17.Final or later",
                        "io.netty:netty-bom:4.2.17.Final",
                        "<netty.version>");
    }

    @ParameterizedTest
    @ValueSource(strings = {"4.2.17.Final", "4.2.20.Final", "4.3.0.Final", "5.0.0.Alpha1", "4.2.17.Final-SNAPSHOT"})
    void newerVersionCausesNoWarning(String found) {
        assertThat(NettyVersion.warning(found)).isNull();
    }

    @Test
    void versionsOnTheClassPathAreFound() {
        Map<String, String> found = NettyVersion.onClassPath(NettyVersion.class.getClassLoader());

        assertThat(found)
                .containsOnlyKeys(
                        "netty-common",
                        "netty-buffer",
                        "netty-resolver",
                        "netty-transport",
                        "netty-codec-base",
                        "netty-codec-http",
                        "netty-codec-http2",
                        "netty-handler");
        assertThat(found.values())
                .allMatch(version -> version.matches("4\\.2\\.\\d+\\.Final"))
                .allMatch(version -> NettyVersion.warning(version) == null);
    }

    @Test
    void jarWithACopyOfNettyInAnotherPackageDoesNotCount(@TempDir Path copy, @TempDir Path netty) throws IOException {
        write(copy, "4.1.100.Final");
        write(netty, "4.2.20.Final", "io/netty/util/concurrent/EventExecutor.class");

        assertThat(onClassPath(copy, netty)).isEqualTo(Map.of("netty-common", "4.2.20.Final"));
    }

    @Test
    void firstOfTwoJarsCounts(@TempDir Path first, @TempDir Path second) throws IOException {
        write(first, "4.1.100.Final", "io/netty/util/concurrent/EventExecutor.class");
        write(second, "4.2.20.Final", "io/netty/util/concurrent/EventExecutor.class");

        assertThat(onClassPath(first, second)).isEqualTo(Map.of("netty-common", "4.1.100.Final"));
    }

    @Test
    void versionsInAJarOfAllClassesAreUnknown(@TempDir Path all) throws IOException {
        write(all, "4.1.100.Final", "io/netty/util/concurrent/EventExecutor.class", "io/netty/buffer/ByteBuf.class");

        assertThat(onClassPath(all)).isEmpty();
    }

    private static void write(Path folder, String version, String... classes) throws IOException {
        Files.createDirectories(folder.resolve("META-INF"));
        Files.writeString(folder.resolve("META-INF/io.netty.versions.properties"), "netty-common.version=" + version);
        for (String type : classes) {
            Files.createDirectories(folder.resolve(type).getParent());
            Files.createFile(folder.resolve(type));
        }
    }

    private static Map<String, String> onClassPath(Path... places) throws IOException {
        URL[] urls = new URL[places.length];
        for (int i = 0; i < places.length; i++) {
            urls[i] = places[i].toUri().toURL();
        }
        try (URLClassLoader loader = new URLClassLoader(urls, null)) {
            return NettyVersion.onClassPath(loader);
        }
    }

    @Test
    void jarOfAnOlderNettyStopsTheStart() {
        Map<String, String> mixed = Map.of("netty-common", "4.1.130.Final", "netty-transport", "4.2.20.Final");

        assertThatThrownBy(() -> NettyVersion.checkJars(mixed))
                .isInstanceOfSatisfying(
                        RpcStartException.class,
                        failure -> assertThat(failure.action())
                                .startsWith("For all jars of Netty, use 4.2.17.Final or later: set <netty.version>"))
                .hasMessage("Tern RPC needs Netty 4.2; found netty-common 4.1.130.Final");
        assertThatCode(() -> NettyVersion.checkJars(Map.of("netty-common", "4.2.0.Final")))
                .doesNotThrowAnyException();
    }

    @Test
    void missingVersionCausesNoWarning() {
        assertThat(NettyVersion.warning(null)).isNull();
    }
}
