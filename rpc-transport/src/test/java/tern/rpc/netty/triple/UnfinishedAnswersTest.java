package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.netty.triple.UnfinishedAnswers.Account;

class UnfinishedAnswersTest {

    private static final int MIB = 1 << 20;

    private final UnfinishedAnswers all = new UnfinishedAnswers(8 * MIB);
    private final Account first = new Account(all, new Endpoint("10.0.0.7", 1));
    private final Account second = new Account(all, new Endpoint("10.0.0.7", 1));
    private final Account other = new Account(all, new Endpoint("10.0.0.8", 1));

    @AfterEach
    void nothingIsLeft() {
        first.ended();
        second.ended();
        other.ended();
        assertThat(all.usedBytes()).isZero();
    }

    @Test
    void smallAnswersAreNotCounted() {
        assertThat(first.holds(UnfinishedAnswers.FREE_BYTES)).isNull();

        assertThat(all.usedBytes()).isZero();
    }

    @Test
    void singleAnswerIsAlwaysRead() {
        assertThat(first.holds(6 * MIB)).isNull();
        assertThat(first.holds(64 * MIB)).isNull();

        assertThat(all.usedBytes()).isEqualTo(64 * MIB);
    }

    @Test
    void oneServerMayUseAsMuchAsIsFree() {
        assertThat(first.holds(2 * MIB)).isNull();
        assertThat(second.holds(2 * MIB)).isNull();

        assertThat(second.holds(3 * MIB)).contains("hold 4 of the 4 MiB of all unfinished answers; all may hold 8 MiB");
        assertThat(other.holds(2 * MIB)).isNull();
        assertThat(other.holds(3 * MIB)).contains("hold 2 of the 6 MiB");
    }

    @Test
    void memoryOfAShrunkAnswerIsFreeAgain() {
        first.holds(2 * MIB);
        second.holds(2 * MIB);

        first.holds(MIB);

        assertThat(all.usedBytes()).isEqualTo(3 * MIB);
        assertThat(second.holds(2 * MIB + 1)).isNull();
    }

    @Test
    void endedAnswerReleasesItsMemory() {
        first.holds(4 * MIB);

        first.ended();
        first.ended();

        assertThat(all.usedBytes()).isZero();
    }
}
