package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PingPaceTest {

    private final PingPace pace = new PingPace();

    @Test
    void twoPingsAreAllowedUntilTheServerSendsData() {
        assertThat(pace.take()).isTrue();
        pace.acknowledged();
        assertThat(pace.take()).isTrue();
        pace.acknowledged();
        assertThat(pace.take()).isFalse();
        assertThat(pace.take()).isFalse();

        pace.moved();

        assertThat(pace.take()).isTrue();
        assertThat(pace.take()).isTrue();
        assertThat(pace.take()).isFalse();
    }

    @Test
    void pingThatMayHaveArrivedAfterTheDataStillCounts() {
        assertThat(pace.take()).isTrue();
        pace.moved();
        pace.acknowledged();

        assertThat(pace.take()).isTrue();
        assertThat(pace.take()).isFalse();
    }

    @Test
    void acknowledgementsWithoutAPingGrantNoPings() {
        pace.acknowledged();
        pace.acknowledged();
        assertThat(pace.take()).isTrue();
        assertThat(pace.take()).isTrue();

        pace.moved();

        assertThat(pace.take()).isFalse();
    }
}
