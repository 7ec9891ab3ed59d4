package tern.rpc.diagnosis.excess;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.first;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import shop.Packages;
import tern.rpc.Phase;
import tern.rpc.diagnosis.Diagnosis;
import tern.rpc.diagnosis.DiagnosisText;
import tern.rpc.diagnosis.SampledCalls;
import tern.rpc.diagnosis.Shop;
import tern.rpc.diagnosis.WaitingCalls;
import tern.rpc.diagnosis.account.Account;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.calls.UsualOperations;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.rule.MissedJobs;
import tern.rpc.pool.OutsideOperations;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;

/** Tests that the diagnosis distinguishes additional operations from slower operations. */
class OperationCountsTest {

    private static final String NO_LONGER_HOLDS = "the cache in front of this operation no longer holds its values";

    private final Shop shop = new Shop();

    private static Consumer<Shop.Steps> chatty(Phase phase, String one, String other, int count, double millis) {
        return call -> {
            for (int i = 0; i < count; i++) {
                call.in(phase, i % 3 == 0 ? one : other, millis);
            }
        };
    }

    /** Simulates calls that start to run different operations, and checks which cause the diagnosis names first. */
    private void assertFirstAfter(Consumer<Shop.Steps> usual, Consumer<Shop.Steps> now, String title) {
        shop.healthy(usual).miss(now);
        assertFirst(title);
    }

    @Test
    void usualNumberOfStatementsIsNotTheCauseIfEachBecomesALittleSlower() {
        shop.healthy(chatty(Phase.SQL, "select item", "select price", 12, 7))
                .miss(chatty(Phase.SQL, "select item", "select price", 12, 10));

        assertThat(shop.diagnosis().causes())
                .as(shop.diagnosis().text())
                .extracting(Cause::kind)
                .isNotEmpty()
                .doesNotContain("MANY STATEMENTS");
    }

    @Test
    void chattyCallsWhoseStatementsBecomeSlowerHaveASlowDatabase() {
        assertFirstAfter(
                chatty(Phase.SQL, "select item", "select price", 12, 1),
                chatty(Phase.SQL, "select item", "select price", 12, 9),
                "SLOW DATABASE: every statement");
    }

    @Test
    void chattyCallsWhoseCommandsBecomeSlowerHaveASlowRedis() {
        assertFirstAfter(
                chatty(Phase.REDIS, "GET item:*", "GET price:*", 12, 1),
                chatty(Phase.REDIS, "GET item:*", "GET price:*", 12, 9),
                "SLOW REDIS: every command");
    }

    @Test
    void chattyCallsOfASlowPeerAreNotTooMany() {
        assertFirstAfter(
                chatty(Phase.HTTP, "GET stock:80", "GET stock:80", 9, 2),
                chatty(Phase.HTTP, "GET stock:80", "GET stock:80", 9, 15),
                "SLOW HTTP PEER: GET stock:80");
    }

    @Test
    void statementsAreTooManyIfTheirNumberHasGrownMoreThanTheirDuration() {
        assertFirstAfter(
                chatty(Phase.SQL, "select item", "select item", 1, 1),
                chatty(Phase.SQL, "select item", "select item", 60, 4),
                "MANY STATEMENTS: select item");
    }

    @Test
    void manyRemoteCallsThatWereRareBeforeAreNotFewerWithABatch() {
        seconds(90, cached(Phase.RPC, "Events.find", 3, 6));
        seconds(6, () -> chatty(Phase.RPC, "Events.find", "Events.find", 36, 6));

        Cause first = assertFirst("MORE REMOTE CALLS: Events.find");
        assertThat(first.change().text()).contains("times as often as usual").contains("a cache");
    }

    /**
     * Simulates calls that run 30 operations each, while their threads load values for a cache. Returns the cause that
     * the diagnosis names first.
     */
    private static Cause firstOfLoads(Phase phase, @Nullable String cache, int usually) {
        return new SampledCalls()
                .usuallyRuns("Events.page", phase, "Events.find", usually)
                .repeatingIn("Events.page", phase, "Events.find", 30, 6, samples -> {
                    samples.add(new Sample(
                            0, phase, Account.part(phase, ""), List.of(), null, null, null, false, null, -1, -1));
                    samples.cache = cache;
                    samples.loadedIn = phase;
                })
                .causes()
                .get(0);
    }

