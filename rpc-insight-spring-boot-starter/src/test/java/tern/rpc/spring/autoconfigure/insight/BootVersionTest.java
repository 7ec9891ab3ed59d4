package tern.rpc.spring.autoconfigure.insight;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.SpringBootVersion;
import org.springframework.context.ApplicationListener;
import org.springframework.core.io.support.SpringFactoriesLoader;
import tern.rpc.settings.RpcStartException;

/**
 * Tests that an application on an older Spring Boot version fails to start, and that the message names the versions.
 */
class BootVersionTest {

    @ParameterizedTest
    @ValueSource(strings = {"3.5.7", "3.0.0-SNAPSHOT", "2.7.18", "1.5.22.RELEASE"})
    void olderVersionStopsTheStart(String found) {
        assertThatThrownBy(() -> BootVersion.check(found))
                .isInstanceOf(RpcStartException.class)
                .hasMessage("Tern RPC needs Spring Boot 4.x; found " + found);
    }

    @ParameterizedTest
    @ValueSource(strings = {"4.0.0", "4.1.1", "4.2.0-M1", "5.0.0", "10.0.0", "unknown"})
    void otherVersionsStart(String found) {
        assertThatCode(() -> BootVersion.check(found)).doesNotThrowAnyException();
    }

    @Test
    void versionOfTheseTestsStarts() {
        assertThatCode(() -> BootVersion.check(SpringBootVersion.getVersion())).doesNotThrowAnyException();
    }

    @Test
    void checkIsTheFirstListenerOfEveryApplication() {
        assertThat(SpringFactoriesLoader.forDefaultResourceLocation().load(ApplicationListener.class))
                .first()
                .isInstanceOf(BootVersion.class);
    }
}
