package tern.rpc.diagnosis.data;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.calls.Baseline;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.excess.OperationCounts;
import tern.rpc.diagnosis.excess.Operations;
import tern.rpc.diagnosis.stack.StackReader;
import tern.rpc.pool.BodySizes;

/**
 * Recognizes HTTP exchanges whose answers or requests have become large. Such an exchange takes more time on the
 * network, and its body takes time in the code that reads or writes it, and in the collector. The peer itself may be as
 * quick as usual.
 */
public final class LargeBodies {

    /** A body counts as large only if it has at least {@value} bytes. */
    private static final double MANY = 256_000;

    /** A body counts as large if it has at least {@value} times the usual number of bytes. */
    private static final double MORE = 3;

    /** Bodies count as large only if at least {@value} of them were measured, because one may occur by chance. */
    private static final int MIN_BODIES = 3;

    /** The evidence mentions a size only if it is at least {@value} bytes. */
    private static final double NOTABLE = 100_000;

    /**
     * The time in nanoseconds that is sufficient to produce, transfer and decode one byte, even if the network is slow.
     * A longer time has another reason.
     */
    private static final double NANOS_OF_BYTE = 1_000;

    private final Evidence evidence;
    private final ExcessTime excess;
    private final Operations operations;
    private final OperationCounts counts;

    public LargeBodies(Evidence evidence, ExcessTime excess, Operations operations) {
        this.evidence = evidence;
        this.excess = excess;
        this.operations = operations;
        this.counts = new OperationCounts(evidence, excess, operations);
    }

    /**
     * The mean size of the bodies of one exchange.
     *
     * @param exchange the name of the exchange without its result
     * @param isAnswer whether these are the bodies of answers, and not of requests
     * @param usualBytes the usual value of {@code bytes}; -1 if it is unknown
     */
    public record Body(String exchange, boolean isAnswer, double bytes, double usualBytes) {

        /** Returns the size of one body, with the usual size if it is known. */
        public String amount() {
            return BodySizes.text(bytes) + (isAnswer ? " an answer" : " a request") + usually();
        }

        /** Returns a sentence about the size of one body, with the usual size if it is known. */
        public String sentence() {
            return (isAnswer ? "an answer has " : "a request has ") + BodySizes.text(bytes) + usually();
        }

        private String usually() {
            return usualBytes < 0 ? "" : ", usually " + BodySizes.text(usualBytes);
        }
    }

    /** Returns the body that has become large; null if there is none. The larger of two bodies is returned. */
    public @Nullable Body large(Part part) {
        return bodies(part).stream()
                .filter(body -> isLarge(part, body))
                .max(Comparator.comparingDouble(Body::bytes))
                .orElse(null);
    }

    /** Returns whether the answers or the requests of the given exchange have become large. */
    public boolean isLarge(Part part) {
        return large(part) != null;
    }

    /** Returns the largest body of the given exchange; null if all of its bodies are small or of unknown size. */
    public @Nullable Body notable(Part part) {
        return bodies(part).stream()
                .filter(body -> body.bytes >= NOTABLE)
                .max(Comparator.comparingDouble(Body::bytes))
                .orElse(null);
    }

    private boolean isLarge(Part part, Body body) {
        if (body.bytes < MANY || sizes(body.isAnswer).counted(body.exchange) < MIN_BODIES) {
            return false;
        }
        boolean isMore = body.usualBytes >= 0
                ? body.bytes >= MORE * body.usualBytes
                : counts.areNew(part) || counts.areUnusual(part);
        return isMore && (takesTheTimeOfItsBytes(part, body) || excess.samples.areReadingResults(Phase.HTTP));
    }

    /** Returns whether the size of the body explains the additional time of the exchange. */
    private boolean takesTheTimeOfItsBytes(Part part, Body body) {
        double usually = Math.max(0, operations.usualNamed(Phase.HTTP, part.name()));
        double longer = operations.of(Phase.HTTP, part.name()).eachNanos() - usually;
        return longer <= body.bytes * NANOS_OF_BYTE;
    }

    /** Returns the bodies whose sizes are known. A part that stands for all exchanges with a peer has several. */
    private List<Body> bodies(Part part) {
        List<Body> bodies = new ArrayList<>();
        if (part.kind() != Kind.HTTP || part.name().startsWith(StackReader.CALLED)) {
            return bodies;
        }
        if (part.name().isEmpty() || OperationNames.storeOfAll(part) != null) {
            operations.each(Phase.HTTP).keySet().stream()
                    .filter(name -> part.name().isEmpty() || OperationNames.isNamed(name, part.name()))
                    .map(OperationNames::withoutStatus)
                    .distinct()
                    .forEach(exchange -> add(exchange, bodies));
        } else {
            add(OperationNames.withoutStatus(part.name()), bodies);
        }
        return bodies;
    }

    private void add(String exchange, List<Body> bodies) {
        for (boolean isAnswer : new boolean[] {true, false}) {
            double bytes = sizes(isAnswer).mean(exchange);
            if (bytes >= 0) {
                String figure = isAnswer ? Baseline.ANSWER_BYTES : Baseline.REQUEST_BYTES;
                bodies.add(new Body(exchange, isAnswer, bytes, evidence.usual().reliableFigure(figure + exchange)));
            }
        }
    }

    private static BodySizes sizes(boolean ofAnswers) {
        return ofAnswers ? BodySizes.ANSWERS : BodySizes.REQUESTS;
    }
}
