package tern.rpc.netty;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import tern.rpc.netty.peer.CapturedLog;

class SeldomWarningTest {

    @Test
    void repeatedWarningComesOnceAMinuteAndTellsHowOften() {
        AtomicLong now = new AtomicLong(Long.MAX_VALUE - 5);
        try (CapturedLog log = new CapturedLog("seldom")) {
            SeldomWarning warning = new SeldomWarning(LoggerFactory.getLogger("seldom"), now::get);

            warning.warn("one");
            warning.warn("two");
            warning.warn("three");
            now.addAndGet(Duration.ofSeconds(61).toNanos());
            warning.warn("four");
            now.addAndGet(Duration.ofSeconds(61).toNanos());
            warning.warn("five");

            assertThat(log.lines())
                    .containsExactly("WARN one", "WARN four (2 more of the kind since the last warning)", "WARN five");
        }
    }
}
