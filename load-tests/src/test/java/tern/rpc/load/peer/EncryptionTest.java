package tern.rpc.load.peer;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class EncryptionTest {

    @Test
    void endOfTheNameSelectsTheEngine() {
        assertThat(Encryption.of("tern-proto")).isEqualTo(Encryption.NONE);
        assertThat(Encryption.of("tern-proto-tls")).isEqualTo(Encryption.JDK);
        assertThat(Encryption.of("tern-proto-boringssl")).isEqualTo(Encryption.BORING_SSL);
        assertThat(Encryption.JDK.clearText("tern-proto-tls")).isEqualTo("tern-proto");
        assertThat(Encryption.NONE.clearText("tern-proto")).isEqualTo("tern-proto");
    }

    @Test
    void nativeEngineOfNettyIsSwitched() {
        assertThat(Encryption.NONE.flags()).isEmpty();
        assertThat(Encryption.JDK.flags()).contains("-Dio.netty.handler.ssl.noOpenSsl=true");
        assertThat(Encryption.BORING_SSL.flags()).contains("-Dio.netty.handler.ssl.noOpenSsl=false");
    }
}
