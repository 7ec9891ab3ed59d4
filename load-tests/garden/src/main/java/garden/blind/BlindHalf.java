package garden.blind;

import garden.run.Fault;
import garden.run.Half;
import java.util.ArrayList;
import java.util.List;

/**
 * The blind half of the test cases for the diagnosis: single faults, pairs of faults, and healthy situations that the
 * authors of the diagnosis rules have not seen.
 */
public final class BlindHalf implements Half {

    @Override
    public String name() {
        return "blind";
    }

    @Override
    public boolean blind() {
        return true;
    }

    @Override
    public List<Fault> faults() {
        List<Fault> faults = new ArrayList<>();
        faults.addAll(InnerFaults.all());
        faults.addAll(OuterFaults.all());
        faults.addAll(BlindPairs.all());
        faults.addAll(QuietSituations.all());
        return faults;
    }
}
