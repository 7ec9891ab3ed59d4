package tern.rpc.load.cluster;

import java.util.ArrayList;
import java.util.List;

/**
 * Judges a run of {@link ClusterDemo}. A call is allowed to be lost only if it was in flight at the killed provider and
 * its method is not idempotent.
 *
 * @param inFlight the number of lost calls that were in flight at the killed provider
 * @param reasons the reasons for FAIL; empty for PASS
 */
record DemoVerdict(List<LostCall> inFlight, List<String> reasons) {

    private static final int SHOWN = 5;

    /**
     * A killed provider.
     *
     * @param sentMillis the time just before the signal was sent
     * @param goneMillis the time just after the process ended
     */
    record Kill(int port, long sentMillis, long goneMillis) {

        boolean hit(LostCall call) {
            return !call.repeatable()
                    && call.isOf(port)
                    && call.startedMillis() <= goneMillis
                    && call.endedMillis() >= sentMillis;
        }
    }

    /**
     * Judges a run.
     *
     * @param calls the number of calls that ended
     * @param ended whether all calls have ended
     */
    static DemoVerdict of(List<LostCall> lost, Kill kill, long calls, boolean ended) {
        List<LostCall> inFlight = lost.stream().filter(kill::hit).toList();
        List<LostCall> others = lost.stream().filter(call -> !kill.hit(call)).toList();
        List<String> reasons = new ArrayList<>();
        if (calls == 0) {
            reasons.add("no call was made");
        }
        if (!ended) {
            reasons.add("some calls did not end");
        }
        if (!others.isEmpty()) {
            reasons.add(others.size() + " calls were lost that were not in flight at the kill");
            others.stream().limit(SHOWN).map(LostCall::reason).forEach(reasons::add);
        }
        return new DemoVerdict(inFlight, List.copyOf(reasons));
    }

    boolean passed() {
        return reasons.isEmpty();
    }
}