    @Test
    void cacheThatLoadsValuesInManyOperationsIsNamed() {
        Cause first = firstOfLoads(Phase.RPC, "Caffeine", 0);

        assertThat(first.title()).isEqualTo("MORE REMOTE CALLS: Events.find");
        assertThat(first.change().text()).contains(NO_LONGER_HOLDS + " (Caffeine)");
    }

    @Test
    void cacheOfAnOperationThatCallsRunAsOftenAsUsualIsNotNamed() {
        assertThat(firstOfLoads(Phase.RPC, "Caffeine", 30).change().text()).doesNotContain("no longer holds");
    }

    /** Returns the steps of calls. Only one in {@code oneIn} calls runs the slow operation. */
    private static Supplier<Consumer<Shop.Steps>> cached(Phase phase, String name, int oneIn, double millis) {
        int[] number = {0};
        return () -> {
            boolean runs = number[0]++ % oneIn == 0;
            return call -> {
                call.own(2).in(phase, "quick operation", 1);
                if (runs) {
                    call.in(phase, name, millis);
                }
            };
        };
    }

    private void seconds(int count, Supplier<Consumer<Shop.Steps>> calls) {
        for (int i = 0; i < count; i++) {
            shop.second(() -> {
                for (int call = 0; call < 100; call++) {
                    shop.call(Shop.PLACE, 0, calls.get());
                }
            });
        }
    }

    /** Returns the steps of calls that each run the slow operation. */
    private static Supplier<Consumer<Shop.Steps>> uncached(double own, Phase phase, String name, double millis) {
        return () -> call -> call.own(own).in(phase, "quick operation", 1).in(phase, name, millis);
    }

    /** Checks the title of the first cause, and returns this cause. */
    private Cause assertFirst(String title) {
        Diagnosis diagnosis = shop.diagnosis();
        Cause first = first(diagnosis);
        assertThat(DiagnosisText.title(first)).as(diagnosis.text()).isEqualTo(title);
        return first;
    }

    /** Adds a pool of four connections. The number of uses in a second may change. */
    private void fullPool(int[] uses, int holdMillis) {
        long[] taken = {0};
        shop.pools.add(() -> PoolSnapshot.builder("hikari", PoolKind.JDBC, 4)
                .now(4, 0, 30)
                .counts(taken[0] += uses[0], 0)
                .sums(Duration.ZERO, Duration.ofMillis(taken[0] * holdMillis))
                .settings(List.of())
                .build());
    }

    @ParameterizedTest
    @CsvSource({
        "SQL, select price where id=?, MORE STATEMENTS",
        "REDIS, HGETALL price:*, MORE COMMANDS",
        "HTTP, GET prices:80/price, MORE HTTP CALLS",
        "RPC, PriceService.of at prices-1:20880, MORE REMOTE CALLS"
    })
    void operationsInFrontOfWhichACacheIsLostAreMoreThanUsual(Phase phase, String name, String kind) {
        seconds(90, cached(phase, name, 51, 70));
        seconds(6, uncached(45, phase, name, 70));

        Cause first = assertFirst(kind + ": " + name);
        assertThat(first.change().text()).contains("times as often as usual").contains("the cache in front of");
        assertThat(first.evidence()).anyMatch(fact -> fact.startsWith("often    0.9 per call, usually 0.02"));
    }

    @ParameterizedTest
    @CsvSource({
        "SQL, select price where id=?, MORE STATEMENTS",
        "REDIS, HGETALL price:*, MORE COMMANDS",
        "HTTP, GET prices:80/price, MORE HTTP CALLS",
        "RPC, PriceService.of at prices-1:20880, MORE REMOTE CALLS"
    })
    void cacheThatUsuallyHoldsHalfOfTheValuesIsLost(Phase phase, String name, String kind) {
        seconds(90, cached(phase, name, 3, 70));
        seconds(6, uncached(30, phase, name, 75));

        assertThat(assertFirst(kind + ": " + name).change().text()).contains(NO_LONGER_HOLDS);
    }

