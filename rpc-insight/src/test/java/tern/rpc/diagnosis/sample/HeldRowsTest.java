package tern.rpc.diagnosis.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.first;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import shop.Packages;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.diagnosis.Diagnosis;
import tern.rpc.diagnosis.DiagnosisText;
import tern.rpc.diagnosis.Shop;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.pool.Holders;
import tern.rpc.pool.Holders.Holder;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;
import tern.rpc.pool.PoolSource;

/** Tests which transaction the diagnosis names as the holder of a lock that a statement waits for. */
class HeldRowsTest {

    private static final String LOCK = "select id from stock where id <= ? for update";
    private static final String WAIT = "update stock set n = n - ? where id = ?";
    private static final String EXCHANGE = "POST bank:80/number";
    private static final long TARGET = 100_000_000L;

    private final Holders holders = new Holders();
    private final PoolSource pool = PoolSource.of(
            () -> PoolSnapshot.builder("hikari", PoolKind.JDBC, 10)
                    .now(2, 8, 0)
                    .counts(0, 0)
                    .sums(Duration.ZERO, Duration.ZERO)
                    .settings(List.of())
                    .build(),
            holders);
    private final HeldRows rows = new HeldRows();
    private final CompletableFuture<String> end = new CompletableFuture<>();
    private final List<Thread> threads = new ArrayList<>();

    @AfterEach
    void endThreads() throws InterruptedException {
        end.complete("");
        for (Thread thread : threads) {
            thread.join();
        }
    }

