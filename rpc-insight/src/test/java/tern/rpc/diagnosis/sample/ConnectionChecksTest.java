package tern.rpc.diagnosis.sample;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import tern.rpc.Phase;
import tern.rpc.diagnosis.DiagnosisText;
import tern.rpc.diagnosis.SampledCalls;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.stack.ThreadSnapshot;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;

/** Tests calls waiting for a connection of a small pool while the pool checks or opens it. */
class ConnectionChecksTest {

    // the name of the pool; SampledCalls gives this name to each operation and each wait
    private static final String POOL = "GET stock:80";

    private static ThreadSnapshot thread(String... frames) {
        List<StackTraceElement> stack = new ArrayList<>();
        for (String frame : frames) {
            int dot = frame.lastIndexOf('.');
            stack.add(new StackTraceElement(frame.substring(0, dot), frame.substring(dot + 1), null, 1));
        }
        stack.add(new StackTraceElement("shop.Orders", "place", "Orders.java", 14));
        return new ThreadSnapshot(
                "http-1", 1, Thread.State.RUNNABLE, stack.toArray(new StackTraceElement[0]), null, null, -1, -1);
    }

    private static Cause first(ThreadSnapshot thread) {
        return new SampledCalls()
                .calls("Orders.place", Phase.JDBC_CONNECTION, 150, samples -> {
                    samples.add(SampledCalls.sample(Phase.JDBC_CONNECTION, thread));
                    samples.addStack(Phase.JDBC_CONNECTION, thread, false);
                })
                .pool(PoolSnapshot.builder(POOL, PoolKind.JDBC, 8)
                        .now(1, 1, 0)
                        .counts(50, 0)
                        .sums(Duration.ZERO, Duration.ofMillis(50))
                        .settings(List.of())
                        .build())
                .causes()
                .get(0);
    }

    @Test
    void poolThatHasNotGrownAndChecksEachConnectionDoesNotOpenConnections() {
        Cause first = first(thread(
                "java.net.Socket.read",
                "org.mariadb.jdbc.Statement.executeQuery",
                "com.alibaba.druid.pool.vendor.MySqlValidConnectionChecker.isValidConnection",
                "com.alibaba.druid.pool.DruidDataSource.getConnectionDirect"));

        assertThat(DiagnosisText.title(first)).isEqualTo("CONNECTIONS CHECKED SLOWLY: " + POOL);
    }

    @Test
    void poolWhoseThreadsDoNotCheckConnectionsOpensThem() {
        Cause first = first(thread(
                "java.util.concurrent.locks.LockSupport.park",
                "com.alibaba.druid.pool.DruidDataSource.takeLast",
                "com.alibaba.druid.pool.DruidDataSource.getConnectionDirect"));

        assertThat(DiagnosisText.title(first)).isEqualTo("CONNECTIONS OPEN SLOWLY: " + POOL);
    }

    @Test
    void checksOfTheApplicationAreNoChecksOfAPool() {
        assertThat(ConnectionChecks.isOne(thread("shop.Orders.isValid"))).isFalse();
        assertThat(ConnectionChecks.isOne(thread("com.zaxxer.hikari.pool.PoolBase.isConnectionDead")))
                .isTrue();
    }
}
