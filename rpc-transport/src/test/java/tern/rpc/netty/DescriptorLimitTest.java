package tern.rpc.netty;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class DescriptorLimitTest {

    @Test
    void limitIsAsConfiguredIfThereAreEnoughDescriptors() {
        assertThat(DescriptorLimit.of(8_192, 1 << 20)).isEqualTo(new DescriptorLimit(8_192, 256, 1 << 20));
        assertThat(DescriptorLimit.of(8_192, DescriptorLimit.UNKNOWN).connections())
                .isEqualTo(8_192);
    }

    @Test
    void quarterOfTheDescriptorsIsLeftForOtherUses() {
        DescriptorLimit limit = DescriptorLimit.of(8_192, 4_096);

        assertThat(limit.connections() + limit.leaving()).isEqualTo(4_096 * 3 / 4);
    }

    @Test
    void fewConnectionsCloseAtTheSameTimeIfThereAreFewDescriptors() {
        assertThat(DescriptorLimit.of(8_192, 600)).isEqualTo(new DescriptorLimit(394, 56, 600));
        assertThat(DescriptorLimit.of(100, 400)).isEqualTo(new DescriptorLimit(100, 37, 400));
    }

    @Test
    void moreConnectionsCloseTogetherIfThereAreMany() {
        assertThat(DescriptorLimit.of(8_192, DescriptorLimit.UNKNOWN).together())
                .isEqualTo(16);
        assertThat(DescriptorLimit.of(8_192, 600).together()).isEqualTo(3);
        assertThat(DescriptorLimit.of(8_192, 16).together()).isEqualTo(1);
    }

    @Test
    void atLeastOneConnectionIsAccepted() {
        assertThat(DescriptorLimit.of(8_192, 1)).isEqualTo(new DescriptorLimit(1, 1, 1));
    }
}
