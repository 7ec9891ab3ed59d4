package garden.run;

import java.time.LocalTime;
import java.time.temporal.ChronoUnit;

/**
 * Shows one fault from beginning to end. The fault is injected into the shop application, diagnosed and undone, and the
 * application recovers. Confined to one thread.
 */
final class Live {

    private static final int DIAGNOSIS_SECONDS = 40;
    private static final int AFTER_FIRST_SECONDS = 6;
    private static final int RECOVERY_SECONDS = 90;

    /** The promised maximum time from the first late or failed call until the first diagnosis (docs/diagnosis.md). */
    private static final int PROMISED_SECONDS = 10;

    private final Garden garden;

    Live(Garden garden) {
        this.garden = garden;
    }

    /**
     * Shows the fault and prints PASS or FAIL. FAIL has one of three reasons: a late diagnosis, a wrong first cause or
     * change, or calls that still miss the latency target after the fault has been undone.
     */
    boolean show(Fault fault) throws Exception {
        say("The shop answers 40 calls a second in time. Injected fault: " + fault.text() + ".");
        long calls = garden.load().calls();
        long bad = garden.load().bad();
        fault.plantInto(garden);
        double seconds = garden.awaitCause(bad, DIAGNOSIS_SECONDS);
        if (seconds < 0) {
            say("No diagnosis within " + DIAGNOSIS_SECONDS + " s.");
        } else {
            say(String.format("Diagnosed %.0f s after the first late or failed call:", seconds));
            // The pause lets more calls arrive, so that the diagnosis is based on more calls.
            Thread.sleep(AFTER_FIRST_SECONDS * 1_000L);
        }
        Answer answer = Answer.of(garden.shop().diagnosis("application/json"));
        System.out.println("\n" + garden.shop().diagnosis("text/plain"));
        say(String.format(
                "%d of %d calls were late or failed. The fault is removed now.",
                garden.load().bad() - bad, garden.load().calls() - calls));
        garden.heal();
        double recovery = awaitEnd();
        say(recovery < 0 ? "The miss has not ended yet." : String.format("The miss has ended after %.0f s:", recovery));
        System.out.println("\n" + garden.shop().diagnosis("text/plain"));
        Verdict verdict = Verdict.of(fault, answer, 1, seconds, false);
        boolean passed = seconds >= 0 && seconds <= PROMISED_SECONDS && verdict.right() && recovery >= 0;
        System.out.println(passed ? "PASS" : "FAIL: " + reason(verdict, recovery));
        return passed;
    }

    private static String reason(Verdict verdict, double recovery) {
        if (verdict.seconds() < 0 || verdict.seconds() > PROMISED_SECONDS) {
            return "the diagnosis did not come within " + PROMISED_SECONDS + " s";
        }
        if (recovery < 0) {
            return "the miss did not end within " + RECOVERY_SECONDS + " s";
        }
        return "the first cause or its change is not the injected one: " + verdict.cause() + "; " + verdict.change();
    }

    /**
     * Waits until the calls to the shop application no longer miss the latency target. Returns the number of seconds
     * until then, or -1 if they still miss the target after {@value #RECOVERY_SECONDS} seconds.
     */
    private double awaitEnd() throws Exception {
        long start = System.nanoTime();
        while (Garden.secondsSince(start) < RECOVERY_SECONDS) {
            if (!garden.misses()) {
                return Garden.secondsSince(start);
            }
            Thread.sleep(500);
        }
        return -1;
    }

    private static void say(String text) {
        System.out.println(LocalTime.now().truncatedTo(ChronoUnit.SECONDS) + "  " + text);
    }
}
