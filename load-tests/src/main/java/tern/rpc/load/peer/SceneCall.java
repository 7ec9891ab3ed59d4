package tern.rpc.load.peer;

import java.math.BigDecimal;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;
import tern.rpc.load.peer.Peer.Services;
import tern.sample.api.EchoService;
import tern.sample.api.Person;
import tern.sample.api.User;

/** A call that one caller repeats in a scenario. The call checks each answer. Not thread-safe. */
interface SceneCall {

    /**
     * The number of times that the server builds the answer text in the scenario with busy servers. The repetitions use
     * CPU time.
     */
    int BUILDS = 10_000;

    int KILOBYTE = 1_024;

    /** Makes the call, and returns whether its answer is correct. */
    boolean isRight();

    /**
     * Records the latency of the last call, or the latencies of its messages.
     *
     * @param nanos the call's duration
     */
    default void record(Histogram latencies, long nanos) {
        latencies.recordValue(Math.min(Load.MAX_NANOS, nanos));
    }

    /** @param name the call's name, see {@link Scene#call} */
    static SceneCall of(String name, Services services) {
        return switch (name) {
            case "existUser" -> () -> services.users().existUser("1236");
            case "createUser" -> createUser(services);
            case "getUser" -> () -> getUser(services);
            case "listUser" -> () -> services.users().listUser(1).getResult().size() == 15;
            case "1KB" -> text(services.echo(), KILOBYTE);
            case "50KB" -> text(services.echo(), 50 * KILOBYTE);
            case "200KB" -> text(services.echo(), 200 * KILOBYTE);
            case "Person" -> person(services.echo());
            case "work" -> () -> services.work().build(BUILDS).length() == KILOBYTE;
            case "mixed" -> new ChangingTexts(services.echo());
            case "feed1" -> new FeedCall(services.streams(), 200_000);
            case "feed50" -> new FeedCall(services.streams(), 20_000);
            case "ping1", "ping50" -> new PingCall(services.streams(), 1_000);
            case "pipe1" -> new PipeCall(services.streams(), 20_000, false);
            case "map1" -> new PipeCall(services.streams(), 20_000, true);
            case "stability" -> new InTurn(services);
            default -> throw new IllegalArgumentException("call '" + name + "' is not known");
        };
    }

    private static SceneCall createUser(Services services) {
        User user = BenchmarkServices.user(1);
        return () -> services.users().createUser(user);
    }

    private static boolean getUser(Services services) {
        User user = services.users().getUser(7);
        return user != null && user.getId() == 7;
    }

    private static SceneCall text(EchoService echo, int length) {
        String text = "x".repeat(length);
        return () -> echo.echo(text).length() == length;
    }

    private static SceneCall person(EchoService echo) {
        Person person = somebody();
        return () -> isSame(echo.echo(person), person);
    }

    /** Compares only some fields, to save CPU time. Tests compare all fields. */
    private static boolean isSame(Person echoed, Person person) {
        return echoed.name().equals(person.name())
                && echoed.manager() != null
                && echoed.addresses().size() == person.addresses().size();
    }

    static Person somebody() {
        return person("Doug Lea", Person.Role.ENGINEER, person("Ada Lovelace", Person.Role.MANAGER, null));
    }

    /**
     * Creates a person whose address objects are used only once, because some serializers do not support an object that
     * is shared by two records.
     */
    private static Person person(String name, Person.Role role, @Nullable Person manager) {
        Map<String, Person.Address> addresses = new LinkedHashMap<>();
        addresses.put("home", new Person.Address("Guanghua Road 7", "Beijing", "100020", "China"));
        addresses.put("work", new Person.Address("Wangjing Street 9", "Beijing", "100102", "China"));
        return new Person(
                name,
                role,
                LocalDate.of(1968, 12, 8),
                new BigDecimal("12345.67"),
                new ArrayList<>(List.of("18612345678", "01012345678")),
                addresses,
                manager);
    }

    /**
     * Makes calls with strings that grow and shrink, two calls for each size. The size depends on the number of calls
     * and not on the time, so that all frameworks get the same mix.
     */
    final class ChangingTexts implements SceneCall {

        private static final int[] BYTES = {20, 200, 2_000, 20_000, 200_000, 20_000, 2_000, 200};
        private static final int CALLS_EACH = 2;

        private final EchoService echo;
        private final List<String> texts = new ArrayList<>();
        private int calls;

        ChangingTexts(EchoService echo) {
            this.echo = echo;
            for (int bytes : BYTES) {
                texts.add("x".repeat(bytes));
            }
        }

        @Override
        public boolean isRight() {
            String text = texts.get(calls++ / CALLS_EACH % texts.size());
            return echo.echo(text).length() == text.length();
        }
    }

    /** Makes calls of all kinds, one after another. */
    final class InTurn implements SceneCall {

        private static final List<String> KINDS =
                List.of("existUser", "createUser", "getUser", "listUser", "1KB", "50KB", "Person");

        private final List<SceneCall> calls;
        private int next;

        InTurn(Services services) {
            this.calls =
                    KINDS.stream().map(kind -> SceneCall.of(kind, services)).toList();
        }

        @Override
        public boolean isRight() {
            return calls.get(next++ % calls.size()).isRight();
        }
    }
}
