package tern.rpc.spring.autoconfigure.pool;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.data.redis.connection.ReactiveKeyCommands;
import org.springframework.data.redis.connection.ReactivePubSubCommands;
import org.springframework.data.redis.connection.ReactiveRedisConnection;
import org.springframework.data.redis.connection.ReactiveStringCommands;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import tern.rpc.CallLedger;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.pool.StoreNames;

/**
 * Tests that commands on a reactive Redis connection are recorded in the ledger of the call whose reactive chain runs
 * them.
 */
class ReactiveRedisTest {

    private final AtomicLong time = new AtomicLong(1);
    private final CallLedger ledger = new CallLedger(time::get);
    private final StoreNames.Store store = StoreNames.ofRedis().add("redis");

    private static <T> T proxy(Class<T> type, Map<String, Object> results) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (self, method, args) -> results.get(method.getName())));
    }

    private ReactiveRedisConnection connection(Map<String, Object> commands) {
        return (ReactiveRedisConnection) WatchedReactiveRedis.of(
                store,
                proxy(
                        ReactiveRedisConnection.class,
                        Map.of(
                                "stringCommands",
                                proxy(ReactiveStringCommands.class, commands),
                                "keyCommands",
                                proxy(ReactiveKeyCommands.class, commands),
                                "pubSubCommands",
                                proxy(ReactivePubSubCommands.class, commands))));
    }

    private static ByteBuffer key(String key) {
        return ByteBuffer.wrap(key.getBytes(StandardCharsets.UTF_8));
    }

    private void pass(long millis) {
        time.addAndGet(millis * 1_000_000);
    }

    private NamedTimes.Entry only() {
        assertThat(ledger.named()).hasSize(1);
        return ledger.named().get(0);
    }

    @Test
    void commandBelongsToTheCallOfItsChain() {
        Sinks.One<ByteBuffer> answer = Sinks.one();
        ByteBuffer key = key("user:42");
        connection(Map.of("get", answer.asMono()))
                .stringCommands()
                .get(key)
                .contextWrite(context -> ReactiveLedger.put(context, ledger))
                .subscribe();

        pass(20);
        answer.tryEmitValue(key("x"));

        assertThat(only().kind()).isEqualTo(Phase.REDIS);
        assertThat(only().name()).isEqualTo("GET user:*");
        assertThat(only().nanos()).isEqualTo(20_000_000);
        assertThat(key.remaining())
                .as("bytes of the key that are left for the client")
                .isEqualTo(7);
    }

    @Test
    void commandWithoutAnAnswerIsUnfinished() {
        connection(Map.of("get", Mono.never()))
                .stringCommands()
                .get(key("user:42"))
                .contextWrite(context -> ReactiveLedger.put(context, ledger))
                .subscribe();
        pass(30);

        assertThat(ledger.unfinished())
                .singleElement()
                .satisfies(entry -> assertThat(entry.name()).isEqualTo("GET user:*"));
    }

    /** Returns the name of a command that ends with the given failure. */
    private String nameAfter(Throwable failure) {
        Sinks.One<ByteBuffer> answer = Sinks.one();
        connection(Map.of("get", answer.asMono()))
                .stringCommands()
                .get(key("user:42"))
                .contextWrite(context -> ReactiveLedger.put(context, ledger))
                .subscribe(value -> {}, expected -> {});
        pass(20);
        answer.tryEmitError(failure);
        return only().name();
    }

    @Test
    void failedCommandIsNamedWithItsError() {
        assertThat(nameAfter(new IllegalStateException("OOM command not allowed")))
                .isEqualTo("GET user:* (failed OOM)");
    }

    @Test
    void commandThatTimesOutKeepsItsName() {
        assertThat(nameAfter(new QueryTimeoutException("Redis command timed out")))
                .isEqualTo("GET user:*");
    }

    @Test
    void largeValueIsPartOfTheName() {
        connection(Map.of("get", Mono.fromSupplier(() -> {
                    pass(20);
                    return ByteBuffer.allocate(2 << 20);
                })))
                .stringCommands()
                .get(key("plan:42"))
                .contextWrite(context -> ReactiveLedger.put(context, ledger))
                .subscribe();

        assertThat(only().name()).isEqualTo("GET plan:* [over 1 MB]");
    }

    @Test
    void commandWithoutAnAnswerHasTheSizeOfItsLastReply() {
        connection(Map.of("get", Mono.fromSupplier(() -> ByteBuffer.allocate(2 << 20))))
                .stringCommands()
                .get(key("route:42"))
                .contextWrite(context -> ReactiveLedger.put(context, ledger))
                .subscribe();
        connection(Map.of("get", Mono.never()))
                .stringCommands()
                .get(key("route:7"))
                .contextWrite(context -> ReactiveLedger.put(context, ledger))
                .subscribe();
        pass(30);

        assertThat(ledger.unfinished())
                .singleElement()
                .satisfies(entry -> assertThat(entry.name()).isEqualTo("GET route:* [over 1 MB]"));
    }

    @Test
    void manyElementsArePartOfTheName() {
        connection(Map.of("keys", Mono.fromSupplier(() -> {
                    pass(20);
                    return Collections.nCopies(10_000, key("a"));
                })))
                .keyCommands()
                .keys(key("a*"))
                .contextWrite(context -> ReactiveLedger.put(context, ledger))
                .subscribe();

        assertThat(only().name()).isEqualTo("KEYS a* [over 10000 elements]");
    }

    @Test
    void manyElementsOfAScanComeInManySmallReplies() {
        connection(Map.of("scan", Flux.range(0, 10_000).map(number -> key("a")).doOnComplete(() -> pass(20))))
                .keyCommands()
                .scan()
                .contextWrite(context -> ReactiveLedger.put(context, ledger))
                .subscribe();

        assertThat(only().name()).isEqualTo("SCAN");
    }

    @Test
    void streamOfKeysIsOneCommand() {
        Sinks.Many<ByteBuffer> keys = Sinks.many().unicast().onBackpressureBuffer();
        connection(Map.of("scan", keys.asFlux()))
                .keyCommands()
                .scan()
                .contextWrite(context -> ReactiveLedger.put(context, ledger))
                .subscribe();

        keys.tryEmitNext(key("a"));
        pass(40);
        keys.tryEmitComplete();

        assertThat(only().name()).isEqualTo("SCAN");
        assertThat(only().nanos()).isEqualTo(40_000_000);
    }

    @Test
    void messagesOfAChannelAreNoCommand() {
        connection(Map.of("subscribe", Mono.empty(), "publish", Flux.just(1L)))
                .pubSubCommands()
                .subscribe(key("news"))
                .contextWrite(context -> ReactiveLedger.put(context, ledger))
                .block();

        assertThat(ledger.count(Phase.REDIS)).isZero();
    }

    @Test
    void commandOutsideOfCallsIsPassedOnUnchanged() {
        assertThat(connection(Map.of("get", Mono.just(key("x"))))
                        .stringCommands()
                        .get(key("user:42"))
                        .block())
                .isNotNull();
        assertThat(ledger.named()).isEmpty();
    }
}
