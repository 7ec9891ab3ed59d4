package tern.rpc.diagnosis.stack;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import tern.rpc.Phase;
import tern.rpc.diagnosis.DiagnosisText;
import tern.rpc.diagnosis.SampledCalls;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.excess.Operations;
import tern.rpc.diagnosis.excess.TimesByCause;
import tern.rpc.diagnosis.pool.ObservedPool;
import tern.rpc.diagnosis.pool.PeerKinds;
import tern.rpc.diagnosis.pool.PoolVerdict;
import tern.rpc.diagnosis.rule.LookupRules;
import tern.rpc.diagnosis.sample.TaskWatch;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;

/** Tests host name lookups on threads that serve no call. */
class NameLookupsTest {

    private static final String[] LOOKUP = {
        "java.net.Inet6AddressImpl/lookupAllHostAddr",
        "java.net.InetAddress$PlatformResolver/lookupByName",
        "java.net.InetAddress/getAddressesFromNameService",
        "java.net.InetAddress/getAllByName",
        "java.net.InetSocketAddress/<init>",
        "jdk.internal.net.http.HttpRequestImpl/getAddress",
        "jdk.internal.net.http.Exchange/establishExchange"
    };

    private static ThreadSnapshot look(String name, Thread.State state, String... frames) {
        StackTraceElement[] stack = Stream.of(frames)
                .map(frame -> frame.split("/"))
                .map(parts -> new StackTraceElement(parts[0], parts[1], null, -2))
                .toArray(StackTraceElement[]::new);
        return new ThreadSnapshot(name, 9, state, stack, null, null, -1, -1);
    }

    private static TaskWatch watch(int looks, ThreadSnapshot thread, String group) {
        TaskWatch watch = new TaskWatch();
        for (int i = 0; i < 6; i++) {
            watch.lookups().begin();
            if (i < looks) {
                watch.lookups().add(thread, group);
            }
        }
        return watch;
    }

    private static Cause first(TaskWatch tasks) {
        return first(new SampledCalls(), tasks);
    }

    private static Cause first(SampledCalls calls, TaskWatch tasks) {
        ThreadSnapshot caller = look(
                "http-nio-8080-exec-1",
                Thread.State.WAITING,
                "jdk.internal.misc.Unsafe/park",
                "java.util.concurrent.CompletableFuture/get",
                "jdk.internal.net.http.HttpClientImpl/send",
                "shop.Orders/find");
        return calls.tasks(tasks)
                .calls(
                        "OrderService.place",
                        Phase.HTTP,
                        300,
                        samples -> samples.add(SampledCalls.sample(Phase.HTTP, caller)))
                .causes()
                .get(0);
    }

    @Test
    void lookupOnAThreadOfTheHttpClientIsTheCause() {
        Cause first =
                first(watch(5, look("HttpClient-1-Worker-0", Thread.State.RUNNABLE, LOOKUP), "HttpClient-1-Worker"));

        assertThat(DiagnosisText.title(first)).isEqualTo("SLOW NAME LOOKUP: threads HttpClient-1-Worker");
        assertThat(first.change().text()).contains("the DNS resolver of this machine, which is slow for stock;");
        assertThat(first.symptoms()).anyMatch(line -> line.contains("GET stock:80"));
    }

    @Test
    void lookupInFewSamplesIsNotTheCause() {
        Cause first =
                first(watch(2, look("HttpClient-1-Worker-0", Thread.State.RUNNABLE, LOOKUP), "HttpClient-1-Worker"));

        assertThat(first.kind()).isEqualTo("SLOW HTTP PEER");
    }

    @Test
    void threadsThatLookUpNamesInTheSameSampleCountOnce() {
        TaskWatch watch = new TaskWatch();
        for (int i = 0; i < 6; i++) {
            watch.lookups().begin();
            for (int thread = 0; i == 0 && thread < 12; thread++) {
                watch.lookups()
                        .add(
                                look("HttpClient-1-Worker-" + thread, Thread.State.RUNNABLE, LOOKUP),
                                "HttpClient-1-Worker");
            }
        }

        assertThat(first(watch).kind()).isEqualTo("SLOW HTTP PEER");
    }

    @Test
    void lookupIsNotTheCauseWhileOtherPeersAnswerAsQuicklyAsUsual() {
        SampledCalls calls = new SampledCalls()
                .usually("OrderService.find", Phase.HTTP, "GET price:80", 2)
                .quick("OrderService.find", Phase.HTTP, "GET price:80", 2);

        Cause first = first(calls, watch(6, look("OkHttp exporter", Thread.State.RUNNABLE, LOOKUP), "OkHttp exporter"));

        assertThat(first.kind()).isEqualTo("SLOW HTTP PEER");
    }

