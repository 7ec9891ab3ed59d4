package tern.rpc.diagnosis.stack;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import tern.rpc.Phase;
import tern.rpc.diagnosis.DiagnosisText;
import tern.rpc.diagnosis.SampledCalls;
import tern.rpc.diagnosis.Shop;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.sample.SampledCall;
import tern.rpc.diagnosis.sample.TaskWatch;

/** Tests calls that create a new JDK HTTP client for each exchange. */
class NewHttpClientsTest {

    private static final String STOCK = "GET stock:80";
    private static final String JDK = "jdk.internal.net.http.HttpClientImpl";

    /** Adds inspections of a process that creates the given number of clients in each of four seconds. */
    private static TaskWatch looks(int clientsPerSecond) {
        TaskWatch tasks = new TaskWatch();
        for (int second = 1; second <= 5; second++) {
            tasks.clients().add("HttpClient-" + (3 + second * clientsPerSecond) + "-SelectorManager");
            tasks.clients().add("HttpClient-1-SelectorManager");
            tasks.clients().looked(TimeUnit.SECONDS.toNanos(second));
        }
        return tasks;
    }

    private static void look(SampledCall samples, String client) {
        StackTraceElement[] stack = {
            new StackTraceElement("java.util.concurrent.CompletableFuture", "get", null, 1),
            new StackTraceElement(client, "send", null, 1),
            new StackTraceElement("shop.Stock", "ask", "Stock.java", 14)
        };
        ThreadSnapshot thread = new ThreadSnapshot("http-1", 1, Thread.State.WAITING, stack, null, null, -1, -1);
        samples.add(SampledCalls.sample(Phase.HTTP, thread));
        samples.addStack(Phase.HTTP, thread, false);
    }

    private static Cause first(int clientsPerSecond, String client) {
        return new SampledCalls()
                .tasks(looks(clientsPerSecond))
                .usually(Shop.PLACE, Phase.HTTP, STOCK, 5)
                .calls(Shop.PLACE, Phase.HTTP, 240, samples -> look(samples, client))
                .causes()
                .get(0);
    }

    @Test
    void clientIsCreatedOnceInsteadOfForEachExchange() {
        Cause first = first(2, JDK);

        assertThat(DiagnosisText.title(first)).isEqualTo("HTTP CONNECTIONS: " + STOCK);
        assertThat(first.change().text()).startsWith("create the java.net.http.HttpClient once and keep it");
        assertThat(first.evidence()).anyMatch(line -> line.startsWith("clients  2 new ones a second"));
    }

    @Test
    void peerIsTheCauseIfClientsAreKept() {
        assertThat(first(0, JDK).kind()).isEqualTo("SLOW HTTP PEER");
    }

    @Test
    void clientsWithoutEarlierSamplesDoNotCountAsNew() {
        NewHttpClients clients = new NewHttpClients();
        clients.add("HttpClient-5-SelectorManager");
        clients.looked(TimeUnit.SECONDS.toNanos(1));
        clients.clear();
        clients.looked(TimeUnit.SECONDS.toNanos(10)); // The process created 900 clients and has closed all of them.
        for (int second = 12; second <= 15; second++) {
            clients.add("HttpClient-900-SelectorManager");
            clients.looked(TimeUnit.SECONDS.toNanos(second));
        }

        assertThat(clients.perSecond()).isZero();
    }

    @Test
    void newClientsOfOtherCodeAreNotTheCause() {
        assertThat(first(2, "okhttp3.internal.http2.Http2Stream").kind()).isEqualTo("SLOW HTTP PEER");
    }
}
