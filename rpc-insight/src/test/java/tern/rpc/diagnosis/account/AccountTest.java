package tern.rpc.diagnosis.account;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tern.rpc.CallLedger;
import tern.rpc.Phase;

/** Tests how the account divides the time of a call whose thread keeps working after the call has ended. */
class AccountTest {

    private static final long DEADLINE = TimeUnit.SECONDS.toNanos(3);
    private static final long TOOK = TimeUnit.SECONDS.toNanos(60);

    private final AtomicLong time = new AtomicLong(1_000);

    private Times afterDeadline(CallLedger ledger) throws InterruptedException {
        time.addAndGet(DEADLINE);
        Thread timer = new Thread(ledger::end);
        timer.start();
        timer.join();
        time.addAndGet(TOOK - DEADLINE);
        EndedCall running = new EndedCall("Tariffs.of", ledger, time.get(), TOOK, null, true, null);
        return Account.of(running, PauseTimes.NONE);
    }

    @ParameterizedTest
    @EnumSource(names = {"SQL", "REDIS", "HTTP", "RPC"})
    void operationThatRunsOnAfterTheDeadlineIsPartOfTheTime(Phase phase) throws InterruptedException {
        CallLedger ledger = CallLedger.ofReceived(time::get, time.get(), 0);
        ledger.turnTo(Phase.OWN);
        ledger.turnTo(phase, "hanging operation");

        Times times = afterDeadline(ledger);

        assertThat(times.sum(Account.part(phase, "").kind())).isEqualTo((double) TOOK);
    }

    @Test
    void ownTimeAfterTheDeadlineStaysOwnTime() throws InterruptedException {
        CallLedger ledger = CallLedger.ofReceived(time::get, time.get(), 0);
        ledger.turnTo(Phase.OWN);

        assertThat(afterDeadline(ledger).of(Account.OWN)).isEqualTo((double) TOOK);
    }
}
