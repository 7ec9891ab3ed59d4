package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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
    void versionOnTheClassPathIsFound() {
        String found = NettyVersion.onClassPath(NettyVersion.class.getClassLoader());

        assertThat(found).matches("4\\.2\\.\\d+\\.Final");
        assertThat(NettyVersion.warning(found)).isNull();
    }

    @Test
    void missingVersionCausesNoWarning() {
        assertThat(NettyVersion.warning(null)).isNull();
    }
}
