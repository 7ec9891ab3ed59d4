package tern.rpc.netty;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import tern.rpc.transport.EventLoopThread;

class EventLoopsTest {

    @Test
    void threadsAreMarkedAndNamed() throws Exception {
        try (EventLoops loops = EventLoops.start(1)) {
            Thread thread = loops.group().submit(Thread::currentThread).get(20, TimeUnit.SECONDS);

            assertThat(thread).isInstanceOf(EventLoopThread.class);
            assertThat(thread.getName()).startsWith("rpc-io-");
            assertThat(thread.isDaemon()).isTrue();
        }
    }
}
