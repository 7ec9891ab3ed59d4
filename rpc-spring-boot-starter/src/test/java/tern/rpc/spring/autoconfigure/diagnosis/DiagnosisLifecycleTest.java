package tern.rpc.spring.autoconfigure.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import tern.rpc.RunningCall;
import tern.rpc.diagnosis.Diagnostician;
import tern.rpc.diagnosis.Surroundings;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.pool.PoolSource;

/** Tests the thread that runs the diagnosis while the application closes. */
@ExtendWith(OutputCaptureExtension.class)
class DiagnosisLifecycleTest {

    @Test
    @Timeout(60)
    void beanThatIsNoLongerAvailableWhileTheApplicationClosesIsNotReported(CapturedOutput output) throws Exception {
        RpcMeters meters = RpcMeters.withoutRegistry();
        ClosingApplication application = new ClosingApplication();
        DiagnosisLifecycle lifecycle = new DiagnosisLifecycle(Diagnostician.of(meters, application), meters, false);

        lifecycle.start();
        application.asked.await();
        lifecycle.stop();
        application.closed.countDown();
        application.diagnosis.join();

        assertThat(output).doesNotContain("The diagnosis failed");
    }

    /**
     * An application context that returns its pools while it is open, and throws an exception after it has been closed.
     */
    private static final class ClosingApplication implements Surroundings {

        private final CountDownLatch asked = new CountDownLatch(1);
        private final CountDownLatch closed = new CountDownLatch(1);
        private volatile @Nullable Thread diagnosis;

        @Override
        public List<RunningCall> running() {
            return List.of();
        }

        @Override
        public Map<String, Long> refused() {
            return Map.of();
        }

        @Override
        public List<PoolSource> pools() {
            diagnosis = Thread.currentThread();
            asked.countDown();
            try {
                closed.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            throw new IllegalStateException("the application has been closed already");
        }
    }
}
