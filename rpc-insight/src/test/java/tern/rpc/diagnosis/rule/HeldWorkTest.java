package tern.rpc.diagnosis.rule;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import shop.Orders;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.diagnosis.DiagnosisText;
import tern.rpc.diagnosis.SampledCalls;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.pool.ConnectionUse;
import tern.rpc.diagnosis.sample.SampledCall;
import tern.rpc.pool.Holders;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;

/** Tests pools whose connections are held during work that is not an operation on the connection. */
class HeldWorkTest {

    private static final String BANK = "GET bank:80";
    private static final StackTraceElement LINE = new StackTraceElement("shop.Orders", "pay", "Orders.java", 30);

    private final SampledCalls calls = new SampledCalls().during(1.5);

    /** Returns the use of four connections whose holders are in the given phase. */
    private static ConnectionUse use(Phase phase, @Nullable String operation) {
        Holders holders = new Holders();
        holders.size(4);
        ConnectionUse use = new ConnectionUse();
        for (int i = 0; i < 4; i++) {
            CallLedger ledger = CallLedger.ofReceived(() -> 0, 0, 0);
            CallLedger before = CallLedger.replace(ledger);
            Orders.export(holders, 0);
            CallLedger.replace(before);
            ledger.turnTo(phase, operation);
        }
        for (int look = 0; look < 8; look++) {
            holders.all().forEach(holder -> use.add(holder, null));
        }
        return use;
    }

    private static PoolSnapshot full(String name, PoolKind kind) {
        return PoolSnapshot.builder(name, kind, 4)
                .now(4, 0, 30)
                .counts(20, 0)
                .sums(Duration.ofSeconds(8), Duration.ofSeconds(6))
                .settings(List.of())
                .build();
    }

    private static Consumer<SampledCall> during(Phase phase, Part.Kind kind, String name, boolean isApart) {
        return samples -> samples.add(
                new Sample(0, phase, new Part(kind, name), List.of(LINE), null, null, null, isApart, null, -1, -1));
    }

    private static void assertCauseWithPool(Cause first, String title, String pool) {
        assertThat(DiagnosisText.title(first)).isEqualTo(title);
        assertThat(first.symptoms()).anyMatch(line -> line.contains("calls wait for a connection of \"" + pool + "\""));
    }

    @Test
    void lookupDuringAnExchangeFillsThePoolWhoseConnectionsAreHeld() {
        Cause first = calls.usually("Orders.pay", Phase.HTTP, BANK, 3)
                .pool(full("druid", PoolKind.JDBC), 3, use(Phase.HTTP, null))
                .borrowing(
                        "Orders.pay",
                        "druid",
                        400,
                        Phase.HTTP,
                        BANK,
                        300,
                        during(Phase.HTTP, Part.Kind.RESOLVER, "Orders.pay", true))
                .causes()
                .get(0);

        assertCauseWithPool(first, "SLOW NAME LOOKUP: Orders.pay", "druid");
        assertThat(first.change().text()).startsWith("check the DNS resolver of this machine, which is slow for bank;");
    }

    /** The lookups of two methods are one cause, which is named after the method with the longer lookups. */
    @Test
    void lookupsOfCallsThatDoNotWaitFillThePool() {
        Cause first = calls.usually("Orders.pay", Phase.HTTP, BANK, 3)
                .pool(full("druid", PoolKind.JDBC), 3, use(Phase.HTTP, null))
                .borrowing(
                        "Orders.pay",
                        "druid",
                        400,
                        Phase.HTTP,
                        BANK,
                        100,
                        during(Phase.HTTP, Part.Kind.RESOLVER, "Orders.pay", true))
                .calls("Stock.find", Phase.OWN, 900, during(Phase.OWN, Part.Kind.RESOLVER, "Stock.find", true))
                .causes()
                .get(0);

        assertCauseWithPool(first, "SLOW NAME LOOKUP: Stock.find", "druid");
    }

    @Test
    void waitForAConnectionOfAnotherPoolFillsThePoolWhoseConnectionsAreHeld() {
        Cause first = calls.usually("Orders.pay", Phase.HTTP, BANK, 3)
                .pool(full("druid", PoolKind.JDBC), 3, use(Phase.HTTP_CONNECTION, "http"))
                .borrowing("Orders.pay", "druid", 400, Phase.HTTP_CONNECTION, "http", 300, samples -> {})
                .causes()
                .get(0);

        assertThat(first.name()).isEqualTo("http");
        assertThat(first.symptoms()).anyMatch(line -> line.contains("calls wait for a connection of \"druid\""));
    }

