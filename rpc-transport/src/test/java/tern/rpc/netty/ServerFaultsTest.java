package tern.rpc.netty;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import tern.rpc.netty.ServerFaults.LeavingServers;
import tern.rpc.netty.peer.CapturedLog;

class ServerFaultsTest {

    private static final String LOGGER = "tern.rpc.netty.ServerFaultsTest.leaving";

    /** Without a limit, a server that ends each connection after one answer would cause one log line per call. */
    @Test
    void serversThatKeepLeavingAreLoggedAtALimitedRate() {
        AtomicLong nanos = new AtomicLong();
        LeavingServers leaving = new LeavingServers(LoggerFactory.getLogger(LOGGER), nanos::get);

        try (CapturedLog log = new CapturedLog(LOGGER, Level.INFO, line -> {})) {
            for (int i = 0; i < 1_000; i++) {
                leaving.log("connection " + i);
            }
            assertThat(log.lines())
                    .hasSize(20)
                    .startsWith("INFO connection 0 is going away; no new calls on this connection");

            nanos.addAndGet(Duration.ofSeconds(1).toNanos());
            leaving.log("a later connection");
            assertThat(log.lines()).hasSize(21);
        }
    }
}
