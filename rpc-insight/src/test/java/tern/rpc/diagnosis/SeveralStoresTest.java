package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.first;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import shop.Tickets;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.RunningCall;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.pool.Holders;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;
import tern.rpc.pool.PoolSource;
import tern.rpc.pool.StoreNames;

/** Tests applications with several data sources, several Redis servers or several peers. */
class SeveralStoresTest {

    private static final String READ = "select * from orders where id=?";
    private static final String OTHER = "select * from customer where id=?";
    private static final String PRIMARY = " (data source primary)";
    private static final String REPLICA = " (data source replica)";

    private final Shop shop = new Shop();
    private final List<CallLedger> hanging = new ArrayList<>();
    private long started;

    /** Returns the steps of a call that runs the given operations one after the other. */
    private static Consumer<Shop.Steps> operations(Phase phase, Object... namesAndMillis) {
        return call -> {
            for (int i = 0; i < namesAndMillis.length; i += 2) {
                call.in(phase, (String) namesAndMillis[i], ((Number) namesAndMillis[i + 1]).doubleValue());
            }
        };
    }

    private static Consumer<Shop.Steps> statements(double onPrimary, double onReplica) {
        return operations(
                Phase.SQL,
                READ + PRIMARY,
                onPrimary,
                OTHER + PRIMARY,
                onPrimary,
                READ + REPLICA,
                onReplica,
                OTHER + REPLICA,
                onReplica + 1);
    }

    @Test
    void dataSourceWhoseStatementsAreAllSlowerIsNamed() {
        Diagnosis miss = shop.healthy(statements(1, 1)).miss(statements(1, 60));

        assertThat(DiagnosisText.title(first(miss)))
                .as(miss.text())
                .isEqualTo("SLOW DATABASE: every statement of replica");
        assertThat(first(miss).change().text()).contains("the database of replica: its load");
        assertThat(first(miss).ms()).isGreaterThan(110);
    }

    @Test
    void dataSourceOfTheLateCallsAloneIsNamedIfOthersAnswerQuickly() {
        Consumer<Shop.Steps> usual = operations(Phase.SQL, READ + REPLICA, 2, OTHER + REPLICA, 2);
        Consumer<Shop.Steps> quick = operations(Phase.SQL, READ + PRIMARY, 2, OTHER + PRIMARY, 2);
        for (int i = 0; i < 90; i++) {
            shop.second(() -> both(usual, quick));
        }
        Consumer<Shop.Steps> slow = operations(Phase.SQL, READ + REPLICA, 80, OTHER + REPLICA, 82);
        for (int i = 0; i < 6; i++) {
            shop.second(() -> both(slow, quick));
        }

        assertThat(DiagnosisText.title(first(shop.diagnosis())))
                .as(shop.diagnosis().text())
                .isEqualTo("SLOW DATABASE: every statement of replica");
    }

    private void both(Consumer<Shop.Steps> one, Consumer<Shop.Steps> other) {
        for (int i = 0; i < 50; i++) {
            shop.call(Shop.PLACE, 0, one);
            shop.call("OrderService.find", 0, other);
        }
    }

    @Test
    void dataSourcesThatAreSlowTogetherHaveOneCause() {
        Diagnosis miss = shop.healthy(statements(1, 1)).miss(statements(60, 60));

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("SLOW DATABASE: every statement");
    }

    @Test
    void statementThatIsSlowOnOneDataSourceOnlyIsNamedWithIt() {
        Diagnosis miss = shop.healthy(statements(1, 1))
                .miss(operations(
                        Phase.SQL, READ + PRIMARY, 1, OTHER + PRIMARY, 1, READ + REPLICA, 190, OTHER + REPLICA, 1));

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("SLOW STATEMENT: " + READ + REPLICA);
    }

    @Test
    void tableThatIsLockedInOneDatabaseIsFreeInAnother() {
        String list = "select id from orders where state=?";
        Consumer<Shop.Steps> usual =
                operations(Phase.SQL, READ + PRIMARY, 1, READ + REPLICA, 1, list + REPLICA, 1, OTHER + REPLICA, 2);
        Consumer<Shop.Steps> locked =
                operations(Phase.SQL, READ + PRIMARY, 1, READ + REPLICA, 90, list + REPLICA, 80, OTHER + REPLICA, 2);

        Diagnosis miss = shop.healthy(usual).miss(locked);

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("TABLE LOCK: orders");
    }