    @Test
    void ownWorkOfHoldersFillsThePool() {
        Stream.of(Part.Kind.RESOLVER, Part.Kind.SLEEP, Part.Kind.FILE, Part.Kind.COMPUTING)
                .forEach(kind -> {
                    Cause first = new SampledCalls()
                            .during(1.5)
                            .usuallyOwn("Orders.pay", 2, 10)
                            .pool(full("druid", PoolKind.JDBC), 3, use(Phase.OWN, null))
                            .borrowing(
                                    "Orders.pay",
                                    "druid",
                                    400,
                                    Phase.OWN,
                                    "",
                                    300,
                                    during(Phase.OWN, kind, "Orders.pay", false))
                            .causes()
                            .get(0);

                    assertThat(first.name()).isEqualTo("Orders.pay");
                    assertThat(first.symptoms()).anyMatch(line -> line.contains("druid"));
                });
    }

    @Test
    void lookupDuringAnExchangeFillsThePoolOfItsOwnConnections() {
        Cause first = calls.usually("Orders.pay", Phase.HTTP, BANK, 3)
                .pool(full("http", PoolKind.HTTP), 3)
                .exchanging("Orders.pay", "http", 400, BANK, 300, samples -> {
                    during(Phase.HTTP, Part.Kind.RESOLVER, "Orders.pay", true).accept(samples);
                    during(Phase.HTTP, Part.Kind.RESOLVER, "Orders.pay", true).accept(samples);
                    during(Phase.HTTP, Part.Kind.HTTP, "Orders.pay", false).accept(samples);
                })
                .causes()
                .get(0);

        assertCauseWithPool(first, "SLOW NAME LOOKUP: Orders.pay", "http");
    }

    /** Returns a full pool whose recorded uses are short, because they begin only when a connection is open. */
    private static PoolSnapshot fullOfShortUses() {
        return PoolSnapshot.builder("http", PoolKind.HTTP, 4)
                .now(4, 0, 30)
                .counts(20, 0)
                .sums(Duration.ofSeconds(8), Duration.ofMillis(60))
                .settings(List.of())
                .build();
    }

    /**
     * Simulates calls that wait for a connection. One of four calls opens a connection. Returns the cause that the
     * diagnosis names first.
     */
    private Cause firstOfOpening(Consumer<SampledCall> opening) {
        int[] number = {0};
        return calls.usually("Orders.pay", Phase.HTTP, BANK, 3)
                .pool(fullOfShortUses(), 3)
                .exchanging("Orders.pay", "http", 400, BANK, 3, samples -> {
                    if (number[0]++ % 4 == 0) {
                        opening.accept(samples);
                    } else {
                        during(Phase.HTTP_CONNECTION, Part.Kind.POOL, "http", false)
                                .accept(samples);
                    }
                })
                .causes()
                .get(0);
    }

    @Test
    void lookupsOfCallsThatOpenConnectionsOccupyThePlacesOfAPool() {
        Cause first = firstOfOpening(during(Phase.HTTP_CONNECTION, Part.Kind.RESOLVER, "Orders.pay", true));

        assertThat(DiagnosisText.title(first)).isEqualTo("SLOW NAME LOOKUP: Orders.pay");
        assertThat(first.symptoms()).anyMatch(line -> line.startsWith("calls wait for http"));
    }

    @Test
    void placesOfCallsThatOpenConnectionsAreNotLost() {
        Cause first = firstOfOpening(samples -> {
            samples.openLooks++;
            during(Phase.HTTP_CONNECTION, Part.Kind.SOCKET, "Orders.pay", false).accept(samples);
        });

        assertThat(DiagnosisText.title(first)).isEqualTo("CONNECTIONS OPEN SLOWLY: http");
    }

    @Test
    void placesThatNoCallUsesAreLost() {
        Cause first = firstOfOpening(during(Phase.HTTP_CONNECTION, Part.Kind.POOL, "http", false));

        assertThat(DiagnosisText.title(first)).isEqualTo("NOT GIVEN BACK: http");
    }
}
