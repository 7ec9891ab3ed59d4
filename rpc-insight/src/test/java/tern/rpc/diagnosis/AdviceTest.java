package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tern.rpc.Phase;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.failure.FailureText;
import tern.rpc.diagnosis.stack.Hints;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSetting;
import tern.rpc.pool.PoolSnapshot;

/** Tests the advice that the diagnosis gives about common mistakes in application code. */
class AdviceTest {

    private static final Consumer<Shop.Steps> USUAL = call -> call.own(2).in(Phase.SQL, "select stock", 3);

    private final Shop shop = new Shop();

    @ParameterizedTest
    @CsvSource({
        "Matcher.matches, a pattern without nested",
        "ArrayList.contains, use a HashSet",
        "HashMap.put, use keys that are Comparable",
        "ObjectMapper.writeValueAsString, fewer or smaller objects",
        "OrderClosedException.<init>, do not create exceptions",
        "Thread.onSpinWait, wait for a signal",
        "Pattern.compile, compile the pattern once",
        "JAXBContext.newInstance, create this object once",
        "BeanSerializerFactory.createSerializer, create the mapper once",
        "GroovyShell.evaluate, compile the script once",
        "InternalSpelExpressionParser.doParseExpression, parse the expression once",
        "HttpClient.newHttpClient, create the client once",
        "Class.getMethod, look the method up once",
        "Thread.yield, wait for a signal",
        "AbstractFlushingEventListener.flushEntities, a read-only transaction",
    })
    void commonReasonsForComputingHaveAdvice(String called, String advice) {
        assertThat(Hints.computing(called)).contains(advice);
    }

    @ParameterizedTest
    @CsvSource({"SecureRandom.nextBytes, java.security.egd", "RateLimiter.acquire, raise the limit"})
    void commonReasonsForWaitsHaveAdvice(String called, String advice) {
        assertThat(Hints.waiting(called)).contains(advice);
    }

    @Test
    void otherMethodsHaveNoAdvice() {
        assertThat(Hints.computing("Orders.total") + Hints.waiting("Orders.total") + Hints.computing(null))
                .isEmpty();
    }

    private List<PoolSetting> settings = List.of();

    private Cause causeAtPool(PoolKind kind, int active, int idle, int heldMillis) {
        shop.healthy(USUAL);
        long[] taken = new long[1];
        shop.pools.add(() -> PoolSnapshot.builder("pool", kind, 10)
                .now(active, idle, 2)
                .counts(taken[0] += 100, 0)
                .sums(Duration.ZERO, Duration.ofMillis(taken[0] * heldMillis))
                .settings(settings)
                .build());
        Phase phase = kind == PoolKind.EXECUTOR ? Phase.EXECUTOR : Phase.JDBC_CONNECTION;
        Diagnosis miss = shop.miss(call -> call.in(phase, "pool", 160).in(Phase.SQL, "select stock", 3));
        return miss.causes().get(0);
    }

    @Test
    void slowBorrowingOfFreeConnectionsIsNoReasonForMoreConnections() {
        Cause first = causeAtPool(PoolKind.JDBC, 2, 8, 3);

        assertThat(first.kind()).isEqualTo("CONNECTIONS CHECKED SLOWLY");
        assertThat(first.change().text()).contains("test on borrow").contains("No pool size helps");
    }

    @Test
    void settingsThatMakeThePoolCheckEachConnectionAreNamed() {
        settings = List.of(
                new PoolSetting("pool.test-on-borrow", "true", PoolSetting.Source.USER, PoolSetting.Use.CHECK),
                new PoolSetting("pool.validation-query", "select ok", PoolSetting.Source.USER, PoolSetting.Use.CHECK));

        assertThat(causeAtPool(PoolKind.JDBC, 2, 8, 3).change().text())
                .contains("the pool checks each connection before each use (pool.test-on-borrow=true,"
                        + " pool.validation-query=select ok)")
                .doesNotContain("network");
    }