    @Test
    void connectionThatLocksATableInOneDatabaseIsNotNamedForAnother() {
        Holders holders = new Holders();
        holders.size(4);
        shop.pools.add(PoolSource.of(() -> jdbc("primary", 1, 10, 0), holders));
        shop.healthy(operations(Phase.SQL, OTHER + PRIMARY, 2, READ + REPLICA, 1, OTHER + REPLICA, 2));
        holders.taken(shop.now()).begins("alter table orders add column note varchar(?)" + PRIMARY);

        Diagnosis miss = shop.miss(operations(Phase.SQL, OTHER + PRIMARY, 2, READ + REPLICA, 190, OTHER + REPLICA, 2));

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("SLOW STATEMENT: " + READ + REPLICA);
        assertThat(miss.text()).doesNotContain("alter table orders");
    }

    @Test
    void connectionThatLocksATableIsNamedForEachDataSourceOfTheDatabase() {
        Holders holders = new Holders();
        holders.size(4);
        shop.pools.add(PoolSource.of(() -> jdbc("primary", 1, 10, 0), holders));
        shop.servers.put("primary", "jdbc:postgresql://db/shop");
        shop.servers.put("replica", "jdbc:postgresql://db/shop");
        shop.healthy(operations(Phase.SQL, OTHER + PRIMARY, 2, READ + REPLICA, 1, OTHER + REPLICA, 2));
        holders.taken(shop.now()).begins("alter table orders add column note varchar(?)" + PRIMARY);

        Diagnosis miss = shop.miss(operations(Phase.SQL, OTHER + PRIMARY, 2, READ + REPLICA, 190, OTHER + REPLICA, 2));

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("TABLE LOCK: orders");
        assertThat(first(miss).change().text()).contains("alter table orders add column");
    }

    @Test
    void commandThatStopsARedisServerExplainsSlowCommandsOfEachClientOfTheServer() {
        shop.servers.put("cache", "redis:6379");
        shop.servers.put("sessions", "redis:6379");
        Consumer<Shop.Steps> usual =
                operations(Phase.REDIS, "GET user:* (Redis cache)", 1, "GET session:* (Redis sessions)", 1);
        Consumer<Shop.Steps> slow = operations(
                Phase.REDIS,
                "KEYS (Redis cache)",
                60,
                "GET user:* (Redis cache)",
                40,
                "GET session:* (Redis sessions)",
                30);

        Diagnosis miss = shop.healthy(usual).miss(slow);

        assertThat(first(miss).symptoms().toString()).as(miss.text()).contains("GET user:*", "GET session:*");
    }

    @Test
    void rowThatIsLockedMayBeHeldByAnotherDataSourceOfTheSameDatabase() {
        String write = "update stock set n=?" + PRIMARY;
        Consumer<Shop.Steps> usual = operations(Phase.SQL, write, 1, OTHER + PRIMARY, 2, READ + REPLICA, 1);
        Consumer<Shop.Steps> waiting = operations(Phase.SQL, write, 190, OTHER + PRIMARY, 2, READ + REPLICA, 1);

        Diagnosis miss = shop.healthy(usual).miss(waiting);

        assertThat(first(miss).kind()).as(miss.text()).isEqualTo("ROW LOCK");
        assertThat(first(miss).change().text())
                .contains("a session of another data source or process")
                .doesNotContain("of these pools");
    }

    @Test
    void redisServerWhoseCommandsAreAllSlowerIsNamed() {
        Diagnosis miss = shop.healthy(redis(1, 1)).miss(redis(1, 70));

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("SLOW REDIS: every command of sessions");
    }

    /** The commands of the slow client are not sent, or are sent late. The server itself answers at once. */
    @Test
    void redisThatAnswersAnotherClientOfTheProcessQuicklyIsNotSlow() {
        shop.servers.put("cache", "redis:6379");
        shop.servers.put("sessions", "redis:6379");

        Diagnosis miss = shop.healthy(redis(1, 1)).miss(redis(1, 400));

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("SLOW REDIS: connection of sessions");
        assertThat(first(miss).change().text())
                .contains("the Redis server is not slow, because it answers cache of this process quickly")
                .contains("setAutoFlushCommands(false)");
    }

    private static Consumer<Shop.Steps> redis(double onCache, double onSessions) {
        return operations(
                Phase.REDIS,
                "GET user:* (Redis cache)",
                onCache,
                "GET item:* (Redis cache)",
                onCache,
                "GET session:* (Redis sessions)",
                onSessions,
                "SET session:* (Redis sessions)",
                onSessions);
    }

