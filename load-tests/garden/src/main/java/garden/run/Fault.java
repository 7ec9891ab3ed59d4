package garden.run;

import garden.shop.Switches;
import java.util.regex.Pattern;

/**
 * A fault of the garden and its truth.
 *
 * @param first what the first cause has to say: kind and name
 * @param change what its change has to say
 * @param plant sets the fault; undone with false
 */
record Fault(String name, Pattern first, Pattern change, Switch plant) {

    /** Sets a fault or takes it back. */
    interface Switch {
        void set(boolean on) throws Exception;
    }

    static Fault of(String name, String first, String change) {
        return of(name, first, change, on -> Switches.set(name, on));
    }

    static Fault of(String name, String first, String change, Switch plant) {
        return new Fault(
                name,
                Pattern.compile(first, Pattern.CASE_INSENSITIVE),
                Pattern.compile(change, Pattern.CASE_INSENSITIVE),
                plant);
    }
}
