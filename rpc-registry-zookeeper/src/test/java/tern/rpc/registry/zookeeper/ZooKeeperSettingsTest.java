package tern.rpc.registry.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.function.Function;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.registry.RegistryUrl;
import tern.rpc.transport.Tls;

class ZooKeeperSettingsTest {

    private static final Function<String, Supplier<Tls>> NO_BUNDLES = name -> {
        throw new IllegalArgumentException("there is no bundle '" + name + "'");
    };

    private static ZooKeeperSettings settings(String address) {
        return ZooKeeperSettings.of(RegistryUrl.parse("zookeeper://" + address), NO_BUNDLES);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "h?ssl=yes|the parameter ssl of zookeeper://h?ssl=yes is 'yes'; expected true or false",
                "h?ssl=maybe|is 'maybe'; expected true or false",
                "h?ssl=|is ''; expected true or false",
                "h?ssl=TRUE|is 'TRUE'; expected true or false",
                "h?ssl|is ''; expected true or false",
                "h?ssl.bundle=|is ''; expected the name of a bundle",
                "h?ssl=false&ssl.bundle=a|the parameter ssl of",
                "h?timout=3|has the unknown parameter timout with the value '3'; allowed are [group, rootPath, session,",
                "h?ssl=true&ssl.trustStore.locaton=/x|has the unknown parameter ssl.trustStore.locaton with the value '/x'",
                "h?group=|the parameter group of zookeeper://h?group= is ''; expected the name of a node, such as dubbo",
                "h?group=/|is '/'; expected the name of a node",
                "h?group=a//b|is 'a//b'; expected the name of a node",
                "h?group=a/b/../c|is 'a/b/../c'; expected the name of a node",
                "h?session=abc|the parameter session of zookeeper://h?session=abc is 'abc'; expected a number of millisec",
                "h?session=-1|is '-1'; expected a number of milliseconds that is greater than 0",
                "h?timeout=0|is '0'; expected a number of milliseconds that is greater than 0",
                "h?ssl.trustStore.location=/nosuch|ssl.trustStore.location of",
                "h?ssl.trustStore.location=/nosuch|expected ssl=true in the same address",
                "h:abc|has the server 'h:abc'; expected a port from 1 to 65535",
                "h:1,g:70000|has the server 'g:70000'; expected a port from 1 to 65535",
                "h:|has the server 'h:'; expected a port from 1 to 65535",
                "h:1,,g:1|has the server ''; expected host or host:port",
                "a b:1|has the server 'a b:1'; expected host or host:port",
            })
    void partWithoutMeaningIsRefusedWithItsValueAndTheAllowedOnes(String address, String expected) {
        assertThatThrownBy(() -> settings(address))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(expected);
    }

    @Test
    void secretValueOfAnUnknownParameterIsNotShown() {
        assertThatThrownBy(() -> settings("h?pasword=secret"))
                .hasMessageContaining("unknown parameter pasword")
                .hasMessageNotContaining("secret");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "h",
                "h:2181, g:2181",
                "[::1]:2181",
                "10.0.0.1:2181/?group=a/b&session=1000&timeout=5",
                "h?backup=g:1&group=/shop",
                "h?ssl=false",
                "h?group=a.b/..c",
            })
    void usualAddressesAreAccepted(String address) {
        assertThat(settings(address).root()).startsWith("/");
    }
}