    @Test
    void lookupIsTheCauseAlthoughPeersAnsweredQuicklyBeforeTheMiss() {
        SampledCalls calls = new SampledCalls()
                .usually("OrderService.find", Phase.HTTP, "GET price:80", 2)
                .quick("OrderService.find", Phase.HTTP, "GET price:80", 2)
                .missBegins();

        Cause first = first(
                calls, watch(6, look("HttpClient-1-Worker-0", Thread.State.RUNNABLE, LOOKUP), "HttpClient-1-Worker"));

        assertThat(first.kind()).isEqualTo("SLOW NAME LOOKUP");
    }

    @Test
    void lookupOfAnotherKindOfClientIsNotTheCause() {
        ThreadSnapshot adder = look(
                "hikari:connection-adder",
                Thread.State.RUNNABLE,
                LOOKUP[0],
                LOOKUP[3],
                "org.postgresql.core.PGStream/createSocket",
                "com.zaxxer.hikari.pool.HikariPool/createPoolEntry");

        assertThat(first(watch(6, adder, "hikari:connection-adder")).kind()).isEqualTo("SLOW HTTP PEER");
    }

    private static PoolVerdict pool(String name) {
        PoolSnapshot now = PoolSnapshot.builder(name, PoolKind.JDBC, 4)
                .now(4, 0, 9)
                .counts(0, 0)
                .sums(Duration.ZERO, Duration.ZERO)
                .settings(List.of())
                .build();
        return new PoolVerdict(
                ObservedPool.of(now, null, null, Set.of(), -1, null),
                PoolVerdict.Reason.HELD_BY_OTHERS,
                null,
                null,
                List.of());
    }

    /**
     * Returns the share of the wait for a connection from the pool "web" that is attributed to lookups by the given
     * thread.
     */
    private static double ofWeb(String thread, String... pools) {
        ThreadSnapshot adder = look(
                thread,
                Thread.State.RUNNABLE,
                LOOKUP[0],
                LOOKUP[3],
                "org.postgresql.core.PGStream/createSocket",
                "com.zaxxer.hikari.pool.HikariPool/createPoolEntry");
        Evidence evidence = new SampledCalls()
                .tasks(watch(6, adder, thread))
                .calls("OrderService.place", Phase.OWN, 300, samples -> {})
                .evidence();
        ExcessTime excess = new ExcessTime(evidence);
        TimesByCause byCause = new TimesByCause(0);
        byCause.add(new Part(Part.Kind.POOL, "web"), 1);
        Map<String, PoolVerdict> verdicts = new HashMap<>();
        Stream.of(pools).forEach(name -> verdicts.put(name, pool(name)));
        LookupRules.passOn(
                evidence,
                excess,
                new Operations(excess, evidence.usual(), evidence.answers()),
                new PeerKinds(verdicts),
                byCause);
        return byCause.sum(Part.Kind.RESOLVER);
    }

    @Test
    void lookupOfOnePoolDoesNotExplainTheWaitForAnother() {
        assertThat(ofWeb("batch connection adder", "web", "batch")).isZero();
        assertThat(ofWeb("web connection adder", "web", "batch")).isEqualTo(1);
        assertThat(ofWeb("hikari:connection-adder", "web")).isEqualTo(1);
        assertThat(ofWeb("web-batch:connection-adder", "web", "web-batch")).isZero();
    }

    @Test
    void lookupOnAThreadWithoutTheNameOfAPoolExplainsTheWaitForEachPool() {
        assertThat(ofWeb("HikariPool-2:connection-adder", "web", "batch")).isEqualTo(1);
    }

    @Test
    void threadOfAnEventLoopThatLooksUpANameIsOfItsClient() {
        ThreadSnapshot loop = look(
                "reactor-http-epoll-2",
                Thread.State.RUNNABLE,
                LOOKUP[0],
                LOOKUP[3],
                "io.netty.resolver.DefaultNameResolver/doResolve",
                "reactor.netty.http.client.HttpClientConnect$MonoHttpConnect/lambda$subscribe$0");

        assertThat(first(watch(6, loop, "reactor-http-epoll")).kind()).isEqualTo("SLOW NAME LOOKUP");
    }

    @Test
    void lookupsInSeveralPlacesAreOneCause() {
        List<Cause> causes = new SampledCalls()
                .calls("Orders.place", Phase.OWN, 400, samples -> samples.add(lookupIn("shop.Orders/find")))
                .calls("Stock.take", Phase.OWN, 300, samples -> samples.add(lookupIn("shop.Stock/take")))
                .causes();

        assertThat(causes).extracting(DiagnosisText::title).containsExactly("SLOW NAME LOOKUP: Orders.find");
    }

    private static Sample lookupIn(String code) {
        return SampledCalls.sample(
                Phase.OWN,
                look(
                        "http-nio-8080-exec-1",
                        Thread.State.RUNNABLE,
                        "java.net.Inet6AddressImpl/lookupAllHostAddr",
                        "java.net.InetAddress/getAllByName",
                        code));
    }
}
