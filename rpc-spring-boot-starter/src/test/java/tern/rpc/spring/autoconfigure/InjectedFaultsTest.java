package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import com.alibaba.druid.pool.DruidDataSource;
import com.example.office.Fault;
import com.example.office.Office;
import com.example.office.OfficeBean;
import com.example.office.StoreBean;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntUnaryOperator;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.context.ApplicationContext;
import org.springframework.context.SmartLifecycle;
import tern.rpc.diagnosis.Diagnosis;
import tern.rpc.diagnosis.Diagnosis.State;
import tern.rpc.diagnosis.Diagnostician;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.autoconfigure.diagnosis.RpcDiagnosisAutoConfiguration;
import tern.rpc.spring.autoconfigure.pool.DruidPoolAutoConfiguration;

/**
 * Injects five faults into an application under load and checks the diagnosis of each fault. The test advances the
 * clock of the diagnosis by one second per {@value #CALLS_PER_SECOND} calls, so that the result does not depend on the
 * speed of the machine.
 */
@Timeout(300)
class InjectedFaultsTest {

    private static final int CALLERS = 8;
    private static final int CALLS_PER_SECOND = 10;

    /** After {@value} simulated seconds with calls, the diagnosis can report that calls miss their target. */
    private static final int WARM_UP_SECONDS = 65;

    /**
     * The maximum number of seconds until the diagnosis names the cause, or until it reports a healthy application
     * again.
     */
    private static final int MAX_SECONDS = 120;

    static class Caller {
        @RpcReference
        Office office;
    }

    @Test
    void causeOfEachFaultIsNamedFirstWithTheRightChange() {
        Applications.provider(StoreBean.class)
                .run(store -> Applications.provider(OfficeBean.class)
                        .withConfiguration(AutoConfigurations.of(
                                DruidPoolAutoConfiguration.class,
                                DataSourceAutoConfiguration.class,
                                RpcDiagnosisAutoConfiguration.class))
                        .withPropertyValues(
                                "rpc.client.url=" + Applications.addressOf(store),
                                "spring.datasource.url=jdbc:h2:mem:office;DB_CLOSE_DELAY=-1",
                                "spring.datasource.type=" + DruidDataSource.class.getName(),
                                "spring.datasource.druid.max-active=10",
                                "rpc.pools.executors.mail.threads=2")
                        .run(office -> Applications.consumerOf(office, Caller.class)
                                .run(caller -> {
                                    try (Load load = new Load(caller.getBean(Caller.class).office, office)) {
                                        load.seconds(WARM_UP_SECONDS);
                                        assertNamed(
                                                load,
                                                Fault.LOCK,
                                                "LOCK",
                                                "Seals",
                                                "hold the lock for less time in Seals.next");
                                        assertNamed(
                                                load,
                                                Fault.STATEMENT,
                                                "SLOW STATEMENT",
                                                "select audit(?)",
                                                "a different pool size does not help");
                                        assertNamed(load, Fault.PROVIDER, "PEER", "Store.stock", "Store.stock");
                                        assertNamed(load, Fault.TASKS, "SLOW TASKS", "mail", "OfficeBean.print");
                                        assertNamed(
                                                load,
                                                Fault.LEAK,
                                                "NOT GIVEN BACK",
                                                "druid",
                                                "close the connection in Files.export");
                                    } finally {
                                        Fault.inject(null);
                                    }
                                })));
    }

    /**
     * Waits until the application is healthy, injects the fault, and checks the first cause named by the diagnosis.
     * Does not remove the fault.
     */
    private static void assertNamed(Load load, Fault fault, String kind, String name, String change) {
        Fault.inject(null);
        Diagnosis before = load.await(diagnosis -> diagnosis.state() == State.HEALTHY);
        assertThat(before.causes()).as(before.text()).isEmpty();

        Fault.inject(fault);

        Diagnosis diagnosis = load.await(now -> now.state() == State.MISS
                && now.causes().get(0).kind().equals(kind)
                && now.causes().get(0).name().contains(name)
                // The expected text can appear late, because the diagnosis has only a few samples of the calls in the
                // first second.
                && now.causes().get(0).change().text().contains(change));
        Cause first = diagnosis.causes().get(0);
        assertThat(first.change().property()).as(diagnosis.text()).isNull();
    }

    /**
     * Calls the service on several threads. After every few calls, advances the clock of the diagnosis by one second.
     */
    private static final class Load implements AutoCloseable {

        private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

        private final ExecutorService callers = Executors.newFixedThreadPool(CALLERS);
        private final AtomicLong ended = new AtomicLong();
        private final Diagnostician diagnostician;
        private volatile boolean closed;

        Load(Office office, ApplicationContext served) {
            this.diagnostician = served.getBean(Diagnostician.class);
            served.getBean("rpcDiagnosisLifecycle", SmartLifecycle.class).stop();
            served.getBean(RpcMeters.class).observe(diagnostician.observer());
            diagnostician.start(false);
            List<IntUnaryOperator> methods =
                    List.of(office::seal, office::file, office::export, office::order, office::mail);
            for (int i = 0; i < CALLERS; i++) {
                int first = i;
                callers.execute(() -> {
                    for (int number = first; !closed; number++) {
                        call(methods.get(number % methods.size()), number);
                        LockSupport.parkNanos(PAUSE_NANOS);
                    }
                });
            }
        }

        private void call(IntUnaryOperator method, int number) {
            try {
                assertThat(method.applyAsInt(number)).isNotNegative();
            } catch (RuntimeException e) {
                // Failures are ignored, because a connection leak makes calls fail. The diagnosis counts these
                // failures.
            }
            ended.incrementAndGet();
        }

        /**
         * Advances the clock until the diagnosis matches the predicate. After too many simulated seconds, fails with
         * the last diagnosis in the message.
         */
        Diagnosis await(Predicate<Diagnosis> expected) {
            for (int second = 0; second < MAX_SECONDS && !expected.test(diagnostician.diagnosis()); second++) {
                seconds(1);
            }
            Diagnosis diagnosis = diagnostician.diagnosis();
            assertThat(expected).as(diagnosis.text()).accepts(diagnosis);
            return diagnosis;
        }

        void seconds(int count) {
            for (int second = 0; second < count; second++) {
                long end = ended.get() + CALLS_PER_SECOND;
                while (ended.get() < end && !Thread.currentThread().isInterrupted()) {
                    long pause = diagnostician.pauseNanos();
                    if (pause > 0) {
                        diagnostician.look();
                    }
                    LockSupport.parkNanos(pause > 0 ? pause : PAUSE_NANOS);
                }
                diagnostician.second();
            }
        }

        @Override
        public void close() {
            closed = true;
            callers.shutdown();
            try {
                assertThat(callers.awaitTermination(1, TimeUnit.MINUTES)).isTrue();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            diagnostician.stop();
        }
    }
}
