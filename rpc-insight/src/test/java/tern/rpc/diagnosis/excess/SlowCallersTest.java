package tern.rpc.diagnosis.excess;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.USUAL;
import static tern.rpc.diagnosis.Shop.first;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.eclipse.jetty.HttpOutput;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.RunningCall;
import tern.rpc.diagnosis.Diagnosis;
import tern.rpc.diagnosis.DiagnosisText;
import tern.rpc.diagnosis.Shop;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.stack.StackReader;
import tern.rpc.diagnosis.stack.ThreadSnapshot;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;

/**
 * Tests web requests whose callers send the request or read the answer slowly. The test uses recorded stacks of web
 * servers.
 */
class SlowCallersTest {

    private final Shop shop = new Shop().healthy(USUAL);

    private static ThreadSnapshot look(Thread.State state, String frames) {
        StackTraceElement[] stack = Stream.of(frames.split(" "))
                .map(frame -> {
                    int dot = frame.lastIndexOf('.');
                    return new StackTraceElement(frame.substring(0, dot), frame.substring(dot + 1), null, 1);
                })
                .toArray(StackTraceElement[]::new);
        return new ThreadSnapshot("http-1", 1, state, stack, null, null, -1, -1);
    }

    @ParameterizedTest
    @CsvSource({
        "answer, java.lang.Object.wait org.apache.tomcat.util.net.NioEndpoint$NioSocketWrapper.doWrite"
                + " org.apache.tomcat.util.net.SocketWrapperBase.writeBlocking"
                + " org.apache.catalina.connector.OutputBuffer.realWriteBytes shop.Orders.export",
        "request, java.lang.Object.wait org.apache.tomcat.util.net.NioEndpoint$NioSocketWrapper.fillReadBuffer"
                + " org.apache.coyote.http11.Http11InputBuffer.fill shop.Orders.upload",
        "answer, jdk.internal.misc.Unsafe.park java.util.concurrent.locks.LockSupport.park"
                + " org.eclipse.jetty.util.Blocker$Shared$1.block"
                + " org.eclipse.jetty.ee11.servlet.HttpOutput.channelWrite shop.Orders.export",
        "request, jdk.internal.misc.Unsafe.park"
                + " org.eclipse.jetty.ee11.servlet.AsyncContentProducer$LockedSemaphore.acquire"
                + " org.eclipse.jetty.ee11.servlet.HttpInput.read shop.Orders.upload"
    })
    void waitForTheCallerIsRecognized(String name, String frames) {
        assertThat(StackReader.read(look(Thread.State.TIMED_WAITING, frames)))
                .isEqualTo(new Part(Part.Kind.CALLER, name));
        assertThat(StackReader.read(look(Thread.State.RUNNABLE, frames)).kind()).isEqualTo(Part.Kind.COMPUTING);
    }

    @Test
    void waitOfApplicationCodeBelowAWriteIsTheApplications() {
        ThreadSnapshot look = look(
                Thread.State.WAITING,
                "java.lang.Object.wait shop.Orders.next org.eclipse.jetty.ee11.servlet.HttpOutput.write");

        assertThat(StackReader.read(look).kind()).isEqualTo(Part.Kind.RESULT);
    }

    private final List<Thread> threads = new ArrayList<>();
    private final CountDownLatch end = new CountDownLatch(1);

    /** Ends the threads of the calls. */
    @AfterEach
    void join() throws InterruptedException {
        end.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
    }

    /** Serves calls whose threads wait for their callers, and other calls. */
    private Diagnosis serving(Runnable others) {
        for (int i = 0; i < 5; i++) {
            Thread thread = new Thread(() -> HttpOutput.write(end));
            threads.add(thread);
            thread.start();
            while (thread.getState() != Thread.State.WAITING) {
                Thread.onSpinWait();
            }
        }
        for (int second = 0; second < 8; second++) {
            List<CallLedger> calls = new ArrayList<>();
            for (Thread thread : threads) {
                CallLedger ledger = new CallLedger(shop::now);
                calls.add(ledger);
                shop.running.add(new RunningCall("web.GET /export", thread.getId(), Phase.OWN, 1, 1, ledger));
            }
            for (int look = 0; look < 4; look++) {
                shop.pass(100);
                shop.diagnostician.look();
            }
            shop.running.clear();
            calls.forEach(ledger ->
                    shop.diagnostician.observer().ended("web.GET /export", ledger, 400_000_000, shop.now(), null));
            shop.second(others);
        }
        return shop.diagnosis();
    }

    private void call(int count, double queuedMillis, Consumer<Shop.Steps> body) {
        for (int i = 0; i < count; i++) {
            shop.call(Shop.PLACE, queuedMillis, body);
        }
    }

    @Test
    void answersThatCallersReadSlowlyAreNoMiss() {
        Diagnosis diagnosis = serving(() -> call(100, 0, USUAL));

        assertThat(diagnosis.state()).as(diagnosis.text()).isEqualTo(Diagnosis.State.HEALTHY);
    }

    @Test
    void slowCallersDoNotHideTheCauseOfAMiss() {
        Diagnosis miss = serving(() -> call(100, 0, steps -> steps.in(Phase.SQL, "select stock", 300)));

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("SLOW STATEMENT: select stock");
        assertThat(miss.causes()).noneMatch(cause -> cause.kind().equals("SLOW CALLER"));
    }

    @Test
    void slowCallersThatOccupyTheWorkersAreTheCause() {
        Diagnosis miss = serving(() -> call(30, 150, USUAL));

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("SLOW CALLER: answer");
        assertThat(miss.text()).contains("calls wait for a worker");
    }

    /** Runs calls that wait for their callers for many seconds, while no other call gets a worker. */
    private Diagnosis occupying(int waiting) {
        shop.pools.add(() -> PoolSnapshot.builder("tomcat", PoolKind.WORKERS, 5)
                .now(5, 0, waiting)
                .counts(100, 0)
                .sums(Duration.ZERO, Duration.ZERO)
                .settings(List.of())
                .build());
        List<CallLedger> ledgers = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            Thread thread = new Thread(() -> HttpOutput.write(end));
            threads.add(thread);
            thread.start();
            while (thread.getState() != Thread.State.WAITING) {
                Thread.onSpinWait();
            }
            ledgers.add(new CallLedger(shop::now));
        }
        long started = shop.now();
        for (int second = 0; second < 12; second++) {
            for (int look = 0; look < 4; look++) {
                shop.pass(100);
                shop.running.clear();
                long ran = shop.now() - started;
                for (int i = 0; i < ledgers.size(); i++) {
                    shop.running.add(new RunningCall(
                            "web.GET /export", threads.get(i).getId(), Phase.OWN, ran, ran, ledgers.get(i)));
                }
                shop.diagnostician.look();
            }
            shop.second(() -> {});
        }
        return shop.diagnosis();
    }

    @Test
    void slowCallersThatOccupyAllWorkersAreTheCauseAlthoughNoOtherCallBegins() {
        Diagnosis miss = occupying(600);

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("SLOW CALLER: answer");
        assertThat(miss.text()).contains("tomcat full: 5 of 5, 600 wait");
    }

    @Test
    void slowCallersForWhichNoOtherCallWaitsAreNoMiss() {
        Diagnosis diagnosis = occupying(0);

        assertThat(diagnosis.state()).as(diagnosis.text()).isEqualTo(Diagnosis.State.HEALTHY);
    }
}
