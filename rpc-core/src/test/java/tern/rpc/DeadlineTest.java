package tern.rpc;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class DeadlineTest {

    @Test
    void remainingTimeRunsThroughZero() {
        Deadline deadline = Deadline.at(100);

        assertThat(deadline.remainingNanos(40)).isEqualTo(60);
        assertThat(deadline.isExpired(99)).isFalse();
        assertThat(deadline.isExpired(100)).isTrue();
    }

    @Test
    void clockMayWrapAround() {
        Deadline deadline = Deadline.at(Long.MAX_VALUE + 50);

        assertThat(deadline.isExpired(Long.MAX_VALUE - 10)).isFalse();
        assertThat(deadline.remainingNanos(Long.MAX_VALUE - 10)).isEqualTo(60);
    }

    @Test
    void earlierDeadlineWinsAndAMissingOneIsIgnored() {
        Deadline soon = Deadline.at(10);
        Deadline late = Deadline.at(20);

        assertThat(soon.earlier(late)).isSameAs(soon);
        assertThat(late.earlier(soon)).isSameAs(soon);
        assertThat(Deadline.none().earlier(late)).isSameAs(late);
        assertThat(late.earlier(Deadline.none())).isSameAs(late);
        assertThat(Deadline.none().isExpired(Long.MAX_VALUE)).isFalse();
    }
}
