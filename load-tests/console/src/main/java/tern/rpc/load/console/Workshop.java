package tern.rpc.load.console;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.io.Serializable;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;
import tern.rpc.RpcMethod;

/** A service with methods and values of every kind. Some methods misbehave. */
public interface Workshop {

    enum Colour {
        RED,
        GREEN
    }

    /** A recursive type: a node refers to other nodes. */
    record Node(String label, @Nullable Node next, List<Node> children) implements Serializable {}

    record Page<T>(List<T> elements, int total) implements Serializable {}

    /** A record with one component of each kind of type, such as numbers, dates and collections. */
    record Every(
            String text,
            boolean flag,
            byte small,
            long big,
            BigInteger huge,
            BigDecimal price,
            double ratio,
            Colour colour,
            LocalDate day,
            LocalTime hour,
            LocalDateTime when,
            Instant instant,
            Duration within,
            UUID id,
            byte[] data,
            Page<Node> page,
            Map<Integer, String> byNumber,
            Map<Colour, Long> byColour,
            Map<LocalDate, List<Integer>> byDay)
            implements Serializable {}

    /** A type with a property name that would run as a script in a page that does not escape HTML. */
    record Markup(
            @JsonProperty("<img src=x onerror='window.pwned=1'>")
            String value,

            @JsonProperty("__proto__") String prototype)
            implements Serializable {}

    class BrokenException extends Exception {
        private static final long serialVersionUID = 1L;

        public BrokenException(String message) {
            super(message);
        }
    }

    @RpcMethod(idempotent = true)
    String echo(String text);

    Every every(Every value);

    Node node(Node node);

    Markup markup(Markup markup);

    String fail(String message) throws BrokenException;

    /** Blocks for a minute, or until its thread is interrupted. */
    String hang();

    String large(int characters);

    Flow.Publisher<Integer> count(int to);

    Flow.Publisher<Long> endless();

    /** Sends one message and never ends the stream. */
    Flow.Publisher<String> stuck();

    CompletionStage<Long> sum(Flow.Publisher<Integer> numbers);

    Flow.Publisher<String> chat(Flow.Publisher<String> lines);
}
