package tern.rpc.load.replay;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Judges whether the first cause in each diagnosis was the configuration error, and whether each fix clearly raised the
 * rate.
 */
final class Verdicts {

    private static final String BAD = "NOT SHOWN: ";

    private Verdicts() {}

    static List<String> of(List<Result> results) {
        List<String> verdicts = new ArrayList<>();
        for (Result result : results) {
            if (result.isMistake()) {
                verdicts.add(named(result));
                fixOf(results, result).ifPresent(fix -> verdicts.add(compared(result, fix)));
            }
        }
        return verdicts;
    }

    static boolean isBad(String verdict) {
        return verdict.startsWith(BAD);
    }

    private static Optional<Result> fixOf(List<Result> results, Result mistake) {
        return results.stream()
                .filter(result -> result.fixed() && result.round().equals(mistake.round()))
                .findFirst();
    }

    private static String named(Result result) {
        return (result.isCauseNamed() ? "" : BAD) + "Round " + result.round().number() + ": the diagnosis began with "
                + (result.answer().firstTitle().isEmpty()
                        ? "nothing"
                        : result.answer().firstTitle())
                + (result.isCauseNamed()
                        ? ", the true cause"
                        : ", expected one of "
                                + result.round().causes().stream().sorted().toList());
    }

    private static String compared(Result result, Result fix) {
        return String.format(
                Locale.ROOT,
                "%sRound %d: %.0f QPS, %.0f after the fix, %s at most %.0f %%",
                result.isClearlyWorseThan(fix) ? "" : BAD,
                result.round().number(),
                result.qps(),
                fix.qps(),
                fix.qps() == 0
                        ? "expected"
                        : String.format(Locale.ROOT, "%.0f %%; expected", 100 * result.qps() / fix.qps()),
                100 * Result.CLEARLY_WORSE);
    }
}
