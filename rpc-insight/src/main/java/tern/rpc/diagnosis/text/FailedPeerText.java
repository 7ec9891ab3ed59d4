package tern.rpc.diagnosis.text;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.cause.Cause.Change;
import tern.rpc.diagnosis.cause.Cause.Where;
import tern.rpc.diagnosis.cause.CauseDescription;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.failure.FailurePart;
import tern.rpc.diagnosis.failure.FailureText;
import tern.rpc.diagnosis.failure.ProviderLimits;
import tern.rpc.diagnosis.failure.UnreadableAnswers;
import tern.rpc.diagnosis.peer.FailedProviders;

/** Creates the cause descriptions for other processes that fail. */
final class FailedPeerText {

    private final ExcessTime excess;

    FailedPeerText(ExcessTime excess) {
        this.excess = excess;
    }

    /**
     * Returns the cause description for another process that refuses calls, closes connections or answers with errors.
     */
    CauseDescription describe(Part part) {
        String all = FailedProviders.isOfSeveral(part) ? ": " + failingProviders(part) : "";
        return new CauseDescription(
                "PEER FAILS",
                part.name(),
                Change.of(Where.PEER, FailureText.ofPeer(part.name()) + all + limit(part)),
                facts(part));
    }

    /** Returns the limit at which the provider refuses calls, after a colon; empty if the provider does not state it. */
    private String limit(Part part) {
        return excess.accounts.stream()
                .map(ExcessTime.Counted::call)
                .filter(call -> FailedProviders.isOf(part, FailurePart.of(call)))
                .map(ProviderLimits::of)
                .filter(Objects::nonNull)
                .findFirst()
                .map(limit -> ": " + limit)
                .orElse("");
    }

    /** Returns the line of application code that read the answer; null if it is unknown. */
    private @Nullable String readIn(Part part) {
        return excess.accounts.stream()
                .map(ExcessTime.Counted::call)
                .filter(call -> FailedProviders.isOf(part, FailurePart.of(call)))
                .map(FailurePart::placeOf)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }

    /** Returns the addresses of the providers that fail for the given reason. */
    private String failingProviders(Part part) {
        Set<String> addresses = new TreeSet<>();
        for (ExcessTime.Counted counted : excess.accounts) {
            Part failure = FailurePart.of(counted.call());
            String address = FailedProviders.isOf(part, failure) ? FailedProviders.addressOf(failure) : null;
            if (address != null) {
                addresses.add(address);
            }
        }
        return String.join(", ", addresses);
    }

    private List<String> facts(Part part) {
        long failed = excess.accounts.stream()
                .filter(counted -> FailedProviders.isOf(part, FailurePart.of(counted.call())))
                .count();
        // The number of failed calls is 0 if a circuit breaker refuses all calls. The calls whose failures opened the
        // circuit breaker are then older than the observed period.
        List<String> facts = new ArrayList<>();
        if (failed > 0) {
            facts.add("failed   " + failed + " of " + excess.accounts.size() + " recorded calls for this reason");
        }
        String failure = part.name().substring(part.name().lastIndexOf(": ") + 2);
        String place = UnreadableAnswers.is(failure) ? readIn(part) : null;
        if (place != null) {
            facts.add("read     in " + place);
        }
        if (FailedProviders.isOfSeveral(part)) {
            facts.add("all      fail alike: " + failingProviders(part));
        }
        return facts;
    }
}
