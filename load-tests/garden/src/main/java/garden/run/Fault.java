package garden.run;

import garden.shop.Switches;
import java.util.regex.Pattern;

/**
 * One fault of the garden and the expected diagnosis.
 *
 * @param first pattern for kind and name of the first cause
 * @param change pattern for the proposed change
 * @param plant switches the fault on or off
 */
record Fault(String name, Pattern first, Pattern change, Switch plant) {

    /** Switches a fault on or off. */
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