    /** Starts a transaction of a job, which runs the given statements and then waits for a peer. */
    private Holder job(String... statements) throws Exception {
        CompletableFuture<Holder> taken = new CompletableFuture<>();
        Thread thread = new Thread(
                () -> {
                    Holder holder = holders.taken(System.nanoTime());
                    for (String statement : statements) {
                        holder.begins(statement);
                        holder.ends();
                    }
                    taken.complete(holder);
                    Packages.extra(end);
                },
                "audit-7");
        threads.add(thread);
        thread.start();
        Holder holder = taken.get();
        while (thread.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
        return holder;
    }

    private Holder waits(String statement) {
        Holder holder = holders.taken(System.nanoTime());
        holder.begins(statement);
        return holder;
    }

    private void look(int times) {
        for (int i = 0; i < times; i++) {
            rows.look(List.of(pool), 0);
        }
    }

    private HeldRows.@Nullable Found found() {
        return rows.holderFor(WAIT, lock -> true);
    }

    @Test
    void transactionBetweenItsStatementsHoldsTheRow() throws Exception {
        job(LOCK, "select price from prices");
        waits(WAIT);
        look(3);

        HeldRows.Found found = found();
        assertThat(found).isNotNull();
        assertThat(found.advice())
                .startsWith("shorten the transaction that holds the row")
                .contains("it locked rows with " + LOCK)
                .contains("thread audit is mostly in Packages.extra:")
                .endsWith("do not hold the lock during an HTTP exchange");
        assertThat(found.fact()).contains("in 3 samples");
    }

    @Test
    void holderStaysKnownAfterItsTransactionUntilTheMissEnds() throws Exception {
        Holder job = job(LOCK);
        Holder waiting = waits(WAIT);
        look(2);
        job.begins("commit");
        job.ends();
        holders.returned(job);
        holders.returned(waiting);
        look(2);

        assertThat(found()).isNotNull();
        rows.clear();
        assertThat(found()).isNull();
    }

    @Test
    void oneInspectionIsNotEnough() throws Exception {
        job(LOCK);
        waits(WAIT);
        look(1);

        assertThat(found()).isNull();
    }

    @Test
    void shortTransactionsThatFollowEachOtherHoldNothing() {
        waits(WAIT);
        for (int i = 0; i < 20; i++) {
            Holder quick = holders.taken(0);
            quick.begins(LOCK);
            quick.ends();
            quick.begins("insert into orders values (?)");
            look(1);
            holders.returned(quick);
        }

        assertThat(found()).isNull();
    }

    @Test
    void transactionThatRunsALongStatementOfAnotherTableHoldsTheRow() throws Exception {
        Holder job = job(LOCK);
        job.begins("select sum(n) from history");
        waits(WAIT);
        look(2);

        HeldRows.Found found = found();
        assertThat(found).isNotNull();
        assertThat(found.work()).isEqualTo(Part.Kind.SQL);
    }

    @Test
    void connectionThatTookALockOfTheDatabaseHoldsItUntilItsRelease() throws Exception {
        String lock = "select get_lock(?, ...)";
        Holder job = job(lock);
        waits(lock);
        look(2);

        HeldRows.Found found = rows.holderFor(lock, other -> true);
        assertThat(found).isNotNull();
        assertThat(found.advice()).startsWith("release this lock sooner").contains("taken with " + lock);
        rows.clear();
        job.begins("select release_lock(?)");
        job.ends();
        look(2);
        assertThat(rows.holderFor(lock, other -> true)).isNull();
    }

    @Test
    void statementThatReadsWaitsOnlyForALockOfItsTable() throws Exception {
        String read = "select n from stock where id = ?";
        job(LOCK);
        waits(read);
        look(2);
        assertThat(rows.holderFor(read, other -> true)).isNull();

        job("lock table stock in exclusive mode");
        waits(read);
        look(2);
        assertThat(rows.holderFor(read, other -> true)).isNotNull();
    }

    @Test
    void transactionsOfOtherTablesOrServersHoldNothing() throws Exception {
        job("update prices set amount = ?");
        job(LOCK);
        waits(WAIT);
        waits("update carts set n = ?");
        look(2);

        assertThat(rows.holderFor("update carts set n = ?", lock -> true)).isNull();
        assertThat(rows.holderFor(WAIT, lock -> false)).isNull();
    }

    @Test
    void transactionThatWaitsForTheSameTableIsNotAHolder() throws Exception {
        waits(WAIT);
        Holder other = job(LOCK);
        other.begins("delete from stock where id = ?");
        waits(WAIT);
        look(2);

        assertThat(found()).isNull();
    }

    @Test
    void transactionThatLockedTheRowAfterTheWaitBeganIsNotAHolder() throws Exception {
        waits(WAIT);
        job(LOCK);
        look(2);

        assertThat(found()).isNull();
    }

    @Test
    void endedTransactionIsNotAHolder() throws Exception {
        job(LOCK, "commit");
        waits(WAIT);
        look(2);

        assertThat(found()).isNull();
    }

    /** Begins a transaction of a call that locks rows and then runs an HTTP exchange. */
    private Holder booking() {
        CallLedger call = new CallLedger(System::nanoTime);
        CallLedger before = CallLedger.replace(call);
        try {
            Holder holder = holders.taken(System.nanoTime());
            holder.begins(LOCK);
            holder.ends();
            call.enter(Phase.HTTP, EXCHANGE);
            return holder;
        } finally {
            CallLedger.replace(before);
        }
    }

    /**
     * Simulates transactions that follow each other. Each of them is found by only one inspection of the connections.
     */
    private void lookAtBookings(int times) {
        for (int i = 0; i < times; i++) {
            Holder booking = booking();
            Holder waiting = waits(WAIT);
            look(1);
            holders.returned(booking);
            holders.returned(waiting);
        }
    }

    @Test
    void shortTransactionsWithTheSameExchangeHoldTheRow() {
        lookAtBookings(5);

        HeldRows.Found found = found();
        assertThat(found).isNotNull();
        assertThat(found.operation()).isEqualTo(new Part(Part.Kind.HTTP, EXCHANGE));
        assertThat(found.advice()).endsWith("do not hold the lock during an HTTP exchange: " + EXCHANGE);
    }

    @Test
    void fewInspectionsOfShortTransactionsShowNoHolder() {
        lookAtBookings(3);

        assertThat(found()).isNull();
    }

    @Test
    void transactionsThatMakeTheirExchangesAtTheSameTimeHoldDifferentRows() {
        for (int i = 0; i < 8; i++) {
            List<Holder> all = List.of(booking(), booking(), waits(WAIT));
            look(1);
            all.forEach(holders::returned);
        }

        assertThat(found()).isNull();
    }

    /** Returns the diagnosis if calls wait for rows that other calls lock during an exchange. */
    private Diagnosis missDuringExchange(Consumer<Shop.Steps> usual, double exchangeMillis) {
        return missDuringExchange(usual, 60, exchangeMillis);
    }

    private Diagnosis missDuringExchange(Consumer<Shop.Steps> usual, double waitMillis, double exchangeMillis) {
        Shop shop = new Shop();
        shop.pools.add(pool);
        shop.healthy(usual);
        Holder booking = booking();
        Holder waiting = waits(WAIT);
        while (System.nanoTime() - waiting.statementNanos() < TARGET / 10) {
            Thread.onSpinWait();
        }
        for (int i = 0; i < 5; i++) {
            shop.diagnostician.look();
        }
        holders.returned(booking);
        holders.returned(waiting);
        return shop.miss(call -> call.in(Phase.SQL, "select price", 3)
                .in(Phase.SQL, WAIT, waitMillis)
                .in(Phase.HTTP, EXCHANGE, exchangeMillis));
    }

    @Test
    void newExchangeIsTimeOfTheLockIfCallsWouldMeetTheTargetWithoutTheirWait() {
        Diagnosis miss =
                missDuringExchange(call -> call.in(Phase.SQL, "select price", 3).in(Phase.SQL, WAIT, 1), 35, 80);

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("ROW LOCK: " + WAIT);
        assertThat(miss.causes()).hasSize(1);
    }

    @Test
    void placeOfAHolderLeavesOutInterceptorsThatHavePassedTheCallOn() {
        StackTraceElement[] frames = {
            new StackTraceElement("jdk.internal.misc.Unsafe", "park", null, -2),
            new StackTraceElement("org.springframework.http.client.InterceptingRequestExecution", "execute", null, 9),
            new StackTraceElement("shop.Patience", "intercept", null, 13),
            new StackTraceElement("org.springframework.web.client.RestClient", "retrieve", null, 9),
            new StackTraceElement("shop.Bookings", "number", null, 39),
            new StackTraceElement("shop.Desk", "book", null, 41)
        };

        assertThat(Statements.place(frames)).isEqualTo("Bookings.number:39, called from Desk.book:41");
    }

    @Test
    void newExchangeWithinATransactionIsTimeOfTheLock() {
        Diagnosis miss =
                missDuringExchange(call -> call.in(Phase.SQL, "select price", 3).in(Phase.SQL, WAIT, 1), 62);

        Cause first = first(miss);
        assertThat(miss.causes()).as(miss.text()).hasSize(1);
        assertThat(DiagnosisText.title(first)).isEqualTo("ROW LOCK: " + WAIT);
        assertThat(first.change().text()).contains("do not hold the lock during an HTTP exchange: " + EXCHANGE);
        assertThat(first.symptoms())
                .anyMatch(line -> line.startsWith(EXCHANGE + " runs while its transaction holds locked rows"));
    }

    @Test
    void newExchangeThatTakesMuchLongerThanTheWaitIsNotTimeOfTheLock() {
        Diagnosis miss =
                missDuringExchange(call -> call.in(Phase.SQL, "select price", 3).in(Phase.SQL, WAIT, 1), 800);

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("SLOW HTTP PEER: " + EXCHANGE);
    }

    @Test
    void exchangeThatBecameSlowerIsTheCauseOfTheLock() {
        Diagnosis miss = missDuringExchange(
                call -> call.in(Phase.SQL, "select price", 3)
                        .in(Phase.SQL, WAIT, 1)
                        .in(Phase.HTTP, EXCHANGE, 5),
                80);

        Cause first = first(miss);
        assertThat(DiagnosisText.title(first)).as(miss.text()).isEqualTo("SLOW HTTP PEER: " + EXCHANGE);
        assertThat(first.change().text())
                .startsWith("do not hold locked rows that other calls wait for, in " + WAIT + ", while");
        assertThat(miss.causes()).hasSize(1);
    }

    @Test
    void diagnosisNamesAHolderWhoseTransactionHasEnded() throws Exception {
        Shop shop = new Shop();
        shop.pools.add(pool);
        shop.healthy(call -> call.in(Phase.SQL, "select price", 3).in(Phase.SQL, WAIT, 1));
        Holder job = job(LOCK);
        Holder waiting = waits(WAIT);
        while (System.nanoTime() - waiting.statementNanos() < TARGET / 10) {
            Thread.onSpinWait();
        }
        shop.diagnostician.look();
        shop.diagnostician.look();
        holders.returned(job);
        holders.returned(waiting);

        Cause first =
                first(shop.miss(call -> call.in(Phase.SQL, "select price", 3).in(Phase.SQL, WAIT, 400)));

        assertThat(DiagnosisText.title(first)).isEqualTo("ROW LOCK: " + WAIT);
        assertThat(first.change().where()).isEqualTo(Cause.Where.CODE);
        assertThat(first.change().text()).contains("Packages.extra:").contains("waiting: " + WAIT);
        assertThat(first.evidence()).anyMatch(fact -> fact.startsWith("holder   thread audit*"));
    }

    @Test
    void diagnosisNamesTheHolderIfSeveralStatementsOfTheTableWait() throws Exception {
        String other = "delete from stock where id = ?";
        Shop shop = new Shop();
        shop.pools.add(pool);
        String read = "select n from stock where id = ?";
        shop.healthy(call -> call.in(Phase.SQL, read, 1)
                .in(Phase.SQL, "select price from prices", 3)
                .in(Phase.SQL, WAIT, 1)
                .in(Phase.SQL, other, 1));
        job(LOCK);
        Holder waiting = waits(other);
        while (System.nanoTime() - waiting.statementNanos() < TARGET / 10) {
            Thread.onSpinWait();
        }
        shop.diagnostician.look();
        shop.diagnostician.look();
        holders.returned(waiting);

        Cause first = first(shop.miss(call -> call.in(Phase.SQL, read, 1)
                .in(Phase.SQL, "select price from prices", 3)
                .in(Phase.SQL, WAIT, 90)
                .in(Phase.SQL, other, 80)));

        assertThat(DiagnosisText.title(first)).isEqualTo("ROW LOCK: stock");
        assertThat(first.change().text()).startsWith("shorten the transaction").contains("Packages.extra:");
    }
}