    @Test
    void commandThatStopsOneRedisServerDoesNotExplainSlowCommandsOfAnother() {
        Consumer<Shop.Steps> usual =
                operations(Phase.REDIS, "GET user:* (Redis cache)", 1, "GET session:* (Redis sessions)", 1);
        Consumer<Shop.Steps> slow = operations(
                Phase.REDIS,
                "KEYS (Redis cache)",
                60,
                "GET user:* (Redis cache)",
                40,
                "GET session:* (Redis sessions)",
                30);

        Diagnosis miss = shop.healthy(usual).miss(slow);

        assertThat(DiagnosisText.title(first(miss)))
                .as(miss.text())
                .isEqualTo("SLOW REDIS COMMAND: KEYS (Redis cache)");
        assertThat(first(miss).symptoms().toString()).contains("GET user:*").doesNotContain("session");
    }

    @Test
    void httpPeerWhoseRequestsAreAllSlowerIsNamed() {
        Consumer<Shop.Steps> usual =
                operations(Phase.HTTP, "GET stock:8080/levels", 2, "GET stock:8080/items", 2, "GET price:8080/list", 2);
        Consumer<Shop.Steps> slow = operations(
                Phase.HTTP, "GET stock:8080/levels", 80, "GET stock:8080/items", 70, "GET price:8080/list", 2);

        Diagnosis miss = shop.healthy(usual).miss(slow);

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("SLOW HTTP PEER: stock:8080");
        assertThat(first(miss).ms()).isGreaterThan(140);
    }

    @Test
    void singleHttpPeerWhoseRequestsAreAllSlowerIsNamedAlthoughItsNamesContainNoPort() {
        Consumer<Shop.Steps> usual =
                operations(Phase.HTTP, "GET api.example.com/orders", 2, "GET api.example.com/items", 2);
        Consumer<Shop.Steps> slow =
                operations(Phase.HTTP, "GET api.example.com/orders", 80, "GET api.example.com/items", 75);

        Diagnosis miss = shop.healthy(usual).miss(slow);

        assertThat(first(miss).kind()).as(miss.text()).isEqualTo("SLOW HTTP PEER");
    }

    @Test
    void peerWithAnIpv6AddressIsNamed() {
        Consumer<Shop.Steps> usual =
                operations(Phase.HTTP, "GET [::1]:8080/levels", 2, "GET [::1]:8080/items", 2, "GET price:80/list", 2);
        Consumer<Shop.Steps> slow =
                operations(Phase.HTTP, "GET [::1]:8080/levels", 80, "GET [::1]:8080/items", 70, "GET price:80/list", 2);

        Diagnosis miss = shop.healthy(usual).miss(slow);

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("SLOW HTTP PEER: [::1]:8080");
    }

    @Test
    void providerWhoseMethodsAreAllSlowerIsNamed() {
        Consumer<Shop.Steps> usual = operations(
                Phase.RPC,
                "StockService.take at stock-1:20880",
                2,
                "PriceService.of at stock-1:20880",
                2,
                "StockService.take at stock-2:20880",
                2);
        Consumer<Shop.Steps> slow = operations(
                Phase.RPC,
                "StockService.take at stock-1:20880",
                70,
                "PriceService.of at stock-1:20880",
                70,
                "StockService.take at stock-2:20880",
                2);

        Diagnosis miss = shop.healthy(usual).miss(slow);

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("PEER: stock-1:20880");
    }

    private void pool(String name, int active, int max, int waiting) {
        shop.pools.add(PoolSource.of(() -> jdbc(name, active, max, waiting), null));
    }

    private static PoolSnapshot jdbc(String name, int active, int max, int waiting) {
        return PoolSnapshot.builder(name, PoolKind.JDBC, max)
                .now(active, max - active, waiting)
                .counts(0, 0)
                .sums(Duration.ZERO, Duration.ZERO)
                .settings(List.of())
                .build();
    }

    private void hang(Phase phase, String... names) {
        started = shop.now();
        for (String name : names) {
            Shop.Steps steps = shop.new Steps(0);
            steps.ledger.enter(phase, name);
            hanging.add(steps.ledger);
        }
    }

    private Diagnosis during(Consumer<Shop.Steps> others, String... answering) {
        for (int i = 0; i < 6; i++) {
            shop.running.clear();
            for (CallLedger ledger : hanging) {
                shop.running.add(new RunningCall(
                        Shop.PLACE, RunningCall.NO_THREAD, ledger.phase(), started, shop.now() - started, ledger));
            }
            for (String name : answering) {
                shop.answers.put(name, shop.now());
            }
            shop.second(50, others);
        }
        return shop.diagnosis();
    }