    @ParameterizedTest
    @CsvSource({
        "SQL, select price where id=?, MORE STATEMENTS",
        "HTTP, GET prices:80/price, MORE HTTP CALLS",
        "RPC, PriceService.of at prices-1:20880, MORE REMOTE CALLS"
    })
    void cacheIsNamedAlthoughTheLoadOfItsMissesMakesTheServerSlow(Phase phase, String name, String kind) {
        seconds(90, cached(phase, name, 7, 5));
        seconds(6, uncached(2, phase, name, 130));

        assertThat(assertFirst(kind + ": " + name).change().text()).contains(NO_LONGER_HOLDS);
    }

    /** Returns the steps of calls. One in {@code oneIn} calls loads a price with three statements. */
    private static Supplier<Consumer<Shop.Steps>> cachedPrice(int oneIn, double millis) {
        int[] number = {0};
        return () -> {
            boolean loads = number[0]++ % oneIn == 0;
            return call -> {
                call.own(2).in(Phase.REDIS, "GET price:*", 1);
                for (String table : loads ? List.of("price", "tax", "tier") : List.<String>of()) {
                    call.in(Phase.SQL, "select " + table, millis);
                }
            };
        };
    }

    @Test
    void severalStatementsBehindOneLostCacheAreOneCause() {
        seconds(90, cachedPrice(11, 4));
        seconds(6, cachedPrice(1, 42));

        Cause first = assertFirst("MORE STATEMENTS: select price");
        assertThat(first.change().text()).contains(NO_LONGER_HOLDS);
        assertThat(first.symptoms()).anyMatch(symptom -> symptom.contains("calls also run select tax more often"));
        assertThat(shop.diagnosis().causes()).hasSize(1);
    }

    private static Consumer<Shop.Steps> lookups(Phase phase, String name, int count) {
        return call -> {
            call.own(2).in(Phase.HTTP, "GET terms:80", 8);
            for (int i = 0; i < count; i++) {
                call.in(phase, name, 9);
            }
        };
    }

    @ParameterizedTest
    @CsvSource({
        "SQL, select product, MORE STATEMENTS",
        "REDIS, HGETALL product:*, MORE COMMANDS",
        "HTTP, GET products:80/product, MORE HTTP CALLS",
        "RPC, ProductService.get at products-1:20880, MORE REMOTE CALLS"
    })
    void operationsThatCallsRanOnlyWhileACacheWasColdAreBehindThisCache(Phase phase, String name, String kind) {
        seconds(20, () -> lookups(phase, name, 16));
        seconds(120, () -> lookups(phase, name, 0));
        seconds(6, () -> lookups(phase, name, 16));

        Cause first = first(shop.diagnosis());
        assertThat(first.kind()).as(shop.diagnosis().text()).isEqualTo(kind);
        assertThat(first.change().text()).contains(NO_LONGER_HOLDS).contains(" per call, usually 0)");
    }

    @Test
    void manyOperationsThatCallsNeverRanMayBeNewCodeOrACache() {
        seconds(90, () -> lookups(Phase.SQL, "select product", 0));
        seconds(6, () -> lookups(Phase.SQL, "select product", 16));

        Cause first = assertFirst("MANY STATEMENTS: select product");
        assertThat(first.change().text())
                .contains("calls do not usually run it, so new code runs it, or a cache in front of it");
    }

    @Test
    void statementThatWasQuickWhileTheCacheWasColdIsSlow() {
        seconds(20, () -> call -> call.own(2).in(Phase.HTTP, "GET terms:80", 8).in(Phase.SQL, "select product", 9));
        seconds(120, () -> lookups(Phase.SQL, "select product", 0));
        seconds(6, () -> call -> call.own(2).in(Phase.HTTP, "GET terms:80", 8).in(Phase.SQL, "select product", 300));

        assertFirst("SLOW STATEMENT: select product");
    }

    @Test
    void slowLoadThatLetsMoreCallsFindNoValueIsSlow() {
        seconds(90, cached(Phase.HTTP, "GET rates:80/rate", 11, 10));
        seconds(6, cached(Phase.HTTP, "GET rates:80/rate", 3, 500));

        assertFirst("SLOW HTTP PEER: GET rates:80/rate");
    }

    @Test
    void slowOperationBehindACacheIsNotMoreThanUsual() {
        seconds(90, cached(Phase.HTTP, "GET prices:80/price", 3, 5));
        seconds(6, cached(Phase.HTTP, "GET prices:80/price", 3, 150));

        assertThat(first(shop.diagnosis()).kind()).as(shop.diagnosis().text()).isEqualTo("SLOW HTTP PEER");
    }

