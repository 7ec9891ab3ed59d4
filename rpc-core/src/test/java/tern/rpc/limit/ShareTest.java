package tern.rpc.limit;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ShareTest {

    @Test
    void nameOfATenantStaysOnItsLineOfTheLog() {
        String name = new Share("CN=orders\nWARN paid by mallory\u202e").tenant();

        assertThat(name).isEqualTo("CN=orders\\nWARN paid by mallory\\u202E");
    }
}
