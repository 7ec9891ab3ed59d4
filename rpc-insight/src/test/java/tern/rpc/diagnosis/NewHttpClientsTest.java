package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import tern.rpc.Phase;

/** Tests calls that create a new HTTP client of the JDK for each exchange. */
class NewHttpClientsTest {

    private static final String STOCK = "GET stock:80";

    /** Adds looks at the threads of a process that creates the given number of clients in each of four seconds. */
    private static TaskWatch looks(int clientsPerSecond) {
        TaskWatch tasks = new TaskWatch();
        for (int second = 1; second <= 5; second++) {
            tasks.clients().add("HttpClient-" + (3 + second * clientsPerSecond) + "-SelectorManager");
            tasks.clients().add("HttpClient-1-SelectorManager");
            tasks.clients().looked(TimeUnit.SECONDS.toNanos(second));
        }
        return tasks;
    }

    private static void look(Sampler.Samples samples) {
        StackTraceElement[] stack = {
            new StackTraceElement("java.util.concurrent.CompletableFuture", "get", null, 1),
            new StackTraceElement("jdk.internal.net.http.HttpClientImpl", "send", null, 1),
            new StackTraceElement("shop.Stock", "ask", "Stock.java", 14)
        };
        samples.add(SampledCalls.sample(
                Phase.HTTP, new ThreadLook("http-1", 1, Thread.State.WAITING, stack, null, null, -1, -1)));
    }

    private static Cause first(int clientsPerSecond) {
        return new SampledCalls()
                .tasks(looks(clientsPerSecond))
                .usually(Shop.PLACE, Phase.HTTP, STOCK, 5)
                .calls(Shop.PLACE, Phase.HTTP, 240, NewHttpClientsTest::look)
                .causes()
                .get(0);
    }

    @Test
    void clientIsCreatedOnceInsteadOfForEachExchange() {
        Cause first = first(2);

        assertThat(DiagnosisText.title(first)).isEqualTo("HTTP CONNECTIONS: " + STOCK);
        assertThat(first.change().text()).startsWith("create the java.net.http.HttpClient once and keep it");
        assertThat(first.evidence()).anyMatch(line -> line.startsWith("clients  2 new ones a second"));
    }

    @Test
    void peerIsTheCauseIfClientsAreKept() {
        assertThat(first(0).kind()).isEqualTo("SLOW HTTP PEER");
    }
}
