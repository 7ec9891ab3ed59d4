package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.excess.Operations;
import tern.rpc.diagnosis.sample.SampledCall;
import tern.rpc.diagnosis.stack.ThreadSnapshot;

/** Tests which names and which place the diagnosis shows if many statements together are the cause. */
class OperationPlacesTest {

    private Operations operations;

    private static Consumer<SampledCall> in(String type, Phase phase) {
        StackTraceElement[] stack = {
            new StackTraceElement("org.mariadb.jdbc.Statement", "execute", "Statement.java", 1),
            new StackTraceElement("depot." + type, "run", type + ".java", 9)
        };
        ThreadSnapshot thread = new ThreadSnapshot("http-1", 1, Thread.State.WAITING, stack, null, null, -1, -1);
        return samples -> samples.add(SampledCalls.sample(phase, thread));
    }

    @BeforeEach
    void serveCalls() {
        SampledCalls calls = new SampledCalls()
                .running("Boards.show", "select count", 400, 0, in("Boards", Phase.SQL))
                .running("Tracks.find", "select parcel", 120, 0, in("Tracks", Phase.SQL))
                .running("Tracks.find", "select parcel", 120, 0, in("Tracks", Phase.SQL))
                .calls("Scans.book", Phase.OWN, 900, in("Scans", Phase.OWN));
        Evidence evidence = calls.evidence();
        operations = new Operations(new ExcessTime(evidence), evidence.usual(), evidence.answers());
    }

    @Test
    void placeOfAllStatementsRunsTheStatementThatTakesTheMostTime() {
        assertThat(operations.placeOf(Phase.SQL, "")).isEqualTo("Boards.run:9");
    }

    private static Sample naming(String type, Phase phase, @Nullable String operation) {
        List<StackTraceElement> path = List.of(new StackTraceElement("depot." + type, "run", type + ".java", 9));
        NamedTimes.Entry running = operation == null ? null : new NamedTimes.Entry(phase, operation, 1, 1);
        Part part = new Part(Kind.SOCKET, type + ".run");
        return new Sample(0, phase, part, path, null, null, null, false, null, -1, -1, null, running);
    }

    private static @Nullable String placeOf(String operation, SampledCalls calls) {
        Evidence evidence = calls.evidence();
        return new Operations(new ExcessTime(evidence), evidence.usual(), evidence.answers())
                .placeOf(Phase.HTTP, operation);
    }

    @Test
    void placeIsTheLineOfTheOperationAskedForAlthoughAnotherTakesMoreTimeInTheSameCalls() {
        AtomicInteger look = new AtomicInteger();
        SampledCalls calls = new SampledCalls()
                .waiting(
                        "Boards.show",
                        "GET maps:80 (503)",
                        400,
                        0,
                        samples -> samples.add(
                                look.getAndIncrement() % 5 == 0
                                        ? naming("Rates", Phase.HTTP, "GET rates:80")
                                        : naming("Maps", Phase.HTTP, "GET maps:80")));

        assertThat(placeOf("GET rates:80", calls)).isEqualTo("Rates.run:9");
        assertThat(placeOf("GET maps:80 (503)", calls)).isEqualTo("Maps.run:9");
    }

    @Test
    void placeIsUnknownIfSamplesShowOnlyOtherOperations() {
        SampledCalls calls = new SampledCalls()
                .waiting(
                        "Boards.show",
                        "GET maps:80",
                        400,
                        0,
                        samples -> samples.add(naming("Maps", Phase.HTTP, "GET maps:80")))
                .waiting("Prices.find", "GET rates:80", 5, 0, samples -> {});

        assertThat(placeOf("GET rates:80", calls)).isNull();
    }

    @Test
    void statementsWithoutATextAreOnlyNamedIfThereAreNoOthers() {
        assertThat(operations.names(Kind.SQL, false)).isEqualTo("select count, select parcel");
    }

    @Test
    void typesOfParametersAreAReasonForAStatementThatIsAlwaysSlow() {
        Diagnosis miss = new Shop()
                .healthy(call -> call.in(Phase.SQL, "select id from parcel where barcode = ?", 2))
                .miss(call -> call.in(Phase.SQL, "select id from parcel where barcode = ?", 320));

        assertThat(Shop.first(miss).change().text()).contains("the types of its parameters");
    }
}
