package tern.rpc.spring.autoconfigure.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static tern.rpc.spring.autoconfigure.pool.PoolApplications.pool;
import static tern.rpc.spring.autoconfigure.pool.PoolApplications.setting;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.ServerContext;

/** Tests thread pools that the application configures through properties. */
class BusinessPoolTest {

    @ParameterizedTest
    @ValueSource(strings = {"myBind", "my-bind", "my_bind", "MyBind"})
    void nameOfAPoolKeepsItsSpelling(String name) {
        String property = "rpc.pools.executors." + name + ".threads";

        PoolApplications.with().withPropertyValues(property + "=3").run(there -> {
            assertThat(there.getBean(name, BusinessPool.class).getCorePoolSize())
                    .isEqualTo(3);
            assertThat(setting(pool(there, name), property)).isEqualTo("3 (USER)");
        });
    }

    @Test
    void groupOfPropertiesBecomesAnExecutor() {
        PoolApplications.with()
                .withPropertyValues("rpc.pools.executors.bind.threads=3", "rpc.pools.executors.mail.queue-capacity=5")
                .run(there -> {
                    ThreadPoolExecutor bind = there.getBean("bind", ThreadPoolExecutor.class);

                    assertThat(bind.getMaximumPoolSize()).isEqualTo(3);
                    assertThat(bind.getQueue().remainingCapacity()).isEqualTo(30);
                    assertThat(setting(pool(there, "bind"), "rpc.pools.executors.bind.threads"))
                            .isEqualTo("3 (USER)");
                    assertThat(setting(pool(there, "mail"), "rpc.pools.executors.mail.threads"))
                            .isEqualTo("8 (TUNED)");
                });
    }

    @Test
    void poolReplacesNoOtherExecutor() {
        PoolApplications.with()
                .withConfiguration(AutoConfigurations.of(TaskExecutionAutoConfiguration.class))
                .withPropertyValues("rpc.pools.executors.bind.threads=3")
                .run(there -> {
                    assertThat(there).hasBean("applicationTaskExecutor");
                    assertThat(there.getBeanProvider(Executor.class).getIfUnique())
                            .isSameAs(there.getBean("applicationTaskExecutor"));
                });
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnExecutor {
        @Bean
        Executor bind() {
            return Runnable::run;
        }
    }

    @Test
    void applicationsOwnBeanOfThatNameStays() {
        PoolApplications.with()
                .withUserConfiguration(OwnExecutor.class)
                .withPropertyValues("rpc.pools.executors.bind.threads=3")
                .run(there -> assertThat(there.getBean("bind")).isNotInstanceOf(ThreadPoolExecutor.class));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "bind.threads=0         | rpc.pools.executors.bind.threads is 0; expected 1 to 10000",
                "bind.queue-capacity=-1 | rpc.pools.executors.bind.queue-capacity is -1; expected 0 to 1000000",
                "bind.thread=3          | property rpc.pools.executors.bind.thread",
            })
    void wrongValuesStopTheStart(String property, String message) {
        PoolApplications.with()
                .withPropertyValues("rpc.pools.executors." + property)
                .run(there -> assertThat(there).getFailure().hasStackTraceContaining(message));
    }

    @Test
    void fullPoolRefusesAndNamesTheProperty() {
        PoolApplications.with()
                .withPropertyValues("rpc.pools.executors.bind.threads=1", "rpc.pools.executors.bind.queue-capacity=1")
                .run(there -> {
                    Executor bind = there.getBean("bind", Executor.class);
                    CountDownLatch release = new CountDownLatch(1);
                    CountDownLatch running = new CountDownLatch(1);
                    bind.execute(() -> {
                        running.countDown();
                        await(release);
                    });
                    running.await();
                    bind.execute(() -> {});

                    assertThatThrownBy(() -> bind.execute(() -> {}))
                            .isInstanceOf(RejectedExecutionException.class)
                            .hasMessage("the pool \"bind\" is full: 1 of 1 threads busy, 1 of 1 tasks waiting (set by"
                                    + " rpc.pools.executors.bind.threads and rpc.pools.executors.bind.queue-capacity)");
                    assertThat(pool(there, "bind").refused()).isEqualTo(1);
                    assertThat(pool(there, "bind").waiting()).isEqualTo(1);
                    release.countDown();
                });
    }

    @Test
    void callerThatRunsItsTaskHasItInItsLedger() {
        PoolApplications.with()
                .withPropertyValues(
                        "rpc.pools.executors.bind.threads=1",
                        "rpc.pools.executors.bind.queue-capacity=0",
                        "rpc.pools.executors.bind.rejection=caller-runs")
                .run(there -> {
                    Executor bind = there.getBean("bind", Executor.class);
                    CountDownLatch release = new CountDownLatch(1);
                    CountDownLatch running = new CountDownLatch(1);
                    bind.execute(() -> {
                        running.countDown();
                        await(release);
                    });
                    running.await();
                    AtomicReference<Phase> during = new AtomicReference<>();

                    CallLedger ledger = Serving.ledgerOf(() -> {
                        bind.execute(() -> during.set(CallLedger.current().phase()));
                        return null;
                    });

                    assertThat(during.get()).isEqualTo(Phase.CALLER_RUNS);
                    assertThat(ledger.count(Phase.CALLER_RUNS)).isEqualTo(1);
                    assertThat(pool(there, "bind").callerRuns()).isEqualTo(1);
                    assertThat(pool(there, "bind").refused()).isZero();
                    release.countDown();
                });
    }

    @Test
    void taskKeepsItsContextAndCountsInTheLedger() {
        PoolApplications.with()
                .withPropertyValues("rpc.pools.executors.bind.threads=1")
                .run(there -> {
                    ThreadPoolExecutor bind = there.getBean("bind", ThreadPoolExecutor.class);
                    AtomicReference<ServerContext> seen = new AtomicReference<>();

                    CallLedger ledger = Serving.ledgerOf(() -> {
                        Future<?> done = bind.submit(() -> {
                            seen.set(ServerContext.current());
                            CallLedger.current().leave(CallLedger.current().enter(Phase.REDIS));
                        });
                        done.get(30, TimeUnit.SECONDS);
                        // The only thread of the pool runs this task after it has added the times of the first task to
                        // the call's ledger.
                        bind.submit(() -> {}).get(30, TimeUnit.SECONDS);
                        return null;
                    });

                    assertThat(seen.get()).isNotNull();
                    assertThat(ledger.count(Phase.REDIS)).isEqualTo(1);
                });
    }

    @Test
    void poolIsShutDownWithTheApplication() {
        AtomicReference<ThreadPoolExecutor> pool = new AtomicReference<>();

        PoolApplications.with()
                .withPropertyValues("rpc.pools.executors.bind.threads=1")
                .run(there -> pool.set(there.getBean("bind", ThreadPoolExecutor.class)));

        assertThat(pool.get().isTerminated()).isTrue();
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
