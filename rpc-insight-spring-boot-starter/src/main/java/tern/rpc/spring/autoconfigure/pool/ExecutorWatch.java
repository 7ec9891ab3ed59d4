package tern.rpc.spring.autoconfigure.pool;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.core.NativeDetector;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.core.task.TaskDecorator;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import org.springframework.util.ReflectionUtils;
import tern.rpc.CallTask;
import tern.rpc.pool.ApplicationCode;

/**
 * Measures the application's executors. Each executor with a limited number of threads appears as a pool. The duration
 * of a task is recorded for the call that submits it, except in fork-join pools and in subclasses of thread pools.
 * Beans keep their types. Spring's executors get a decorator. A plain thread pool is replaced with an instance of a
 * wrapping subclass. An executor whose class is not public is replaced with a proxy, unless the class belongs to the
 * application.
 */
final class ExecutorWatch implements HeldWatch, SmartInitializingSingleton {

    private static final Logger LOG = LoggerFactory.getLogger(ExecutorWatch.class);

    /** The class of executors that start a new thread for each task, without a limit. */
    private static final String THREAD_PER_TASK = "java.util.concurrent.ThreadPerTaskExecutor";

    private final ObjectProvider<PoolSources> sources;
    private final ObjectProvider<SettingOrigins> origins;

    ExecutorWatch(ObjectProvider<PoolSources> sources, ObjectProvider<SettingOrigins> origins) {
        this.sources = sources;
        this.origins = origins;
    }

    @Override
    public void afterSingletonsInstantiated() {
        // Creates the bean that reads the settings now, because it is still needed while the context closes.
        origins.getIfAvailable();
        ForkJoinPool common = ForkJoinPool.commonPool();
        sources.getObject().add("common-pool", () -> ExecutorSnapshots.of("common-pool", common));
    }

    /**
     * Measures the tasks of an executor.
     *
     * @param own the application's own decorator; null if there is none
     */
    private record Measuring(
            String name, TaskTimes times, @Nullable TaskDecorator own) implements TaskDecorator {

        @Override
        public Runnable decorate(Runnable task) {
            Runnable handedOver = CallTask.of(times.measured(task), name);
            return own == null ? handedOver : own.decorate(handedOver);
        }
    }

    /** Sets a decorator that also applies the application's own decorator, if there is one. */
    private static boolean decorate(
            Class<?> type, Object executor, String name, TaskTimes times, Consumer<TaskDecorator> set) {
        Field field = ReflectionUtils.findField(type, "taskDecorator", TaskDecorator.class);
        if (field == null) {
            LOG.debug("{} is not measured: this version of Spring stores its decorator in another field", name);
            return false;
        }
        ReflectionUtils.makeAccessible(field);
        TaskDecorator own = (TaskDecorator) ReflectionUtils.getField(field, executor);
        if (own instanceof Measuring) {
            return false; // the executor is already measured, for example because a field refers to a prototype bean
        }
        set.accept(new Measuring(name, times, own));
        return true;
    }

    /** Returns the pool of an executor; null if it has none, for example because it is a mock. */
    private static @Nullable ThreadPoolExecutor poolOf(ThreadPoolTaskExecutor executor, String name) {
        try {
            return executor.getThreadPoolExecutor();
        } catch (IllegalStateException e) {
            LOG.debug("{} is not measured, because it has no pool", name, e);
            return null;
        }
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        if (!AopUtils.isAopProxy(bean)) {
            boolean scoped = ScopedProxyUtils.isScopedTarget(beanName);
            return watched(bean, scoped ? ScopedProxyUtils.getOriginalBeanName(beanName) : beanName);
        }
        // The target of the proxy is measured, because the proxy's own fields do not contain the application's
        // decorator. The target of a scoped proxy is a bean and is measured as a bean.
        Object target = AopProxyUtils.getSingletonTarget(bean);
        if (target instanceof ThreadPoolTaskExecutor || target instanceof SimpleAsyncTaskExecutor) {
            watched(target, beanName);
            return bean;
        }
        return target == null ? bean : watched(bean, beanName);
    }

    private Object watched(Object bean, String beanName) {
        if (bean instanceof ThreadPoolTaskExecutor executor) {
            TaskTimes times = new TaskTimes();
            if (decorate(ThreadPoolTaskExecutor.class, executor, beanName, times, executor::setTaskDecorator)) {
                ThreadPoolExecutor pool = poolOf(executor, beanName);
                if (pool != null) {
                    pool.setRejectedExecutionHandler(times.counting(pool.getRejectedExecutionHandler()));
                    String name = sources.getObject().nameFor(beanName);
                    sources.getObject()
                            .add(name, () -> ExecutorSnapshots.of(name, executor, times, origins.getObject()));
                }
            }
            return executor;
        }
        if (bean instanceof SimpleAsyncTaskExecutor executor) {
            TaskTimes times = new TaskTimes();
            String name = sources.getObject().nameFor(beanName);
            boolean measured =
                    decorate(SimpleAsyncTaskExecutor.class, executor, name, times, executor::setTaskDecorator);
            if (measured && executor.isThrottleActive()) {
                sources.getObject().add(name, () -> ExecutorSnapshots.of(name, executor, times, origins.getObject()));
            }
            return executor;
        }
        if (bean.getClass() == ThreadPoolExecutor.class) {
            TaskTimes times = new TaskTimes();
            WatchedThreadPool watched = new WatchedThreadPool((ThreadPoolExecutor) bean, beanName, times);
            add(beanName, watched, times);
            return watched;
        }
        if (bean instanceof ForkJoinPool pool) {
            String name = sources.getObject().nameFor(beanName);
            sources.getObject().add(name, () -> ExecutorSnapshots.of(name, pool));
            return pool;
        }
        if (bean instanceof ThreadPoolExecutor pool) {
            if (isOfTheApplication(pool)) {
                add(beanName, pool, null);
            }
            return pool;
        }
        // The class belongs to the application, which might cast the object to it, so a proxy must not replace the
        // object.
        return bean instanceof ExecutorService executor
                        && !Modifier.isPublic(bean.getClass().getModifiers())
                        && !ApplicationCode.owns(bean.getClass().getName())
                        && !NativeDetector.inNativeImage()
                ? proxied(executor, beanName)
                : bean;
    }

    private Object proxied(ExecutorService executor, String beanName) {
        TaskTimes times = new TaskTimes();
        String name = sources.getObject().nameFor(beanName);
        if (!executor.getClass().getName().equals(THREAD_PER_TASK)) {
            sources.getObject().add(name, () -> ExecutorSnapshots.of(name, times));
        }
        return WatchedExecutor.of(executor, name, times);
    }

    private static boolean isOfTheApplication(ThreadPoolExecutor pool) {
        return !(pool instanceof BusinessPool)
                && !(pool instanceof ScheduledThreadPoolExecutor)
                && !pool.getClass().getName().startsWith("tern.rpc.");
    }

    private void add(String beanName, ThreadPoolExecutor pool, @Nullable TaskTimes times) {
        String name = sources.getObject().nameFor(beanName);
        sources.getObject().add(name, () -> ExecutorSnapshots.of(name, pool, times));
    }
}