    @Test
    void otherStatementsWaitForThoseThatAreMoreThanUsual() {
        seconds(90, cached(Phase.SQL, "select price", 51, 50));
        seconds(
                6,
                () -> call -> call.own(2).in(Phase.SQL, "quick operation", 30).in(Phase.SQL, "select price", 90));

        Cause first = assertFirst("MORE STATEMENTS: select price");
        assertThat(first.symptoms()).anyMatch(symptom -> symptom.contains("quick operation"));
    }

    @Test
    void rareSlowStatementOfLateCallsIsNotMoreThanUsual() {
        seconds(90, cached(Phase.SQL, "select price", 21, 60));
        Supplier<Consumer<Shop.Steps>> usual = cached(Phase.SQL, "select price", 21, 60);
        seconds(6, () -> {
            Consumer<Shop.Steps> steps = usual.get();
            return call -> steps.accept(call.own(50)); // Only calls that run the statement are late.
        });

        assertThat(shop.diagnosis().state()).isEqualTo(Diagnosis.State.MISS);
        assertThat(shop.diagnosis().causes()).noneMatch(cause -> cause.kind().startsWith("MORE"));
    }

    @Test
    void providerThatTakesTheCallsOfAnotherProviderIsNotCalledMoreThanUsual() {
        String one = "PriceService.of at prices-1:20880";
        String other = "PriceService.of at prices-2:20880";
        int[] number = {0};
        seconds(90, () -> {
            String name = number[0]++ % 10 == 0 ? one : other;
            return call -> call.in(Phase.RPC, name, 20);
        });
        seconds(6, () -> call -> call.own(2).in(Phase.RPC, one, 150));

        assertThat(first(shop.diagnosis()).kind()).isEqualTo("PEER");
    }

    @Test
    void poolThatIsFullBecauseOfMoreStatementsThanUsualIsNotTooSmall() {
        fullPool(new int[] {60}, 60);
        seconds(90, cached(Phase.SQL, "select price", 51, 60));
        seconds(
                6,
                () -> call -> call.in(Phase.JDBC_CONNECTION, "hikari", 90)
                        .in(Phase.SQL, "quick operation", 1)
                        .in(Phase.SQL, "select price", 60));

        Cause first = assertFirst("MORE STATEMENTS: select price");
        assertThat(first.symptoms()).anyMatch(symptom -> symptom.contains("a connection of \"hikari\""));
    }

    @Test
    void poolThatIsFullBecauseOfManyNewStatementsIsNotTooSmall() {
        int[] uses = {200}; // how many times per second a connection is used, for 2 ms each
        fullPool(uses, 2);
        seconds(90, () -> call -> call.in(Phase.SQL, "select order", 2).in(Phase.SQL, "commit", 2));
        uses[0] = 2_000;
        seconds(6, () -> call -> {
            call.in(Phase.JDBC_CONNECTION, "hikari", 400);
            for (int item = 0; item < 10; item++) {
                call.in(Phase.SQL, "select item", 2)
                        .in(Phase.SQL, "select price", 2)
                        .in(Phase.SQL, "commit", 2);
            }
        });

        Cause first = first(shop.diagnosis());
        assertThat(first.kind()).as(shop.diagnosis().text()).isEqualTo("MANY STATEMENTS");
        assertThat(first.symptoms()).anyMatch(symptom -> symptom.contains("a connection of \"hikari\""));
    }

    @Test
    void newPoolThatIsFullOfExchangesOfUsualLengthIsTooSmall() {
        seconds(90, () -> call -> call.own(2).in(Phase.HTTP, "GET carrier:80", 45));
        long[] taken = {0};
        shop.pools.add(() -> PoolSnapshot.builder("http-carriers carrier:80", PoolKind.HTTP, 1)
                .now(1, 0, 7)
                .counts(taken[0] += 20, 0)
                .sums(Duration.ZERO, Duration.ofMillis(taken[0] * 46))
                .settings(List.of())
                .build());
        seconds(
                8,
                () -> call -> call.own(2)
                        .in(Phase.HTTP_CONNECTION, "http-carriers carrier:80", 400)
                        .in(Phase.HTTP, "GET carrier:80", 47));

        assertFirst("POOL TOO SMALL: http-carriers carrier:80");
    }

