package tern.rpc.spring.autoconfigure.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.MeterRegistry;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.beans.factory.support.RootBeanDefinition;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;

class PoolSourcesTest {

    private final DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
    private final PoolSources sources = new PoolSources(beans, beans.getBeanProvider(MeterRegistry.class));

    private void add(String name) {
        sources.add(
                name,
                () -> PoolSnapshot.builder(name, PoolKind.HTTP, 1)
                        .settings(List.of())
                        .build());
    }

    @Test
    // The test runs on a separate thread, because threads in a deadlock cannot be interrupted.
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void poolOfABeanIsAddedWhileAnotherThreadAddsAPoolAndWaitsForTheBean() throws InterruptedException {
        Thread other = new Thread(() -> add("late"));
        beans.registerBeanDefinition("dataSource", new RootBeanDefinition(Object.class, () -> {
            other.start();
            while (other.getState() == Thread.State.RUNNABLE) {
                Thread.onSpinWait();
            }
            add("jdbc");
            return new Object();
        }));

        beans.getBean("dataSource");
        other.join();

        assertThat(beans.getSingletonNames()).contains("rpcPool.jdbc", "rpcPool.late");
    }
}
