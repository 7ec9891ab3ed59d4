package tern.rpc.spring.autoconfigure.pool;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.logging.log4j.core.Logger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import tern.rpc.RpcException;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;

/**
 * Measures the calls to methods that log three lines per call while the log disk is stalled (promise R20 in
 * docs/figures/promises.md).
 */
@Tag("figures")
@Timeout(1_200)
class StalledLogTest {

    private static final int PER_SECOND = 500;
    private static final int SECONDS = Integer.getInteger("tern.seconds", 60);
    private static final int RING = 64 << 10;

    /** The logger that the served methods of the test write to. */
    private static Logger log;

    interface Talking {
        int say(int number);
    }

    @RpcService
    static class Talker implements Talking {
        @Override
        public int say(int number) {
            log.info("call {} begins", number);
            log.info("call {} goes on", number);
            log.warn("call {} ends", number);
            return number;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Talker.class)
    static class Application {
        @RpcReference
        Talking talking;
    }

    private static ConfigurableApplicationContext application() {
        return new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.NONE)
                .properties("rpc.server.port=0", "rpc.server.address=127.0.0.1", "rpc.client.url=local")
                .run();
    }

    @Test
    void callsAreAnsweredWhileTheDiskStandsStill() throws Exception {
        try (StalledDisk disk = new StalledDisk(RING)) {
            log = disk.start("AsyncRoot").getRootLogger();
            RingReserve ring = disk.reserve();
            try (ConfigurableApplicationContext application = application()) {
                Talking talking = application.getBean(Application.class).talking;
                long dropped = ring.dropped();
                talking.say(0);
                disk.awaitStalled();

                int answered = 0;
                long slowest = 0;
                long begin = System.nanoTime();
                for (int i = 0; i < SECONDS * PER_SECOND; i++) {
                    LockSupport.parkNanos(begin + i * TimeUnit.SECONDS.toNanos(1) / PER_SECOND - System.nanoTime());
                    long began = System.nanoTime();
                    answered += isAnswered(talking, i) ? 1 : 0;
                    slowest = Math.max(slowest, System.nanoTime() - began);
                }

                System.out.printf(
                        "R20 stalled log disk: %d of %d calls answered, the slowest after %d ms, %d of %d lines dropped%n",
                        answered,
                        SECONDS * PER_SECOND,
                        TimeUnit.NANOSECONDS.toMillis(slowest),
                        ring.dropped() - dropped,
                        3 * (SECONDS * PER_SECOND + 1));
                assertThat(answered).isGreaterThanOrEqualTo(SECONDS * PER_SECOND * 95 / 100);
            }
        }
    }

    private static boolean isAnswered(Talking talking, int number) {
        try {
            return talking.say(number) == number;
        } catch (RpcException lost) {
            return false;
        }
    }
}