    @Test
    void executorWithoutFreeThreadsDoesNotOpenConnections() {
        Cause first = causeAtPool(PoolKind.EXECUTOR, 2, 0, 30);

        assertThat(first.kind()).doesNotContain("CONNECTIONS");
        assertThat(first.change().text()).doesNotContain("connection");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "SSLHandshakeException           | check the certificate",
                "HTTP status 401                 | renew the credentials that are sent to carrier:443",
                "HTTP status 404                 | correct the requests to carrier:443",
                "HTTP status 429                 | send fewer requests to carrier:443",
                "HTTP status 503                 | down or overloaded",
                "answers MISCONF                 | cannot save its data",
                "answers BUSY                    | end the script that blocks carrier:443",
                "answers MOVED                   | connect to carrier:443 as a cluster",
                "answers OOM                     | raise maxmemory",
                "answers READONLY                | connect to the primary",
                "Connection reset                | closes connections",
                "unexpected end of stream        | closes connections",
                "does not answer                 | stopped, paused (garbage collector, signal)",
                "Connection timed out            | packets to carrier:443 are lost",
                "read-only (HY000)         | connect to the primary",
                "SomethingElse                   | read the log of carrier:443",
            })
    void failuresOfPeersHaveAdvice(String failure, String advice) {
        assertThat(FailureText.ofPeer("carrier:443", failure)).contains(advice);
    }

    @ParameterizedTest
    @CsvSource({
        "StockService.find at 10.0.0.7:20880, read the diagnosis and the log of",
        "StockService at 10.0.0.7:20880, read the diagnosis and the log of",
        "GET stock:8080/levels, read the log of",
        "database at db-1:5432, read the log of",
        "Redis at redis-1:6379, read the log of",
        "HTTP peer at stock:8080, read the log of",
    })
    void providersHaveADiagnosis(String peer, String advice) {
        assertThat(FailureText.ofPeer(peer, "IllegalStateException")).startsWith(advice + " " + peer);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "SQLException 40001 of update stock                      | lock rows in the same order",
                "SQLException 08004 (Too many connections)               | fewer connections in the pools",
                "SQLException HY000 (Lock wait timeout exceeded)         | shorten the transaction that holds the row",
                "PSQLException 25006 of update stock                     | connect to the primary",
                "PSQLException 42P01 of select stock                     | a migration did not run",
                "SQLSyntaxErrorException 42S22 of select stock           | the column: a migration did not run",
                "LazyInitializationException in Orders.view:4            | within the transaction",
                "UnrecognizedPropertyException in StockClient.find:8     | compare the JSON with the class",
                "InvalidClassException in Sessions.read:8                | the class has changed",
                "NoSuchMethodError in Quotes.price:9                     | matching versions of the libraries",
                "NoSuchFileException in Exports.all:3                    | create or mount the file",
                "NoClassDefFoundError in Quotes.price:9                  | a static initializer failed",
                "OutOfMemoryError (Java heap space) in Exports.all:3     | limit the size of caches",
                "OutOfMemoryError (Compressed class space) in Rules.of:3 | raise -XX:CompressedClassSpaceSize",
                "OutOfDirectMemoryError (of direct memory) in Images.of:3 | -Dio.netty.maxDirectMemory",
                "StackOverflowError in Pattern.Loop.match                | end this recursion sooner",
                "PSQLException 25P02 of select stock                     | end the transaction after a failed",
                "PSQLException 25P03 of select stock                     | because it was idle",
                "PSQLException 23505 of insert orders                    | why the row exists already",
                "UnexpectedRollbackException in Orders.close:7           | code catches its exception",
                "DataBufferLimitException in StockClient.find:8          | spring.http.codecs.max-in-memory-size",
                "OverflowException in Ticks.all:8                        | onBackpressureBuffer",
                "IllegalStateException (Connection pool shut down) in Rates.of:8 | this process closes them itself",
                "InterruptedException in Rates.of:8                      | what interrupts the thread",
                "IllegalStateException in Orders.close:7                 | fix the code that throws",
            })
    void failuresInTheProcessHaveAdvice(String failure, String advice) {
        assertThat(FailureText.own(failure)).contains(advice).endsWith(failure);
    }

    @Test
    void moreLogLinesThanUsualAreTheReasonForASlowLog() {
        shop.healthy(call -> USUAL.accept(call.in(Phase.LOGGING, null, 0.2)));

        Diagnosis miss = shop.miss(call -> {
            for (int i = 0; i < 40; i++) {
                call.in(Phase.LOGGING, null, 4);
            }
        });

        assertThat(miss.causes().get(0).kind()).isEqualTo("SLOW LOG");
        assertThat(miss.causes().get(0).change().text()).contains("40 lines per call are written, usually 1");
    }
}
