package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.api.Test;
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

        assertThat(found).containsKeys("netty-common", "netty-transport", "netty-codec-http2");
        assertThat(found.values())
                .allMatch(version -> version.matches("4\\.2\\.\\d+\\.Final"))
                .allMatch(version -> NettyVersion.warning(version) == null);
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
