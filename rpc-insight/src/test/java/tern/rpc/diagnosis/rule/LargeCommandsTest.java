package tern.rpc.diagnosis.rule;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.first;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import shop.Tickets;
import tern.rpc.Phase;
import tern.rpc.diagnosis.DiagnosisText;
import tern.rpc.diagnosis.Shop;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.machine.HeapGrowth;
import tern.rpc.diagnosis.machine.Machine;

/** Tests Redis commands whose replies have become large. */
class LargeCommandsTest {

    private static final String LARGE = "HGETALL calendar [over 1 MB]";

    private final Shop shop = new Shop();

    private static Machine collecting(@Nullable HeapGrowth growth) {
        return new Machine(2, 0.6, 1.2, 0, 0.4, 0.6, "G1 Evacuation Pause", 60e6, 1e6, List.of(), 0, null, List.of())
                .growing(growth);
    }

    /**
     * Simulates calls to two methods that use the same Redis server. Calendar calls begin to run the given command.
     *
     * @param collector the collector's share of the time meanwhile
     */
    private void calls(String usually, String command, double commandMillis, double waitMillis, double collector) {
        for (int second = 0; second < 98; second++) {
            boolean isNew = second >= 90;
            if (second == 90) {
                shop.pauses = (from, to) -> {
                    Times stood = new Times();
                    stood.add(Part.of(Part.Kind.COLLECTOR), (to - from) * collector);
                    return stood;
                };
            }
            shop.second(() -> {
                for (int i = 0; i < 60; i++) {
                    shop.call(
                            "Rates.quote",
                            0,
                            call -> call.own(1).in(Phase.REDIS, "HGET rate:*", isNew ? waitMillis : 1));
                }
                for (int i = 0; i < 12; i++) {
                    shop.call(
                            "Rates.calendar",
                            0,
                            call -> call.own(1).in(Phase.REDIS, isNew ? command : usually, isNew ? commandMillis : 3));
                }
            });
        }
    }

    private String title() {
        return DiagnosisText.title(first(shop.diagnosis()));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                LARGE,
                "HGETALL calendar [over 10000 elements]",
                "LRANGE log [over 100000 elements]",
                "SMEMBERS tags [over 10000 elements]",
                "KEYS rate:* [over 100000 elements]",
                "MGET rate:* [over 1 MB]",
                "GET plan:* [over 4 MB]"
            })
    void commandWithALargeReplyComesBeforeTheCommandsThatWaitForIt(String command) {
        calls("HMGET calendar", command, 200, 150, 0);

        Cause first = first(shop.diagnosis());
        assertThat(title()).as(shop.diagnosis().text()).isEqualTo("SLOW REDIS COMMAND: " + command);
        assertThat(first.symptoms()).anyMatch(line -> line.contains("calls wait for HGET rate:*"));
        assertThat(first.change().text()).contains(command.substring(command.indexOf("over"), command.length() - 1));
    }

    @Test
    void commandsThatWaitLongerInTotalDoNotHideTheCommandWithALargeReply() {
        calls("HMGET calendar", LARGE, 160, 155, 0);

        assertThat(title()).as(shop.diagnosis().text()).isEqualTo("SLOW REDIS COMMAND: " + LARGE);
    }

    @Test
    void collectorAndTheFillingHeapAreConsequencesOfTheLargeReply() {
        shop.machine = collecting(null);
        calls("HMGET calendar", LARGE, 300, 250, 0.5);
        assertThat(title()).as(shop.diagnosis().text()).isEqualTo("SLOW REDIS COMMAND: " + LARGE);

        shop.machine = collecting(new HeapGrowth(0.25, 0.84, 17, 9e6, 5));
        for (int i = 0; i < 3; i++) {
            shop.second(12, call -> call.own(1).in(Phase.REDIS, LARGE, 300));
        }

        assertThat(title()).as(shop.diagnosis().text()).isEqualTo("SLOW REDIS COMMAND: " + LARGE);
        assertThat(first(shop.diagnosis()).symptoms())
                .anyMatch(line -> line.startsWith("the garbage collector stops calls"));
    }

    @Test
    void commandsThatTimeOutBehindALargeReplyDoNotMeanThatRedisIsGone() {
        shop.healthy(call -> call.own(1).in(Phase.REDIS, "HGET rate:*", 2).in(Phase.REDIS, "HMGET calendar", 3));
        for (int second = 0; second < 6; second++) {
            shop.second(() -> {
                for (int i = 0; i < 20; i++) {
                    shop.call(
                            Shop.PLACE, 0, Tickets.gaveUp(), call -> call.own(1).in(Phase.REDIS, LARGE, 500));
                    shop.call(
                            Shop.PLACE, 0, Tickets.gaveUp(), call -> call.own(1).in(Phase.REDIS, "HGET rate:*", 400));
                }
            });
        }

        assertThat(title()).as(shop.diagnosis().text()).isEqualTo("SLOW REDIS COMMAND: " + LARGE);
    }

    @Test
    void usualLargeReplyIsNotTheReasonWhyTheHeapFills() {
        shop.machine = collecting(new HeapGrowth(0.25, 0.84, 17, 9e6, 5));
        calls(LARGE, LARGE, 300, 250, 0.9);

        assertThat(title()).as(shop.diagnosis().text()).startsWith("COLLECTOR: heap");
    }

    @Test
    void usualLargeReplyIsNotTheReasonWhyAllCommandsAreSlow() {
        calls(LARGE, LARGE, 8, 150, 0);

        assertThat(title()).as(shop.diagnosis().text()).doesNotContain("HGETALL");
    }
}