    @Test
    void figuresOfMeasuredOperationsAreNotThoseOfAnUnmeasuredClient() throws Exception {
        shop.healthy(call -> call.own(2).in(Phase.SQL, "select stock", 3));
        CompletableFuture<String> end = new CompletableFuture<>();
        WaitingCalls calls = new WaitingCalls(shop);

        Cause first = calls.firstCause(
                () -> Packages.extra(end),
                call -> chatty(Phase.HTTP, "GET stock:80", "GET stock:80", 10, 2)
                        .accept(call.own(150)));
        end.complete("");
        calls.join();

        assertThat(first.kind()).as(shop.diagnosis().text()).isEqualTo("SLOW HTTP PEER");
        assertThat(first.name()).isEqualTo("called in Packages.extra");
    }

    private static Consumer<Shop.Steps> declares(Consumer<Shop.Steps> more) {
        return call -> more.accept(call.own(2).in(Phase.HTTP, "POST customs:80/declare", 8));
    }

    @Test
    void exchangeThatCallsDoNotUsuallyMakeIsMoreThanUsual() {
        Diagnosis miss = shop.healthy(declares(call -> {}))
                .miss(declares(call -> call.in(Phase.HTTP, "POST customs:80/token", 190)));

        Cause first = first(miss);
        assertThat(DiagnosisText.title(first)).as(miss.text()).isEqualTo("MORE HTTP CALLS: POST customs:80/token");
        assertThat(first.evidence())
                .anyMatch(fact -> fact.startsWith("often    ") && fact.endsWith(" per call, usually 0"));
        assertThat(first.changed())
                .anyMatch(line -> line.matches("changed  POST customs:80/token: \\d\\.\\d per call, usually 0"))
                .noneMatch(line -> line.startsWith("same") && line.contains("http operations"));
        assertThat(first.change().text())
                .startsWith("find out why calls make this exchange now")
                .contains("1.0 per call; the peer answers in 190 ms");
    }

    @Test
    void remoteCallThatServedCallsDoNotUsuallyMakeIsMoreThanUsual() {
        Diagnosis miss = shop.healthy(call -> call.own(2).in(Phase.RPC, "StockService.find at stock-1:20880", 8))
                .miss(call -> call.own(2)
                        .in(Phase.RPC, "StockService.find at stock-1:20880", 8)
                        .in(Phase.RPC, "PriceService.of at prices-1:20880", 150));

        assertThat(DiagnosisText.title(first(miss)))
                .as(miss.text())
                .isEqualTo("MORE REMOTE CALLS: PriceService.of at prices-1:20880");
    }

    @Test
    void severalNewExchangesAreMoreThanUsualEvenIfCallsUsuallyMakeNone() {
        Diagnosis miss = shop.healthy(call -> call.own(2)).miss(call -> {
            for (int i = 0; i < 4; i++) {
                call.in(Phase.HTTP, "GET rates:80", 60);
            }
        });

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("MORE HTTP CALLS: GET rates:80");
        assertThat(first(miss).change().text()).contains("4.0 per call");
    }

    @Test
    void exchangeInPlaceOfAnotherOneIsNotMoreThanUsual() {
        Diagnosis miss = shop.healthy(declares(call -> {}))
                .miss(call -> call.own(2).in(Phase.HTTP, "POST customs-2:80/declare", 190));

        assertThat(DiagnosisText.title(first(miss)))
                .as(miss.text())
                .isEqualTo("SLOW HTTP PEER: POST customs-2:80/declare");
        assertThat(first(miss).change().text()).doesNotContain("do not usually make");
    }

    @Test
    void singleExchangeOfAMethodIsSlowAndNew() {
        Diagnosis miss =
                shop.healthy(call -> call.own(2)).miss(call -> call.own(2).in(Phase.HTTP, "GET rates:80", 190));

        assertThat(first(miss).kind()).isEqualTo("SLOW HTTP PEER");
        assertThat(first(miss).change().text()).contains("calls do not usually make this exchange");
    }

