package tern.rpc.diagnosis.machine;

import static org.assertj.core.api.Assertions.assertThat;

import javax.management.ListenerNotFoundException;
import javax.management.NotificationEmitter;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class MachineWatchTest {

    private final MachineWatch watch = new MachineWatch();

    @AfterEach
    void stop() {
        watch.stop();
    }

    /** Removes the listener of one collector. Returns whether it was there. */
    private boolean isHeardBy(NotificationEmitter collector) {
        try {
            collector.removeNotificationListener(watch.collectors());
            return true;
        } catch (ListenerNotFoundException e) {
            return false;
        }
    }

    @Test
    void applicationThatFailsToStartLeavesNoListenerInTheJvm() {
        assertThat(CollectorLog.collectors()).isNotEmpty().noneMatch(this::isHeardBy);
    }

    @Test
    void startedWatchHearsOfCollections() {
        watch.start();

        assertThat(CollectorLog.collectors()).isNotEmpty().allMatch(this::isHeardBy);
    }

    @Test
    void stoppedWatchLeavesNoListenerInTheJvm() {
        watch.start();

        watch.stop();

        assertThat(CollectorLog.collectors()).isNotEmpty().noneMatch(this::isHeardBy);
    }

    @Test
    void watchThatIsStartedAgainHearsOfCollectionsAgain() {
        watch.start();
        watch.stop();

        watch.start();

        assertThat(CollectorLog.collectors()).isNotEmpty().allMatch(this::isHeardBy);
    }
}
