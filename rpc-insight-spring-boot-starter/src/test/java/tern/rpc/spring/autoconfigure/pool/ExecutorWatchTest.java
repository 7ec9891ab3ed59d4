package tern.rpc.spring.autoconfigure.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.CustomScopeConfigurer;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.context.support.SimpleThreadScope;
import org.springframework.core.Ordered;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSetting;
import tern.rpc.pool.PoolSnapshot;

/** Checks that an application's executors are measured and behave as before. */
@Timeout(120)
class ExecutorWatchTest {

    private static final AtomicInteger DECORATED = new AtomicInteger();

    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(RpcPoolsAutoConfiguration.class, TaskExecutionAutoConfiguration.class));

    @Configuration(proxyBeanMethods = false)
    static class OwnExecutors {

        @Bean
        ThreadPoolExecutor fixed() {
            return (ThreadPoolExecutor) Executors.newFixedThreadPool(2);
        }

        @Bean
        ExecutorService single() {
            return Executors.newSingleThreadExecutor();
        }

        @Bean
        ThreadPoolTaskExecutor spring() {
            ThreadPoolTaskExecutor executor = new ThreadPoolTaskExecutor();
            executor.setCorePoolSize(3);
            executor.setTaskDecorator(task -> {
                DECORATED.incrementAndGet();
                return task;
            });
            return executor;
        }

        @Bean
        SimpleAsyncTaskExecutor simple() {
            return new SimpleAsyncTaskExecutor();
        }
    }

    private static void statement() {
        CallLedger ledger = CallLedger.current();
        ledger.leave(ledger.enter(Phase.SQL));
    }

    @ParameterizedTest
    @ValueSource(strings = {"fixed", "single", "spring", "simple"})
    void taskCountsForTheCallThatSubmitsIt(String name) {
        application.withUserConfiguration(OwnExecutors.class).run(there -> {
            Executor executor = there.getBean(name, Executor.class);

            CallLedger call = Calls.ledgerOf(() -> CompletableFuture.runAsync(ExecutorWatchTest::statement, executor)
                    .get(60, TimeUnit.SECONDS));
            while (!call.parts().isEmpty()) {
                Thread.onSpinWait(); // The future completes shortly before the end of the task, so the test waits.
            }

            assertThat(call.count(Phase.SQL)).isOne();
            assertThat(call.count(Phase.EXECUTOR)).isOne();
        });
    }

    @Configuration(proxyBeanMethods = false)
    static class SmallExecutors {

        @Bean
        ThreadPoolExecutor fixed() {
            return new ThreadPoolExecutor(1, 1, 1, TimeUnit.SECONDS, new ArrayBlockingQueue<>(1));
        }

        @Bean
        ThreadPoolTaskExecutor spring() {
            ThreadPoolTaskExecutor executor = new ThreadPoolTaskExecutor();
            executor.setCorePoolSize(1);
            executor.setMaxPoolSize(1);
            executor.setQueueCapacity(1);
            return executor;
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"fixed", "spring"})
    void rejectedTasksAreCounted(String name) {
        application.withUserConfiguration(SmallExecutors.class).run(there -> {
            Executor executor = there.getBean(name, Executor.class);
            CountDownLatch release = new CountDownLatch(1);
            executor.execute(() -> {
                try {
                    release.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
            executor.execute(() -> {});

            assertThatThrownBy(() -> executor.execute(() -> {})).isInstanceOf(RejectedExecutionException.class);

            release.countDown();
            assertThat(Calls.pool(there, name).refused()).isOne();
        });
    }

    @Test
    void executorOfBootIsAPoolWithItsProperties() {
        application.run(there -> {
            ThreadPoolTaskExecutor executor = there.getBean(ThreadPoolTaskExecutor.class);

            Calls.ledgerOf(() -> executor.submit(ExecutorWatchTest::statement).get(60, TimeUnit.SECONDS));

            var pool = Calls.pool(there, "applicationTaskExecutor");
            assertThat(pool.kind()).isEqualTo(PoolKind.EXECUTOR);
            assertThat(pool.max()).isEqualTo(8);
            assertThat(pool.taken()).isOne();
            assertThat(pool.settings())
                    .extracting(setting -> setting.property())
                    .contains("spring.task.execution.pool.core-size");
        });
    }

    @Configuration(proxyBeanMethods = false)
    static class GrowingExecutors {

        @Bean
        ThreadPoolExecutor growing() {
            return new ThreadPoolExecutor(1, 6, 1, TimeUnit.SECONDS, new ArrayBlockingQueue<>(300));
        }

        @Bean
        ThreadPoolExecutor direct() {
            return new ThreadPoolExecutor(1, 6, 1, TimeUnit.SECONDS, new SynchronousQueue<>());
        }

        @Bean
        ThreadPoolTaskExecutor springs() {
            ThreadPoolTaskExecutor executor = new ThreadPoolTaskExecutor();
            executor.setCorePoolSize(2);
            return executor;
        }
    }

    @Test
    void coreSizeIsASettingOfAnExecutorWhoseQueueKeepsItFromGrowing() {
        application.withUserConfiguration(GrowingExecutors.class).run(there -> {
            PoolSetting growing = Calls.pool(there, "growing").settings().get(0);

            assertThat(growing.property()).isEqualTo("core size (setCorePoolSize)");
            assertThat(growing.value()).isEqualTo("1");
            assertThat(growing.accepted().most()).isEqualTo(6);
            assertThat(Calls.pool(there, "growing").max()).isOne();
            assertThat(Calls.pool(there, "springs").settings()).hasSize(1);
            assertThat(Calls.pool(there, "direct").settings()).isEmpty();
            assertThat(Calls.pool(there, "direct").max()).isEqualTo(6);
        });
    }

    @Test
    void taskThatWaitsForAThreadIsSeen() {
        application.withUserConfiguration(OwnExecutors.class).run(there -> {
            ThreadPoolExecutor executor = there.getBean(ThreadPoolExecutor.class);
            CountDownLatch release = new CountDownLatch(1);
            List<CompletableFuture<Void>> tasks = java.util.stream.Stream.generate(
                            () -> CompletableFuture.runAsync(() -> await(release), executor))
                    .limit(3)
                    .toList();

            assertThat(Calls.pool(there, "fixed").max()).isEqualTo(2);
            assertThat(Calls.pool(there, "fixed").waiting()).isOne();

            release.countDown();
            CompletableFuture.allOf(tasks.toArray(CompletableFuture[]::new)).get(60, TimeUnit.SECONDS);
            assertThat(Calls.pool(there, "fixed").waiting()).isZero();
            assertThat(executor.getCorePoolSize()).isEqualTo(2);
        });
    }

    @Test
    void executorThatHidesItsThreadsIsAPool() {
        application.withUserConfiguration(OwnExecutors.class).run(there -> {
            ExecutorService executor = there.getBean("single", ExecutorService.class);
            CountDownLatch started = new CountDownLatch(1);
            CountDownLatch release = new CountDownLatch(1);
            List<Future<String>> tasks = new ArrayList<>();
            tasks.add(executor.submit(() -> {
                started.countDown();
                await(release);
                return "done";
            }));
            tasks.add(executor.submit(() -> "second"));
            await(started);

            assertThat(Calls.pool(there, "single").kind()).isEqualTo(PoolKind.EXECUTOR);
            assertThat(Calls.pool(there, "single").max()).isOne();
            assertThat(Calls.pool(there, "single").active()).isOne();
            assertThat(Calls.pool(there, "single").waiting()).isOne();

            release.countDown();
            for (Future<String> task : tasks) {
                task.get(60, TimeUnit.SECONDS);
            }
            assertThat(Calls.pool(there, "single").waiting()).isZero();
            assertThat(Calls.pool(there, "single").taken()).isEqualTo(2);
        });
    }

    @Test
    void limitOfConcurrentTasksOfBootIsAPoolWithItsProperty() {
        application
                .withPropertyValues("spring.task.execution.simple.concurrency-limit=3")
                .withBean("applicationTaskExecutor", SimpleAsyncTaskExecutor.class, () -> {
                    SimpleAsyncTaskExecutor executor = new SimpleAsyncTaskExecutor();
                    executor.setConcurrencyLimit(3);
                    return executor;
                })
                .run(there -> {
                    var pool = Calls.pool(there, "applicationTaskExecutor");

                    assertThat(pool.max()).isEqualTo(3);
                    assertThat(pool.settings())
                            .extracting(setting -> setting.property())
                            .containsExactly("spring.task.execution.simple.concurrency-limit");
                });
    }

    @Test
    void canceledTasksWaitOnlyUntilALaterTaskStarts() {
        TaskTimes times = new TaskTimes();
        List<Integer> waiting = new ArrayList<>();
        Runnable first = times.measured((Runnable) () -> waiting.add(times.waiting()));
        times.measured(() -> {}); // a task that is canceled before it starts
        Runnable last = times.measured((Runnable) () -> waiting.add(times.waiting()));

        first.run();
        last.run();

        assertThat(waiting).containsExactly(2, 0);
        assertThat(times.waiting()).isZero();
    }

    @Test
    void failedTasksAreCountedWithTheirException() {
        TaskTimes times = new TaskTimes();
        Runnable task = times.measured((Runnable) () -> {
            throw new NumberFormatException("n/a");
        });

        assertThatThrownBy(task::run).isInstanceOf(NumberFormatException.class);

        PoolSnapshot pool =
                times.into(PoolSnapshot.builder("menu", PoolKind.EXECUTOR, 1)).build();
        assertThat(pool.failed()).isOne();
        assertThat(pool.lastFailure()).startsWith("NumberFormatException");
        assertThat(pool.since(pool).failed()).isZero();
    }

    @Test
    void tasksThatNoCallHasSubmittedAreCountedSeparately() throws Exception {
        TaskTimes times = new TaskTimes();
        Runnable[] ofCall = new Runnable[1];
        Calls.ledgerOf(() -> ofCall[0] = times.measured((Runnable) () -> {}));
        int[] running = new int[1];
        Runnable ofJob =
                times.measured((Runnable) () -> running[0] = others(times).running());

        ofCall[0].run();
        ofJob.run();

        assertThat(running[0]).isOne();
        assertThat(others(times).started()).isOne();
        assertThat(others(times).running()).isZero();
        assertThat(others(times).ran()).isPositive();
    }

    private static PoolSnapshot.OtherTasks others(TaskTimes times) {
        return times.into(PoolSnapshot.builder("menu", PoolKind.EXECUTOR, 1))
                .build()
                .others();
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void tasksThatTheExecutorsOwnThreadsSubmitAreCounted() throws Exception {
        TaskTimes times = new TaskTimes();
        Runnable inner = () -> {};
        List<Runnable> tasks = List.of(times.measured(inner), times.measured((Runnable) () -> times.measured(inner)));
        for (Runnable task : tasks) {
            Thread thread = new Thread(task, "overview-" + tasks.indexOf(task));
            thread.start();
            thread.join();
        }
        times.measured(inner);

        PoolSnapshot.Builder snapshot = PoolSnapshot.builder("overview", PoolKind.EXECUTOR, 2);
        assertThat(times.into(snapshot).build().inner()).isEqualTo(1);
    }

    @Test
    void submittedTaskCanBeRemovedAndIsReturnedByAShutdown() {
        application.withUserConfiguration(OwnExecutors.class).run(there -> {
            ThreadPoolExecutor executor = there.getBean(ThreadPoolExecutor.class);
            CountDownLatch release = new CountDownLatch(1);
            executor.execute(() -> await(release));
            executor.execute(() -> await(release));
            Runnable first = ExecutorWatchTest::statement;
            Runnable second = ExecutorWatchTest::statement;
            executor.execute(first);
            executor.execute(second);

            assertThat(executor.remove(first)).isTrue();
            assertThat(executor.shutdownNow()).containsExactly(second);
        });
    }

    @Test
    void decoratorOfTheApplicationStays() {
        application.withUserConfiguration(OwnExecutors.class).run(there -> {
            int before = DECORATED.get();

            there.getBean("spring", ThreadPoolTaskExecutor.class)
                    .submit(ExecutorWatchTest::statement)
                    .get(60, TimeUnit.SECONDS);

            assertThat(DECORATED.get()).isEqualTo(before + 1);
        });
    }

    /**
     * Wraps an executor in a proxy, as an aspect does. This post-processor is ordered, and therefore runs before
     * {@link ExecutorWatch}.
     */
    static final class Aspects implements BeanPostProcessor, Ordered {

        @Override
        public Object postProcessAfterInitialization(Object bean, String beanName) {
            if (!beanName.equals("proxied")) {
                return bean;
            }
            ProxyFactory proxy = new ProxyFactory(bean);
            proxy.setProxyTargetClass(true);
            return proxy.getProxy();
        }

        @Override
        public int getOrder() {
            return 0;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class ProxiedExecutors {

        @Bean
        @Scope(value = "thread", proxyMode = ScopedProxyMode.TARGET_CLASS)
        ThreadPoolTaskExecutor scoped() {
            return new OwnExecutors().spring();
        }

        @Bean
        ThreadPoolTaskExecutor proxied() {
            return new OwnExecutors().spring();
        }

        @Bean
        static Aspects aspects() {
            return new Aspects();
        }

        @Bean
        static CustomScopeConfigurer scopes() {
            CustomScopeConfigurer scopes = new CustomScopeConfigurer();
            scopes.addScope("thread", new SimpleThreadScope());
            return scopes;
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"scoped", "proxied"})
    void decoratorOfTheApplicationStaysBehindAProxy(String name) {
        application.withUserConfiguration(ProxiedExecutors.class).run(there -> {
            ThreadPoolTaskExecutor executor = there.getBean(name, ThreadPoolTaskExecutor.class);
            int before = DECORATED.get();

            executor.submit(ExecutorWatchTest::statement).get(60, TimeUnit.SECONDS);

            assertThat(AopUtils.isAopProxy(executor)).isTrue();
            assertThat(DECORATED.get()).isEqualTo(before + 1);
            assertThat(Calls.pool(there, name).taken()).isOne();
        });
    }

    @Test
    void commonPoolIsShown() {
        application.run(
                there -> assertThat(Calls.pool(there, "common-pool").kind()).isEqualTo(PoolKind.EXECUTOR));
    }
}
