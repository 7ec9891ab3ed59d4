package tern.rpc.registry.dubbo;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NameHashTest {

    /** The key and the hashes are test vectors from the reference implementation of SipHash-2-4. */
    @ParameterizedTest
    @CsvSource({"0, 726fdb47dd0e0e31", "1, 74f839c593dc67fd", "8, 93f5f5799a932462", "15, a129ca6149be45e5"})
    void hashesAreThoseOfTheReferenceImplementation(int length, String expected) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) i;
        }

        assertThat(Long.toHexString(new NameHash(0x0706050403020100L, 0x0f0e0d0c0b0a0908L).of(bytes)))
                .isEqualTo(expected);
    }

    @Test
    void hashesOfOneProcessAreUnknownToOthers() {
        assertThat(new NameHash().of("dubbo%3A%2F%2F10.0.0.1"))
                .isNotEqualTo(new NameHash().of("dubbo%3A%2F%2F10.0.0.1"));
    }
}