    @Test
    void databaseThatDoesNotAnswerIsNamedWhileAnotherOneAnswers() {
        pool("primary", 1, 10, 0);
        pool("replica", 4, 4, 5);
        shop.healthy(statements(1, 1));
        shop.answers.put("primary", shop.now());
        shop.answers.put("replica", shop.now());
        hang(Phase.SQL, READ + REPLICA, OTHER + REPLICA, READ + REPLICA, OTHER + REPLICA);
        hang(Phase.JDBC_CONNECTION, "replica", "replica", "replica");

        Diagnosis miss = during(operations(Phase.SQL, READ + PRIMARY, 2), "primary");

        assertThat(miss.causes())
                .as(miss.text())
                .extracting(DiagnosisText::title)
                .containsExactly("PEER FAILS: database of replica: does not answer");
    }

    @Test
    void databasesThatAnswerAreNotGone() {
        shop.healthy(statements(1, 1));
        hang(Phase.SQL, READ + REPLICA, OTHER + REPLICA, READ + REPLICA, OTHER + REPLICA);

        Diagnosis miss = during(operations(Phase.SQL, READ + PRIMARY, 2), "primary", "replica");

        assertThat(miss.text()).doesNotContain("does not answer");
    }

    @Test
    void redisServerThatDoesNotAnswerIsNamedWhileAnotherOneAnswers() {
        shop.healthy(redis(1, 1));
        shop.answers.put("cache", shop.now());
        shop.answers.put("sessions", shop.now());
        String command = "GET session:* (Redis sessions)";
        hang(Phase.REDIS, command, command, command, command);

        Diagnosis miss = during(operations(Phase.REDIS, "GET user:* (Redis cache)", 2), "cache");

        assertThat(DiagnosisText.title(first(miss)))
                .as(miss.text())
                .isEqualTo("PEER FAILS: Redis of sessions: does not answer");
    }

    @Test
    void exchangeThatStillRunsIsNamed() {
        shop.healthy(operations(Phase.HTTP, "GET stock:8080/levels", 2));
        hang(Phase.HTTP, "GET price:8080/list", "GET price:8080/list", "GET price:8080/list");

        Diagnosis miss = during(operations(Phase.HTTP, "GET stock:8080/levels", 2));

        assertThat(DiagnosisText.title(first(miss)))
                .as(miss.text())
                .isEqualTo("PEER FAILS: GET price:8080/list: does not answer");
    }

    @Test
    void poolThatIsTooSmallIsNamedAndNotTheOther() {
        pool("primary", 1, 10, 0);
        pool("replica", 4, 4, 9);
        shop.healthy(statements(1, 1));

        Diagnosis miss = shop.miss(call -> call.in(Phase.JDBC_CONNECTION, "replica", 150)
                .in(Phase.SQL, READ + REPLICA, 1)
                .in(Phase.SQL, READ + PRIMARY, 1));

        assertThat(first(miss).name()).as(miss.text()).isEqualTo("replica");
    }

    @Test
    void callsThatGiveUpWaitingForOneDataSourceBlameIt() {
        pool("primary", 1, 10, 0);
        pool("replica", 0, 10, 5);
        shop.healthy(statements(1, 1));
        shop.answers.put("primary", shop.now());
        shop.answers.put("replica", shop.now());
        for (int i = 0; i < 6; i++) {
            shop.answers.put("primary", shop.now());
            shop.second(() -> {
                for (int call = 0; call < 20; call++) {
                    shop.call(
                            Shop.PLACE,
                            0,
                            Tickets.gaveUp(),
                            steps -> steps.own(1).in(Phase.SQL, READ + REPLICA, 400));
                    shop.call("OrderService.find", 0, operations(Phase.SQL, READ + PRIMARY, 2));
                }
            });
        }

        assertThat(first(shop.diagnosis()).name()).as(shop.diagnosis().text()).contains("replica");
    }

    @Test
    void onlyAnApplicationWithSeveralStoresNamesThem() {
        StoreNames names = StoreNames.ofDataSources();
        StoreNames.Store primary = names.add("primary");

        assertThat(primary.operation(READ)).isEqualTo(READ);

        names.add("replica");

        assertThat(primary.operation(READ)).isEqualTo(READ + PRIMARY);
        assertThat(OperationNames.store(READ + PRIMARY + " (failed 40001)")).isEqualTo("primary");
        assertThat(OperationNames.store("select 1 from [dbo].[orders]")).isEmpty();
        assertThat(OperationNames.store("select a:5 from b at c:6 where x=?")).isEmpty();
    }
}
