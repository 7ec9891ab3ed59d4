package tern.rpc.client;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.NonBlocking;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.StaticEndpoints;

/** Tests the warning about blocking calls on Reactor's event loops. */
class NonBlockingThreadsTest {

    public interface Depot {
        int count(String item);

        int price(String item);

        CompletableFuture<Integer> later(String item);

        Mono<Integer> mono(String item);
    }

    /** A thread that resembles a WebFlux event loop thread. */
    private static final class EventLoop extends Thread implements NonBlocking {
        EventLoop(Runnable task) {
            super(task, "reactor-http-1");
        }
    }

    private final Logger logger = (Logger) LoggerFactory.getLogger(NonBlockingThreads.class);
    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
    private final FakeNetwork network = new FakeNetwork();
    private final RpcClient client = RpcClient.builder().transport(network).build();
    private final Depot depot =
            client.refer(ServiceReference.<Depot>to(Depot.class, new StaticEndpoints(List.of(new Endpoint("one", 1))))
                    .protocol(FakeNetwork.PROTOCOL)
                    .build());

    @BeforeEach
    void record() {
        lines.start();
        logger.addAppender(lines);
        network.taking = (endpoint, call) ->
                call.fail(RpcException.refusal(StatusCode.INVALID_ARGUMENT, "on purpose", Executed.YES));
    }

    @AfterEach
    void close() {
        logger.detachAppender(lines);
        client.close();
    }

    @Test
    void blockingCallOnAnEventLoopOfReactorCausesOneWarningForEachMethod() throws Exception {
        onAnEventLoop(() -> depot.count("tea"));
        onAnEventLoop(() -> depot.count("tea"));

        assertThat(lines.list)
                .singleElement()
                .extracting(ILoggingEvent::getFormattedMessage)
                .asString()
                .startsWith("Depot/count blocks the thread reactor-http-1, which must not block")
                .contains("Mono", "Schedulers.boundedElastic()");
    }

    @Test
    void otherCallsCauseNoWarning() throws Exception {
        onAnEventLoop(() -> depot.later("tea"));
        onAnEventLoop(() -> depot.mono("tea").subscribe(count -> {}, failure -> {}));
        failing(() -> depot.price("tea"));

        assertThat(lines.list).isEmpty();
    }

    private static void onAnEventLoop(Runnable task) throws Exception {
        Thread loop = new EventLoop(() -> failing(task));
        loop.start();
        loop.join(TimeUnit.SECONDS.toMillis(20));
        assertThat(loop.isAlive()).isFalse();
    }

    /** Makes a call that fails on purpose. */
    private static void failing(Runnable call) {
        try {
            call.run();
        } catch (RpcException e) {
            assertThat(e).hasMessageContaining("on purpose");
        }
    }
}
