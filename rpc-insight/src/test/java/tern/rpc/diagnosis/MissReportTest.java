package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import tern.rpc.Phase;

class MissReportTest {

    private static final Consumer<Shop.Steps> SLOW_STATEMENT =
            call -> call.own(2).in(Phase.SQL, "select stock", 250).in(Phase.REDIS, "GET user:*", 1);
    private static final Consumer<Shop.Steps> SLOW_COMMAND =
            call -> call.own(2).in(Phase.SQL, "select stock", 3).in(Phase.REDIS, "KEYS *", 250);

    private final Shop shop = new Shop();
    private final Logger logger = (Logger) LoggerFactory.getLogger(Diagnostician.class);
    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();

    @BeforeEach
    void startAppender() {
        lines.start();
        logger.addAppender(lines);
    }

    @AfterEach
    void detachAppender() {
        logger.detachAppender(lines);
    }

    private void seconds(int count, Consumer<Shop.Steps> calls) {
        for (int i = 0; i < count; i++) {
            shop.second(100, calls);
        }
    }

    private List<String> warnings() {
        return lines.list.stream()
                .map(ILoggingEvent::getFormattedMessage)
                .filter(line -> line.startsWith("Calls "))
                .toList();
    }

    @Test
    void methodWithMostBadCallsIsNamedFirst() {
        for (int i = 0; i < 90; i++) {
            shop.second(() -> {
                for (int call = 0; call < 40; call++) {
                    shop.call(call < 20 ? "Boards.show" : Shop.PLACE, 0, Shop.USUAL);
                }
            });
        }
        for (int i = 0; i < 6; i++) {
            shop.second(() -> {
                for (int call = 0; call < 40; call++) {
                    shop.call(call < 5 ? "Boards.show" : Shop.PLACE, 0, SLOW_STATEMENT);
                }
            });
        }

        assertThat(shop.diagnosis().miss().methods()).containsExactly(Shop.PLACE, "Boards.show");
    }

    @Test
    void missThatLastsIsLoggedOnce() {
        shop.healthy(Shop.USUAL);
        seconds(200, SLOW_STATEMENT);

        assertThat(warnings()).singleElement().asString().contains("Calls miss", "SLOW STATEMENT: select stock");
    }

    @Test
    void differentFirstCauseThatLastsIsLoggedDuringTheMiss() {
        shop.healthy(Shop.USUAL);
        seconds(80, SLOW_STATEMENT);
        seconds(80, SLOW_COMMAND);

        assertThat(warnings()).hasSize(2);
        assertThat(warnings().get(1)).contains("Calls still miss", "SLOW REDIS COMMAND: KEYS *");
    }

    @Test
    void firstCausesThatAlternateAreNotLoggedEachTime() {
        shop.healthy(Shop.USUAL);
        for (int i = 0; i < 40; i++) {
            seconds(3, SLOW_STATEMENT);
            seconds(3, SLOW_COMMAND);
        }

        assertThat(warnings()).hasSizeLessThanOrEqualTo(4);
    }

    private String first() {
        return DiagnosisText.title(shop.diagnosis().causes().get(0));
    }

    @Test
    void firstCauseStaysFirstWhileAnotherOneTakesHardlyMoreTime() {
        shop.healthy(Shop.USUAL);
        seconds(12, call -> call.in(Phase.SQL, "select stock", 250).in(Phase.HTTP, "GET bank:80", 210));
        seconds(12, call -> call.in(Phase.SQL, "select stock", 210).in(Phase.HTTP, "GET bank:80", 250));
        assertThat(first()).isEqualTo("SLOW STATEMENT: select stock");

        seconds(12, call -> call.in(Phase.SQL, "select stock", 110).in(Phase.HTTP, "GET bank:80", 250));
        assertThat(first()).isEqualTo("SLOW HTTP PEER: GET bank:80");
    }

    /** The pool is unknown, so the diagnosis cannot tell whether the statements fill it. */
    @Test
    void firstCauseStaysFirstWhileAWaitWithinTheProcessGrows() {
        shop.healthy(Shop.USUAL);
        seconds(12, SLOW_STATEMENT);

        seconds(12, call -> call.in(Phase.JDBC_CONNECTION, "own", 500).in(Phase.SQL, "select stock", 250));
        assertThat(first()).isEqualTo("SLOW STATEMENT: select stock");

        seconds(12, call -> call.in(Phase.JDBC_CONNECTION, "own", 900).in(Phase.SQL, "select stock", 110));
        assertThat(first()).isEqualTo("CONNECTIONS OPEN SLOWLY: own");
    }

    @Test
    void waitThatWasFirstFromTheBeginningStaysFirst() {
        shop.healthy(Shop.USUAL);
        seconds(24, call -> call.in(Phase.JDBC_CONNECTION, "own", 500).in(Phase.SQL, "select stock", 250));

        assertThat(first()).isEqualTo("CONNECTIONS OPEN SLOWLY: own");
    }

    @Test
    void missWithoutAnExplanationIsLoggedLater() {
        shop.healthy(Shop.USUAL);
        seconds(4, call -> call.own(150));
        assertThat(shop.diagnosis().causes().get(0).kind()).isEqualTo("UNEXPLAINED");
        assertThat(warnings()).isEmpty();

        seconds(4, call -> call.own(2).in(Phase.SQL, "select stock", 900));
        assertThat(warnings()).singleElement().asString().contains("SLOW STATEMENT: select stock");
    }

    @Test
    void missThatStaysUnexplainedIsLogged() {
        shop.healthy(Shop.USUAL);
        seconds(15, call -> call.own(150));

        assertThat(warnings()).singleElement().asString().contains("UNEXPLAINED");
    }

    @Test
    void exhaustedHeapIsLoggedAtOnceAlthoughAnotherCauseWasLoggedBefore() {
        shop.healthy(Shop.USUAL);
        seconds(10, SLOW_STATEMENT);
        shop.exhausted = 0.9;
        seconds(3, SLOW_STATEMENT);

        assertThat(warnings()).hasSize(2);
        assertThat(warnings().get(1)).contains("Calls still miss", "COLLECTOR: heap nearly full");
    }
}
