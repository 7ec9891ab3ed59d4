package garden.run;

import java.time.LocalTime;
import java.time.temporal.ChronoUnit;

/**
 * Shows one fault from beginning to end: it is planted, diagnosed and undone, and the shop recovers. Confined to one
 * thread.
 */
final class Live {

    private static final int DIAGNOSIS_SECONDS = 40;
    private static final int AFTER_FIRST_SECONDS = 6;
    private static final int RECOVERY_SECONDS = 90;

    private final Garden garden;

    Live(Garden garden) {
        this.garden = garden;
    }

    void show(Fault fault) throws Exception {
        say("The shop answers 40 calls a second in time. Planted now: " + fault.text() + ".");
        long calls = garden.load().calls();
        long bad = garden.load().bad();
        fault.plantInto(garden);
        double seconds = await(true, DIAGNOSIS_SECONDS);
        if (seconds < 0) {
            say("No diagnosis within " + DIAGNOSIS_SECONDS + " s.");
        } else {
            say(String.format("Diagnosed after %.0f s:", seconds));
            Thread.sleep(AFTER_FIRST_SECONDS * 1_000L); // The diagnosis covers more calls after this pause.
        }
        System.out.println("\n" + garden.shop().diagnosis("text/plain"));
        say(String.format(
                "%d of %d calls were late or failed. The change is made now: the fault is taken back.",
                garden.load().bad() - bad, garden.load().calls() - calls));
        garden.heal();
        double recovery = await(false, RECOVERY_SECONDS);
        say(recovery < 0 ? "The miss has not ended yet." : String.format("The miss has ended after %.0f s:", recovery));
        System.out.println("\n" + garden.shop().diagnosis("text/plain"));
    }

    private double await(boolean miss, int limit) throws Exception {
        long start = System.nanoTime();
        for (double past = 0; past < limit; past = (System.nanoTime() - start) / 1e9) {
            if (Answer.of(garden.shop().diagnosis("application/json")).misses() == miss) {
                return past;
            }
            Thread.sleep(500);
        }
        return -1;
    }

    private static void say(String text) {
        System.out.println(LocalTime.now().truncatedTo(ChronoUnit.SECONDS) + "  " + text);
    }
}
