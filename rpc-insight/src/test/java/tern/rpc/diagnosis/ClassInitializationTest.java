package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import shop.Gate;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.RunningCall;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.stack.ClassInitializers;
import tern.rpc.diagnosis.stack.StackReader;
import tern.rpc.diagnosis.stack.ThreadSnapshot;
import tern.rpc.diagnosis.stack.ThreadSnapshots;

/** Tests the diagnosis with real threads waiting until another thread has initialized a class. */
class ClassInitializationTest {

    private static final Consumer<Shop.Steps> USUAL = call -> call.own(2).in(Phase.SQL, "select stock", 3);

    private final CountDownLatch end = new CountDownLatch(1);
    private final List<Thread> threads = new ArrayList<>();
    private final Shop shop = new Shop();
    private Runnable quotes = () -> {};

    /** Loads the classes again for each test, because a class is initialized only once. */
    private static final class Fresh extends ClassLoader {

        Fresh() {
            super(ClassInitializationTest.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.equals("shop.Quotes") && !name.equals("shop.SeasonRules")) {
                return super.loadClass(name, resolve);
            }
            synchronized (getClassLoadingLock(name)) {
                Class<?> known = findLoadedClass(name);
                return known == null ? define(name) : known;
            }
        }

        private Class<?> define(String name) throws ClassNotFoundException {
            try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
                byte[] bytes = in.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    @BeforeEach
    void closeGate() throws ReflectiveOperationException {
        Gate.close(end);
        quotes = (Runnable)
                new Fresh().loadClass("shop.Quotes").getDeclaredConstructor().newInstance();
    }

    @AfterEach
    void endThreads() throws InterruptedException {
        end.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private Thread start(String name, Runnable code) {
        Thread thread = new Thread(code, name);
        thread.setDaemon(true);
        threads.add(thread);
        thread.start();
        return thread;
    }

    private Thread initializer() {
        Thread initializer = start("start-up-1", quotes);
        while (initializer.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
        return initializer;
    }

    @Test
    void threadThatRunsTheInitializerIsFoundAmongAllThreads() {
        initializer();
        Thread waiting = start("worker-1", quotes);

        ThreadSnapshot initializer = awaited(new long[] {waiting.getId()}).get(waiting.getId());

        assertThat(initializer).isNotNull();
        assertThat(initializer.name()).isEqualTo("start-up-1");
        assertThat(StackReader.initialized(initializer)).isEqualTo("SeasonRules");
    }

    /** Inspects the threads repeatedly until all of them wait, because some threads begin to wait later than others. */
    private static Map<Long, ThreadSnapshot> awaited(long[] threads) {
        ClassInitializers initializers = new ClassInitializers();
        Map<Long, ThreadSnapshot> awaited = Map.of();
        while (awaited.size() < threads.length) {
            awaited = initializers.awaited(ThreadSnapshots.of(threads).values(), System.nanoTime());
        }
        return awaited;
    }

    @Test
    void threadThatStandsWithoutAnInitializerDoesNotWaitForOne() {
        StackTraceElement[] frames = {new StackTraceElement("shop.Quotes", "price", "Quotes.java", 12)};
        ThreadSnapshot standing =
                new ThreadSnapshot("worker-1", -7, Thread.State.RUNNABLE, frames, null, null, 5_000_000, -1);
        ClassInitializers initializers = new ClassInitializers();

        initializers.awaited(List.of(standing), 1);
        Map<Long, ThreadSnapshot> awaited = initializers.awaited(List.of(standing), 100_000_001);

        assertThat(awaited).isEmpty();
    }

    @Test
    void hungCallsThatWaitForTheInitializerNameTheClassAndTheThread() throws Exception {
        shop.healthy(USUAL);
        initializer();
        List<RunningCall> calls = new ArrayList<>();
        long started = shop.now();
        for (int i = 0; i < 4; i++) {
            CompletableFuture<CallLedger> ledger = new CompletableFuture<>();
            Thread worker = start("worker-" + i, () -> {
                ledger.complete(new CallLedger(shop::now));
                quotes.run();
            });
            calls.add(new RunningCall(Shop.PLACE, worker.getId(), Phase.OWN, started, 0, ledger.get()));
        }
        awaited(calls.stream().mapToLong(RunningCall::threadId).toArray());
        Diagnosis diagnosis = shop.diagnosis();
        for (int second = 0; second < 6; second++) {
            diagnosis = secondWith(calls, started);
        }

        Cause first = diagnosis.causes().get(0);
        assertThat(first.kind() + ": " + first.name())
                .as(diagnosis.text())
                .isEqualTo("CLASS INITIALIZATION: SeasonRules");
        assertThat(first.evidence()).contains("thread   start-up-1 runs the static initializer");
        assertThat(first.change().text()).contains("initialize SeasonRules when the application starts");
        assertThat(first.saves()).isEqualTo(1);
        assertThat(diagnosis.causes()).extracting(Cause::kind).doesNotContain("PROCESSORS", "NATIVE CODE");
    }

    private Diagnosis secondWith(List<RunningCall> calls, long started) {
        for (int i = 0; i < 8; i++) {
            shop.running.clear();
            for (RunningCall call : calls) {
                long ran = shop.now() - started;
                shop.running.add(new RunningCall(call.method(), call.threadId(), Phase.OWN, ran, ran, call.ledger()));
            }
            shop.diagnostician.look();
            shop.pass(100);
        }
        shop.second(100, USUAL);
        return shop.diagnosis();
    }
}
