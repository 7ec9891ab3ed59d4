package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import tern.rpc.Phase;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.sample.SampledCall;
import tern.rpc.diagnosis.stack.ThreadSnapshot;

/** Tests loggers that search the stack for the line that logs. */
class LoggedLocationsTest {

    private static void look(SampledCall samples, String inner) {
        StackTraceElement[] stack = {
            new StackTraceElement("java.lang.StackWalker", "walk", null, 1),
            new StackTraceElement(inner, "calcLocation", null, 1),
            new StackTraceElement("org.apache.logging.log4j.spi.AbstractLogger", "info", null, 1),
            new StackTraceElement("shop.Stock", "take", "Stock.java", 14)
        };
        ThreadSnapshot thread = new ThreadSnapshot("http-1", 1, Thread.State.RUNNABLE, stack, null, null, -1, -1);
        samples.add(SampledCalls.sample(Phase.LOGGING, thread));
        samples.addStack(Phase.LOGGING, thread, false);
    }

    private static Cause first(String inner) {
        return new SampledCalls()
                .calls(Shop.PLACE, Phase.LOGGING, 240, samples -> look(samples, inner))
                .causes()
                .get(0);
    }

    @Test
    void patternWithTheLineThatLogsIsTheCause() {
        assertThat(first("org.apache.logging.log4j.util.StackLocator").change().text())
                .startsWith("remove class, method and line")
                .contains("Stock.take:14");
        assertThat(first("ch.qos.logback.classic.spi.CallerData").change().text())
                .startsWith("remove class, method and line");
    }

    @Test
    void loggerThatFormatsTheLineIsNotTheCause() {
        assertThat(first("org.apache.logging.log4j.core.layout.PatternLayout")
                        .change()
                        .text())
                .doesNotContain("class, method and line");
    }
}
