package tern.rpc.spring.autoconfigure.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.pool.ConnectionPoolConfiguration;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.ConnectionFactoryMetadata;
import io.r2dbc.spi.R2dbcBadGrammarException;
import io.r2dbc.spi.Result;
import io.r2dbc.spi.Statement;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.reactivestreams.Publisher;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import tern.rpc.CallLedger;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.pool.PoolSnapshot;
import tern.rpc.pool.PoolSource;
import tern.rpc.pool.ResultRows;

/**
 * Tests that waits for an R2DBC pool, and statements on its connections, are recorded in the ledger of the call whose
 * reactive chain runs them.
 */
@Timeout(60)
class R2dbcWatchTest {

    private final AtomicLong time = new AtomicLong(1);
    private final CallLedger ledger = new CallLedger(time::get);
    private Flux<Result> results = Flux.empty();
    private PoolSource pool;

    private static <T> T proxy(Class<T> type, Map<String, Object> results) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (self, method, args) -> switch (method.getName()) {
                    case "hashCode" -> System.identityHashCode(self);
                    case "equals" -> self == args[0];
                    case "bind" -> self;
                    default -> results.get(method.getName());
                }));
    }

    private Connection connection() {
        Statement statement = proxy(Statement.class, Map.of("execute", Flux.defer(() -> results)));
        return proxy(
                Connection.class,
                Map.of(
                        "createStatement",
                        statement,
                        "validate",
                        Mono.just(true),
                        "isAutoCommit",
                        true,
                        "commitTransaction",
                        Mono.empty(),
                        "close",
                        Mono.empty()));
    }

    private void withPool(Consumer<ConnectionPool> test) {
        ConnectionFactory factory = new ConnectionFactory() {
            @Override
            public Publisher<? extends Connection> create() {
                return Mono.fromSupplier(R2dbcWatchTest.this::connection);
            }

            @Override
            public ConnectionFactoryMetadata getMetadata() {
                return () -> "simulated";
            }
        };
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(RpcPoolsAutoConfiguration.class, R2dbcAutoConfiguration.class))
                .withBean(
                        "connectionFactory",
                        ConnectionPool.class,
                        () -> new ConnectionPool(ConnectionPoolConfiguration.builder(factory)
                                .maxSize(1)
                                .initialSize(0)
                                .build()))
                .run(context -> {
                    pool = context.getBean("rpcPool.r2dbc", PoolSource.class);
                    test.accept(context.getBean(ConnectionPool.class));
                });
    }

    private <T> Mono<T> inCall(Mono<T> chain) {
        return chain.contextWrite(context -> ReactiveLedger.put(context, ledger));
    }

    private void pass(long millis) {
        time.addAndGet(millis * 1_000_000);
    }

    @Test
    void waitForTheOnlyConnectionBelongsToTheCallOfTheChain() {
        withPool(connections -> {
            Connection first = connections.create().block();
            AtomicReference<Connection> second = new AtomicReference<>();

            inCall(connections.create()).subscribe(second::set);

            assertThat(ledger.unfinished()).extracting(NamedTimes.Entry::name).containsExactly("r2dbc");
            PoolSnapshot waiting = pool.snapshot();
            assertThat(waiting.max()).isEqualTo(1);
            assertThat(waiting.active()).isEqualTo(1);
            assertThat(waiting.waiting()).isEqualTo(1);

            pass(40);
            Mono.from(first.close()).block();

            assertThat(second).doesNotHaveNullValue();
            assertThat(ledger.named()).singleElement().satisfies(entry -> {
                assertThat(entry.kind()).isEqualTo(Phase.JDBC_CONNECTION);
                assertThat(entry.nanos()).isEqualTo(40_000_000);
            });
            assertThat(pool.snapshot().taken()).isEqualTo(2);
            assertThat(pool.snapshot().waiting()).isZero();
        });
    }

    @Test
    void abandonedWaitIsARefusal() {
        withPool(connections -> {
            connections.create().block();

            inCall(connections.create()).subscribe().dispose();

            assertThat(pool.snapshot().refused()).isEqualTo(1);
            assertThat(pool.snapshot().waiting()).isZero();
        });
    }

    @Test
    void statementIsNamedWithoutItsValues() {
        withPool(connections -> {
            Sinks.Many<Result> rows = Sinks.many().unicast().onBackpressureBuffer();
            results = rows.asFlux();
            Connection connection = connections.create().block();
            Statement statement = connection
                    .createStatement("select * from orders where id = 42")
                    .bind(0, 1);

            inCall(Flux.from(statement.execute()).then()).subscribe();
            pass(30);
            rows.tryEmitComplete();

            assertThat(ledger.named()).singleElement().satisfies(entry -> {
                assertThat(entry.kind()).isEqualTo(Phase.SQL);
                assertThat(entry.name()).isEqualTo("select * from orders where id = ?");
                assertThat(entry.nanos()).isEqualTo(30_000_000);
            });
        });
    }

    @Test
    void rowsOfAResultAreCounted() {
        withPool(connections -> {
            results = Flux.just(proxy(Result.class, Map.of("map", Flux.just(1, 2, 3))));
            Connection connection = connections.create().block();
            Statement statement = connection.createStatement("select counted from visits");

            Long rows = inCall(Flux.from(statement.execute())
                            .flatMap(result -> result.map((row, metadata) -> 1))
                            .count())
                    .block();

            assertThat(rows).isEqualTo(3);
            assertThat(ResultRows.mean("select counted from visits")).isEqualTo(3);
        });
    }

    @Test
    void failedStatementIsNamedWithItsState() {
        withPool(connections -> {
            Sinks.Many<Result> rows = Sinks.many().unicast().onBackpressureBuffer();
            results = rows.asFlux();
            Connection connection = connections.create().block();

            inCall(Flux.from(connection.createStatement("select 1").execute()).then())
                    .subscribe(nothing -> {}, expected -> {});
            pass(30);
            rows.tryEmitError(new R2dbcBadGrammarException("no table", "42P01"));

            assertThat(ledger.named()).extracting(NamedTimes.Entry::name).containsExactly("select ? (failed 42P01)");
        });
    }

    @Test
    void useOfAConnectionEndsWithItsReturn() {
        withPool(connections -> {
            Connection connection = connections.create().block();
            Mono.from(connection.close()).block();
            assertThatThrownBy(connection::close).isInstanceOf(IllegalStateException.class);

            assertThat(pool.snapshot().held()).isPositive();
            assertThat(pool.snapshot().active()).isZero();
        });
    }
}
