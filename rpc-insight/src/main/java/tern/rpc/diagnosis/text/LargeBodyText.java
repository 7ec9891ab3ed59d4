package tern.rpc.diagnosis.text;

import java.util.List;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.cause.Cause.Change;
import tern.rpc.diagnosis.cause.Cause.Where;
import tern.rpc.diagnosis.cause.CauseDescription;
import tern.rpc.diagnosis.data.LargeBodies;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.excess.OperationCounts;
import tern.rpc.diagnosis.excess.Operations;

/** Creates the cause descriptions for HTTP exchanges with large answers or requests. */
final class LargeBodyText {

    private final ExcessTime excess;
    private final Operations operations;
    private final LargeBodies bodies;
    private final OperationCounts counts;

    LargeBodyText(Evidence evidence, ExcessTime excess, Operations operations) {
        this.excess = excess;
        this.operations = operations;
        this.bodies = new LargeBodies(evidence, excess, operations);
        this.counts = new OperationCounts(evidence, excess, operations);
    }

    /** Returns the evidence about the size of the exchange's bodies; empty if they are small. */
    List<String> facts(Part part) {
        LargeBodies.Body large = bodies.large(part);
        LargeBodies.Body body = large == null ? bodies.notable(part) : large;
        return body == null ? List.of() : List.of("size     " + body.amount());
    }

    /**
     * Returns the description of an exchange whose answers or requests have become large; null if there is none.
     *
     * @param facts the evidence that is already known
     */
    @Nullable
    CauseDescription large(Part part, List<String> facts) {
        LargeBodies.Body body = bodies.large(part);
        if (body == null) {
            return null;
        }
        String isNew = counts.areNew(part)
                ? "; calls do not usually make this exchange, so also find out why they make it now"
                : counts.newIn(part);
        String in = Operations.at(operations.placeOf(Phase.HTTP, body.exchange()));
        String what = body.isAnswer()
                ? "request fewer or smaller elements in the answer of " + body.exchange()
                        + " (pages, fewer members, a filter), or let the peer compress it"
                : "send fewer or smaller elements in the request " + body.exchange()
                        + " (parts, fewer members), or compress it";
        return new CauseDescription(
                body.isAnswer() ? "LARGE ANSWERS" : "LARGE REQUESTS",
                body.exchange(),
                Change.of(
                        Where.CODE,
                        what + in + ": " + body.sentence() + isNew + "; a different pool size does not help"),
                facts);
    }

    /**
     * Returns the description of an exchange that calls spend mostly on reading the answer, if its size is unknown;
     * null if there is none.
     */
    @Nullable
    CauseDescription read(String host, String in, List<String> facts) {
        return excess.samples.areReadingResults(Phase.HTTP)
                ? new CauseDescription(
                        "LARGE ANSWERS",
                        host,
                        Change.of(
                                Where.PEER,
                                "request fewer or smaller elements in the answer of " + host
                                        + " (pages, fewer members): this process"
                                        + " spends most of the exchange on reading it" + in),
                        facts)
                : null;
    }
}