    @Test
    void exchangesThatFollowRedirectsAreOneCause() {
        Diagnosis miss = shop.healthy(declares(call -> {})).miss(call -> {
            call.own(2).in(Phase.HTTP, "POST customs:80/declare (redirect to customs:80)", 29);
            for (int i = 0; i < 7; i++) {
                call.in(Phase.HTTP, "GET customs:80/hop (redirect to customs:80)", 29);
            }
            call.in(Phase.HTTP, "GET office:80/declare", 29);
        });

        Cause first = first(miss);
        assertThat(DiagnosisText.title(first))
                .as(miss.text())
                .isEqualTo("MORE HTTP CALLS: POST customs:80/declare (redirect to customs:80)");
        assertThat(first.change().text())
                .startsWith("call the final address GET office:80/declare directly")
                .contains(" per call, usually 0");
        assertThat(first.evidence())
                .anyMatch(fact -> fact.startsWith("redirect ") && fact.endsWith(" per call, usually 0"));
        assertThat(first.ms()).isGreaterThan(240);
        assertThat(miss.causes()).hasSize(1);
    }

    @Test
    void redirectsThatAreUsualAreNotTheCauseButMentioned() {
        Consumer<Shop.Steps> usual = call ->
                call.own(2).in(Phase.HTTP, "GET a:80 (redirect to b:80)", 4).in(Phase.HTTP, "GET b:80", 4);
        Diagnosis miss = shop.healthy(usual)
                .miss(call -> call.own(2)
                        .in(Phase.HTTP, "GET a:80 (redirect to b:80)", 190)
                        .in(Phase.HTTP, "GET b:80", 4));

        assertThat(first(miss).kind()).as(miss.text()).isEqualTo("SLOW HTTP PEER");
        assertThat(first(miss).change().text())
                .contains("it answers with redirects, so call the final address directly");
    }

    @Test
    void missedJobIsNamedBeforeTheCallsThatDoItsWork() {
        OutsideOperations.Series.Pause pause =
                new OutsideOperations.Series.Pause(9_000_000_000L, 1e9, true, "scheduling-1", null);

        assertThat(MissedJobs.advice("POST customs:80/token", pause))
                .isEqualTo(
                        "let the thread scheduling-1 run POST customs:80/token in time again: the thread usually runs"
                                + " it every"
                                + " 1.0 s, but has not run it for 9 s; run the other work of this thread elsewhere,"
                                + " or use more threads for"
                                + " scheduled jobs (spring.task.scheduling.pool.size)");
    }

    @Test
    void methodThatIsSeldomCalledDoesNotHideTheUsualNumberOfOperations() {
        UsualOperations usual = new UsualOperations(new SampledCalls()
                .usually("Orders.place", Phase.REDIS, "GET stock:*", 2, 1)
                .evidence()
                .usual());

        assertThat(usual.count(Phase.REDIS, Map.of("Orders.place", 40, "Switches.set", 1)))
                .isEqualTo(2);
        assertThat(usual.count(Phase.REDIS, Map.of("Orders.place", 4, "Switches.set", 1)))
                .isEqualTo(-1);
    }

    /**
     * Simulates calls to two methods. Calls to the second method run the operation only if {@code deployed} is true.
     */
    private void secondsOfTwo(int count, Phase phase, String name, double millis, boolean deployed) {
        for (int i = 0; i < count; i++) {
            shop.second(() -> {
                for (int call = 0; call < 50; call++) {
                    shop.call("Quotes.find", 0, steps -> steps.own(2).in(phase, name, millis));
                    shop.call("Scans.scan", 0, steps -> {
                        steps.own(2).in(Phase.SQL, "insert event", 2);
                        if (deployed) {
                            steps.in(phase, name, millis);
                        }
                    });
                }
            });
        }
    }

    @ParameterizedTest
    @CsvSource({
        "SQL, select price where id=?, SLOW STATEMENT",
        "HTTP, GET prices:80/price, SLOW HTTP PEER",
        "RPC, PriceService.of at prices-1:20880, PEER"
    })
    void operationThatBecameSlowForItsUsualCallersIsNotMoreThanUsualBecauseOfANewCaller(
            Phase phase, String name, String kind) {
        secondsOfTwo(90, phase, name, 8, false);
        secondsOfTwo(8, phase, name, 150, true);

        Cause first = assertFirst(kind + ": " + name);
        assertThat(first.change().text())
                .doesNotContain("cache in front")
                .contains("calls of Scans.scan do not usually run it");
    }
}
