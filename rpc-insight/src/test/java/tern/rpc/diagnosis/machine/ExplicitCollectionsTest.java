package tern.rpc.diagnosis.machine;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.USUAL;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import shop.Sweeper;
import tern.rpc.diagnosis.DiagnosisText;
import tern.rpc.diagnosis.Shop;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.machine.CollectionCaller.Reason;

/** Tests the search for the code that makes the JVM collect garbage. */
class ExplicitCollectionsTest {

    private static final String SYSTEM = "java.lang.System/gc";

    private static CollectionCaller caller(String... frames) {
        return CollectionCaller.of(
                Stream.of(frames)
                        .map(frame -> frame.split("/"))
                        .map(parts -> new StackTraceElement(parts[0], parts[1], null, 7))
                        .toList(),
                "nightly");
    }

    @Test
    void applicationCodeThatCollectsThroughALibraryIsFound() {
        assertThat(caller("java.lang.Runtime/gc", SYSTEM, "org.apache.poi.Trim/trim", "shop.Archive/pack"))
                .isEqualTo(new CollectionCaller("Archive.pack:7", "nightly", Reason.CODE));
        assertThat(caller("java.lang.Runtime/gc", SYSTEM, "org.apache.poi.Trim/trim"))
                .isEqualTo(new CollectionCaller("Trim.trim:7", "nightly", Reason.CODE));
    }

    @Test
    void directBuffersAndRmiAreReasonsOfTheirOwn() {
        assertThat(caller("java.lang.Runtime/gc", SYSTEM, "java.nio.Bits/reserveMemory", "shop.Archive/pack")
                        .reason())
                .isEqualTo(Reason.DIRECT_BUFFERS);
        assertThat(caller("java.lang.Runtime/gc", SYSTEM, "sun.rmi.transport.GC$Daemon/run")
                        .reason())
                .isEqualTo(Reason.RMI);
    }

    @Test
    @Timeout(60)
    void codeThatCallsSystemGcIsFoundByTheFlightRecorder() throws InterruptedException {
        ExplicitCollections collections = new ExplicitCollections();
        collections.search(System.nanoTime());
        try {
            while (collections.most(System.nanoTime()) == null) {
                Thread sweeping = new Thread(Sweeper::sweep, "sweeping-1");
                sweeping.start();
                sweeping.join();
            }
        } finally {
            collections.stop();
        }

        CollectionCaller found = collections.most(System.nanoTime());
        assertThat(found).isNotNull();
        assertThat(found.place()).startsWith("Sweeper.sweep:");
        assertThat(found.thread()).isEqualTo("sweeping");
    }

    private static Cause first(CollectionCaller caller) {
        Shop shop = new Shop();
        shop.machine = machine(0, null).collectedBy(caller);
        shop.healthy(USUAL);
        shop.machine = machine(0.3, "System.gc()").collectedBy(caller);
        shop.pauses = (from, to) -> {
            Times stood = new Times();
            stood.add(Part.of(Part.Kind.COLLECTOR), 150e6);
            return stood;
        };
        return Shop.first(shop.miss(call -> USUAL.accept(call.own(150))));
    }

    private static Machine machine(double collecting, String cause) {
        return new Machine(2, 0.3, 0.1, 0, collecting, 0.2, cause, 10e6, 10e6, List.of(), -1, null, List.of());
    }

    @Test
    void codeThatCallsSystemGcOutsideOfCallsIsInTheChange() {
        Cause first = first(new CollectionCaller("Archive.pack:7", "nightly", Reason.CODE));

        assertThat(first.kind()).isEqualTo("COLLECTOR: requested by code");
        assertThat(first.change().text()).startsWith("do not call System.gc() in Archive.pack:7 (thread nightly)");
    }

    @Test
    void directBuffersOfAThreadOutsideOfCallsAreTheCause() {
        Cause first = first(new CollectionCaller("Archive.pack:7", "nightly", Reason.DIRECT_BUFFERS));

        assertThat(DiagnosisText.title(first)).isEqualTo("DIRECT MEMORY: direct buffers");
        assertThat(first.change().text()).contains("the direct buffers of Archive.pack:7 (thread nightly)");
    }

    @Test
    void intervalOfTheCollectionsOfRmiIsInTheChange() {
        Cause first = first(new CollectionCaller("GC.Daemon.run:7", "GC Daemon", Reason.RMI));

        assertThat(first.change().text()).contains("sun.rmi.dgc.client.gcInterval");
    }
}
