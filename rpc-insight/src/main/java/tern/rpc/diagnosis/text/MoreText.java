package tern.rpc.diagnosis.text;

import java.util.List;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.cause.Cause.Change;
import tern.rpc.diagnosis.cause.Cause.Where;
import tern.rpc.diagnosis.cause.CauseDescription;
import tern.rpc.diagnosis.excess.OperationCounts;
import tern.rpc.diagnosis.excess.Operations;
import tern.rpc.diagnosis.excess.UnchangedOperations;

/** Creates the recommended changes for operations that calls run more often than usual. */
final class MoreText {

    private MoreText() {}

    /** Returns the recommended change if calls run an operation more often than usual. */
    static Change more(OperationCounts counts, Part part, @Nullable String place) {
        String cache = counts.cacheOf(part);
        if (counts.isBehindEmptyCache(part)) {
            return Change.of(
                    Where.CODE,
                    "find out why the cache in front of this operation no longer holds its values"
                            + (cache == null ? "" : " (" + cache + ")")
                            + Operations.at(place)
                            + ": it was cleared, its entries expire at once, it is too small, its"
                            + " keys have changed, or its server has lost them, so check its keys, its life time and"
                            + " who empties it; calls run " + part.name() + " "
                            + counts.text().moreOften(part) + " ("
                            + counts.text().numbers(part)
                            + "); a different pool size does not help");
        }
        return Change.of(
                Where.CODE,
                "find out why calls run this " + counts.text().moreOften(part) + Operations.at(place)
                        + ": a cache in front of it was cleared, is too small, expires too soon or has other keys; or"
                        + " code runs it for more elements: " + part.name() + "; a different pool size does not help");
    }

    /**
     * Returns the cause description for an operation of late calls that takes its usual time; null if the operation
     * became slower.
     */
    static @Nullable CauseDescription unchanged(
            UnchangedOperations unchanged, Part part, String kind, @Nullable String place, List<String> facts) {
        return !unchanged.isOne(part)
                ? null
                : new CauseDescription(
                        kind,
                        part.name(),
                        Change.of(
                                Where.CODE,
                                unchanged.advice(part) + Operations.at(place) + ": " + part.name()
                                        + "; a different pool size does not help"),
                        facts);
    }

    /** Returns text to append to the advice about many operations, if calls usually run far fewer operations. */
    static String usuallyFewer(OperationCounts counts, Part part) {
        if (counts.areMore(part)) {
            return "; calls run it " + counts.text().moreOften(part) + " ("
                    + counts.text().numbers(part) + "), so a cache in front of it may no longer hold the values";
        }
        return counts.areNew(part)
                ? "; calls do not usually run it, so new code runs it, or a cache in front of it no longer holds the"
                        + " values"
                : "";
    }
}
